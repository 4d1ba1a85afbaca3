"""Ridge regression with the penalty chosen by cross-validation."""

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, _routing_enabled
from sklearn.utils.validation import _check_method_params

from rosenblatt import checks
from rosenblatt.base import LinearRegressor, all_or_nothing, warn
from rosenblatt.folds import Split, blocks
from rosenblatt.registry.row import Contract, Row
from rosenblatt.runtime.threads import one_blas_thread
from rosenblatt.statistics import Gram

from .least_squares import AS_GOOD_AS_ROWS, has_dual, has_gram
from .penalty_search import ROUNDS, Search, best_places, decades, routed, router, search
from .ridge import Ridge
from .ridge_decomposition import Decomposition, Path, Spectrum, metric_of, scores_of

Array = NDArray[np.float64]

# Some rows, and the errors (b, A, t) on them for each penalty, times the roots of their weights.
Errors = Iterator[tuple[slice, Array]]

LEAST = 2.0**-52  # a row of leverage one has no error that could be known

# Attributes of the fit to all rows; the last three only where there is no closed form.
TAKEN_OVER = (
    "coef_", "intercept_", "n_iter_", "solver_", "stop_reason_", "objective_", "dual_gap_",
    "gradient_norm_",
)  # fmt: skip


class RidgeCV(LinearRegressor):
    """Ridge regression with the penalty chosen by cross-validation.

    Without `cv`, the errors of leave-one-out cross-validation for all penalties follow from one
    decomposition of the rows. With folds, the products of columns are summed once for each fold,
    and a training set is the sum of the other folds.

    Parameters
    ----------
    alphas : array-like of shape (A,), float, or "decades"
        Penalties to try, > 0 (with `cv` also 0). "decades" tries powers of ten from hardly any
        effect to hardly any coefficient, further while the end is best, then looks closer twice.
    fit_intercept : bool
        Whether to fit an intercept, which is not penalized.
    scoring : str, callable or None
        Score to maximize; if None, the negative squared error without `cv`, and R² with it.
    cv : int, splitter, iterable or None
        Splits; None leaves out one row at a time.
    gcv_mode : {"auto", "svd", "eigen"} or None
        Accepted for compatibility: rows are decomposed if their products have too few digits.
    store_cv_results : bool
        Whether to store `cv_results_`; without `cv` only.
    alpha_per_target : bool
        Whether each target has its own penalty; without `cv` only.
    closer : int or None
        Number of closer searches around the best penalty, with nine values between its neighbors;
        None is 2 for "decades" and else 0.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (t,)
        Best penalty, for all targets or for each.
    best_score_ : float or ndarray of shape (t,)
        Score of the best penalty.
    alphas_, scores_ : ndarray
        Penalties tried, sorted, and the score of each.
    coef_, intercept_, n_iter_, solver_, stop_reason_, n_parameters_ :
        Attributes of the fit to all rows, as in `Ridge`; also `objective_`, `dual_gap_` and
        `gradient_norm_` where there is no closed form.
    cv_results_ : ndarray of shape (n, A) or (n, t, A)
        Squared errors, or with `scoring` predictions, of rows left out; penalties in the order
        given, or sorted if "decades" or closer.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rosenblatt import RidgeCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RidgeCV(alphas=[1e-3, 1e-2, 1e-1, 1]).fit(X, y)
    >>> model.alpha_, round(model.score(X, y), 4)
    (0.01, 0.5166)
    >>> round(RidgeCV("decades").fit(X, y).alpha_, 4)
    0.004
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alphas": [
            "array-like",
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"decades"}),
        ],
        "fit_intercept": ["boolean"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "cv": ["cv_object"],
        "gcv_mode": [StrOptions({"auto", "svd", "eigen"}), None],
        "store_cv_results": ["boolean"],
        "alpha_per_target": ["boolean"],
        "closer": [Interval(Integral, 0, None, closed="left"), None],
    }

    _multi_output = True

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        closer: int | None = None,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.closer = closer

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the penalty by cross-validation, and fit all rows with it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, t)
        sample_weight : array-like of shape (n,) or None
            Weights of the rows, in training and in scores that accept weights.
        params : dict
            Metadata for the scorer and the splitter, with metadata routing.
        """
        self._validate_params()
        for name in ("store_cv_results", "alpha_per_target"):
            if self.cv is not None and getattr(self, name):
                raise ValueError(
                    f"cv!=None and {name}=True are incompatible: store_cv_results and "
                    "alpha_per_target need cv=None."
                )
        scorer = self._scorer()
        X = checks.rows(self, X, reset=True, order="C", finite=False, ensure_min_samples=2)
        y = checks.targets(self, y, X.shape[0])
        if self.gcv_mode == "svd" and self.cv is None and sp.issparse(X):
            warn(
                "The 'svd' mode is not supported for sparse X: it has no effect here, and is an "
                "error in scikit-learn 1.11. Use gcv_mode=None.",
                FutureWarning,
            )
        weights = checks.weights(sample_weight, X.shape[0])
        if weights is not None and not weights.all():  # sums leave such rows out unchecked
            checks.finite(X)
        split, score = self._routed(sample_weight, params)
        try:
            if self.cv is None:
                chooser: Any = LeaveOneOutScores(self, X, y, weights, scorer, score)
            else:
                chooser = SplitScores(self, X, y, weights, scorer, split, score)
        except ValueError:  # with scikit-learn's message, if values are not finite
            checks.finite(X)
            raise
        self._choose(chooser)
        if self.store_cv_results:
            searched = isinstance(self.alphas, str) or self.closer
            tried = checks.penalties(self.alphas_ if searched else self.alphas)
            self.cv_results_ = chooser.kept(tried, X.dtype)
        model = fit_all_rows(self, chooser.gram, (X, y, weights))
        for name in TAKEN_OVER:
            self.__dict__.pop(name, None)
            if name in vars(model):
                setattr(self, name, vars(model)[name])
        return self

    def _choose(self, chooser: Any) -> None:
        """Set the best penalty, and the penalties and scores of the search."""
        by_decades = isinstance(self.alphas, str)
        if by_decades:
            # A penalty ten times the largest variation of the rows leaves a tenth of a coefficient.
            largest = 10 * chooser.largest()
            grid = decades(1e-7 * largest, largest)
        else:
            grid = checks.penalties(self.alphas, zero=self.cv is not None)
        closer = (ROUNDS if by_decades else 0) if self.closer is None else self.closer
        found: Search = search(chooser.score, grid, closer, grow=by_decades)
        self.alphas_, self.scores_ = found.penalties, found.scores
        each = found.scores.ndim == 2
        order = np.arange(len(self.alphas_))
        if not (by_decades or closer):  # of equals the first that was given, as in scikit-learn
            order = np.array(list(dict.fromkeys(np.searchsorted(self.alphas_, grid).tolist())))
        best = order[best_places(found.scores[order])]
        self.alpha_ = self.alphas_[best] if each else float(self.alphas_[best])
        picked = found.scores[best, np.arange(len(best))] if each else float(found.scores[best])
        self.best_score_ = picked
        if np.isnan(picked).any():
            warn(
                f"One or more of the test scores are non-finite; alpha_={self.alpha_} is the first."
                " R² needs two test rows: use fewer folds, or scoring='neg_mean_squared_error'.",
                UndefinedMetricWarning,
            )
        elif found.edge is not None and len(grid) > 2:
            self._warn_of_edge(found)

    def _warn_of_edge(self, found: Search) -> None:
        end = found.penalties[0 if found.edge == "smallest" else -1]
        ways = ["larger ones too" if found.edge == "largest" else "smaller ones too"]
        if not isinstance(self.alphas, str):
            ways.append("alphas='decades'")
        if found.edge == "smallest":
            ways.append("LinearRegression")
        advice = f"Try {', '.join(ways[:-1])} or {ways[-1]}." if ways[1:] else f"Try {ways[0]}."
        warn(
            f"The best penalty is the {found.edge} that was tried, {end:.3g}: a better one may "
            f"lie beyond. {advice}"
        )

    def _scorer(self) -> Any:
        if _routing_enabled() and self.scoring is None:
            return get_scorer("r2").set_score_request(sample_weight=True)
        return check_scoring(estimator=self, scoring=self.scoring, allow_none=True)

    def _routed(
        self, sample_weight: Any, params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the metadata of the splitter and of the scorer."""
        split, score = routed(self, sample_weight, params)
        weighs = self.cv is None or _routing_enabled() or self._scorer()._accept_sample_weight()
        return split, score if weighs else {}

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata this model, its scorer and its splitter take."""
        return router(self, self.cv, self._scorer())


class LeaveOneOutScores:
    """Penalties scored on rows that are left out one at a time, without a fit for each.

    For a fit that is linear in its targets, ``fitted = H y``, the error on a row that is left out
    is its error in the fit of all rows, divided by one less its leverage ``H_ii``.
    """

    def __init__(self, model: Any, X: Any, y: Any, weights: Any, scorer: Any, params: Any) -> None:
        self.model, self.y, self.weights = model, y, weights
        self.targets = y[:, None] if y.ndim == 1 else y
        self.scorer: Any = None if model.scoring is None else scorer
        self.params = params
        if weights is not None and np.count_nonzero(weights) < 2:
            raise ValueError(
                f"RidgeCV leaves out one row at a time, and {np.count_nonzero(weights)} of "
                f"{len(weights)} rows have a weight: give two or more a sample_weight above zero."
            )
        found = Decomposition.of(X, y, weights, model.fit_intercept)
        assert found.rows is not None
        self.gram, self.rows, self.largest = found.gram, found.rows, found.largest_variation
        self.spectrum: Spectrum | None = None
        with one_blas_thread():
            if found.products is not None:
                self.spectrum = Spectrum.of_gram(*found.products)
                if not self.spectrum.condition(0.0) > AS_GOOD_AS_ROWS:
                    self.spectrum = Spectrum.of_rows(*self.rows.condensed())
            elif has_dual(self.rows):
                self.values, self.axes = self._along_rows()
            else:
                raise ValueError(
                    "Leaving out one row at a time needs a table of products of all pairs of rows "
                    f"or columns, too large for shape {self.rows.shape}; give cv, such as cv=5."
                )

    def _along_rows(self) -> tuple[Array, Array]:
        """Return eigenvalues (k,) and eigenvectors (n, k) of the products of rows."""
        # A reflection turns the direction of the intercept, in which centered rows do not vary,
        # into the first coordinate, which is left out.
        products = self.rows.dual()
        if not self.model.fit_intercept:
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
        """Yield the errors on rows left out, for penalties (A,), some rows at a time."""
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
                if self.model.fit_intercept:
                    leverage += shares[here, None]
                left = np.subtract(targets[here, None, :], fitted, out=fitted)
                left /= np.maximum(1 - leverage, LEAST)[:, :, None]
                yield here, left

    def _errors_of_few(self, penalties: Array, targets: Array) -> tuple[slice, Array]:
        """Return the errors by the inverse of ``K + penalty``: ``1 - leverage`` has few digits."""
        shrinkage = 1 / (self.values[:, None] + penalties)
        parts = shrinkage[:, :, None] * (self.axes.T @ targets)[:, None, :]
        dual = self.axes @ parts.reshape(len(shrinkage), -1)
        dual = dual.reshape(len(targets), len(penalties), -1)
        diagonal = self.axes**2 @ shrinkage
        return slice(None), dual / diagonal[:, :, None]

    def score(self, penalties: Array) -> Array:
        """Return the scores (A,), or (A, t) if each target has its own penalty."""
        each = self.model.alpha_per_target and self.y.ndim == 2 and self.y.shape[1] > 1
        if self.scorer is None:
            total = np.zeros((len(penalties), self.targets.shape[1]))
            for _, errors in self.errors(penalties):
                total -= np.einsum("nat,nat->at", errors, errors)
            scores = total / len(self.y)
            return scores if each else scores.mean(axis=1)
        found: list[Any] = []
        for predicted in np.moveaxis(self._predictions(penalties), 1, 0):
            if each:
                columns = zip(predicted.T, self.y.T, strict=True)
                found.append([_scored(self.scorer, p, y, self.params) for p, y in columns])
            else:
                shaped = predicted.reshape(self.y.shape)
                found.append(_scored(self.scorer, shaped, self.y, self.params))
        return np.array(found)

    def _predictions(self, penalties: Array) -> Array:
        """Return the predictions (n, A, t) for rows that were left out."""
        predicted = np.repeat(self.targets[:, None, :], len(penalties), axis=1)
        weights = np.ones(len(self.targets)) if self.weights is None else self.weights
        places = np.flatnonzero(weights)  # of the rows that count
        roots = np.sqrt(weights[places])
        for here, errors in self.errors(penalties):
            predicted[places[here]] -= errors / roots[here, None, None]
        return predicted

    def kept(self, penalties: Array, dtype: Any) -> Array:
        """Return `cv_results_`: (n, A), or (n, t, A)."""
        table = self._predictions(penalties)
        if self.scorer is None:
            weights = 1.0 if self.weights is None else self.weights[:, None, None]
            table = weights * (self.targets[:, None, :] - table) ** 2
        table = np.moveaxis(table, 1, 2).astype(dtype)
        return table[:, 0] if self.y.ndim == 1 else table


class SplitScores:
    """Penalties scored on the test rows of splits."""

    def __init__(
        self, model: Any, X: Any, y: Any, weights: Any, scorer: Any, split: Any, params: Any
    ) -> None:
        self.model, self.X, self.y, self.weights = model, X, y, weights
        self.scorer, self.params = scorer, params
        self.metric = metric_of(scorer, model)
        self.weighs_alike = set(self.params) == (set() if weights is None else {"sample_weight"})
        n = X.shape[0]
        splits = check_cv(model.cv).split(X, y, **split)
        self.splits = [Split.of(train, test, n) for train, test in splits]
        self.trained: list[Gram | None] = [None] * len(self.splits)
        self.tests: list[Gram | None] = [None] * len(self.splits)
        self.gram: Gram | None = None  # of all rows
        place = 0
        for block in blocks(self.splits, n, 64, 64) if has_gram(X) else ():
            parts = Gram.by_group(X, y, block.groups, block.n_groups, weights)
            trained, self.gram = block.training_sets(parts)
            self.trained[place : place + len(trained)] = trained
            self.tests[place : place + len(trained)] = block.test_sets(parts)
            place += len(trained)

    def largest(self) -> float:
        """Return the largest variation of the rows along a direction."""
        center = self.model.fit_intercept
        if self.gram is None:
            return Decomposition.of(self.X, self.y, None, center).largest_variation()
        return Decomposition(center, self.gram).largest_variation()

    def score(self, penalties: Array) -> Array:
        """Return the mean score (A,) over the splits."""
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
        predictions = ((X @ w + b).reshape(y.shape) for w, b in zip(*path, strict=True))
        return np.array([_scored(self.scorer, p, y, params) for p in predictions])

    def _path(self, s: int, penalties: Array) -> Path:
        """Return coefficients and intercepts for all penalties, from the training rows."""
        gram, center = self.trained[s], self.model.fit_intercept
        if gram is not None:
            path = Decomposition(center, gram).path(penalties)
            if path is not None:
                return path
        rows = self.splits[s].train
        weights = None if self.weights is None else self.weights[rows]
        X, y = _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)
        return Decomposition.of(X, y, weights, center).path_by_rows(penalties)


