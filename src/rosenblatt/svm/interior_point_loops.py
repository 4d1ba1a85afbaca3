# mypy: ignore-errors
"""Steps of an interior point method for linear support vector machines.

Rows (n,) have scores ``f = w.x + b``. Each of the m sides has a lead ``u = s f + xi - r``, a slack
xi and a multiplier a, all positive, and a below its cost c. A step brings the products a u and
(c - a) xi towards zero.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import compiled, rows

MOST_OF_STEP = 0.995  # of the longest step that stays inside


class Sides(NamedTuple):
    """The constants of the problem, with an entry (m,) for each side."""

    row: Any
    s: Any  # +1 for a lower limit of the score, -1 for an upper limit
    c: Any
    r: Any  # s t - epsilon
    X: Any  # the rows, see `rows`
    bias_curvature: float  # of the intercept's penalty; negative without an intercept


class State(NamedTuple):
    """The current point, inverses (m,), and theta (m,): minus the slope of a by the lead."""

    a: Any
    u: Any
    xi: Any
    over_a: Any
    over_g: Any  # g = c - a
    over_u: Any
    over_xi: Any
    theta: Any
    f: Any  # (n,)
    w: Any  # (d + 1,), the intercept last


class Step(NamedTuple):
    """Changes of a, u and xi (m,), of w (d + 1,) and of f (n,); and multipliers of rows (n,)."""

    a: Any
    u: Any
    xi: Any
    w: Any
    f: Any
    beta: Any


@compiled
def weigh(sides, state, h):
    """Fill the inverses and theta; and h (n,), the sums of theta by row."""
    h[:] = 0.0
    for k in range(state.a.shape[0]):
        state.over_a[k], state.over_g[k] = 1.0 / state.a[k], 1.0 / (sides.c[k] - state.a[k])
        state.over_u[k], state.over_xi[k] = 1.0 / state.u[k], 1.0 / state.xi[k]
        state.theta[k] = 1.0 / (state.u[k] * state.over_a[k] + state.xi[k] * state.over_g[k])
        h[sides.row[k]] += state.theta[k]


@compiled
def advance(sides, state, step, factor, scale):
    """Make Mehrotra's predictor and corrector step; return the sum of the products.

    The Newton system has the matrix ``S L L' S``, with L (d + 1, d + 1) the `factor` and S the
    diagonal `scale`. Changes `state` and `step`; returns 0 if a change is not finite.
    """
    step.a[:] = step.u[:] = step.xi[:] = 0.0
    whole = products(sides, state, step, 0.0)
    left = products(sides, state, step, direct(sides, state, step, factor, scale, 0.0))
    aim = whole * (left / whole) ** 3 / (2 * state.a.shape[0])
    length = min(1.0, MOST_OF_STEP * direct(sides, state, step, factor, scale, aim))
    if not (math.isfinite(length) and math.isfinite(rows.sum_of(step.w))):
        return 0.0
    for k in range(state.a.shape[0]):
        state.a[k] += length * step.a[k]
        state.u[k] += length * step.u[k]
        state.xi[k] += length * step.xi[k]
    for j in range(state.w.shape[0]):
        state.w[j] += length * step.w[j]
    score(sides.X, state.w, state.f)
    step.a[:] = step.u[:] = step.xi[:] = 0.0
    return products(sides, state, step, 0.0)


@compiled
def direct(sides, state, step, factor, scale, aim):
    """Set `step` to the Newton step that brings the products to `aim`; return its longest length.

    The second-order terms of the predictor step, which `step` holds before, are subtracted.
    """
    d = state.w.shape[0] - 1
    step.beta[:] = 0.0
    step.w[d] = -sides.bias_curvature * state.w[d]
    for k in range(state.a.shape[0]):
        i = sides.row[k]
        push = sides.s[k] * (state.a[k] + state.theta[k] * short(sides, state, step, aim, k))
        step.beta[i] += push
        step.w[d] += push
    for j in range(d):
        step.w[j] = -state.w[j]
    rows.add_each(sides.X, 0, step.beta, step.w[:d])
    if sides.bias_curvature < 0:
        step.w[d] = 0.0
    solve(factor, scale, step.w)
    score(sides.X, step.w, step.f)
    return change(sides, state, step, aim)


@compiled(inline=True)
def short(sides, state, step, aim, k):
    """Return the amount that the lead of a side is short of while the scores stay."""
    first, second = aim - step.a[k] * step.u[k], aim + step.a[k] * step.xi[k]
    lead = sides.s[k] * state.f[sides.row[k]] - sides.r[k]
    return first * state.over_a[k] - second * state.over_g[k] - lead


@compiled
def change(sides, state, step, aim):
    """Set a, u and xi of `step` to the changes that follow from its change of the scores.

    Returns the longest step, up to 1, that keeps all numbers positive.
    """
    fastest = 1.0  # the largest relative decrease of any number
    for k in range(state.a.shape[0]):
        u, xi, over_a, over_g = state.u[k], state.xi[k], state.over_a[k], state.over_g[k]
        first, second = aim - step.a[k] * step.u[k], aim + step.a[k] * step.xi[k]
        moved = sides.s[k] * step.f[sides.row[k]]
        da = state.theta[k] * (short(sides, state, step, aim, k) - moved)
        du = first * over_a - u - u * over_a * da
        dxi = second * over_g - xi + xi * over_g * da
        step.a[k], step.u[k], step.xi[k] = da, du, dxi
        inside = max(-da * over_a, da * over_g)
        fastest = max(fastest, max(inside, max(-du * state.over_u[k], -dxi * state.over_xi[k])))
    return 1.0 / fastest


@compiled(reorder_sums=True)  # a sum of positive numbers, whatever their order
def products(sides, state, step, length):
    """Return the sum of a u and (c - a) xi after a step: the gap, if all is feasible."""
    total = 0.0
    for k in range(state.a.shape[0]):
        a = state.a[k] + length * step.a[k]
        total += a * (state.u[k] + length * step.u[k])
        total += (sides.c[k] - a) * (state.xi[k] + length * step.xi[k])
    return total


@compiled
def score(X, w, f):
    """Fill f (n,) with the scores of rows by weights and intercept w (d + 1,)."""
    d = w.shape[0] - 1
    rows.dot_each(X, 0, w[:d], f)
    for i in range(f.shape[0]):
        f[i] += w[d]


@compiled
def solve(factor, scale, v):
    """Change v (m,) to the x with ``S L L' S x = v``; L (m, m) is stored by columns."""
    m = v.shape[0]
    for j in range(m):
        v[j] /= scale[j]
    for j in range(m):
        v[j] /= factor[j, j]
        for i in range(j + 1, m):
            v[i] -= factor[i, j] * v[j]
    for j in range(m - 1, -1, -1):
        for i in range(j + 1, m):
            v[j] -= factor[i, j] * v[i]
        v[j] /= factor[j, j]
    for j in range(m):
        v[j] /= scale[j]


@compiled
def weighted_rows(X, h, start, stop, weighted):
    """Fill the first rows of weighted (m, d + 1) with sqrt(h) (x, 1); return their number.

    Reads rows start to stop of X and their weights h (n,); rows of weight 0 are left out.
    """
    m, d = 0, weighted.shape[1] - 1
    for i in range(start, stop):
        if h[i] != 0:
            root = np.sqrt(h[i])
            if isinstance(X, tuple):
                weighted[m] = 0.0
                rows.add(X, i, root, weighted[m])
            else:
                for j in range(d):
                    weighted[m, j] = root * X[i, j]
            weighted[m, d] = root
            m += 1
    return m
