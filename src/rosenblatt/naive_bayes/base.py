"""What all naive Bayes models share: classes, priors, and decisions by joint probability.

P(y, x) = P(y) prod_j P(x_j | y), always as sums of logarithms.
"""

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.additive_classifier import AdditiveClassifier
from rosenblatt.base import warn
from rosenblatt.explanation import two_classes
from rosenblatt.prediction import JointScores


class NaiveBayes(JointScores, AdditiveClassifier):
    """Decides by the joint probability of class and features."""

    class_log_prior_: NDArray[Any]

    _cure_of_impossible = "Smoothing (alpha > 0) makes every row possible."

    @abstractmethod
    def _log_likelihood(self, X: Any) -> NDArray[Any]:
        """log P(x | y) for each checked row and class, (n, K)."""

    @abstractmethod
    def _log_factors(self, X: Any) -> NDArray[np.float64]:
        """log P(x_j | y) for one checked row (1, d): (K, d), feature by feature."""

    def _log_prior(self) -> NDArray[Any]:
        """What each class starts with, (K,)."""
        return self.class_log_prior_

    def _compared(self, X: Any) -> NDArray[Any]:
        """log P(x, y) less any number for each row of X: all that classes are compared by."""
        return self.predict_joint_log_proba(X)

    def _compared_row(self, X: Any) -> NDArray[Any]:
        """The same for one checked row (1, d): (K,), to the bit what `predict` compares."""
        joint: NDArray[Any] = self._log_likelihood(X)[0] + self._log_prior()
        return joint

    def predict_joint_log_proba(self, X: Any) -> NDArray[Any]:
        """Return log P(x, y) for each row and class, shape (n, K).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        check_is_fitted(self)
        X = self._check_X(X, first=False)
        joint: NDArray[Any] = self._log_likelihood(X) + self._log_prior()
        return joint

    def _labels(self, X: Any) -> NDArray[Any]:
        codes = self._comparable_scores(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def _comparable_scores(self, X: Any) -> NDArray[Any]:
        # A row that is impossible in every class gets the classes' shares, with a warning.
        return self._possible(self._compared(X))

    def _log_density(self, X: Any) -> NDArray[Any]:
        return np.asarray(logsumexp(self.predict_joint_log_proba(X), axis=1))

    def _checked_row(self, X: Any) -> Any:
        return self._check_X(X, first=False)

    def _parts_of(self, X: Any, rival: Any) -> tuple[int, int, float, NDArray[np.float64]]:
        parts, prior = self._log_factors(X), self._log_prior().astype(np.float64)
        joint = self._compared_row(X)
        if np.isneginf(joint).all():
            parts, joint = np.zeros_like(parts), prior
        winner, second = two_classes(self.classes_, joint, rival)
        with np.errstate(invalid="ignore"):  # both impossible: nothing can be said of the feature
            contributions = parts[winner] - parts[second]
            start = float(np.nan_to_num(prior[winner] - prior[second], posinf=np.inf))
        contributions[np.isnan(contributions)] = 0.0
        return winner, second, start, contributions

    def _possible(self, joint: NDArray[Any]) -> NDArray[Any]:
        """The joint log-probabilities, with the prior where a row is impossible in every class."""
        impossible = np.asarray(np.isneginf(joint).all(axis=1))
        if impossible.any():
            self._warn_impossible(impossible)
            joint[impossible] = self._log_prior()
        return joint

    def _warn_impossible(self, impossible: NDArray[np.bool]) -> None:
        """Warn of rows (n,) that have probability zero in every class."""
        warn(
            f"{np.count_nonzero(impossible)} of {len(impossible)} rows have probability zero in "
            f"every class: they get the classes' own shares. {self._cure_of_impossible}"
        )


def log_prior(
    prior: Any, counts: NDArray[np.float64], n_classes: int, uniform: bool = False
) -> NDArray[np.float64]:
    """The logarithm of the classes' shares (K,): given, uniform, or counted."""
    if prior is not None:
        shares = checks.priors(prior, n_classes, "Priors")
        if not np.isclose(shares.sum(), 1.0):
            raise ValueError(f"The sum of the priors should be 1; got {shares.tolist()}.")
    elif uniform:
        shares = np.full(n_classes, 1.0 / n_classes)
    else:
        shares = counts / counts.sum()
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))


