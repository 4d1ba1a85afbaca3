"""Naive Bayes for counts: multinomial, and its complement."""

from typing import Any, ClassVar, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.prediction import draw_codes
from rosenblatt.registry.row import Candidate, Contract, Row
from rosenblatt.statistics import FeatureCounts

from . import linear_scores
from .base import COUNT_PARAMETERS, NaiveBayes, checked_alpha, log_shares
from .linear_scores import ALL, LinearForm, feature_count, known_row


def refuse_strange(model: Any, X: Any) -> None:
    """Raise if X holds infinity, NaN that is not to be left out, or negative numbers."""
    NaiveBayes._refuse_strange(model, X)
    least = (X.data if sp.issparse(X) else X).min(initial=0)
    if least < 0:
        raise ValueError(
            f"Negative values in data passed to {type(model).__name__} (input X): counts are "
            f"not negative; got {least}."
        )


def count_factors(model: Any, X: Any) -> NDArray[np.float64]:
    """Return the part (K, d) of each feature of one row (1, d) in the scores."""
    x, _ = known_row(model, X)
    if (x < 0).any():
        raise checks.not_counts(x)
    present = x > 0  # an absent feature has no part, whatever its weight
    factors = np.zeros((len(model.classes_), len(x)))
    factors[:, present] = x[present] * model.feature_log_prob_[:, present]
    return factors


def count_form(model: Any, dtype: Any = np.float64, features: Any = ALL) -> LinearForm:
    """Return the scores of a model of counts; NaN adds nothing to them."""
    weights = model.feature_log_prob_.T[features].astype(dtype, order="C", copy=False)
    gaps = np.zeros(weights.shape) if model.missing == "ignore" else None
    # As alpha vanishes, most infinite weights win, and among equals the finite ones decide.
    in_limit = isinstance(model, ComplementNB)
    return LinearForm(weights, np.zeros(len(model.classes_)), gaps=gaps, in_limit=in_limit)


