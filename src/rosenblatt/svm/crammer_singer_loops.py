# mypy: ignore-errors
"""All classes in one problem: dual coordinate descent, and steps of an interior point method.

Coordinate descent sets all multipliers of a row at a time, exactly:

    minimize  |W|^2 / 2 - sum_i alpha[i, y_i],   W = sum_i (x_i, bias) alpha_i',
    alpha[i, k] <= c_i for k = y_i and <= 0 for others,  sum_k alpha[i, k] = 0

The multipliers of a row take weight from other classes and give it to the row's own. The scores of
a row are ``(x, bias) W + center``.

The interior point method has for each row and other class a multiplier a and a lead
``u = f_own - f_k + xi - 1``, for each row a slack xi and ``g = c - sum_k a``, all positive. A step
brings the products a u and g xi towards a target. Entries of the own class are not used, but for a
multiplier of 0.
"""

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import compiled, rows

from .dual_coordinate_loops import shuffle

NO_STEP = 1e-12  # of a score
LOW, HIGH = 0.1, 10.0  # of the product that is aimed at: others are corrected


class ClassRows(NamedTuple):
    """Arguments of a pass, with an entry for each row."""

    X: Any  # (n, d), see `rows`
    y: Any  # class numbers
    c: Any
    lengths: Any  # |x|^2 + bias^2
    bias: float  # the value of one more column; 0 for none


@compiled
def joint_pass(table, center, order, n_active, firm, seed, alpha, W, scores, new):
    """Visit the active rows, ``order[:n_active]``, in a new random order and set their multipliers.

    A row without multipliers whose own class leads all others by `firm` more than it must becomes
    inactive. Changes order (n,), seed (1,), alpha (n, K), W (d + 1, K); scores and new (K,) are
    scratch space. Returns the number of active rows and the largest violation: the amount by which
    another class's slope was above the slope of a class whose multiplier could grow.
    """
    K = scores.shape[0]
    shuffle(order, n_active, seed)
    largest, t = 0.0, 0
    while t < n_active:
        rows.prefetch_row(table.X, table.c, order[:n_active], t)
        i = order[t]
        own = table.y[i]
        rows.dots(table.X, i, W, scores)
        for k in range(K):  # the slope of the objective by each multiplier
            scores[k] += table.bias * W[W.shape[0] - 1, k] + center[k]
            if k != own:
                scores[k] += 1.0
        violation, rest = row_violation(scores, alpha[i], own, table.c[i])
        if rest > firm:
            n_active -= 1
            order[t], order[n_active] = order[n_active], i
            continue
        largest = max(largest, violation)
        if violation > NO_STEP and table.lengths[i] > 0:
            best(scores, alpha[i], own, table.c[i], table.lengths[i], new)
            add_row(table, i, alpha[i], new, W)
            for k in range(K):
                alpha[i, k] = new[k]
        t += 1
    return n_active, largest


@compiled
def row_violation(slopes, alpha, own, c):
    """Return the violation of a row and, if it has no multiplier, the lead of its own class."""
    # Weight can move from any class to one whose multiplier is below its limit.
    most, least, other, empty = -np.inf, np.inf, -np.inf, True
    for k in range(slopes.shape[0]):
        most = max(most, slopes[k])
        if k == own:
            if alpha[k] < c:
                least = min(least, slopes[k])
        else:
            other = max(other, slopes[k])
            if alpha[k] < 0:
                least = min(least, slopes[k])
                empty = False
    rest = slopes[own] - other if empty else -1.0
    return max(most - least, 0.0), rest


@compiled
def best(slopes, alpha, own, c, curvature, new):
    """Fill new (K,) with the best multipliers of a row while all others stay.

    They are ``min(limit, free - level)``, with the level at which they sum to zero. The multipliers
    at their limit are found in a few rounds, each of which can only lower the level.
    """
    K = slopes.shape[0]
    level = np.inf
    while True:
        total, n_free = 0.0, 0
        for k in range(K):
            free = alpha[k] - slopes[k] / curvature
            limit = c if k == own else 0.0
            if free - level > limit:
                total += limit
            else:
                total += free
                n_free += 1
        lower = total / n_free
        if not lower < level:
            break
        level = lower
    for k in range(K):
        limit = c if k == own else 0.0
        new[k] = min(limit, alpha[k] - slopes[k] / curvature - level)


@compiled
def add_row(table, i, old, new, W):
    """Add row i times the changes of its multipliers to the columns of W."""
    K, last = new.shape[0], W.shape[0] - 1
    for k in range(K):
        W[last, k] += table.bias * (new[k] - old[k])
    if isinstance(table.X, tuple):
        data, indices, indptr = table.X
        for p in range(indptr[i], indptr[i + 1]):
            j = np.uint32(indices[p])
            for k in range(K):
                W[j, k] += data[p] * (new[k] - old[k])
    else:
        for j in range(last):
            for k in range(K):
                W[j, k] += table.X[i, j] * (new[k] - old[k])


class State(NamedTuple):
    """The current point: own (n,) class numbers, a and u (n, K), xi and g (n,)."""

    own: Any
    a: Any
    u: Any
    xi: Any
    g: Any
    q: Any  # a / u (n, K), 0 for the own class
    h: Any  # (n,), share of a change of the leads that the slack absorbs


class Step(NamedTuple):
    """Changes of a and u (n, K) and xi (n,), and the products (n, K) and (n,) that they aim at."""

    a: Any
    u: Any
    xi: Any
    first: Any
    second: Any
    fixed: Any  # changes of a and xi while the scores stay
    rest: Any


