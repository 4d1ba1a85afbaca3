"""Gradient boosting on histograms: descent on a loss, each step a tree."""

import itertools
from collections.abc import Callable, Iterator
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.callback import CallbackSupportMixin
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state, resample
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import (
    _check_categorical_features,
    _check_monotonic_cst,
    check_consistent_length,
    check_is_fitted,
)

from rosenblatt import checks
from rosenblatt.base import Passes, StopReason, fitting
from rosenblatt.explanation import Explanation, names_of_features, one_row, two_classes
from rosenblatt.mixed_tables import categorical_columns, checked_table, encode, learn_categories

from .boosted_growth import NO_WEIGHT, BoostingRows, Loss, Rounds
from .boosted_trees import BoostedTrees, code, find_cuts

Floats = NDArray[np.float64]
SEEDS = np.iinfo(np.uint32).max
ROWS_SCORED = 10_000
ROWS_TO_STOP_EARLY = 10_000


class Scores:
    """Training and validation scores, one a round, and whether they still improve."""

    def __init__(self, model: Any, rounds: Rounds, held: BoostingRows | None, seed: int) -> None:
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

    def _score(self, rows: BoostingRows, fitted: Any) -> float:
        """The score of rows; a scorer that is known by name takes their raw predictions."""
        model, X = (self.model, rows) if self.from_raw else (fitted(), rows.X)
        y = model.classes_[rows.y.astype(np.intp)] if is_classifier(model) else rows.y
        weight = {"sample_weight": rows.weight} if len(rows.weight) else {}
        return float(self.scorer(model, X, y, **weight))

    def stalled(self) -> bool:
        """Whether the last scores are no better than the one before them, up to `tol`."""
        scores = self.train if self.held is None else self.validation
        n = self.model.n_iter_no_change
        if len(scores) < n + 1:
            return False
        return bool(max(scores[-n:]) <= scores[-n - 1] + self.model.tol)


