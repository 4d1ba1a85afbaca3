"""Elastic net by the book: one weight at a time, on centred data, until nothing moves."""

import numpy as np


def centred(X, y, weights=None, fit_intercept=True):
    """Columns and target less their weighted means, each row times the root of its share."""
    n = len(y)
    p = np.full(n, 1 / n) if weights is None else np.asarray(weights) / np.sum(weights)
    mean_x, mean_y = (p @ X, p @ y) if fit_intercept else (np.zeros(X.shape[1]), 0.0)
    root = np.sqrt(p)
    return (X - mean_x) * root[:, None], (y - mean_y) * root, mean_x, mean_y


def objective(X, y, w, b, alpha, l1_ratio=1.0, weights=None):
    """1/2 mean squared residual + alpha l1_ratio |w|_1 + alpha (1 - l1_ratio)/2 |w|^2."""
    r = y - X @ w - b
    loss = np.average(r**2, weights=weights) / 2
    return loss + alpha * (l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * w @ w)


def elastic_net(X, y, alpha, l1_ratio=1.0, weights=None, fit_intercept=True, positive=False):
    """The weights and the intercept."""
    A, t, mean_x, mean_y = centred(X, y, weights, fit_intercept)
    l1, l2 = alpha * l1_ratio, alpha * (1 - l1_ratio)
    w, r = np.zeros(X.shape[1]), t.copy()
    squares = (A**2).sum(axis=0)
    for _ in range(100_000):
        moved = 0.0
        for j in np.flatnonzero(squares):
            z = A[:, j] @ r + squares[j] * w[j]
            size = max((z if positive else abs(z)) - l1, 0.0)
            best = np.sign(z) * size / (squares[j] + l2)
            r -= (best - w[j]) * A[:, j]
            moved = max(moved, abs(best - w[j]) * np.sqrt(squares[j]))
            w[j] = best
        if moved <= 1e-15 * np.sqrt(t @ t):
            break
    return w, mean_y - mean_x @ w
