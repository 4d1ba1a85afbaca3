"""Splits weighed again: impurities, gains, and the best split of a node among all candidates.

Legend: S (m, q) the sums of rows: class weights of all outputs, or weight times target. A score is
a sum over branches that is to be large; the gain of a split is its score less that of its node.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Rules:
    """What a split had to keep to."""

    criterion: str
    min_rows: int
    min_weight: float
    missing: str  # "best", "majority" or "branch"
    nearest: float  # how far apart two values must be


@dataclass(frozen=True)
class Targets:
    """What the rows are to be predicted as."""

    classes: Ints | None  # (n, o)
    numbers: Floats | None  # (n, o)
    n_classes: tuple[int, ...]

    def sums(self, rows: Ints, weight: Floats) -> Floats:
        """What each row (m,) adds to the sums of its branch (m, q)."""
        w = weight[rows]
        if self.numbers is not None:
            return np.asarray(self.numbers[rows] * w[:, np.newaxis])
        assert self.classes is not None
        found = np.zeros((len(rows), sum(self.n_classes)))
        starts = np.cumsum([0, *self.n_classes[:-1]])
        for o, start in enumerate(starts):
            found[np.arange(len(rows)), start + self.classes[rows, o]] = w
        return found

    @property
    def n_outputs(self) -> int:
        return len(self.n_classes)


def scores(criterion: str, S: Floats, W: Floats) -> Floats:
    """The scores (m,) of branches with sums S (m, q) and weights W (m,); -inf without weight."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if criterion == "gini":
            found = (S * S).sum(axis=1) / W
        elif criterion in ("entropy", "log_loss"):
            found = xlogy(S, S).sum(axis=1)
        elif criterion == "poisson":
            found = np.where(
                (S > 0).all(axis=1), xlogy(S, S / W[:, np.newaxis]).sum(axis=1), -np.inf
            )
        else:
            found = (S * S).sum(axis=1) / W
    return np.where(W > 0, found, -np.inf)


def branch_scores(criterion: str, S: Floats, W: Floats, outputs: int) -> Floats:
    """The same, with the term of the entropy that has the weight alone."""
    found = scores(criterion, S, W)
    if criterion in ("entropy", "log_loss"):
        found = found - outputs * xlogy(W, W)
    return found


def distance_from_median(y: Floats, w: Floats) -> float:
    """The mean absolute distance of targets (m, o) from their medians."""
    centre = np.array([weighted_median(column, w) for column in y.T])
    return float((w[:, np.newaxis] * np.abs(y - centre)).sum() / w.sum() / y.shape[1])


def weighted_median(y: Floats, w: Floats) -> float:
    """The median; between two middle values, their mean."""
    order = np.argsort(y, kind="stable")
    below = np.cumsum(w[order])
    half = 0.5 * below[-1]
    place = int(np.searchsorted(below, half))
    if below[place] == half and place + 1 < len(y):
        return float(0.5 * (y[order[place]] + y[order[place + 1]]))
    return float(y[order[place]])


def best_score(
    X: Floats, rows: Ints, targets: Targets, weight: Floats, rules: Rules, n_categories: Any
) -> float:
    """The best score of any split that is allowed at a node of these rows; -inf if none is."""
    S, w = targets.sums(rows, weight), weight[rows]
    if targets.numbers is not None and rules.criterion != "poisson":
        centre = (S.sum(axis=0) / w.sum())[np.newaxis]
        S = S - w[:, np.newaxis] * centre  # the same for all splits, and more exact
    best, node = -np.inf, _Node(S, w, rules, targets.n_outputs)
    for j in range(X.shape[1]):
        values = X[rows, j]
        if n_categories[j]:
            found = _score_of_categories(values, S, w, rules, targets.n_outputs, n_categories[j])
        elif np.isnan(values).any():
            found = _score_of_thresholds(values, S, w, rules, targets.n_outputs)
        else:
            found = node.score_of_column(values)
        best = max(best, found)
    return best


class _Node:
    """The rows of a node, for columns without gaps: what `_score_of_thresholds` does, in less time.

    S (q, m) stands column by column, and sums are taken at the cuts alone.
    """

    def __init__(self, S: Floats, w: Floats, rules: Rules, outputs: int) -> None:
        self.rules, self.outputs, self.m = rules, outputs, len(w)
        self.S, self.w = np.ascontiguousarray(S.T), w
        self.total, self.W = S.sum(axis=0), float(w.sum())
        self.equal = bool((w == 1).all())
        self.signed = bool((S < 0).any())

    def score_of_column(self, values: Floats) -> float:
        """The best score of a threshold on one column."""
        order, least = np.argsort(values), max(self.rules.min_rows, 1)
        ordered = values[order]
        cut = np.flatnonzero(np.diff(ordered) > self.rules.nearest)  # the last row on the left
        cut = cut[(cut + 1 >= least) & (self.m - cut - 1 >= least)]
        A = (cut + 1).astype(np.float64) if self.equal else np.cumsum(self.w[order])[cut]
        if self.rules.min_weight > 0:
            heavy = (self.rules.min_weight <= A) & (self.rules.min_weight <= self.W - A)
            cut, A = cut[heavy], A[heavy]
        if not len(cut):
            return -np.inf
        left = np.array([np.cumsum(channel[order])[cut] for channel in self.S])
        right = self.total[:, np.newaxis] - left
        if not self.signed:
            np.maximum(right, 0.0, out=right)
        criterion = self.rules.criterion
        if criterion == "poisson":  # what rounding makes of a rate of zero is no part
            right[right <= self.m * np.finfo(float).eps * self.total[:, np.newaxis]] = 0.0
        elif criterion not in ("entropy", "log_loss") and (A > 0).all() and (A < self.W).all():
            found = (left * left).sum(axis=0) / A + (right * right).sum(axis=0) / (self.W - A)
            return float(found.max())
        found = branch_scores(criterion, left.T, A, self.outputs)
        found += branch_scores(criterion, right.T, self.W - A, self.outputs)
        return float(found.max())


