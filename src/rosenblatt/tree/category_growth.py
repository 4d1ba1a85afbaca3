"""Growing a classification tree on categories alone."""

from math import ceil
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import category_growth_loops
from .settings import CRITERIA, Settings, Targets, x_log_x_table
from .structure import LEAF, UNDEFINED, Tree

MOST_CLASSES = 64  # there is room for the shares of twice as many nodes as rows
MOST_CELLS = 2**16  # categories of a column times classes
CELLS_A_CALL = 50_000_000  # of a compiled call, which takes some 0.1 s


def can_grow(
    X: Any, n_categories: NDArray[np.int64], targets: Targets, weights: Any, settings: Settings
) -> bool:
    """Whether all columns hold categories, and the tree needs no more than counts."""
    return (
        not sp.issparse(X)
        and bool((n_categories > 0).all())
        and targets.classes is not None
        and targets.n_outputs == 1
        and weights is None
        and settings.max_leaf_nodes is None
        and (settings.max_features or X.shape[1]) >= X.shape[1]
        and targets.n_classes[0] <= MOST_CLASSES
        and (int(n_categories.max()) + 1) * targets.n_classes[0] <= MOST_CELLS
    )


def grow(X: Any, n_categories: NDArray[np.int64], targets: Targets, settings: Settings) -> Tree:
    """The tree of the places of categories X (n, d), NaN where one is missing."""
    loop, K, classes = category_growth_loops, targets.n_classes[0], targets.classes
    assert classes is not None
    table = _table(X, n_categories, np.ascontiguousarray(classes[:, 0]), K, settings)
    limits = _limits(settings, X.shape[0], K)
    nodes, work = _nodes(X.shape[0], K), _work(table.first, X.shape[0], K)
    work.stack[0] = 0, X.shape[0], 0, -1, *np.bincount(classes[:, 0], minlength=K)
    waiting, n_nodes, n_branches = 1, 0, 0
    while waiting:
        waiting, n_nodes, n_branches = loop.grow(
            table, limits, nodes, work, waiting, n_nodes, n_branches, CELLS_A_CALL
        )
    return _tree(nodes, n_nodes, n_branches, n_categories)


def _table(X: Any, n_categories: Any, classes: Any, K: int, settings: Settings) -> Any:
    n, d = X.shape
    size = (int(n_categories.max()) + 1) * K
    cell = np.dtype(np.uint8 if size <= 256 else np.uint16)
    words = np.zeros((n, -(-d * cell.itemsize // 8)), np.uint64)
    cells, has_missing = words.view(cell), np.zeros(d, np.int64)
    category_growth_loops.write_cells(
        np.ascontiguousarray(X), classes, n_categories, K, cells, has_missing
    )
    n_categories, table = n_categories + has_missing, np.zeros(1)
    if CRITERIA[settings.criterion] == CRITERIA["entropy"]:
        table = x_log_x_table(n)
    return category_growth_loops.Cells(
        cells, words, np.empty_like(words), n_categories,
        np.concatenate([[0], np.cumsum(n_categories * K)]),
        np.arange(size, dtype=np.int64) // K, table,
    )  # fmt: skip


def _limits(settings: Settings, n: int, K: int) -> Any:
    s = settings
    return category_growth_loops.Limits(
        kind=CRITERIA[s.criterion], n_classes=K, max_depth=s.max_depth,
        min_split=max(s.min_samples_split, 2, ceil(2 * s.min_weight_leaf)),
        min_leaf=max(s.min_samples_leaf, ceil(s.min_weight_leaf)),
        min_decrease=s.min_impurity_decrease * n,
    )  # fmt: skip


def _work(first: NDArray[np.int64], n: int, K: int) -> Any:
    most_waiting = min(n, int(first[-1]) // K) + 1  # a path asks each column once
    return category_growth_loops.Work(
        np.empty(first[-1], np.int32), np.empty(first[-1] // K),
        np.empty(int(np.diff(first).max()) // K, np.int64),
        np.empty((most_waiting, 4 + K), np.int64),
    )  # fmt: skip


def _nodes(n: int, K: int) -> Any:
    integers = [np.empty(2 * n, np.int32) for _ in range(7)]
    floats = [np.empty(2 * n), np.empty((2 * n, K))]
    return category_growth_loops.Nodes._make([*integers[:5], *floats, *integers[5:]])


def _tree(nodes: Any, n_nodes: int, n_branches: int, n_categories: NDArray[np.int64]) -> Tree:
    """The first nodes as a `Tree`."""
    by_node = {name: array[:n_nodes].copy() for name, array in nodes._asdict().items()}
    first, children = by_node["first_branch"], nodes.branch_child[:n_branches].copy()
    leaf, inner = first < 0, np.flatnonzero(first >= 0)
    left = np.full(n_nodes, LEAF, np.int32)
    right = left.copy()
    left[inner] = children[first[inner]]
    right[inner] = children[first[inner] + by_node["n_branches"][inner] - 1]
    arrays = {
        "children_left": left, "children_right": right, "feature": by_node["feature"],
        "threshold": np.where(leaf, float(UNDEFINED), np.nan),
        "missing_go_to_left": np.zeros(n_nodes, np.uint8), "impurity": by_node["impurity"],
        "n_node_samples": by_node["rows"],
        "weighted_n_node_samples": by_node["rows"].astype(np.float64),
        "value": by_node["value"][:, np.newaxis], "depth": by_node["depth"],
        "first_branch": first, "n_branches": by_node["n_branches"],
        "branch_code": nodes.branch_code[:n_branches].copy(), "branch_child": children,
    }  # fmt: skip
    return Tree(arrays, n_categories)
