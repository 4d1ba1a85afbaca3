"""Gaussian naive Bayes: each feature is normally distributed within each class.

x_j | y = k  ~  N(mean_kj, variance_kj), features independent. Legend: n rows, d features, K
classes; w weights (K, d), or (K, 1) when no value is missing.
"""

from contextlib import nullcontext
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.loops.rows import read_only, summed_duplicates
from rosenblatt.prediction import in_cells
from rosenblatt.registry.row import Candidate, Contract, Row, Warm
from rosenblatt.runtime.threads import one_blas_thread
from rosenblatt.statistics import Moments

from . import gaussian_loops
from .base import NaiveBayes, over_chunks, relative_to_best

Table = NDArray[np.float64]

# The axes of (class, feature) that share a variance.
SHARED: dict[str, tuple[int, ...]] = {
    "class-feature": (),
    "feature": (0,),
    "class": (1,),
    "single": (0, 1),
}

# The variance of what does not vary, where smoothing leaves it at zero.
SMALLEST_VARIANCE = 2.0**-100

# Up to this many distances are computed one by one; more of them from matrix products.
FEW_DISTANCES = 100_000
BLOCK_CELLS = 32_768  # that BLAS is given at a time; they stay in cache
MOST_APART = 1e6  # multiplying out loses this share of the digits of a score


class GaussianNB(NaiveBayes):
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
        Whether there is a variance for each feature in each class, for each feature, for each
        class, or a single one.
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
    _advice_if_impossible = "They lie too far out for floating point; are they on the same scale?"
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

    def _conclude(self, rows: Any, final: bool) -> None:
        moments, dtype = self.statistics_, self.statistics_.dtype
        w, means, scatter = moments.feature_weight, moments.mean, moments.scatter
        center, spread = of_all(w, moments.mean, moments.mean_low, scatter)
        w, means, scatter = map(self._by_class, (w, means, scatter))
        if not w.all():
            means = np.where(w > 0, means, center)
        self.epsilon_ = float(self.var_smoothing * spread.max())
        shared = SHARED[self.variance]
        variances = variances_of(w, scatter, spread, shared, self.ddof) + self.epsilon_
        largest = variances.max(axis=0, initial=0.0)
        if largest.max(initial=0.0) > np.finfo(dtype).max:
            raise ValueError(
                f"The variance of column {largest.argmax()} is {largest.max():.3g}, more than "
                f"{dtype} holds: scale the column, or give the rows in float64."
            )
        self.theta_, self.var_ = means.astype(dtype), variances.astype(dtype)
        if not self.var_.all():
            self.var_[self.var_ == 0] = SMALLEST_VARIANCE

        n_shares = self._set_class_prior()
        n_variances = int(np.prod([self.theta_.shape[a] for a in (0, 1) if a not in shared]))
        self.n_parameters_ = n_shares + self.theta_.size + n_variances
        self._set_logistic_form()

    def _set_logistic_form(self) -> None:
        """Set coef_ and intercept_ if the classes share their variances, else remove them."""
        # log P(x | k) - log P(x | 0) = sum_j (m_kj - m_0j) / v_j (x_j - (m_kj + m_0j) / 2)
        for name in ("coef_", "intercept_"):
            self.__dict__.pop(name, None)
        if 0 not in SHARED[self.variance]:
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
        return self._log_densities(X).astype(self._dtype(X), copy=False)

    def _joint_log_likelihood(self, X: Any) -> NDArray[Any]:
        joint = self._log_densities(X) + self.class_log_prior_
        return relative_to_best(joint, self._dtype(X))

    def _predict_codes(self, X: Any) -> NDArray[np.intp]:
        form = self._form(self.class_log_prior_)
        if self._few(X) or self.missing == "ignore" or not form.keeps_digits:
            return super()._predict_codes(X)
        parabolas, codes = form.parabolas(), np.empty(X.shape[0], np.intp)

        def work(start: int, stop: int) -> None:
            rows = X[start:stop]
            if not parabolas.choose(read_only(at_least_four(rows)), codes[start:stop]):
                # Reports what is wrong with the rows, or decides by the prior.
                codes[start:stop] = super(GaussianNB, self)._predict_codes(rows)

        over_chunks(work, X)
        return codes

    def _log_densities(self, X: Any) -> Table:
        """Return log P(x | y) of checked rows, (n, K)."""
        form, scores = self._form(), np.empty((X.shape[0], len(self.classes_)))
        with_blas = not self._few(X) and form.keeps_digits
        score = form.by_products if with_blas else form.by_distances
        if sp.issparse(X):
            score = form.of_sparse

        @np.errstate(over="ignore", invalid="ignore")
        def work(start: int, stop: int) -> None:
            scores[start:stop] = score(X[start:stop])

        with one_blas_thread() if with_blas else nullcontext():
            over_chunks(work, X)
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

    def _form(self, log_prior: Any = 0.0) -> "GaussianForm":
        largest = np.finfo(np.float64).max  # in place of the inverse of a subnormal variance
        with np.errstate(over="ignore"):
            half_precision = np.minimum(0.5 / self.var_.astype(np.float64), largest)
        norm = 0.5 * np.log(np.pi / half_precision)  # (K, d): log sqrt(2 pi v)
        gap = -norm if self.missing == "ignore" else None
        start = log_prior - norm.sum(axis=1)
        return GaussianForm(self.theta_.astype(np.float64), half_precision, start, gap)

    def _few(self, X: Any) -> bool:
        """Return whether distances are few: by the size of X alone, as last bits differ."""
        return sp.issparse(X) or bool(X.size * len(self.classes_) <= FEW_DISTANCES)

    def _dtype(self, X: Any) -> np.dtype[Any]:
        return np.promote_types(X.dtype, self.theta_.dtype)

    def _stores_single_rows(self) -> bool:
        return True

    def _forget_bound(self, left: Any) -> float:
        return float(left.relative_noise(floor=self.epsilon_ * left.feature_weight))

    def _draw_rows(self, codes: NDArray[np.intp], rng: np.random.RandomState) -> NDArray[Any]:
        noise = rng.standard_normal((len(codes), self.n_features_in_))
        X = self.theta_[codes] + noise * np.sqrt(self.var_[codes])
        return np.asarray(X.astype(self.theta_.dtype, copy=False))


