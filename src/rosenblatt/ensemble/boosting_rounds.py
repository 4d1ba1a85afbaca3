"""The rounds of gradient boosting: what a fit holds between one tree and the next."""

from copy import copy
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import train_test_split
from sklearn.utils import resample

from rosenblatt.base import warn
from rosenblatt.runtime import threads

from . import boosted_growth_loops, boosting_bins
from .boosted_growth import BoostedGrowth, BoostedSettings, Nodes
from .boosted_trees import BoostedTrees
from .boosting_losses import BINARY, MANY_OUTPUTS, Loss

Floats = NDArray[np.float64]
ROWS_SCORED = 10_000
TREES_A_THREAD = 2  # of a round with more than these, each thread grows its own
NO_WEIGHT = np.empty(0)


class Rows:
    """Some rows of a fit: their matrix, targets, weights, codes and raw predictions."""

    def __init__(
        self, X: Floats, y: Floats, weight: Floats | None, places: NDArray[np.int64] | None = None
    ) -> None:
        self.X, self.y = X, y
        self.places = np.arange(len(y)) if places is None else places  # among those of the fit
        self.weight = NO_WEIGHT if weight is None else weight
        self.codes: NDArray[np.uint64]
        self.raw: Floats

    def taken(self, places: Any) -> "Rows":
        """The rows at some places."""
        weight = self.weight[places] if len(self.weight) else None
        return Rows(self.X[places], self.y[places], weight, self.places[places])

    def begin(self, cuts: Floats, baseline: Floats, trees: BoostedTrees | None) -> None:
        """Code the rows and predict them."""
        self.codes = boosting_bins.code(self.X, cuts)
        self.raw = np.repeat(baseline[:, np.newaxis], len(self.y), axis=1)
        if trees is not None:
            trees.add_coded(self.codes, self.raw)


def held_out(rows: Rows, size: Any, stratified: bool, seed: int) -> tuple[Rows, Rows]:
    """Rows to learn from, and rows to stop by."""
    kept, held = train_test_split(
        np.arange(len(rows.y)),
        test_size=size,
        stratify=rows.y if stratified else None,
        random_state=seed,
    )
    return rows.taken(kept), rows.taken(held)


