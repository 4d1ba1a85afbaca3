"""Naive Bayes for tables of mixed columns: each column has the model of its kind.

log P(x | y) = sum over the columns that are known of log P(x_j | y).
"""

import datetime
from dataclasses import dataclass
from numbers import Number, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt.missing_values import which_missing
from rosenblatt.mixed_tables import checked_table, codes_of, column, names_of, table_of_numbers
from rosenblatt.registry.row import Candidate, Contract, Row
from rosenblatt.statistics import ProductStatistic
from rosenblatt.statistics.categories import coded

from .base import NaiveBayes
from .column_kinds import KINDS, RULES
from .gaussian import SHARED

DATES = (datetime.date, datetime.time, datetime.timedelta)  # a datetime is a date as well
SAY_CATEGORICAL = "A column of words is 'categorical'; say so in kinds."
ROWS_AT_A_TIME = 2**17


class MixedNB(NaiveBayes):
    """Naive Bayes on numeric, categorical, Boolean and count columns at once.

    A numeric column is Gaussian in each class, as in `GaussianNB`; a categorical one has a
    probability for each of its values; a Boolean one has a probability of being true; a count is
    Poisson. A column said to be a density is numeric without a shape given beforehand: a small
    Gaussian stands at each value that the class has shown [1]_. A value that is missing is left out
    of the product, in training and in prediction.

    Parameters
    ----------
    kinds : dict, list or None
        "numeric", "categorical", "boolean", "count" or "density" for each column: a list, or a
        dict by name (by number, for an array) of those that are not to be inferred. Inferred are:
        numbers as numeric, True and False as Boolean, everything else as categorical. Dates and
        times raise an error unless their kind is given.
    alpha : float
        Smoothing >= 0: each value of a categorical or Boolean column is counted `alpha` times
        more than it was seen in each class, and each count column has `alpha` rows with one more.
    priors : array-like of shape (K,) or None
        The classes' shares; counted if None.
    var_smoothing, variance, ddof
        Of the numeric columns, as in `GaussianNB`.
    unknown : {"smooth", "error"}
        Whether a category that no row had in training is taken as one with count zero, or refused.
        As in `CategoricalNB`, where it is refused by default, as scikit-learn does.
    bandwidth : {"scott", "silverman"} or float
        Of density columns, the width of the small Gaussians: a rule, from the spread s and weight
        n of the values in a class, ``s n**(-1/5)`` or ``s (3 n / 4)**(-1/5)``; or a number.

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
    points_ : for each density column the values seen, sorted, shape (m,).
    point_weight_ : for each density column the weights of these in each class, shape (K, m).
    bandwidth_ : shape (K, density columns).
    n_parameters_ : how many numbers were estimated and are free.
    statistics_ : `ProductStatistic`, a value with + and -.
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

    A feature with two modes is not Gaussian, but has a density:

    >>> X, y = [[-2.1], [-1.9], [1.9], [2.1], [-0.1], [0.0], [0.1]], [1, 1, 1, 1, 0, 0, 0]
    >>> MixedNB(kinds=["density"], bandwidth=0.3).fit(X, y).predict([[-2.0], [0.5], [2.0]])
    array([1, 0, 1])

    Notes
    -----
    A density keeps every distinct value and is slow to predict: rows times values. A class whose
    values do not vary takes the bandwidth of all classes together, or 1; one that has shown no
    value is taken to be as all the data are.

    References
    ----------
    .. [1] G. H. John, P. Langley (1995), Estimating continuous distributions in Bayesian
       classifiers. *UAI*.
    """

    measured_by = ("kinds",)
    statistic_type = (ProductStatistic, {})
    _advice_if_impossible = "With alpha > 0 only numbers far out on another scale are impossible."
    simpler_when_larger = ("alpha",)
    _reads_categories = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kinds": [dict, "array-like", None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "variance": [StrOptions(set(SHARED))],
        "ddof": [Interval(Real, 0, None, closed="left")],
        "unknown": [StrOptions({"smooth", "error"})],
        "bandwidth": [StrOptions(set(RULES)), Interval(Real, 0, None, closed="neither")],
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
        unknown: str = "smooth",
        bandwidth: Any = "scott",
    ) -> None:
        self.kinds = kinds
        self.alpha = alpha
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.variance = variance
        self.ddof = ddof
        self.unknown = unknown
        self.bandwidth = bandwidth

    def _draw_rows(self, codes: NDArray[np.intp], rng: np.random.RandomState) -> NDArray[Any]:
        X = np.empty((len(codes), self.n_features_in_), object)
        for kind, places in self.statistics_.columns.items():
            for c, j in enumerate(places):
                X[:, j] = KINDS[kind].draw(self, c, codes, rng)
        return X

    def _check_X(self, X: Any, first: bool) -> "Columns":
        X = checked_table(self, X, first)
        if not first:
            return split(X, self.statistics_.columns)
        kinds = np.array(infer_kinds(X, self.kinds))
        columns = {kind: tuple(np.flatnonzero(kinds == kind).tolist()) for kind in KINDS}
        return split(X, {kind: places for kind, places in columns.items() if places})

    def measure_groups(self, X: Any, *others: Any, **options: Any) -> list[Any]:
        """Return the statistic of each group of rows: see `Additive.measure_groups`."""
        if not have_kinds_of_all(X, self.kinds):
            raise ValueError("Some rows alone would have other kinds of columns than all rows.")
        return super().measure_groups(X, *others, **options)

    def _check_statistic(self, statistic: ProductStatistic) -> None:
        super()._check_statistic(statistic)
        for name, part in statistic.parts.items():
            kind = getattr(KINDS.get(name), "statistic", None)
            right = kind is not None and isinstance(part, kind) and part.missing == "ignore"
            if not right or getattr(part, "full", False):
                raise ValueError(
                    f"MixedNB stands on parts of the kinds {', '.join(KINDS)}, counted with "
                    f"missing='ignore'; got {name!r}, which is {part!r}."
                )
        given = self.kinds
        names = statistic.feature_names or range(statistic.n_features)
        wanted = given if isinstance(given, dict) else dict(enumerate(given or ()))
        for name, places in statistic.columns.items():
            for j in places:
                asked = wanted.get(names[j] if isinstance(given, dict) else j, name)
                if asked != name:
                    raise ValueError(
                        f"kinds says that column {names[j]} is {asked}; these statistics were "
                        f"made with it as {name}."
                    )

    def _measure(
        self, X: "Columns", y: Any, sample_weight: NDArray[Any] | None
    ) -> ProductStatistic:
        statistic: ProductStatistic = self._measure_groups(X, y, sample_weight, None, 1)[0]
        return statistic

    def _measure_groups(
        self, X: "Columns", y: Any, sample_weight: NDArray[Any] | None, groups: Any, n_groups: int
    ) -> list[Any]:
        measured = {}
        for name, values in X.parts.items():
            kind = KINDS[name]
            measured[name] = kind.statistic.by_group(
                kind.measured(values), y, groups, n_groups, sample_weight, missing="ignore"
            )
        return [
            ProductStatistic.of({name: parts[g] for name, parts in measured.items()}, X.columns)
            for g in range(n_groups)
        ]

    def _conclude(self, rows: Any, final: bool) -> None:
        statistic = self.statistics_
        for kind in KINDS.values():
            for name in kind.attributes:  # of an earlier fit to other columns
                self.__dict__.pop(name, None)
        self.kinds_ = [""] * statistic.n_features
        for name, places in statistic.columns.items():
            for j in places:
                self.kinds_[j] = name
        self.n_parameters_ = self._set_class_prior()
        for name, part in statistic.parts.items():
            self.n_parameters_ += KINDS[name].conclude(self, part)

    def _log_likelihood(self, X: "Columns") -> NDArray[Any]:
        scores = np.zeros((X.shape[0], len(self.classes_)), self.class_log_prior_.dtype)
        for start in range(0, X.shape[0], ROWS_AT_A_TIME):  # each kind makes tables on the way
            rows = slice(start, start + ROWS_AT_A_TIME)
            for name, values in X.parts.items():
                scores[rows] += KINDS[name].total(self, values[rows])
        return scores

    def _log_factors(self, X: "Columns") -> NDArray[np.float64]:
        factors = np.empty((len(self.classes_), self.n_features_in_))
        for name, values in X.parts.items():
            for c, j in enumerate(X.columns[name]):
                factors[:, j] = KINDS[name].scores(self, c, values[:, c])[0]
        return factors

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@dataclass(frozen=True, eq=False)
class Columns:
    """Checked rows, one table for each kind of column; missing values are NaN or the code -1."""

    shape: tuple[int, int]
    columns: dict[str, tuple[int, ...]]  # of each kind, their places among all
    parts: dict[str, Any]  # (n, columns of the kind): numbers, or `Coded` if categorical

    def __getitem__(self, rows: Any) -> "Columns":
        """Return some of the rows, by number or range."""
        parts = {kind: values[rows] for kind, values in self.parts.items()}
        n = len(range(self.shape[0])[rows]) if isinstance(rows, slice) else len(rows)
        return Columns((n, self.shape[1]), self.columns, parts)


