# mypy: ignore-errors
"""Blocks of Gaussian kernel values from scalar products, and sums over their rows."""

from rosenblatt.loops import compiled
from rosenblatt.loops.exponential import exp_of_its_precision


@compiled(fuse=True)
def gaussian_rows(products, of_rows, of_columns, rate, places, start, kept):
    """Put ``exp(-rate |u - v|^2)`` into the rows `places` of kept, from column `start` on.

    Reads products u.v (q, m), squares |u|^2 (q,) and |v|^2 (m,), and rate, a number of their
    precision; changes kept[places, start : start + m].
    """
    two, zero, m = products.dtype.type(2), products.dtype.type(0), products.shape[1]
    for r in range(products.shape[0]):
        # A slice: the compiler knows that its places are neighbours, and stores eight at a time.
        own, row = of_rows[r], kept[places[r], start : start + m]
        for j in range(m):
            apart = max(own + of_columns[j] - two * products[r, j], zero)
            row[j] = exp_of_its_precision(-rate * apart)


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


@compiled(fuse=True)
def add_rows(kept, places, steps, start, stop, f):
    """Add steps (q,) times rows `places` of kept to f[start:stop], four rows at a time."""
    part, m = f[start:stop], stop - start
    whole = places.shape[0] - places.shape[0] % 4
    for r in range(0, whole, 4):
        a, b = kept[places[r], start:stop], kept[places[r + 1], start:stop]
        c, d = kept[places[r + 2], start:stop], kept[places[r + 3], start:stop]
        p, q, s, t = steps[r], steps[r + 1], steps[r + 2], steps[r + 3]
        for j in range(m):
            part[j] += (p * a[j] + q * b[j]) + (s * c[j] + t * d[j])
    for r in range(whole, places.shape[0]):
        row, step = kept[places[r], start:stop], steps[r]
        for j in range(m):
            part[j] += step * row[j]
