# mypy: ignore-errors
"""Epochs of stochastic gradient descent.

A visit of row i with score ``p = w.x + b`` and learning rate eta sets

    w = (1 - eta l2) w - eta loss'(p) x,    b = b - eta loss'(p),

and moves the weights of its features towards 0 by the L1 penalty. The weights are stored as
``scale * v``, so that the L2 penalty changes one number instead of d. The L1 penalty is cumulative
(Tsuruoka, Tsujii and Ananiadou 2009): `owed` sums eta l1 over all visits, and a weight is moved by
the part not yet `applied` to it when a row stores its feature.

The mean of the weights over N visits is ``(S v - u) / N``: S is the sum of the scales, and u sums
each change of v times the S of its time. Only a change of v costs time.

Legend: X rows (see `loops.rows`), y (n,) targets or class numbers, weight (n,), or (1,) if equal
for all rows, order (m,) the rows to visit, V (K, d) the stored weights, state (K, N_STATES) the
numbers listed below.
"""

from typing import NamedTuple

import numpy as np

from rosenblatt.loops import compiled, rows

HINGE, SQUARED_HINGE, MODIFIED_HUBER, LOG_LOSS = 0, 1, 2, 3
SQUARED_ERROR, HUBER, EPSILON_INSENSITIVE, SQUARED_EPSILON_INSENSITIVE = 4, 5, 6, 7
CONSTANT, OPTIMAL, INVSCALING, PA1, PA2 = 0, 1, 2, 3, 4

# Columns of `state`. LABEL is the class of an output in one-versus-rest, POSITIVE and NEGATIVE are
# the weights of its rows and of all others. OBJECTIVE is summed over the visits.
LABEL, POSITIVE, NEGATIVE, SCALE, INTERCEPT, RATE, T, OWED, OBJECTIVE = range(9)
SCALE_SUM, INTERCEPT_SUM, N_AVERAGED, SQUARED_NORM, L1_NORM = range(9, 14)
N_STATES = 14

ROWS_PER_BLOCK = 64  # dense rows visited for one output after the other while they are in cache
LARGEST_SLOPE = 1e12
SMALLEST_SCALE = 1e-6  # a smaller one would cost digits of v in float32


class Rule(NamedTuple):
    """Loss, penalty and learning rate of a fit."""

    loss: int
    width: float  # margin of hinge losses, epsilon of the losses for regression
    classify: bool  # y holds class numbers, and targets are +1 and -1
    l2: float  # alpha times the L2 part of the penalty
    l1: float
    schedule: int
    alpha: float
    t0: float  # visits by which the "optimal" schedule is ahead
    eta0: float
    power_t: float
    bias: float  # factor of the steps of the intercept
    average: float  # first visit that counts for the mean; infinity for none
    measure: bool  # sum the objective


@compiled
def sgd_epoch(X, y, weight, order, outputs, rule, V, state, applied, corrections):
    """Visit rows for some outputs (m,) and return whether all scores were finite.

    Updates V and state, with an L1 penalty applied (K, d), with averaging corrections (K, d).
    """
    if rule.measure:
        for k in outputs:
            state[k, SQUARED_NORM], state[k, L1_NORM] = norms(V[k])
    # The weights of sparse rows should stay in cache, not the rows.
    block = order.shape[0] if isinstance(X, tuple) else ROWS_PER_BLOCK
    for start in range(0, order.shape[0], block):
        stop = min(start + block, order.shape[0])
        for k in outputs:
            if not visit_rows(
                X, y, weight, order, start, stop, rule, V[k], state[k], applied[k], corrections[k]
            ):
                return False
    return True