def infer_kinds(X: Any, given: Any) -> list[str]:
    """Return the kind of each column: from `given`, a dict by name or a list, or inferred."""
    if given is not None and not isinstance(given, dict):
        kinds = list(given)
        if len(kinds) != X.shape[1]:
            raise ValueError(f"kinds must name {X.shape[1]} kinds, one a column; got {len(kinds)}.")
    else:
        names = names_of(X)
        known = set(names)
        unknown = [name for name in given or () if name not in known]
        if unknown:
            raise ValueError(f"kinds must be of columns of X; got {unknown[0]!r}.")
        kinds = [
            given[name] if given and name in given else _kind(column(X, name), name)
            for name in names
        ]
    wrong = [kind for kind in kinds if kind not in KINDS]
    if wrong:
        raise ValueError(f"kinds must be of {', '.join(KINDS)}; got {wrong[0]!r}.")
    return kinds


def have_kinds_of_all(X: Any, given: Any) -> bool:
    """Return whether some of the rows of X would give the same kinds as all of them."""
    if getattr(getattr(X, "dtype", None), "kind", "O") in "biuf":
        return True
    if given is not None and not isinstance(given, dict):
        return True
    table = X if hasattr(X, "columns") else np.asarray(X, object)
    inferred = [name for name in names_of(table) if name not in (given or ())]
    return all(len(_kinds_of_values(column(table, name), name)) <= 1 for name in inferred)