class HistGradientBoosting(CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Trees added one after the other; see `HistGradientBoostingClassifier` for the parameters.

    In each round g and h are the derivatives of the loss at the predictions so far. A tree is
    grown on them, and a leaf of sums G and H adds ``-learning_rate G / (H + l2)``: Newton's step
    for its rows.
    """

    n_features_in_: int
    n_trees_per_iteration_: int
    trees_: BoostedTrees
    baseline_: Floats
    categories_: list[NDArray[Any] | None]
    _targets: Callable[[Any, bool], Floats]
    _make_loss: Callable[[], Loss]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "max_features": [Interval(RealNotInt, 0, 1, closed="right")],
        "monotonic_cst": ["array-like", dict, None],
        "interaction_cst": [list, tuple, StrOptions({"pairwise", "no_interactions"}), None],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "validation_fraction": [
            Interval(RealNotInt, 0, 1, closed="neither"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "warm_start": ["boolean"],
        "early_stopping": [StrOptions({"auto"}), "boolean"],
        "scoring": [str, callable, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    @fitting
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:  # fmt: skip
        """Fit the gradient boosting model.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        X_val, y_val, sample_weight_val : array-like or None
            Validation rows for early stopping, instead of a part of X.
        """
        self._validate_params()
        goes_on = bool(self.warm_start and hasattr(self, "trees_"))
        before = getattr(self, "classes_", None) if goes_on else None
        rows = self._check_training(X, y, sample_weight)
        if before is not None:
            checks.warm_start("classes", before.tolist(), self.classes_.tolist())
        given = self._check_validation(X_val, y_val, sample_weight_val)
        loss = self._make_loss()
        self.n_trees_per_iteration_ = loss.n_outputs
        monotonic, groups = self._check_constraints()
        if goes_on and self.max_iter < self.n_iter_:
            raise ValueError(
                f"max_iter={self.max_iter} must be larger than or equal to "
                f"n_iter_={self.n_iter_} when warm_start==True"
            )
        rng = check_random_state(self.random_state)
        if not goes_on:
            self._seed = int(rng.randint(SEEDS, dtype=np.int64))
            self._column_seed = int(rng.randint(SEEDS, dtype=np.int64))
        kept, held = self._divide(rows, given)
        old = self.trees_ if goes_on else None
        if old is None:
            self._cuts, self._n_levels = find_cuts(
                kept.X, self._n_categories(), self.max_bins, kept.weight, self._seed
            )
            self.baseline_ = loss.baseline(kept.y, kept.weight)
        for part in (kept, held) if held else (kept,):
            part.begin(self._cuts, self.baseline_, old)
        columns = np.array([
            self._n_levels, np.isnan(kept.X).any(axis=0), self._n_categories() > 0, monotonic
        ], np.int64)  # fmt: skip
        rounds = Rounds(self, loss, kept, columns, groups)
        n_rounds = self.max_iter - (0 if old is None else len(old) // loss.n_outputs)
        self._descend(Passes(self, X, y, sample_weight, n_rounds), rounds, held, old)
        return self

    def _descend(
        self, passes: Passes, rounds: Rounds, held: BoostingRows | None, old: BoostedTrees | None
    ) -> None:
        """Add trees until there are enough, or scores no longer improve; publish them."""
        K = rounds.K
        parts = [] if old is None else [old]
        n_trees = 0 if old is None else len(old)
        scores = Scores(self, rounds, held, self._seed) if self.do_early_stopping_ else None

        def attributes() -> dict[str, Any]:
            return {
                "trees_": BoostedTrees.join(parts),
                "train_score_": np.array(scores.train if scores else []),
                "validation_score_": np.array(scores.validation if scores else []),
            }

        def fitted() -> Any:
            model = copy(self)
            model.__dict__.update(attributes())
            return model

        if scores is not None and old is None:
            scores.take(fitted)
        elif scores is not None:
            scores.train, scores.validation = list(self.train_score_), list(self.validation_score_)
        passes.attributes = attributes
        for _ in passes:
            new = rounds.grow(n_trees, self._column_seed)
            parts.append(new)
            n_trees += K
            if held is not None and scores is not None:
                new.add_coded(held.codes, held.raw)
            if scores is not None:
                scores.take(fitted)
                if scores.stalled():
                    passes.stop("early_stopping")
            if self.verbose:
                self._print(n_trees // K, new, scores)
        self.__dict__.update(attributes())
        self.stop_reason_: StopReason | None = passes.stop_reason
        rounds.warn_if_diverged()

    def _print(self, n_iter: int, new: BoostedTrees, scores: Scores | None) -> None:
        """One line for the person who waits."""
        line = f"[{n_iter}/{self.max_iter}] {int((new.left < 0).sum())} leaves"
        if scores is not None:
            line += f", train score {scores.train[-1]:.5f}"
            line += f", validation score {scores.validation[-1]:.5f}" if scores.validation else ""
        print(line)

    @property
    def n_iter_(self) -> int:
        """The number of rounds."""
        return len(self.trees_) // self.n_trees_per_iteration_

    def _check_rows(self, X: Any, reset: bool) -> Floats:
        """X as a matrix of doubles, categories by their place, what is not known as NaN."""
        if reset:
            chosen = self._categorical(X)
            self.is_categorical_ = chosen if chosen.any() else None
        if self.is_categorical_ is None:
            X = checks.rows(
                self, X, reset=reset, dtype=[np.float64], finite=False, accept_sparse=False
            )
            if reset:
                self.categories_ = [None] * X.shape[1]
            return np.ascontiguousarray(X)
        X = checked_table(self, X, reset=reset)
        if reset:
            self.categories_ = learn_categories(X, self.is_categorical_)
            self._refuse_many_categories()
        matrix = encode(X, self.categories_, "missing")
        unknown = (matrix < 0) & (self._n_categories() > 0)
        matrix[unknown] = np.nan
        return matrix

    def _categorical(self, X: Any) -> NDArray[np.bool_]:
        """Which columns hold categories."""
        is_frame = hasattr(X, "columns")
        if isinstance(self.categorical_features, str):
            none = np.zeros(0, bool)
            return categorical_columns(X, self.categorical_features) if is_frame else none
        X = X if hasattr(X, "shape") else np.asarray(X)
        found = _check_categorical_features(X, self.categorical_features)
        return np.zeros(0, bool) if found is None else np.asarray(found)

    def _refuse_many_categories(self) -> None:
        for j, known in enumerate(self.categories_):
            if known is not None and len(known) > self.max_bins:
                names = getattr(self, "feature_names_in_", None)
                name = f"at index {j}" if names is None else repr(names[j])
                raise ValueError(
                    f"Categorical feature {name} is expected to have a cardinality <= "
                    f"{self.max_bins} but actually has a cardinality of {len(known)}."
                )

    def _n_categories(self) -> NDArray[np.int64]:
        """The number of categories of each column, 0 of a column of numbers."""
        return np.array([0 if known is None else len(known) for known in self.categories_])

    def _check_training(self, X: Any, y: Any, sample_weight: Any) -> BoostingRows:
        """The rows of a fit; those of weight zero left out."""
        matrix = self._check_rows(X, reset=True)
        targets = self._targets(y, True)
        check_consistent_length(matrix, targets)
        weight = self._class_weights(targets, scaled_weights(sample_weight, len(matrix)))
        rows = BoostingRows(matrix, targets, weight)
        if weight is not None and (weight == 0).any():
            if not weight.any():
                raise ValueError("sample_weight must give some row a positive weight; all are 0.")
            rows = rows.taken(np.flatnonzero(weight != 0))
        return rows

    def _class_weights(self, y: Floats, weight: Floats | None) -> Floats | None:
        return weight

    def _check_validation(
        self, X_val: Any, y_val: Any, sample_weight_val: Any
    ) -> BoostingRows | None:
        """The rows to stop by that the caller gives."""
        if X_val is None and y_val is None:
            return None
        if y_val is None:
            raise ValueError("X_val is provided, but y_val was not provided.")
        if X_val is None:
            raise ValueError("y_val is provided, but X_val was not provided.")
        if self.early_stopping is False:
            raise ValueError(
                "X_val and y_val are passed to fit while at the same time early_stopping is False. "
                "When passing X_val and y_val to fit, early_stopping should be set to either "
                "'auto' or True."
            )
        matrix, targets = self._check_rows(X_val, reset=False), self._targets(y_val, False)
        check_consistent_length(matrix, targets)
        return BoostingRows(matrix, targets, scaled_weights(sample_weight_val, len(matrix)))

    def _divide(
        self, rows: BoostingRows, given: BoostingRows | None
    ) -> tuple[BoostingRows, BoostingRows | None]:
        """The rows to learn from and those to stop by; notes which rows these are."""
        auto = len(rows.y) > ROWS_TO_STOP_EARLY or given is not None
        self.do_early_stopping_ = auto if self.early_stopping == "auto" else self.early_stopping
        self.validation_rows_: NDArray[np.int64] = np.empty(0, np.int64)
        if given is not None or not self.do_early_stopping_ or self.validation_fraction is None:
            return rows, given
        kept, held = train_test_split(
            np.arange(len(rows.y)), test_size=self.validation_fraction,
            stratify=rows.y if is_classifier(self) else None, random_state=self._seed,
        )  # fmt: skip
        self.validation_rows_ = rows.places[held]
        return rows.taken(kept), rows.taken(held)

    def _check_constraints(self) -> tuple[NDArray[Any], NDArray[np.uint8]]:
        """The sign of each monotonic column (d,), and which columns may meet, shape (m, d)."""
        if self.monotonic_cst is not None and self.n_trees_per_iteration_ != 1:
            raise ValueError(
                "monotonic constraints are not supported for multiclass classification."
            )
        monotonic = _check_monotonic_cst(self, self.monotonic_cst)
        if (monotonic[self._n_categories() > 0] != 0).any():
            raise ValueError("Categorical features cannot have monotonic constraints.")
        return monotonic, self._check_groups()

    def _check_groups(self) -> NDArray[np.uint8]:
        """Groups (m, d) of columns that may meet on a path; none if all may."""
        d, given = self.n_features_in_, self.interaction_cst
        if given is None:
            return np.zeros((0, d), np.uint8)
        if isinstance(given, str):
            given = itertools.combinations(range(d), 1 if given == "no_interactions" else 2)
        try:
            groups = [set(group) for group in given]
        except TypeError:
            raise ValueError(
                "Interaction constraints must be a sequence of tuples or lists, got:"
                f" {self.interaction_cst!r}."
            ) from None
        for group in groups:
            if not all(isinstance(j, Integral) and 0 <= int(j) < d for j in group):
                raise ValueError(
                    "Interaction constraints must consist of integer indices in [0, n_features - 1]"
                    f" = [0, {d - 1}], specifying the position of features, got invalid indices: "
                    f"{group!r}"
                )
        rest = set(range(d)) - set().union(*groups)
        groups += [rest] if rest else []
        return np.array([[j in group for j in range(d)] for group in groups], np.uint8)

    def _raw_predict(self, X: Any) -> Floats:
        """The sums (K, n) of the leaves that rows end in; those of rows of a fit are known."""
        if isinstance(X, BoostingRows):
            return X.raw
        check_is_fitted(self, "trees_")
        matrix = self._check_rows(X, reset=False)
        raw = np.repeat(self.baseline_[:, np.newaxis], len(matrix), axis=1)
        self.trees_.add(matrix, self._cuts, raw)
        return raw

    def _staged_raw_predict(self, X: Any) -> Iterator[Floats]:
        """The same after each round."""
        check_is_fitted(self, "trees_")
        matrix, K = self._check_rows(X, reset=False), self.n_trees_per_iteration_
        codes = code(matrix, self._cuts)
        raw = np.repeat(self.baseline_[:, np.newaxis], len(matrix), axis=1)
        for i in range(self.n_iter_):
            self.trees_.part(K * i, K * (i + 1)).add_coded(codes, raw)
            yield raw.copy()

    def objective(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the mean loss of rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        """
        raw, targets = self._raw_predict(X), self._targets(y, False)
        weight = self._class_weights(targets, scaled_weights(sample_weight, len(targets)))
        return self._make_loss().mean(raw, targets, NO_WEIGHT if weight is None else weight)

    def explain(self, x: Any, rival: Any = None, feature_names: Any = None) -> Explanation:
        """Explain the prediction of one row: how much the splits on each column add to its score.

        Parameters
        ----------
        x : array-like of shape (d,) or (1, d)
        rival : label or None
            The class to compare with; the second best if None. Numbers have no rivals.
        feature_names : array-like of shape (d,) or None
        """
        check_is_fitted(self, "trees_")
        row = one_row(self, x, lambda X: self._check_rows(X, reset=False))[0]
        start, parts = self.trees_.contributions(row, self.n_trees_per_iteration_)
        start = start + self.baseline_
        names = names_of_features(self, len(row), feature_names)
        if not hasattr(self, "classes_"):
            log_link = self.loss in ("poisson", "gamma")
            words = ("at the roots", "log of the prediction" if log_link else "at the leaves")
            total = float(start[0] + parts[0].sum())
            return Explanation("prediction", None, total, float(start[0]), parts[0], names, words)
        if len(start) == 1:  # the score of the second class; that of the first is zero
            start, parts = np.append(0.0, start), np.vstack([np.zeros_like(parts), parts])
        winner, second = two_classes(self.classes_, start + parts.sum(axis=1), rival)
        lead, parts = float(start[winner] - start[second]), parts[winner] - parts[second]
        words = ("at the roots", "log-odds")
        return Explanation.of(self, winner, second, lead, parts, names, words)

    def trace_view(self) -> dict[str, Any]:
        """Return the scores by round that are there, and what the last round's trees are like."""
        trees, K = self.trees_, self.n_trees_per_iteration_
        last = trees.part(max(len(trees) - K, 0), len(trees))
        depth = int(last.depths.max(initial=0))
        return {
            "loss": -self.train_score_,
            "held_out_loss": -self.validation_score_,
            "unit": "round",
            "news": f"{int((last.left < 0).sum())} leaves, depth {depth}",
        }

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each column (d,) in the total decrease of the loss."""
        check_is_fitted(self, "trees_")
        inner = self.trees_.left >= 0
        gained = np.bincount(
            self.trees_.column[inner], self.trees_.gain[inner], self.n_features_in_
        )
        return np.asarray(gained / gained.sum() if gained.sum() > 0 else gained)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trees_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def scaled_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return the weights of rows, scaled into range; None if none are given."""
    if sample_weight is None:
        return None
    return checks.scaled_weights(sample_weight, n_rows, negative=True)