@compiled
def visit_rows(X, y, weight, order, start, stop, rule, v, state, applied, corrections):
    """Visit the rows order[start:stop] for one output; stop at a score that is not finite."""
    scale, b, t, rate = state[SCALE], state[INTERCEPT], state[T], state[RATE]
    scale_sum, square, size = state[SCALE_SUM], state[SQUARED_NORM], state[L1_NORM]
    objective, owed = state[OBJECTIVE], state[OWED]
    weighted, finite = weight.shape[0] > 1, True
    for place in range(start, stop):
        rows.prefetch_row(X, y, order, place)
        i = order[place]
        target = y[i]
        if rule.classify:
            target = 1.0 if target == state[LABEL] else -1.0
        product = np.float64(rows.dot(X, i, v))
        p = scale * product + b
        if not np.isfinite(p):
            finite = False
            break
        if rule.measure:
            objective += loss_of(rule.loss, rule.width, target, p)
            if rule.schedule < PA1:
                objective += 0.5 * rule.l2 * scale * scale * square + rule.l1 * scale * size
        rate = learning_rate(rule, t, rate)
        if rule.schedule >= PA1:
            length = squared_length(X, i)
            if rule.schedule == PA1 and length == 0:
                continue
            step = passive_aggressive_step(rule, target, p, length)
        else:
            slope = slope_of(rule.loss, rule.width, target, p)
            step = -rate * min(max(slope, -LARGEST_SLOPE), LARGEST_SLOPE)
        step *= state[POSITIVE] if target > 0 else state[NEGATIVE]
        step *= weight[i if weighted else 0]
        if rule.l2 > 0:
            scale *= max(0.0, 1 - rate * rule.l2)
            if scale < SMALLEST_SCALE:
                if scale_sum > 0:
                    fold(v, scale_sum, corrections)
                    scale_sum = 0.0
                for j in range(v.shape[0]):
                    v[j] *= scale
                product, square, size = scale * product, scale * scale * square, scale * size
                scale = 1.0
        b += rule.bias * step
        change = v.dtype.type(step * (1 / scale))  # the quotient does not wait for the score
        if rule.l1 > 0:
            owed += rate * rule.l1
            if scale_sum > 0:
                add_products(X, i, -scale_sum, v, corrections)
            more_square, more_size = add_truncated(X, i, change, v, scale, owed, applied)
            square, size = max(0.0, square + more_square), max(0.0, size + more_size)
            if scale_sum > 0:
                add_products(X, i, scale_sum, v, corrections)
        elif change != 0:
            if rule.measure and rule.l2 > 0:
                square += change * (2 * product + change * squared_length(X, i))
                square = max(0.0, square)
            rows.add(X, i, change, v)
            if scale_sum > 0:
                rows.add(X, i, scale_sum * change, corrections)
        if t >= rule.average:
            scale_sum += scale
            state[INTERCEPT_SUM] += b
            state[N_AVERAGED] += 1
        t += 1
    state[SCALE], state[INTERCEPT], state[T], state[RATE] = scale, b, t, rate
    state[SCALE_SUM], state[SQUARED_NORM], state[L1_NORM] = scale_sum, square, size
    state[OBJECTIVE], state[OWED] = objective, owed
    return finite


@compiled
def learning_rate(rule, t, rate):
    """Learning rate of visit t; `rate` itself if it does not depend on t."""
    if rule.schedule == OPTIMAL:
        return 1 / (rule.alpha * (rule.t0 + t - 1))
    if rule.schedule == INVSCALING:
        if rule.power_t == 0.25:  # two roots take a tenth of the time of a power
            return rule.eta0 / np.sqrt(np.sqrt(t))
        if rule.power_t == 0.5:
            return rule.eta0 / np.sqrt(t)
        return rule.eta0 / t**rule.power_t
    return rate


@compiled
def passive_aggressive_step(rule, target, p, length):
    """Step of PA-I or PA-II for a row of squared length `length` (Crammer et al. 2006)."""
    loss = loss_of(rule.loss, rule.width, target, p)
    if rule.schedule == PA1:
        step = min(rule.eta0, loss / length)
    else:
        step = loss / (length + 0.5 / rule.eta0)
    if rule.loss == HINGE:
        return step * target
    return step if target >= p else -step


@compiled
def loss_of(loss, width, y, p):
    """Loss of the score p for the target y, or the class y in {-1, +1}."""
    if loss <= LOG_LOSS:
        z = y * p
        if loss == HINGE:
            return max(0.0, width - z)
        if loss == SQUARED_HINGE:
            return max(0.0, width - z) ** 2
        if loss == MODIFIED_HUBER:
            return -4 * z if z < -1 else max(0.0, 1 - z) ** 2
        return np.log(1 + np.exp(-abs(z))) + max(0.0, -z)
    error = abs(p - y)
    if loss == SQUARED_ERROR:
        return 0.5 * error * error
    if loss == HUBER:
        return 0.5 * error * error if error <= width else width * (error - 0.5 * width)
    if loss == EPSILON_INSENSITIVE:
        return max(0.0, error - width)
    return max(0.0, error - width) ** 2


