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
for all rows, order (m,) the rows to visit. A row is read once for all K outputs.
"""

from typing import Any, NamedTuple

import numpy as np

from rosenblatt.loops import compiled, rows
from rosenblatt.loops.simd import float64x4

HINGE, SQUARED_HINGE, MODIFIED_HUBER, LOG_LOSS = 0, 1, 2, 3
SQUARED_ERROR, HUBER, EPSILON_INSENSITIVE, SQUARED_EPSILON_INSENSITIVE = 4, 5, 6, 7
CONSTANT, OPTIMAL, INVSCALING, PA1, PA2 = 0, 1, 2, 3, 4

# Rows of `Outputs.state`. LABEL is the class of an output in one-versus-rest, POSITIVE and NEGATIVE
# are the weights of its rows and of all others. OBJECTIVE is summed over the visits. UNSCALE is 1 /
# SCALE, and DUE is OWED in the scale of the stored weights.
LABEL, POSITIVE, NEGATIVE, SCALE, INTERCEPT, RATE, T, OWED, OBJECTIVE = range(9)
SCALE_SUM, INTERCEPT_SUM, N_AVERAGED, SQUARED_NORM, L1_NORM, UNSCALE, DUE = range(9, 16)
N_STATES = 16

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


class Outputs(NamedTuple):
    """The weights of K outputs, and what the loops keep of each."""

    w: Any  # (d,) for one output, (d, K) for more: the stored weights
    state: Any  # (N_STATES, K)
    applied: Any  # as w; of length 0 without an L1 penalty
    corrections: Any  # as w; of length 0 without averaging
    scores: Any  # (K,) of the present row; scores and changes are scratch space
    changes: Any  # (K,) what is added to w for each 1 in the row
    mean_changes: Any  # (K,) and to the corrections


@compiled
def visit_rows(X, y, weight, lengths, order, rule, outputs):
    """Visit rows and return whether all scores were finite; change the arrays of `outputs`.

    Reads lengths (n,), the squared lengths of the rows; (0,) if `rule` does not need them.
    """
    w, state = outputs.w, outputs.state
    if rule.measure:
        measure_weights(w, state)
    t = state[T, 0]
    for place in range(order.shape[0]):
        rows.prefetch_row(X, y, order, place)
        i = order[place]
        fill_scores(X, i, w, outputs.scores)
        row_weight = weight[i if weight.shape[0] > 1 else 0]
        length = lengths[i] if lengths.shape[0] > 0 else 0.0
        has_step = length > 0 or rule.schedule != PA1
        is_changed = False
        for k in range(state.shape[1]):
            p = state[SCALE, k] * outputs.scores[k] + state[INTERCEPT, k]
            if not np.isfinite(p):
                return False
            target = y[i]
            if rule.classify:
                target = 1.0 if target == state[LABEL, k] else -1.0
            if rule.measure:
                state[OBJECTIVE, k] += objective(rule, target, p, state, k)
            if has_step:
                visit(rule, target, row_weight, length, t, p, k, outputs)
                is_changed |= outputs.changes[k] != 0
        if not has_step:
            continue
        if rule.l1 > 0:
            add_row_with_l1(X, i, outputs.changes, state, w, outputs.applied, outputs.corrections)
        elif is_changed:
            add_row(X, i, outputs.changes, w)
            if outputs.corrections.shape[0] > 0:
                add_row(X, i, outputs.mean_changes, outputs.corrections)
        if t >= rule.average:
            for k in range(state.shape[1]):
                state[SCALE_SUM, k] += state[SCALE, k]
                state[INTERCEPT_SUM, k] += state[INTERCEPT, k]
                state[N_AVERAGED, k] += 1
        t += 1
    state[T] = t
    return True


@compiled(inline=True)
def visit(rule, target, row_weight, length, t, p, k, outputs):
    """Make a step of output k, whose score is p, but for the features of the row."""
    state, changes = outputs.state, outputs.changes
    rate = learning_rate(rule, t, state[RATE, k])
    state[RATE, k] = rate
    if rule.schedule >= PA1:
        step = passive_aggressive_step(rule, target, p, length)
    else:
        slope = slope_of(rule.loss, rule.width, target, p)
        step = -rate * min(max(slope, -LARGEST_SLOPE), LARGEST_SLOPE)
    step *= (state[POSITIVE, k] if target > 0 else state[NEGATIVE, k]) * row_weight
    product = np.float64(outputs.scores[k])
    if rule.l2 > 0:
        state[SCALE, k] *= max(0.0, 1 - rate * rule.l2)
        if state[SCALE, k] < SMALLEST_SCALE:
            product *= state[SCALE, k]
            multiply(outputs.w, outputs.corrections, state, k)
    state[INTERCEPT, k] += rule.bias * step
    changes[k] = step * (1 / state[SCALE, k])  # the quotient does not wait for the score
    outputs.mean_changes[k] = state[SCALE_SUM, k] * changes[k]
    if rule.l1 > 0:
        state[OWED, k] += rate * rule.l1
    elif rule.measure and rule.l2 > 0:
        change = np.float64(changes[k])
        square = state[SQUARED_NORM, k] + change * (2 * product + change * length)
        state[SQUARED_NORM, k] = max(0.0, square)


@compiled
def objective(rule, target, p, state, k):
    """Loss of a row, plus the penalty on the weights of output k."""
    loss = loss_of(rule.loss, rule.width, target, p)
    if rule.schedule >= PA1:
        return loss
    scale = state[SCALE, k]
    l2 = 0.5 * rule.l2 * scale * scale * state[SQUARED_NORM, k]
    return loss + l2 + rule.l1 * scale * state[L1_NORM, k]


@compiled
def fill_scores(X, i, w, scores):
    """Fill scores (K,) with row i times the stored weights."""
    if w.ndim == 1:
        scores[0] = rows.dot(X, i, w)
    else:
        rows.dots(X, i, w, scores)


@compiled
def add_row(X, i, changes, w):
    """Add changes (K,) times row i to w (d,) or (d, K)."""
    if w.ndim == 1:
        rows.add(X, i, changes[0], w)
    else:
        rows.add_to_each(X, i, changes, w)


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


@compiled
def find_lengths(X, lengths):
    """Fill lengths (n,) with the squared lengths of the rows of X."""
    for i in range(lengths.shape[0]):
        lengths[i] = squared_length(X, i)


@compiled(reorder_sums=True)
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


@compiled
def measure_weights(w, state):
    """Sum the squares and the sizes of the stored weights w (d,) or (d, K)."""
    for k in range(state.shape[1]):
        if w.ndim == 1:
            state[SQUARED_NORM, k], state[L1_NORM, k] = norms(w)
        else:
            state[SQUARED_NORM, k], state[L1_NORM, k] = norms(w[:, k])


@compiled(reorder_sums=True)
def norms(v):
    """Sum of the squares and of the sizes of v (d,)."""
    square, size = 0.0, 0.0
    for j in range(v.shape[0]):
        square += v[j] * v[j]
        size += abs(v[j])
    return square, size


@compiled
def multiply(w, corrections, state, k):
    """Multiply the stored weights of output k by their scale, which becomes 1."""
    scale, scale_sum = state[SCALE, k], state[SCALE_SUM, k]
    if w.ndim == 1:
        multiply_column(w, corrections, scale, scale_sum)
    else:
        multiply_column(w[:, k], corrections[:, k], scale, scale_sum)
    state[SCALE, k], state[SCALE_SUM, k] = 1.0, 0.0
    state[SQUARED_NORM, k] *= scale * scale
    state[L1_NORM, k] *= scale


@compiled
def multiply_column(v, corrections, scale, scale_sum):
    """`multiply` for v (d,); move the sum of the weights so far into the corrections (d,)."""
    if scale_sum > 0:
        for j in range(v.shape[0]):
            corrections[j] -= scale_sum * v[j]
    for j in range(v.shape[0]):
        v[j] *= scale


@compiled
def add_row_with_l1(X, i, changes, state, w, applied, corrections):
    """Add changes (K,) times row i to w (d,) or (d, K) and apply the L1 penalty."""
    K = changes.shape[0]
    for k in range(K):
        state[UNSCALE, k] = 1 / state[SCALE, k]
        state[DUE, k] = state[UNSCALE, k] * state[OWED, k]
    if w.ndim == 1:
        add_column_with_l1(X, i, changes[0], state, 0, w, applied, corrections)
    else:
        last = K - K % float64x4.WIDTH
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                place = np.int64(np.uint32(indices[p])) * K
                for k in range(0, last, float64x4.WIDTH):
                    add_four_with_l1(data[p], place + k, k, changes, state, w, applied, corrections)
        else:
            for j in range(X.shape[1]):
                for k in range(0, last, float64x4.WIDTH):
                    add_four_with_l1(X[i, j], j * K + k, k, changes, state, w, applied, corrections)
        for k in range(last, K):
            columns = w[:, k], applied[:, k], corrections[:, k]
            add_column_with_l1(X, i, changes[k], state, k, *columns)


@compiled
def add_column_with_l1(X, i, change, state, k, v, applied, corrections):
    """`add_row_with_l1` for output k, with weights v (d,)."""
    output = state[SCALE, k], state[UNSCALE, k], state[DUE, k], state[SCALE_SUM, k]
    if isinstance(X, tuple):
        square, size = add_sparse_with_l1(X, i, change, output, v, applied, corrections)
    else:
        square, size = add_dense_with_l1(X, i, change, output, v, applied, corrections)
    state[SQUARED_NORM, k] = max(0.0, state[SQUARED_NORM, k] + square)
    state[L1_NORM, k] = max(0.0, state[L1_NORM, k] + size)


@compiled
def add_sparse_with_l1(X, i, change, output, v, applied, corrections):
    """Change v (d,); return the changes of its sums of squares and of sizes."""
    data, indices, indptr = X
    square, size = 0.0, 0.0
    for p in range(indptr[i], indptr[i + 1]):
        j = np.uint32(indices[p])
        before, after = add_one_with_l1(change * data[p], j, output, v, applied)
        if corrections.shape[0] > 0:
            corrections[j] += output[3] * (after - before)
        square += after * after - before * before
        size += abs(after) - abs(before)
    return square, size


@compiled(reorder_sums=True)  # the sums then allow vectors
def add_dense_with_l1(X, i, change, output, v, applied, corrections):
    """Change v (d,); return the changes of its sums of squares and of sizes."""
    square, size = 0.0, 0.0
    for j in range(X.shape[1]):
        before, after = add_one_with_l1(change * X[i, j], j, output, v, applied)
        if corrections.shape[0] > 0:
            corrections[j] += output[3] * (after - before)
        square += after * after - before * before
        size += abs(after) - abs(before)
    return square, size


@compiled
def add_one_with_l1(change, j, output, v, applied):
    """Change weight j and move it towards 0, not past it; return it before and after."""
    scale, unscale, due, _ = output
    before, moved, done = v[j], v[j] + change, unscale * applied[j]
    penalty = min(max(moved, min(0.0, done - due)), max(0.0, done + due))
    v[j], applied[j] = moved - penalty, applied[j] - scale * penalty
    return before, v[j]


@compiled
def add_four_with_l1(x, place, k, changes, state, w, applied, corrections):
    """`add_one_with_l1` for outputs k to k + 3, with weights from `place` of w on."""
    K, zero = changes.shape[0], float64x4.zeros()
    before, applied_before = float64x4.load(w, place), float64x4.load(applied, place)
    due, scale = float64x4.load(state, DUE * K + k), float64x4.load(state, SCALE * K + k)
    change = float64x4.multiply(float64x4.spread(x), float64x4.load(changes, k))
    moved = float64x4.add(before, change)
    done = float64x4.multiply(float64x4.load(state, UNSCALE * K + k), applied_before)
    lower = float64x4.lowest(zero, float64x4.subtract(done, due))
    upper = float64x4.highest(zero, float64x4.add(done, due))
    penalty = float64x4.lowest(float64x4.highest(moved, lower), upper)
    after = float64x4.subtract(moved, penalty)
    float64x4.store(w, place, after)
    float64x4.store(
        applied, place, float64x4.subtract(applied_before, float64x4.multiply(scale, penalty))
    )
    if corrections.shape[0] > 0:
        total = float64x4.load(state, SCALE_SUM * K + k)
        change = float64x4.multiply(total, float64x4.subtract(after, before))
        change = float64x4.add(float64x4.load(corrections, place), change)
        float64x4.store(corrections, place, change)
    at = SQUARED_NORM * K + k
    square = float64x4.multiply_add(after, after, float64x4.load(state, at))
    square = float64x4.subtract(square, float64x4.multiply(before, before))
    float64x4.store(state, at, square)
    at = L1_NORM * K + k
    size = float64x4.add(float64x4.load(state, at), size_of(after))
    float64x4.store(state, at, float64x4.subtract(size, size_of(before)))


@compiled
def size_of(vector):
    """The absolute values of four numbers."""
    return float64x4.highest(vector, float64x4.subtract(float64x4.zeros(), vector))


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
