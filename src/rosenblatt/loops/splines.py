"""B-splines of columns, over knots of their own.

Legend: t (T,) knots of a column, k the degree; T - k - 1 functions, of which some first are wanted.
"""

import numpy as np

from . import compiled


@compiled
def fill_splines(X, knots, degree, ends, N, found):
    """Fill found (n, m width) with the first `width` functions of each column of X (n, m).

    knots (m, T). Beyond the knots of a column, lines go on from ends (m, 4, width): the functions
    and their slopes at its low end, and at its high one. All are zero of what is no number.
    N (degree + 1,) is scratch space.
    """
    n_knots, width = knots.shape[1], ends.shape[2]
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x, t, own = np.float64(X[i, j]), knots[j], found[i, j * width : (j + 1) * width]
            low, high = t[degree], t[n_knots - degree - 1]
            if low <= x <= high:
                place = degree  # t[place] <= x < t[place + 1], but for x = high
                while place < n_knots - degree - 2 and t[place + 1] <= x:
                    place += 1
                not_zero(x, t, degree, place, N)
                own[:] = 0.0
                for r in range(degree + 1):
                    if place - degree + r < width:
                        own[place - degree + r] = N[r]
            else:
                end, bound = (0, low) if x < low else (2, high)
                for c in range(width):
                    line = ends[j, end, c] + (x - bound) * ends[j, end + 1, c]
                    own[c] = line if x == x else 0.0


@compiled
def not_zero(x, t, degree, place, N):
    """Fill N (degree + 1,) with the functions that are not zero between t[place] and the next.

    By the recursion of Cox and de Boor: each is a mean of two of one degree less.
    """
    N[0] = 1.0
    for d in range(1, degree + 1):
        saved = 0.0
        for r in range(d):
            right, left = t[place + r + 1], t[place + 1 - d + r]
            part = N[r] / (right - left) if right > left else 0.0
            N[r] = saved + (right - x) * part
            saved = (x - left) * part
        N[d] = saved
