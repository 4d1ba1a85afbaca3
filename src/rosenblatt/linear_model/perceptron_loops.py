# mypy: ignore-errors
"""Perceptron passes: visit the examples in an order and correct each mistake.

Arguments of the passes:

- X : rows of the examples (see `rows`).
- labels : for two classes (push,) with push (n,) the step of each example, its sign that of the
  class; for K classes (y, step, scores) with y (n,) the classes as integers, step (n,) and
  scores (K,) as scratch space.
- order (m,) : the rows to visit.
- ties : class that wins a score of zero or a tie: 1 the second or higher, -1 the first or lower,
  0 none, so that a tie is a mistake.
- w (d,), b (1,) : weights and bias for two classes; w (d, K), b (K,) for K classes.
- shrink : None, or (decay, l1, state, applied) for a penalty, see `shrink_weights`.
- mean : None, or (u, v, n_visits) for the mean weights, see `perceptron_pass`.

A pass returns (mistakes, loss, visits). The loss is the perceptron criterion, summed as the
examples were met. If there are fewer visits than rows, either `most_mistakes` were made or the
score of the next row, ``order[visits]``, is not finite; this row has not changed anything.
"""

import numpy as np

from rosenblatt.loops import compiled, rows
from rosenblatt.mistake_driven_loops import beats, best_rival


@compiled
def perceptron_pass(X, labels, order, ties, most_mistakes, bias, w, b, shrink, mean):
    """Visit rows in order and correct each mistake. Changes w, b and the arrays of the options.

    The mean of the weights after each of T visits is ``w - u / T``: a correction at visit s,
    counted from 0, is part of (T - s) of them, so u (shape of w) and v (shape of b) sum the
    corrections times s, in float64. `n_visits` is the number of visits before this pass.
    """
    if w.ndim == 1:
        return binary_pass(X, labels, order, ties, most_mistakes, bias, w, b, shrink, mean)
    else:  # noqa: RET505  (Numba prunes the branch only in this form)
        return multiclass_pass(X, labels, order, ties, most_mistakes, bias, w, b, shrink, mean)


@compiled
def binary_pass(X, labels, order, ties, most_mistakes, bias, w, b, shrink, mean):
    """Two classes: on a mistake, w += push x and b += push."""
    push = labels[0]
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        rows.prefetch_row(X, push, order, t)
        i = order[t]
        if shrink is None:
            score = rows.dot(X, i, w) + b[0]
        else:
            score = shrink[2][0] * rows.dot(X, i, w) + b[0]
        if not np.isfinite(score):
            return mistakes, loss, t
        margin = score if push[i] > 0 else -score
        is_right = margin > 0 or (margin == 0 and push[i] * ties > 0)
        if not is_right and mistakes == most_mistakes:
            return mistakes, loss, t
        step = push[i]
        if shrink is not None:
            step = shrink_weights(w, step, shrink)
        if not is_right:
            rows.add(X, i, step, w)
            b[0] += bias * push[i]
            if mean is not None:
                u, v, n_visits = mean
                weighted = np.float64(push[i]) * (n_visits + t)
                rows.add(X, i, weighted, u)
                v[0] += bias * weighted
            mistakes += 1
            loss -= margin
        if shrink is not None:
            apply_l1(X, i, w, shrink)
    return mistakes, loss, order.shape[0]


@compiled
def multiclass_pass(X, labels, order, ties, most_mistakes, bias, W, b, shrink, mean):
    """K classes: on a mistake, w_true += step x and w_rival -= step x, and the biases alike."""
    y, steps, scores = labels
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        rows.prefetch_row(X, y, order, t)
        i = order[t]
        true = y[i]
        scale = 1.0
        if shrink is not None:
            scale = shrink[2][0]
        class_scores(X, i, W, scale, b, scores)
        rival = best_rival(scores, true, ties)
        if not np.isfinite(scores[true] - scores[rival]):
            return mistakes, loss, t
        is_right = beats(scores, true, rival, ties)
        if not is_right and mistakes == most_mistakes:
            return mistakes, loss, t
        step = steps[i]
        if shrink is not None:
            step = shrink_weights(W, step, shrink)
        if not is_right:
            move(X, i, step, W, rival, true)
            b[true] += bias * steps[i]
            b[rival] -= bias * steps[i]
            if mean is not None:
                U, v, n_visits = mean
                weighted = np.float64(steps[i]) * (n_visits + t)
                move(X, i, weighted, U, rival, true)
                v[true] += bias * weighted
                v[rival] -= bias * weighted
            mistakes += 1
            loss += scores[rival] - scores[true]
        if shrink is not None:
            apply_l1(X, i, W, shrink)
    return mistakes, loss, order.shape[0]


@compiled
def class_scores(X, i, W, scale, b, scores):
    """Fill scores (K,) with the score of row i in each class, the weights being scale times W."""
    rows.dots(X, i, W, scores)
    for k in range(scores.shape[0]):
        scores[k] = scale * scores[k] + b[k]


