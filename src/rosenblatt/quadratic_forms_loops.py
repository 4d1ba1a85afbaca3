# mypy: ignore-errors
"""Scores of many rows that are linear in each feature, or parabolas of it, feature by feature.

Legend: X (n, d), d at least four; F scores of a row, one for each class or for two; p cells as in
`shifted`: vectors of four, the last of which starts four features from the end. What it repeats has
weight zero in linear and square (F, p). constant is (F,). Four rows go together, so that weights
are loaded once for all of them.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import AHEAD, float64x4, prefetch
from rosenblatt.loops.tiles import TILE, add3


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
def one_parabola_score(X, centre, square, linear, constant, scores):
    """Fill scores (1, n) with constant + x.(square x + linear), x the rows less the centre (p,)."""
    n, d = X.shape
    for i in range(0, n, 4):
        r, s, t = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        a = b = c = e = float64x4.spread(0.0)
        for v in range(0, linear.shape[1], float64x4.WIDTH):
            call_four(X, i * d, v)
            j, m = min(v, d - float64x4.WIDTH), float64x4.load(centre, v)
            q, w = float64x4.load(square, v), float64x4.load(linear, v)
            a = add_parabola(float64x4.subtract(float64x4.load(X, i * d + j), m), q, w, a)
            b = add_parabola(float64x4.subtract(float64x4.load(X, r * d + j), m), q, w, b)
            c = add_parabola(float64x4.subtract(float64x4.load(X, s * d + j), m), q, w, c)
            e = add_parabola(float64x4.subtract(float64x4.load(X, t * d + j), m), q, w, e)
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
        for v in range(0, p, float64x4.WIDTH):
            call_four(X, i * d, v)
            j, m = min(v, d - float64x4.WIDTH), float64x4.load(centre, v)
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
    """The best of a score and two more, and its place; the earliest of equals."""
    score = constant[k] + float64x4.total(first)
    if score > best:
        best, code = score, k
    score = constant[l] + float64x4.total(second)
    if score > best:
        best, code = score, l
    return best, code


@compiled
def call_four(X, place, v):
    """Ask memory for what lies ahead of four rows from a place on: 16 numbers at vector v."""
    prefetch(X, place + AHEAD + 4 * v)
    prefetch(X, place + AHEAD + 4 * v + 8)


@compiled
def add_parabola(x, square, linear, total):
    """total + x (square x + linear)."""
    return float64x4.multiply_add(x, float64x4.multiply_add(x, square, linear), total)


@compiled
def put_scores(scores, k, i, r, s, t, constant, a, b, c, e):
    """Set the scores of rows i, r, s and t, each of which is the last row if there are no more."""
    scores[k, t], scores[k, s] = constant + float64x4.total(e), constant + float64x4.total(c)
    scores[k, r], scores[k, i] = constant + float64x4.total(b), constant + float64x4.total(a)


# Quadratic forms of many rows: c + b.x + x.U.x for each class, U upper triangular.
#
# A few rows at a time go through 12 columns of U after the other, four rows together, with sums
# that stay in the processor's registers. The d features stand at the end of q places, a multiple
# of 12, behind zeros: then the columns with the most products above the diagonal come in full
# twelves.


@compiled
def quadratic_scores(X, centre, linear, upper, constant, scores, z, sums):
    """Fill scores (K, n) with constant + x.linear + x.upper.x, x the rows less the centre.

    Reads X (n, d), centre (d,), linear (K, q), upper (K, q / 12, q, 12), and constant (K,). z
    (rows, q), zeros when it starts, and sums (rows, 4) are scratch space for a multiple of four
    rows.
    """
    n, d = X.shape
    most, q = z.shape
    for start in range(0, n, most):
        size = min(most, n - start)
        put_rows(X, start, size, centre, z)
        for k in range(scores.shape[0]):
            for r in range(most):
                float64x4.store(sums, r * float64x4.WIDTH, float64x4.spread(0.0))
            for l in range(0, q, TILE):  # noqa: E741
                add_columns(z, size, q - d, linear, upper, k, l, sums)
            for r in range(size):
                scores[k, start + r] = constant[k] + float64x4.total(
                    float64x4.load(sums, r * float64x4.WIDTH)
                )


@compiled
def put_rows(X, start, size, centre, z):
    """Put rows of X, less the centre, at the ends of the rows of z."""
    d, q = X.shape[1], z.shape[1]
    for r in range(size):
        row, to = (start + r) * d, (r + 1) * q - d
        for j in range(0, d - float64x4.WIDTH + 1, float64x4.WIDTH):
            prefetch(X, row + j + AHEAD)
            x = float64x4.subtract(float64x4.load(X, row + j), float64x4.load(centre, j))
            float64x4.store(z, to + j, x)
        for j in range(d - d % float64x4.WIDTH, d):
            z[r, q - d + j] = np.float64(X[start + r, j]) - centre[j]


@compiled
def add_columns(z, size, first, linear, upper, k, l, sums):  # noqa: E741
    """Add x_j (b_j + sum over i <= j of x_i U_ij), j the 12 columns from l on, to the rows' sums.

    The first place of x that is not always zero is `first`.
    """
    q = z.shape[1]
    columns = (k * q + l) * q
    x, y, w = three(linear, k * q + l)
    for r in range(0, size, 4):
        a, b, c, e = r * q, (r + 1) * q, (r + 2) * q, (r + 3) * q
        a0 = b0 = c0 = e0 = x
        a1 = b1 = c1 = e1 = y
        a2 = b2 = c2 = e2 = w
        for i in range(first, l + TILE):
            u, v, s = three(upper, columns + i * TILE)
            a0, a1, a2 = add3(float64x4.spread_from(z, a + i), u, v, s, a0, a1, a2)
            b0, b1, b2 = add3(float64x4.spread_from(z, b + i), u, v, s, b0, b1, b2)
            c0, c1, c2 = add3(float64x4.spread_from(z, c + i), u, v, s, c0, c1, c2)
            e0, e1, e2 = add3(float64x4.spread_from(z, e + i), u, v, s, e0, e1, e2)
        add_dot(z, a + l, a0, a1, a2, sums, r)
        add_dot(z, b + l, b0, b1, b2, sums, r + 1)
        add_dot(z, c + l, c0, c1, c2, sums, r + 2)
        add_dot(z, e + l, e0, e1, e2, sums, r + 3)


@compiled
def three(array, place):
    """The 12 numbers from a place on."""
    return (
        float64x4.load(array, place),
        float64x4.load(array, place + 4),
        float64x4.load(array, place + 8),
    )


@compiled
def add_dot(z, place, u, v, s, sums, r):
    """Add three vectors times those at a place of z to the sum of row r."""
    x, y, w = three(z, place)
    total = float64x4.multiply_add(x, u, float64x4.load(sums, r * float64x4.WIDTH))
    total = float64x4.multiply_add(w, s, float64x4.multiply_add(y, v, total))
    float64x4.store(sums, r * float64x4.WIDTH, total)


# Log-densities of rows under Gaussians with independent features, class by class, in one read.
#
# Legend: X (n, d); mean and half_precision (K, d), the latter 1 / (2 variance); start (K,), what
# a class scores at its own mean. The score of a row is start minus the sum over its features of
# half_precision (x - mean)^2: the distance is taken before it is squared, so that rows far from
# the origin keep their digits. gap is None; or (K, d), what a feature that is NaN takes off the
# score in place of its distance, to undo its part in `start`.
#
# Four rows go together: each mean is loaded once for all of them, and reading X is what takes
# time.


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
