"""Full scatters by bucket: sums of products of all pairs of features.

Legend as in `moments`; products (2, B, d, d) are pairs. Most rows are multiplied in plain doubles,
as distances from a centre near the middle of their bucket (see `tiles`); rows that lie far out come
here, where 32 digits are kept, so that taking them out again leaves the rest as it was.
"""

import numpy as np

from . import compiled
from .moments import ROUNDING
from .pairs import add, divide, multiply, two_product, two_sum


@compiled
def sum_products(X, buckets, weights, sums, products):
    """Add each row to the pairs sums (2, B, d), its products to the lower half of products."""
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b < 0:
            continue
        weight = 1.0 if weights is None else np.float64(weights[i])
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                j = np.int64(indices[p])
                w, w_low = two_product(weight, np.float64(data[p]))
                sums[0, b, j], rest = two_sum(sums[0, b, j], w)
                sums[1, b, j] += rest + w_low
                for q in range(indptr[i], indptr[i + 1]):
                    if indices[q] <= j:
                        add_product(w, w_low, data[q], products, b, j, np.int64(indices[q]))
        else:
            for j in range(X.shape[1]):
                w, w_low = two_product(weight, np.float64(X[i, j]))
                sums[0, b, j], rest = two_sum(sums[0, b, j], w)
                sums[1, b, j] += rest + w_low
                for l in range(j + 1):  # noqa: E741
                    add_product(w, w_low, X[i, l], products, b, j, l)


@compiled
def add_product(w, w_low, value, products, b, j, l):  # noqa: E741
    """Add the pair w times a number to one cell of products."""
    x = np.float64(value)
    product, error = two_product(w, x)
    products[0, b, j, l], rest = two_sum(products[0, b, j, l], product)
    products[1, b, j, l] += rest + (error + w_low * x)


@compiled
def centre_products(weight, sums, products, n_rows, mean, scatter, noise):
    """As `moments.centre`, for products (2, B, d, d) whose lower half is filled."""
    d = sums.shape[2]
    for b in range(sums.shape[1]):
        if weight[0, b, 0] == 0:
            continue
        for j in range(d):
            mean[0, b, j], mean[1, b, j] = divide(
                sums[0, b, j], sums[1, b, j], weight[0, b, 0], weight[1, b, 0]
            )
            noise[b, j] = (1 + n_rows / 16) * ROUNDING * products[0, b, j, j]
        for j in range(d):
            for l in range(j + 1):  # noqa: E741
                p, p_low = multiply(sums[0, b, j], sums[1, b, j], mean[0, b, l], mean[1, b, l])
                s, s_low = add(products[0, b, j, l], products[1, b, j, l], -p, -p_low)
                if abs(s) <= np.sqrt(noise[b, j]) * np.sqrt(noise[b, l]):
                    s, s_low = 0.0, 0.0
                scatter[0, b, j, l], scatter[1, b, j, l] = s, s_low
                scatter[0, b, l, j], scatter[1, b, l, j] = s, s_low
