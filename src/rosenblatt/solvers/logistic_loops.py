# mypy: ignore-errors
"""Logistic regression with two classes: loss, gradient and curvature; coordinate sweeps.

Legend: X rows of examples (see `rows`); y (n,) of -1 and +1; c (n,) what a row counts; w (d + 1,)
the weights and, last, the bias; share (n,) the probability of the wrong class, s(-m) with the
margin m = y (w.x + b) and s(z) = 1 / (1 + exp(-z)).
"""

import math

from rosenblatt.loops import compiled, rows
from rosenblatt.loops.exponential import exp_negative, log, log_one_plus

LEAST = 1e-300  # the entropy of less is nothing


@compiled
def loss_pass(X, y, c, start, stop, w, share, steps, gradient):
    """Sum of c log(1 + exp(-m)) over rows start to stop. Fills share, adds to gradient (d + 1,).

    Rows are taken a block at a time, each part of the work on all of them, several at once; steps
    (b,) is scratch space, as long as a block.
    """
    d = w.shape[0] - 1
    loss = 0.0
    for first in range(start, stop, steps.shape[0]):
        last = min(first + steps.shape[0], stop)
        step = steps[: last - first]
        rows.dot_each(X, first, w[:d], step)
        loss += block_loss(y[first:last], c[first:last], w[d], share[first:last], step)
        rows.add_each(X, first, step, gradient[:d])
        gradient[d] += rows.sum_of(step)
    return loss


@compiled(reorder_sums=True)
def block_loss(y, c, bias, share, scores):
    """The loss of a block of rows; turns their scores w.x into steps -c y s(-m), fills share."""
    loss = 0.0
    for i in range(scores.shape[0]):
        m = y[i] * (scores[i] + bias)
        # Of exp(m) and exp(-m) the one that cannot overflow.
        e = exp_negative(-abs(m))
        small = e / (1.0 + e)
        share[i] = small if m > 0 else 1.0 - small
        loss += c[i] * (log_one_plus(e) + (0.0 if m > 0 else -m))
        scores[i] = -c[i] * y[i] * share[i]
    return loss


@compiled
def curvature_pass(X, c, share, start, stop, v, steps, product):
    """Add H v, with H the sum of c s(m) s(-m) (x, 1)(x, 1)', to product (d + 1,).

    steps (b,) is scratch space, as long as a block of rows.
    """
    d = v.shape[0] - 1
    for first in range(start, stop, steps.shape[0]):
        last = min(first + steps.shape[0], stop)
        step = steps[: last - first]
        rows.dot_each(X, first, v[:d], step)
        for i in range(last - first):
            p = share[first + i]
            step[i] = c[first + i] * p * (1.0 - p) * (step[i] + v[d])
        rows.add_each(X, first, step, product[:d])
        product[d] += rows.sum_of(step)


@compiled(reorder_sums=True)
def entropy(c, p):
    """Sum of c times the entropy -p log p - (1 - p) log(1 - p) of each row."""
    result = 0.0
    for i in range(p.shape[0]):
        a = max(p[i], LEAST)
        b = max(1.0 - p[i], LEAST)
        result -= c[i] * (a * log(a) + b * log(b))
    return result


@compiled
def squares_pass(X, h, start, stop, sums):
    """Add h (n, K) times the squares of the numbers of each column to sums (d, K)."""
    K = sums.shape[1]
    for i in range(start, stop):
        if isinstance(X, tuple):
            data, indices, indptr = X
            for p in range(indptr[i], indptr[i + 1]):
                square = data[p] * data[p]
                for k in range(K):
                    sums[indices[p], k] += h[i, k] * square
        else:
            for j in range(X.shape[1]):
                square = X[i, j] * X[i, j]
                for k in range(K):
                    sums[j, k] += h[i, k] * square


@compiled
def stochastic_pass(X, y, c, order, steps, shrink, bias, w, scale):
    """Visit the rows in `order`: w += step c s(-m) y x, the weights first shrunk by L2.

    Reads steps (m,) and shrink (m,), what the t-th visit multiplies the weights with; they are kept
    as ``scale[0] * w``, so that one number changes and not d. Returns how many rows were visited:
    fewer than asked for if a score is not a finite number.
    """
    d = w.shape[0] - 1
    for t in range(order.shape[0]):
        rows.prefetch_row(X, c, order, t)
        i = order[t]
        m = y[i] * (scale[0] * rows.dot(X, i, w[:d]) + w[d])
        if not math.isfinite(m):
            return t
        e = math.exp(-abs(m))
        share = e / (1.0 + e) if m > 0 else 1.0 / (1.0 + e)
        scale[0] *= shrink[t]
        if scale[0] < 1e-9:  # before dividing by it loses digits
            for j in range(d):
                w[j] *= scale[0]
            scale[0] = 1.0
        step = steps[t] * c[i] * share * y[i]
        rows.add(X, i, step / scale[0], w[:d])
        w[d] += bias * step
    return order.shape[0]


@compiled
def quadratic_sweep(H, l1, w, slope):
    """Take exact steps along each coordinate in turn, to lower g.v + v'Hv/2 + sum l1 |w|.

    Reads H (m, m) and l1 (m,); changes w (m,), which moves by v, and slope (m,), g + H v. Returns
    the largest fall along one coordinate.
    """
    most = 0.0
    for j in range(w.shape[0]):
        if H[j, j] <= 0.0:
            continue
        target, threshold = w[j] - slope[j] / H[j, j], l1[j] / H[j, j]
        new = max(target - threshold, 0.0) + min(target + threshold, 0.0)
        move = new - w[j]
        if move != 0.0:
            w[j] = new
            for k in range(w.shape[0]):
                slope[k] += move * H[j, k]
            most = max(most, 0.5 * H[j, j] * move * move)
    return most
