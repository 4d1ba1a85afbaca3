"""How far a tree is from the best one of its depth: a search of all trees, in whole numbers.

For two columns, the sums over all rectangles from the lowest corner give the leaves of every tree
whose root asks for one and whose stumps ask for the other. Depth three is searched by spans of root
thresholds: the rows on the left of the least and on the right of the largest threshold of a span
stay where they are whatever the root between them, and lose at least what they lose alone.

Legend: S (channels, ...) sums over rows: of two classes the signed weight, so that a leaf scores
|S|; of more the weights of the classes, and a leaf scores the largest. A loss is the weight less
the scores of the leaves. Weights are rounded down to whole multiples of a power of two, which can
only lower a loss; sums of them are exact in doubles.
"""

import heapq
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Claim
from .tree_routing import Floats, Ints, PublishedTree

MOST_THRESHOLDS = 248  # of a column, beside those of the tree
CELLS = 100_000_000  # of rectangles and rows, at effort 1
CELLS_OF_A_CALL = 10_000  # what NumPy takes for a call on next to nothing
EXACT, EXACT_IN_SINGLE = 2.0**52, 2.0**24  # sums of whole numbers below these are
DEPTHS = {1: "one", 2: "two", 3: "three"}


@dataclass(frozen=True)
class Optimum:
    """The least weight of mistakes of any tree of a depth, or what is known of it."""

    lower: float
    upper: float  # of a tree that was found
    n_thresholds: int
    rounding: float  # of weights that are no whole numbers

    @property
    def searched(self) -> bool:
        """Whether the search came to its end."""
        return self.lower >= self.upper - self.rounding


def best_tree_claims(
    model: Any, tree: PublishedTree, matrix: Floats, classes: Ints, weight: Floats,
    wrong: NDArray[np.bool_], least: float, effort: int,
) -> list[Claim]:  # fmt: skip
    """How many mistakes every tree of this depth makes; of a searched tree, that it is the best.

    `wrong` (n,) marks the mistakes of this one, `least` is the weight that any model gets wrong.
    """
    made = math.fsum(weight[wrong])
    depth = depth_of(model, tree)
    if depth not in DEPTHS or not is_searchable(tree, matrix):
        return []
    optimum = search(matrix, classes, weight, tree, depth, made, least, CELLS * effort)
    whole = optimum.rounding == 0.0
    fewer = "fewer mistakes" if (weight == 1).all() else "mistakes of less weight"
    statement = (
        f"no tree of depth {DEPTHS[depth]} on {optimum.n_thresholds:,} thresholds makes {fewer} "
        f"than {optimum.lower:.10g}; this one makes {made:.10g}"
    )
    if not optimum.searched:
        statement += "; more effort may raise the bound"
    gap = max(made - optimum.lower, 0.0)
    grade: Any = "proved" if whole else "checked"
    if getattr(model, "search", "greedy") != "optimal":
        return [Claim("best tree", statement, gap, None, True, grade)]
    claimed = float(model.lower_bound_)
    finished = model.stop_reason_ == "converged"
    tested = finished and optimum.searched
    over = max(claimed - optimum.upper, made - claimed if finished else 0.0, 0.0)
    bound = f"the published bound, {claimed:.10g}, is above no tree found"
    bound += " and is reached" if finished else ""
    if not over <= optimum.rounding:
        bound = f"the published bound, {claimed:.10g}, is off by {over:.6g}"
    return [
        Claim(
            "best tree", statement, gap, optimum.rounding if tested else None,
            not tested or gap <= optimum.rounding, grade,
        ),
        Claim("published bound", bound, over, optimum.rounding, over <= optimum.rounding, grade),
    ]  # fmt: skip


def is_searchable(tree: PublishedTree, matrix: Floats) -> bool:
    """Whether the columns are those of a search: numbers, none missing."""
    return not (tree.n_categories.any() or np.isnan(matrix).any())


def depth_of(model: Any, tree: PublishedTree) -> int:
    """The depth that a tree was allowed, or has."""
    allowed = model.max_depth
    deepest = int(tree.depth.max())
    return deepest if allowed is None else max(int(allowed), deepest)


def search(
    matrix: Floats, classes: Ints, weight: Floats, tree: PublishedTree, depth: int, made: float,
    least: float, cells: float,
) -> Optimum:  # fmt: skip
    """The fewest mistakes of a tree of this depth, in as many cells as may be looked at."""
    places = [
        levels(matrix[:, j], tree.threshold[tree.feature == j]) for j in range(matrix.shape[1])
    ]
    n_thresholds = sum(int(place.max()) for place in places)
    whole = bool((weight == np.floor(weight)).all()) and weight.sum() < EXACT
    scale = 1.0 if whole else 2.0 ** math.floor(math.log2(EXACT / weight.sum()))
    two, small = bool(classes.max() <= 1), np.floor(weight * scale)
    sums = np.zeros((1 if two else int(classes.max()) + 1, len(classes)))
    sums[0 if two else classes, np.arange(len(classes))] = np.where(
        two & (classes == 1), -small, small
    )
    unit = scale * (2 if two else 1)
    trees = Trees(np.array(places), sums, small, cells)
    rows = np.arange(len(classes))
    known = float(math.ceil(made * unit))
    lower, upper = trees.deep(rows, known) if depth == 3 else trees.whole(rows, depth, known)
    rounding = 0.0 if whole else len(classes) / scale
    return Optimum(max(lower / unit, least), upper / unit, n_thresholds, rounding)