def fit_all_rows(model: Any, gram: Gram | None, rows: tuple[Any, Any, Any]) -> Ridge:
    """Return a fit to all rows with the chosen penalty, from their statistic if that suffices."""
    final = Ridge(model.alpha_, fit_intercept=model.fit_intercept)
    if gram is not None:
        if hasattr(model, "feature_names_in_"):
            gram = replace(gram, feature_names=tuple(model.feature_names_in_))
        final.fit_statistics(gram)
        if not final.needs_rows():
            final.report_warnings()
            return final
        final = clone(final)  # its fit issues its own warnings
    final._names_of_search = getattr(model, "feature_names_in_", None)
    final.fit(*rows)
    return final


def _scored(scorer: Any, predicted: Array, y: Array, params: dict[str, Any]) -> float:
    """Return the score of predictions."""
    try:
        return float(scorer(KnownPredictions(), predicted, y, **params))
    except AttributeError as error:
        raise ValueError(
            f"scoring must be a metric of predicted numbers, such as 'r2'; {scorer} reads "
            "probabilities or scores of classes, which RidgeCV does not have."
        ) from error


class KnownPredictions(LinearRegressor):
    """An estimator for scorers, given predictions instead of rows."""

    def predict(self, X: Any) -> Any:
        return X


ROW = Row(
    "RidgeCV",
    page="regression.md",
    certificate="linear_regression",
    contract=Contract(
        settings=({}, {"alphas": "decades", "cv": 3}, {"scoring": "r2", "fit_intercept": False}),
        checked=({}, {"alphas": "decades"}, {"alphas": [0.1, 1.0], "scoring": "r2"}),
    ),
    warm=None,
    slow_peer_tests=("linear_model/tests/test_ridge.py",),
)
