# mypy: ignore-errors
"""Linear scores of many rows.

Legend: X (n, d), d at least four; F scores of a row, one for each class or for two; p cells as in
`prediction.in_cells`: vectors of four, the last of which starts four features from the end. The
repeated ones have weight zero. Four rows go together, so that weights are loaded once for all of
them.
"""

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import float64x4


@compiled
def linear_scores(X, linear, constant, scores):
    """Fill scores (F, n) with constant + linear.x."""
    n, d = X.shape
    p = linear.shape[1]
    for i in range(0, n, 4):
        r, s, t = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        for k in range(constant.shape[0]):
            a = b = c = e = float64x4.spread(0.0)
            for v in range(0, p, float64x4.WIDTH):
                j, w = min(v, d - float64x4.WIDTH), float64x4.load(linear, k * p + v)
                a = float64x4.multiply_add(float64x4.load(X, i * d + j), w, a)
                b = float64x4.multiply_add(float64x4.load(X, r * d + j), w, b)
                c = float64x4.multiply_add(float64x4.load(X, s * d + j), w, c)
                e = float64x4.multiply_add(float64x4.load(X, t * d + j), w, e)
            put_scores(scores, k, i, r, s, t, constant[k], a, b, c, e)


@compiled
def put_scores(scores, k, i, r, s, t, constant, a, b, c, e):
    """Set the scores of rows i, r, s and t, each of which is the last row if there are no more."""
    scores[k, t], scores[k, s] = constant + float64x4.total(e), constant + float64x4.total(c)
    scores[k, r], scores[k, i] = constant + float64x4.total(b), constant + float64x4.total(a)
