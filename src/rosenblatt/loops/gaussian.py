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
        a, b, c, d = i, min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        for k in range(mean.shape[0]):
            A, B, C, D = four_distances(X, a, b, c, d, mean[k], half_precision[k], gap, k)
            scores[a, k], scores[b, k] = start[k] - A, start[k] - B
            scores[c, k], scores[d, k] = start[k] - C, start[k] - D


@compiled
def choose_classes(X, mean, half_precision, start, gap, codes):
    """Fill codes (n,) with the best class of each row, the first of equals.

    Returns whether some row has no class with a score above minus infinity, as a number.
    """
    n, lost = X.shape[0], 0
    for i in range(0, n, 4):
        a, b, c, d = i, min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        best_a = best_b = best_c = best_d = -np.inf
        code_a = code_b = code_c = code_d = 0
        for k in range(mean.shape[0]):
            A, B, C, D = four_distances(X, a, b, c, d, mean[k], half_precision[k], gap, k)
            if start[k] - A > best_a:
                best_a, code_a = start[k] - A, k
            if start[k] - B > best_b:
                best_b, code_b = start[k] - B, k
            if start[k] - C > best_c:
                best_c, code_c = start[k] - C, k
            if start[k] - D > best_d:
                best_d, code_d = start[k] - D, k
        codes[a], codes[b], codes[c], codes[d] = code_a, code_b, code_c, code_d
        if min(best_a, best_b, best_c, best_d) == -np.inf:
            lost += 1
    return lost


@compiled(reorder_sums=True)  # a sum of squares, which nothing else depends on
def four_distances(X, a, b, c, d, mean, half_precision, gap, k):
    """How far rows a, b, c and d are from the mean (d,) of class k."""
    far_a = far_b = far_c = far_d = 0.0
    for j in range(X.shape[1]):
        m, h = mean[j], half_precision[j]
        A, B, C, D = X[a, j] - m, X[b, j] - m, X[c, j] - m, X[d, j] - m
        if gap is None:
            far_a += A * A * h
            far_b += B * B * h
            far_c += C * C * h
            far_d += D * D * h
        else:
            g = gap[k, j]
            far_a += A * A * h if A == A else g
            far_b += B * B * h if B == B else g
            far_c += C * C * h if C == C else g
            far_d += D * D * h if D == D else g
    return far_a, far_b, far_c, far_d
