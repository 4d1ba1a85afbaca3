# mypy: ignore-errors
"""Cholesky's factor of a small curvature, in less time than LAPACK takes to be called."""

import math

from rosenblatt.loops import compiled


@compiled
def factor(H, ridge, scale, lower):
    """Fill lower (m, m), stored by columns, with L of ``H = S L L' S``; return if there is one.

    Reads H (m, m) and the diagonal of S, scale (m,); the diagonal of L L' is 1 + ridge.
    """
    m = scale.shape[0]
    for j in range(m):
        lower[:j, j] = 0.0
        lower[j, j] = 1.0 + ridge
        for i in range(j + 1, m):
            lower[i, j] = H[i, j] / (scale[i] * scale[j])
        for k in range(j):
            part = lower[j, k]
            for i in range(j, m):
                lower[i, j] -= part * lower[i, k]
        if not (lower[j, j] > 0 and math.isfinite(lower[j, j])):
            return False
        root = math.sqrt(lower[j, j])
        for i in range(j, m):
            lower[i, j] /= root
    return True
