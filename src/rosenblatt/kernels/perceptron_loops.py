# mypy: ignore-errors
"""Kernel perceptron passes: count how often each example was a mistake.

`kept` (m, n) has some rows of the kernel matrix of the examples: the row of example i is
``kept[slot[i]]``, or missing if slot[i] is negative. a (c, n) sums the corrections of the examples
with their steps and signs; f (c, n) are their scores without the biases b (c,), brought up to date
at each mistake, so that a visit without a mistake reads one number. c is 1 for two classes, else
K. Other arguments and the result are as in `linear_model.perceptron_loops`; a pass also ends at a
mistake whose row of the kernel matrix is missing.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.mistake_driven_loops import beats, best_rival


@compiled
def dual_pass(labels, order, ties, most_mistakes, bias, kept, slot, a, f, b):
    """Visit rows in order and correct each mistake. Changes a, f and b."""
    if len(labels) == 1:
        return binary_pass(labels, order, ties, most_mistakes, bias, kept, slot, a, f, b)
    else:  # noqa: RET505  (Numba prunes the branch only in this form)
        return multiclass_pass(labels, order, ties, most_mistakes, bias, kept, slot, a, f, b)


@compiled
def binary_pass(labels, order, ties, most_mistakes, bias, kept, slot, a, f, b):
    """Two classes: on a mistake, a_i += push_i."""
    push = labels[0]
    mistakes, loss = 0, 0.0
    for t in range(order.shape[0]):
        i = order[t]
        score = f[0, i] + b[0]
        if not np.isfinite(score):
            return mistakes, loss, t
        margin = score if push[i] > 0 else -score
        if margin > 0 or (margin == 0 and push[i] * ties > 0):
            continue
        if mistakes == most_mistakes or slot[i] < 0:
            return mistakes, loss, t
        add_example(kept[slot[i]], i, push[i], bias, a, f, b, 0)
        mistakes += 1
        loss -= margin
    return mistakes, loss, order.shape[0]


@compiled
def multiclass_pass(labels, order, ties, most_mistakes, bias, kept, slot, a, f, b):
    """K classes: on a mistake, raise a_i of the true class and lower a_i of the best rival."""
    y, step, scores = labels
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
        add_example(kept[slot[i]], i, step[i], bias, a, f, b, true)
        add_example(kept[slot[i]], i, -step[i], bias, a, f, b, rival)
        mistakes += 1
        loss += scores[rival] - scores[true]
    return mistakes, loss, order.shape[0]


@compiled
def add_example(kernel, i, step, bias, a, f, b, k):
    """Add `step` times example i, whose row of the kernel matrix is given, to output k."""
    a[k, i] += step
    b[k] += bias * step
    for j in range(f.shape[1]):
        f[k, j] += step * kernel[j]