def conclude_shares(model: Any, weight: NDArray[np.float64], dtype: Any) -> int:
    """Set weights and shares of a model's classes, given or counted; return how many are free."""
    K, priors = len(model.classes_), model.priors
    model.class_count_ = model._by_class(weight).copy()
    model.class_log_prior_ = log_prior(priors, model.class_count_, K).astype(dtype)
    counted = model.class_count_ / model.class_count_.sum()
    model.class_prior_ = np.array(counted if priors is None else priors, dtype)
    return (K - 1) * (priors is None)


# From counts to logarithms of probabilities, with smoothing from none to infinite.


LEAST_ALPHA = 1e-10  # what force_alpha=False puts in the place of less, as scikit-learn does
FEATURES_PER_BLOCK = 4096

# Above this sums may leave the range of doubles. Shares do not change if all is divided alike.
LARGE = 2.0**960
SMALLER = 2.0**-60


def checked_alpha(alpha: Any, force: bool, n_features: int) -> NDArray[np.float64]:
    """The smoothing as an array, () or (d,)."""
    values = np.asarray(alpha, dtype=np.float64)
    if not isinstance(alpha, Real) and values.shape != (n_features,):
        raise ValueError(
            "When alpha is an array, it should contains `n_features`. "
            f"Got shape {values.shape} instead of ({n_features},)."
        )
    if not (values >= 0).all():
        raise ValueError(f"All values in alpha must be >= 0; got {values.min()}.")
    if not force and values.min() < LEAST_ALPHA:
        warn(
            "alpha too small will result in numeric errors, setting alpha = "
            f"{LEAST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged."
        )
        values = np.maximum(values, LEAST_ALPHA)
    return values


def blocks(n_features: int) -> Iterator[slice]:
    """Ranges of features that are concluded together: what is made on the way stays in cache."""
    for start in range(0, n_features, FEATURES_PER_BLOCK):
        yield slice(start, min(start + FEATURES_PER_BLOCK, n_features))


def log_shares(
    counts: NDArray[Any], alpha: NDArray[np.float64], dtype: Any = np.float64
) -> NDArray[Any]:
    """log((n_v + alpha_v) / sum_v (n_v + alpha_v)) of counts (K, v): Laplace's rule."""
    # Infinite alphas share alone, and equally. Counts that are all zero, without smoothing, say
    # nothing: their shares are equal, the limit for a vanishing alpha. The result is laid out by
    # columns, as products with rows of features read it.
    n_classes, n_features = counts.shape
    if np.isinf(alpha).any():
        counts, alpha = np.zeros(counts.shape), np.isinf(alpha).astype(np.float64)
    unit = unit_of(counts, alpha)
    if unit < 1:
        counts, alpha = counts * unit, alpha * unit
    alpha = np.broadcast_to(alpha, n_features)
    totals = counts.sum(axis=1, dtype=np.float64) + alpha.sum()
    unknown = totals == 0
    log_totals = np.log(np.where(unknown, n_features, totals))
    logs = np.empty((n_features, n_classes), dtype)
    for some in blocks(n_features):
        smoothed = counts[:, some] + alpha[some]
        smoothed[unknown] = 1.0
        with np.errstate(divide="ignore"):
            np.log(smoothed, out=smoothed)
        smoothed -= log_totals[:, np.newaxis]
        logs[some] = smoothed.T
    return logs.T


def unit_of(*numbers: NDArray[Any]) -> float:
    """What to multiply counts and smoothing by, so that their sums are in range: mostly 1."""
    return SMALLER if any(table.max(initial=0) > LARGE for table in numbers) else 1.0
