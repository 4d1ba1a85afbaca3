"""Agglomerative clustering, slow and obvious: all pairs of clusters are compared at every step."""

from itertools import combinations

import numpy as np


def distance(A, B, method):
    """How far two sets of rows are apart."""
    if method == "ward":
        gap = A.mean(axis=0) - B.mean(axis=0)
        return np.sqrt(2 * len(A) * len(B) / (len(A) + len(B)) * gap @ gap)
    pairs = np.sqrt(((A[:, None] - B) ** 2).sum(axis=2))
    return {"single": np.min, "complete": np.max, "average": np.mean}[method](pairs)


def slow_linkage(X, method):
    """The heights (n - 1,) at which the two closest clusters are joined."""
    clusters, heights = [row[None] for row in X], []
    known = {}

    def apart(pair):
        key = tuple(id(clusters[i]) for i in pair)
        if key not in known:
            known[key] = distance(clusters[pair[0]], clusters[pair[1]], method)
        return known[key]

    kept = []  # so that no id is used twice
    while len(clusters) > 1:
        a, b = min(combinations(range(len(clusters)), 2), key=apart)
        heights.append(apart((a, b)))
        kept += [clusters[a], clusters[b]]
        clusters[a] = np.concatenate([clusters[a], clusters[b]])
        del clusters[b]
    return heights
