"""Trees read from their published arrays: rows sent down again, by NumPy alone."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .input_checks import check_columns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CELLS_AT_ONCE = 4_000_000  # of sparse rows that are made dense
MOST_BITS = 64
ROWS_AT_ONCE = 4_096  # that go down a tree together, so that they stay in the cache


class PublishedTree:
    """The nodes of a tree, ours or scikit-learn's."""

    def __init__(self, model: Any) -> None:
        tree = model.tree_
        self.left = np.asarray(tree.children_left, np.int64)
        self.right = np.asarray(tree.children_right, np.int64)
        self.feature = np.asarray(tree.feature, np.int64)
        self.threshold = np.asarray(tree.threshold, np.float64)
        self.missing_left = np.asarray(tree.missing_go_to_left, bool)
        self.impurity = np.asarray(tree.impurity, np.float64)
        self.n_rows = np.asarray(tree.n_node_samples, np.int64)
        self.weight = np.asarray(tree.weighted_n_node_samples, np.float64)
        self.value = np.asarray(tree.value, np.float64)
        self.n_categories = np.asarray(
            getattr(tree, "n_categories", np.zeros(model.n_features_in_)), np.int64
        )
        self.first_branch = np.asarray(getattr(tree, "first_branch", []), np.int64)
        self.tree = tree
        self._check_nodes()

    def _check_nodes(self) -> None:
        """Refuse nodes that are no tree: rows could go round in circles."""
        parents, children = self._edges()
        wrong = (children <= parents) | (children >= len(self))
        twice = np.bincount(children[~wrong], minlength=len(self)) > 1
        wrong[~wrong] = twice[children[~wrong]]
        for place in np.flatnonzero(wrong)[:1]:
            raise ValueError(
                f"The nodes of this model are no tree: node {parents[place]} has the child "
                f"{children[place]}, which comes before it, is another's child, or does not exist."
            )

    def _edges(self) -> tuple[Ints, Ints]:
        """Parent and child of each branch."""
        two = self.left >= 0
        many = np.flatnonzero(self.first_branch >= 0)
        two[many] = False
        inner = np.flatnonzero(two)
        others = [(node, child) for node in many.tolist() for _, child in self.branches(node)]
        pairs = np.column_stack([np.repeat(inner, 2), np.c_[self.left, self.right][inner].ravel()])
        parents, children = np.concatenate([pairs, np.array(others, np.int64).reshape(-1, 2)]).T
        return parents, children

    @property
    def inner(self) -> Ints:
        """The nodes that have branches."""
        is_inner = self.left >= 0
        is_inner[np.flatnonzero(self.first_branch >= 0)] = True
        return np.flatnonzero(is_inner)

    def branches(self, node: int) -> list[tuple[int, int]]:
        """The branches of a node: code and child; none of a leaf."""
        if len(self.first_branch) and self.first_branch[node] >= 0:
            first = int(self.first_branch[node])
            some = slice(first, first + int(self.tree.n_branches[node]))
            codes, children = self.tree.branch_code[some], self.tree.branch_child[some]
            return list(zip(np.asarray(codes).tolist(), children.tolist(), strict=True))
        if self.left[node] < 0:
            return []
        return [(0, int(self.left[node])), (1, int(self.right[node]))]

    def __len__(self) -> int:
        return len(self.left)

    def children(self, node: int) -> list[int]:
        """The children of a node; none of a leaf."""
        return [child for _, child in self.branches(node)]

    @cached_property
    def parent(self) -> Ints:
        """The parent of each node, -1 of the root."""
        parents, children = self._edges()
        parent = np.full(len(self), -1, np.int64)
        parent[children] = parents
        return parent

    @cached_property
    def depth(self) -> Ints:
        """How many nodes are above each node."""
        above, depth = self.parent.copy(), (self.parent >= 0).astype(np.int64)
        while (going := np.flatnonzero(above >= 0)).size:  # twice as far each time
            depth[going] += depth[above[going]]
            above[going] = above[above[going]]
        return depth

    @cached_property
    def levels(self) -> list[Ints]:
        """The nodes of each depth, those of the root's children first."""
        order = np.argsort(self.depth, kind="stable")
        ends = np.cumsum(np.bincount(self.depth))
        return np.split(order, ends[:-1])[1:]

    def totals(self, own: NDArray[Any]) -> NDArray[Any]:
        """What nodes (m, ...) have themselves and all nodes below them, added up."""
        total = own.copy()
        for nodes in reversed(self.levels):
            np.add.at(total, self.parent[nodes], total[nodes])
        return total

    def rows_by_node(self, X: Floats, wanted: set[int] | None = None) -> dict[int, Ints]:
        """The rows of X that pass through each node, or through some and their children."""
        found: dict[int, Ints] = {}
        waiting = [(0, np.arange(len(X)))]
        while waiting:
            node, rows = waiting.pop()
            found[node] = rows
            if not len(rows) or (wanted is not None and node not in wanted):
                continue
            branches = self.branches(node)
            if branches:
                codes = self.codes(X[rows, self.feature[node]], node)
                waiting += [(child, rows[codes == code]) for code, child in branches]
        return found

    def ends(self, X: Floats) -> Ints:
        """The node (n,) where each row of X stops."""
        end = np.zeros(len(X), np.int64)
        if (self.first_branch >= 0).any():
            for node, through in sorted(self.rows_by_node(X).items()):
                end[through] = node  # children come after their parents
            return end
        child = np.column_stack([self.left, self.right]).ravel()
        for first in range(0, len(X), ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            end[some] = self._ends_of_block(np.ascontiguousarray(X[some]), child)
        return end

    def _ends_of_block(self, X: Floats, child: Ints) -> Ints:
        """The same for few rows; `child` (2 m,) has the two children of each node."""
        end, rows, at = np.zeros(len(X), np.int64), np.arange(len(X)), np.zeros(len(X), np.int64)
        values = X.ravel()
        while (going := np.flatnonzero(self.left.take(at) >= 0)).size:
            rows, at = rows.take(going), at.take(going)
            x = values.take(rows * X.shape[1] + self.feature.take(at))
            right = ~(x <= self.threshold.take(at))
            missing = np.flatnonzero(x != x)
            if missing.size:
                right[missing] = ~self.missing_left[at[missing]]
            at = child.take(2 * at + right)
            end[rows] = at
        return end

    def codes(self, values: Floats, node: int) -> Ints:
        """The branch (m,) that values take at a node: a category, or 0, 1 and 2 for NaN apart."""
        missing = np.isnan(values)
        categories = int(self.n_categories[self.feature[node]])
        if categories:
            return np.where(missing, categories, values).astype(np.int64)
        codes = np.where(values <= self.threshold[node], 0, 1)
        apart = any(code == 2 for code, _ in self.branches(node))
        return np.where(missing, 2 if apart else np.where(self.missing_left[node], 0, 1), codes)


def ends_by_masks(
    root: int, branches: Callable[[int], tuple[int, int] | None],
    goes_left: Callable[[int], NDArray[np.bool_]], n: int,
) -> Ints:  # fmt: skip
    """The leaf (n,) of a tree of at most MOST_BITS leaves where each row stops.

    Leaves are bits, numbered from the left. A row that goes right at a node loses the leaves on
    its left, and stops at the first one that remains (Lucchese and others, 2015, QuickScorer).
    """
    leaves: list[int] = []
    remaining = np.full(n, ~np.uint64(0))

    def visit(node: int) -> None:
        children = branches(node)
        if children is None:
            leaves.append(node)
            return
        first = len(leaves)
        visit(children[0])
        on_left = np.uint64((1 << len(leaves)) - (1 << first))
        np.bitwise_and(remaining, ~(on_left * ~goes_left(node)), out=remaining)
        visit(children[1])

    visit(root)
    lowest = np.bitwise_count((remaining & (~remaining + np.uint64(1))) - np.uint64(1))
    return np.array(leaves, np.int64).take(lowest)


def matrix_blocks(model: Any, X: Any) -> Iterator[tuple[int, Floats]]:
    """The rows of `as_matrix` with where they begin: at once, or of sparse X some at a time."""
    step = max(1, CELLS_AT_ONCE // X.shape[1]) if sp.issparse(X) else X.shape[0]
    for first in range(0, X.shape[0], step):
        yield first, as_matrix(model, X[first : first + step])


def some_rows(matrix: Any, rows: Ints) -> Any:
    """The rows (r,), in their order, of a matrix; itself if they are all."""
    return matrix if len(rows) == matrix.shape[0] else matrix[rows]


def as_matrix(model: Any, X: Any) -> Floats:
    """X (n, d) as the model reads it: categories by their place, scikit-learn's in float32."""
    check_columns(model, X)
    dense = X.toarray() if sp.issparse(X) else X
    ours = type(model).__module__.startswith("rosenblatt.")
    known = getattr(model, "categories_", None)
    if known is None or all(values is None for values in known):
        numbers = np.asarray(dense, np.float64)
        return numbers if ours else numbers.astype(np.float32).astype(np.float64)
    matrix = np.empty(dense.shape)
    for j, values in enumerate(known):
        if values is None:
            matrix[:, j] = [np.nan if v is None else v for v in dense[:, j]]
            continue
        places = {value: place for place, value in enumerate(np.asarray(values).tolist())}
        column = np.asarray(dense[:, j], object)
        matrix[:, j] = [
            np.nan if value is None or value != value else places.get(_plain(value), -1)
            for value in column
        ]
    return matrix


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
