"""Pocket passes: after every correction, are the new weights the best so far on all rows?

Legend as in `perceptron`; best_w, best_b, or best_W, are the weights in the pocket and best (1,)
the weight of the rows they get wrong; hard (m,) holds the rows to look at, those lately found
wrong in front, so that a look at poor weights ends early. A pass returns (mistakes, loss, visits,
improved): it also ends when the pocket has improved, for the caller to take note.
"""

import numpy as np

from . import compiled, rows
from .perceptron import beats, best_rival, class_scores


@compiled
def pocket_pass(X, push, order, favoured, most_mistakes, bias, w, b, best_w, best_b, best, hard):
    """As `perceptron_pass`. Also changes the last four."""
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        i = order[t]
        score = rows.dot(X, i, w) + b[0]
        if not np.isfinite(score):
            return mistakes, loss, t, False
        if is_right(score, push[i], favoured):
            continue
        if mistakes == most_mistakes:
            return mistakes, loss, t, False
        rows.add(X, i, push[i], w)
        b[0] += bias * push[i]
        mistakes += 1
        loss += abs(score)
        wrong = wrong_weight(X, push, favoured, w, b, best[0], hard)
        if wrong < best[0]:
            best[0], best_b[0] = wrong, b[0]
            for j in range(w.shape[0]):
                best_w[j] = w[j]
            return mistakes, loss, t + 1, True
    return mistakes, loss, order.shape[0], False


@compiled
def wrong_weight(X, push, favoured, w, b, limit, hard):
    """The weight of the rows in `hard` that the plane gets wrong, or a part of it past `limit`."""
    total, front = 0.0, 0
    for t in range(hard.shape[0]):
        i = hard[t]
        if is_right(rows.dot(X, i, w) + b[0], push[i], favoured):
            continue
        hard[t], hard[front] = hard[front], i
        front += 1
        total += abs(push[i])
        if total >= limit:
            return total
    return total


@compiled
def is_right(score, push, favoured):
    """Whether a score is on the side of its push; zero is right for the favoured sign alone."""
    margin = score if push > 0 else -score
    return margin > 0 or (margin == 0 and push * favoured > 0)


@compiled
def pocket_multiclass_pass(
    X, y, step, order, ties, most_mistakes, bias, W, b, scores, best_W, best_b, best, hard
):
    """As `multiclass_pass`. Also changes the last four."""
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        i = order[t]
        true = y[i]
        class_scores(X, i, W, 1.0, b, scores)
        rival = best_rival(scores, true, ties)
        if not np.isfinite(scores[true] - scores[rival]):
            return mistakes, loss, t, False
        if beats(scores, true, rival, ties):
            continue
        if mistakes == most_mistakes:
            return mistakes, loss, t, False
        rows.move(X, i, step[i], W, rival, true)
        b[true] += bias * step[i]
        b[rival] -= bias * step[i]
        mistakes += 1
        loss += scores[rival] - scores[true]
        wrong = wrong_multiclass_weight(X, y, step, ties, W, b, scores, best[0], hard)
        if wrong < best[0]:
            best[0] = wrong
            for k in range(b.shape[0]):
                best_b[k] = b[k]
                for j in range(W.shape[0]):
                    best_W[j, k] = W[j, k]
            return mistakes, loss, t + 1, True
    return mistakes, loss, order.shape[0], False


@compiled
def wrong_multiclass_weight(X, y, step, ties, W, b, scores, limit, hard):
    """As `wrong_weight`, for K classes."""
    total, front = 0.0, 0
    for t in range(hard.shape[0]):
        i = hard[t]
        class_scores(X, i, W, 1.0, b, scores)
        if beats(scores, y[i], best_rival(scores, y[i], ties), ties):
            continue
        hard[t], hard[front] = hard[front], i
        front += 1
        total += step[i]
        if total >= limit:
            return total
    return total