class GaussianForm(NamedTuple):
    """Scores of classes, ``start - sum_j half_precision_j (x_j - mean_j)^2``.

    A feature that is NaN adds `gap` in place of its distance; None if NaN is an error.
    """

    mean: Table  # (K, d)
    half_precision: Table  # (K, d): 1 / (2 variance)
    start: Table  # (K,)
    gap: Table | None  # (K, d)

    def by_distances(self, X: Any) -> Table:
        """Return the scores of dense rows; exact to the last digits wherever the rows are."""
        scores = np.empty((X.shape[0], len(self.start)))
        step = max(1, FEW_DISTANCES // self.mean.size)
        for first in range(0, len(X), step):
            far = X[first : first + step, None, :] - self.mean  # (b, K, d)
            far *= far
            some = scores[first : first + step]
            if self.gap is None:
                np.subtract(self.start, np.einsum("nkd,kd->nk", far, self.half_precision), out=some)
            else:
                far *= self.half_precision
                some[:] = self.start - np.where(np.isnan(far), self.gap, far).sum(axis=2)
        return scores

    def by_products(self, X: Any) -> Table:
        """Return the scores of dense rows, multiplied out about a center amid the classes."""
        center, square, linear, constant = self._multiplied_out
        scores = np.empty((X.shape[0], len(constant)))
        step = max(1, BLOCK_CELLS // X.shape[1])
        for first in range(0, len(X), step):
            z, some = X[first : first + step] - center, scores[first : first + step]
            some[:] = constant
            if self.gap is not None:
                missing = np.isnan(z)
                z[missing] = 0.0
                some += missing @ (-square * (self.mean - center) ** 2 - self.gap).T
            some += z @ linear.T
            some += np.square(z, out=z) @ square.T
        return scores if np.isfinite(scores.sum()) else self.by_distances(X)

    def of_sparse(self, X: Any) -> Table:
        """Return the scores of CSR rows: the score of zeros, and the change by stored numbers."""
        # h (x - m)^2 = h m^2 + h x (x - 2 m)
        at_zero = self.half_precision * self.mean**2
        scores = self.start - at_zero.sum(axis=1)
        if self.gap is not None:
            X = summed_duplicates(X)  # a number and NaN in one place are missing together
            missing = np.isnan(X.data)
            where = sp.csr_array((missing.astype(np.float64), X.indices, X.indptr), shape=X.shape)
            X = sp.csr_array((np.where(missing, 0, X.data), X.indices, X.indptr), shape=X.shape)
            scores = scores + where @ (at_zero - self.gap).T
        X = summed_duplicates(sp.csr_array(X, dtype=np.float64))
        linear = X @ (2 * self.half_precision * self.mean).T
        return np.asarray(scores - X.power(2) @ self.half_precision.T + linear)

    @property
    def _multiplied_out(self) -> tuple[Table, Table, Table, Table]:
        """Center (d,), square and linear (K, d) and constant (K,) of the same as parabolas."""
        # start - h (x - m)^2 = start - h m^2 + x (2 h m - h x), x and m less the center
        center = self.mean.mean(axis=0)
        away = self.mean - center
        constant = self.start - (self.half_precision * away**2).sum(axis=1)
        return center, -self.half_precision, 2 * self.half_precision * away, constant

    @property
    def keeps_digits(self) -> bool:
        """True if multiplying out keeps enough digits."""
        if not np.isfinite(self.start).all():
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.abs(self._multiplied_out[3] - self.start).max() < MOST_APART)

    def parabolas(self) -> "Parabolas":
        """Return the scores as the loops read them; of two classes their difference is enough."""
        center, *tables = self._multiplied_out
        if len(self.start) == 2:
            tables = [np.diff(table, axis=0) for table in tables]
        square, linear, constant = tables
        center, square, linear = (
            in_cells(at_least_four(table)) for table in (center[None], square, linear)
        )
        return Parabolas(center[0], square, linear, constant)


class Parabolas(NamedTuple):
    """Scores ``constant + z (linear + square z)``, z the rows less a center."""

    center: Table  # (p,), in cells as in `gaussian_loops`
    square: Table  # (F, p): of each class, or the difference of two
    linear: Table  # (F, p)
    constant: Table  # (F,)

    def choose(self, rows: NDArray[Any], codes: NDArray[np.intp]) -> bool:
        """Fill codes (b,) with the best class of each row; return whether each row has one."""
        if len(self.constant) > 1:
            z = np.empty((4, self.square.shape[1]))
            return not gaussian_loops.choose_by_parabolas(rows, *self, codes, z)
        difference = np.empty((1, len(rows)))
        gaussian_loops.one_parabola_score(rows, *self, difference)
        np.greater(difference[0], 0, out=codes, casting="unsafe")
        with np.errstate(invalid="ignore", over="ignore"):
            return bool(np.isfinite(difference.sum()))


def at_least_four(table: NDArray[Any]) -> NDArray[Any]:
    """Return a table (n, d) with columns of zeros up to four, the least that loops read."""
    lack = 4 - table.shape[1]
    return np.pad(table, ((0, 0), (0, lack))) if lack > 0 else table


def variances_of(
    w: Table, scatter: Table, spread: Table, shared: tuple[int, ...], ddof: float
) -> Table:
    """Return variances (K, d), pooled over the axes `shared`; `spread` (d,) where unknown."""
    if not shared and ddof == 0 and w.all():
        return np.asarray(scatter / w)
    w = np.broadcast_to(w, scatter.shape)
    pooled, weight, n_means = (
        table.sum(axis=shared, keepdims=True) for table in (scatter, w, w > 0)
    )
    divisor = weight - ddof * n_means
    short = (divisor <= 0) & (weight > 0)
    if short.any():
        warn(
            f"{np.count_nonzero(short)} of {short.size} variances cannot be estimated with "
            f"ddof={ddof}: their rows weigh no more than that. They are taken as zero, "
            "plus smoothing. More rows, ddof=0, or a variance shared more widely would do."
        )
    variances = np.where(weight > 0, pooled / np.where(divisor > 0, divisor, np.inf), spread)
    return np.broadcast_to(variances, scatter.shape)


def of_all(w: Table, mean: Table, mean_low: Table, scatter: Table) -> tuple[Table, Table]:
    """Return mean and variance (d,) of all classes together; 0 and 1 for an unknown feature."""
    total = w.sum(axis=0)
    if not total.all():
        nothing = np.broadcast_to(total == 0, scatter.shape[1:])
        w, scatter = np.where(nothing, 1.0, w), np.where(nothing, 1.0, scatter)
        total = w.sum(axis=0)
    center = (w * mean).sum(axis=0) / total
    # The distances are exact to the last digits even if the center is rounded, and a rounded
    # center changes their squares by its square only.
    away = (mean - center) + mean_low
    return center, (scatter + w * away * away).sum(axis=0) / total


ROW = Row(
    "GaussianNB",
    page="gaussian_naive_bayes.md",
    certificate="gaussian_naive_bayes",
    compare=(
        Candidate(
            "Gaussian naive Bayes",
            "a fast first model; supports streams, merge and forget",
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
