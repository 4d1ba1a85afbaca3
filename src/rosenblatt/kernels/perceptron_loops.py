# mypy: ignore-errors
"""Kernel perceptron passes: what is learned is how often each example was a mistake.

Legend: K (n, n) is the kernel matrix of the examples, of which `kept` (m, n) has some rows: that of
example i is ``kept[slot[i]]``, or nowhere if slot[i] (n,) is negative. a (n,) or (c, n) counts the
corrections with their steps and signs; f (n,) or (c, n) are the scores ``a K`` of all examples,
biases b apart, brought up to date at each mistake, so that a right visit reads one number. The
rest as in `perceptron`; a pass also ends at a mistake whose row of K is not kept.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.mistake_driven.scores_loops import beats, best_rival


@compiled
def dual_pass(push, order, favoured, most_mistakes, bias, kept, slot, a, f, b):
    """As `perceptron_pass`. Changes a, f and b."""
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        i = order[t]
        score = f[i] + b[0]
        if not np.isfinite(score):
            return mistakes, loss, t
        margin = score if push[i] > 0 else -score
        if margin > 0 or (margin == 0 and push[i] * favoured > 0):
            continue
        if mistakes == most_mistakes or slot[i] < 0:
            return mistakes, loss, t
        a[i] += push[i]
        b[0] += bias * push[i]
        add_row(kept, slot[i], push[i], f)
        mistakes += 1
        loss -= margin
    return mistakes, loss, order.shape[0]


@compiled
def dual_multiclass_pass(y, step, order, ties, most_mistakes, bias, kept, slot, a, f, b, scores):
    """As `multiclass_pass`. Changes a, f (c, n) and b."""
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        i = order[t]
        true = y[i]
        for k in range(b.shape[0]):
            scores[k] = f[k, i] + b[k]
        rival = best_rival(scores, true, ties)
        if not np.isfinite(scores[true] - scores[rival]):
            return mistakes, loss, t
        if beats(scores, true, rival, ties):
            continue
        if mistakes == most_mistakes or slot[i] < 0:
            return mistakes, loss, t
        move_row(kept, slot[i], i, step[i], bias, true, rival, a, f, b)
        mistakes += 1
        loss += scores[rival] - scores[true]
    return mistakes, loss, order.shape[0]


@compiled
def add_row(kept, place, step, f):
    """Add `step` times a kept row of K to the scores f (n,)."""
    for j in range(f.shape[0]):
        f[j] += step * kept[place, j]


@compiled
def move_row(kept, place, i, step, bias, true, rival, a, f, b):
    """Give example i, whose row of K is at `place`, to its true class and take it from a rival."""
    a[true, i] += step
    a[rival, i] -= step
    b[true] += bias * step
    b[rival] -= bias * step
    for j in range(f.shape[1]):
        f[true, j] += step * kept[place, j]
        f[rival, j] -= step * kept[place, j]
