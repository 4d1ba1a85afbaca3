"""Models that draw all they know from an additive statistic.

Such a model says how rows become a statistic (`_measure`) and what a statistic implies
(`_conclude`). From ``+`` and ``-`` it then fits, streams, merges and forgets without a line of its
own for any of it.
"""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Estimator, all_or_nothing, warn
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.statistics import Gram, Labels, Moments, Statistic
from rosenblatt.statistics.sums import relative_noise

KNOWN = 1e-9  # a share of a variance that need not be known
DATA_OVER_TABLES = 4  # how much larger data must be than the tables for all groups at once


class Additive(Estimator):
    """A model that is what its statistic implies."""

    statistics_: Any
    n_features_in_: int
    forget_bound_: float

    # The parameters that the statistic depends on; None if it may depend on any. Models that differ
    # in the others alone follow from the same statistic.
    measured_by: tuple[str, ...] | None = None

    # Whether a statistic is used once and not kept, so that fewer bits of it may do.
    _in_passing = False

    # The class of the statistic, and the options it must have been counted with beside the model's
    # own parameters.
    statistic_type: ClassVar[tuple[Any, dict[str, Any]]] = (Statistic, {})

    # The public method that is running: `fit` has all rows at hand, a stream may bring more.
    _during: Literal["", "fit", "partial_fit"] = ""

    # Of two models that score alike, the one with the larger of these parameters is the simpler;
    # the first that differs decides.
    simpler_when_larger: tuple[str, ...] = ()

    @abstractmethod
    def _measure(
        self, X: Any, y: Any, sample_weight: NDArray[Any] | None, careful: bool = False
    ) -> Statistic:
        """The statistic of checked rows; `careful` if they are to be taken out of others."""

    def _measure_groups(
        self,
        X: Any,
        y: Any,
        sample_weight: NDArray[Any] | None,
        groups: NDArray[np.int64],
        n_groups: int,
    ) -> list[Statistic]:
        """The statistic of each group of checked rows; groups (n,) count from 0, none is empty.

        Each row is read once. A model whose statistic has `by_group` does better with that: it
        reads the rows in their order, and copies none.
        """
        ends = np.cumsum(np.bincount(groups, minlength=n_groups))
        parts = np.split(np.argsort(groups, kind="stable"), ends[:-1])
        return [
            self._measure(X[rows], _some(y, rows), _some(sample_weight, rows)) for rows in parts
        ]

    @abstractmethod
    def _conclude(self) -> None:
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
        self._forget_stream()
        self._during = "fit"
        self._publish(self._statistic(X, y, sample_weight, first=True))
        del self._during
        self.report_warnings()
        return self

    def _forget_stream(self) -> None:
        """Drop what earlier batches left beside the statistic."""

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
        before = self.statistics_
        left = before - self._statistic(X, y, sample_weight, first=False, careful=True)
        if not len(left):
            raise ValueError(
                "These are all the rows that the model has learned from: nothing would be left. "
                "An unfitted copy is sklearn.base.clone(model)."
            )
        self._publish(left)
        self.forget_bound_ = self._forget_bound(before, left)
        if self.forget_bound_ > KNOWN:
            warn(
                f"What is left may be off by {self.forget_bound_:.1g} of its variance, because the "
                "rows removed vary much more. Fit again without them, or start from "
                "from_statistics(Moments.of(..., careful=True))."
            )
        self.report_warnings()
        return self

    def _forget_bound(self, before: Any, left: Any) -> float:
        """How far off what a model uses of `left` may be, relative to itself; sums are not."""
        if isinstance(left, Gram):
            return relative_noise(before.moments, left.moments)
        return relative_noise(before, left) if isinstance(left, Moments) else 0.0

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
        model = cls(**{**taken_over(cls, statistics), **parameters})
        model._validate_params()
        model._check_statistic(statistics)
        model.fit_statistics(statistics)
        model.report_warnings()
        return model

    def _check_statistic(self, statistic: Any) -> None:
        """Raise if a statistic from elsewhere cannot be this model's."""
        refuse_unsuitable(self, statistic)

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
        """Issue the warnings that `fit` would have issued about the data."""

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
        return clone(self)._statistic(X, y, sample_weight, first=True)  # type: ignore[no-any-return]

    def measure_groups(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: NDArray[np.int64],
        n_groups: int,
        keep: bool = True,
    ) -> list[Statistic]:
        """Return the statistic of each group of rows, from one read of the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,) or None
        groups : ndarray of shape (n,)
        n_groups : int
        keep : bool
            Whether the statistics will be published or subtracted from; if not, counts may be
            rounded to fewer bits where predictions cannot change.
        """
        model = clone(self)
        model._in_passing = not keep
        rows = model._checked(X, y, sample_weight, first=True)
        # All at once takes a table for each group and class, which pays while they are small.
        n_classes = len(rows[1].classes) if isinstance(rows[1], Labels) else 1
        tables = n_groups * n_classes * rows[0].shape[1]
        large = DATA_OVER_TABLES * tables > getattr(rows[0], "nnz", np.prod(rows[0].shape))
        measure: Any = Additive._measure_groups if large else type(self)._measure_groups
        return [model._named(part) for part in measure(model, *rows, groups, n_groups)]

    def _publish(self, statistic: Statistic) -> None:
        """Set the statistic and all that follows from it."""
        self.__dict__.pop("forget_bound_", None)
        self.statistics_ = statistic
        with one_blas_thread():  # bits must not depend on how many there are
            self._conclude()

    def _statistic(
        self, X: Any, y: Any, sample_weight: Any, *, first: bool, careful: bool = False
    ) -> Statistic:
        """Check rows and measure them; `first` if nothing is known of their columns yet."""
        with checks.naming_columns(X):
            rows = self._checked(X, y, sample_weight, first)
            try:
                return self._named(self._measure(*rows, careful))
            except ValueError:
                self._refuse_strange(rows[0])  # in scikit-learn's words, if it is that
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

    def _checked(self, X: Any, y: Any, sample_weight: Any, first: bool) -> tuple[Any, Any, Any]:
        """X, y and weights as `_measure` takes them."""
        X = self._check_X(X, first)
        y = self._check_y(y, X.shape[0])
        if sample_weight is not None:
            sample_weight = checks.weights(sample_weight, X.shape[0])
            if not sample_weight.all() and not isinstance(X, list):
                # Sums leave such rows out, and would not find what is wrong in them.
                self._refuse_strange(X[np.flatnonzero(sample_weight == 0)])
        return X, y, sample_weight

    def _named(self, statistic: Statistic) -> Statistic:
        """A statistic with the names of the model's features."""
        names = getattr(self, "feature_names_in_", None)
        return statistic if names is None else replace(statistic, feature_names=tuple(names))  # type: ignore[type-var]

    def _check_X(self, X: Any, first: bool) -> Any:
        """X (n, d) as statistics read it; they find values that are not finite by themselves."""
        return checks.rows(self, X, reset=first, order="C", finite=False)

    def _check_y(self, y: Any, n: int) -> Any:
        """The target as statistics read it."""
        return y


