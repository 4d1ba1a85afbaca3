"""Penalties scored on rows that were not trained on: one by one, or split by split."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from rosenblatt.base import LinearRegressor
from rosenblatt.linear_model.ridge_decomposition import Decomposition, Path, Spectrum
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.solvers.least_squares import AS_GOOD_AS_ROWS
from rosenblatt.statistics import Gram
from rosenblatt.statistics.folds import Split, blocks

from .centred_rows import Centred
from .column_warnings import columns
from .gram_problem import metric_of, scores_of
from .ridge import Ridge
from .wide_least_squares import has_dual, has_gram

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
        return _scored(self.scorer, predicted, y, self.params)

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
                _scored(self.scorer, (X @ w + b).reshape(y.shape), y, params)
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
        final.fit_statistics(gram)
        if not final.needs_rows():
            final.report_warnings()
            return final
        final = clone(final)  # whose fit has its own to say
    final._names_of_search = getattr(model, "feature_names_in_", None)
    final.fit(*rows)
    return final


def _scored(scorer: Any, predicted: Array, y: Array, params: dict[str, Any]) -> float:
    """What a scorer makes of predictions."""
    try:
        return float(scorer(_Said(), predicted, y, **params))
    except AttributeError as error:
        raise ValueError(
            f"scoring must be a metric of predicted numbers, such as 'r2'; {scorer} reads "
            "probabilities or scores of classes, which RidgeCV does not have."
        ) from error


class _Said(LinearRegressor):
    """An estimator for scorers, whose predictions are known already."""

    def predict(self, X: Any) -> Any:
        return X


# Errors on rows that are left out one by one, without a fit for each.
#
# For a fit that is linear in its targets, ``fitted = H y``, the error on a row that is left out is
# its error in the fit of all rows, divided by one less its leverage ``H_ii``.


LEAST = 2.0**-52  # a row of leverage one has no error that could be known

# Some rows, and the errors (b, A, t) on them for each penalty, times the roots of their weights.
Errors = Iterator[tuple[slice, Array]]


class LeaveOneOut:
    """Rows taken apart once, for errors on each with any penalties."""

    def __init__(self, found: Decomposition) -> None:
        assert found.rows is not None
        self.rows: Centred = found.rows
        self.centre = found.centre
        self.spectrum: Spectrum | None = None
        with one_blas_thread():
            if found.products is not None:
                self.spectrum = self._along_columns(found)
            elif has_dual(self.rows):
                self.values, self.turned = self._along_rows()
            else:
                raise ValueError(
                    "Leaving out one row at a time needs a table of products of all pairs of rows "
                    f"or columns, too large for shape {self.rows.shape}; give cv, such as cv=5."
                )

    def _along_columns(self, found: Decomposition) -> Spectrum:
        assert found.products is not None
        spectrum = Spectrum.of_gram(*found.products)
        if spectrum.condition(0.0) > AS_GOOD_AS_ROWS:
            return spectrum
        return Spectrum.of_rows(*self.rows.condensed())

    def _along_rows(self) -> tuple[Array, Array]:
        """Eigenvalues (k,) and eigenvectors (n, k) of the products of rows."""
        # The direction of the intercept, in which centred rows do not vary, is turned into the
        # first coordinate, by a reflection, and left out.
        products = self.rows.dual()
        if not self.centre:
            values, turned = np.linalg.eigh(products)
            return np.maximum(values, 0.0), turned
        mirror = np.ones(len(products)) if self.rows.roots is None else self.rows.roots.copy()
        mirror[0] += np.linalg.norm(mirror)
        mirror /= np.linalg.norm(mirror)
        products -= 2 * np.outer(mirror, mirror @ products)
        products -= 2 * np.outer(products @ mirror, mirror)
        values, inside = np.linalg.eigh(products[1:, 1:])
        turned = np.vstack([np.zeros(len(values)), inside])
        turned -= 2 * np.outer(mirror, mirror[1:] @ inside)
        return np.maximum(values, 0.0), turned

    def errors(self, penalties: Array) -> Errors:
        """The errors for penalties (A,), some rows at a time."""
        targets = self.rows.targets
        if self.spectrum is None:
            yield self._errors_of_few(penalties, targets)
            return
        shrinkage = self.spectrum.shrinkage(penalties)
        parts = shrinkage[:, :, None] * self.spectrum.products[:, None, :]
        flat = parts.reshape(len(shrinkage), -1)
        shares = np.full(self.rows.shape[0], 1 / self.rows.weight)
        if self.rows.roots is not None:
            shares *= self.rows.roots**2
        with one_blas_thread():
            for here, rows in self.rows.blocks(4 * flat.shape[1]):
                turned = rows @ self.spectrum.axes
                fitted = (turned @ flat).reshape(len(rows), len(penalties), -1)
                leverage = np.square(turned, out=turned) @ shrinkage
                if self.centre:
                    leverage += shares[here, None]
                left = np.subtract(targets[here, None, :], fitted, out=fitted)
                left /= np.maximum(1 - leverage, LEAST)[:, :, None]
                yield here, left

    def _errors_of_few(self, penalties: Array, targets: Array) -> tuple[slice, Array]:
        """By the inverse of ``K + penalty``: one less leverage would be a difference of equals."""
        shrinkage = 1 / (self.values[:, None] + penalties)
        parts = shrinkage[:, :, None] * (self.turned.T @ targets)[:, None, :]
        dual = self.turned @ parts.reshape(len(shrinkage), -1)
        dual = dual.reshape(len(targets), len(penalties), -1)
        diagonal = self.turned**2 @ shrinkage
        return slice(None), dual / diagonal[:, :, None]
