"""Nearest centroid: each class is one point, and a row belongs to the class whose point is nearest.

Legend: n rows (or their weight), d features, K classes, centroids c (K, d), spread s (d,) within
the classes, x a row. By priors p (K,) that differ, a row goes to the class with the largest
``2 log p_k - |(x - c_k) / s|^2``.
"""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks, prediction
from rosenblatt.additive import rows_needed
from rosenblatt.additive_classifier import AdditiveClassifier, given_shares
from rosenblatt.base import warn
from rosenblatt.prediction import Score
from rosenblatt.registry.row import Contract, Row
from rosenblatt.statistics import Labels, Moments, Statistic
from rosenblatt.statistics.sums import SAME, relative_noise

from .centroids import (
    about,
    class_medians,
    manhattan_squares,
    shrunk,
    squares_about,
    unit_of_deviations,
)

Table = NDArray[np.float64]


def _is_euclidean(model: Any) -> bool:
    return bool(model.metric == "euclidean")


class NearestCentroid(AdditiveClassifier):
    """Assigns each row to the class with the nearest centroid.

    With ``metric="euclidean"`` the centroid is the mean of the class, with ``"manhattan"`` the
    median of each feature. `shrink_threshold` moves centroids towards the mean of all rows [1]_: a
    class's distance from it, in units of ``m_k (s_j + median(s))``, is made smaller by the
    threshold and ends at zero, where the feature no longer speaks for the class.

    Means and spread follow from the moments of the classes, so that streaming, merging and
    forgetting give what a fit on the same rows gives. Medians do not.

    Parameters
    ----------
    metric : {"euclidean", "manhattan"}
        The distance: root of the sum of squares, or sum of absolute differences.
    shrink_threshold : float or None
        How far centroids are shrunk; > 0, or None for not at all.
    priors : {"uniform", "empirical"} or array-like of shape (K,)
        The classes' shares: equal, counted, or given. If they are equal, `predict` compares plain
        distances; else distances divided by the spread, and shares.

    Attributes
    ----------
    classes_ : labels, sorted, shape (K,).
    centroids_ : shape (K, d); shrunk if asked for.
    deviations_ : distances of the centroids from the mean of all rows, in the units above, shape
        (K, d); shrunk if asked for.
    within_class_std_dev_ : the spread s, with the divisor n - K, shape (d,).
    class_prior_ : shape (K,).
    n_parameters_ : how many numbers were estimated and are free.
    statistics_ : the moments, a value with + and -.
    n_features_in_, feature_names_in_ : of the data.

    Notes
    -----
    As in scikit-learn, `decision_function` and `predict_proba` divide distances by the spread even
    where `predict` does not. A feature that does not vary within classes is not divided.

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

    statistics_: Moments
    centroids_: NDArray[Any]
    deviations_: NDArray[Any]
    within_class_std_dev_: NDArray[Any]
    class_prior_: NDArray[Any]

    measured_by = ()
    statistic_type = (Moments, {"full": False, "missing": "refuse"})

    _medians: Table | None = None  # between `_measure` and `_conclude`

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
        return _is_euclidean(self)

    # From rows to a statistic.

    def _measure(
        self, X: Any, y: Labels, sample_weight: NDArray[Any] | None, careful: bool = False
    ) -> Statistic:
        if self._during == "fit" and self.metric == "manhattan":
            self._medians = class_medians(X, y, sample_weight)
        return super()._measure(X, y, sample_weight, careful)

    def _forget_bound(self, before: Any, left: Any) -> float:
        return relative_noise(before, left, pooled=True)  # the spread is one for all classes

    # From a statistic to attributes.

    def _conclude(self) -> None:
        total = self.statistics_.total()
        if self._during != "partial_fit":  # a stream may bring more
            _refuse_what_says_nothing(self.statistics_, total)
        centre, weight = total.mean[0], self._by_class(self.statistics_.weight)
        priors = self._shares(weight)
        centroids = self._centroids()
        spread = self._spread(centroids, centre)
        centroids = np.where(weight[:, None] > 0, self._by_class(centroids), centre)
        unit = unit_of_deviations(spread, weight)
        centroids, deviations = shrunk(centroids, centre, unit, self.shrink_threshold)

        dtype = self.statistics_.dtype
        self.centroids_, self.deviations_ = centroids.astype(dtype), deviations.astype(dtype)
        self.within_class_std_dev_ = spread.astype(dtype)
        self.class_prior_ = priors.astype(dtype)
        counted = isinstance(self.priors, str) and self.priors == "empirical"
        self.n_parameters_ = centroids.size + spread.size + counted * (len(priors) - 1)

    def _centroids(self) -> Table:
        """The centre (k, d) of each class that has rows, before it is shrunk."""
        medians, self._medians = self._medians, None
        if self.metric == "euclidean":
            return self.statistics_.mean
        if medians is None:
            raise rows_needed("metric='manhattan'")
        return medians

    def _spread(self, centroids: Table, centre: Table) -> Table:
        """The root (d,) of the mean square distance from the classes' centroids (k, d)."""
        # About another point than the mean, squares are larger by that of the difference.
        moments, weight = self.statistics_, self.statistics_.weight
        squares = moments.scatter.sum(axis=0) + weight @ (moments.mean - centroids) ** 2
        squares[squares <= SAME * weight.sum() * centre**2] = 0.0  # what rounding leaves
        free = weight.sum() - len(weight)
        return np.sqrt(squares / free) if free > 0 else np.zeros_like(squares)

    def _shares(self, weight: Table) -> Table:
        """The classes' shares (K,): equal, counted or given; none for a class without rows."""
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

    # From attributes to answers.

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

    @available_if(_is_euclidean)  # type: ignore[untyped-decorator]
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

    @available_if(_is_euclidean)  # type: ignore[untyped-decorator]
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

    @available_if(_is_euclidean)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the shares of ``exp(decision_function)``, as scikit-learn does: (n, K)."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def _scale(self) -> Table:
        """What distances are divided by, (d,): the spread, or one where there is none."""
        spread = self.within_class_std_dev_.astype(np.float64)
        return np.where(spread > 0, spread, 1.0)

    def _score(self, priors: Table, scale: Table) -> Score:
        """The score function: (K, b) up to a number common to all classes, or a difference."""
        centroids = self.centroids_.astype(np.float64)
        with np.errstate(divide="ignore"):
            start = 2 * np.log(priors.astype(np.float64))
        if self.metric == "euclidean":
            return prediction.linear(*about(centroids, scale, start))

        def score(rows: Any) -> NDArray[Any]:
            scores = start[:, np.newaxis] - manhattan_squares(rows, centroids, scale)
            return scores[1:] - scores[:1] if len(scores) == 2 else scores

        return score


def _refuse_what_says_nothing(moments: Moments, total: Moments) -> None:
    """Raise if there is one class only, or if no feature varies."""
    checks.several_classes(moments.classes)
    if (total.scatter <= SAME * total.weight[0] * total.mean**2).all():
        raise ValueError(
            "All features have zero variance: the rows are all the same. Add a feature that varies."
        )


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
