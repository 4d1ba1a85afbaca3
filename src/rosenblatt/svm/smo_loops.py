# mypy: ignore-errors
"""Sequential minimal optimization: pairs of coefficients, one raised and one lowered by as much.

The problem is ``min 1/2 b'Kb + c.b + kink |b|_1`` with ``sum b = 0`` and ``low <= b <= high``. For
a support vector classifier c is -y, low and high are 0 and C on the side of y, and kink is 0; for
regression c is -t, low and high are -C and C, and kink is the width of the tube.

Legend: g = K b + c; up_i is the slope of the objective when b_i rises, down_j when b_j falls, which
differ by the kink at zero. At the optimum no up_i is below a down_j, of those that can move.
"""

import numpy as np

from rosenblatt.loops import compiled

TINY = 1e-12  # the curvature along a pair of equal rows


@compiled
def smo_steps(K, g, b, low, high, kink, tol, most, room):
    """Improve pairs of a working set until no violation exceeds tol; return their number.

    Reads K (q, q), low, high (q,); changes g (q,) and b (q,); room (4, q) is scratch space. The
    first of a pair has the lowest slope up; the second has the largest gain by the curvature along
    the pair.
    """
    rise, fall = room[0], room[1]  # slopes up and down are g + rise and g + fall
    diagonal, gains = room[2], room[3]
    i, least = 0, np.inf
    for t in range(g.shape[0]):
        diagonal[t] = K[t, t]
        set_kinks(b, low, high, kink, rise, fall, t)
        if g[t] + rise[t] < least:
            i, least = t, g[t] + rise[t]
    for step in range(most):
        estimate_gains(K[i], diagonal, g, fall, diagonal[i], least, gains)
        j, highest, largest = -1, -np.inf, 0.0
        for t in range(g.shape[0]):
            highest = max(highest, g[t] + fall[t])
            if gains[t] > largest:
                j, largest = t, gains[t]
        if j < 0 or highest - least <= tol:
            return step
        size = move_pair(K, g, b, low, high, kink, i, j)
        set_kinks(b, low, high, kink, rise, fall, i)
        set_kinks(b, low, high, kink, rise, fall, j)
        first, second = K[i], K[j]
        i, least = 0, np.inf
        for t in range(g.shape[0]):
            g[t] += size * (first[t] - second[t])
            if g[t] + rise[t] < least:
                i, least = t, g[t] + rise[t]
    return most


@compiled(inline=True)
def set_kinks(b, low, high, kink, rise, fall, t):
    """Set the offsets of the slope of b_t as it rises and falls, infinite if it cannot."""
    rise[t] = (kink if b[t] >= 0 else -kink) if b[t] < high[t] else np.inf
    fall[t] = (kink if b[t] > 0 else -kink) if b[t] > low[t] else -np.inf


@compiled
def estimate_gains(row, diagonal, g, fall, own, least, gains):
    """Fill gains (q,) with the squared violation of each pair over its curvature."""
    # Without branches, which the processor would mispredict.
    for t in range(g.shape[0]):
        off = g[t] + fall[t] - least
        off = off if off > 0.0 else 0.0
        curvature = own + diagonal[t] - 2.0 * row[t]
        gains[t] = off * off / (curvature if curvature > TINY else TINY)


@compiled
def move_pair(K, g, b, low, high, kink, i, j):
    """Raise b_i and lower b_j to the minimum along the pair or the first bound; return the step."""
    slope = g[j] + (kink if b[j] > 0 else -kink) - g[i] - (kink if b[i] >= 0 else -kink)
    size = slope / max(K[i, i] + K[j, j] - 2.0 * K[i, j], TINY)
    top = 0.0 if kink > 0 and b[i] < 0 else high[i]
    bottom = 0.0 if kink > 0 and b[j] > 0 else low[j]
    size = min(size, top - b[i], b[j] - bottom)
    # A bound that is reached is reached exactly.
    b[i] = top if size == top - b[i] else b[i] + size
    b[j] = bottom if size == b[j] - bottom else b[j] - size
    return size


@compiled
def slopes(f, b, c, low, high, kink, up, down):
    """Set the slopes up and down (n,), infinite for coefficients at a limit.

    Returns the largest violation of a pair.
    """
    least, highest = np.inf, -np.inf
    for t in range(f.shape[0]):
        g = f[t] + c[t]
        up[t] = g + (kink if b[t] >= 0 else -kink) if b[t] < high[t] else np.inf
        down[t] = g + (kink if b[t] > 0 else -kink) if b[t] > low[t] else -np.inf
        least, highest = min(least, up[t]), max(highest, down[t])
    return highest - least
