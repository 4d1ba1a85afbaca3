# mypy: ignore-errors
"""Perceptron passes: visit the examples in an order and correct each mistake.

Legend: X rows of examples (see `rows`); push (n,) the step of each example with the sign of its
class; w (d,), b (1,) the plane; W (d, K), b (K,) one column per class; order (m,) the rows to
visit; scores (K,) scratch space. A pass returns (mistakes, loss, visits): the loss is the
perceptron criterion summed as the examples were met; fewer visits than asked for means that
`most_mistakes` were made, or that the score of the next row, ``order[visits]``, is not a finite
number and nothing was done with it.
"""

import numpy as np

from rosenblatt.loops import compiled, rows
from rosenblatt.mistake_driven.scores_loops import beats, best_rival, class_scores


@compiled
def perceptron_pass(X, push, order, favoured, most_mistakes, bias, w, b):
    """Two classes: on a mistake, w += push x and b += bias push. Changes w and b.

    A score of zero is right for the class whose sign is `favoured` (0: for neither).
    """
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        rows.prefetch_row(X, push, order, t)
        i = order[t]
        score = rows.dot(X, i, w) + b[0]
        if not np.isfinite(score):
            return mistakes, loss, t
        margin = score if push[i] > 0 else -score
        if margin > 0 or (margin == 0 and push[i] * favoured > 0):
            continue
        if mistakes == most_mistakes:
            return mistakes, loss, t
        rows.add(X, i, push[i], w)
        b[0] += bias * push[i]
        mistakes += 1
        loss -= margin
    return mistakes, loss, order.shape[0]


@compiled
def multiclass_pass(X, y, step, order, ties, most_mistakes, bias, W, b, scores):
    """K classes: on a mistake, w_true += step x and w_rival -= step x. Changes W and b.

    Reads y (n,) class numbers and step (n,). `ties` is +1 when equal scores go to the higher
    class, -1 to the lower, 0 when an equal score is a mistake for the true class.
    """
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        rows.prefetch_row(X, y, order, t)
        i = order[t]
        true = y[i]
        class_scores(X, i, W, 1.0, b, scores)
        rival = best_rival(scores, true, ties)
        if not np.isfinite(scores[true] - scores[rival]):
            return mistakes, loss, t
        if beats(scores, true, rival, ties):
            continue
        if mistakes == most_mistakes:
            return mistakes, loss, t
        rows.move(X, i, step[i], W, rival, true)
        b[true] += bias * step[i]
        b[rival] -= bias * step[i]
        mistakes += 1
        loss += scores[rival] - scores[true]
    return mistakes, loss, order.shape[0]


@compiled
def shrinking_pass(X, push, order, favoured, most_mistakes, bias, pull, w, b, state, paid):
    """As `perceptron_pass`, with weights that shrink at every visit. Also changes state and paid.

    Reads pull (2,): decay and l1. L2: all weights are multiplied by the decay; they are kept as
    ``scale * w``, so that one number changes and not d. L1: each visit adds l1 to what every
    weight owes; a weight pays the next time its feature is seen, and paid (d,) remembers how much
    (Tsuruoka et al. 2009). state (2,) holds the scale and what is owed.
    """
    decay, l1 = pull
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        rows.prefetch_row(X, push, order, t)
        i = order[t]
        score = state[0] * rows.dot(X, i, w) + b[0]
        if not np.isfinite(score):
            return mistakes, loss, t
        margin = score if push[i] > 0 else -score
        right = margin > 0 or (margin == 0 and push[i] * favoured > 0)
        if not right and mistakes == most_mistakes:
            return mistakes, loss, t
        state[0] *= decay
        if state[0] < 1e-9:  # before dividing by it loses digits
            multiply(w, state[0])
            state[0] = 1.0
        if not right:
            rows.add(X, i, w.dtype.type(push[i] / state[0]), w)
            b[0] += bias * push[i]
            mistakes += 1
            loss -= margin
        if l1 > 0:
            state[1] += l1
            pay(X, i, w, state, paid)
    return mistakes, loss, order.shape[0]


@compiled
def shrinking_multiclass_pass(
    X, y, step, order, ties, most_mistakes, bias, pull, W, b, scores, state, paid
):
    """As `multiclass_pass`, with weights that shrink as in `shrinking_pass`; paid (d, K)."""
    decay, l1 = pull
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        rows.prefetch_row(X, y, order, t)
        i = order[t]
        true = y[i]
        class_scores(X, i, W, state[0], b, scores)
        rival = best_rival(scores, true, ties)
        if not np.isfinite(scores[true] - scores[rival]):
            return mistakes, loss, t
        right = beats(scores, true, rival, ties)
        if not right and mistakes == most_mistakes:
            return mistakes, loss, t
        state[0] *= decay
        if state[0] < 1e-9:
            for k in range(b.shape[0]):
                multiply(W[:, k], state[0])
            state[0] = 1.0
        if not right:
            rows.move(X, i, W.dtype.type(step[i] / state[0]), W, rival, true)
            b[true] += bias * step[i]
            b[rival] -= bias * step[i]
            mistakes += 1
            loss += scores[rival] - scores[true]
        if l1 > 0:
            state[1] += l1
            for k in range(b.shape[0]):
                pay(X, i, W[:, k], state, paid[:, k])
    return mistakes, loss, order.shape[0]


@compiled
def multiply(w, factor):
    """Multiply w (d,) by a number, in place."""
    for j in range(w.shape[0]):
        w[j] *= factor


@compiled
def pay(X, i, w, state, paid):
    """Move the weights of row i's features towards 0, by what each still owes, not past it."""
    if isinstance(X, tuple):
        _, indices, indptr = X
        for p in range(indptr[i], indptr[i + 1]):
            pay_feature(np.uint32(indices[p]), w, state, paid)
    else:
        for j in range(X.shape[1]):
            pay_feature(j, w, state, paid)


@compiled
def pay_feature(j, w, state, paid):
    """`pay` for one feature."""
    scale, owed = state[0], state[1]
    before = w[j]
    if before > 0:
        w[j] = max(0.0, before - (owed + paid[j]) / scale)
    elif before < 0:
        w[j] = min(0.0, before + (owed - paid[j]) / scale)
    paid[j] += scale * (w[j] - before)


@compiled
def look(X, start, stop, w, b, scores):
    """Fill scores (n,) of the rows from start to stop with w.x + b."""
    for i in range(start, stop):
        scores[i] = rows.dot(X, i, w) + b[0]


@compiled
def look_multiclass(X, start, stop, W, b, scores):
    """Fill scores (n, K) of the rows from start to stop with every class's score."""
    for i in range(start, stop):
        class_scores(X, i, W, 1.0, b, scores[i])
