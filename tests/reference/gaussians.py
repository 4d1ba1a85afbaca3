"""The slow, obvious Gaussian classes: one row and one class at a time."""

import numpy as np


def quadratic_scores(X, centre, linear, upper, constant):
    """constant + x.linear + x.upper.x for each class and row, x less the centre: (K, n)."""
    d = X.shape[1]
    scores = np.empty((len(constant), len(X)))
    for k in range(len(constant)):
        for i, row in enumerate(X):
            x = row.astype(float) - centre
            scores[k, i] = constant[k] + x @ linear[k, :d] + x @ upper[k, :d, :d] @ x
    return scores


def log_joint(x, y, row):
    """{class: log P(class) N(row; mean, covariance)} with divisor N_k, from rows x and labels y."""
    found = {}
    for label in np.unique(y):
        rows = x[y == label]
        mean, covariance = rows.mean(axis=0), np.cov(rows.T, bias=True).reshape(x.shape[1], -1)
        found[label] = np.log(len(rows) / len(x)) + log_density(row, mean, covariance)
    return found


def log_density(row, mean, covariance):
    """log of (2 pi)^(-d/2) |S|^(-1/2) exp(-(x - m).S^-1.(x - m) / 2)."""
    away = row - mean
    volume = np.linalg.slogdet(covariance)[1]
    distance = away @ np.linalg.inv(covariance) @ away
    return -0.5 * (len(row) * np.log(2 * np.pi) + volume + distance)
