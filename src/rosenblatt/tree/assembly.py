"""Grown nodes put together: numbers without gaps, thresholds, branches, values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import growth_loops as t
from . import values_loops
from .settings import Settings, Targets
from .structure import LEAF, UNDEFINED, Tree


def assemble(
    nodes: Any, order: Any, targets: Targets, settings: Settings, weights: Any,
    n_categories: NDArray[np.int64], cells: Any,
) -> Tree:  # fmt: skip
    """The `Tree` of grown nodes.

    `order` are the rows, leaf after leaf, `cells` a function that gives the values of some rows in
    a column.
    """
    ids = np.flatnonzero(nodes.used)
    ints, floats = nodes.ints[ids], nodes.floats[ids]
    sizes = ints[:, t.STOP] - ints[:, t.START]
    ends = np.searchsorted(ids, ids + 2 * sizes - 1)  # the node after all that are below
    inner = np.flatnonzero(ints[:, t.CHILDREN] > 0)
    left = np.full(len(ids), LEAF, np.int64)
    right = left.copy()
    left[inner], right[inner] = inner + 1, ends[inner + 1]
    feature = np.full(len(ids), UNDEFINED, np.int64)
    feature[inner] = ints[inner, t.FEATURE]
    missing_left = np.zeros(len(ids), np.uint8)
    missing_left[inner] = ints[inner, t.MISSING_LEFT]
    branches = _branches(ints, ends, inner, right, feature, n_categories)
    arrays = {
        "children_left": left, "children_right": right, "feature": feature,
        "threshold": _thresholds(ints, floats, feature, inner, n_categories, cells),
        "missing_go_to_left": missing_left,
        "impurity": floats[:, t.IMPURITY].copy(), "n_node_samples": sizes,
        "weighted_n_node_samples": floats[:, t.WEIGHT].copy(), "depth": ints[:, t.DEPTH],
        **branches,
    }  # fmt: skip
    n_children = np.maximum(ints[:, t.CHILDREN], 0)
    parent = np.empty(len(ids), np.int64)
    values_loops.link_children(n_children, ends, parent)
    arrays["value"] = node_values(
        targets, settings, weights, order, ints, parent,
        floats[:, [t.LOWER, t.UPPER]],
    )  # fmt: skip
    return Tree(arrays, n_categories)


def _thresholds(
    ints: Any, floats: Any, feature: Any, inner: Any, n_categories: Any, cells: Any
) -> NDArray[np.float64]:
    """The middle of the two values that a threshold parts, in scikit-learn's arithmetic."""
    thresholds = np.full(len(ints), float(UNDEFINED))
    categorical = n_categories[feature[inner]] > 0
    thresholds[inner] = np.where(categorical, np.nan, floats[inner, t.THRESHOLD])
    open_ones = inner[np.isnan(thresholds[inner]) & ~categorical]
    for j in np.unique(feature[open_ones]):
        nodes = open_ones[feature[open_ones] == j]
        low, high = cells(ints[nodes, t.LOW_ROW], j), cells(ints[nodes, t.HIGH_ROW], j)
        middle = low / 2.0 + high / 2.0
        middle = np.where((middle >= high) | np.isinf(middle) | (middle < low), low, middle)
        thresholds[nodes] = middle
    return thresholds


def _branches(
    ints: Any, ends: Any, inner: Any, right: Any, feature: Any, n_categories: Any
) -> dict[str, NDArray[np.int64]]:
    """The branches of nodes that have others than left and right."""
    counts = np.zeros(len(ints), np.int64)
    wide = inner[
        (n_categories[feature[inner]] > 0)
        | (ints[inner, t.CHILDREN] > 2)
        | (ints[ends[inner + 1], t.BRANCH_CODE] == 2)
    ]
    counts[wide] = ints[wide, t.CHILDREN]
    first = np.where(counts > 0, np.cumsum(counts) - counts, -1)
    children = np.empty(int(counts.sum()), np.int64)
    child, left_to_do, place = wide + 1, counts[wide].copy(), first[wide].copy()
    nodes = wide
    while len(nodes):
        children[place] = child
        place, left_to_do = place + 1, left_to_do - 1
        more = left_to_do > 0
        last = nodes[~more]
        categorical = n_categories[feature[last]] > 0
        right[last[categorical]] = child[~more][categorical]
        nodes, child, place = nodes[more], ends[child[more]], place[more]
        left_to_do = left_to_do[more]
    return {
        "first_branch": first, "n_branches": counts, "branch_child": children,
        "branch_code": ints[children, t.BRANCH_CODE],
    }  # fmt: skip


def node_values(
    targets: Targets, settings: Settings, weights: Any, order: Any, ints: Any, parent: Any,
    bounds: Any,
) -> NDArray[np.float64]:  # fmt: skip
    """The class shares or targets (nodes, o, K) of all nodes."""
    starts, stops, n_children = (
        np.ascontiguousarray(ints[:, column]) for column in (t.START, t.STOP, t.CHILDREN)
    )
    if settings.criterion == "absolute_error":
        value = _medians(targets, weights, order, np.column_stack([starts, stops]))
        return value if settings.monotonic_cst is None else _within(value, bounds)
    value = np.zeros((len(ints), targets.n_outputs, max(targets.n_classes)))
    w = np.ones(int(order.max()) + 1) if weights is None else weights
    if targets.classes is not None:
        values_loops.sum_leaf_classes(starts, stops, n_children, order, targets.classes, w, value)
        values_loops.add_up(parent, value)
        value /= value.sum(axis=2, keepdims=True)
        if settings.monotonic_cst is not None and value.shape[2] == 2:
            positive = np.clip(value[:, 0, 1], bounds[:, 0], bounds[:, 1])
            value[:, 0, 1], value[:, 0, 0] = positive, 1.0 - positive
        return value
    numbers = targets.numbers
    assert numbers is not None
    leaves = np.flatnonzero(n_children <= 0)
    leaf_of = np.full(len(w), -1, np.int64)
    leaf_of[order] = np.repeat(leaves, stops[leaves] - starts[leaves])
    scratch = np.empty((3, len(ints)))
    values_loops.mean_numbers(leaf_of, parent, numbers, w, *scratch, value)
    if settings.monotonic_cst is not None:
        centred = settings.criterion != "poisson"
        bounds = bounds + (np.average(numbers[:, 0], weights=weights) if centred else 0.0)
        value = _within(value, bounds)
    return value


def _within(value: NDArray[np.float64], bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values (N, 1, 1) that keep the bounds (N, 2) of monotone predictions."""
    return np.clip(value, bounds[:, :1, np.newaxis], bounds[:, 1:, np.newaxis])


def _medians(targets: Targets, weights: Any, order: Any, spans: Any) -> NDArray[np.float64]:
    """The weighted medians (nodes, o, 1); between two middle values, their mean."""
    assert targets.numbers is not None
    value = np.empty((len(spans), targets.n_outputs, 1))
    for i, (start, stop) in enumerate(spans.tolist()):
        rows = order[start:stop]
        for k in range(targets.n_outputs):
            y = targets.numbers[rows, k]
            value[i, k, 0] = np.median(y) if weights is None else _weighted_median(y, weights[rows])
    return value


def _weighted_median(y: NDArray[np.float64], w: NDArray[np.float64]) -> float:
    order = np.argsort(y, kind="stable")
    below = np.cumsum(w[order])
    place = int(np.searchsorted(below, 0.5 * below[-1]))
    if below[place] == 0.5 * below[-1] and place + 1 < len(y):
        return float(0.5 * (y[order[place]] + y[order[place + 1]]))
    return float(y[order[place]])
