# mypy: ignore-errors
"""Gaussian kernel values from scalar products, and sums over rows of a kernel matrix."""

from rosenblatt.loops import compiled
from rosenblatt.loops.exponential import exp_of_its_precision


@compiled(fuse=True)
def to_gaussian(K, of_rows, of_columns, rate):
    """Change scalar products u.v to ``exp(-rate |u - v|^2)``, in place.

    Reads squares |u|^2 (q,) and |v|^2 (m,), and rate in the same precision; K is (q, m).
    """
    two, zero = K.dtype.type(2), K.dtype.type(0)
    for r in range(K.shape[0]):
        # The compiler vectorizes a slice, because its entries are contiguous.
        own, row = of_rows[r], K[r]
        for j in range(K.shape[1]):
            apart = max(own + of_columns[j] - two * row[j], zero)
            row[j] = exp_of_its_precision(-rate * apart)


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
