"""Growing a classification tree on categories alone."""

from math import ceil
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import category_growth_loops
from .inputs import Settings, Targets, x_log_x_table
from .structure import Tree
from .tree_loops import ENTROPY

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
        and not settings.max_leaf_nodes
        and settings.max_features >= X.shape[1]
        and targets.n_classes[0] <= MOST_CLASSES
        and (int(n_categories.max()) + 1) * targets.n_classes[0] <= MOST_CELLS
    )


def grow(X: Any, n_categories: NDArray[np.int64], targets: Targets, settings: Settings) -> Tree:
    """Grow the tree of the places of categories X (n, d), NaN where one is missing."""
    n, K, classes = X.shape[0], targets.n_classes[0], targets.classes
    assert classes is not None
    settings = settings._replace(
        n_classes=K,
        min_split=max(settings.min_split, ceil(2 * settings.min_weight)),
        min_leaf=max(settings.min_leaf, ceil(settings.min_weight)),
    )
    table = _table(X, n_categories, np.ascontiguousarray(classes[:, 0]), K, settings)
    integers = [np.empty(2 * n, np.int32) for _ in range(5)]
    nodes = category_growth_loops.Nodes._make([*integers, np.empty(2 * n), np.empty((2 * n, K))])
    work = _work(table.first, n, K)
    work.stack[0] = 0, n, 0, -1, 0, *np.bincount(classes[:, 0], minlength=K)
    waiting, n_nodes = 1, 0
    while waiting:
        waiting, n_nodes = category_growth_loops.grow(
            table, settings, nodes, work, waiting, n_nodes, CELLS_A_CALL
        )
    grown = {name: array[:n_nodes].copy() for name, array in nodes._asdict().items()}
    rows, value = grown.pop("rows"), grown.pop("value")
    return Tree.build(
        **grown, threshold=np.nan, missing_left=0, n_samples=rows,
        weight=rows.astype(np.float64), value=value[:, np.newaxis], n_categories=n_categories,
    )  # fmt: skip


def _table(X: Any, n_categories: Any, classes: Any, K: int, settings: Settings) -> Any:
    n, d = X.shape
    size = (int(n_categories.max()) + 1) * K
    cell = np.dtype(np.uint8 if size <= 256 else np.uint16)
    words = np.zeros((n, -(-d * cell.itemsize // 8)), np.uint64)
    cells, has_missing = words.view(cell), np.zeros(d, np.int64)
    category_growth_loops.write_cells(
        np.ascontiguousarray(X), classes, n_categories, K, cells, has_missing
    )
    n_categories = n_categories + has_missing
    return category_growth_loops.Cells(
        cells, words, np.empty_like(words), n_categories,
        np.concatenate([[0], np.cumsum(n_categories * K)]),
        np.arange(size, dtype=np.int64) // K,
        x_log_x_table(n if settings.kind == ENTROPY else 0),
    )  # fmt: skip


def _work(first: NDArray[np.int64], n: int, K: int) -> Any:
    most_waiting = min(n, int(first[-1]) // K) + 1  # a path asks each column once
    return category_growth_loops.Work(
        np.empty(first[-1], np.int32), np.empty(first[-1] // K),
        np.empty(int(np.diff(first).max()) // K, np.int64),
        np.empty((most_waiting, 5 + K), np.int64),
    )  # fmt: skip
