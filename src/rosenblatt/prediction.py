"""Scores and labels of many rows in one read: chunk by chunk, while each is in cache.

A score function takes some rows and returns their scores, classes first: (K, b), or (1, b) for two
classes, one number that is positive for the second. Values that are not finite show in the scores,
so that X is not read once more to look for them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks, prediction_loops
from rosenblatt.explanation import Explanation, one_row, two_classes
from rosenblatt.loops.rows import read_only
from rosenblatt.runtime import threads
from rosenblatt.runtime.threads import one_blas_thread

Score = Callable[[Any], NDArray[Any]]

# From so many numbers on, compiled loops score dense rows; they take this many at a time.
LARGE = 1_000_000
SMALL = 1000
ALIKE = "rescale the features, before fit and predict alike"
MOST_PLANES = 4  # for more of them BLAS is faster


def rows_to_score(model: BaseEstimator, X: Any) -> Any:
    """Return checked rows X (n, d) in any memory order; their scores show if they are finite.

    Other sparse formats become CSR, because a chunk of CSC costs a pass over all of it.
    """
    if "n_features_in_" not in vars(model):  # the full check takes long for a single row
        check_is_fitted(model)
    return checks.rows(model, X, finite=False)


@dataclass(frozen=True)
class InLoop:
    """A score function that is a compiled loop, for long chunks of C-ordered rows."""

    score: Score

    def __call__(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the scores of some rows."""
        return self.score(read_only(rows))


@dataclass(frozen=True, eq=False)
class Planes:
    """The score function of planes coef (K, d) and intercept (K,)."""

    coef: NDArray[Any]
    intercept: NDArray[Any]

    def __call__(self, rows: Any) -> NDArray[Any]:
        """Return the scores of some rows."""
        if sp.issparse(rows):
            scores: NDArray[Any] = np.ascontiguousarray((rows @ self.coef.T).T)
        else:
            scores = self.coef @ rows.T
        scores += self.intercept[:, None]
        return scores

    def in_loop(self) -> InLoop:
        """Return the score function for many rows."""
        linear = in_cells(self.coef.astype(np.float64))
        constant = self.intercept.astype(np.float64)

        def score(rows: NDArray[Any]) -> NDArray[Any]:
            scores = np.empty((len(constant), len(rows)))
            prediction_loops.linear_scores(rows, linear, constant, scores)
            return scores

        return InLoop(score)


