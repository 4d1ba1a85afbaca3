"""Naive Bayes for features with several values."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks
from rosenblatt.additive import Additive
from rosenblatt.mixed_tables import codes_of, places_among
from rosenblatt.registry.row import Contract, Row
from rosenblatt.statistics import CategoryCounts
from rosenblatt.statistics.categories import Coded, CodedColumn, coded

from .base import COUNT_PARAMETERS, NaiveBayes, checked_alpha, log_shares, over_chunks, unit_of

MOST_CATEGORIES = 2**24  # larger whole numbers are not codes of categories


class CategoricalNB(NaiveBayes):
    """Naive Bayes for features with several values, numbered or named.

    Feature j has value v in a row of class y with probability ``(n_v + alpha) / (n + alpha m)``,
    n_v the class's rows with that value, of n, and m the values that the feature can have.

    A feature of numbers has the categories 0, 1, ..., up to the largest in training; a feature of
    words has the words in training. `min_categories` adds more. Numbers are truncated, as in
    scikit-learn: 1.2 and 1.9 are both 1; for `MixedNB` they are different.

    Parameters
    ----------
    alpha : smoothing, a number or one for each feature: 0 is maximum likelihood, inf makes the
        values equally likely. It is the mode under a Dirichlet prior with parameters alpha + 1.
    force_alpha : whether an alpha below 1e-10 is kept; if not, it is raised to that.
    fit_prior : whether class probabilities are counted; if not, they are equal.
    class_prior : class probabilities, shape (K,), in the place of either.
    min_categories : how many values a feature has at least, a number or one for each.
    unknown : what a value does that no row had in training: ``"error"``, or ``"smooth"`` to give
        it the probability of a value that the class has never had, ``alpha / (n + alpha m)``.
    missing : what NaN and None do: ``"refuse"``, or ``"ignore"`` to leave them out of counts
        and products.

    Attributes
    ----------
    classes_ : the classes, shape (K,).
    class_count_ : the weight of each class's rows, shape (K,).
    categories_ : for each feature its values, in the order of the tables below.
    category_count_ : for each feature the weights of its values, shape (K, categories).
    class_log_prior_ : log P(y), shape (K,).
    feature_log_prob_ : for each feature log P(value | y), shape (K, categories).
    n_categories_ : how many values each feature has, shape (d,).
    n_parameters_ : how many free numbers were learned.
    statistics_ : the counts themselves, with + and -.
    n_features_in_, feature_names_in_ : the number of features, and their names if known.

    Examples
    --------
    >>> from rosenblatt import CategoricalNB
    >>> days = [["sunny", "hot"], ["sunny", "mild"], ["rainy", "mild"], ["rainy", "cool"]]
    >>> model = CategoricalNB().fit(days, ["no", "no", "yes", "yes"])
    >>> model.predict([["rainy", "hot"]])
    array(['yes'], dtype='<U3')
    >>> model.predict([["foggy", "hot"]])  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    UnknownValue: Feature 0 has a value that no row had in training: 'foggy'. With
    unknown='smooth' it is scored as a value never seen.
    >>> model.set_params(unknown="smooth").predict([["foggy", "hot"]])
    array(['no'], dtype='<U3')
    """

    statistics_: CategoryCounts
    category_count_: list[NDArray[np.float64]]
    feature_log_prob_: list[NDArray[np.float64]]

    measured_by = ("missing",)
    statistic_type = (CategoryCounts, {})
    simpler_when_larger = ("alpha",)
    _measure_groups = Additive._measure_groups  # one table of all groups may be large
    _reads_counts = _reads_categories = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COUNT_PARAMETERS,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
        "unknown": [StrOptions({"error", "smooth"})],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        unknown: str = "error",
        missing: str = "refuse",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.unknown = unknown
        self.missing = missing

    def _check_X(self, X: Any, first: bool) -> Any:
        if isinstance(X, list | tuple) and np.asarray(X).dtype.kind in "US":
            X = np.array(X, dtype=object)  # else NumPy would make strings of the numbers
        X = checks.validate_data(self, X, reset=first, dtype=None, ensure_all_finite=False)
        return checked_values(X, self.missing)

    def _check_statistic(self, statistic: CategoryCounts) -> None:
        super()._check_statistic(statistic)
        for j, values in enumerate(statistic.categories):
            if are_words(values):
                continue
            good = (values >= 0) & (values < MOST_CATEGORIES) & (values == np.floor(values))
            if not good.all():
                raise ValueError(
                    "CategoricalNB stands on words and on whole numbers from 0 on; feature "
                    f"{j} has the category {values[~good][0]}. MixedNB takes any."
                )

    def _conclude(self, rows: Any, final: bool) -> None:
        seen = self.statistics_.categories
        least = self._least_widths()
        table = self._by_class(self.statistics_.table)  # (K, categories of all features)
        ends = np.cumsum([len(values) for values in seen])[:-1]
        parts = zip(np.split(table, ends, axis=1), seen, least, strict=True)
        spread = [_spread(counts, values, width) for counts, values, width in parts]
        alphas = np.broadcast_to(checked_alpha(self), (len(seen),))
        self.category_count_ = [counts for counts, _ in spread]
        self.categories_ = [values for _, values in spread]
        self.n_categories_ = np.array([counts.shape[1] for counts, _ in spread], np.int64)
        self.feature_log_prob_ = [
            log_shares(counts, alpha) if counts.size else counts
            for (counts, _), alpha in zip(spread, alphas, strict=True)
        ]
        n_shares = self._set_prior(self.class_prior, not self.fit_prior)
        free = int(np.maximum(self.n_categories_ - 1, 0).sum())
        self.n_parameters_ = len(self.classes_) * free + n_shares

    def _least_widths(self) -> NDArray[np.int64]:
        """Return the least number of categories of each feature, (d,)."""
        d = self.n_features_in_
        if self.min_categories is None:
            return np.zeros(d, np.int64)
        least = np.asarray(self.min_categories)
        if least.dtype.kind != "i":
            raise ValueError(
                f"'min_categories' should have integral type. Got {least.dtype} instead."
            )
        if least.shape not in ((), (d,)):
            raise ValueError(
                f"'min_categories' should have shape ({d},) when an array-like is provided. Got "
                f"{least.shape} instead."
            )
        return np.broadcast_to(least, (d,)).astype(np.int64)

    def _log_likelihood(self, X: Any) -> NDArray[Any]:
        numbered = not isinstance(X, Coded) and not any(map(are_words, self.categories_))
        are_places = numbered and bool((self.n_categories_ > X).all())
        tables = [logs.T for logs in self.feature_log_prob_] if are_places else self._tables()

        def score(first: int, last: int) -> NDArray[np.float64]:
            rows, total = X[first:last], np.zeros((last - first, len(self.classes_)))
            for j, table in enumerate(tables):
                places = rows[:, j] if are_places else self._places(rows, j)
                total += table.take(places, axis=0)
            return total

        return np.concatenate(over_chunks(score, X))

    def _log_factors(self, X: Any) -> NDArray[np.float64]:
        parts = [table[self._places(X, j)[0]] for j, table in enumerate(self._tables())]
        return np.transpose(parts)

    def _tables(self) -> list[NDArray[np.float64]]:
        """Return log-probabilities (categories + 2, K) of each feature.

        The last two rows are for an unknown value, and for a missing one, which adds nothing.
        """
        alphas = np.broadcast_to(checked_alpha(self), (len(self.feature_log_prob_),))
        tables = []
        pairs = zip(self.feature_log_prob_, self.category_count_, alphas, strict=True)
        for logs, counts, alpha in pairs:
            never = np.zeros((counts.shape[0], 1))  # one more value, which no row has
            if counts.size and not np.isinf(alpha):
                unit = unit_of(counts, alpha)
                with np.errstate(divide="ignore"):
                    never = np.log(alpha * unit) - np.log(
                        (counts * unit).sum(axis=1, keepdims=True) + alpha * unit * counts.shape[1]
                    )
            elif counts.size:
                never -= np.log(counts.shape[1])
            never[np.isnan(never)] = -np.inf
            tables.append(np.hstack([logs, never, np.zeros_like(never)]).T.copy())
        return tables

    def _places(self, X: Any, j: int) -> NDArray[np.int64]:
        """Return the rows of feature j's table for checked rows X, shape (n,)."""
        return places_of(self, X, j, int(self.n_categories_[j]))

    def _draw_rows(self, codes: NDArray[np.intp], rng: np.random.RandomState) -> NDArray[Any]:
        numbered = all(values.dtype.kind in "iu" for values in self.categories_)
        X = np.empty((len(codes), len(self.categories_)), np.int64 if numbered else object)
        for j, values in enumerate(self.categories_):
            shares = np.exp(self.feature_log_prob_[j][:, : len(values)])  # named ones alone
            steps = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
            draws = rng.random_sample(len(codes))
            places = (draws[:, np.newaxis] >= steps[codes]).sum(axis=1)
            X[:, j] = values[np.minimum(places, len(values) - 1)]
        return X