class MultinomialNB(NaiveBayes):
    """Naive Bayes for counts, such as words in documents.

    Each class draws its tokens independently, feature j with probability
    ``(n_j + alpha) / (n + alpha d)``, of the n tokens that the class's rows hold.

    Parameters
    ----------
    alpha : smoothing, a number or one for each feature: 0 is maximum likelihood, inf makes
        features equally likely. It is the mode under a Dirichlet prior with parameters alpha + 1.
    force_alpha : whether an alpha below 1e-10 is kept; if not, it is raised to that.
    fit_prior : whether class probabilities are counted; if not, they are equal.
    class_prior : class probabilities, shape (K,), in the place of either.
    missing : what NaN does: ``"refuse"``, or ``"ignore"`` to leave it out of counts and products,
        as if the row had no such token.

    Attributes
    ----------
    classes_ : the classes, shape (K,).
    class_count_ : the weight of each class's rows, shape (K,).
    feature_count_ : the weighted sum of each feature in each class, shape (K, d).
    class_log_prior_ : log P(y), shape (K,).
    feature_log_prob_ : log P(feature j | y), shape (K, d).
    n_parameters_ : how many free numbers were learned.
    statistics_ : the counts themselves, with + and -.
    n_features_in_, feature_names_in_ : the number of features, and their names if known.

    Examples
    --------
    >>> from rosenblatt import MultinomialNB
    >>> documents = [[2, 0, 1], [1, 1, 0], [0, 2, 1]]  # win, vote, game
    >>> model = MultinomialNB().fit(documents, ["spam", "spam", "ham"])
    >>> model.predict_proba([[1, 1, 0]])
    array([[0.25, 0.75]])
    >>> model.forget([[2, 0, 1]], ["spam"]).class_count_
    array([1., 1.])
    """

    statistics_: FeatureCounts
    feature_log_prob_: NDArray[Any]

    measured_by = ("missing",)
    statistic_type = (FeatureCounts, {"binarize": None})
    simpler_when_larger = ("alpha",)

    _reads_counts = True
    _parameter_constraints: ClassVar[dict[str, Any]] = COUNT_PARAMETERS

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        missing: str = "refuse",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.missing = missing

    def _conclude(self, rows: Any, final: bool) -> None:
        counts = self._by_class(self.statistics_.sums)
        self.feature_log_prob_ = log_shares(counts, checked_alpha(self), self.statistics_.dtype)
        n_shares = self._set_prior(self.class_prior, not self.fit_prior)
        self.n_parameters_ = len(counts) * (counts.shape[1] - 1) + n_shares

    feature_count_ = property(feature_count)
    _check_X = linear_scores.check_rows
    _linear_form = count_form
    _log_likelihood = linear_scores.log_likelihood
    _joint_log_likelihood = linear_scores.joint_log_likelihood
    _predict_codes = linear_scores.predict_codes
    _log_factors = count_factors
    _refuse_strange = refuse_strange
    predict_together = staticmethod(linear_scores.predict_together)

    def sample(
        self, n_samples: int = 1, random_state: Any = None, n_tokens: Any = None
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Draw rows X (n_samples, d) and labels y (n_samples,) from the model.

        Parameters
        ----------
        n_samples : int
        random_state : int, RandomState instance or None
        n_tokens : int or None
            Sum of a row; None for the mean of the class's rows, rounded.
        """
        check_is_fitted(self)
        rng = check_random_state(random_state)
        codes = draw_codes(n_samples, np.exp(self.class_log_prior_.astype(np.float64)), rng)
        shares = np.exp(self.feature_log_prob_.astype(np.float64))
        shares /= shares.sum(axis=1, keepdims=True)
        lengths = np.full(len(self.classes_), n_tokens)
        if n_tokens is None:
            weight = np.maximum(self.class_count_, np.finfo(float).tiny)
            lengths = np.rint(self.feature_count_.sum(axis=1) / weight)
        rows = [rng.multinomial(int(lengths[k]), shares[k]) for k in codes]
        return np.array(rows), self.classes_[codes]


class ComplementNB(NaiveBayes):
    """Complement naive Bayes for counts, for imbalanced classes [1]_.

    The weight of feature j for class y is ``-log`` of its share among the tokens of all classes
    but y. The scores are not probabilities of rows: ``score_samples`` is not available, and
    ``predict_proba`` is proportional to ``exp`` of the scores.

    Parameters
    ----------
    alpha : smoothing, a number or one for each feature, from 0 to inf. Without smoothing a
        feature that only one class has outweighs everything but more of its kind.
    force_alpha : whether an alpha below 1e-10 is kept; if not, it is raised to that.
    fit_prior, class_prior : of no effect unless there is a single class.
    norm : whether the weights of each class are divided by their sum.
    missing : what NaN does: ``"refuse"``, or ``"ignore"`` to leave it out of counts and scores, as
        if the row had no such token.

    Attributes
    ----------
    classes_ : the classes, shape (K,).
    class_count_ : the weight of each class's rows, shape (K,).
    feature_count_ : the weighted sum of each feature in each class, shape (K, d).
    feature_all_ : the same over all classes, shape (d,).
    class_log_prior_ : log P(y), shape (K,).
    feature_log_prob_ : the weights, shape (K, d).
    n_parameters_ : how many free numbers were learned.
    statistics_ : the counts themselves, with + and -.
    n_features_in_, feature_names_in_ : the number of features, and their names if known.

    References
    ----------
    .. [1] J. Rennie, L. Shih, J. Teevan, D. Karger (2003), Tackling the poor assumptions of naive
       Bayes text classifiers.

    Examples
    --------
    >>> from rosenblatt import ComplementNB
    >>> documents = [[2, 0, 1], [1, 1, 0], [0, 2, 1]]
    >>> ComplementNB().fit(documents, ["spam", "spam", "ham"]).predict([[1, 1, 0]])
    array(['spam'], dtype='<U4')
    """

    statistics_: FeatureCounts
    feature_log_prob_: NDArray[Any]

    measured_by = ("missing",)
    statistic_type = (FeatureCounts, {"binarize": None})
    simpler_when_larger = ("alpha",)

    _reads_counts = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {**COUNT_PARAMETERS, "norm": ["boolean"]}

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        missing: str = "refuse",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.missing = missing

    @property
    def feature_all_(self) -> NDArray[np.float64]:
        """Weighted sum of each feature in all classes, shape (d,)."""
        return np.asarray(self.statistics_.sums.sum(axis=0).astype(np.float64))

    @property
    def score_samples(self) -> NoReturn:
        """Not available: the scores are not probabilities of rows."""
        raise AttributeError("ComplementNB has no score_samples: it does not model the rows.")

    def _conclude(self, rows: Any, final: bool) -> None:
        counts = self._by_class(self.statistics_.sums)
        logs = log_shares(counts.sum(axis=0) - counts, checked_alpha(self))
        weights = _normed(logs) if self.norm else -logs
        self.feature_log_prob_ = weights.astype(self.statistics_.dtype, copy=False)
        self._set_prior(self.class_prior, not self.fit_prior)
        self.n_parameters_ = len(counts) * (counts.shape[1] - 1)

    def _log_prior(self) -> NDArray[Any]:
        if len(self.classes_) == 1:
            return self.class_log_prior_
        return np.zeros_like(self.class_log_prior_)

    feature_count_ = property(feature_count)
    _check_X = linear_scores.check_rows
    _linear_form = count_form
    _log_likelihood = linear_scores.log_likelihood
    _joint_log_likelihood = linear_scores.joint_log_likelihood
    _predict_codes = linear_scores.predict_codes
    _log_factors = count_factors
    _refuse_strange = refuse_strange
    predict_together = staticmethod(linear_scores.predict_together)


def _normed(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each row divided by its sum; where some are -inf they share alone, as in the limit."""
    infinite = np.isneginf(logs)
    logs = np.where(infinite.any(axis=1, keepdims=True), infinite, logs)
    sums = logs.sum(axis=1, keepdims=True)
    logs = np.where(sums == 0, 1.0, logs)  # a single feature: its share is one, its log zero
    return np.asarray(logs / np.where(sums == 0, logs.shape[1], sums), order="F")


ROWS = (
    Row(
        "MultinomialNB",
        page="naive_bayes.md",
        certificate="count_naive_bayes",
        compare=(
            Candidate(
                "multinomial naive Bayes",
                "counts, especially of words",
                {"alpha": (0.01, 0.1, 1.0, 10.0)},
                reads="counts",
                limits=("counts",),
                order=12,
            ),
        ),
        contract=Contract(
            settings=({}, {"alpha": 0}, {"fit_prior": False}, {"missing": "ignore"}),
            checked=({}, {"alpha": 0, "missing": "ignore"}),
        ),
        peer_tests=("tests/test_naive_bayes.py",),
    ),
    Row(
        "ComplementNB",
        page="naive_bayes.md",
        certificate="count_naive_bayes",
        compare=(
            Candidate(
                "complement naive Bayes",
                "texts with imbalanced classes",
                {"alpha": (0.01, 0.1, 1.0, 10.0)},
                reads="counts",
                limits=("counts",),
                order=14,
            ),
        ),
        contract=Contract(
            tampered=({"norm": True},),
            settings=({}, {"norm": True, "alpha": 0.1}, {"missing": "ignore"}),
            checked=({}, {"norm": True, "alpha": 0, "missing": "ignore"}),
        ),
        peer_tests=("tests/test_naive_bayes.py",),
    ),
)
