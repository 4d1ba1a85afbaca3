# mypy: ignore-errors
"""Losses of gradient boosting: first and second derivative at each row, and their sums.

Each function reads raw predictions and writes rows first to last of gradient and hessian. It
returns the sum of the losses, of the |g| and of the h. weight has shape (0,) if all are one.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.exponential import exp_negative, log_one_plus

SQUARED, ABSOLUTE, QUANTILE, POISSON, GAMMA, BINARY = range(6)


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
