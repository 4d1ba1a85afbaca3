"""Scores of many rows that are linear in each feature, or parabolas of it, feature by feature.

Legend: X (n, d), d at least four; F scores of a row, one for each class or for two; p cells as in
`shifted`: vectors of four, the last of which starts four features from the end. What it repeats has
weight zero in linear and square (F, p). constant is (F,). Four rows go together, so that weights
are loaded once for all of them.
"""

import numpy as np

from . import compiled, lanes


@compiled
def linear_scores(X, linear, constant, scores):
    """Fill scores (F, n) with constant + linear.x."""
    n, d = X.shape
    p = linear.shape[1]
    for i in range(0, n, 4):
        r, s, t = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        for k in range(constant.shape[0]):
            a = b = c = e = lanes.spread(0.0)
            for v in range(0, p, lanes.WIDTH):
                j, w = min(v, d - lanes.WIDTH), lanes.load(linear, k * p + v)
                a = lanes.multiply_add(lanes.load(X, i * d + j), w, a)
                b = lanes.multiply_add(lanes.load(X, r * d + j), w, b)
                c = lanes.multiply_add(lanes.load(X, s * d + j), w, c)
                e = lanes.multiply_add(lanes.load(X, t * d + j), w, e)
            put_scores(scores, k, i, r, s, t, constant[k], a, b, c, e)


@compiled
def one_parabola_score(X, centre, square, linear, constant, scores):
    """Fill scores (1, n) with constant + x.(square x + linear), x the rows less the centre (p,)."""
    n, d = X.shape
    for i in range(0, n, 4):
        r, s, t = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        a = b = c = e = lanes.spread(0.0)
        for v in range(0, linear.shape[1], lanes.WIDTH):
            call_four(X, i * d, v)
            j, m = min(v, d - lanes.WIDTH), lanes.load(centre, v)
            q, w = lanes.load(square, v), lanes.load(linear, v)
            a = add_parabola(lanes.subtract(lanes.load(X, i * d + j), m), q, w, a)
            b = add_parabola(lanes.subtract(lanes.load(X, r * d + j), m), q, w, b)
            c = add_parabola(lanes.subtract(lanes.load(X, s * d + j), m), q, w, c)
            e = add_parabola(lanes.subtract(lanes.load(X, t * d + j), m), q, w, e)
        put_scores(scores, 0, i, r, s, t, constant[0], a, b, c, e)


@compiled
def choose_by_parabolas(X, centre, square, linear, constant, codes, z):
    """Fill codes (n,) with the place of each row's highest score, the first of equals.

    Scores are F parabolas, two at a time, of rows put into z (4, p). Returns how many rows, the
    last perhaps more than once, have no score above minus infinity.
    """
    n, d = X.shape
    n_scores, p = linear.shape
    lost = 0
    for i in range(0, n, 4):
        r, s, t = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        for v in range(0, p, lanes.WIDTH):
            call_four(X, i * d, v)
            j, m = min(v, d - lanes.WIDTH), lanes.load(centre, v)
            lanes.store(z, v, lanes.subtract(lanes.load(X, i * d + j), m))
            lanes.store(z, p + v, lanes.subtract(lanes.load(X, r * d + j), m))
            lanes.store(z, 2 * p + v, lanes.subtract(lanes.load(X, s * d + j), m))
            lanes.store(z, 3 * p + v, lanes.subtract(lanes.load(X, t * d + j), m))
        best_a = best_b = best_c = best_e = -np.inf
        code_a = code_b = code_c = code_e = 0
        for k in range(0, n_scores, 2):
            l = min(k + 1, n_scores - 1)  # noqa: E741
            a = b = c = e = A = B = C = E = lanes.spread(0.0)
            for v in range(0, p, lanes.WIDTH):
                q, w = lanes.load(square, k * p + v), lanes.load(linear, k * p + v)
                Q, W = lanes.load(square, l * p + v), lanes.load(linear, l * p + v)
                x = lanes.load(z, v)
                a, A = add_parabola(x, q, w, a), add_parabola(x, Q, W, A)
                x = lanes.load(z, p + v)
                b, B = add_parabola(x, q, w, b), add_parabola(x, Q, W, B)
                x = lanes.load(z, 2 * p + v)
                c, C = add_parabola(x, q, w, c), add_parabola(x, Q, W, C)
                x = lanes.load(z, 3 * p + v)
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
    """The best of a score and two more, and its place; the earliest of equals."""
    score = constant[k] + lanes.total(first)
    if score > best:
        best, code = score, k
    score = constant[l] + lanes.total(second)
    if score > best:
        best, code = score, l
    return best, code


@compiled
def call_four(X, place, v):
    """Ask memory for what lies ahead of four rows from a place on: 16 numbers at vector v."""
    lanes.call(X, place + lanes.AHEAD + 4 * v)
    lanes.call(X, place + lanes.AHEAD + 4 * v + 8)


@compiled
def add_parabola(x, square, linear, total):
    """total + x (square x + linear)."""
    return lanes.multiply_add(x, lanes.multiply_add(x, square, linear), total)


@compiled
def put_scores(scores, k, i, r, s, t, constant, a, b, c, e):
    """Set the scores of rows i, r, s and t, each of which is the last row if there are no more."""
    scores[k, t], scores[k, s] = constant + lanes.total(e), constant + lanes.total(c)
    scores[k, r], scores[k, i] = constant + lanes.total(b), constant + lanes.total(a)
