"""Naive Bayes classifiers: P(y, x) = P(y) prod_j P(x_j | y), in logarithms.

A model defines `_log_likelihood` and `_log_factors` of checked rows. Classes are compared by
`_joint_log_likelihood`; `_predict_codes` may decide faster.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.additive import AdditiveClassifier
from rosenblatt.base import warn
from rosenblatt.explanation import Explanation, one_row, two_classes
from rosenblatt.prediction import draw_codes, log_probabilities, probabilities
from rosenblatt.runtime import threads

CELLS_PER_CHUNK = 1_000_000  # of a prediction: much more than a call costs, much less than the data


class NaiveBayes(AdditiveClassifier):
    """A classifier by the joint probability of class and features."""

    class_count_: NDArray[np.float64]
    class_log_prior_: NDArray[Any]
    n_parameters_: int

    _advice_if_impossible = "Smoothing (alpha > 0) makes every row possible."
    _reads_counts = False  # else features are numbers
    _reads_categories = False

    @abstractmethod
    def _log_likelihood(self, X: Any) -> NDArray[Any]:
        """Return log P(x | y) of checked rows, shape (n, K)."""

    @abstractmethod
    def _log_factors(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x_j | y) of one checked row (1, d) for each feature, shape (K, d)."""

    def _log_prior(self) -> NDArray[Any]:
        """Return log P(y), shape (K,)."""
        return self.class_log_prior_

    def _joint_log_likelihood(self, X: Any) -> NDArray[Any]:
        """Return log P(x, y) of checked rows up to a number for each row, shape (n, K)."""
        joint: NDArray[Any] = self._log_likelihood(X) + self._log_prior()
        return joint

    def _predict_codes(self, X: Any) -> NDArray[np.intp]:
        """Return the index of the best class of checked rows, of equals the first."""
        return np.asarray(self._possible(self._joint_log_likelihood(X)).argmax(axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        codes = self._predict_codes(self._checked_rows(X))
        # Without the mode each index is checked first, at ten times the price.
        return self.classes_.take(codes, mode="clip")

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the class probabilities of X, shape (n, K).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        return probabilities(self._possible(self._joint_log_likelihood(self._checked_rows(X))))

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithm of `predict_proba`, exact where probabilities are tiny.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        return log_probabilities(self._possible(self._joint_log_likelihood(self._checked_rows(X))))

    def predict_joint_log_proba(self, X: Any) -> NDArray[Any]:
        """Return log P(x, y) for each row and class, shape (n, K).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        joint: NDArray[Any] = self._log_likelihood(self._checked_rows(X)) + self._log_prior()
        return joint

    def score_samples(self, X: Any) -> NDArray[Any]:
        """Return the log-density of each row under the mixture of the classes; -inf if impossible.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        return np.asarray(logsumexp(self.predict_joint_log_proba(X), axis=1))

    def explain(self, x: Any, rival: Any = None, feature_names: Any = None) -> Explanation:
        """Explain the prediction of one row: what each feature adds to the log-odds of its class.

        Parameters
        ----------
        x : array-like of shape (d,) or (1, d)
        rival : label or None
            The class to compare with; the second most probable if None.
        feature_names : array-like of shape (d,) or None
        """
        check_is_fitted(self)
        X = one_row(self, x, self._checked_rows)
        parts, prior = self._log_factors(X), self._log_prior().astype(np.float64)
        joint = self._joint_log_likelihood(X)[0]
        if np.isneginf(joint).all():
            parts, joint = np.zeros_like(parts), prior
        winner, second = two_classes(self.classes_, joint, rival)
        with np.errstate(invalid="ignore"):  # a feature that is impossible in both adds nothing
            contributions = parts[winner] - parts[second]
            start = float(np.nan_to_num(prior[winner] - prior[second], posinf=np.inf))
        contributions[np.isnan(contributions)] = 0.0
        return Explanation.of(self, winner, second, start, contributions, feature_names)

    @available_if(lambda model: hasattr(model, "_draw_rows"))  # type: ignore[untyped-decorator]
    def sample(
        self, n_samples: int = 1, random_state: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw rows X (n_samples, d) and labels y (n_samples,) from the model.

        Parameters
        ----------
        n_samples : int
        random_state : int, RandomState instance or None
        """
        check_is_fitted(self)
        rng = check_random_state(random_state)
        codes = draw_codes(n_samples, np.exp(self.class_log_prior_.astype(np.float64)), rng)
        return self._draw_rows(codes, rng), self.classes_[codes]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = tags.input_tags.positive_only = self._reads_counts
        if self._reads_categories:
            tags.input_tags.sparse = False
            tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _checked_rows(self, X: Any) -> Any:
        """Return the rows of X as the methods above take them."""
        if "n_features_in_" not in vars(self):  # the full check takes long for a single row
            check_is_fitted(self)
        return self._check_X(X, first=False)

    def _possible(self, joint: NDArray[Any]) -> NDArray[Any]:
        """Return joint log-probabilities, the prior where a row is impossible in every class."""
        impossible = np.asarray(np.isneginf(joint).all(axis=1))
        if impossible.any():
            self._warn_impossible(impossible)
            joint[impossible] = self._log_prior()
        return joint

    def _warn_impossible(self, impossible: NDArray[np.bool]) -> None:
        """Warn of rows (n,) that have probability zero in every class."""
        warn(
            f"{np.count_nonzero(impossible)} of {len(impossible)} rows have probability zero in "
            f"every class: they get the classes' own shares. {self._advice_if_impossible}"
        )

    def _set_prior(self, prior: Any, uniform: bool = False) -> int:
        """Set the weights and log shares of the classes; return how many shares were learned."""
        K = len(self.classes_)
        self.class_count_ = self._by_class(self.statistics_.weight).copy()
        if prior is not None:
            shares = checks.priors(prior, K, "Priors")
            if not np.isclose(shares.sum(), 1.0):
                raise ValueError(f"The sum of the priors should be 1; got {shares.tolist()}.")
        elif uniform:
            shares = np.full(K, 1.0 / K)
        else:
            shares = self.class_count_ / self.class_count_.sum()
        with np.errstate(divide="ignore"):
            self.class_log_prior_ = np.log(shares).astype(self.statistics_.dtype)
        return 0 if uniform or prior is not None else K - 1

    def _set_class_prior(self) -> int:
        """Call `_set_prior` and set class_prior_; return how many shares were learned."""
        n_learned = self._set_prior(self.priors)
        counted = self.class_count_ / self.class_count_.sum()
        shares = counted if self.priors is None else self.priors
        self.class_prior_ = np.array(shares, self.statistics_.dtype)
        return n_learned


def over_chunks(work: Callable[[int, int], Any], X: Any) -> list[Any]:
    """Return what ``work(start, stop)`` returns for chunks of rows that keep a thread busy."""
    cells = X.nnz if sp.issparse(X) else X.size
    cells = cells * threads.CELLS_PER_CHUNK // CELLS_PER_CHUNK
    return threads.over_chunks(work, X.shape[0], cells)


def relative_to_best(joint: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return joint log-probabilities (n, K) less the best of each row, in another precision."""
    # 32 bits hold what is left: the order of the classes stays.
    if joint.dtype == dtype:
        return joint
    best = joint.max(axis=1, keepdims=True)
    return np.asarray((joint - np.where(np.isfinite(best), best, 0.0)).astype(dtype))


# Smoothed counts, with smoothing from none to infinite.

COUNT_PARAMETERS: dict[str, Any] = {
    "alpha": [Interval(Real, 0, None, closed="left"), Options(Real, {np.inf}), "array-like"],
    "force_alpha": ["boolean"],
    "fit_prior": ["boolean"],
    "class_prior": ["array-like", None],
    "missing": [StrOptions({"refuse", "ignore"})],
}

LEAST_ALPHA = 1e-10  # of force_alpha=False, as in scikit-learn
FEATURES_PER_BLOCK = 4096

# Above this sums may leave the range of doubles. Shares do not change if all is divided alike.
LARGE = 2.0**960
SMALLER = 2.0**-60


def checked_alpha(model: Any) -> NDArray[np.float64]:
    """Return the smoothing of a model as an array, () or (d,)."""
    values, d = np.asarray(model.alpha, dtype=np.float64), model.n_features_in_
    if not isinstance(model.alpha, Real) and values.shape != (d,):
        raise ValueError(
            "When alpha is an array, it should contains `n_features`. "
            f"Got shape {values.shape} instead of ({d},)."
        )
    if not (values >= 0).all():
        raise ValueError(f"All values in alpha must be >= 0; got {values.min()}.")
    if not model.force_alpha and values.min() < LEAST_ALPHA:
        warn(
            "alpha too small will result in numeric errors, setting alpha = "
            f"{LEAST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged."
        )
        values = np.maximum(values, LEAST_ALPHA)
    return values


def blocks(n_features: int) -> Iterator[slice]:
    """Yield ranges of features; temporary arrays of so many stay in cache."""
    for start in range(0, n_features, FEATURES_PER_BLOCK):
        yield slice(start, min(start + FEATURES_PER_BLOCK, n_features))


def log_shares(
    counts: NDArray[Any], alpha: NDArray[np.float64], dtype: Any = np.float64
) -> NDArray[Any]:
    """Return log((n_v + alpha_v) / sum_v (n_v + alpha_v)) of counts (K, v): Laplace's rule."""
    # Infinite alphas share alone, and equally. Counts that are all zero, without smoothing, have
    # equal shares, the limit for a vanishing alpha. The result is laid out by columns, as products
    # with rows of features read it.
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
    """Return the factor with which sums of counts and smoothing are in range: mostly 1."""
    return SMALLER if any(table.max(initial=0) > LARGE for table in numbers) else 1.0
