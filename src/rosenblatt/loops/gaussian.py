"""Log-densities of rows under Gaussians with independent features, class by class, in one read.

Legend: X (n, d); mean and half_precision (K, d), the latter 1 / (2 variance); start (K,), what a
class scores at its own mean. The score of a row is start minus the sum over its features of
half_precision (x - mean)^2: the distance is taken before it is squared, so that rows far from the
origin keep their digits. gap is None; or (K, d), what a feature that is NaN takes off the score in
place of its distance, to undo its part in `start`.

Four rows go together: each mean is loaded once for all of them, and reading X is what takes time.
"""

import numpy as np

from . import compiled


@compiled
def score_rows(X, mean, half_precision, start, gap, scores):
    """Fill scores (n, K)."""
    n = X.shape[0]
    for i in range(0, n, 4):
        four = (i, min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1))
        for k in range(mean.shape[0]):
            far = four_distances(X, four, mean, half_precision, gap, k)
            for r in range(4):
                scores[four[r], k] = start[k] - far[r]


@compiled
def choose_classes(X, mean, half_precision, start, gap, codes):
    """Fill codes (n,) with the best class of each row, the first of equals.

    Returns how many rows have no class with a score above minus infinity.
    """
    n, lost = X.shape[0], 0
    for i in range(0, n, 4):
        four = (i, min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1))
        best0 = best1 = best2 = best3 = -np.inf
        code0 = code1 = code2 = code3 = 0
        for k in range(mean.shape[0]):
            far0, far1, far2, far3 = four_distances(X, four, mean, half_precision, gap, k)
            if start[k] - far0 > best0:
                best0, code0 = start[k] - far0, k
            if start[k] - far1 > best1:
                best1, code1 = start[k] - far1, k
            if start[k] - far2 > best2:
                best2, code2 = start[k] - far2, k
            if start[k] - far3 > best3:
                best3, code3 = start[k] - far3, k
        codes[four[3]], codes[four[2]] = code3, code2
        codes[four[1]], codes[four[0]] = code1, code0
        for best in (best0, best1, best2, best3):
            lost += best == -np.inf
    return lost


@compiled(reorder_sums=True)  # a sum of d squares, which nothing else depends on
def four_distances(X, four, mean, half_precision, gap, k):
    """How far four rows are from the mean of class k."""
    a, b, c, d = four
    far_a = far_b = far_c = far_d = 0.0
    for j in range(X.shape[1]):
        m, h = mean[k, j], half_precision[k, j]
        if gap is None:
            far_a += h * (X[a, j] - m) * (X[a, j] - m)
            far_b += h * (X[b, j] - m) * (X[b, j] - m)
            far_c += h * (X[c, j] - m) * (X[c, j] - m)
            far_d += h * (X[d, j] - m) * (X[d, j] - m)
        else:
            g = gap[k, j]
            far_a += h * (X[a, j] - m) * (X[a, j] - m) if X[a, j] == X[a, j] else g
            far_b += h * (X[b, j] - m) * (X[b, j] - m) if X[b, j] == X[b, j] else g
            far_c += h * (X[c, j] - m) * (X[c, j] - m) if X[c, j] == X[c, j] else g
            far_d += h * (X[d, j] - m) * (X[d, j] - m) if X[d, j] == X[d, j] else g
    return far_a, far_b, far_c, far_d