@compiled
def slope_of(loss, width, y, p):
    """Derivative of `loss_of` by p."""
    if loss <= LOG_LOSS:
        z = y * p
        if loss == HINGE:
            return -y if z <= width else 0.0
        if loss == SQUARED_HINGE:
            return -2 * y * max(0.0, width - z)
        if loss == MODIFIED_HUBER:
            return -4 * y if z < -1 else -2 * y * max(0.0, 1 - z)
        e = np.exp(-abs(z))  # as in the loss: computed once for both
        return -y * (e if z > 0 else 1.0) / (1 + e)
    error = p - y
    if loss == SQUARED_ERROR:
        return error
    if loss == HUBER:
        return min(max(error, -width), width)
    beyond = max(0.0, abs(error) - width)
    if loss == EPSILON_INSENSITIVE:
        return np.sign(error) if beyond > 0 else 0.0
    return 2 * beyond * np.sign(error)


@compiled(reorder_sums=True)  # as the product with the weights
def squared_length(X, i):
    """Sum of the squares of row i of X."""
    total = 0.0
    if isinstance(X, tuple):
        data, _, indptr = X
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * data[p]
    else:
        for j in range(X.shape[1]):
            total += X[i, j] * X[i, j]
    return total


@compiled(reorder_sums=True)
def norms(v):
    """Sum of the squares and of the sizes of v (d,)."""
    square, size = 0.0, 0.0
    for j in range(v.shape[0]):
        square += v[j] * v[j]
        size += abs(v[j])
    return square, size


@compiled
def fold(v, scale_sum, corrections):
    """Move the sum of the weights so far into the corrections."""
    for j in range(v.shape[0]):
        corrections[j] -= scale_sum * v[j]


@compiled(reorder_sums=True)  # the sums then allow vectors
def add_truncated(X, i, change, v, scale, owed, applied):
    """Add change times row i to v and apply the L1 penalty to its features.

    Returns the changes of the sum of squares and of the sum of sizes of v.
    """
    square, size = 0.0, 0.0
    unscale = 1 / scale
    if isinstance(X, tuple):
        data, indices, indptr = X
        for p in range(indptr[i], indptr[i + 1]):
            j = np.uint32(indices[p])
            before, moved = v[j], v[j] + change * data[p]
            after = truncated(moved, unscale * owed, unscale * applied[j])
            v[j], applied[j] = after, applied[j] + scale * (after - moved)
            square += after * after - before * before
            size += abs(after) - abs(before)
    else:
        for j in range(X.shape[1]):
            before, moved = v[j], v[j] + change * X[i, j]
            after = truncated(moved, unscale * owed, unscale * applied[j])
            v[j], applied[j] = after, applied[j] + scale * (after - moved)
            square += after * after - before * before
            size += abs(after) - abs(before)
    return square, size


@compiled
def truncated(value, owed, applied):
    """A weight moved towards 0, not past it, by the penalty owed and not yet applied."""
    lowered, raised = max(0.0, value - owed - applied), min(0.0, value + owed - applied)
    return lowered if value > 0 else (raised if value < 0 else 0.0)


@compiled
def add_products(X, i, factor, v, corrections):
    """Add factor times v to the corrections, for the features of row i."""
    if isinstance(X, tuple):
        _, indices, indptr = X
        for p in range(indptr[i], indptr[i + 1]):
            j = np.uint32(indices[p])
            corrections[j] += factor * v[j]
    else:
        for j in range(X.shape[1]):
            corrections[j] += factor * v[j]


@compiled
def shuffle(order, seed):
    """Shuffle order (n,) in place as scikit-learn's models do, for the same order of visits.

    Fisher and Yates's shuffle with Marsaglia's 32-bit xorshift generator.
    """
    n, state = order.shape[0], max(np.int64(seed), 1)
    for first in range(n - 1):
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0xFFFFFFFF
        place = first + np.uint32(state & 0x7FFFFFFF) % np.uint32(n - first)
        order[first], order[place] = order[place], order[first]
