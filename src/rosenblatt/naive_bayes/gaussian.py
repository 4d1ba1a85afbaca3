"""Gaussian naive Bayes: each feature a bell curve within each class.

x_j | y = k  ~  N(mean_kj, variance_kj), features independent. Legend: n rows, d features, K
classes; w weights (K, d), or (K, 1) when no value is missing; `known` is what of them is not zero.
"""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks, quadratic_forms_loops
from rosenblatt.prediction import DrawsRows
from rosenblatt.registry.row import Candidate, Contract, Row, Warm
from rosenblatt.runtime import threads
from rosenblatt.runtime.storage import read_only
from rosenblatt.statistics import Moments
from rosenblatt.statistics.sums import relative_noise

from .base import NaiveBayes, conclude_shares
from .gaussian_density import SHARED, chooser, of_all, score, score_sparse, variances_of

Table = NDArray[np.float64]

# The variance of what does not vary, where smoothing leaves it at zero.
SMALLEST_VARIANCE = 2.0**-100

# Up to so many distances NumPy is as fast, and does not have to be compiled.
FEW_DISTANCES = 100_000
CELLS_PER_CHUNK = 1_000_000


class GaussianNB(NaiveBayes, DrawsRows):
    """Naive Bayes with a Gaussian for each feature in each class.

    The means are the classes' means, the variances their mean squared distances from them, plus
    `var_smoothing` times the largest variance of any feature in all the data. Everything follows
    from the moments of the classes, so that streaming, merging and forgetting give what a fit on
    the same rows gives.

    With variances shared between classes the posterior is exactly logistic [1]_:
    P(y | x) is the softmax (for two classes the sigmoid) of ``coef_ @ x + intercept_``.

    Parameters
    ----------
    priors : array-like of shape (K,) or None
        The classes' shares; counted if None.
    var_smoothing : float
        The share of the largest variance that is added to all; >= 0.
    variance : {"class-feature", "feature", "class", "single"}
        What has a variance of its own: each feature in each class; each feature; each class; or
        nothing, there being one for all.
    ddof : float
        A variance is a sum of squares over the weight of its rows less `ddof` for each mean in the
        sum: 0 is maximum likelihood, 1 unbiased.
    missing : {"refuse", "ignore"}
        Whether NaN is an error, or a value left out of the product.

    Attributes
    ----------
    classes_ : labels, sorted, shape (K,).
    class_count_, class_prior_, class_log_prior_ : weight and share of each class, shape (K,).
    theta_, var_ : means and variances, smoothing included, shape (K, d).
    epsilon_ : what smoothing added.
    coef_, intercept_ : the logistic form, with `variance` "feature" or "single": shapes (1, d) and
        (1,) for two classes, of the log-odds of ``classes_[1]``; else (K, d) and (K,), with rows
        that add up to zero.
    n_parameters_ : how many numbers were estimated and are free.
    statistics_ : the moments, a value with + and -.
    n_features_in_, feature_names_in_ : of the data.

    Notes
    -----
    A feature that does not vary in a class has variance `epsilon_`; and if that is zero, 2**-100.
    A feature of which a class has shown no value is taken to be in it as it is in all the data.

    Examples
    --------
    >>> from rosenblatt import GaussianNB
    >>> X, y = [[1.0], [3.0], [7.0], [9.0]], ["ham", "ham", "spam", "spam"]
    >>> model = GaussianNB().fit(X, y)
    >>> model.theta_.ravel(), model.predict([[4.0], [6.0]])
    (array([2., 8.]), array(['ham', 'spam'], dtype='<U4'))
    >>> model.partial_fit([[5.0]], ["ham"]).theta_.ravel()
    array([3., 8.])
    >>> model.forget([[5.0]], ["ham"]).theta_.ravel()
    array([2., 8.])

    References
    ----------
    .. [1] A. Y. Ng, M. I. Jordan (2001), On discriminative vs. generative classifiers. *NIPS*.
    """

    measured_by = ("missing",)
    statistic_type = (Moments, {"full": False})
    _cure_of_impossible = "They lie too far out for floating point; are they on the same scale?"
    simpler_when_larger = ("var_smoothing",)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "variance": [StrOptions(set(SHARED))],
        "ddof": [Interval(Real, 0, None, closed="left")],
        "missing": [StrOptions({"refuse", "ignore"})],
    }

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        variance: str = "class-feature",
        ddof: float = 0,
        missing: str = "refuse",
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.variance = variance
        self.ddof = ddof
        self.missing = missing

    def _draw_rows(self, codes: NDArray[np.intp], rng: np.random.RandomState) -> NDArray[Any]:
        noise = rng.standard_normal((len(codes), self.n_features_in_))
        X = self.theta_[codes] + noise * np.sqrt(self.var_[codes])
        return np.asarray(X.astype(self.theta_.dtype, copy=False))

    def _labels(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = self._check_X(X, first=False)
        if self._few(X):
            labels: NDArray[Any] = self.classes_[self._decide(X)]
            return labels
        choose = chooser(X, *self._form())
        labels = np.empty(X.shape[0], self.classes_.dtype)

        def work(start: int, stop: int) -> None:
            rows = X[start:stop]
            codes = choose(read_only(rows))
            if codes is None:
                codes = self._decide(rows)  # which says what is wrong, or goes by the prior
            np.take(self.classes_, codes, out=labels[start:stop], mode="clip")

        _over_chunks(work, X)
        return labels

    def _decide(self, X: Any) -> NDArray[np.intp]:
        """The place (n,) of the best class of each row."""
        joint = self._scores(X, np.float64) + self.class_log_prior_
        return np.asarray(self._possible(joint).argmax(axis=1))

    def _compared(self, X: Any) -> NDArray[Any]:
        # As `_decide` compares them, in 64 bits; less the best, so that 32 bits hold what is left.
        check_is_fitted(self)
        X = self._check_X(X, first=False)
        joint = self._scores(X, np.float64) + self.class_log_prior_
        best = joint.max(axis=1, keepdims=True)
        joint -= np.where(np.isfinite(best), best, 0.0)
        return np.asarray(joint.astype(np.promote_types(X.dtype, self.theta_.dtype)))

    def _compared_row(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._scores(X, np.float64)[0] + self.class_log_prior_)

    def _stores_single_rows(self) -> bool:
        return True

    def _forget_bound(self, before: Any, left: Any) -> float:
        return relative_noise(before, left, floor=self.epsilon_ * left.feature_weight)

    def _conclude(self) -> None:
        moments, dtype = self.statistics_, self.statistics_.dtype
        w, means, scatter = moments.feature_weight, moments.mean, moments.scatter
        centre, spread = of_all(w, moments.mean_pairs, scatter)
        w, means, scatter = map(self._by_class, (w, means, scatter))
        if not w.all():
            means = np.where(w > 0, means, centre)
        self.epsilon_ = float(self.var_smoothing * spread.max())
        variances = variances_of(w, scatter, spread, self._pool, self.ddof) + self.epsilon_
        _refuse_overflow(variances, dtype)
        self.theta_ = means.astype(dtype)
        self.var_ = variances.astype(dtype)
        if not self.var_.all():
            self.var_[self.var_ == 0] = SMALLEST_VARIANCE

        n_shares = conclude_shares(self, moments.weight, dtype)
        n_variances = int(np.prod([self.theta_.shape[a] for a in (0, 1) if a not in self._pool]))
        self.n_parameters_ = n_shares + self.theta_.size + n_variances
        self._set_logistic_form()

    @property
    def _pool(self) -> tuple[int, ...]:
        return SHARED[self.variance]

    def _set_logistic_form(self) -> None:
        """Set coef_ and intercept_ if the classes share their variances, else see they are gone."""
        # log P(x | k) - log P(x | 0) = sum_j (m_kj - m_0j) / v_j (x_j - (m_kj + m_0j) / 2)
        for name in ("coef_", "intercept_"):
            self.__dict__.pop(name, None)
        if 0 not in self._pool:
            return
        means, prior = self.theta_.astype(np.float64), self.class_log_prior_
        if len(means) == 2:
            other, rest, start = means[:1], means[1:], prior[1:] - prior[:1]
        else:
            other, rest, start = means.mean(axis=0, keepdims=True), means, prior
        coef = (rest - other) / self.var_[:1]
        intercept = start - (coef * (rest + other) / 2).sum(axis=1)
        self.coef_ = coef.astype(self.theta_.dtype)
        self.intercept_ = intercept.astype(self.theta_.dtype)

    def _log_likelihood(self, X: Any) -> NDArray[Any]:
        return self._scores(X, np.promote_types(X.dtype, self.theta_.dtype))

    def _scores(self, X: Any, dtype: Any) -> NDArray[Any]:
        """log P(x | y) for each row and class, (n, K), in 64 bits and then rounded to `dtype`."""
        form, few = self._form(prior=False), self._few(X)
        scores = np.empty((X.shape[0], len(self.classes_)), dtype)

        @np.errstate(over="ignore", invalid="ignore")
        def work(start: int, stop: int) -> None:
            rows = X[start:stop]
            if sp.issparse(X):
                scores[start:stop] = score_sparse(rows, *form)
            elif few:
                scores[start:stop] = score(rows, *form)
            else:
                part = np.empty((len(rows), scores.shape[1]))
                quadratic_forms_loops.score_rows(read_only(rows), *form, part)
                scores[start:stop] = part

        _over_chunks(work, X)
        with np.errstate(over="ignore"):
            if not np.isfinite(scores.sum()):
                with checks.naming_columns(X):
                    self._refuse_strange(X)
        return scores

    def _log_factors(self, X: Any) -> Table:
        self._refuse_strange(X)
        x = X.toarray() if sp.issparse(X) else X
        v = self.var_.astype(np.float64)
        factors = -0.5 * ((x.astype(np.float64) - self.theta_) ** 2 / v + np.log(2 * np.pi * v))
        return np.where(np.isnan(factors), 0.0, factors)

    def _form(self, prior: bool = True) -> tuple[Table, Table, Table, Table | None]:
        """Mean, half precision, start and gap, as `quadratic_forms_loops` reads them."""
        largest = np.finfo(np.float64).max  # what is over a subnormal variance
        with np.errstate(over="ignore"):
            half_precision = np.minimum(0.5 / self.var_.astype(np.float64), largest)
        norm = 0.5 * np.log(np.pi / half_precision)  # (K, d): log sqrt(2 pi v)
        start = -norm.sum(axis=1)
        if prior:
            start += self.class_log_prior_
        gap = -norm if self.missing == "ignore" else None
        return self.theta_.astype(np.float64), half_precision, start, gap

    def _few(self, X: Any) -> bool:
        """Whether NumPy will do: by the size of the job alone, as the last bits depend on it."""
        return sp.issparse(X) or bool(X.size * len(self.classes_) <= FEW_DISTANCES)


def _over_chunks(work: Any, X: Any) -> None:
    """Call ``work(start, stop)`` on chunks of rows that keep a thread busy for a while."""
    cells = X.nnz if sp.issparse(X) else X.size
    threads.over_chunks(work, X.shape[0], cells * threads.CELLS_PER_CHUNK // CELLS_PER_CHUNK)


def _refuse_overflow(variances: Table, dtype: Any) -> None:
    """Raise if variances (K, d) are no numbers of the precision that the model publishes."""
    of_columns = variances.max(axis=0, initial=0.0)
    if of_columns.max(initial=0.0) > np.finfo(dtype).max:
        raise ValueError(
            f"The variance of column {of_columns.argmax()} is {of_columns.max():.3g}, more than "
            f"{dtype} holds: scale the column, or give the rows in float64."
        )


ROW = Row(
    "GaussianNB",
    page="gaussian_naive_bayes.md",
    certificate="gaussian_naive_bayes",
    compare=(
        Candidate(
            "Gaussian naive Bayes",
            "a first answer in one pass over the data; streams, merges and forgets",
            {"var_smoothing": (1e-09, 0.0001, 0.01, 0.1)},
            short_names=("nb",),
            order=10,
        ),
    ),
    contract=Contract(
        tampered=(
            {"variance": "feature"},
            {"variance": "single", "ddof": 1},
            {"var_smoothing": 0},
            {"priors": [0.2, 0.3, 0.5]},
        ),
        settings=(
            {},
            {"variance": "feature", "ddof": 1},
            {"variance": "class"},
            {"variance": "single", "missing": "ignore"},
        ),
        checked=({}, {"variance": "feature"}, {"variance": "single", "missing": "ignore"}),
    ),
    warm=Warm(({}, {"missing": "ignore"})),
    peer_tests=("tests/test_naive_bayes.py",),
)
