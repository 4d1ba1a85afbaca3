"""Naive Bayes for tables of mixed columns: each column has the model of its kind.

log P(x | y) = sum over the columns that are known of log P(x_j | y).
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from ..statistics import CategoryCounts, Moments, Together
from .base import NaiveBayes, log_prior
from .columns import KINDS, Columns, infer_kinds, split
from .gaussian import SHARED, GaussianNB

Table = NDArray[np.float64]

UNSEEN, MISSING = -1, -2

OF_SOME_KINDS = (
    "theta_",
    "var_",
    "epsilon_",
    "categories_",
    "category_log_prob_",
    "true_prob_",
    "rate_",
)


class MixedNB(NaiveBayes):
    """Naive Bayes on numeric, categorical, Boolean and count columns at once.

    A numeric column is Gaussian in each class, as in `GaussianNB`; a categorical one has a
    probability for each of its values; a Boolean one has a probability of being true; a count is
    Poisson. A value that is missing is left out of the product, in training and in prediction.

    Parameters
    ----------
    kinds : dict, list or None
        "numeric", "categorical", "boolean" or "count" for each column: a list, or a dict by name
        (by number, for an array) of those that are not to be inferred. Inferred are: numbers as
        numeric, True and False as Boolean, everything else as categorical.
    alpha : float
        Smoothing >= 0: each value of a categorical or Boolean column is counted `alpha` times
        more than it was seen in each class, and each count column has `alpha` rows with one more.
    priors : array-like of shape (K,) or None
        The classes' shares; counted if None.
    var_smoothing, variance, ddof
        Of the numeric columns, as in `GaussianNB`.
    unseen : {"smooth", "error"}
        Whether a category that was never seen is taken as one with count zero, or refused.

    Attributes
    ----------
    classes_ : labels, sorted, shape (K,).
    class_count_, class_prior_, class_log_prior_ : weight and share of each class, shape (K,).
    kinds_ : the kind of each column.
    theta_, var_, epsilon_ : of the numeric columns, shape (K, numeric columns).
    categories_ : for each categorical column its values, sorted.
    category_log_prob_ : for each categorical column log P(value | class), shape (K, values).
    true_prob_ : P(true | class), shape (K, Boolean columns).
    rate_ : expected counts, shape (K, count columns).
    n_parameters_ : how many numbers were estimated and are free.
    statistics_ : `Together`, a value with + and -.
    n_features_in_, feature_names_in_ : of the data.

    Examples
    --------
    >>> from rosenblatt import MixedNB
    >>> X = [[39.1, "Torgersen", None], [46.1, "Biscoe", True], [38.0, "Dream", False]]
    >>> model = MixedNB().fit(X, ["Adelie", "Gentoo", "Adelie"])
    >>> model.kinds_
    ['numeric', 'categorical', 'boolean']
    >>> model.predict([[39.0, "Dream", None], [None, "Biscoe", True]])
    array(['Adelie', 'Gentoo'], dtype='<U6')
    """

    _measured_by = ("kinds",)
    _simpler_when_larger = ("alpha",)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kinds": [dict, "array-like", None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "variance": [StrOptions(set(SHARED))],
        "ddof": [Interval(Real, 0, None, closed="left")],
        "unseen": [StrOptions({"smooth", "error"})],
    }

    def __init__(
        self,
        *,
        kinds: Any = None,
        alpha: float = 1.0,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        variance: str = "class-feature",
        ddof: float = 0,
        unseen: str = "smooth",
    ) -> None:
        self.kinds = kinds
        self.alpha = alpha
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.variance = variance
        self.ddof = ddof
        self.unseen = unseen

    def sample(
        self, n_samples: int = 1, random_state: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw rows from the model: a class by its share, then each column by its own model.

        Parameters
        ----------
        n_samples : int
            How many rows.
        random_state : int, RandomState instance or None
            The seed.

        Returns
        -------
        X : ndarray of objects of shape (n_samples, d)
            The rows.
        y : ndarray of shape (n_samples,)
            Their labels.
        """
        check_is_fitted(self)
        rng = check_random_state(random_state)
        shares = np.exp(self.class_log_prior_.astype(np.float64))
        codes = rng.choice(len(self.classes_), size=n_samples, p=shares / shares.sum())
        X = np.empty((n_samples, self.n_features_in_), object)
        for kind, places in self.statistics_.columns.items():
            for c, j in enumerate(places):
                X[:, j] = self._draw(kind, c, codes, rng)
        return X, self.classes_[codes]

    def _draw(self, kind: str, c: int, codes: NDArray[np.intp], rng: Any) -> Any:
        """Values (n,) of column c of a kind, for rows of the classes `codes`."""
        if kind == "numeric":
            return rng.normal(self.theta_[codes, c], np.sqrt(self.var_[codes, c])).tolist()
        if kind == "count":
            return rng.poisson(self.rate_[codes, c]).tolist()
        if kind == "boolean":
            return (rng.uniform(size=len(codes)) < self.true_prob_[codes, c]).tolist()
        steps = np.exp(self.category_log_prob_[c]).cumsum(axis=1)[codes]
        found = (rng.uniform(size=(len(codes), 1)) * steps[:, -1:] > steps).sum(axis=1)
        return self.categories_[c][found].tolist()

    def _check_X(self, X: Any, first: bool) -> Columns:
        X = self._checked_table(X, first)
        if first:
            kinds = infer_kinds(X, self.kinds)
            columns = {k: tuple(np.flatnonzero(np.array(kinds) == k).tolist()) for k in KINDS}
            self._columns = {kind: places for kind, places in columns.items() if places}
        return split(X, self._columns)

    def _checked_table(self, X: Any, first: bool) -> Any:
        """X as a data frame or an array, with as many columns, and of the names, as before."""
        if sp.issparse(X):
            raise TypeError("MixedNB takes data frames and dense arrays; got a sparse matrix.")
        if not hasattr(X, "columns"):
            if isinstance(X, list | tuple) and any(
                isinstance(v, str) or v is None for row in X if np.ndim(row) for v in row
            ):
                X = np.array(X, object)  # else the numbers would become words
            X = check_array(X, dtype=None, ensure_all_finite=False, ensure_2d=True)
        elif min(X.shape) == 0:
            raise ValueError(
                f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) while a "
                "minimum of 1 is required."
            )
        validate_data(self, X, reset=first, skip_check_array=True)
        _num_samples(X)
        return X

    def _measure(
        self, X: Columns, y: Any, sample_weight: NDArray[Any] | None, careful: bool = False
    ) -> Together:
        parts: dict[str, Any] = {}
        for kind, values in X.parts.items():
            if kind == "boolean":
                values = np.where(np.isnan(values), np.array(None), values == 1)
            counted = kind in ("categorical", "boolean")
            statistic: Any = CategoryCounts if counted else Moments
            parts[kind] = statistic.of(values, y, sample_weight, missing="ignore")
        return Together.of(parts, self._columns)

    def _conclude(self) -> None:
        together, K = self.statistics_, len(self.classes_)
        self._columns = together.columns
        for name in OF_SOME_KINDS:
            self.__dict__.pop(name, None)
        self.kinds_ = [""] * together.n_features
        for kind, places in together.columns.items():
            for j in places:
                self.kinds_[j] = kind
        self.class_count_ = self._by_class(together.weight).copy()
        self.class_log_prior_ = log_prior(self.priors, self.class_count_, K).astype(together.dtype)
        counted = self.class_count_ / self.class_count_.sum()
        shares = counted if self.priors is None else self.priors
        self.class_prior_ = np.array(shares, together.dtype)
        self.n_parameters_ = (K - 1) * (self.priors is None)
        conclusions: dict[str, Callable[[Any], int]] = {
            "numeric": self._conclude_numeric,
            "categorical": self._conclude_categorical,
            "boolean": self._conclude_boolean,
            "count": self._conclude_count,
        }
        for kind, part in together.parts.items():
            self.n_parameters_ += conclusions[kind](part)

    def _conclude_numeric(self, moments: Moments) -> int:
        settings = {name: getattr(self, name) for name in ("var_smoothing", "variance", "ddof")}
        inner = GaussianNB(**settings, missing="ignore")
        inner._promised, inner.n_features_in_ = self.classes_, moments.n_features
        inner._publish(moments)
        self._gaussian = inner
        self.theta_, self.var_, self.epsilon_ = inner.theta_, inner.var_, inner.epsilon_
        return inner.n_parameters_ - (len(self.classes_) - 1)

    def _conclude_categorical(self, counts: CategoryCounts) -> int:
        self.categories_ = list(counts.categories)
        tables = [self._by_class(counts.counts_of(j)) for j in range(counts.n_features)]
        self.category_log_prob_ = [_log_shares(table, self.alpha) for table in tables]
        self._log_unseen = [_log_unseen(table, self.alpha) for table in tables]
        return sum(table.size - len(table) for table in tables)

    def _conclude_boolean(self, counts: CategoryCounts) -> int:
        self.true_prob_ = np.empty((len(self.classes_), counts.n_features))
        for j, values in enumerate(counts.categories):
            table = np.zeros((len(self.classes_), 2))
            table[:, np.asarray(values).astype(np.intp)] = self._by_class(counts.counts_of(j))
            self.true_prob_[:, j] = np.exp(_log_shares(table, self.alpha)[:, 1])
        return self.true_prob_.size

    def _conclude_count(self, moments: Moments) -> int:
        w, means = self._by_class(moments.feature_weight), self._by_class(moments.mean)
        rows = w + self.alpha
        self.rate_ = np.where(rows > 0, (w * means + self.alpha) / np.where(rows > 0, rows, 1), 1.0)
        return self.rate_.size

    def _log_likelihood(self, X: Columns) -> NDArray[Any]:
        scores = np.zeros((X.shape[0], len(self.classes_)), self.class_log_prior_.dtype)
        for kind, values in X.parts.items():
            if kind == "numeric":
                scores += self._gaussian._log_likelihood(values)
                continue
            for c in range(values.shape[1]):
                scores += self._column_scores(kind, c, values[:, c])
        return scores

    def _log_factors(self, X: Columns) -> Table:
        factors = np.empty((len(self.classes_), self.n_features_in_))
        for kind, values in X.parts.items():
            places = list(self._columns[kind])
            if kind == "numeric":
                factors[:, places] = self._gaussian._log_factors(values)
            else:
                for c, j in enumerate(places):
                    factors[:, j] = self._column_scores(kind, c, values[:, c])[0]
        return factors

    def _column_scores(self, kind: str, c: int, x: NDArray[Any]) -> Table:
        """log P(x | y) (n, K) of column c of a kind other than numeric; 0 where x is missing."""
        if kind == "categorical":
            return self._category_scores(c, x)
        known = ~np.isnan(x)[:, None]
        value = np.where(known, x[:, None].astype(np.float64), 0.0)
        if kind == "boolean":
            p = self.true_prob_[:, c]
            with np.errstate(divide="ignore"):
                scores = np.where(value == 1, np.log(p), np.log1p(-p))
        else:
            r = self.rate_[:, c]
            scores = xlogy(value, r) - r - gammaln(value + 1)
        return np.where(known, scores, 0.0)

    def _category_scores(self, c: int, x: NDArray[Any]) -> Table:
        codes = _places(self.categories_[c], x)
        if self.unseen == "error" and UNSEEN in codes:
            value = x[int(np.flatnonzero(codes == UNSEEN)[0])]
            raise ValueError(
                f"Category {value!r} of column {self._columns['categorical'][c]} was never seen "
                "in training; unseen='smooth' takes it as one with count zero."
            )
        # The last two rows are for what is unseen (-1) and missing (-2).
        rest = np.stack([np.zeros(len(self.classes_)), self._log_unseen[c]])
        return np.asarray(np.concatenate([self.category_log_prob_[c].T, rest])[codes])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _log_shares(counts: NDArray[Any], alpha: float) -> Table:
    """log of smoothed shares (K, m) of counts (K, m); all the same where there is nothing."""
    smoothed = counts + float(alpha)
    totals = smoothed.sum(axis=1, keepdims=True)
    even = 1.0 / max(1, counts.shape[1])
    with np.errstate(divide="ignore"):
        return np.log(np.where(totals > 0, smoothed / np.where(totals > 0, totals, 1.0), even))


def _log_unseen(counts: NDArray[Any], alpha: float) -> Table:
    """log of the smoothed share (K,) of a value with count zero; nothing is known if none is."""
    totals = counts.sum(axis=1) + alpha * counts.shape[1]
    with np.errstate(divide="ignore"):
        return np.log(np.where(totals > 0, alpha / np.where(totals > 0, totals, 1.0), 1.0))


def _places(categories: NDArray[Any], x: NDArray[Any]) -> NDArray[np.intp]:
    """The place (n,) of each value among the categories, or UNSEEN, or MISSING for None."""
    where = {value: place for place, value in enumerate(categories.tolist())}
    where[None] = MISSING
    return np.array([where.get(value, UNSEEN) for value in x.tolist()], np.intp)
