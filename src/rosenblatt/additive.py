"""Models that follow from an additive statistic of their rows.

A model defines

- ``_measure(X, y, sample_weight)``: the statistic of checked rows, and ``_measure_groups`` the
  same for groups of rows. An `AdditiveClassifier` has both from its `statistic_type`;
- ``_conclude(rows, final)``: set the fitted attributes that `statistics_` implies. `rows` are the
  checked ``(X, y, sample_weight)`` in `fit`, which has all rows at hand, and None elsewhere. In
  `partial_fit` `final` is false: more rows may come, so that too few of them are no error.

Then `fit`, `partial_fit`, `merge`, `forget` and `from_statistics` follow from ``+`` and ``-``.
"""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Estimator, all_or_nothing, warn
from rosenblatt.runtime.threads import one_blas_thread
from rosenblatt.statistics import Labels, Statistic

Rows = tuple[Any, Any, Any]  # checked X, y and weights

KNOWN = 1e-9  # relative error of a variance above which `forget` warns
DATA_OVER_TABLES = 4  # how much larger data must be than the tables for all groups at once

# Single rows of a stream are stored until the model is read, or until there are so many: updating
# the statistic and all attributes takes hundreds of microseconds, copying a row takes a few.
BUFFERED_ROWS = 256
LONG = 1e200  # squared length of a row from which sums of such rows may overflow
KEPT = ("classes_", "n_features_in_")  # fitted attributes that buffered rows do not change


