"""Nodes counted again: rows, weights, values and impurities, summed up from the leaves.

The spread of a node is that of its branches and that between them, so that one pass up a tree has
the impurities of all nodes (Chan, Golub and LeVeque, 1979).
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from .claims import Claim
from .closed_form import agrees
from .tree_routing import Floats, Ints, PublishedTree
from .tree_splits import Targets, distance_from_median, weighted_median


class NodeRows:
    """The rows (r,) that a tree was grown on, and the node where each ends.

    `matrix` makes their numbers (r, d), which only some claims need.
    """

    def __init__(
        self, tree: PublishedTree, rows: Ints, end: Ints, matrix: Callable[[], Floats]
    ) -> None:
        self.tree, self.rows, self.end, self.matrix = tree, rows, end, matrix

    @cached_property
    def counts(self) -> Ints:
        """How many rows pass through each node (m,)."""
        return self.tree.totals(np.bincount(self.end, minlength=len(self.tree)))

    def rows_of(self, nodes: list[int]) -> dict[int, Ints]:
        """The rows of some nodes, their parents among them, and of their children."""
        found = self.tree.rows_by_node(self.matrix(), set(nodes))
        return {node: self.rows[some] for node, some in found.items()}

    def own(self, amount: Floats) -> Floats:
        """The sums (m,) of what the rows (r,) have that end in each node."""
        return np.asarray(np.bincount(self.end, amount, len(self.tree)), np.float64)


def count_claims(
    model: Any, nodes: NodeRows, targets: Targets, weight: Floats, criterion: str
) -> list[Claim]:
    """That rows, weights, values and impurities of all nodes are those of the data."""
    tree = nodes.tree
    exact = bool(np.array_equal(nodes.counts, tree.n_rows))
    statement = f"each of {len(tree):,} nodes has the rows that it publishes"
    if not exact:
        wrong = int(np.count_nonzero(nodes.counts != tree.n_rows))
        statement = f"{wrong:,} of {len(tree):,} nodes publish other numbers of rows"
    claims = [Claim("counts", statement, float(not exact), 0.0, exact, "proved")]
    if (nodes.counts == 0).any():
        return [*claims, Claim("values", "a node has no rows", np.inf, 0.0, False, "proved")]
    w = weight[nodes.rows]
    claims.append(
        agrees("weights", "the weights of the nodes", tree.weight, tree.totals(nodes.own(w)))
    )
    derived, found = _values_and_impurities(model, nodes, targets, weight, criterion)
    if getattr(model, "monotonic_cst", None) is None:  # else values are clipped to bounds
        scale = np.maximum(np.abs(derived).max(initial=0.0), 1e-300)
        claims.append(agrees("values", "the values of the nodes", tree.value, derived, scale))
    # Shares are rounded as numbers of size one, however pure the nodes are.
    least = 1.0 if targets.classes is not None else 1e-300
    scale = max(float(found.max(initial=0.0)), least)
    if targets.numbers is not None and criterion != "absolute_error":
        # scikit-learn takes the square of the mean from the mean of squares.
        scale = max(scale, float(np.mean(targets.numbers**2)))
    claims.append(agrees("impurities", "the impurities", tree.impurity, found, scale))
    return claims


def branch_claims(model: Any, tree: PublishedTree, targets: Targets, criterion: str) -> list[Claim]:
    """That the branches of each node add up to it; what can be said of a tree without its rows."""
    children = np.flatnonzero(tree.parent >= 0)
    above, inner, m = tree.parent[children], tree.inner, len(tree)

    def added(own: NDArray[Any]) -> Floats:
        return np.bincount(above, own[children], m)[inner].astype(np.float64)

    wrong = int(np.count_nonzero(added(tree.n_rows) != tree.n_rows[inner]))
    statement = f"the branches of {wrong:,} of {len(inner):,} nodes have other rows than these"
    W = tree.weight
    claims = [
        Claim("counts", statement, float(wrong), 0.0, not wrong, "proved"),
        agrees("weights", "the weights of branches", added(W), W[inner]),
    ]
    if criterion == "absolute_error":  # medians do not add up
        return claims
    held = _held(model, tree, targets)
    scale = np.maximum(np.abs(tree.value).max(initial=0.0), 1e-300)
    spread, size = W * tree.impurity, max(float(tree.impurity.max(initial=0.0)), 1e-300)
    if targets.classes is None:
        between = _deviance_between if criterion == "poisson" else _squares_between
        for S in held.reshape(m, -1).T:
            apart = between(S[children], W[children], S[above], W[above])
            spread[children] += apart / targets.n_outputs
        # scikit-learn takes the square of the mean from the mean of squares.
        size = max(size, float((tree.value**2).max(initial=0.0)))
        found, said = added(spread) / W[inner], tree.impurity[inner]
    else:
        size, found, said = (
            1.0,
            _impurity_of_shares(held / W[:, None, None], criterion),
            tree.impurity,
        )
    sums = np.stack([added(S) for S in held.reshape(m, -1).T], axis=1) / W[inner, np.newaxis]
    own = held.reshape(m, -1)[inner] / W[inner, np.newaxis]
    return [
        *claims,
        agrees("values", "the values of branches", sums, own, scale),
        agrees("impurities", "the impurities of branches", found, said, size),
    ]


def _held(model: Any, tree: PublishedTree, targets: Targets) -> Floats:
    """The weight of each class, or of targets, in each node (m, o, K)."""
    W, strength = tree.weight[:, np.newaxis], float(getattr(model, "leaf_smoothing", 0.0))
    if targets.classes is None:
        return tree.value * W[:, np.newaxis]
    held = np.zeros(tree.value.shape)
    for o, K in enumerate(targets.n_classes):
        held[:, o, :K] = tree.value[:, o, :K] * (W + K * strength) - strength
    return held


def _impurity_of_shares(share: Floats, criterion: str) -> Floats:
    """Gini or entropy (m,) of class shares (m, o, K), the mean over outputs."""
    share = np.maximum(share, 0.0)  # smoothing is taken off up to rounding
    if criterion == "gini":
        return np.asarray((1.0 - (share * share).sum(axis=2)).mean(axis=1))
    return np.asarray((-xlogy(share, share).sum(axis=2) / np.log(2)).mean(axis=1))


def _values_and_impurities(
    model: Any, nodes: NodeRows, targets: Targets, weight: Floats, criterion: str
) -> tuple[Floats, Floats]:
    """The values (m, o, K) and impurities (m,) that the rows of all nodes imply."""
    if targets.classes is not None:
        return _of_classes(model, nodes, targets, weight[nodes.rows], criterion)
    if criterion == "absolute_error":
        return _of_medians(nodes, targets, weight)
    return _of_numbers(nodes, targets, weight[nodes.rows], criterion)


def _of_classes(
    model: Any, nodes: NodeRows, targets: Targets, w: Floats, criterion: str
) -> tuple[Floats, Floats]:
    """Class shares, smoothed as asked for; Gini or entropy of those that are not smoothed."""
    assert targets.classes is not None
    m, strength = len(nodes.tree), float(getattr(model, "leaf_smoothing", 0.0))
    value, found = np.zeros((m, *nodes.tree.value.shape[1:])), np.zeros(m)
    for o, K in enumerate(targets.n_classes):
        cell = nodes.end * K + targets.classes[nodes.rows, o]
        held = nodes.tree.totals(np.bincount(cell, w, m * K).reshape(m, K))
        value[:, o, :K] = (held + strength) / (held + strength).sum(axis=1, keepdims=True)
        share = held / held.sum(axis=1, keepdims=True)
        found += _impurity_of_shares(share[:, np.newaxis], criterion)
    return value, found / targets.n_outputs


def _of_numbers(
    nodes: NodeRows, targets: Targets, w: Floats, criterion: str
) -> tuple[Floats, Floats]:
    """Means, and squares about them or deviances from them."""
    assert targets.numbers is not None
    tree, numbers = nodes.tree, targets.numbers[nodes.rows]
    value, found = np.zeros((len(tree), *tree.value.shape[1:])), np.zeros(len(tree))
    own_W = nodes.own(w)
    W = tree.totals(own_W)
    poisson = criterion == "poisson"
    between = _deviance_between if poisson else _squares_between
    for o, y in enumerate(numbers.T):
        own_S = nodes.own(w * y)
        S = tree.totals(own_S)
        centre = _ratio(own_S, own_W)[nodes.end]
        inside = w * xlogy(y, _ratio(y, centre)) if poisson else w * (y - centre) ** 2
        spread = nodes.own(inside) + between(own_S, own_W, S, W)
        for level in reversed(tree.levels):
            above = tree.parent[level]
            more = spread[level] + between(S[level], W[level], S[above], W[above])
            np.add.at(spread, above, more)
        value[:, o, 0], found = S / W, found + spread / W
    return value, found / numbers.shape[1]


def _ratio(a: Floats, b: Floats) -> Floats:
    """a / b, one where b is zero."""
    return np.divide(a, b, out=np.ones(len(a)), where=b != 0)


def _squares_between(s: Floats, w: Floats, S: Floats, W: Floats) -> Floats:
    """The squares of a branch's mean about that of its node, (m,)."""
    return np.asarray(w * (_ratio(s, w) - _ratio(S, W)) ** 2)


def _deviance_between(s: Floats, w: Floats, S: Floats, W: Floats) -> Floats:
    """What the deviance of a branch (m,) gains by the mean of its node."""
    return np.asarray(xlogy(s, _ratio(_ratio(s, w), _ratio(S, W))))


def _of_medians(nodes: NodeRows, targets: Targets, weight: Floats) -> tuple[Floats, Floats]:
    """Medians, and distances from them, node by node."""
    assert targets.numbers is not None
    m = len(nodes.tree)
    value, found = np.zeros((m, *nodes.tree.value.shape[1:])), np.zeros(m)
    for node, rows in nodes.rows_of(list(range(m))).items():
        y, w = targets.numbers[rows], weight[rows]
        value[node, :, 0] = [weighted_median(column, w) for column in y.T]
        found[node] = distance_from_median(y, w)
    return value, found
