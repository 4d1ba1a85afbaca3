"""Naive Bayes for features that are present or absent."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from rosenblatt.loops.rows import summed_duplicates
from rosenblatt.registry.row import Candidate, Contract, Row
from rosenblatt.statistics import FeatureCounts

from . import linear_scores
from .base import COUNT_PARAMETERS, NaiveBayes, blocks, checked_alpha, unit_of
from .linear_scores import ALL, LinearForm, known_row


class BernoulliNB(NaiveBayes):
    """Naive Bayes for features that are present or absent.

    Feature j is present in a row of class y with probability ``(n_j + alpha) / (n + 2 alpha)``,
    n_j the class's rows that have it, of n. Absent features count as well, with the rest.

    Parameters
    ----------
    alpha : smoothing, a number or one for each feature: 0 is maximum likelihood, inf makes every
        probability 1/2. It is the mode under a prior Beta(alpha + 1, alpha + 1).
    force_alpha : whether an alpha below 1e-10 is kept; if not, it is raised to that.
    binarize : features above this are present; None if X holds 0 and 1 only (numbers between
        them count as partly present).
    fit_prior : whether class probabilities are counted; if not, they are equal.
    class_prior : class probabilities, shape (K,), in the place of either.
    beta_prior : the two parameters >= 1 of a Beta prior for the probability of presence, shape
        (2,), or (2, d) for each feature its own; in the place of `alpha` if given.
    missing : what NaN does: ``"refuse"``, or ``"ignore"`` to leave it out of counts and products;
        n is then the class's rows in which the feature is known.

    Attributes
    ----------
    classes_ : the classes, shape (K,).
    class_count_ : the weight of each class's rows, shape (K,).
    feature_count_ : the weight of those that have each feature, shape (K, d).
    class_log_prior_ : log P(y), shape (K,).
    feature_log_prob_ : log P(feature j present | y), shape (K, d).
    feature_log_absent_ : log P(feature j absent | y), shape (K, d).
    n_parameters_ : how many free numbers were learned.
    statistics_ : the counts themselves, with + and -.
    n_features_in_, feature_names_in_ : the number of features, and their names if known.

    Examples
    --------
    >>> from rosenblatt import BernoulliNB
    >>> word, label = [[0], [0], [0], [1], [1]], ["ham", "ham", "ham", "spam", "spam"]
    >>> BernoulliNB().fit(word, label).predict_proba([[1]]).round(6)
    array([[0.285714, 0.714286]])
    >>> BernoulliNB(alpha=0).fit(word, label).predict_proba([[1]])
    array([[0., 1.]])
    >>> BernoulliNB(beta_prior=(2, 2)).fit(word, label).predict_proba([[1]]).round(6)
    array([[0.285714, 0.714286]])
    """

    statistics_: FeatureCounts
    feature_log_prob_: NDArray[Any]
    feature_log_absent_: NDArray[Any]

    measured_by = ("binarize", "missing")
    statistic_type = (FeatureCounts, {})
    simpler_when_larger = ("alpha",)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COUNT_PARAMETERS,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
        "beta_prior": ["array-like", None],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        beta_prior: Any = None,
        missing: str = "refuse",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.beta_prior = beta_prior
        self.missing = missing

    def _check_X(self, X: Any, first: bool) -> Any:
        # A number stored in two parts may be above the threshold in none.
        X = summed_duplicates(linear_scores.check_rows(self, X, first))
        if self.binarize is None:
            numbers = X.data if sp.issparse(X) else X
            largest = np.fmax.reduce(numbers, axis=None, initial=0)
            if largest > 1:
                raise ValueError(
                    f"X must hold 0 and 1 when binarize is None; got {largest}. A number for "
                    "binarize makes what is above it 1."
                )
        return X

    def _check_statistic(self, statistic: FeatureCounts) -> None:
        super()._check_statistic(statistic)
        most = statistic.feature_weight * (1 + 1e-9)
        if (statistic.sums > most).any():
            k, j = np.argwhere(statistic.sums > most)[0]
            raise ValueError(
                f"BernoulliNB needs counts of rows; feature {j} of class {statistic.classes[k]!s} "
                "has a sum above the weight of its rows. Use FeatureCounts.of(X, y, binarize=0.0)."
            )

    def _conclude(self, rows: Any, final: bool) -> None:
        counts = self._by_class(self.statistics_.sums)
        weight = self._by_class(self.statistics_.feature_weight).T  # (1, K), or (d, K)
        added = self._added()
        unit = unit_of(weight, *added)
        dtype, n_features = self.statistics_.dtype, counts.shape[1]
        logs, rest = (np.empty((n_features, len(counts)), dtype) for _ in range(2))
        for some in blocks(n_features):
            known, more_present, more_absent = (
                (numbers if len(numbers) == 1 else numbers[some]) * unit
                for numbers in (weight, *added)
            )
            present = counts[:, some].T * unit  # (m, K)
            absent = np.maximum(known - present, 0)  # rounding, of fractions
            # A class of no rows without smoothing: the limit of a vanishing alpha is 1/2.
            with np.errstate(divide="ignore", invalid="ignore"):
                log_totals = np.log(known + more_present + more_absent)
                parts = log_totals, more_present, more_absent
                logs[some] = _log_part(present + more_present, *parts)
                parts = log_totals, more_absent, more_present
                rest[some] = _log_part(absent + more_absent, *parts)
        self.feature_log_prob_, self.feature_log_absent_ = logs.T, rest.T
        n_shares = self._set_prior(self.class_prior, not self.fit_prior)
        self.n_parameters_ = logs.size + n_shares

    def _added(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the numbers of rows with and without the feature to add, each (1,) or (d, 1)."""
        if self.beta_prior is None:
            alpha = checked_alpha(self).reshape(-1, 1)
            return alpha, alpha
        prior = np.asarray(self.beta_prior, dtype=np.float64)
        if prior.shape not in ((2,), (2, self.n_features_in_)) or not (prior >= 1).all():
            raise ValueError(
                "beta_prior must be two numbers >= 1, or two for each feature, shape "
                f"(2, {self.n_features_in_}); got {self.beta_prior!r}."
            )
        added = (prior - 1).reshape(2, -1, 1)
        return added[0], added[1]

    def _linear_form(self, dtype: Any = np.float64, features: Any = ALL) -> LinearForm:
        # log-likelihood = sum_j log P(absent) + sum over present j of log P(present) / P(absent)
        present, absent = self.feature_log_prob_.T[features], self.feature_log_absent_.T
        weights = np.empty(present.shape, dtype)
        np.subtract(present, absent[features], out=weights, dtype=np.float64, casting="same_kind")
        start = absent.sum(axis=0, dtype=np.float64)
        if not np.isfinite(start).all():
            start = np.where(np.isinf(absent), 0.0, absent).sum(axis=0, dtype=np.float64)
        gaps = -absent.astype(np.float64) if self.missing == "ignore" else None  # not in `start`
        return LinearForm(weights, start, self.binarize, gaps)

    feature_count_ = property(linear_scores.feature_count)
    _log_likelihood = linear_scores.log_likelihood
    _joint_log_likelihood = linear_scores.joint_log_likelihood
    _predict_codes = linear_scores.predict_codes
    predict_together = staticmethod(linear_scores.predict_together)

    def _log_factors(self, X: Any) -> NDArray[np.float64]:
        x, known = known_row(self, X)
        present = x if self.binarize is None else (x > self.binarize).astype(np.float64)
        with np.errstate(invalid="ignore"):  # zero times -inf is nothing
            factors = np.nan_to_num(present * self.feature_log_prob_, nan=0.0, neginf=-np.inf)
            factors += np.nan_to_num(
                (1 - present) * self.feature_log_absent_, nan=0.0, neginf=-np.inf
            )
        return np.where(known, factors, 0.0).astype(np.float64, copy=False)

    def _draw_rows(self, codes: NDArray[np.intp], rng: np.random.RandomState) -> NDArray[Any]:
        present = np.exp(self.feature_log_prob_.astype(np.float64))
        draws = rng.random_sample((len(codes), present.shape[1]))
        return np.asarray(draws < present[codes], np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        tags.input_tags.positive_only = self.binarize is None
        return tags


def _log_part(
    counts: NDArray[Any],
    log_totals: NDArray[np.float64],
    added: NDArray[np.float64],
    others: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return log(counts / totals), (d, K), where both may be infinite, or zero."""
    logs = np.log(np.asarray(counts, np.float64, order="C"))
    logs -= log_totals
    if np.isnan(logs).any():
        # infinite over infinite, or nothing over nothing: by what was added alone
        both = np.where(np.isinf(added) & np.isinf(others), 0.5, np.isinf(added))
        shares = np.where(np.isinf(added) | np.isinf(others), both, 0.5)
        logs = np.where(np.isnan(logs), np.log(np.broadcast_to(shares, logs.shape)), logs)
    return logs


ROW = Row(
    "BernoulliNB",
    page="naive_bayes.md",
    certificate="count_naive_bayes",
    compare=(
        Candidate(
            "Bernoulli naive Bayes",
            "short texts, where it matters which words occur",
            {"alpha": (0.01, 0.1, 1.0, 10.0)},
            reads="counts",
            limits=("counts",),
            order=13,
        ),
    ),
    contract=Contract(
        tampered=({"alpha": 0, "binarize": 1}, {"fit_prior": False}),
        settings=(
            {},
            {"alpha": 0},
            {"beta_prior": (2, 3), "fit_prior": False},
            {"missing": "ignore"},
        ),
        checked=({}, {"alpha": 0}, {"beta_prior": (2, 3), "missing": "ignore"}),
    ),
    peer_tests=("tests/test_naive_bayes.py",),
)
