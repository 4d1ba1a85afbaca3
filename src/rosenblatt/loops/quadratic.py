"""Quadratic forms of many rows: c + b.x + x.U.x for each class, U upper triangular.

Rows go through in panels of a few, transposed, so that one instruction works on several rows; a
panel stays in the first-level cache. d is padded to p, a multiple of four, with zeros.
"""

import numpy as np

from . import compiled

PANEL = 64  # rows; the compiler knows the number


@compiled
def quadratic_scores(X, centre, linear, upper, constant, scores, panel, sums):
    """Fill scores (K, n) with constant + x.linear + x.upper.x, x the rows less the centre.

    Reads X (n, d), centre (d,), linear (K, p), upper (K, p, p), constant (K,); panel (p, PANEL),
    with zeros beyond d, and sums (3, PANEL) are scratch space.
    """
    n, d = X.shape
    form = sums[2]
    for start in range(0, n, PANEL):
        size = min(PANEL, n - start)
        for r in range(size):
            for j in range(d):
                panel[j, r] = np.float64(X[start + r, j]) - centre[j]
        for k in range(scores.shape[0]):
            for r in range(PANEL):
                form[r] = constant[k]
            for j in range(0, panel.shape[0], 2):
                add_two_columns(panel, linear[k], upper[k], j, sums, form)
            for r in range(size):
                scores[k, start + r] = form[r]


@compiled(reorder_sums=True)  # lets multiply-adds be fused; the order of sums is as written
def add_two_columns(panel, linear, upper, j, sums, form):
    """Add x_j (b_j + sum over i <= j of x_i U_ij) to form (PANEL,), for columns j and j + 1."""
    for r in range(PANEL):
        sums[0, r] = linear[j]
        sums[1, r] = linear[j + 1]
    # Four products for each load and store of a sum; below the diagonal U has zeros.
    for i in range(0, j + 2, 4):
        a1, b1, c1, d1 = upper[i, j], upper[i + 1, j], upper[i + 2, j], upper[i + 3, j]
        l = j + 1  # noqa: E741
        a2, b2, c2, d2 = upper[i, l], upper[i + 1, l], upper[i + 2, l], upper[i + 3, l]
        for r in range(PANEL):
            x, y, z, w = panel[i, r], panel[i + 1, r], panel[i + 2, r], panel[i + 3, r]
            sums[0, r] += a1 * x + b1 * y + c1 * z + d1 * w
            sums[1, r] += a2 * x + b2 * y + c2 * z + d2 * w
    for r in range(PANEL):
        form[r] += sums[0, r] * panel[j, r] + sums[1, r] * panel[j + 1, r]
