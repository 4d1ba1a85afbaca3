"""Gradient boosting: the loss of every round, and leaves that are the steps their rows ask for.

Rows are sent down the published trees again, round by round, and the derivatives taken at the
predictions so far. Of scikit-learn's models, whose trees are private, the rounds are read from
`staged_decision_function` and `staged_predict`. Rows held out for early stopping are left out of
the leaves' sums; X must be that of the fit, in its order.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .boosting_losses import best_constant, derivatives, is_quantile, losses
from .claims import Certificate, Claim, total_weight, weights_in_range
from .closed_form import class_codes
from .forest import checked_rows
from .input_checks import check_fitted
from .tree import class_weights, output_of
from .tree_routing import MOST_BITS, Floats, as_matrix, ends_by_masks

ROWS_CHECKED = (2_000_000, 20_000_000)  # sent down trees of all rounds, by effort
SOME_ROWS = 2_000  # that are sent down all trees where not all rounds are checked
ROUNDING = 1e-8  # of sums of as many terms as there are rows
TINY = 1e-15  # that the fit adds to H
LEAST_SIZE = 1e-6  # of leaves, in shares of the scores: where all g are rounding, so are steps


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Recompute every round from the data and the published trees."""
    check_fitted(model, "n_trees_per_iteration_")
    weight = weights_in_range(weight)  # as our fits do
    targets = _targets(model, y)
    weight = weight * class_weights(model, y)
    ours = hasattr(model, "trees_")
    learned = np.flatnonzero(weight > 0)
    if ours:
        learned = np.setdiff1d(learned, model.validation_rows_)
    rows = Rows(targets, weight, learned)
    rounds, K = int(model.n_iter_), int(model.n_trees_per_iteration_)
    most = max(1, ROWS_CHECKED[effort > 0] // max(K * X.shape[0], 1))
    claims = Published(model, X, rows, most).claims() if ours else _observed(model, X, rows)
    claims += _error_claims(model, X, y, weight)
    problem = f"the sum of {rounds * K:,} trees: descent on {model.loss} in {rounds:,} rounds"
    if ours and most < rounds:
        problem += f", of which the first {most:,} were checked leaf by leaf"
        problem += "; a leaf changed in a later one "
        problem += "shows in the last loss" if _has_losses(model) else "does not show"
    data = f"the {len(learned):,} rows learned from and {X.shape[1]:,} columns given"
    return Certificate(
        type(model).__name__, problem, f"{data}, {total_weight(weight[learned])}", tuple(claims)
    )


class Rows:
    """Targets and weights of all rows given, and which of them the trees were grown on."""

    def __init__(self, y: Floats, weight: Floats, learned: NDArray[np.int64]) -> None:
        self.y, self.weight, self.learned = y, weight, learned

    def mean_loss(self, model: Any, raw: Floats, some: NDArray[np.int64]) -> float:
        """The weighted mean loss of some rows."""
        found = losses(model, self.y[some], raw[:, some])
        return float(np.average(found, weights=self.weight[some]))


class Published:
    """Our model: its trees are there to be read. Of its rounds at most so many are checked."""

    def __init__(self, model: Any, X: Any, rows: Rows, most: int) -> None:
        self.model, self.X, self.rows, self.trees = model, X, rows, model.trees_
        self.most = most
        self.matrix = as_matrix(model, X)
        self.left = np.asarray(self.trees.left, np.int64)
        self.columns = np.ascontiguousarray(self.matrix.T)
        inner = np.flatnonzero(self.left >= 0)
        if not (self.left[inner] > inner).all():
            raise ValueError("The nodes of this model are no trees: a child comes before its node.")
        self.n_leaves, self.n_steps, self.worst = 0, 0, 0.0
        self.losses: list[float] = []

    def claims(self) -> list[Claim]:
        """All that can be said of the rounds."""
        model, rows = self.model, self.rows
        start = np.asarray(model.baseline_, np.float64)
        raw = np.repeat(start[:, np.newaxis], len(rows.y), axis=1)
        self.losses.append(rows.mean_loss(model, raw, rows.learned))
        held = np.asarray(model.validation_rows_, np.int64)
        held_losses = [rows.mean_loss(model, raw, held)] if len(held) else []
        for first in range(0, len(self.trees), len(raw))[: self.most]:
            self._check_round(first, raw)
            self.losses.append(rows.mean_loss(model, raw, rows.learned))
            held_losses += [rows.mean_loss(model, raw, held)] if len(held) else []
        return [
            *self._start(start),
            self._leaves(),
            _descent(self.losses, "checked"),
            *self._scores(held_losses, held),
            self._predictions(raw),
        ]

    @cached_property
    def said(self) -> Floats:
        """Raw predictions (K, n) of all rows, as the model gives them."""
        return next(_raw_said(self.model, self.X, staged=False))

    def _predictions(self, raw: Floats) -> Claim:
        """That the model predicts what its trees add up to, of some rows if not of all rounds."""
        said, K = self.said, len(raw)
        if len(self.trees) > self.most * K:
            some = checked_rows(self.X.shape[0], SOME_ROWS)
            said, raw = said[:, some], raw[:, some]
            part = Published(self.model, self.X[some], self.rows, 0)
            for t in range(self.most * K, len(self.trees)):
                raw[t % K] += np.asarray(self.trees.value, np.float64)[part.leaf_of_rows(t)]
        gap = float(np.abs(said - raw).max())
        bound = ROUNDING * (1 + float(np.abs(raw).max()))
        statement = f"predictions are the sums over the published trees, to {gap:.1e}"
        return Claim("predictions", statement, gap, bound, gap <= bound, "checked")

    def _check_round(self, first: int, raw: Floats) -> None:
        """Compare the leaves of a round's trees with their rows, then add them to raw (K, n)."""
        share, rows = is_quantile(self.model), self.rows
        if share is None:
            g, h = derivatives(self.model, rows.y, raw)
        before = raw.copy()
        for k in range(len(raw)):
            leaf = self.leaf_of_rows(first + k)
            value = np.asarray(self.trees.value, np.float64)[leaf]
            if share is None:
                least = LEAST_SIZE * (1 + float(np.abs(before).max()))
                self._check_steps(leaf[rows.learned], g[k], h[k], least)
            else:
                self._check_quantiles(leaf[rows.learned], share, rows.y - before[k])
            raw[k] += value

    def _check_steps(self, leaf: NDArray[np.int64], g: Floats, h: Floats, least: float) -> None:
        """Whether leaves are -rate G / (H + l2) of their rows (m,), in shares of their sizes."""
        model, some = self.model, self.rows.learned
        w, n = self.rows.weight[some], len(self.trees.left)
        G, H = np.bincount(leaf, w * g[some], n), np.bincount(leaf, w * h[some], n)
        size = np.bincount(leaf, w * np.abs(g[some]), n)
        reached = np.flatnonzero(np.bincount(leaf, minlength=n))
        scale = model.learning_rate / (H[reached] + model.l2_regularization + TINY)
        step, size = -scale * G[reached], scale * size[reached]
        self._count(np.abs(np.asarray(self.trees.value)[reached] - step), np.maximum(size, least))

    def _check_quantiles(self, leaf: NDArray[np.int64], share: float, residual: Floats) -> None:
        """Whether leaves are rate times a quantile of their rows' residuals."""
        w, residual = self.rows.weight[self.rows.learned], residual[self.rows.learned]
        for v in np.unique(leaf):
            mine, heavy = residual[leaf == v], w[leaf == v]
            value = float(self.trees.value[v]) / self.model.learning_rate
            room = ROUNDING * (1 + np.abs(mine).max())
            below, up_to = heavy[mine < value - room].sum(), heavy[mine <= value + room].sum()
            wanted = share * heavy.sum()
            excess = max(below - wanted, wanted - up_to, 0.0)
            self._count(np.array([excess]), np.array([heavy.sum()]))

    def _count(self, gap: Floats, size: Floats) -> None:
        relative = gap / np.maximum(size, TINY)
        self.n_leaves += len(gap)
        self.n_steps += int((relative <= ROUNDING).sum())
        self.worst = max(self.worst, float(relative.max(initial=0.0)))

    def leaf_of_rows(self, t: int) -> NDArray[np.int64]:
        """The node of tree t that each row ends in."""
        root = int(self.trees.starts[t])
        n_nodes = (*self.trees.starts, len(self.left))[t + 1] - root
        if n_nodes < 2 * MOST_BITS:
            return ends_by_masks(root, self._branches, self._goes_left, len(self.matrix))
        end = np.full(len(self.matrix), root)
        for node in range(root, root + n_nodes):  # children come after their nodes
            rows = np.flatnonzero(end == node) if self.left[node] >= 0 else np.zeros(0, np.int64)
            if rows.size:
                end[rows] = self.left[node] + ~self._goes_left(node, rows)
        return end

    def _branches(self, node: int) -> tuple[int, int] | None:
        left = int(self.left[node])
        return None if left < 0 else (left, left + 1)

    def _goes_left(self, node: int, rows: Any = slice(None)) -> NDArray[np.bool_]:
        """Whether rows go left at a node."""
        trees = self.trees
        x = self.columns[trees.column[node]][rows]
        left = np.asarray(x <= trees.threshold[node])
        if trees.missing_left[node]:
            left |= np.isnan(x)
        if trees.level[node] < 0:  # a set of categories
            known = np.flatnonzero(x >= 0)
            place = x[known].astype(np.uint64)
            words = trees.sets[node, (place >> np.uint64(6)).astype(int)]
            left[known] = (words >> (place & np.uint64(63))) & np.uint64(1)
        return left

    def _leaves(self) -> Claim:
        kind = "the Newton steps" if is_quantile(self.model) is None else "the quantiles"
        statement = f"{self.n_steps:,} of {self.n_leaves:,} leaves are {kind} of their rows"
        if self.model.monotonic_cst is not None:  # there, bounds cut steps short
            bounded = f"{statement}; monotonic columns cut the others short"
            return Claim("leaves", bounded, self.n_steps, None, True, "observed")
        statement += f", up to {self.worst:.1e} of the sums of |g|"
        return Claim("leaves", statement, self.worst, ROUNDING, self.worst <= ROUNDING, "checked")

    def _start(self, start: Floats) -> list[Claim]:
        some, rows = self.rows.learned, self.rows
        best = best_constant(self.model, rows.y[some], rows.weight[some], len(start))
        if best is None or not np.isfinite(best).all():
            return []
        gap = float(np.abs(best - start).max())
        statement = f"the rounds begin {gap:.1e} from the constant of least loss"
        bound = ROUNDING * (1 + float(np.abs(best).max()))
        return [Claim("start", statement, gap, bound, gap <= bound, "checked")]

    def _scores(self, held_losses: list[float], held: NDArray[np.int64]) -> list[Claim]:
        """The losses that were published, beside those found again; the last one in any case."""
        model, rows = self.model, self.rows
        if not _has_losses(model):
            return []
        rounds = len(self.losses) - 1
        pairs = [(np.asarray(model.train_score_), self.losses, rows.learned)]
        if held_losses:
            pairs.append((np.asarray(model.validation_score_), held_losses, held))
        gap, bound, last = 0.0, 0.0, int(model.n_iter_)
        for said, found, some in pairs:
            if len(said) != last + 1:
                gap = np.inf
                break
            found = [*found, rows.mean_loss(model, self.said, some)]
            off = np.abs(np.append(said[: rounds + 1], said[last]) + found)
            gap = max(gap, float(np.where(np.isnan(off), np.inf, off).max()))
            bound = max(bound, ROUNDING * (1 + float(np.abs(found).max())))
        whole = "" if rounds == last else " and the last one"
        statement = f"the published losses of {rounds:,} rounds{whole} are right to {gap:.1e}"
        return [Claim("losses by round", statement, gap, bound, gap <= bound, "checked")]


def _has_losses(model: Any) -> bool:
    """Whether the loss of every round is published."""
    return model.scoring == "loss" and len(model.train_score_) > 0


def _targets(model: Any, y: NDArray[Any]) -> Floats:
    """Classes by their number, or numbers."""
    if not hasattr(model, "classes_"):
        return y.astype(np.float64)
    return class_codes(model.classes_, y).astype(np.float64)


def _descent(by_round: list[float], grade: Any) -> Claim:
    first, last = by_round[0], by_round[-1]
    rose = int((np.diff(by_round) > 0).sum())
    statement = (
        f"the mean loss went from {first:.6g} to {last:.6g} in {len(by_round) - 1:,} rounds, and "
        f"rose in {rose:,} of them"
    )
    holds = last <= first + ROUNDING * (1 + abs(first))
    return Claim("descent", statement, last, first, holds, grade)


def _raw_said(model: Any, X: Any, staged: bool) -> Iterator[Floats]:
    """Raw predictions (K, n) as a model gives them: after each round, or the last ones."""
    log_link = model.loss in ("poisson", "gamma")
    method = "decision_function" if hasattr(model, "classes_") else "predict"
    found = getattr(model, f"staged_{method}")(X) if staged else [output_of(model, X, method)]
    for scores in found:
        table = np.asarray(scores, np.float64).reshape(len(scores), -1).T
        yield np.log(table) if log_link else table


def _observed(model: Any, X: Any, rows: Rows) -> list[Claim]:
    """What scikit-learn's model says after each round."""
    stages = list(_raw_said(model, X, staged=True))
    some, K = rows.learned, int(model.n_trees_per_iteration_)
    y, weight, share = rows.y[some], rows.weight[some], is_quantile(model)
    best = best_constant(model, y, weight, K)
    if share is not None:
        best = np.quantile(y, [share], weights=weight, method="inverted_cdf")
    if best is not None and np.isfinite(best).all():  # the rounds begin there
        stages.insert(0, np.repeat(np.reshape(best, (-1, 1)), len(rows.y), axis=1))
    return [_descent([rows.mean_loss(model, raw, some) for raw in stages], "observed")]


def _error_claims(model: Any, X: Any, y: NDArray[Any], weight: Floats) -> list[Claim]:
    given = np.flatnonzero(weight > 0)
    said = output_of(model, X)[given]
    if hasattr(model, "classes_"):
        wrong = int((said != y[given]).sum())
        statement = f"{wrong:,} of {len(given):,} rows are predicted wrong"
        return [Claim("training error", statement, wrong, None, True, "checked")]
    error = float(np.average((said - y[given].astype(np.float64)) ** 2, weights=weight[given]))
    statement = f"the mean squared error on the rows given is {error:.6g}"
    return [Claim("training error", statement, error, None, True, "checked")]
