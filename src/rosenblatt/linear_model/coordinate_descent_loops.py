# mypy: ignore-errors
"""Coordinate descent on ``1/2 |t - X w|^2 + l1 |w|_1 + l2/2 |w|^2``, one weight at a time.

Legend: w (d,) are the weights; left (d,) is ``X' r``, what each column still has in common with the
residual ``r = t - X w``; xx (d, d) is ``X' X``. Table is X turned round, so that its columns lie in
rows: an array (d, n), or the three arrays of a compressed matrix (see `rows`). With `positive`, no
weight may be below zero.
"""

import numpy as np

from rosenblatt.loops import compiled, rows


@compiled
def shrunk(z, l1, positive):
    """z moved towards zero by l1, and no further."""
    if z > l1:
        return z - l1
    if z < -l1 and not positive:
        return z + l1
    return 0.0


@compiled(reorder_sums=True)  # each turn adds a row of xx to left
def gram_sweep(xx, l1, l2, positive, order, w, left):
    """Minimise over each weight in turn; return whether one of them changed its sign.

    Changes w and left.
    """
    signs_changed = False
    for t in range(order.shape[0]):
        j = order[t]
        curvature = xx[j, j] + l2
        if curvature <= 0:  # a column that does not vary, and no reason to use it
            best = 0.0
        else:
            best = shrunk(left[j] + xx[j, j] * w[j], l1, positive) / curvature
        step = best - w[j]
        if step != 0:
            signs_changed |= (best > 0) != (w[j] > 0) or (best < 0) != (w[j] < 0)
            w[j] = best
            for k in range(w.shape[0]):
                left[k] -= step * xx[j, k]
    return signs_changed


@compiled
def gram_left(xx, xy, w, left):
    """Fill left with ``xy - xx w``."""
    for k in range(w.shape[0]):
        left[k] = xy[k]
    for j in range(w.shape[0]):
        if w[j] != 0:
            for k in range(w.shape[0]):
                left[k] -= w[j] * xx[j, k]


@compiled
def column_sweep(table, means, squares, l1, l2, positive, order, w, r, shift):
    """As `gram_sweep`, on columns; only those in `order` are visited.

    Columns of a compressed table are not centred: x_j stands for ``x_j - means[j] u``, where u is
    the unit vector of the rows' root shares, and the residual for ``r + shift[0] u``, which has
    nothing in common with u. squares (d,) are the lengths of the centred columns, squared. Changes
    w, r and shift (1,).
    """
    for t in range(order.shape[0]):
        j = order[t]
        curvature = squares[j] + l2
        if curvature <= 0:
            continue
        left = rows.dot(table, j, r) + shift[0] * means[j]
        best = shrunk(left + squares[j] * w[j], l1, positive) / curvature
        step = best - w[j]
        if step != 0:
            w[j] = best
            rows.add(table, j, -step, r)
            shift[0] += step * means[j]


@compiled
def correlate(table, means, balance, which, r, left):
    """Fill left[j], for j in which, with ``(x_j - means[j] u)' r``; balance is ``u' r``."""
    for t in range(which.shape[0]):
        j = which[t]
        left[j] = rows.dot(table, j, r) - means[j] * balance


@compiled
def take_out(table, means, w, r):
    """Subtract ``X w`` from r, columns taken as they are; return what `means` have of w."""
    shift = 0.0
    for j in range(w.shape[0]):
        if w[j] != 0:
            rows.add(table, j, -w[j], r)
            shift += w[j] * means[j]
    return shift


@compiled
def measure(rr, tr, left, w, l1, l2, positive):
    """The objective, how far it is above the best at most, and the length of its subgradient.

    rr and tr are r'r and t'r. Any multiple of the residual is a candidate for the dual,
    ``D(a r) = a t'r - a^2/2 r'r - sum_j [|a x_j'r| - l1]_+^2 / (2 l2)``, without the sum but with
    ``|a x_j'r| <= l1`` when l2 = 0. Two are tried: the best one that keeps within l1 what the l2
    part does not explain, and the residual itself.
    """
    size, square, most, least, subgradient = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(w.shape[0]):
        size += abs(w[j])
        square += w[j] * w[j]
        rest = left[j] - l2 * w[j]
        most = max(most, rest)
        least = min(least, rest)
        if w[j] != 0:
            slope = abs(rest - l1) if w[j] > 0 else abs(rest + l1)
        else:
            slope = max(0.0, rest - l1 if positive else abs(rest) - l1)
        subgradient += slope * slope
    objective = rr / 2 + l1 * size + l2 / 2 * square
    if not positive:
        most = max(most, -least)
        least = -most
    # The largest a with a * most <= l1 and, where a is negative, a * least <= l1.
    length = rr + l2 * square
    a = tr / length if length > 0 else (np.inf if tr > 0 else 0.0)
    if a > 0 and a * most > l1:
        a = l1 / most
    if a < 0 and a * least > l1:
        a = l1 / least
    if not np.isfinite(a):
        a = 1.0
    dual = max(0.0, dual_value(a, rr, tr, left, l1, l2, positive))
    if l2 > 0:
        dual = max(dual, dual_value(1.0, rr, tr, left, l1, l2, positive))
    return objective, max(0.0, objective - dual), np.sqrt(subgradient)


@compiled
def dual_value(a, rr, tr, left, l1, l2, positive):
    """The dual objective at a times the residual; where l2 = 0, a must keep within l1."""
    excess = 0.0
    if l2 > 0:
        for j in range(left.shape[0]):
            over = (a * left[j] if positive else abs(a * left[j])) - l1
            if over > 0:
                excess += over * over
        excess /= 2 * l2
    return a * tr - a * a / 2 * rr - excess