class Additive(Estimator):
    """A model whose fitted attributes follow from a statistic with + and -."""

    statistics_: Any
    n_features_in_: int
    forget_bound_: float

    # The parameters that the statistic depends on; None if it may depend on any. Models that
    # differ in others follow from the same statistic.
    measured_by: tuple[str, ...] | None = None

    # The class of the statistic, and the options that it must have besides the parameters of the
    # model.
    statistic_type: ClassVar[tuple[Any, dict[str, Any]]] = (Statistic, {})

    # Of two models that score alike, the one with the larger of these parameters is the simpler;
    # the first that differs decides.
    simpler_when_larger: tuple[str, ...] = ()

    @abstractmethod
    def _measure(self, X: Any, y: Any, sample_weight: NDArray[Any] | None) -> Statistic:
        """Return the statistic of checked rows."""

    def _measure_groups(
        self, X: Any, y: Any, sample_weight: Any, groups: NDArray[np.int64], n_groups: int
    ) -> list[Any]:
        """Return the statistic of each group of checked rows; groups (n,) count from 0."""
        # This copies the rows of each group; a statistic's own `by_group` does not.
        ends = np.cumsum(np.bincount(groups, minlength=n_groups))
        parts = np.split(np.argsort(groups, kind="stable"), ends[:-1])
        tables = (X, y, sample_weight)
        return [self._measure(*(t if t is None else t[part] for t in tables)) for part in parts]

    @abstractmethod
    def _conclude(self, rows: Rows | None, final: bool) -> None:
        """Set the fitted attributes that `statistics_` implies."""

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to X and y in one pass.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        """
        self._validate_params()
        rows = self._checked(X, y, sample_weight, first=True)
        self._publish(self._measured(rows), rows)
        self.report_warnings()
        return self

    @all_or_nothing
    def merge(self, other: Self) -> Self:
        """Add the rows that another model has learned.

        Parameters
        ----------
        other : fitted model of the same class, parameters and features
        """
        refuse_unlike(self, other)
        self._publish(self.statistics_ + other.statistics_)
        self.report_warnings()
        return self

    @all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Remove rows from the model, as if it had never been fitted on them.

        Rows that were never learned raise an error where that can be known. `forget_bound_` bounds
        the relative error of the variances; above 1e-9 there is a warning.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows the model has learned from.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
            The weights they had.
        """
        check_is_fitted(self)
        left = self.statistics_ - self._statistic(X, y, sample_weight, first=False)
        if not len(left):
            raise ValueError(
                "These are all the rows that the model has learned from: nothing would be left. "
                "An unfitted copy is sklearn.base.clone(model)."
            )
        self._publish(left)
        self.forget_bound_ = self._forget_bound(left)
        if self.forget_bound_ > KNOWN:
            share = f"{self.forget_bound_:.1g}" if np.isfinite(self.forget_bound_) else "all"
            warn(
                f"What is left may be off by {share} of its variance, because the rows removed "
                "vary much more. Fit again on the remaining rows."
            )
        self.report_warnings()
        return self

    def _forget_bound(self, left: Any) -> float:
        """Return a bound on the relative error of the variances that the model uses."""
        return float(left.relative_noise())

    @classmethod
    def from_statistics(cls, statistics: Statistic, **parameters: Any) -> Self:
        """Return the fitted model that a statistic implies.

        Parameters
        ----------
        statistics : Statistic
            Of a model of this class, or a sum of such.
        **parameters : Any
            Of the model; those stored in the statistic may be omitted.
        """
        if not isinstance(statistics, Statistic):
            raise TypeError(
                f"{cls.__name__}.from_statistics takes a statistic, such as the statistics_ of a "
                f"fitted model; got {type(statistics).__name__}."
            )
        stored, names = statistics._options(), cls._get_param_names()
        model = cls(**{name: stored[name] for name in stored if name in names} | parameters)
        model._validate_params()
        model._check_statistic(statistics)
        model.fit_statistics(statistics)
        model.report_warnings()
        return model

    def _check_statistic(self, statistic: Any) -> None:
        """Raise if a statistic is of another class or was counted with other options."""
        name, (kind, options) = type(self).__name__, self.statistic_type
        if not isinstance(statistic, kind):
            raise TypeError(
                f"{name} stands on {kind.__name__}, which the statistics_ of a {name} are; "
                f"got {type(statistic).__name__}."
            )
        counted, parameters = statistic._options(), self.get_params(deep=False)
        asked = {option: parameters[option] for option in counted if option in parameters} | options
        arguments = ", ".join(["X", "y", *(f"{o}={v!r}" for o, v in asked.items())])
        call = f"{kind.__name__}.of({arguments})"
        for option, value in asked.items():
            if counted[option] == value:
                continue
            advice = f"Make them with {call}."
            if option == "full" and not value:
                advice = "Give it statistics.diagonal()."
            elif option in parameters:
                advice = f"Leave {option} out to use theirs; or make others with {call}."
            raise ValueError(
                f"{name} stands on {kind.__name__} with {option}={value!r}; these were made with "
                f"{option}={counted[option]!r}. {advice}"
            )
        if not len(statistic):
            raise ValueError("There is nothing to learn from: this is the statistic of no rows.")

    def fit_statistics(self, statistics: Statistic) -> Self:
        """Fit the model to a statistic, without warnings; `report_warnings` issues them.

        Parameters
        ----------
        statistics : Statistic
            Of a model of this class, or a sum of such.
        """
        self._validate_params()
        self.n_features_in_ = statistics.n_features  # type: ignore[attr-defined]
        names = getattr(statistics, "feature_names", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._publish(statistics)
        return self

    def report_warnings(self) -> None:
        """Issue the warnings of `fit` about the data."""

    def needs_rows(self) -> bool:
        """Return whether a fit to the rows would have more exact digits than the statistic gave."""
        return False

    def measure(self, X: Any, y: Any, sample_weight: Any = None) -> Statistic:
        """Return the statistic of rows; the statistics of two batches add up to that of both.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            Their labels or targets.
        sample_weight : array-like of shape (n,) or None
            How often each row counts.
        """
        model = clone(self)
        with checks.naming_columns(X):
            return model._statistic(X, y, sample_weight, first=True)  # type: ignore[no-any-return]

    def measure_groups(
        self, X: Any, y: Any, sample_weight: Any, groups: NDArray[np.int64], n_groups: int
    ) -> list[Statistic]:
        """Return the statistic of each group of rows, from one read of the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        groups : ndarray of shape (n,)
        n_groups : int
        """
        model = clone(self)
        rows = model._checked(X, y, sample_weight, first=True)
        # All at once takes a table for each group and class, which pays while they are small.
        n_classes = len(rows[1].classes) if isinstance(rows[1], Labels) else 1
        tables = n_groups * n_classes * rows[0].shape[1]
        large = DATA_OVER_TABLES * tables > getattr(rows[0], "nnz", np.prod(rows[0].shape))
        measure: Any = Additive._measure_groups if large else type(self)._measure_groups
        return [model._named(part) for part in measure(model, *rows, groups, n_groups)]

    def _publish(self, statistic: Statistic, rows: Rows | None = None, final: bool = True) -> None:
        """Set the statistic and all that follows from it; arguments as in `_conclude`."""
        self.__dict__.pop("forget_bound_", None)
        self.statistics_ = statistic
        with one_blas_thread():  # bits must not depend on how many there are
            self._conclude(rows, final)

    def _statistic(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> Statistic:
        """Check rows and measure them; `first` if the columns are not known yet."""
        return self._measured(self._checked(X, y, sample_weight, first))

    def _measured(self, rows: Rows) -> Statistic:
        """Return the statistic of checked rows, with the names of the features."""
        try:
            return self._named(self._measure(*rows))
        except ValueError:
            self._refuse_strange(rows[0])  # with scikit-learn's message
            raise

    def _refuse_strange(self, X: Any) -> None:
        """Raise if X holds infinity, or NaN that is not to be left out."""
        values = X.data if sp.issparse(X) else X
        if getattr(values, "dtype", np.dtype(object)).kind == "f":
            missing = getattr(self, "missing", None)  # None if it has no such parameter
            try:
                checks.finite(values, allow_nan=missing == "ignore")
            except ValueError:
                if missing == "refuse" and np.isnan(values).any():
                    raise ValueError(
                        "Input X contains NaN; missing='ignore' leaves such values out."
                    ) from None
                raise

    def _checked(self, X: Any, y: Any, sample_weight: Any, first: bool) -> Rows:
        """Return X, y and weights as `_measure` takes them."""
        X = self._check_X(X, first)
        y = self._check_y(y, X.shape[0])
        if sample_weight is not None:
            sample_weight = checks.weights(sample_weight, X.shape[0])
            if not sample_weight.all():
                # Sums leave such rows out, and would not find what is wrong in them.
                self._refuse_strange(X[np.flatnonzero(sample_weight == 0)])
        return X, y, sample_weight

    def _named(self, statistic: Statistic) -> Statistic:
        """Return a statistic with the names of the model's features."""
        names = getattr(self, "feature_names_in_", None)
        return statistic if names is None else replace(statistic, feature_names=tuple(names))  # type: ignore[type-var]

    def _check_X(self, X: Any, first: bool) -> Any:
        """Return X (n, d) as statistics read it; they find values that are not finite."""
        return checks.rows(self, X, reset=first, order="C", finite=False)

    def _check_y(self, y: Any, n: int) -> Any:
        """Return the target as statistics read it."""
        return y


class AdditiveClassifier(ClassifierMixin, Additive):  # type: ignore[misc]
    """An additive model of classes. Classes seen later extend it.

    Single rows of a stream are buffered if `_stores_single_rows`, and learned together when a
    fitted attribute is read.
    """

    classes_: NDArray[Any]

    _promised: NDArray[Any] | None = None  # the `classes` given to `partial_fit`
    _buffer: "RowBuffer | None" = None

    def _statistic_options(self) -> dict[str, Any]:
        """Return the options that the statistic is counted with."""
        named = {name: getattr(self, name) for name in self.measured_by or ()}
        return self.statistic_type[1] | named

    def _measure(self, X: Any, y: Any, sample_weight: NDArray[Any] | None) -> Statistic:
        kind: Any = self.statistic_type[0]
        return kind.of(X, y, sample_weight, **self._statistic_options())  # type: ignore[no-any-return]

    def _measure_groups(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, n_groups: int
    ) -> list[Any]:
        kind, options = self.statistic_type[0], self._statistic_options()
        return list(kind.by_group(X, y, groups, n_groups, sample_weight, **options))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Update the model with a batch of rows; all batches together give the result of one fit.

        Rows that do not determine a model yet are stored; until they do, `predict` raises an error.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like of shape (K,) or None
            Labels that may come, those of `y` among them. They need not be given: a new label
            makes a new class.
        sample_weight : array-like of shape (n,) or None
        """
        if classes is not None or sample_weight is not None or not self._store_row(X, y):
            self._learn_batch(X, y, classes, sample_weight)
        return self

    @all_or_nothing
    def _learn_batch(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        """Update the model at once."""
        self._validate_params()
        first = not hasattr(self, "statistics_")
        statistic = self._statistic(X, y, sample_weight, first=first)
        if classes is not None:
            given = np.unique(np.asarray(classes))
            checks.known_classes(statistic.classes, given)
            self._promised = given if self._promised is None else np.union1d(self._promised, given)
        self._publish(statistic if first else self.statistics_ + statistic, final=False)

    def _stores_single_rows(self) -> bool:
        """Return whether the model can learn any finite row of a known class, unchecked."""
        return False

    def _store_row(self, X: Any, y: Any) -> bool:
        """Buffer a single row and return True; False if it has to be learned at once."""
        state, buffer = self.__dict__, self._buffer
        if buffer is None:
            if "statistics_" not in state or "feature_names_in_" in state:
                return False
            if not self._stores_single_rows():
                return False
            self._validate_params()
            buffer = RowBuffer(self)
        if not buffer.add(X, y, state):
            return False
        if buffer.n == 1:
            kept = {n: v for n, v in state.items() if not n.endswith("_") or n in KEPT}
            self.__dict__ = kept | {"_buffer": buffer}
        if buffer.n == BUFFERED_ROWS:
            self._learn_buffer()
        return True

    def _learn_buffer(self) -> None:
        """Learn the buffered rows, with the parameters that were set when they came."""
        buffer = self._buffer
        if buffer is None:
            return
        model: Any = object.__new__(type(self))
        model.__dict__ = dict(buffer.before)
        y = Labels(model.statistics_.classes, buffer.codes[: buffer.n])
        more = model._measure(buffer.X[: buffer.n], y, None)
        model._publish(model.statistics_ + more, final=False)
        unset = object()  # attributes that the user has set meanwhile are kept
        now = {n: v for n, v in vars(self).items() if buffer.before.get(n, unset) is not v}
        now.pop("_buffer", None)
        self.__dict__ = vars(model) | now

    def __getattr__(self, name: str) -> Any:
        # While rows are buffered, the attributes that they change are removed.
        if name.endswith("_") and not name.startswith("_"):
            self._learn_buffer()
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "statistics_")

    def __getstate__(self) -> Any:
        self._learn_buffer()
        return super().__getstate__()

    def _check_y(self, y: Any, n: int) -> Labels:
        classes, codes = checks.labels(y, n)
        return Labels(classes, codes.astype(np.int64, copy=False))

    def _publish(self, statistic: Statistic, rows: Rows | None = None, final: bool = True) -> None:
        if rows is not None:  # `fit` starts afresh
            self._promised = self._buffer = None
        seen, given = statistic.classes, self._promised
        self.classes_ = seen.copy() if given is None else np.union1d(seen, given)
        super()._publish(statistic, rows, final)

    def _by_class(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return a table of the statistic (k, ...) with zeros for classes not yet seen (K, ...)."""
        seen = self.statistics_.classes
        if len(seen) == len(self.classes_):
            return table
        wide = np.zeros((len(self.classes_), *table.shape[1:]), table.dtype)
        wide[np.searchsorted(self.classes_, seen)] = table
        return wide

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", "refuse") == "ignore"
        return tags


class RowBuffer:
    """Up to `BUFFERED_ROWS` rows of known classes, and the model before them."""

    def __init__(self, model: Any) -> None:
        self.before: dict[str, Any] = dict(vars(model))
        self.codes_of = {label: k for k, label in enumerate(model.statistics_.classes.tolist())}
        self.parameters = [(name, getattr(model, name)) for name in model._get_param_names()]
        self.X = np.empty((BUFFERED_ROWS, model.n_features_in_), model.statistics_.dtype)
        self.shape = (1, model.n_features_in_)
        self.codes = np.empty(BUFFERED_ROWS, np.int64)
        self.n = 0

    def add(self, X: Any, y: Any, parameters: dict[str, Any]) -> bool:
        """Store a row and return True; False for a row that needs the full checks."""
        if type(X) is not np.ndarray or X.shape != self.shape or X.dtype != self.X.dtype:
            return False
        if type(y) is not np.ndarray or y.shape != (1,) or not np.vdot(X, X) < LONG:
            return False
        code = self.codes_of.get(y.item())
        if code is None or self.n == BUFFERED_ROWS:
            return False
        for name, value in self.parameters:  # changed parameters need a check
            if parameters[name] is not value:
                return False
        self.X[self.n] = X[0]
        self.codes[self.n] = code
        self.n += 1
        return True


def rows_needed(setting: str) -> ValueError:
    """Return the error about a setting for which a statistic is not enough."""
    return ValueError(
        f"{setting} must read the rows themselves: it works with fit alone, not with partial_fit, "
        "merge, forget or from_statistics."
    )


def refuse_unlike(model: Any, other: Any) -> None:
    """Raise unless both models are fitted, of one class, and have the same parameters."""
    check_is_fitted(model)
    if type(other) is not type(model):
        mine, theirs = type(model).__name__, type(other).__name__
        if theirs == mine:
            theirs = f"{type(other).__module__}.{theirs}"
        raise TypeError(f"A {mine} can merge with another {mine} only; got a {theirs}.")
    check_is_fitted(other)
    others = other.get_params()
    for name, value in model.get_params().items():
        if not np.array_equal(value, others[name]):
            raise ValueError(
                f"Models must have the same parameters to be merged; {name} is {value!r} here "
                f"and {others[name]!r} there."
            )


def given_shares(priors: Any, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the given shares (K,) of classes with weights (K,); 0 for classes of weight 0."""
    given = np.where(weight > 0, checks.priors(priors, len(weight)), 0.0)
    if not given.any():
        raise ValueError("priors must not be zero for all classes that have rows.")
    return np.asarray(given / given.sum())
