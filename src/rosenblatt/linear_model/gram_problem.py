"""Least squares as coordinate descent wants it: by Gram matrix or by columns, without its means."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import blas
from sklearn.base import RegressorMixin
from sklearn.metrics import mean_squared_error, r2_score, root_mean_squared_error
from sklearn.metrics._scorer import _PassthroughScorer, _Scorer

from rosenblatt import checks
from rosenblatt.runtime import threads
from rosenblatt.solvers.column_descent import ColumnDescent, Columns
from rosenblatt.solvers.gram_descent import GramDescent, Penalty
from rosenblatt.statistics import Gram

Array = NDArray[np.float64]
Descent = GramDescent | ColumnDescent

# A Gram matrix costs d / 2 multiplications for each number of the table; columns cost a copy and a
# read for each working set. So wide may a table be for a Gram matrix to cost less than one fit, or
# than a path of them. Rows of a sparse table are multiplied one by one, which costs more.
WIDEST_FOR_ONE, WIDEST_FOR_PATH, WIDEST_SPARSE = 500, 5000, 500
MOST_CHUNKS = 16  # of rows, each with a Gram matrix of its own until all are added


@dataclass(frozen=True, eq=False)
class Squares:
    """The squared error of each target, mean over the rows by weight: ``1/2 |t - X w|^2``.

    Columns and targets are centred if there is an intercept, which is then what it must be:
    ``b = mean_y - mean_x . w``.
    """

    descents: list[Descent]  # one for each target
    mean_x: Array  # (d,): what was taken off; zeros without an intercept
    mean_y: Array  # (t,)

    @classmethod
    def of(
        cls,
        X: Any,
        targets: NDArray[Any],
        weights: Array | None,
        *,
        fit_intercept: bool,
        path: bool = False,
        precompute: Any = False,
    ) -> Self:
        """The problem of rows X (n, d), dense or sparse, and targets (n, t)."""
        n, d = X.shape
        dense = not sp.issparse(X)
        by_gram = dense and (not isinstance(precompute, bool | str) or precompute is True)
        if n >= d and (by_gram or d <= widest_with_gram(X, path)):
            if dense and not fit_intercept and weights is None and X.dtype == np.float64:
                return cls._about_origin(X, np.asarray(targets, np.float64))
            with np.errstate(over="ignore", invalid="ignore"):  # refused by feature, if it happens
                gram = Gram.of(by_rows(X), targets, weights)
            return cls.of_gram(gram, fit_intercept)
        return cls._of_columns(X, np.asarray(targets, np.float64), weights, fit_intercept)

    @classmethod
    def of_gram(cls, gram: Gram, fit_intercept: bool) -> Self:
        """The problem that a Gram statistic stands for."""
        total = gram.weight
        xx, xy, yy = gram.xx / total, gram.xy / total, np.diag(gram.yy) / total
        mean_x, mean_y = gram.mean_x, gram.mean_y
        if not fit_intercept:  # about the origin instead of the means
            xx, yy = xx + np.outer(mean_x, mean_x), yy + mean_y**2
            xy = xy + np.outer(mean_x, mean_y)
            mean_x, mean_y = np.zeros_like(mean_x), np.zeros_like(mean_y)
        descents: list[Descent] = [
            GramDescent(xx, np.ascontiguousarray(xy[:, k]), float(yy[k])) for k in range(len(yy))
        ]
        return cls(descents, mean_x, mean_y)

    @classmethod
    def _about_origin(cls, X: Array, targets: Array) -> Self:
        """The problem without means to take off: nothing cancels, so that plain sums will do."""
        n, d = X.shape

        def work(start: int, stop: int) -> tuple[Array, Array]:
            rows = np.ascontiguousarray(X[start:stop])  # the same bits from any storage
            return blas.dsyrk(1.0, rows.T, lower=1), rows.T @ targets[start:stop]

        n_chunks = min(MOST_CHUNKS, 1 + n * d // threads.CELLS_PER_CHUNK)
        parts = threads.over_chunks(work, n, n_chunks * threads.CELLS_PER_CHUNK)
        half, xy = parts[0]
        for more, products in parts[1:]:
            half += more
            xy += products
        xx = np.tril(half) + np.tril(half, -1).T
        yy = np.einsum("nt,nt->t", targets, targets)
        _refuse_overflow(np.diag(xx), yy)
        descents: list[Descent] = [
            GramDescent(xx / n, xy[:, k] / n, float(yy[k]) / n) for k in range(len(yy))
        ]
        return cls(descents, np.zeros(d), np.zeros(len(yy)))

    @classmethod
    def _of_columns(
        cls, X: Any, targets: Array, weights: Array | None, fit_intercept: bool
    ) -> Self:
        n, d = X.shape
        shares = np.full(n, 1 / n) if weights is None else weights / weights.sum()
        mean_x, mean_y = np.zeros(d), np.zeros(targets.shape[1])
        if fit_intercept:
            mean_x, mean_y = np.asarray(shares @ X, np.float64), shares @ targets
        roots = np.sqrt(shares)
        with np.errstate(over="ignore", invalid="ignore"):
            columns = Columns(X, roots, mean_x)
            centred = ((targets - mean_y) * roots[:, None]).T.copy()
            _refuse_overflow(columns.squares, (centred**2).sum(axis=1))
        return cls([ColumnDescent(columns, target) for target in centred], mean_x, mean_y)

    @property
    def n_features(self) -> int:
        """How many columns there are."""
        return len(self.mean_x)

    def variances(self) -> Array:
        """The mean square of each column, (d,), about its mean if there is an intercept."""
        first = self.descents[0]
        return np.diag(first.xx) if isinstance(first, GramDescent) else first.columns.squares

    def intercepts(self, coefs: Array) -> Array:
        """The intercepts (t,) that belong to coefs (t, d)."""
        return np.asarray(self.mean_y - coefs @ self.mean_x)

    def largest_alpha(self, l1_ratio: float, positive: bool) -> float:
        """The least alpha at which all weights are zero, whatever the target."""
        together = np.array([descent.correlations() for descent in self.descents])
        if positive:
            return max(0.0, float(together.max())) / l1_ratio
        return float(np.abs(together).max()) / l1_ratio


def widest_with_gram(X: Any, path: bool) -> int:
    """How many columns a table may have for its Gram matrix to be worth its price."""
    if sp.issparse(X):
        return WIDEST_SPARSE
    return WIDEST_FOR_PATH if path else WIDEST_FOR_ONE


def by_rows(X: Any) -> Any:
    """The same table, stored row by row if it is sparse, as products of its columns are summed."""
    return X.tocsr() if sp.issparse(X) else X


def penalty_of(alpha: float, l1_ratio: float, positive: bool) -> Penalty:
    """scikit-learn's parameters as a penalty."""
    return Penalty(float(alpha * l1_ratio), float(alpha * (1 - l1_ratio)), bool(positive))


