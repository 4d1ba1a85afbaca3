"""How far a fitted logistic regression is from the best possible: one sum for all contenders.

The objective is ``1/2 |W|^2 + C sum of losses``, biases free. First the biases are made the best
for the weights, by Newton steps on them alone; the probabilities then balance, and are a dual
point. With them the gap is ``P(W, b) - P(W, best b) + 1/2 |gradient at W, best b|^2``.
"""

import numpy as np
from scipy import sparse
from scipy.special import log_expit, logsumexp

STEPS = 20


def relative_gap(coef, intercept, X, y, C=1.0):
    """The gap divided by the objective, of coef (1, d) or (K, d); y are class numbers."""
    coef, intercept = np.atleast_2d(coef).astype(float), np.atleast_1d(intercept).astype(float)
    scores = np.asarray(X @ coef.T)
    objective = _value(scores + intercept, y, C) + 0.5 * (coef**2).sum()
    best = intercept.copy()
    for _ in range(STEPS):
        residual, curvature = _slopes(scores + best, y)
        step = np.linalg.lstsq(curvature, residual.sum(axis=0), rcond=None)[0]
        best = best - step
        if np.abs(step).max() < 1e-14:
            break
    at_best = _value(scores + best, y, C) + 0.5 * (coef**2).sum()
    residual, _ = _slopes(scores + best, y)
    gradient = coef + C * _transposed(X, residual)
    return (objective - at_best + 0.5 * (gradient**2).sum()) / objective


def _value(Z, y, C):
    if Z.shape[1] == 1:
        return -C * log_expit(np.where(y == 1, 1, -1) * Z[:, 0]).sum()
    return C * (logsumexp(Z, axis=1) - Z[np.arange(len(y)), y]).sum()


def _slopes(Z, y):
    """Probabilities minus indicators (n, K), and the curvature by the biases (K, K)."""
    if Z.shape[1] == 1:
        P = np.exp(log_expit(Z))
        return P - (y == 1)[:, None], np.array([[(P * (1 - P)).sum()]])
    P = np.exp(Z - logsumexp(Z, axis=1, keepdims=True))
    curvature = np.diag(P.sum(axis=0)) - P.T @ P
    P[np.arange(len(y)), y] -= 1
    return P, curvature


def _transposed(X, R):
    product = X.T @ R
    return (product.toarray() if sparse.issparse(product) else np.asarray(product)).T
