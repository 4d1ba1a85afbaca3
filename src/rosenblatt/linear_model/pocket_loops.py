# mypy: ignore-errors
"""For pockets: passes that remember the weights after each correction, and how wrong those are.

Legend as in `perceptron`; hard (m,) holds the rows to look at, in order.
"""

from rosenblatt.loops import compiled, rows
from rosenblatt.mistake_driven.scores_loops import beats, best_rival, class_scores

from .perceptron_loops import multiclass_pass, perceptron_pass


@compiled
def recorded_pass(X, push, order, favoured, bias, w, b, past_w, past_b):
    """As `perceptron_pass`, for as many corrections as past_w (m, d) and past_b (m, 1) have room.

    Fills them with the plane after each correction.
    """
    mistakes, loss, visits = 0, 0.0, 0
    while mistakes < past_w.shape[0] and visits < order.shape[0]:
        made, lost, seen = perceptron_pass(X, push, order[visits:], favoured, 1, bias, w, b)
        visits += seen
        if made == 0:
            break
        loss += lost
        past_b[mistakes, 0] = b[0]
        for j in range(w.shape[0]):
            past_w[mistakes, j] = w[j]
        mistakes += 1
    return mistakes, loss, visits


@compiled
def recorded_multiclass_pass(X, y, step, order, ties, bias, W, b, scores, past_W, past_b):
    """As `multiclass_pass`, for as many corrections as past_W (m, d, K), past_b (m, K) have room.

    Fills them with the weights after each correction.
    """
    mistakes, loss, visits = 0, 0.0, 0
    while mistakes < past_W.shape[0] and visits < order.shape[0]:
        made, lost, seen = multiclass_pass(X, y, step, order[visits:], ties, 1, bias, W, b, scores)
        visits += seen
        if made == 0:
            break
        loss += lost
        for k in range(b.shape[0]):
            past_b[mistakes, k] = b[k]
            for j in range(W.shape[0]):
                past_W[mistakes, j, k] = W[j, k]
        mistakes += 1
    return mistakes, loss, visits


@compiled
def wrong_weight(X, push, favoured, w, b, limit, hard):
    """The weight of the rows in `hard` that the plane gets wrong, or a part of it past `limit`."""
    wrong = 0.0
    for i in hard:
        score = rows.dot(X, i, w) + b[0]
        margin = score if push[i] > 0 else -score
        if margin < 0 or (margin == 0 and push[i] * favoured <= 0):
            wrong += abs(push[i])
            if wrong >= limit:
                break
    return wrong


@compiled
def wrong_multiclass_weight(X, y, step, ties, W, b, scores, limit, hard):
    """As `wrong_weight`, for K classes."""
    wrong = 0.0
    for i in hard:
        class_scores(X, i, W, 1.0, b, scores)
        if not beats(scores, y[i], best_rival(scores, y[i], ties), ties):
            wrong += step[i]
            if wrong >= limit:
                break
    return wrong


@compiled(reorder_sums=True)
def weigh_below(scores, limit, weight, total):
    """Add to total (m,) the weight (r,) of the columns where a row of scores (m, r) is < limit."""
    for t in range(scores.shape[0]):
        below = total.dtype.type(0)
        for i in range(scores.shape[1]):
            below += weight[i] if scores[t, i] < limit else total.dtype.type(0)
        total[t] += below
