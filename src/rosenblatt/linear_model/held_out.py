"""Penalties scored on rows that were not trained on: one by one, or split by split."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from rosenblatt.base import LinearRegressor
from rosenblatt.statistics import Gram
from rosenblatt.statistics.folds import Split, blocks

from .decomposition import Decomposition, Path
from .fold_scores import metric_of, scores_of
from .leave_one_out import LeaveOneOut
from .ridge import Ridge
from .targets import columns
from .wide import has_gram

Array = NDArray[np.float64]


class ByOneRow:
    """Penalties scored on rows that are left out one at a time."""

    def __init__(self, model: Any, X: Any, y: Any, weights: Any, scorer: Any, routed: Any):
        self.model, self.rows, self.y = model, (X, y, weights), y
        self.scorer: Any = None if model.scoring is None else scorer
        self.params = routed["score"]
        if weights is not None and np.count_nonzero(weights) < 2:
            raise ValueError(
                f"RidgeCV leaves out one row at a time, and {np.count_nonzero(weights)} of "
                f"{len(weights)} rows have a weight: give two or more a sample_weight above zero."
            )
        self.found = Decomposition.of(X, y, weights, model.fit_intercept)
        self.left_out = LeaveOneOut(self.found)
        self.kept_weights = weights

    @property
    def largest(self) -> float:
        """The largest variation of the rows along a direction."""
        return self.found.largest

    def score(self, penalties: Array) -> Array:
        """Scores (A,), or (A, t) for a penalty of each target's own."""
        each = self.model.alpha_per_target and self.y.ndim == 2 and self.y.shape[1] > 1
        if self.scorer is None:
            total = np.zeros((len(penalties), columns(self.y).shape[1]))
            for _, errors in self.left_out.errors(penalties):
                total -= np.einsum("nat,nat->at", errors, errors)
            scores = total / len(self.y)
            return scores if each else scores.mean(axis=1)
        predicted = self._predictions(penalties)
        if each:
            return np.array(
                [
                    [self._score(predicted[:, a, j], self.y[:, j]) for j in range(self.y.shape[1])]
                    for a in range(len(penalties))
                ]
            )
        return np.array([self._score(predicted[:, a], self.y) for a in range(len(penalties))])

    def _score(self, predicted: Array, y: Array) -> float:
        predicted = predicted.reshape(y.shape)
        return float(self.scorer(_Said(), predicted, y, **self.params))

    def _predictions(self, penalties: Array) -> Array:
        """Predictions (n, A, t) for rows that were left out."""
        targets = columns(self.y)
        predicted = np.repeat(targets[:, None, :], len(penalties), axis=1)
        weighed = np.ones(len(targets), bool)
        roots = None
        if self.kept_weights is not None:
            weighed = self.kept_weights > 0
            roots = np.sqrt(self.kept_weights[weighed])
        places = np.flatnonzero(weighed)
        for here, errors in self.left_out.errors(penalties):
            if roots is not None:
                errors = errors / roots[here, None, None]
            predicted[places[here]] -= errors
        return predicted

    def kept(self, penalties: Array, dtype: Any) -> Array:
        """What `cv_results_` holds: (n, A), or (n, t, A)."""
        if self.scorer is None:
            weights = 1.0 if self.kept_weights is None else self.kept_weights[:, None, None]
            errors = columns(self.y)[:, None, :] - self._predictions(penalties)
            table = weights * errors**2
        else:
            table = self._predictions(penalties)
        table = np.moveaxis(table, 1, 2).astype(dtype)
        return table[:, 0] if self.y.ndim == 1 else table

    def fitted(self, alpha: Any) -> Ridge:
        """A fit to all rows."""
        return fitted(self.model, alpha, self.found.gram, self.rows)


class BySplits:
    """Penalties scored on the test rows of splits."""

    def __init__(self, model: Any, X: Any, y: Any, weights: Any, scorer: Any, routed: Any):
        self.model, self.X, self.y, self.weights = model, X, y, weights
        self.scorer, self.params = scorer, routed["score"]
        self.metric = metric_of(scorer, model)
        self.weighs_alike = set(self.params) == (set() if weights is None else {"sample_weight"})
        cv = check_cv(model.cv)
        n = X.shape[0]
        splits = cv.split(X, y, **routed["split"])
        self.splits = [Split.of(train, test, n) for train, test in splits]
        self.trained: list[Gram | None] = [None] * len(self.splits)
        self.tests: list[Gram | None] = [None] * len(self.splits)
        self.whole: Gram | None = None
        if has_gram(X):
            self._measure()

    def _measure(self) -> None:
        """Read the rows once, for the products of every training set and fold."""
        found = blocks(self.splits, self.X.shape[0], 64, 64)
        place = 0
        for block in found:
            parts = Gram.by_group(self.X, self.y, block.groups, block.n_groups, self.weights)
            trained, self.whole = block.training_sets(parts)
            self.trained[place : place + len(trained)] = trained
            self.tests[place : place + len(trained)] = block.test_sets(parts)
            place += len(trained)

    @property
    def largest(self) -> float:
        """The largest variation of the rows along a direction."""
        if self.whole is None:
            return Decomposition.of(self.X, self.y, None, self.model.fit_intercept).largest
        return Decomposition.of_gram(self.whole, self.model.fit_intercept).largest

    def score(self, penalties: Array) -> Array:
        """The mean score (A,) over the splits."""
        each = [self._on_split(s, penalties) for s in range(len(self.splits))]
        return np.asarray(np.mean(each, axis=0))

    def _on_split(self, s: int, penalties: Array) -> Array:
        path, test = self._path(s, penalties), self.tests[s]
        if self.metric is not None and test is not None and self.weighs_alike:
            scores = scores_of(self.metric, test, *path)
            if scores is not None:
                return scores
        rows = self.splits[s].test
        X, y = _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)
        params = _check_method_params(self.X, params=self.params, indices=rows)
        coefs, intercepts = path
        return np.array(
            [
                float(self.scorer(_Said(), (X @ w + b).reshape(y.shape), y, **params))
                for w, b in zip(coefs, intercepts, strict=True)
            ]
        )

    def _path(self, s: int, penalties: Array) -> Path:
        """Coefficients and intercepts for all penalties, from the training rows of a split."""
        gram, centre = self.trained[s], self.model.fit_intercept
        if gram is not None:
            path = Decomposition.of_gram(gram, centre).path(penalties)
            if path is not None:
                return path
        rows = self.splits[s].train
        weights = None if self.weights is None else self.weights[rows]
        X, y = _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)
        return Decomposition.of(X, y, weights, centre).path_by_rows(penalties)

    def fitted(self, alpha: float) -> Ridge:
        """A fit to all rows."""
        return fitted(self.model, alpha, self.whole, (self.X, self.y, self.weights))


def fitted(model: Any, alpha: Any, gram: Gram | None, rows: tuple[Any, Any, Any]) -> Ridge:
    """A fit to all rows, from their statistic if that suffices."""
    final = Ridge(alpha, fit_intercept=model.fit_intercept)
    if gram is not None:
        if hasattr(model, "feature_names_in_"):
            gram = replace(gram, feature_names=tuple(model.feature_names_in_))
        final._become(gram)
        if not final._needs_rows():
            final._speak()
            return final
        final = clone(final)  # whose fit has its own to say
    final._names_of_search = getattr(model, "feature_names_in_", None)
    final.fit(*rows)
    return final


class _Said(LinearRegressor):
    """An estimator for scorers, whose predictions are known already."""

    def predict(self, X: Any) -> Any:
        return X
