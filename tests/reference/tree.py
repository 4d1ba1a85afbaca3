"""The slow, obvious tree: every threshold of every column, one node at a time."""

from itertools import pairwise

import numpy as np


def impurity(y, criterion):
    if criterion == "squared_error":
        return float(np.var(y))
    shares = np.unique(y, return_counts=True)[1] / len(y)
    if criterion == "gini":
        return 1.0 - float(np.sum(shares**2))
    return -float(np.sum(shares * np.log2(shares)))


def best_split(X, y, criterion, min_leaf=1):
    """The largest gain (times the rows) at a node, its column and its threshold."""
    best = (-np.inf, None, None)
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for low, high in pairwise(values):
            left = X[:, j] <= (low + high) / 2
            if min(left.sum(), (~left).sum()) < min_leaf:
                continue
            parts = sum(part.sum() * impurity(y[part], criterion) for part in (left, ~left))
            gain = len(y) * impurity(y, criterion) - parts
            if gain > best[0] + 1e-9 * len(y):
                best = (gain, j, (low + high) / 2)
    return best


def grow(X, y, criterion, max_depth, min_leaf=1):
    """The nodes in preorder: (column, threshold, rows), None for a leaf's column."""
    gain, j, threshold = best_split(X, y, criterion, min_leaf)
    if max_depth == 0 or len(np.unique(y)) == 1 or gain == -np.inf:
        return [(None, None, len(y))]
    left = X[:, j] <= threshold
    below = [grow(X[part], y[part], criterion, max_depth - 1, min_leaf) for part in (left, ~left)]
    return [(j, threshold, len(y)), *below[0], *below[1]]


def fewest_mistakes(X, y, weight, depth):
    """The least weight of mistakes that a tree of this depth can make: every tree is tried."""
    held = [weight[y == k].sum() for k in np.unique(y)]
    best = sum(held) - max(held, default=0)
    if depth == 0 or len(held) < 2:
        return best
    for column in X.T:
        for value in np.unique(column)[:-1]:
            sides = (column <= value, column > value)
            best = min(best, sum(fewest_mistakes(X[s], y[s], weight[s], depth - 1) for s in sides))
    return best
