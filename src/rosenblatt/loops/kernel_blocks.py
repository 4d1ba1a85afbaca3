"""Blocks of Gaussian kernel values from scalar products, and sums over their rows."""

from . import compiled
from .simd.exponential import exp_of_its_precision


@compiled(fuse=True)
def gaussian_rows(products, of_rows, of_columns, rate, places, start, kept):
    """Put ``exp(-rate |u - v|^2)`` into the rows `places` of kept, from column `start` on.

    Reads products u.v (q, m), squares |u|^2 (q,) and |v|^2 (m,), and rate, a number of their
    precision; changes kept[places, start : start + m].
    """
    two, zero = products.dtype.type(2), products.dtype.type(0)
    for r in range(products.shape[0]):
        own, place = of_rows[r], places[r]
        for j in range(products.shape[1]):
            apart = max(own + of_columns[j] - two * products[r, j], zero)
            kept[place, start + j] = exp_of_its_precision(-rate * apart)


@compiled(reorder_sums=True)  # a row of a matrix product: any order of its terms will do
def gaussian_sums(products, of_rows, of_columns, rate, a, sums):
    """Add the kernel of each row with m others, weighted by a (c, m), to sums (q, c).

    Reads products (q, m); the kernel is as in `gaussian_rows`. Changes products and sums.
    """
    for r in range(products.shape[0]):
        own = of_rows[r]
        for j in range(products.shape[1]):
            apart = max(own + of_columns[j] - 2.0 * products[r, j], 0.0)
            products[r, j] = exp_of_its_precision(-rate * apart)
        for k in range(a.shape[0]):
            total = 0.0
            for j in range(products.shape[1]):
                total += a[k, j] * products[r, j]
            sums[r, k] += total


@compiled
def add_rows(kept, places, steps, start, stop, f):
    """Add steps (q,) times rows `places` of kept to f[start:stop], four rows at a time."""
    whole = places.shape[0] - places.shape[0] % 4
    for r in range(0, whole, 4):
        a, b, c, d = places[r], places[r + 1], places[r + 2], places[r + 3]
        p, q, s, t = steps[r], steps[r + 1], steps[r + 2], steps[r + 3]
        for j in range(start, stop):
            f[j] += (p * kept[a, j] + q * kept[b, j]) + (s * kept[c, j] + t * kept[d, j])
    for r in range(whole, places.shape[0]):
        place, step = places[r], steps[r]
        for j in range(start, stop):
            f[j] += step * kept[place, j]