def _refuse_overflow(columns: Array, targets: Array) -> None:
    """Raise if a sum of squares is not finite, saying whose."""
    for what, squares in (("feature", columns), ("target", targets)):
        j = int(np.argmin(np.isfinite(squares)))
        checks.in_range(squares, f"The squares of {what} {j} are", "rescale it")


# The problems of all training sets of a cross-validation, tall tables being read once.


Folds = Sequence[tuple[NDArray[Any], NDArray[Any]]]  # rows to train on, and to test on
MOST_FOLDS = 20  # whose Gram matrices are held at a time


def training_squares(
    X: Any,
    targets: NDArray[Any],
    weights: NDArray[np.float64] | None,
    folds: Folds,
    fit_intercept: bool,
) -> Iterator[Squares]:
    """The problem of each training set, in order."""
    # Where every row is left out once, its products are summed once, and a training set is the sum
    # of the other folds. Else, and for wide tables, each training set is read by itself.
    groups = _left_out_once(folds, X.shape[0])
    if groups is not None and folds_have_grams(X, groups, len(folds)):
        parts = Gram.by_group(by_rows(X), targets, groups, len(folds), weights)
        for k in range(len(folds)):
            others = [part for i, part in enumerate(parts) if i != k]
            yield Squares.of_gram(sum(others[1:], others[0]), fit_intercept)
        return
    for train, _ in folds:
        some = None if weights is None else weights[train]
        yield Squares.of(X[train], targets[train], some, fit_intercept=fit_intercept, path=True)


def folds_have_grams(X: Any, groups: NDArray[np.int64], n_folds: int) -> bool:
    """Whether products of columns, for each fold of rows, take less room and time than the rows."""
    n, d = X.shape
    if d > widest_with_gram(X, path=True) or n_folds > MOST_FOLDS:
        return False
    return bool(n - np.bincount(groups).max() >= d)


def _left_out_once(folds: Folds, n: int) -> NDArray[np.int64] | None:
    """The fold that each row is left out of; None unless that is exactly one for each."""
    groups = np.full(n, -1, np.int64)
    for k, (train, test) in enumerate(folds):
        train, test = np.arange(n)[train], np.arange(n)[test]
        if len(train) + len(test) != n or (groups[test] >= 0).any():
            return None
        groups[test] = k
        if len(np.union1d(train, test)) != n:
            return None
    return groups if (groups >= 0).all() and len(folds) > 1 else None


# Scores of linear models on rows that are known by their Gram statistic alone.


# A sum of squared errors is a difference of sums as large as the scatter of the targets: below this
# share of it, too few digits are left.
LEAST_SHARE = 1e-6

METRICS = {r2_score: 1, mean_squared_error: -1, root_mean_squared_error: -1}


def metric_of(scorer: Any, estimator: Any) -> str | None:
    """The name of a scorer's function, if squared errors are all that it asks for."""
    if type(scorer) is _PassthroughScorer:
        usual = getattr(type(estimator), "score", None) is RegressorMixin.score
        return "r2_score" if usual else None
    if type(scorer) is not _Scorer or scorer._kwargs or scorer._response_method != "predict":
        return None
    function = scorer._score_func
    return function.__name__ if METRICS.get(function) == scorer._sign else None


def squared_errors(test: Gram, coefs: Array, intercepts: Array) -> Array:
    """Sums of squared errors (A, t) of models coefs (A, d, t) and intercepts (A, t)."""
    n_models, d, t = coefs.shape
    side_by_side = np.moveaxis(coefs, 0, 1).reshape(d, -1)
    bent = (side_by_side * (test.xx @ side_by_side)).sum(axis=0).reshape(n_models, t)
    along = np.einsum("adt,dt->at", coefs, test.xy)
    shift = test.mean_y - intercepts - test.mean_x @ coefs
    return np.asarray(np.diag(test.yy) - 2 * along + bent + test.weight * shift**2)


def scores_of(metric: str, test: Gram, coefs: Array, intercepts: Array) -> Array | None:
    """The scores (A,) of models on rows; None where the statistic has too few digits to say."""
    scatter = np.diag(test.yy)
    errors = squared_errors(test, coefs, intercepts)
    if test.rows < 2 or (errors <= LEAST_SHARE * scatter).any() or not np.isfinite(errors).all():
        return None
    if metric == "r2_score":
        if not (scatter > 0).all():  # R² has a definition of its own for constant targets
            return None
        return np.asarray((1 - errors / scatter).mean(axis=1))
    means = errors / test.weight
    means = np.sqrt(means) if metric == "root_mean_squared_error" else means
    return np.asarray(-means.mean(axis=1))
