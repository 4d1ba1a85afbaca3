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


def best_tree_of_depth_two(wanted: float) -> Contender:
    """Every root, and on both its sides every stump by running sums of signed counts."""
    return Contender(
        name="NumPy",
        settings="248 thresholds a column; at each root one bincount and cumsum a column and side",
        package="numpy",
        run=lambda data, seed: _best_tree(data),
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


class ShortTree:
    """A root and the stumps on its sides: column, level, and the classes below and above."""

    def __init__(self, cuts, root, stumps):
        self.cuts, self.root, self.stumps = cuts, root, stumps

    def predict(self, X):
        codes = _levels(X, self.cuts)
        column, level = self.root
        right = codes[column] > level
        answers = [np.where(codes[j] > v, high, low) for j, v, low, high in self.stumps]
        return np.where(right, answers[1], answers[0])


def _levels(X, cuts):
    return np.array([np.searchsorted(cut, column) for cut, column in zip(cuts, X.T, strict=True)])


def _stump(codes, sign):
    """The score, column, level and classes of the best stump."""
    best = (-1.0, 0, 0, 0, 0)
    for j, code in enumerate(codes):
        low = np.cumsum(np.bincount(code, sign, minlength=249))
        score = np.abs(low) + np.abs(low[-1] - low)
        v = int(score.argmax())
        best = max(best, (score[v], j, v, int(low[v] > 0), int(low[-1] - low[v] > 0)))
    return best


def _best_tree(data: Data) -> ShortTree:
    cuts = [np.unique(np.quantile(column, np.arange(1, 249) / 249)) for column in data.X.T]
    codes, sign = _levels(data.X, cuts), np.where(data.y == 1, 1.0, -1.0)
    best = (-1.0, (0, 0), [])
    for j, code in enumerate(codes):
        for v in range(len(cuts[j])):
            left = code <= v
            stumps = [_stump(codes[:, side], sign[side]) for side in (left, ~left)]
            score = stumps[0][0] + stumps[1][0]
            if score > best[0]:
                best = (score, (j, v), [stump[1:] for stump in stumps])
    return ShortTree(cuts, *best[1:])
