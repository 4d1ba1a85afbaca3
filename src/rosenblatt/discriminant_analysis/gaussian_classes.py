"""Classes as Gaussians: P(y) N(x; mean, covariance), by Bayes' rule.

Legend: K classes, d features, priors (K,), means (K, d), covariances (d, d).
"""

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from rosenblatt.additive import AdditiveClassifier, Rows, given_shares, rows_needed
from rosenblatt.base import warn
from rosenblatt.explanation import Explanation, one_row, two_classes
from rosenblatt.prediction import (
    LogisticScores,
    Score,
    all_scores,
    best_labels,
    draw_codes,
    rows_to_score,
)
from rosenblatt.statistics import Labels, Moments

from .base import Array, check_determined, postponing, shrink

LOG_TWO_PI = float(np.log(2 * np.pi))


class GaussianDiscriminant(AdditiveClassifier):
    """A classifier by the joint density of class and features, Gaussian in each class."""

    statistic_type = (Moments, {"missing": "refuse"})
    predict_proba = LogisticScores.predict_proba
    predict_log_proba = LogisticScores.predict_log_proba

    @abstractmethod
    def _solve(self, estimated: list[Array] | None, final: bool) -> None:
        """Set the fitted attributes, or raise `Undetermined`.

        `estimated` are the covariances of each class and of all rows, if the rows were read again.
        """

    @abstractmethod
    def _score(self, X: Any) -> Score:
        """Return the score function for the rows of X; see `prediction`."""

    @abstractmethod
    def _log_densities(self, rows: Any) -> NDArray[Any]:
        """Return log P(x, y) of some checked rows, (K, b)."""

    @abstractmethod
    def _spread(self, k: int) -> Array:
        """Return a matrix (r, d) that maps standard normal rows (n, r) to rows of class k."""

    @abstractmethod
    def _compare(self, x: Array, winner: int, rival: int) -> tuple[float, Array]:
        """Return the log-odds of two classes at x (d,): a start, and a part (d,) per feature."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the log-odds (n,) of two classes, or log P(y | x) + constant, shape (n, K).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        return self._all_scores(self._checked_rows(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row; of equals the first in `classes_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        X = self._checked_rows(X)
        return best_labels(X, self._score(X), self.classes_)

    def score_samples(self, X: Any) -> NDArray[Any]:
        """Return the log-density of each row under the mixture of the classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        X = self._checked_rows(X)

        def density(rows: Any) -> NDArray[Any]:
            return np.asarray(logsumexp(self._log_densities(rows), axis=0))[None]

        return all_scores(X, density, 1, self._dtype(X))

    def explain(self, x: Any, rival: Any = None, feature_names: Any = None) -> Explanation:
        """Explain the prediction of one row: what each feature adds to the log-odds of its class.

        Parameters
        ----------
        x : array-like of shape (d,) or (1, d)
        rival : label or None
            The class to compare with; the second most probable if None.
        feature_names : array-like of shape (d,) or None
        """
        check_determined(self)
        X = one_row(self, x, self._checked_rows)
        scores = self._all_scores(X)
        joint = np.array([0.0, scores[0]]) if scores.ndim == 1 else scores[0]
        places = two_classes(self.classes_, joint, rival)
        row = (X.toarray() if sp.issparse(X) else X)[0].astype(np.float64)
        return Explanation.of(self, *places, *self._compare(row, *places), feature_names)

    def sample(
        self, n_samples: int = 1, random_state: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw rows X (n_samples, d) and labels y (n_samples,) from the model.

        Parameters
        ----------
        n_samples : int
        random_state : int, RandomState instance or None
        """
        check_determined(self)
        rng = check_random_state(random_state)
        codes = draw_codes(n_samples, self.priors_.astype(np.float64), rng)
        X = self.means_[codes].astype(np.float64)
        for k in np.unique(codes):
            spread, here = self._spread(k), codes == k
            X[here] += rng.standard_normal((np.count_nonzero(here), len(spread))) @ spread
        return np.asarray(X.astype(self.means_.dtype)), self.classes_[codes]

    def _checked_rows(self, X: Any) -> Any:
        check_determined(self)
        return rows_to_score(self, X)

    def _all_scores(self, X: Any) -> NDArray[Any]:
        n_columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        return all_scores(X, self._score(X), n_columns, self._dtype(X))

    def _comparable_scores(self, X: Any) -> NDArray[Any]:
        """Return log P(x, y) up to a constant per row, (n, K); of two classes the log-odds."""
        scores = self.decision_function(X)
        return scores if len(self.classes_) > 1 else np.zeros((len(scores), 1), self.means_.dtype)

    def _dtype(self, X: Any) -> np.dtype[Any]:
        return np.result_type(X.dtype, self.means_.dtype)

    def _conclude(self, rows: Rows | None, final: bool) -> None:
        reader = self._row_reader()
        if reader and rows is None:
            raise rows_needed(reader)
        if self.covariance == "diagonal":
            self.statistics_ = self.statistics_.diagonal()
        elif not self.statistics_.full:
            raise ValueError(
                "These statistics do not include products of different features; compute them "
                "with Moments.of(X, y, full=True)."
            )
        estimated = self._estimates(*rows) if reader and rows else None
        self._check_solver()
        with postponing(self, final):
            self._solve(estimated, final)

    def _row_reader(self) -> str | None:
        """Return the setting that needs the rows, not only their statistic, or None."""
        if self.covariance_estimator is not None:
            return "covariance_estimator"
        return "shrinkage='auto'" if self.shrinkage == "auto" else None

    def _statistic_options(self) -> dict[str, Any]:
        return {"full": self.covariance != "diagonal"}

    def _stores_single_rows(self) -> bool:
        return self._row_reader() is None

    def _estimates(self, X: Any, y: Labels, sample_weight: NDArray[Any] | None) -> list[Array]:
        """Return the covariance of each class, then of all rows, estimated from the rows."""
        if sample_weight is not None:
            raise ValueError(f"sample_weight must be None with {self._row_reader()}.")
        if sp.issparse(X):
            raise TypeError(f"{self._row_reader()} needs a dense X; got a sparse matrix.")
        groups = [*(X[y.codes == k] for k in range(len(y.classes))), X]
        covariances = [self._estimate(rows) for rows in groups]
        if self.covariance == "diagonal":
            covariances = [np.diag(np.diag(covariance)) for covariance in covariances]
        return covariances

    def _estimate(self, X: Array) -> Array:
        """Return the covariance (d, d) of rows, by an estimator or by Ledoit and Wolf's rule."""
        if self.covariance_estimator is None:
            scaler = StandardScaler()
            covariance = ledoit_wolf(scaler.fit_transform(X))[0]
            return np.asarray(np.outer(scaler.scale_, scaler.scale_) * covariance, np.float64)
        fitted = clone(self.covariance_estimator, safe=False)
        fitted.fit(X)
        if not hasattr(fitted, "covariance_"):
            name = type(fitted).__name__
            raise ValueError(f"{name} does not have a covariance_ attribute after fit.")
        return np.asarray(fitted.covariance_, np.float64)

    def _check_solver(self) -> None:
        """Raise if the solver does not support the other settings."""
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError(
                "shrinkage not supported with 'svd' solver; choose solver='eigen'."
            )
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError(
                "covariance_estimator is not supported with solver='svd'. Try solver='eigen'."
            )
        if self.covariance_estimator is not None and self.shrinkage not in (None, 0):
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two "
                "can be set."
            )

    def _class_covariances(self, estimated: list[Array] | None) -> Array:
        """Return the covariance (K, d, d) of each class; zero for classes without rows."""
        if estimated is not None:
            return self._by_class(np.stack(estimated[:-1]))
        pairs = zip(self._scatters(), self.statistics_.weight, strict=True)
        return self._by_class(np.stack([shrink(s / w, self.shrinkage) for s, w in pairs]))

    def _scatters(self) -> Array:
        """Return the scatter (k, d, d) of each class that has rows."""
        scatters = self.statistics_.scatter
        return scatters if self.statistics_.full else np.stack([np.diag(s) for s in scatters])

    def _n_parameters(self, n_covariances: int) -> int:
        """Return the number of free parameters."""
        n_classes, d = len(self.classes_), self.statistics_.n_features
        shares = n_classes - 1 if self.priors is None else 0
        of_each = d if self.covariance == "diagonal" else d * (d + 1) // 2
        return int(shares + n_classes * d + n_covariances * of_each)

    def _shares(self) -> Array:
        """Return the given or counted shares (K,) of the classes; zero without rows."""
        counted = self._by_class(self.statistics_.weight)
        if self.priors is None:
            return np.asarray(counted / counted.sum())
        shares = given_shares(self.priors, counted)
        if abs(np.sum(self.priors) - 1.0) > 1e-5:
            warn("The priors do not sum to 1. Renormalizing")
        return shares

    def _forget_bound(self, left: Any) -> float:
        return float(left.relative_noise(pooled=True))  # the covariance is one for all classes
