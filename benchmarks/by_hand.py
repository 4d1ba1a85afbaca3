"""Straightforward NumPy, as one would write it first: the peers of what no library has."""

import numpy as np

from benchmarks.scenario import Contender, Data


def pocket(updates: int, wanted: float) -> Contender:
    """The error on all rows after every correction, by one product of the table and the weights."""
    return Contender(
        name="NumPy",
        settings=f"a loop over the rows in order, X @ w after each of {updates:,} corrections",
        package="numpy",
        run=lambda data, seed: _pocket(data, updates),
        wanted=wanted,
    )


def kernel_perceptron(passes: int, wanted: float) -> Contender:
    """The whole kernel matrix first, then at each visit the product of its row with a."""
    return Contender(
        name="NumPy",
        settings=f"Gaussian kernel matrix of all rows, then {passes} passes with K[i] @ a a visit",
        package="numpy",
        run=lambda data, seed: _kernel_perceptron(data, passes),
        wanted=wanted,
    )


class Plane:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def predict(self, X):
        return (X @ self.w + self.b > 0).astype(np.int64)


def _pocket(data: Data, updates: int) -> Plane:
    X, y = data.X, np.where(data.y == 1, 1.0, -1.0)
    w, b = np.zeros(X.shape[1]), 0.0
    best, best_w, best_b = np.mean(y * (X @ w + b) <= 0), w.copy(), b
    made = 0
    while True:
        clean = True
        for i in range(len(y)):
            if y[i] * (X[i] @ w + b) > 0:
                continue
            if made == updates:
                return Plane(best_w, best_b)
            w += y[i] * X[i]
            b += y[i]
            made, clean = made + 1, False
            error = np.mean(y * (X @ w + b) <= 0)
            if error < best:
                best, best_w, best_b = error, w.copy(), b
        if clean:
            return Plane(best_w, best_b)


class Dual:
    def __init__(self, X, gamma, a, b):
        self.X, self.gamma, self.a, self.b = X, gamma, a, b

    def predict(self, X):
        return (_gaussian(X, self.X, self.gamma) @ self.a + self.b > 0).astype(np.int64)


def _gaussian(U, V, gamma):
    squares = (U**2).sum(axis=1)[:, np.newaxis] + (V**2).sum(axis=1)
    return np.exp(-gamma * (squares - 2 * U @ V.T))


def _kernel_perceptron(data: Data, passes: int) -> Dual:
    X, y = data.X, np.where(data.y == 1, 1.0, -1.0)
    gamma = 1 / (X.shape[1] * X.var())
    K = _gaussian(X, X, gamma)
    a, b = np.zeros(len(y)), 0.0
    for _ in range(passes):
        for i in range(len(y)):
            if y[i] * (K[i] @ a + b) <= 0:
                a[i] += y[i]
                b += y[i]
    return Dual(X, gamma, a, b)
