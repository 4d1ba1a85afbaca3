# mypy: ignore-errors
"""Dual coordinate descent for linear support vector machines: one multiplier at a time, exactly.

    minimize  |w|^2 / 2 + sum_i [ridge_i beta_i^2 / 2 - target_i beta_i + epsilon |beta_i|],
    w = sum_i beta_i (x_i, bias),  low_i <= beta_i <= high_i

A classifier has targets -1 and +1, and multipliers that have the sign of the target. The score of
a row is ``w.(x, bias) + center``.
"""

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import compiled, rows

NO_STEP = 1e-12  # slopes below are rounding


class DualRows(NamedTuple):
    """Arguments of a pass, with an entry for each row."""

    X: Any  # (n, d), see `rows`
    target: Any
    low: Any  # limits of the multipliers
    high: Any
    ridge: Any
    lengths: Any  # |x|^2 + bias^2
    epsilon: float
    bias: float  # the value of an additional column; 0 for none


@compiled
def dual_pass(table, center, order, n_active, firm, seed, beta, w):
    """Visit the active rows, ``order[:n_active]``, in a new random order and set each multiplier.

    A row whose multiplier is at a limit and pushed against it by more than `firm` becomes inactive.
    Changes order (n,), seed (1,), beta (n,), w (d + 1,). Returns the number of active rows, and the
    largest and the sum of the slopes along which a multiplier could move.
    """
    epsilon, bias, d = table.epsilon, table.bias, w.shape[0] - 1
    shuffle(order, n_active, seed)
    largest, total, t = 0.0, 0.0, 0
    while t < n_active:
        rows.prefetch_row(table.X, beta, order[:n_active], t)
        i = order[t]
        score = rows.dot(table.X, i, w[:d]) + bias * w[d] + center
        slope = score - table.target[i] + table.ridge[i] * beta[i]
        upward = slope + (epsilon if beta[i] >= 0 else -epsilon)
        downward = slope + (epsilon if beta[i] > 0 else -epsilon)
        push = 0.0
        if beta[i] < table.high[i] and upward < 0:
            push = -upward
        elif beta[i] > table.low[i] and downward > 0:
            push = downward
        else:
            rest = min(
                upward if beta[i] < table.high[i] else np.inf,
                -downward if beta[i] > table.low[i] else np.inf,
            )
            if rest > firm:
                n_active -= 1
                order[t], order[n_active] = order[n_active], i
                continue
        largest = max(largest, push)
        total += push
        if push > NO_STEP and table.lengths[i] + table.ridge[i] > 0:
            new = best(table, i, beta[i], slope, table.lengths[i] + table.ridge[i])
            rows.add(table.X, i, new - beta[i], w[:d])
            w[d] += (new - beta[i]) * bias
            beta[i] = new
        t += 1
    return n_active, largest, total


@compiled(inline=True)
def best(table, i, old, slope, curvature):
    """Return the best multiplier of row i while all others stay: soft threshold, then limits."""
    free = old * curvature - slope
    if free > table.epsilon:
        free -= table.epsilon
    elif free < -table.epsilon:
        free += table.epsilon
    else:
        free = 0.0
    return min(max(free / curvature, table.low[i]), table.high[i])


@compiled
def shuffle(order, n_active, seed):
    """Put the first rows of `order` into random order; changes seed (1,), 64 random bits."""
    for t in range(n_active - 1, 0, -1):
        other = draw(seed, t + 1)
        order[t], order[other] = order[other], order[t]


@compiled(inline=True)
def draw(seed, n):
    """Draw a number from 0 to n - 1 by Marsaglia's xorshift generator."""
    bits = seed[0]
    bits ^= bits << np.uint64(13)
    bits ^= bits >> np.uint64(7)
    bits ^= bits << np.uint64(17)
    seed[0] = bits
    # The upper 32 bits, scaled: no division.
    return np.int64(((bits >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@compiled
def multiply(X, beta, w):
    """Set all but the last entry of w (d + 1,) to sum_i beta_i x_i."""
    w[:-1] = 0.0
    for i in range(beta.shape[0]):
        if beta[i] != 0:
            rows.add(X, i, beta[i], w[:-1])


@compiled
def squared_lengths(X, lengths):
    """Fill lengths (n,) with |x|^2 of each row."""
    for i in range(lengths.shape[0]):
        total = 0.0
        if isinstance(X, tuple):
            data, _, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                total += data[p] * data[p]
        else:
            for j in range(X.shape[1]):
                total += X[i, j] * X[i, j]
        lengths[i] = total
