"""Logistic regression with two classes: loss, gradient and curvature, a row at a time.

Legend: X rows of examples (see `rows`); y (n,) of -1 and +1; c (n,) what a row counts; w (d + 1,)
the weights and, last, the bias; share (n,) the probability of the wrong class, s(-m) with the
margin m = y (w.x + b) and s(z) = 1 / (1 + exp(-z)).
"""

import math

from . import compiled, rows


@compiled
def loss_pass(X, y, c, start, stop, w, share, gradient):
    """Sum of c log(1 + exp(-m)) over rows start to stop. Fills share, adds to gradient (d + 1,)."""
    d = w.shape[0] - 1
    loss = 0.0
    for i in range(start, stop):
        m = y[i] * (rows.dot(X, i, w[:d]) + w[d])
        # Of exp(m) and exp(-m) the one that cannot overflow.
        e = math.exp(-abs(m))
        small = e / (1.0 + e)
        share[i] = small if m > 0 else 1.0 - small
        loss += c[i] * (math.log1p(e) + max(-m, 0.0))
        step = -c[i] * y[i] * share[i]
        rows.add(X, i, step, gradient[:d])
        gradient[d] += step
    return loss


@compiled
def curvature_pass(X, c, share, start, stop, v, product):
    """Add H v, with H the sum of c s(m) s(-m) (x, 1)(x, 1)', to product (d + 1,)."""
    d = v.shape[0] - 1
    for i in range(start, stop):
        h = c[i] * share[i] * (1.0 - share[i])
        step = h * (rows.dot(X, i, v[:d]) + v[d])
        rows.add(X, i, step, product[:d])
        product[d] += step


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
        rows.call_ahead(X, c, order, t)
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