def in_cells(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights (k, d) as the loops read them: zero where a feature is repeated."""
    d = weights.shape[1]
    whole = d - d % 4
    if whole == d:
        return np.ascontiguousarray(weights)
    last = np.where(np.arange(d - 4, d) < whole, 0.0, weights[:, d - 4 :])
    return np.hstack([weights[:, :whole], last])


def all_scores(X: Any, score: Score, n_columns: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return the scores of all rows: (n, K), or (n,) for one column."""
    table = np.empty((X.shape[0], n_columns), dtype)

    def keep(start: int, stop: int, scores: NDArray[Any]) -> None:
        table[start:stop] = scores.T

    _over_chunks(X, score, n_columns, keep)
    return table[:, 0] if n_columns == 1 else table


def best_labels(
    X: Any, score: Score, classes: NDArray[Any], zero_is_second: bool = False
) -> NDArray[Any]:
    """Return the label (n,) of the highest score of each row, the first of equals.

    For two classes, a score of zero means the first class, unless `zero_is_second`.
    """
    labels = np.empty(X.shape[0], classes.dtype)

    def decide(start: int, stop: int, scores: NDArray[Any]) -> None:
        if len(classes) == 2:
            place = (scores[0] >= 0 if zero_is_second else scores[0] > 0).view(np.int8)
        else:
            place = _highest(scores)
        # Without the mode every number is checked for its range first, at ten times the price.
        np.take(classes, place, out=labels[start:stop], mode="clip")

    _over_chunks(X, score, 1 if len(classes) == 2 else len(classes), decide)
    return labels


def log_probabilities(scores: NDArray[Any]) -> NDArray[Any]:
    """Return log P(y | x) (n, K) from the log-odds (n,) of two classes, or joint scores (n, K)."""
    if scores.ndim == 1:
        with np.errstate(over="ignore"):
            return np.stack([-np.logaddexp(0, scores), -np.logaddexp(0, -scores)], axis=1)
    return normalized(scores)


def normalized(scores: NDArray[Any]) -> NDArray[Any]:
    """Return scores (n, K) minus the logarithm of the sum of their exponentials in each row.

    The best score is subtracted first: with scores beyond 1e16, log K would be lost. Where it is
    infinite, only the scores equal to it have a share.
    """
    best = scores.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        away = np.where(scores == best, scores.dtype.type(0), scores - best)
    return np.asarray(away - np.log(np.exp(away).sum(axis=1, keepdims=True)))


def probabilities(scores: NDArray[Any]) -> NDArray[Any]:
    """Return P(y | x) (n, K); arguments as for `log_probabilities`."""
    if scores.ndim == 1:
        return np.stack([expit(-scores), expit(scores)], axis=1)
    P = np.asarray(np.exp(log_probabilities(scores)))
    # Scores that differ by less than the rounding of one give equal probabilities: the best is
    # still the largest of them.
    best = scores.argmax(axis=1)
    tied = np.flatnonzero(P.argmax(axis=1) != best)
    P[tied, best[tied]] = np.nextafter(P[tied].max(axis=1), P.dtype.type(2))
    return P


def _over_chunks(
    X: Any, score: Score, n_columns: int, use: Callable[[int, int, NDArray[Any]], None]
) -> None:
    """Call ``use(start, stop, scores)`` with the scores (K, b) of each chunk of rows."""
    large = not sp.issparse(X) and X.size >= LARGE and X.shape[1] >= 4 and X.flags.c_contiguous
    if large and isinstance(score, Planes) and len(score.coef) <= MOST_PLANES:
        score = score.in_loop()

    def work(start: int, stop: int) -> None:
        rows = X[start:stop]
        with np.errstate(invalid="ignore", over="ignore"):
            scores = score(rows)
            if not np.isfinite(scores.sum()):
                with checks.naming_columns(rows):
                    checks.finite(rows)
                # A class without a share may score -inf, and two classes plus or minus infinity.
                best = scores.max(axis=0)
                if np.isnan(best).any() or (len(scores) > 1 and np.isinf(best).any()):
                    raise checks.too_large("The scores of X are", ALIKE)
        use(start, stop, scores)

    cells = max(X.nnz if sp.issparse(X) else X.size, X.shape[0] * n_columns)
    if isinstance(score, InLoop):
        cells = cells * threads.CELLS_PER_CHUNK // LARGE
    if cells <= SMALL:
        work(0, X.shape[0])  # limiting the threads of BLAS takes longer than this
        return
    with one_blas_thread():
        threads.over_chunks(work, X.shape[0], cells)


def _highest(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Return the index of the highest score (K, b) in each column, the first of equals."""
    best, place = scores[0].copy(), np.zeros(scores.shape[1], np.intp)
    for k in range(1, len(scores)):
        np.copyto(place, k, where=scores[k] > best)
        np.maximum(best, scores[k], out=best)
    return place


# From scores to classes and probabilities, as logistic models have them.


class LogisticScores:
    """A classifier whose scores are log-odds, or logarithms of probabilities up to a constant."""

    classes_: NDArray[Any]
    decision_function: Callable[[Any], NDArray[Any]]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row; of equals the first in `classes_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the class probabilities of X, shape (n, K).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        return probabilities(self._comparable_scores(X))

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithm of `predict_proba`, exact where probabilities are tiny.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        return log_probabilities(self._comparable_scores(X))

    def _comparable_scores(self, X: Any) -> NDArray[Any]:
        """Return log-odds (n,) of two classes, or scores (n, K) to normalize."""
        check_is_fitted(self)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.decision_function(X)
        return checks.in_range(scores, "The scores of X are", ALIKE)  # type: ignore[no-any-return]


class PlaneScores:
    """A classifier by planes coef_ (K, d) and intercept_ (K,), or of two classes one plane."""

    classes_: NDArray[Any]
    coef_: NDArray[Any]
    intercept_: NDArray[Any]
    _zero_is_second = False  # whether a row on the plane is of the second class

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores ``X @ coef_.T + intercept_``, shape (n,) for two classes, else (n, K).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        self._check_known()
        return self._plane_scores(rows_to_score(self, X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of the highest score of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        self._check_known()
        score = Planes(self.coef_, self.intercept_)
        return best_labels(rows_to_score(self, X), score, self.classes_, self._zero_is_second)

    def explain(self, x: Any, rival: Any = None, feature_names: Any = None) -> Explanation:
        """Explain the prediction of one row: what each feature adds to the lead of its class.

        The lead is the difference of the scores, measured from the middle of the data.

        Parameters
        ----------
        x : array-like of shape (d,) or (1, d)
        rival : label or None
            The class to compare with; the one with the next highest score if None.
        feature_names : array-like of shape (d,) or None
        """
        self._check_known()
        X = one_row(self, x, lambda X: rows_to_score(self, X))
        scores, coef, intercept = self._plane_scores(X), self.coef_, self.intercept_
        if scores.ndim == 1:
            positive = scores[0] >= 0 if self._zero_is_second else scores[0] > 0
            scores = np.array([[0.0, 1.0 if positive else -1.0]])
            coef, intercept = np.vstack([0 * coef, coef]), np.append(0.0, intercept)
        places = two_classes(self.classes_, scores[0], rival)
        coef = np.asarray(coef[places[0]] - coef[places[1]], np.float64)
        center, x = self._middle(), (X.toarray() if sp.issparse(X) else X)[0].astype(np.float64)
        start = float(coef @ center + float(intercept[places[0]] - intercept[places[1]]))
        words = ("at the middle", "lead")
        return Explanation.of(self, *places, start, coef * (x - center), feature_names, words)

    def _plane_scores(self, X: Any) -> NDArray[Any]:
        dtype = np.result_type(X.dtype, self.coef_.dtype)
        return all_scores(X, Planes(self.coef_, self.intercept_), len(self.coef_), dtype)

    def _check_known(self) -> None:
        check_is_fitted(self)

    def _middle(self) -> NDArray[Any]:
        """Return the point (d,) from which leads are measured."""
        raise NotImplementedError


def draw_codes(
    n_samples: int, shares: NDArray[np.float64], rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw the indices (n,) of classes by their shares (K,)."""
    checks.integer("n_samples", n_samples, 1)
    return rng.choice(len(shares), size=n_samples, p=shares / shares.sum())
