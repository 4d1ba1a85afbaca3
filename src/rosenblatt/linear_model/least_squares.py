"""Classification by least squares: a plane through -1 and +1, or one per class through 0 and 1."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, lapack
from sklearn.utils.validation import check_is_fitted

from rosenblatt import prediction
from rosenblatt.additive import AdditiveClassifier
from rosenblatt.explanation import Explanation, explain_lead, one_row, two_classes
from rosenblatt.statistics import Labels, Moments
from rosenblatt.statistics.precision import relative_noise

# Below this reciprocal condition, features scaled to one, normal equations lose too many digits.
WELL_CONDITIONED = 1e-10
ROUNDING = 1e-14  # a direction with less than this times d of the variance is none

Array = NDArray[np.float64]


class LeastSquaresClassifier(AdditiveClassifier):
    """The least-squares fit of class codes, cut at zero.

    For two classes the codes are -1 and +1, and a row is of the second class where ``w.x + b > 0``.
    For more, each class has a plane fitted to 1 on its rows and 0 on the others, and the highest
    wins. The planes follow from the weight, mean and scatter of each class, so a model streams,
    merges and forgets. Rows far out on their right side pull the plane as much as wrong ones.

    Parameters
    ----------
    fit_intercept : bool
        Whether b is fitted; it is zero otherwise.

    Attributes
    ----------
    coef_, intercept_ : the planes, shapes (K, d) and (K,), for two classes (1, d) and (1,).
    solution_ : "unique", or "minimum norm" where several planes fit equally well and the one with
        the shortest coefficients is taken.
    rank_ : independent directions among the features.
    condition_ : reciprocal of the condition of the normal equations, features scaled to one: near
        1 is good, 0.0 is singular.
    n_parameters_ : free numbers of the model.
    classes_ : the labels, sorted.
    statistics_ : the moments it all follows from.

    Examples
    --------
    >>> from rosenblatt import LeastSquaresClassifier
    >>> X = [[1, 2], [2, 3], [3, 3], [6, 5], [7, 8], [8, 7]]
    >>> model = LeastSquaresClassifier().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.coef_, model.intercept_
    (array([[0.34285714, 0.02337662]]), array([-1.65194805]))
    >>> model.predict([[4, 4], [6, 6]])
    array([1, 2])
    """

    _measured_by = ()
    _stands_on = (Moments, {"full": True, "missing": "refuse"})

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"fit_intercept": ["boolean"]}

    coef_: NDArray[Any]
    intercept_: NDArray[Any]
    statistics_: Moments

    def __init__(self, *, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the fitted codes of the rows of X: (n,) for two classes, (n, K) for more.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n,) or (n, K)
            Columns in the order of `classes_`.
        """
        X = prediction.rows_to_score(self, X)
        score = prediction.linear(self.coef_, self.intercept_)
        dtype = np.result_type(X.dtype, self.coef_.dtype)
        return prediction.all_scores(X, score, len(self.coef_), dtype)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the highest code of each row of X; of equals the first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows to classify.

        Returns
        -------
        y : ndarray of shape (n,)
            Their labels.
        """
        check_is_fitted(self)
        X = prediction.rows_to_score(self, X)
        score = prediction.linear(self.coef_, self.intercept_)
        return prediction.best_labels(X, score, self.classes_)

    def explain(self, x: Any, rival: Any = None, feature_names: Any = None) -> Explanation:
        """Return what each feature of one example adds to the lead of the predicted class.

        The lead is how far its code is above the other's, for two classes above zero; it is counted
        from the mean of the data.

        Parameters
        ----------
        x : array-like of shape (d,) or (1, d)
            The example.
        rival : label or None
            The class to compare with; the one with the next highest code if None.
        feature_names : array-like of shape (d,) or None
            What to call the features, if the data do not.

        Returns
        -------
        explanation : Explanation
            Its parts add up to the lead.
        """
        check_is_fitted(self)
        X = one_row(self, x, lambda X: prediction.rows_to_score(self, X))
        score = prediction.linear(self.coef_, self.intercept_)
        dtype = np.result_type(X.dtype, self.coef_.dtype)
        scores = prediction.all_scores(X, score, len(self.coef_), dtype)
        if scores.ndim == 1:
            scores = np.array([-scores[0], scores[0]])
            coef, intercept = self.coef_ * [[-0.5], [0.5]], self.intercept_ * [-0.5, 0.5]
        else:
            scores, coef, intercept = scores[0], self.coef_, self.intercept_
        winner, second = two_classes(self.classes_, scores, rival)
        plane = coef[winner] - coef[second], intercept[winner] - intercept[second]
        middle = self.statistics_.total().mean[0]
        return explain_lead(self, X, (winner, second), plane, middle, feature_names)

    def _may_wait(self) -> bool:
        return True

    def _measure(
        self, X: Any, y: Labels, sample_weight: NDArray[Any] | None, careful: bool = False
    ) -> Moments:
        # By class, though the equations want the sum only: classes seen later then fit in.
        return Moments.of(X, y, sample_weight, full=True, careful=careful)

    def _measure_groups(
        self,
        X: Any,
        y: Any,
        sample_weight: NDArray[Any] | None,
        groups: NDArray[np.int64],
        n_groups: int,
    ) -> list[Any]:
        return Moments.by_group(X, y, groups, n_groups, sample_weight, full=True)

    def _forget_bound(self, before: Any, left: Any) -> float:
        return relative_noise(before.total(), left.total())

    def _conclude(self) -> None:
        statistic = self.statistics_
        total = statistic.total()
        weight, mean, gram = total.weight[0], total.mean[0], total.scatter[0]
        shares = self._by_class(statistic.weight) / weight
        # sum over rows of (x - mean) t, for the codes t = 1 in a class and 0 elsewhere
        products = ((statistic.mean - mean) * statistic.weight[:, None]).T
        products = self._by_class(np.ascontiguousarray(products.T)).T
        if len(self.classes_) == 2:  # t = 2 [second] - 1
            products, shares = 2 * products[:, 1:], 2 * shares[1:] - 1
        if not self.fit_intercept:  # about the origin instead of the mean
            gram = gram + weight * np.outer(mean, mean)
            products = products + weight * np.outer(mean, shares)
        coef = self._solve(gram, products).T
        intercept = shares - coef @ mean if self.fit_intercept else np.zeros(len(coef))
        self.coef_ = coef.astype(statistic.dtype)
        self.intercept_ = intercept.astype(statistic.dtype)
        self.n_parameters_ = self.coef_.size + (len(coef) if self.fit_intercept else 0)

    def _solve(self, gram: Array, products: Array) -> Array:
        """The shortest coef (d, t) with ``gram @ coef = products``."""
        d = len(gram)
        deviation = np.sqrt(np.diag(gram))
        scale = np.where(deviation > 0, deviation, 1.0)
        scaled, right = gram / np.outer(scale, scale), products / scale[:, None]
        factor, failed = lapack.dpotrf(scaled, lower=True)
        norm = np.abs(scaled).sum(axis=0).max()
        self.condition_ = 0.0 if failed else float(lapack.dpocon(factor, norm, uplo="L")[0])
        if self.condition_ > WELL_CONDITIONED:
            self.rank_, self.solution_ = d, "unique"
            return np.asarray(cho_solve((factor, True), right) / scale[:, None])
        values, axes = np.linalg.eigh(scaled)
        kept = values > ROUNDING * d
        self.rank_ = int(np.count_nonzero(kept))
        self.solution_ = "unique" if self.rank_ == d else "minimum norm"
        coef = axes[:, kept] @ ((axes[:, kept].T @ right) / values[kept, None]) / scale[:, None]
        if self.rank_ < d:
            # What may be added without changing a score is taken away as far as it goes.
            free = axes[:, ~kept] / scale[:, None]
            coef -= free @ np.linalg.lstsq(free, coef, rcond=None)[0]
        return np.asarray(coef)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
