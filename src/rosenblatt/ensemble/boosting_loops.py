# mypy: ignore-errors
"""Loops of gradient boosting over rows: losses, values to levels, and levels down the trees.

A loss reads raw predictions and writes rows first to last of gradient and hessian, the first and
second derivative. It returns the sum of the losses, of the |g| and of the h. weight has shape (0,)
if all are one.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.exponential import exp_negative, log_one_plus

SQUARED, ABSOLUTE, QUANTILE, POISSON, GAMMA, BINARY = range(6)
BYTE = np.uint64(255)
# The bits of a node: what it compares with, whether with a set of categories, 1 if missing values
# go left, the column, and the left child. A leaf is its own child.
CATEGORIES, MISSING_LEFT, COLUMN, CHILD = (np.uint64(bit) for bit in (8, 9, 10, 32))
COLUMN_BITS = np.uint64(2**22 - 1)
ONE = np.uint64(1)


@compiled(reorder_sums=True)
def binary_log_loss(raw, y, weight, first, last, gradient, hessian):
    """log(1 + exp(raw)) - y raw, with y of 0 and 1."""
    # Of a slice the compiler knows that no index is negative, and it vectorises the loops.
    raw, y, weight = raw[first:last], y[first:last], weight[first:last]
    gradient, hessian = gradient[first:last], hessian[first:last]
    for i in range(raw.shape[0]):
        small = exp_negative(-abs(raw[i]))  # one of p and 1 - p is small / (1 + small)
        large = 1.0 / (1.0 + small)
        gradient[i] = (large if raw[i] > 0.0 else small * large) - y[i]
        hessian[i] = large * (small * large)
    loss = 0.0
    if weight.shape[0] > 0:
        for i in range(raw.shape[0]):
            value = log_one_plus(exp_negative(-abs(raw[i]))) + max(raw[i], 0.0) - y[i] * raw[i]
            loss += weight[i] * value
            gradient[i] *= weight[i]
            hessian[i] *= weight[i]
    else:
        for i in range(raw.shape[0]):
            loss += log_one_plus(exp_negative(-abs(raw[i]))) + max(raw[i], 0.0) - y[i] * raw[i]
    gradients, hessians = 0.0, 0.0
    for i in range(raw.shape[0]):
        gradients += abs(gradient[i])
        hessians += hessian[i]
    return loss, gradients, hessians


@compiled
def probabilities(raw, first, last, p, total):
    """Write the softmax of columns first to last of raw (K, n) to p (K, n).

    total (last - first,) is scratch.
    """
    K, most = raw.shape[0], p[0, first:last]
    for i in range(most.shape[0]):
        most[i] = raw[0, first + i]
    for k in range(1, K):
        scores = raw[k, first:last]
        for i in range(most.shape[0]):
            most[i] = max(most[i], scores[i])
    total[:] = 0.0
    # The first row holds the largest until its own turn, the last.
    for k in range(K - 1, -1, -1):
        scores, share = raw[k, first:last], p[k, first:last]
        for i in range(most.shape[0]):
            share[i] = exp_negative(scores[i] - most[i])
            total[i] += share[i]
    for k in range(K):
        share = p[k, first:last]
        for i in range(most.shape[0]):
            share[i] /= total[i]


@compiled(reorder_sums=True)
def log_loss_of_class(p, y, weight, k, first, last, gradient, hessian):
    """The derivatives by the score of class k of -log p[y], from p (n,) of that class."""
    p, y, weight = p[first:last], y[first:last], weight[first:last]
    gradient, hessian = gradient[first:last], hessian[first:last]
    for i in range(p.shape[0]):
        gradient[i] = p[i] - (1.0 if y[i] == k else 0.0)
        hessian[i] = p[i] * (1.0 - p[i])
    if weight.shape[0] > 0:
        for i in range(p.shape[0]):
            gradient[i] *= weight[i]
            hessian[i] *= weight[i]
    gradients, hessians = 0.0, 0.0
    for i in range(p.shape[0]):
        gradients += abs(gradient[i])
        hessians += hessian[i]
    return 0.0, gradients, hessians


@compiled
def log_loss_of_classes(p, y, weight, first, last):
    """The sum of -log p[y], from p (K, n)."""
    total = 0.0
    for i in range(first, last):
        w = weight[i] if weight.shape[0] > 0 else 1.0
        total -= w * np.log(p[np.int64(y[i]), i])
    return total


@compiled(reorder_sums=True)
def squared_error(raw, y, first, last, gradient):
    """Half the squared error of rows of weight one."""
    raw, y, gradient = raw[first:last], y[first:last], gradient[first:last]
    loss, gradients = 0.0, 0.0
    for i in range(raw.shape[0]):
        g = raw[i] - y[i]
        gradient[i] = g
        loss += 0.5 * g * g
        gradients += abs(g)
    return loss, gradients, float(last - first)


@compiled
def derivatives(raw, y, weight, kind, quantile, first, last, gradient, hessian):
    """Those of a loss of one output, by its number."""
    if kind == BINARY:
        return binary_log_loss(raw, y, weight, first, last, gradient, hessian)
    if kind == SQUARED and weight.shape[0] == 0:
        return squared_error(raw, y, first, last, gradient)
    return regression_loss(raw, y, weight, kind, quantile, first, last, gradient, hessian)


@compiled
def regression_loss(raw, y, weight, kind, quantile, first, last, gradient, hessian):
    """Half the squared error, the absolute error, a quantile's, or a deviance.

    hessian has shape (1,), and is not written, where it is the weight of the row.
    """
    loss, gradients, hessians = 0.0, 0.0, 0.0
    for i in range(first, last):
        w = weight[i] if weight.shape[0] > 0 else 1.0
        h = 1.0
        if kind == SQUARED:
            g = raw[i] - y[i]
            value = 0.5 * g * g
        elif kind == ABSOLUTE:
            g = 1.0 if raw[i] > y[i] else -1.0
            value = abs(y[i] - raw[i])
        elif kind == QUANTILE:
            g = 1.0 - quantile if raw[i] > y[i] else -quantile
            value = g * (raw[i] - y[i])
        elif kind == POISSON:
            h = np.exp(raw[i])
            g = h - y[i]
            value = h - y[i] * raw[i]
        else:
            h = y[i] * np.exp(-raw[i])
            g = 1.0 - h
            value = raw[i] + h
        gradient[i] = w * g
        if hessian.shape[0] > 1:
            hessian[i] = w * h
        loss += w * value
        gradients += abs(w * g)
        hessians += w * h
    return loss, gradients, hessians


@compiled
def code_rows(X, cuts, first, last, place, codes):
    """Write the levels of rows first to last of X (n, d) to codes (blocks, ...) from a place on.

    A word of codes holds eight columns. The level of a value is how many of the column's cuts
    (d, 255) lie below it; of NaN, 255. Cuts that a column does not have are infinite.
    """
    X = X[first:last]
    for j in range(X.shape[1]):
        column, shift = cuts[j], np.uint64(8 * (j % 8))
        words = codes[j // 8, place : place + last - first]
        for i in range(X.shape[0]):
            x, level, step = X[i, j], np.uint64(0), np.uint64(128)
            while step > np.uint64(0):
                level += step if column[level + step - ONE] < x else np.uint64(0)
                step >>= ONE
            word = (level if x == x else BYTE) << shift
            words[i] = word | words[i] if shift else word


@compiled
def add_trees(levels, place, words, sets, value, starts, depths, output, at, raw):
    """Add to raw (K, n), from a place on, the leaves' values of rows of levels (m, columns).

    Tree t has the nodes from starts[t] on, at most depths[t] above each other, and adds to the
    row output[t] of raw. at (m,) is scratch.
    """
    n = levels.shape[0]
    for t in range(starts.shape[0]):
        for i in range(n):
            at[i] = starts[t]
        for _ in range(depths[t]):
            for i in range(n):
                word = words[at[i]]
                level = np.uint64(levels[i, (word >> COLUMN) & COLUMN_BITS])
                if (word >> CATEGORIES) & ONE:
                    left = sets[at[i], level >> np.uint64(6)] >> (level & np.uint64(63))
                    right = ONE - (left & ONE)
                else:
                    level = (level + ((word >> MISSING_LEFT) & ONE)) & BYTE
                    right = ONE if level > (word & BYTE) else np.uint64(0)
                at[i] = (word >> CHILD) + right
        sums = raw[output[t], place : place + n]
        for i in range(n):
            sums[i] += value[at[i]]