def _spread(
    counts: NDArray[Any], values: NDArray[Any], least: int
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return counts (K, m) of all categories of a feature, and the categories that have names."""
    # Numbers stand where they say; words in their order, room for more after them.
    words = are_words(values)
    places = np.arange(len(values)) if words else values.astype(np.int64)
    width = max(int(places.max(initial=-1)) + 1, least)
    wide = np.zeros((len(counts), width))
    wide[:, places] = counts
    return wide, values if words else np.arange(width)


class UnknownValue(IndexError, ValueError):
    """A value that no row had in training; scikit-learn raises an IndexError here."""


def refuse_unknown(value: Any, name: Any) -> None:
    """Raise because a feature has a value that no row had in training."""
    raise UnknownValue(
        f"Feature {name} has a value that no row had in training: {value!r}. With "
        "unknown='smooth' it is scored as a value never seen."
    )


def places_of(model: Any, X: Any, j: int, width: int) -> NDArray[np.int64]:
    """Return the index (n,) of each value of feature j among the model's categories.

    It is `width` for an unknown value, and one more for a missing one.
    """
    column, categories = X[:, j], model.categories_[j]
    values = column.words if isinstance(column, CodedColumn) else column
    places = np.full(len(values), width)
    if values.dtype.kind == "i" and np.array_equal(categories, np.arange(width)):
        places = np.where((values >= 0) & (values < width), values, width)
    elif are_words(values) == are_words(categories):
        found = places_among(values, categories)
        places = np.where(found < 0, width, found)
    if model.unknown == "error" and (places == width).any():
        name = getattr(model, "feature_names_in_", range(model.n_features_in_))[j]
        refuse_unknown(values[places == width].tolist()[0], name)
    if isinstance(column, CodedColumn):
        places = np.append(places, width + 1).take(column.codes)  # -1 is the last
    return places


def are_words(categories: NDArray[Any]) -> bool:
    """Return whether categories are words, not numbers."""
    return categories.dtype.kind in "USO"


def checked_values(X: NDArray[Any], missing: str) -> NDArray[Any] | Coded:
    """Return X (n, d) as integers; as coded columns if it holds words or missing values."""
    floats = X.dtype.kind == "f"
    if X.dtype.kind in "iub" or (floats and (missing == "refuse" or not np.isnan(X).any())):
        return _integers(X)
    columns = []
    for j in range(X.shape[1]):
        codes, values = codes_of(X[:, j])
        if missing == "refuse" and (codes == len(values)).any():
            raise ValueError(
                f"Input X contains NaN or None, in feature {j}; missing='ignore' leaves such "
                "values out."
            )
        columns.append((codes, _categories(values, j)))
    return coded(columns)


def _categories(values: list[Any], j: int) -> list[Any]:
    """Return the different values of feature j if they are words, else as integers."""
    words = {isinstance(value, str | bytes) for value in values}
    if len(words) > 1:
        raise ValueError(f"Feature {j} holds words and numbers: make it all words with str.")
    if True in words:
        return values
    try:
        numbers = np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"Feature {j} must hold words or numbers: {error}.") from error
    return list(_integers(numbers).tolist())


def _integers(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Return categories as integers: fractions are cut off, as scikit-learn does."""
    if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
        if np.isinf(numbers).any():
            raise ValueError("Input X contains infinity, which is no category.")
        raise ValueError("Input X contains NaN; missing='ignore' leaves such values out.")
    if numbers.size and (numbers.min() <= -1 or numbers.max() >= MOST_CATEGORIES):
        sign = "Negative values" if numbers.min() <= -1 else "Numbers too large for categories"
        raise ValueError(
            f"{sign} in data passed to CategoricalNB (input X); got {numbers.min()} to "
            f"{numbers.max()}. Categories are 0, 1, ... or words: X.astype(str) makes words of any "
            "numbers."
        )
    return numbers.astype(np.int64, copy=False)


ROW = Row(
    "CategoricalNB",
    page="naive_bayes.md",
    certificate="count_naive_bayes",
    contract=Contract(
        tampered=({"min_categories": 20},),
        settings=({}, {"alpha": 0.5, "unknown": "smooth", "missing": "ignore"}),
        checked=({}, {"unknown": "smooth", "missing": "ignore"}),
    ),
    peer_tests=("tests/test_naive_bayes.py",),
)
