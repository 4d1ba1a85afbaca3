# mypy: ignore-errors
"""Averaged perceptron passes: the mean of the weights after every visit, without adding them up.

Of the mean over T visits, a correction d made at visit s (counted from 0) is part of all that
follow: it counts (T - s) / T times. So the mean is ``w - u / T``, where w sums the corrections and
u sums them s times each, and only a mistake costs anything. Legend as in `perceptron`; u and v are
the sums for weights and bias, in 64 bits; `seen` is the number of visits before this pass.
"""

import numpy as np

from rosenblatt.loops import compiled, rows
from rosenblatt.mistake_driven.scores_loops import beats, best_rival, class_scores


@compiled
def averaged_pass(X, push, order, favoured, most_mistakes, bias, seen, w, b, u, v):
    """As `perceptron_pass`. Changes w, b, u (d,) and v (1,)."""
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
        late = np.float64(push[i]) * (seen + t)
        rows.add(X, i, push[i], w)
        rows.add(X, i, late, u)
        b[0] += bias * push[i]
        v[0] += bias * late
        mistakes += 1
        loss -= margin
    return mistakes, loss, order.shape[0]


@compiled
def averaged_multiclass_pass(
    X, y, step, order, ties, most_mistakes, bias, seen, W, b, scores, U, v
):
    """As `multiclass_pass`. Changes W, b, U (d, K) and v (K,)."""
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
        late = np.float64(step[i]) * (seen + t)
        rows.move(X, i, step[i], W, rival, true)
        rows.move(X, i, late, U, rival, true)
        b[true] += bias * step[i]
        b[rival] -= bias * step[i]
        v[true] += bias * late
        v[rival] -= bias * late
        mistakes += 1
        loss += scores[rival] - scores[true]
    return mistakes, loss, order.shape[0]