def _some(values: Any, rows: NDArray[np.int64]) -> Any:
    """Targets or weights of some rows; None stays None."""
    if isinstance(values, Labels):
        return Labels(values.classes, values.codes[rows])
    return None if values is None else values[rows]


# Whether a statistic is one that a model can stand on.


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


def taken_over(model: type[Any], statistic: Any) -> dict[str, Any]:
    """The parameters of a model that its statistic was counted with, such as `binarize`."""
    if not isinstance(statistic, Statistic):
        raise TypeError(
            f"{model.__name__}.from_statistics takes a statistic, such as the statistics_ of a "
            f"fitted model; got {type(statistic).__name__}."
        )
    names = model._get_param_names()
    return {name: value for name, value in statistic._options().items() if name in names}


def refuse_unsuitable(model: Any, statistic: Any) -> None:
    """Raise if a statistic is of another kind than a model stands on, or was counted otherwise."""
    name, (kind, options) = type(model).__name__, model.statistic_type
    if not isinstance(statistic, kind):
        raise TypeError(
            f"{name} stands on {kind.__name__}, which the statistics_ of a {name} are; "
            f"got {type(statistic).__name__}."
        )
    counted, parameters = statistic._options(), model.get_params(deep=False)
    asked = {option: parameters[option] for option in counted if option in parameters} | options
    call = f"{kind.__name__}.of({', '.join(['X', 'y', *(f'{o}={v!r}' for o, v in asked.items())])})"
    for option, value in asked.items():
        if counted[option] == value:
            continue
        advice = f"Make them with {call}."
        if option == "full" and not value:
            advice = "Give it statistics.diagonal()."
        elif option in parameters:
            advice = f"Leave {option} out to take theirs over; or make others with {call}."
        raise ValueError(
            f"{name} stands on {kind.__name__} with {option}={value!r}; these were made with "
            f"{option}={counted[option]!r}. {advice}"
        )
    if not len(statistic):
        raise ValueError("There is nothing to learn from: this is the statistic of no rows.")
