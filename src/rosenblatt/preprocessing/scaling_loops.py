# mypy: ignore-errors
"""Columns shifted and scaled, rows brought to length one: each number read once, written once.

All arithmetic is in doubles, rounded once into the precision of `out`, which may be X itself.
"""

import numpy as np

from rosenblatt.loops import compiled


@compiled
def shift_and_divide(X, shift, scale, width, low, out):
    """Fill out (n, d) with (X - shift) / scale * width + low; X (n, d), shift and scale (d,)."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[i, j] = (np.float64(X[i, j]) - shift[j]) / scale[j] * width + low


@compiled
def runs_to_unit_length(values, starts, absolute, smallest, largest, out):
    """Fill out (m,) with values (m,), each run of them divided by its norm; zeros stay.

    Run i is from starts[i] to starts[i + 1]. The norm is the sum of absolute values, or the square
    root of the sum of squares. Outside of smallest to largest it may have left the range of
    doubles: such a run is divided by its largest number first.
    """
    for i in range(starts.shape[0] - 1):
        run, target = values[starts[i] : starts[i + 1]], out[starts[i] : starts[i + 1]]
        length = norm(run, absolute)
        if smallest < length < largest:
            for p in range(run.shape[0]):
                target[p] = np.float64(run[p]) / length
        else:
            odd_run_to_unit_length(run, absolute, target)


# Reordered: one sum after the other would wait for the adder, four times as long.
@compiled(reorder_sums=True)
def norm(run, absolute):
    """Return the norm of run (m,)."""
    total = 0.0
    if absolute:
        for p in range(run.shape[0]):
            total += abs(np.float64(run[p]))
        return total
    for p in range(run.shape[0]):
        x = np.float64(run[p])
        total += x * x
    return np.sqrt(total)


@compiled
def odd_run_to_unit_length(run, absolute, out):
    """Fill out (m,) with run (m,) over its norm, by way of its largest number."""
    most, total = 0.0, 0.0
    for p in range(run.shape[0]):
        most = max(most, abs(np.float64(run[p])))
    for p in range(run.shape[0]):
        x = abs(np.float64(run[p]) / most)
        total += x if absolute else x * x
    length = total if absolute else np.sqrt(total)
    for p in range(run.shape[0]):
        out[p] = np.float64(run[p]) / most / length if most > 0 else 0.0


@compiled
def fill_splines(X, knots, degree, ends, N, found):
    """Fill found (n, m width) with the first `width` B-splines of each column of X (n, m).

    knots (m, T) are for T - degree - 1 functions. Beyond the knots, lines continue from ends
    (m, 4, width): the functions and their slopes at the low end, and at the high end. All functions
    of NaN are zero. N (degree + 1,) is scratch space.
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
