"""Full scatters by bucket: sums of products of all pairs of features.

Legend as in `moments`; products (2, B, d, d) are pairs. Most rows go to BLAS in plain doubles, as
distances from a centre near the middle of their bucket; rows that lie far out go through
`sum_products`, which keeps 32 digits, so that taking them out again leaves the rest as it was.
"""

import numpy as np

from . import compiled
from .moments import ROUNDING
from .pairs import add, divide, multiply, two_product, two_sum

# How far out a row may lie and still be near, in quartile distances: rounding is then at most
# 2**16 times 2**-53 of the scatter of what a typical row adds.
REACH = 256.0


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


@compiled
def sort_by_bucket(buckets, starts, order):
    """Fill order with the rows of bucket 0, then 1, ..; starts (B + 1,) says where each begins."""
    n_buckets = starts.shape[0] - 1
    for b in range(n_buckets + 1):
        starts[b] = 0
    for i in range(buckets.shape[0]):
        if buckets[i] >= 0:
            starts[buckets[i] + 1] += 1
    for b in range(n_buckets):
        starts[b + 1] += starts[b]
    for i in range(buckets.shape[0]):
        b = buckets[i]
        if b >= 0:
            order[starts[b]] = i
            starts[b] += 1
    # Each start has moved to the end of its bucket, the start of the next.
    for b in range(n_buckets, 0, -1):
        starts[b] = starts[b - 1]
    starts[0] = 0


@compiled
def find_centres(X, order, starts, centres, reach, sample):
    """Fill centres and reach (B, d): the middle of a sample of each bucket, and how far is near.

    The scale is the lower quartile of the distances from the median: half of the rows may lie
    anywhere and the centre is still in the midst of the others. Too small a scale only costs time.
    sample (m,) is scratch space, and how many rows to look at; smaller buckets have no near rows.
    """
    m = sample.shape[0]
    for b in range(centres.shape[0]):
        n = starts[b + 1] - starts[b]
        for j in range(centres.shape[1]):
            reach[b, j] = -1
            if n >= 2 * m:
                for s in range(m):
                    sample[s] = X[order[starts[b] + s * (n // m)], j]
                sort(sample)
                centres[b, j] = sample[m // 2]
                for s in range(m):
                    sample[s] = abs(sample[s] - centres[b, j])
                sort(sample)
                reach[b, j] = REACH * first_positive(sample, m // 4)


@compiled
def sort(values):
    """Sort a few values in place, by insertion."""
    for s in range(1, values.shape[0]):
        value, t = values[s], s
        while t > 0 and values[t - 1] > value:
            values[t] = values[t - 1]
            t -= 1
        values[t] = value


@compiled
def first_positive(values, start):
    """The first number above zero from `start` on; 0 if there is none."""
    for s in range(start, values.shape[0]):
        if values[s] > 0:
            return values[s]
    return 0.0


@compiled(reorder_sums=True)  # the excess is only compared with zero
def gather_near(X, order, start, stop, weights, centre, reach, block, roots, far, b):
    """Copy near rows among order[start:stop], less the centre (d,), into block; return how many.

    Rows are multiplied by the roots of their weights, which go to roots. Sets far (n,) to bucket b
    for rows with a number farther than reach (d,) from the centre.
    """
    n_near = 0
    for t in range(start, stop):
        i = order[t]
        excess = 0.0
        for j in range(X.shape[1]):
            distance = np.float64(X[i, j]) - centre[j]
            block[n_near, j] = distance
            excess += max(abs(distance) - reach[j], 0.0)
        if excess > 0:
            far[i] = b
            continue
        roots[n_near] = 1.0
        if weights is not None:
            roots[n_near] = np.sqrt(np.float64(weights[i]))
            for j in range(X.shape[1]):
                block[n_near, j] *= roots[n_near]
        n_near += 1
    return n_near