def _kind(values: Any, name: Any) -> str:
    """Return the kind of a column."""
    kinds = _kinds_of_values(values, name)
    if kinds == {"boolean"}:
        return "boolean"
    return "numeric" if kinds and kinds <= {"boolean", "numeric"} else "categorical"


def _kinds_of_values(values: Any, name: Any) -> set[str]:
    """Return the kinds that the values of a column suggest, or its type alone."""
    if str(getattr(values, "dtype", "")).startswith(("category", "Categorical")):
        return {"categorical"}
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return {"boolean" if array.dtype.kind == "b" else "numeric"}
    types = set(map(type, array[~which_missing(array)].tolist()))
    if array.dtype.kind in "mM" or any(issubclass(kind, DATES) for kind in types):
        raise ValueError(
            f"Column {name!r} holds dates or times: convert them to numbers, such as days since "
            "the first, leave the column out, or set its kind to 'categorical'."
        )
    suggested = ((bool, "boolean"), (Number, "numeric"), (object, "categorical"))
    return {next(kind for base, kind in suggested if issubclass(t, base)) for t in types}


def split(X: Any, columns: dict[str, tuple[int, ...]]) -> Columns:
    """Return the columns of each kind as a table; `columns` has their places."""
    parts: dict[str, Any] = {}
    every = names_of(X)
    for kind, places in columns.items():
        names = [every[j] for j in places]
        if kind == "categorical":
            parts[kind] = coded([codes_of(column(X, name)) for name in names])
        else:
            parts[kind] = table_of_numbers(X, names, SAY_CATEGORICAL)
            _check(kind, parts[kind], names)
    return Columns((X.shape[0], X.shape[1]), columns, parts)


def _check(kind: str, values: NDArray[Any], names: list[Any]) -> None:
    """Raise if a column holds what its kind cannot."""
    if kind == "boolean":
        bad, wanted = ~((values == 0) | (values == 1) | np.isnan(values)), "True and False, or 1, 0"
    elif kind == "count":
        whole = (values >= 0) & (values == np.floor(values)) & np.isfinite(values)
        bad, wanted = ~(whole | np.isnan(values)), "whole numbers >= 0"
    else:
        bad, wanted = np.isinf(values), "finite numbers"
    if bad.any():
        i, c = np.argwhere(bad)[0]
        found = "Input X contains infinity: " if np.isinf(values[i, c]) else "In X, "
        raise ValueError(
            f"{found}column {names[c]!r} is {kind} and must hold {wanted}; got {values[i, c]} in "
            f"row {i}."
        )


ROW = Row(
    "MixedNB",
    page="naive_bayes.md",
    certificate="mixed_naive_bayes",
    compare=(
        Candidate(
            "mixed naive Bayes",
            "numbers, categories and missing values in one table",
            {"alpha": (0.1, 1.0, 10.0)},
            reads="table",
            limits=("named columns",),
            order=11,
        ),
    ),
    contract=Contract(
        tampered=({"kinds": {"calls": "count"}},),
        settings=({}, {"alpha": 0, "variance": "feature"}),
    ),
)