@compiled
def weigh(state, start, stop, M):
    """Fill q and h of rows start to stop, and M (m, K (K + 1) / 2) with their curvature.

    It is the upper half of E'(diag q - h q q')E, with E the map from scores to leads.
    """
    K = state.a.shape[1]
    for i in range(start, stop):
        own, whole = state.own[i], 0.0
        for k in range(K):
            state.q[i, k] = state.a[i, k] / state.u[i, k] if k != own else 0.0
            whole += state.q[i, k]
        state.h[i] = state.xi[i] / (state.g[i] + state.xi[i] * whole)
        p = 0
        for k in range(K):
            of_k = whole if k == own else -state.q[i, k]
            for j in range(k, K):
                of_j = whole if j == own else -state.q[i, j]
                bend = -state.h[i] * of_k * of_j
                if j == k:
                    bend += abs(of_k)
                elif k == own:
                    bend += of_j
                elif j == own:
                    bend += of_k
                M[i - start, p] = bend
                p += 1


@compiled
def multiply_pairs(X, Z):
    """Fill Z (m, d (d + 1) / 2) with the products of each two columns of the rows of X (m, d)."""
    d = X.shape[1]
    for i in range(X.shape[0]):
        p = 0
        for j in range(d):
            for k in range(j, d):
                Z[i, p + k - j] = X[i, j] * X[i, k]
            p += d - j


@compiled
def push(state, step, beta):
    """Fill beta (n, K) with the multipliers by class after a step in which the scores stay."""
    K = state.a.shape[1]
    for i in range(state.own.shape[0]):
        own, xi, g = state.own[i], state.xi[i], state.g[i]
        short, whole = 0.0, 0.0
        for k in range(K):
            if k != own:
                step.fixed[i, k] = step.first[i, k] / state.u[i, k] - state.a[i, k]
                short += step.fixed[i, k]
                whole += state.q[i, k]
        rest = (step.second[i] - g * xi + xi * short) / (g + xi * whole)
        step.rest[i] = rest
        total = 0.0
        for k in range(K):
            if k != own:
                step.fixed[i, k] -= state.q[i, k] * rest
                mass = state.a[i, k] + step.fixed[i, k]
                beta[i, k] = -mass
                total += mass
        beta[i, own] = total


@compiled
def change(state, step, df):
    """Fill the changes of a step that changes scores by df (n, K); return the longest, up to 1."""
    K = state.a.shape[1]
    fastest = 1.0  # the largest relative decrease of any number
    for i in range(state.own.shape[0]):
        own, taken = state.own[i], 0.0
        for k in range(K):
            taken += state.q[i, k] * (df[i, own] - df[i, k])
        taken *= state.h[i]
        dxi, total = step.rest[i] - taken, 0.0
        step.xi[i] = dxi
        for k in range(K):
            if k != own:
                lead = df[i, own] - df[i, k]
                da = step.fixed[i, k] - state.q[i, k] * (lead - taken)
                du = lead + dxi
                step.a[i, k], step.u[i, k] = da, du
                total += da
                fastest = max(fastest, max(-da / state.a[i, k], -du / state.u[i, k]))
        fastest = max(fastest, max(total / state.g[i], -dxi / state.xi[i]))
    return 1.0 / fastest


@compiled
def products(state, step, length):
    """Return the sum of a u and g xi after a step: the gap, if all is feasible."""
    result = 0.0
    for i in range(state.own.shape[0]):
        total = 0.0
        for k in range(state.a.shape[1]):
            if k != state.own[i]:
                da = length * step.a[i, k]
                result += (state.a[i, k] + da) * (state.u[i, k] + length * step.u[i, k])
                total += da
        result += (state.g[i] - total) * (state.xi[i] + length * step.xi[i])
    return result


@compiled
def aim(state, step, target):
    """Aim products at the target, less the second-order terms of the predictor step."""
    for i in range(state.own.shape[0]):
        total = 0.0
        for k in range(state.a.shape[1]):
            if k != state.own[i]:
                step.first[i, k] = target - step.a[i, k] * step.u[i, k]
                total += step.a[i, k]
        step.second[i] = target + total * step.xi[i]


@compiled
def correct(state, step, target, length):
    """Correct the aim of products that a step of this length would leave far from the target.

    J. Gondzio (1996), Multiple centrality corrections.
    """
    for i in range(state.own.shape[0]):
        total = 0.0
        for k in range(state.a.shape[1]):
            if k != state.own[i]:
                da = length * step.a[i, k]
                found = (state.a[i, k] + da) * (state.u[i, k] + length * step.u[i, k])
                step.first[i, k] += correction(found, target)
                total += da
        found = (state.g[i] - total) * (state.xi[i] + length * step.xi[i])
        step.second[i] += correction(found, target)


@compiled(inline=True)
def correction(found, target):
    """Return the change that brings a product between LOW and HIGH times the target."""
    return max(LOW * target - found, 0.0) - min(max(found - HIGH * target, 0.0), HIGH * target)


@compiled
def move(state, step, length):
    """Make the step; return the sum of the products after it."""
    result = 0.0
    for i in range(state.own.shape[0]):
        total = 0.0
        for k in range(state.a.shape[1]):
            if k != state.own[i]:
                state.a[i, k] += length * step.a[i, k]
                state.u[i, k] += length * step.u[i, k]
                result += state.a[i, k] * state.u[i, k]
                total += step.a[i, k]
        state.g[i] -= length * total
        state.xi[i] += length * step.xi[i]
        result += state.g[i] * state.xi[i]
    return result
