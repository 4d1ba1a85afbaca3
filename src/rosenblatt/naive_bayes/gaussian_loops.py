# mypy: ignore-errors
"""Scores of many rows that are parabolas of each feature.

Legend as in `prediction_loops`; square and linear (F, p), constant (F,), center (p,).
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import AHEAD, float64x4, prefetch
from rosenblatt.prediction_loops import put_scores


@compiled
def one_parabola_score(X, center, square, linear, constant, scores):
    """Fill scores (1, n) with constant + x.(square x + linear), x the rows less the center (p,)."""
    n, d = X.shape
    for i in range(0, n, 4):
        r, s, t = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        a = b = c = e = float64x4.spread(0.0)
        for v in range(0, linear.shape[1], float64x4.WIDTH):
            call_four(X, i * d, v)
            j, m = min(v, d - float64x4.WIDTH), float64x4.load(center, v)
            q, w = float64x4.load(square, v), float64x4.load(linear, v)
            a = add_parabola(float64x4.subtract(float64x4.load(X, i * d + j), m), q, w, a)
            b = add_parabola(float64x4.subtract(float64x4.load(X, r * d + j), m), q, w, b)
            c = add_parabola(float64x4.subtract(float64x4.load(X, s * d + j), m), q, w, c)
            e = add_parabola(float64x4.subtract(float64x4.load(X, t * d + j), m), q, w, e)
        put_scores(scores, 0, i, r, s, t, constant[0], a, b, c, e)


@compiled
def choose_by_parabolas(X, center, square, linear, constant, codes, z):
    """Fill codes (n,) with the place of each row's highest score, the first of equals.

    Scores are F parabolas, two at a time, of rows put into z (4, p). Returns how many rows, the
    last perhaps more than once, have no score above minus infinity.
    """
    n, d = X.shape
    n_scores, p = linear.shape
    lost = 0
    for i in range(0, n, 4):
        r, s, t = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        for v in range(0, p, float64x4.WIDTH):
            call_four(X, i * d, v)
            j, m = min(v, d - float64x4.WIDTH), float64x4.load(center, v)
            float64x4.store(z, v, float64x4.subtract(float64x4.load(X, i * d + j), m))
            float64x4.store(z, p + v, float64x4.subtract(float64x4.load(X, r * d + j), m))
            float64x4.store(z, 2 * p + v, float64x4.subtract(float64x4.load(X, s * d + j), m))
            float64x4.store(z, 3 * p + v, float64x4.subtract(float64x4.load(X, t * d + j), m))
        best_a = best_b = best_c = best_e = -np.inf
        code_a = code_b = code_c = code_e = 0
        for k in range(0, n_scores, 2):
            l = min(k + 1, n_scores - 1)  # noqa: E741
            a = b = c = e = A = B = C = E = float64x4.spread(0.0)
            for v in range(0, p, float64x4.WIDTH):
                q, w = float64x4.load(square, k * p + v), float64x4.load(linear, k * p + v)
                Q, W = float64x4.load(square, l * p + v), float64x4.load(linear, l * p + v)
                x = float64x4.load(z, v)
                a, A = add_parabola(x, q, w, a), add_parabola(x, Q, W, A)
                x = float64x4.load(z, p + v)
                b, B = add_parabola(x, q, w, b), add_parabola(x, Q, W, B)
                x = float64x4.load(z, 2 * p + v)
                c, C = add_parabola(x, q, w, c), add_parabola(x, Q, W, C)
                x = float64x4.load(z, 3 * p + v)
                e, E = add_parabola(x, q, w, e), add_parabola(x, Q, W, E)
            best_a, code_a = better(best_a, code_a, constant, k, a, l, A)
            best_b, code_b = better(best_b, code_b, constant, k, b, l, B)
            best_c, code_c = better(best_c, code_c, constant, k, c, l, C)
            best_e, code_e = better(best_e, code_e, constant, k, e, l, E)
        codes[t], codes[s], codes[r], codes[i] = code_e, code_c, code_b, code_a
        lost += min(min(best_a, best_b), min(best_c, best_e)) == -np.inf
    return lost


@compiled
def better(best, code, constant, k, first, l, second):  # noqa: E741
    """Return the best of a score and two more, and its place; the first of equals."""
    score = constant[k] + float64x4.total(first)
    if score > best:
        best, code = score, k
    score = constant[l] + float64x4.total(second)
    if score > best:
        best, code = score, l
    return best, code


@compiled
def call_four(X, place, v):
    """Prefetch the 16 numbers ahead of vector v of four rows."""
    prefetch(X, place + AHEAD + 4 * v)
    prefetch(X, place + AHEAD + 4 * v + 8)


@compiled
def add_parabola(x, square, linear, total):
    """Return total + x (square x + linear)."""
    return float64x4.multiply_add(x, float64x4.multiply_add(x, square, linear), total)
