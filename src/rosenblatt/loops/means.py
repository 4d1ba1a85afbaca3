"""Means by bucket to 32 digits, of rows whose products are summed in plain doubles.

Legend as in `moments`. A mean that is off by e moves the scatter by w D e when it is merged with
one at a distance D: what is a rounding of rows near each other is not when others lie far out.
"""

import numpy as np

from . import compiled
from .pairs import add, divide, two_product, two_sum


@compiled
def add_distances(X, order, weights, centre, far, b, sums):
    """Add weight times distance from the centre (d,) to the pairs sums (2, B, d), in bucket b.

    Rows are those of order (m,), without those that are far.
    """
    for t in range(order.shape[0]):
        i = order[t]
        if far[i] >= 0:
            continue
        for j in range(centre.shape[0]):
            z, z_low = two_sum(np.float64(X[i, j]), -centre[j])
            if weights is not None:
                low = np.float64(weights[i]) * z_low
                z, z_low = two_product(np.float64(weights[i]), z)
                z_low += low
            sums[0, b, j], rest = two_sum(sums[0, b, j], z)
            sums[1, b, j] += rest + z_low


@compiled
def find_means(weight, sums, centres, shifts, mean):
    """Fill shifts (B, d) with sums / weight, and mean (2, B, d) with the centres so far on."""
    for b in range(centres.shape[0]):
        if weight[0, b, 0] > 0:
            for j in range(centres.shape[1]):
                shift, low = divide(sums[0, b, j], sums[1, b, j], weight[0, b, 0], weight[1, b, 0])
                mean[0, b, j], mean[1, b, j] = add(centres[b, j], 0.0, shift, low)
                shifts[b, j] = shift
