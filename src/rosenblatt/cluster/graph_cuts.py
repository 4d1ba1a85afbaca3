"""Minimum cuts of small graphs: into two pieces (Stoer and Wagner), and into k by trying all.

Legend: n vertices, weights W (n, n), symmetric.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.intp]
Weights = NDArray[np.float64]


def exact_cut(W: Weights, k: int) -> Labels:
    """The pieces (n,) of the cut into k with the smallest weight across, of all that there are.

    >>> exact_cut(np.array([[0, 4, 1], [4, 0, 1], [1, 1, 0.0]]), 2)
    array([0, 0, 1])
    """
    best, least = None, np.inf
    for labels in partitions(len(W), k):
        across = float(W[labels[:, np.newaxis] != labels].sum())
        if across < least:
            best, least = labels, across
    assert best is not None
    return best


def partitions(n: int, k: int) -> Iterator[Labels]:
    """All ways to put n things into k boxes that are not empty, each once.

    >>> len(list(partitions(5, 2)))
    15
    """

    def grow(labels: list[int], used: int) -> Iterator[Labels]:
        if len(labels) == n:
            if used == k:
                yield np.array(labels, np.intp)
            return
        if k - used > n - len(labels):  # too few things are left
            return
        for box in range(min(used + 1, k)):
            yield from grow([*labels, box], max(used, box + 1))

    return grow([0], 1)


def two_way_cut(W: Weights) -> Labels:
    """The pieces (n,) of the cut into two with the smallest weight across (Stoer and Wagner 1997).

    Vertices are added one after the other, always the one that is tied most to those before it. The
    last one alone is the cheapest cut between it and the one before; then both become one vertex.

    >>> two_way_cut(np.array([[0, 4, 1], [4, 0, 1], [1, 1, 0.0]]))
    array([0, 0, 1])
    """
    n = len(W)
    W = W.copy()
    np.fill_diagonal(W, 0.0)
    members = [[i] for i in range(n)]
    left = np.ones(n, bool)
    best, least = [0], np.inf
    for _ in range(n - 1):
        before, last, tied = _last_two(W, left)
        if tied < least:
            best, least = list(members[last]), tied
        members[before] += members[last]
        W[before] += W[last]
        W[:, before] = W[before]
        W[before, before] = 0.0
        left[last] = False
    labels = np.zeros(n, np.intp)
    labels[best] = 1
    return labels if labels[0] == 0 else 1 - labels


def _last_two(W: Weights, left: NDArray[np.bool_]) -> tuple[int, int, float]:
    """The last two vertices of the order, and the weight that ties the last to all others."""
    order: list[int] = []
    ties, waiting = np.zeros(len(W)), left.copy()
    while waiting.any():
        vertex = int(np.where(waiting, ties, -np.inf).argmax())
        waiting[vertex] = False
        order.append(vertex)
        weight = float(ties[vertex])
        ties += W[vertex]
    return order[-2], order[-1], weight