def levels(column: Floats, own: Floats) -> Ints:
    """The level (n,) of each row: thresholds below it, at most 248 and the tree's own."""
    values, place = np.unique(column, return_inverse=True)
    cut = np.arange(len(values) - 1)
    if len(cut) > MOST_THRESHOLDS:  # in equal steps
        cut = np.arange(1, MOST_THRESHOLDS + 1) * len(cut) // (MOST_THRESHOLDS + 1)
    above = np.searchsorted(values, own, side="right")
    cut = np.union1d(cut, above[(above > 0) & (above < len(values))] - 1)
    return np.searchsorted(cut, place).astype(np.int64)


class Trees:
    """All trees on levels (d, n) of rows with sums (channels, n) and weights (n,)."""

    def __init__(self, codes: Ints, sums: Floats, weight: Floats, cells: float) -> None:
        self.codes, self.sums, self.weight = codes, sums, weight
        self.cells = cells  # that may still be looked at
        self.dtype = np.float32 if weight.sum() < EXACT_IN_SINGLE else np.float64

    def whole(self, rows: Ints, depth: int, upper: float) -> tuple[float, float]:
        """The least loss at depth one or two, twice; zero and `upper` if it takes too long."""
        if not self._affordable(rows):
            return 0.0, upper
        loss = self._stump(rows) if depth == 1 else self._two_levels(rows)
        return loss, loss

    def deep(self, rows: Ints, upper: float) -> tuple[float, float]:
        """A bound below every loss at depth three, and the least that was found."""
        ends = [(j, int(code.max())) for j, code in enumerate(self.codes)]
        spans = [(0.0, j, -1, end, 0.0, 0.0) for j, end in ends if end > 0]
        if not spans:  # nothing to split by: one leaf, which need not be that of the tree
            return self.whole(rows, 1, upper)
        while spans:
            lower, j, low, high, on_left, on_right = heapq.heappop(spans)
            middle = (low + high) // 2
            goes_left = self.codes[j, rows] <= middle
            sides = rows[goes_left], rows[~goes_left]
            if lower >= upper or not self._affordable(*sides):
                return min(lower, upper), upper
            left, right = (self._two_levels(side) for side in sides)
            upper = min(upper, left + right)
            if middle - low > 1:
                heapq.heappush(spans, (on_left + right, j, low, middle, on_left, right))
            if high - middle > 1:
                heapq.heappush(spans, (left + on_right, j, middle, high, left, on_right))
        return upper, upper

    def _affordable(self, *parts: Ints) -> bool:
        """Whether searches of these rows may be paid for; then they are."""
        price = 0.0
        for rows in parts:
            n_levels = np.minimum(self.codes.max(axis=1) + 1, len(rows)).astype(np.float64)
            pairs = (n_levels.sum() ** 2 + (n_levels**2).sum()) / 2
            d = len(n_levels)
            price += pairs * len(self.sums) + d * d / 2 * (len(rows) + CELLS_OF_A_CALL)
        self.cells -= price
        return self.cells >= 0

    def _stump(self, rows: Ints) -> float:
        """The least loss of a stump."""
        best = score(self.sums[:, rows].sum(axis=1, keepdims=True)).max()
        for code in self.codes[:, rows]:
            below = np.array([np.bincount(code, s) for s in self.sums[:, rows]]).cumsum(axis=1)
            best = max(best, (score(below) + score(below[:, -1:] - below)).max())
        return float(self.weight[rows].sum() - best)

    def _two_levels(self, rows: Ints) -> float:
        """The least loss of a tree of depth two."""
        if not len(rows):
            return 0.0
        codes = [np.unique(code, return_inverse=True)[1] for code in self.codes[:, rows]]
        # The best scores of stumps on the left and on the right of each root.
        sides = [np.zeros((2, int(code.max()) + 1)) for code in codes]
        for i, first in enumerate(codes):
            for j, second in enumerate(codes[: i + 1]):
                low_low, low_high, high_low, high_high = self._corners(first, second, rows)
                left, right = low_low + low_high, high_low + high_high
                best = np.array([left.max(axis=1), right.max(axis=1)])
                np.maximum(sides[i], best, out=sides[i])
                left, right = low_low + high_low, low_high + high_high
                best = np.array([left.max(axis=0), right.max(axis=0)])
                np.maximum(sides[j], best, out=sides[j])
        return float(self.weight[rows].sum() - max(side.sum(axis=0).max() for side in sides))

    def _corners(self, first: Ints, second: Ints, rows: Ints) -> tuple[Floats, ...]:
        """The scores of the four leaves, for every pair of thresholds on two columns."""
        shape = int(first.max()) + 1, int(second.max()) + 1
        place = first * shape[1] + second
        cells = [np.bincount(place, s, minlength=shape[0] * shape[1]) for s in self.sums[:, rows]]
        low_low: NDArray[Any] = np.array(cells, self.dtype).reshape(-1, *shape)
        low_low.cumsum(axis=1, out=low_low).cumsum(axis=2, out=low_low)
        low, high_low = low_low[:, :, -1:], low_low[:, -1:] - low_low
        leaves = (low_low, low - low_low, high_low, low[:, -1:] - low - high_low)
        return tuple(score(leaf) for leaf in leaves)


def score(S: NDArray[Any]) -> Floats:
    """The weight of the majority in leaves; of two classes, less that of the minority."""
    return np.asarray(np.abs(S[0]) if len(S) == 1 else S.max(axis=0))
