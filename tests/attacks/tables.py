"""Tables that are hard on rounding: far from zero, nearly dependent, of scales far apart."""

import numpy as np
import scipy.sparse as sp

KINDS = [
    "plain", "whole", "far", "powers", "nearly equal", "dependent", "scales", "constant", "tiny",
    "equal rows",
]  # fmt: skip


def rows(rng, n, d, kinds=KINDS):
    """X (n, d) of one of the kinds."""
    kind = kinds[rng.randint(len(kinds))]
    X = rng.standard_normal((n, d))
    if kind == "whole":
        X = rng.randint(-4, 5, (n, d)).astype(float)
    elif kind == "far":
        X = np.round(8 * X) / 8 + 2.0 ** rng.randint(0, 53, d)
    elif kind == "powers":
        X = np.column_stack([rng.uniform(0, 1, n) ** 0 * X[:, 0] ** (k + 1) for k in range(d)])
    elif kind == "nearly equal":
        X[:, -1] = X[:, 0] + 2.0 ** -rng.randint(10, 52) * X[:, -1]
    elif kind == "dependent":
        X = np.round(64 * X) / 64
        X[:, -1] = X[:, 0] * rng.randint(-2, 3)
    elif kind == "scales":
        X *= 10.0 ** rng.randint(-8, 9, d)
    elif kind == "constant":
        X[:, 0] = rng.standard_normal() * 10.0 ** rng.randint(-3, 8)
    elif kind == "tiny":
        X *= 10.0 ** -rng.randint(1, 30)
    elif kind == "equal rows":
        X = X[rng.randint(0, max(1, n // 2), n)]
    return X


def stored(rng, X):
    """The same rows as an array or a sparse matrix, in 64 or 32 bits."""
    kind = rng.randint(6)
    return sp.csr_matrix(X) if kind == 0 else X.astype(np.float32) if kind == 1 else X


def exactly(X):
    """Rows in any storage as an array of doubles."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, np.float64)


def ones(weight, n):
    """The weights, ones if there are none."""
    return np.ones(n) if weight is None else weight


def weights(rng, n):
    """None, whole numbers, or numbers of scales far apart."""
    kind = rng.randint(4)
    if kind < 2:
        return None
    return rng.randint(1, 4, n).astype(float) if kind == 2 else 10.0 ** rng.uniform(-6, 6, n)


def targets(rng, X):
    """t (n,): a plane and noise, whole numbers, or one value."""
    n, d = X.shape
    size = np.abs(X).max() or 1.0
    kind = rng.randint(5)
    if kind == 0:
        return rng.randint(-3, 4, n).astype(float)
    if kind == 1:
        return X @ rng.standard_normal(d) / size
    noise = 10.0 ** rng.randint(-9, 2)
    return X @ rng.standard_normal(d) / size + noise * rng.standard_normal(n)


def labels(rng, X, K=2):
    """Codes (n,) of K classes, each with a row, more or less along a direction."""
    n, d = X.shape
    away = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-300)
    score = away @ rng.standard_normal(d) + rng.uniform(0.1, 3) * rng.standard_normal(n)
    codes = np.empty(n, int)
    codes[np.argsort(score, kind="stable")] = np.arange(n) * K // n
    return codes


def changed(rng, numbers):
    """Published numbers as they are, or put off by little, by much, or altogether."""
    numbers = np.array(numbers, np.float64)
    kind = rng.randint(7)
    if kind == 1:
        return numbers * 0
    if kind == 2:
        return -numbers
    if kind == 3:
        return numbers * (1 + 10.0 ** rng.uniform(-12, 1))
    if kind == 4:
        return numbers + 10.0 ** rng.uniform(-12, 2) * rng.standard_normal(numbers.shape)
    if kind == 5 and numbers.size:
        numbers.flat[rng.randint(numbers.size)] *= rng.standard_normal()
    return numbers
