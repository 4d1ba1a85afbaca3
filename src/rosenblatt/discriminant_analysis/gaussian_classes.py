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

from rosenblatt import checks, prediction
from rosenblatt.additive_classifier import given_shares
from rosenblatt.base import warn
from rosenblatt.explanation import two_classes
from rosenblatt.prediction import DrawsRows, JointScores, Score
from rosenblatt.statistics import Labels

from .base import Array, Discriminant, shrunk

LOG_TWO_PI = float(np.log(2 * np.pi))


class GaussianDiscriminant(JointScores, Discriminant, DrawsRows):
    """Decides by the joint density of class and features, Gaussian in each class."""

    solver: Any
    shrinkage: Any
    covariance_estimator: Any
    covariance: Any
    means_: NDArray[Any]
    priors_: NDArray[Any]

    @abstractmethod
    def _score(self, X: Any) -> Score:
        """The score function for the rows of X; see `prediction`."""

    @abstractmethod
    def _log_densities(self, rows: Any) -> NDArray[Any]:
        """log P(x, y) of some checked rows, (K, b)."""

    @abstractmethod
    def _spread(self, k: int) -> Array:
        """A matrix (r, d) that turns standard normal rows (n, r) into those of class k."""

    @abstractmethod
    def _compare(self, x: Array, winner: int, rival: int) -> tuple[float, Array]:
        """The log-odds of two classes at x (d,): a start, and the part (d,) of each feature."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the log-odds (n,) of two classes, or log P(y | x) + constant, shape (n, K).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        self._check_known()
        n_columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        X = prediction.rows_to_score(self, X)
        return prediction.all_scores(X, self._score(X), n_columns, self._dtype(X))

    def _labels(self, X: Any) -> NDArray[Any]:
        self._check_known()
        X = prediction.rows_to_score(self, X)
        return prediction.best_labels(X, self._score(X), self.classes_)

    def _comparable_scores(self, X: Any) -> NDArray[Any]:
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.zeros((len(scores), 1), self.means_.dtype)
        return scores

    def _log_density(self, X: Any) -> NDArray[Any]:
        self._check_known()

        def density(rows: Any) -> NDArray[Any]:
            joint = self._log_densities(rows)
            return np.asarray(logsumexp(joint, axis=0))[None]

        X = prediction.rows_to_score(self, X)
        return prediction.all_scores(X, density, 1, self._dtype(X))

    def _draw_classes(self, n_samples: int, rng: np.random.RandomState) -> NDArray[np.intp]:
        self._check_known()
        checks.integer("n_samples", n_samples, 1)
        shares = self.priors_.astype(np.float64)
        return rng.choice(len(self.classes_), size=n_samples, p=shares / shares.sum())

    def _draw_rows(self, codes: NDArray[np.intp], rng: np.random.RandomState) -> NDArray[Any]:
        X = self.means_[codes].astype(np.float64)
        for k in np.unique(codes):
            spread = self._spread(k)
            here = codes == k
            X[here] += rng.standard_normal((np.count_nonzero(here), len(spread))) @ spread
        return np.asarray(X.astype(self.means_.dtype))

    def _checked_row(self, X: Any) -> Any:
        self._check_known()
        return prediction.rows_to_score(self, X)

    def _parts_of(self, X: Any, rival: Any) -> tuple[int, int, float, Array]:
        winner, second = two_classes(self.classes_, self._compared_row(X), rival)
        row = (X.toarray() if sp.issparse(X) else X)[0].astype(np.float64)
        return winner, second, *self._compare(row, winner, second)

    def _compared_row(self, X: Any) -> NDArray[Any]:
        """The scores (K,) of one checked row (1, d), to the bit what `predict` compares."""
        n_columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        scores = prediction.all_scores(X, self._score(X), n_columns, self._dtype(X))
        return np.array([0.0, scores[0]]) if scores.ndim == 1 else scores[0]

    def _dtype(self, X: Any) -> np.dtype[Any]:
        """The precision of scores of X."""
        return np.result_type(X.dtype, self.means_.dtype)

    def _row_reader(self) -> str | None:
        if self.covariance_estimator is not None:
            return "covariance_estimator"
        return "shrinkage='auto'" if self.shrinkage == "auto" else None

    def _diagonal(self) -> bool:
        return bool(self.covariance == "diagonal")

    def _read_again(self, X: Any, y: Labels, sample_weight: NDArray[Any] | None) -> list[Array]:
        """The covariance of each class, then of all rows, as estimated from the rows."""
        if sample_weight is not None:
            raise ValueError(f"sample_weight must be None with {self._row_reader()}.")
        if sp.issparse(X):
            raise TypeError(f"{self._row_reader()} needs a dense X; got a sparse matrix.")
        wholes = [*(X[y.codes == k] for k in range(len(y.classes))), X]
        covariances = [self._estimate(rows) for rows in wholes]
        if self._diagonal():
            covariances = [np.diag(np.diag(covariance)) for covariance in covariances]
        return covariances

    def _estimate(self, X: Array) -> Array:
        """The covariance (d, d) of rows, by an estimator or by Ledoit and Wolf's rule."""
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
        """Raise if the solver does not go with the other settings."""
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

    def _class_covariances(self) -> Array:
        """The covariance (K, d, d) of each class as the settings want it; zero without rows."""
        if self._reread is not None:
            seen: Array = np.stack(self._reread[:-1])
        else:
            weight, scatter = self.statistics_.weight, self._scatters()
            seen = np.stack([
                shrunk(scatter[k] / weight[k], self.shrinkage) for k in range(len(weight))
            ])  # fmt: skip
        return self._by_class(seen)

    def _scatters(self) -> Array:
        """The scatter (k, d, d) of each class that has rows."""
        scatters = self.statistics_.scatter
        return scatters if self.statistics_.full else np.stack([np.diag(s) for s in scatters])

    def _n_parameters(self, n_covariances: int) -> int:
        """Free numbers of the whole model."""
        n_classes, d = len(self.classes_), self.statistics_.n_features
        shares = n_classes - 1 if self.priors is None else 0
        of_each = d if self._diagonal() else d * (d + 1) // 2
        return shares + n_classes * d + n_covariances * of_each

    def _shares(self) -> Array:
        """The classes' shares (K,): given, or counted; none for a class without rows."""
        counted = self._by_class(self.statistics_.weight)
        if self.priors is None:
            return np.asarray(counted / counted.sum())
        shares = given_shares(self.priors, counted)
        if abs(np.sum(self.priors) - 1.0) > 1e-5:
            warn("The priors do not sum to 1. Renormalizing")
        return shares