@compiled
def shrink_weights(w, step, shrink):
    """Apply one visit's penalty to the stored numbers; return the step in their scale.

    L2: all weights are multiplied by `decay`; they are stored as ``scale * w``, so that one number
    changes and not d. L1: each visit adds `l1` to the total that every weight is due to shrink by;
    a weight shrinks at the next visit of its feature, and `applied` (shape of w) is the signed
    amount by which it has (Tsuruoka et al. 2009). state (2,) is the scale and the total.
    """
    decay, l1, state, _ = shrink
    state[0] *= decay
    if state[0] < 1e-9:  # before dividing by it loses digits
        if w.ndim == 1:
            multiply(w, state[0])
        else:
            for k in range(w.shape[1]):
                multiply(w[:, k], state[0])
        state[0] = 1.0
    if l1 > 0:
        state[1] += l1
    return w.dtype.type(step / state[0])


@compiled
def multiply(w, factor):
    """Multiply w (d,) by a number, in place."""
    for j in range(w.shape[0]):
        w[j] *= factor


@compiled
def apply_l1(X, i, w, shrink):
    """Shrink the weights of row i's features by the amount due, but not past 0."""
    _, l1, state, applied = shrink
    if l1 > 0:
        if w.ndim == 1:
            apply_l1_to(X, i, w, state, applied)
        else:
            for k in range(w.shape[1]):
                apply_l1_to(X, i, w[:, k], state, applied[:, k])


@compiled
def apply_l1_to(X, i, w, state, applied):
    """`apply_l1` for w (d,)."""
    if isinstance(X, tuple):
        _, indices, indptr = X
        for p in range(indptr[i], indptr[i + 1]):
            apply_l1_to_feature(np.uint32(indices[p]), w, state, applied)
    else:
        for j in range(X.shape[1]):
            apply_l1_to_feature(j, w, state, applied)


@compiled
def apply_l1_to_feature(j, w, state, applied):
    """`apply_l1` for one feature."""
    scale, total = state[0], state[1]
    before = w[j]
    if before > 0:
        w[j] = max(0.0, before - (total + applied[j]) / scale)
    elif before < 0:
        w[j] = min(0.0, before + (total - applied[j]) / scale)
    applied[j] += scale * (w[j] - before)


@compiled
def fill_scores(X, start, stop, w, b, scores):
    """Fill scores (n,) or (n, K) of the rows from start to stop."""
    for i in range(start, stop):
        if w.ndim == 1:
            scores[i] = rows.dot(X, i, w) + b[0]
        else:
            class_scores(X, i, w, 1.0, b, scores[i])


@compiled
def pocket_pass(X, labels, order, ties, most_mistakes, bias, w, b, best_error, hardest, sums):
    """Run `perceptron_pass` until a correction gives weights with a smaller error than the best.

    Reads hardest (n,), the rows in the order of the search for errors. Adds the weights after each
    correction to sums, arrays of the shapes of w and b. Returns (mistakes, loss, visits, whether
    the weights are better).
    """
    mistakes, loss, visits = 0, 0.0, 0
    while visits < order.shape[0]:
        most = min(1, most_mistakes - mistakes)
        made, lost, seen = perceptron_pass(
            X, labels, order[visits:], ties, most, bias, w, b, None, None
        )
        visits += seen
        if made == 0:
            break
        mistakes += 1
        loss += lost
        add_to(sums[0], w)
        add_to(sums[1], b)
        if error_weight(X, labels, ties, w, b, best_error, hardest) < best_error:
            return mistakes, loss, visits, True
    return mistakes, loss, visits, False


@compiled
def add_to(total, values):
    """Add values to total, of shape (d,) or (d, K)."""
    for j in range(values.shape[0]):
        if values.ndim == 1:
            total[j] += values[j]
        else:
            for k in range(values.shape[1]):
                total[j, k] += values[j, k]


@compiled
def error_weight(X, labels, ties, w, b, limit, order):
    """Return the weight of the misclassified rows in `order`, or a part of it that is >= limit."""
    wrong = 0.0
    for i in order:
        if w.ndim == 1:
            push = labels[0]
            score = rows.dot(X, i, w) + b[0]
            margin = score if push[i] > 0 else -score
            if margin < 0 or (margin == 0 and push[i] * ties <= 0):
                wrong += abs(push[i])
        else:
            y, steps, scores = labels
            class_scores(X, i, w, 1.0, b, scores)
            if not beats(scores, y[i], best_rival(scores, y[i], ties), ties):
                wrong += steps[i]
        if wrong >= limit:
            break
    return wrong


@compiled
def move(X, i, step, W, source, target):
    """Take `step` times row i of X from column `source` of W (d, K) and give it to `target`."""
    if isinstance(X, tuple):
        data, indices, indptr = X
        for p in range(indptr[i], indptr[i + 1]):
            j = np.uint32(indices[p])
            W[j, target] += step * data[p]
            W[j, source] -= step * data[p]
    else:
        for j in range(X.shape[1]):
            W[j, target] += step * X[i, j]
            W[j, source] -= step * X[i, j]
