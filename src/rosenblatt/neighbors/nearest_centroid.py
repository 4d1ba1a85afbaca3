"""Nearest centroid classifier.

Legend: n rows (or their weight), d features, K classes, centroids c (K, d), spread s (d,) within
the classes, x a row. By priors p (K,) that differ, a row goes to the class with the largest
``2 log p_k - |(x - c_k) / s|^2``.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks, prediction
from rosenblatt.additive import AdditiveClassifier, Rows, given_shares, rows_needed
from rosenblatt.base import warn
from rosenblatt.prediction import Score
from rosenblatt.registry.row import Contract, Row
from rosenblatt.statistics import Labels, Moments

Table = NDArray[np.float64]

ROUNDING = 2.0**-36  # relative rounding error of a sum of weights
SAME = 2.0**-84  # a spread of less than 2**-42 of the size of the numbers is rounding


class NearestCentroid(AdditiveClassifier):
    """Nearest centroid classifier: predicts the class with the nearest centroid.

    With ``metric="euclidean"`` the centroid is the mean of the class, with ``"manhattan"`` the
    median of each feature. `shrink_threshold` moves centroids towards the mean of all rows [1]_:
    the deviation of a class, in units of ``m_k (s_j + median(s))``, is reduced by the threshold, at
    most to zero, where the feature has no effect on the class.

    Means and spread follow from the moments of the classes, so `partial_fit`, `merge` and `forget`
    agree with a fit to the same rows. Medians do not.

    Parameters
    ----------
    metric : {"euclidean", "manhattan"}
        The distance: root of the sum of squares, or sum of absolute differences.
    shrink_threshold : float or None
        Amount of shrinking, > 0; None for no shrinking.
    priors : {"uniform", "empirical"} or array-like of shape (K,)
        The classes' shares: equal, counted, or given. If they are equal, `predict` compares plain
        distances; else it compares distances divided by the spread, and shares.

    Attributes
    ----------
    classes_ : labels, sorted, shape (K,).
    centroids_ : shape (K, d), after shrinking.
    deviations_ : deviations of the centroids from the mean of all rows, in the units above, shape
        (K, d), after shrinking.
    within_class_std_dev_ : the spread s, with the divisor n - K, shape (d,).
    class_prior_ : shape (K,).
    n_parameters_ : number of free parameters.
    statistics_ : the moments of the classes.
    n_features_in_, feature_names_in_ : of the data.

    Notes
    -----
    As in scikit-learn, `decision_function` and `predict_proba` divide distances by the spread even
    where `predict` does not. Features that do not vary within classes are not scaled.

    Examples
    --------
    >>> from rosenblatt import NearestCentroid
    >>> X, y = [[1.0], [3.0], [7.0], [9.0]], ["ham", "ham", "spam", "spam"]
    >>> model = NearestCentroid().fit(X, y)
    >>> model.centroids_.ravel(), model.predict([[4.0], [6.0]])
    (array([2., 8.]), array(['ham', 'spam'], dtype='<U4'))
    >>> model.partial_fit([[5.0]], ["ham"]).centroids_.ravel()
    array([3., 8.])
    >>> model.forget([[5.0]], ["ham"]).centroids_.ravel()
    array([2., 8.])

    References
    ----------
    .. [1] R. Tibshirani, T. Hastie, B. Narasimhan, G. Chu (2002), Diagnosis of multiple cancer
       types by shrunken centroids of gene expression. *PNAS* 99(10), 6567-6572.
    """

    measured_by = ()
    statistic_type = (Moments, {"full": False, "missing": "refuse"})

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "metric": [StrOptions({"euclidean", "manhattan"})],
        "shrink_threshold": [Interval(Real, 0, None, closed="neither"), None],
        "priors": ["array-like", StrOptions({"empirical", "uniform"})],
    }

    def __init__(
        self,
        metric: str = "euclidean",
        *,
        shrink_threshold: float | None = None,
        priors: Any = "uniform",
    ) -> None:
        self.metric = metric
        self.shrink_threshold = shrink_threshold
        self.priors = priors

    def _stores_single_rows(self) -> bool:
        return bool(self.metric == "euclidean")

    def _forget_bound(self, left: Any) -> float:
        return float(left.relative_noise(pooled=True))  # the spread is one for all classes

    def _conclude(self, rows: Rows | None, final: bool) -> None:
        total = self.statistics_.total()
        if final:
            checks.several_classes(self.statistics_.classes)
            if (total.scatter <= SAME * total.weight[0] * total.mean**2).all():
                raise ValueError("All features have zero variance: the rows are all the same.")
        center, weight = total.mean[0], self._by_class(self.statistics_.weight)
        priors = self._shares(weight)
        if self.metric == "manhattan" and rows is None:
            raise rows_needed("metric='manhattan'")
        means = self.statistics_.mean
        centroids = class_medians(*rows) if self.metric == "manhattan" and rows else means
        spread = self._spread(centroids, center)
        centroids = np.where(weight[:, None] > 0, self._by_class(centroids), center)
        # m_k (s_j + median(s)) with m_k^2 = 1 / n_k - 1 / n; m_k s_j is the standard error of the
        # mean of n_k rows relative to the mean of all. The median limits the influence of features
        # with little variance.
        m_squared = 1 / np.where(weight > 0, weight, 1.0) - 1 / weight.sum()
        m = np.sqrt(np.where(weight > 0, m_squared, 0.0).clip(0))
        unit = m[:, np.newaxis] * (spread + np.median(spread))
        centroids, deviations = shrunk(centroids, center, unit, self.shrink_threshold)

        dtype = self.statistics_.dtype
        self.centroids_, self.deviations_ = centroids.astype(dtype), deviations.astype(dtype)
        self.within_class_std_dev_ = spread.astype(dtype)
        self.class_prior_ = priors.astype(dtype)
        counted = isinstance(self.priors, str) and self.priors == "empirical"
        self.n_parameters_ = centroids.size + spread.size + counted * (len(priors) - 1)

    def _spread(self, centroids: Table, center: Table) -> Table:
        """Return the root mean square (d,) of the deviations from the centroids (k, d)."""
        # Squares about another point than the mean are larger by the square of the difference.
        moments, weight = self.statistics_, self.statistics_.weight
        squares = moments.scatter.sum(axis=0) + weight @ (moments.mean - centroids) ** 2
        squares[squares <= SAME * weight.sum() * center**2] = 0.0  # rounding
        free = weight.sum() - len(weight)
        return np.sqrt(squares / free) if free > 0 else np.zeros_like(squares)

    def _shares(self, weight: Table) -> Table:
        """Return the equal, counted or given shares (K,) of the classes; 0 without rows."""
        if isinstance(self.priors, str):
            shares = weight if self.priors == "empirical" else (weight > 0).astype(np.float64)
            return np.asarray(shares / shares.sum())
        return given_shares(self.priors, weight)

    def report_warnings(self) -> None:
        """Warn of priors that do not sum to one, and of features without spread."""
        if not isinstance(self.priors, str) and not np.isclose(np.sum(self.priors), 1.0):
            warn("The priors do not sum to 1. Normalizing such that it sums to one.")
        flat = np.flatnonzero(self.within_class_std_dev_ == 0)
        if len(flat):
            warn(
                f"within_class_std_dev_ has at least 1 zero standard deviation: {len(flat)} "
                f"feature(s) do not vary within the classes, the first is column {flat[0]}."
            )

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of the nearest centroid of each row; of equals the first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        check_is_fitted(self)
        X = prediction.rows_to_score(self, X)
        seen = self._by_class(self.statistics_.weight) > 0
        equal = np.isclose(self.class_prior_[seen], 1 / np.count_nonzero(seen)).all()
        priors = np.where(self.class_prior_ > 0, 1.0, 0.0) if equal else self.class_prior_
        scale = np.ones(len(self.within_class_std_dev_)) if equal else self._scale()
        return prediction.best_labels(X, self._score(priors, scale), self.classes_)

    @available_if(lambda model: model.metric == "euclidean")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return ``2 log p_k - |(x - c_k) / s|^2``: (n, K), or the second less the first of two."""
        check_is_fitted(self)
        X = prediction.rows_to_score(self, X)
        scale, K = self._scale(), len(self.classes_)
        differences = self._score(self.class_prior_, scale)
        common = squares_about(self.centroids_.astype(np.float64), scale)

        def score(rows: Any) -> NDArray[Any]:
            return np.asarray(differences(rows) - common(rows))

        dtype = np.result_type(X.dtype, self.centroids_.dtype)
        chosen, n_columns = (differences, 1) if K == 2 else (score, K)
        return prediction.all_scores(X, chosen, n_columns, dtype)

    @available_if(lambda model: model.metric == "euclidean")  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithm of `predict_proba`, exact where probabilities are tiny."""
        check_is_fitted(self)
        X = prediction.rows_to_score(self, X)
        K, score = len(self.classes_), self._score(self.class_prior_, self._scale())
        scores = prediction.all_scores(X, score, 1 if K == 2 else K, np.float64)
        if K == 1:
            scores = scores[:, np.newaxis]
        dtype = np.result_type(X.dtype, self.centroids_.dtype)
        return prediction.log_probabilities(scores).astype(dtype, copy=False)

    @available_if(lambda model: model.metric == "euclidean")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the shares of ``exp(decision_function)``, as scikit-learn does: (n, K)."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def _scale(self) -> Table:
        """Return the divisors (d,) of distances: the spread, or one where it is zero."""
        spread = self.within_class_std_dev_.astype(np.float64)
        return np.where(spread > 0, spread, 1.0)

    def _score(self, priors: Table, scale: Table) -> Score:
        """Return the score function: (K, b) up to a common constant, or the difference of two."""
        centroids = self.centroids_.astype(np.float64)
        with np.errstate(divide="ignore"):
            start = 2 * np.log(priors.astype(np.float64))
        if self.metric == "euclidean":
            return prediction.Planes(*about(centroids, scale, start))

        def score(rows: Any) -> NDArray[Any]:
            scores = start[:, np.newaxis] - manhattan_squares(rows, centroids, scale)
            return scores[1:] - scores[:1] if len(scores) == 2 else scores

        return score


def class_medians(X: Any, y: Labels, weight: NDArray[Any] | None) -> Table:
    """Return the median (k, d) of each feature in each class with weight."""
    kept = np.ones(len(y.codes), bool) if weight is None else weight > 0
    medians = []
    for k in np.unique(y.codes[kept]):
        members = np.flatnonzero(kept & (y.codes == k))
        if weight is None and not sp.issparse(X):
            medians.append(np.median(X[members].astype(np.float64), axis=0))
        else:
            w = np.ones(len(members)) if weight is None else weight[members]
            medians.append(_medians(X[members], w))
    return np.array(medians)


def _medians(rows: Any, weight: Table) -> Table:
    """Return the weighted median (d,) of each column: half of the weight lies on either side."""
    # If a value ends exactly at half of the weight, the median is the mean of it and the next.
    values, columns, weights = _cells(rows, weight)
    order = np.lexsort((values, columns))
    values, weights = values[order], weights[order]
    ends = np.cumsum(np.bincount(columns, minlength=rows.shape[1]))
    starts = ends - np.bincount(columns, minlength=rows.shape[1])
    reached = np.cumsum(weights)
    half = np.repeat(reached[ends - 1] - weight.sum() / 2, ends - starts)
    near = ROUNDING * weight.sum()
    below = starts + np.add.reduceat(reached < half - near, starts, dtype=np.intp)
    up_to = starts + np.add.reduceat(reached <= half + near, starts, dtype=np.intp)
    return np.asarray((values[below] + values[np.minimum(up_to, ends - 1)]) / 2)


def _cells(rows: Any, weight: Table) -> tuple[Table, NDArray[np.intp], Table]:
    """Return values, columns and weights of all cells; the zeros of a sparse column are one."""
    n, d = rows.shape
    if not sp.issparse(rows):
        columns = np.repeat(np.arange(d), n)
        return rows.T.ravel().astype(np.float64), columns, np.tile(weight, d)
    stored = rows.tocsr(copy=True)
    stored.sum_duplicates()
    weights = np.repeat(weight, np.diff(stored.indptr))
    columns = np.concatenate([stored.indices, np.arange(d)]).astype(np.intp)
    left = weight.sum() - np.bincount(stored.indices, weights, minlength=d)
    full = np.bincount(stored.indices, minlength=d) == n  # without zeros
    left = np.where(full, 0.0, left.clip(0))
    values = np.concatenate([stored.data.astype(np.float64), np.zeros(d)])
    return values, columns, np.concatenate([weights, left])


def shrunk(
    centroids: Table, center: Table, unit: Table, threshold: float | None
) -> tuple[Table, Table]:
    """Return centroids and their deviations in units, both (K, d), after shrinking."""
    # Where the unit is zero, deviations are infinite and do not shrink.
    away = centroids - center
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.where(away == 0, 0.0, away / unit)
    if threshold is None:
        return centroids, deviations
    size = (np.abs(deviations) - threshold).clip(0)
    deviations = np.sign(deviations) * size + 0.0  # no minus zero
    fixed = np.isinf(deviations)
    moved = center + np.where(fixed, 0.0, deviations) * unit
    return np.where(fixed, centroids, moved), deviations


def about(centroids: Table, scale: Table, start: Table) -> tuple[Table, Table]:
    """Return planes and intercepts of ``start_k - |(x - c_k) / scale|^2``, up to a constant."""
    # About the mean o of the centroids, with z = (x - o) / scale, the square is ``|z|^2 - 2 z.z_k +
    # |z_k|^2``, and |z|^2 is the same for all classes. Two classes have one plane, the difference.
    origin = centroids.mean(axis=0)
    away = (centroids - origin) / scale
    coef = 2 * away / scale
    intercept = start - (away**2).sum(axis=1) - coef @ origin
    if len(centroids) == 2:
        return coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    return coef, intercept


def squares_about(centroids: Table, scale: Table) -> Callable[[Any], Table]:
    """Return the function of rows with the values of the common part, |z|^2: (b,)."""
    origin, weight = centroids.mean(axis=0), 1 / scale**2

    def squares(rows: Any) -> Table:
        if not sp.issparse(rows):
            return np.asarray((rows - origin) ** 2 @ weight)
        linear = rows @ (-2 * weight * origin)
        return np.asarray(rows.multiply(rows) @ weight + linear + weight @ origin**2)

    return squares


def manhattan_squares(rows: Any, centroids: Table, scale: Table) -> Table:
    """Return ``(sum_j |x_j - c_kj| / scale_j)^2``, (K, b), without making sparse rows dense."""
    if not sp.issparse(rows):
        return np.asarray(cdist(centroids / scale, rows / scale, "cityblock") ** 2)
    if not rows.has_canonical_format:  # repeated entries are summed
        rows = rows.copy()
        rows.sum_duplicates()
    columns, values = rows.indices, rows.data.astype(np.float64)
    sums = np.empty((len(centroids), rows.shape[0]))
    for k, c in enumerate(centroids):
        # Where a row is zero, its distance is |c|; stored values change it.
        excess = (np.abs(values - c[columns]) - np.abs(c[columns])) / scale[columns]
        stored = sp.csr_matrix((excess, columns, rows.indptr), shape=rows.shape)
        sums[k] = np.asarray(stored.sum(axis=1)).ravel() + (np.abs(c) / scale).sum()
    return sums.clip(0) ** 2


ROW = Row(
    "NearestCentroid",
    page="neighbors.md",
    certificate="nearest_centroid",
    contract=Contract(
        tampered=(
            {"shrink_threshold": 0.5, "priors": "empirical"},
            {"metric": "manhattan", "priors": [0.2, 0.3, 0.5]},
        ),
        settings=(
            {},
            {"shrink_threshold": 0.2, "priors": "empirical"},
            {"metric": "manhattan"},
            {"metric": "manhattan", "shrink_threshold": 0.2, "priors": "empirical"},
        ),
        checked=({}, {"shrink_threshold": 0.2, "priors": "empirical"}),
    ),
    peer_tests=("neighbors/tests/test_nearest_centroid.py",),
)