class Rounds:
    """Trees that grow one after the other on the same rows, each on the derivatives at the last."""

    def __init__(
        self,
        model: Any,
        loss: Loss,
        rows: Rows,
        columns: NDArray[np.int64],
        groups: NDArray[np.uint8],
    ) -> None:
        self.loss, self.rows, self.K = loss, rows, loss.n_outputs
        settings = BoostedSettings(
            model.max_leaf_nodes,
            model.max_depth,
            min(model.min_samples_leaf, len(rows.y)),
            float(model.l2_regularization),
            float(model.max_features),
            float(model.learning_rate),
            loss.leaf_share is None,
            loss.number,
        )
        self._make = partial(BoostedGrowth, rows.codes, model._cuts, columns, groups, settings)
        self.growths = [self._make()]  # memory of those that do not grow a tree now
        self.loss.derive(rows.raw, rows.y, rows.weight)
        self.first_loss = self.mean_loss()

    def warn_if_diverged(self) -> None:
        """Warn if the log loss has more than doubled: steps of nearly certain rows have no end."""
        last = self.mean_loss()
        if self.loss.number in (BINARY, MANY_OUTPUTS) and last > 2 * self.first_loss + 1e-3:
            warn(
                f"Boosting diverged: the training loss rose from {self.first_loss:.3g} to "
                f"{last:.3g}. Lower learning_rate, or raise l2_regularization.",
                ConvergenceWarning,
            )

    def mean_loss(self) -> float:
        """The loss of the rows as they are predicted now."""
        weight = self.rows.weight
        return self.loss.total / (float(weight.sum()) if len(weight) else len(self.rows.y))

    def grow(self, number: int, seed: int) -> BoostedTrees:
        """Grow the trees of a round, `number` of them before; add them to the predictions."""
        cells = self.K * self.rows.codes.size * 8
        together = TREES_A_THREAD * threads.count() < self.K
        chunks = (
            threads.over_chunks(partial(self._grow, number, seed), self.K, cells)
            if together
            else [self._grow(number, seed, 0, self.K)]
        )
        if self.loss.leaf_share is None and self.K == 1:
            self.loss.set_totals(self.growths[0].totals)
        else:
            self.loss.derive(self.rows.raw, self.rows.y, self.rows.weight)
        return self.growths[0].trees(list(chain(*chunks)))

    def _grow(self, number: int, seed: int, first: int, last: int) -> list[Nodes]:
        """Grow the trees of outputs first to last."""
        loss, rows, grown = self.loss, self.rows, []
        growth = self.growths.pop() if self.growths else self._make()
        for k in range(first, last):
            derivatives = loss.of_output(k, rows.y, rows.weight, growth.scratch)
            n_nodes = growth.grow(
                derivatives, number + k, seed + number + k, rows.raw[k], rows.y, rows.weight
            )
            if loss.leaf_share is not None:
                self._fit_leaves(growth, n_nodes)
            growth.send_missing(n_nodes, rows.weight)
            grown.append(growth.nodes(n_nodes))
        self.growths.append(growth)
        return grown

    def _fit_leaves(self, growth: BoostedGrowth, n_nodes: int) -> None:
        """Leaves that are quantiles of their rows' residuals: the loss has no curvature."""
        rows, loss = self.rows, self.loss
        residual = rows.y - rows.raw[0]

        def step(v: int) -> float:
            places = growth.rows_of(v)
            weight = rows.weight[places] if len(rows.weight) else NO_WEIGHT
            return float(loss.quantile_of(residual[places], weight))  # type: ignore[attr-defined]

        bounds = growth.bounds(n_nodes, step)
        for leaf in growth.leaves(n_nodes):
            value = growth.settings.learning_rate * np.clip(step(leaf), *bounds[leaf])
            growth.number[leaf, boosted_growth_loops.VALUE] = value
            rows.raw[0, growth.rows_of(leaf)] += value


class Scores:
    """Training and validation scores, one a round, and whether they still improve."""

    def __init__(self, model: Any, rounds: Rounds, held: Rows | None, seed: int) -> None:
        self.model, self.rounds, self.held = model, rounds, held
        self.train: list[float] = []
        self.validation: list[float] = []
        if model.scoring == "loss":
            return
        self.scorer = check_scoring(model, model.scoring)
        self.from_raw = model.scoring in get_scorer_names()
        n, rows = len(rounds.rows.y), rounds.rows
        self.places: Any = np.arange(n)
        if n > ROWS_SCORED:
            self.places = resample(
                self.places, n_samples=ROWS_SCORED, replace=False, random_state=seed,
                stratify=rows.y if is_classifier(model) else None,
            )  # fmt: skip
        self.few = rows.taken(self.places)

    def take(self, fitted: Any) -> None:
        """Score the model as it is now; `fitted` is a function that gives it."""
        if self.model.scoring == "loss":
            self.train.append(-self.rounds.mean_loss())
            if self.held is not None:
                held = self.held
                self.validation.append(-self.rounds.loss.mean(held.raw, held.y, held.weight))
            return
        self.few.raw = self.rounds.rows.raw[:, self.places]
        self.train.append(self._score(self.few, fitted))
        if self.held is not None:
            self.validation.append(self._score(self.held, fitted))

    def _score(self, rows: Rows, fitted: Any) -> float:
        """The score of rows, by the raw predictions that are there if the scorer is a known one."""
        model = copy(self.model) if self.from_raw else fitted()
        if self.from_raw:
            model._raw_predict = lambda X: rows.raw
        y = model.classes_[rows.y.astype(np.intp)] if is_classifier(model) else rows.y
        weight = {"sample_weight": rows.weight} if len(rows.weight) else {}
        return float(self.scorer(model, rows.X, y, **weight))

    def stalled(self) -> bool:
        """Whether the last scores are no better than the one before them, up to `tol`."""
        scores = self.train if self.held is None else self.validation
        n = self.model.n_iter_no_change
        if len(scores) < n + 1:
            return False
        return bool(max(scores[-n:]) <= scores[-n - 1] + self.model.tol)