def _score_of_categories(
    values: Floats, S: Floats, w: Floats, rules: Rules, outputs: int, n_categories: int
) -> float:
    codes = np.where(np.isnan(values), n_categories, values).astype(np.int64)
    kinds, place = np.unique(codes, return_inverse=True)
    counts, W = np.bincount(place), np.bincount(place, w).astype(np.float64)
    if len(kinds) < 2 or counts.min() < rules.min_rows or W.min() < rules.min_weight:
        return -np.inf
    sums = np.zeros((len(kinds), S.shape[1]))
    np.add.at(sums, place, S)
    return float(branch_scores(rules.criterion, sums, W, outputs).sum())


def _score_of_thresholds(values: Floats, S: Floats, w: Floats, rules: Rules, outputs: int) -> float:
    missing = np.isnan(values)
    order = np.argsort(values[~missing])
    known = np.flatnonzero(~missing)[order]
    if not len(known):
        return -np.inf
    gone, M = S[missing].sum(axis=0), float(w[missing].sum())
    n_gone = int(missing.sum())
    total, W = S.sum(axis=0), float(w.sum())
    left, L = np.cumsum(S[known], axis=0), np.cumsum(w[known])
    n_left = np.arange(1, len(known) + 1)
    sorted_values = values[known]
    is_cut = np.append(np.diff(sorted_values) > rules.nearest, n_gone > 0)
    best = -np.inf
    for missing_left in (False, True) if n_gone else (False,):
        own, extra, n_extra = gone, M, n_gone
        if rules.missing == "branch":
            too_few = n_gone and (n_gone < rules.min_rows or rules.min_weight > M)
            if missing_left or too_few:
                break
            total_, W_, side, n_total = total - own, W - extra, 0.0, len(known)
            a, A, n_a = left, L, n_left
            side = float(branch_scores(rules.criterion, own[np.newaxis], np.array([extra]),
                                       outputs)[0]) if n_gone else 0.0  # fmt: skip
        else:
            total_, W_, n_total, side = total, W, len(values), 0.0
            a = left + own if missing_left else left
            A = L + extra if missing_left else L
            n_a = n_left + n_extra if missing_left else n_left
        allowed = is_cut & (n_a >= rules.min_rows) & (n_total - n_a >= rules.min_rows)
        allowed &= (rules.min_weight <= A) & (rules.min_weight <= W_ - A) & (n_total > n_a)
        if rules.missing == "majority" and n_gone:
            more = 2 * L - (W - M)  # weight of known values on the left than on the right
            close = (np.abs(more) <= 1e-12 * W) & (more != 0)  # either side may be the heavier one
            allowed &= ((more > 0) == missing_left) & ~close
        if allowed.any():
            places = np.flatnonzero(allowed)
            right = np.maximum(total_ - a[places], 0.0) if (S >= 0).all() else total_ - a[places]
            if rules.criterion == "poisson":  # what rounding makes of a rate of zero is no part
                right[right <= len(values) * np.finfo(float).eps * total_] = 0.0
            found = branch_scores(rules.criterion, a[places], A[places], outputs)
            found = found + branch_scores(rules.criterion, right, W_ - A[places], outputs) + side
            best = max(best, float(found.max()))
    return best


def chosen_score(
    children: list[Ints], rows: Ints, targets: Targets, weight: Floats, rules: Rules
) -> tuple[float, float]:
    """The score of a split into children, and that of its node."""
    S, w = targets.sums(rows, weight), weight[rows]
    if targets.numbers is not None and rules.criterion != "poisson":
        centre = (S.sum(axis=0) / w.sum())[np.newaxis]
    else:
        centre = np.zeros((1, S.shape[1]))

    def of(some: Ints) -> float:
        v = weight[some]
        sums = (targets.sums(some, weight) - v[:, np.newaxis] * centre).sum(axis=0)
        return float(
            branch_scores(
                rules.criterion, sums[np.newaxis], np.array([v.sum()]), targets.n_outputs
            )[0]
        )

    return sum(of(child) for child in children), of(rows)
