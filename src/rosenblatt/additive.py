"""Models that draw all they know from an additive statistic.

Such a model says how rows become a statistic (`_measure`) and what a statistic implies
(`_conclude`). From ``+`` and ``-`` it then fits, streams, merges and forgets without a line of its
own for any of it.
"""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from rosenblatt.base import FLOATS, all_or_nothing, encode_labels
from rosenblatt.statistics import Labels, Statistic
from rosenblatt.waiting import LOCK, ROWS, Waiting

DATA_OVER_TABLES = 4  # how much larger data must be than the tables for all groups at once


class Additive(BaseEstimator):  # type: ignore[misc]
    """A model that is what its statistic implies."""

    statistics_: Any
    n_features_in_: int

    # The parameters that `_check_X` and `_measure` read; None if any may be. Models that differ in
    # the others alone draw their conclusions from the same statistic.
    _measured_by: tuple[str, ...] | None = None

    # Whether what is measured is concluded from and not kept: nothing will be taken out of it.
    _in_passing = False

    # Of two models that do equally well, the one with the larger of these is the simpler; the first
    # that differs decides.
    _simpler_when_larger: tuple[str, ...] = ()

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
        """Learn from X (n, d) and labels y (n,), in one pass; return self.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The examples.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,) or None
            How often each row counts; any numbers >= 0.
        """
        self._validate_params()
        self._publish(self._statistic(X, y, sample_weight, first=True))
        return self

    @all_or_nothing
    def merge(self, other: Self) -> Self:
        """Learn what another model has learned, as if fitted on the rows of both; return self.

        Parameters
        ----------
        other : a fitted model of the same class, parameters and features.
        """
        check_is_fitted(self)
        if type(other) is not type(self):
            mine, theirs = type(self).__name__, type(other).__name__
            raise TypeError(f"A {mine} can merge with another {mine} only; got a {theirs}.")
        check_is_fitted(other)
        ours, others = self.get_params(), other.get_params()
        for name, value in ours.items():
            if not np.array_equal(value, others[name]):
                raise ValueError(
                    f"Models must have the same parameters to be merged; {name} is {value!r} here "
                    f"and {others[name]!r} there."
                )
        self._publish(self.statistics_ + other.statistics_)
        return self

    @all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows, as if never fitted on them; return self.

        Rows that were never learned are refused where that can be known, and nothing is changed.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows the model has learned from.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,) or None
            The weights they had.
        """
        check_is_fitted(self)
        left = self.statistics_ - self._statistic(X, y, sample_weight, first=False, careful=True)
        if not len(left):
            raise ValueError(
                "These are all the rows that the model has learned from: nothing would be left. "
                "An unfitted copy is sklearn.base.clone(model)."
            )
        self._publish(left)
        return self

    @classmethod
    def from_statistics(cls, statistics: Statistic, **parameters: Any) -> Self:
        """Return the fitted model that a statistic implies, without any rows.

        Parameters
        ----------
        statistics : the statistic of a model of this class, or a sum of such.
        parameters : of the model.
        """
        return cls(**parameters)._become(statistics)

    def _become(self, statistics: Statistic) -> Self:
        """Be the fitted model that a statistic implies."""
        self._validate_params()
        self.n_features_in_ = statistics.n_features  # type: ignore[attr-defined]
        names = getattr(statistics, "feature_names", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._publish(statistics)
        return self

    def _publish(self, statistic: Statistic) -> None:
        """Set the statistic and all that follows from it."""
        self.statistics_ = statistic
        self._conclude()

    def _statistic(
        self, X: Any, y: Any, sample_weight: Any, *, first: bool, careful: bool = False
    ) -> Statistic:
        """Check rows and measure them; `first` if nothing is known of their columns yet."""
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
            allow_nan = getattr(self, "missing", "refuse") == "ignore"
            assert_all_finite(values, allow_nan=allow_nan, input_name="X")

    def _statistics_by_group(
        self, X: Any, y: Any, sample_weight: Any, groups: NDArray[np.int64], n_groups: int
    ) -> list[Statistic]:
        """Check rows and measure each group of them; groups (n,) count from 0, none is empty."""
        rows = self._checked(X, y, sample_weight, first=True)
        # All at once takes a table for each group and class, which pays while they are small.
        n_classes = len(rows[1].classes) if isinstance(rows[1], Labels) else 1
        tables = n_groups * n_classes * rows[0].shape[1]
        large = DATA_OVER_TABLES * tables > getattr(rows[0], "nnz", np.prod(rows[0].shape))
        measure = Additive._measure_groups if large else type(self)._measure_groups
        return [self._named(part) for part in measure(self, *rows, groups, n_groups)]

    def _checked(self, X: Any, y: Any, sample_weight: Any, first: bool) -> tuple[Any, Any, Any]:
        """X, y and weights as `_measure` takes them."""
        X = self._check_X(X, first)
        y = self._check_y(y, X.shape[0])
        if sample_weight is not None:
            shape = np.empty((X.shape[0], 0))  # all that the check reads of X
            sample_weight = _check_sample_weight(
                sample_weight, shape, dtype=np.float64, ensure_non_negative=True
            )
        return X, y, sample_weight

    def _named(self, statistic: Statistic) -> Statistic:
        """A statistic with the names of the model's features."""
        names = getattr(self, "feature_names_in_", None)
        return statistic if names is None else replace(statistic, feature_names=tuple(names))  # type: ignore[type-var]

    def _check_X(self, X: Any, first: bool) -> Any:
        """X (n, d) as statistics read it; they find values that are not finite by themselves."""
        return validate_data(
            self, X, reset=first, accept_sparse="csr", dtype=FLOATS, order="C",
            ensure_all_finite=False,
        )  # fmt: skip

    def _check_y(self, y: Any, n: int) -> Any:
        """The target as statistics read it."""
        return y


def _some(values: Any, rows: NDArray[np.int64]) -> Any:
    """Targets or weights of some rows; None stays None."""
    if isinstance(values, Labels):
        return Labels(values.classes, values.codes[rows])
    return None if values is None else values[rows]


class AdditiveClassifier(ClassifierMixin, Additive):  # type: ignore[misc]
    """An additive model of classes. Classes seen later extend it."""

    classes_: NDArray[Any]

    _promised: NDArray[Any] | None = None  # classes that `partial_fit` was told of

    # Whether any finite row of a known class can be learned, so that single ones may wait.
    _lets_rows_wait = False
    _waiting: Waiting | None = None
    _settled: dict[str, Any]  # attributes as they were before the rows that wait

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from X (n, d) and labels y (n,), in one pass; return self.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The examples.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,) or None
            How often each row counts; any numbers >= 0.
        """
        self._promised = None
        super().fit(X, y, sample_weight)
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows; any batches give what one fit on all rows gives; return self.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The examples.
        y : array-like of shape (n,)
            Their labels.
        classes : array-like of shape (K,) or None
            Labels that may come. They need not be given: a new one makes a new class.
        sample_weight : array-like of shape (n,) or None
            How often each row counts; any numbers >= 0.
        """
        if classes is None and sample_weight is None and self._wait(X, y):
            return self
        self._validate_params()
        first = not hasattr(self, "statistics_")
        if classes is not None:
            told = np.unique(np.asarray(classes))
            self._promised = told if self._promised is None else np.union1d(self._promised, told)
        statistic = self._statistic(X, y, sample_weight, first=first)
        self._publish(statistic if first else self.statistics_ + statistic)
        return self

    def _wait(self, X: Any, y: Any) -> bool:
        """Put a single row aside if that is safe; what the model knew is then out of date."""
        state, waiting = self.__dict__, self._waiting
        if waiting is None:
            if not self._lets_rows_wait or "statistics_" not in state:
                return False
            if "feature_names_in_" in state:
                return False
            self._validate_params()
            waiting = Waiting(self)
        if not waiting.take(X, y, state):
            return False
        if "statistics_" in state:
            gone = [n for n in state if n.endswith("_") and n not in ("classes_", "n_features_in_")]
            self._settled = {name: state.pop(name) for name in gone}
            self._waiting = waiting
        if waiting.n == ROWS:
            self._settle()
        return True

    def _settle(self) -> None:
        """Learn the rows that wait."""
        with LOCK:
            waiting = self._waiting
            if waiting is not None:
                statistic = self._settled["statistics_"] + self._measure(*waiting.batch(), None)
                self._publish(statistic)
                del self._waiting, self._settled

    def __getattr__(self, name: str) -> Any:
        # Asked for what is not there: it may be waiting to be concluded.
        if name.endswith("_") and not name.startswith("_"):
            self._settle()
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> Any:
        self._settle()
        return super().__getstate__()

    def _check_y(self, y: Any, n: int) -> Labels:
        classes, codes = encode_labels(y)
        if len(codes) != n:
            raise ValueError(f"X and y must have as many rows; X has {n} and y has {len(codes)}.")
        return Labels(classes, codes.astype(np.int64, copy=False))

    def _publish(self, statistic: Statistic) -> None:
        seen, told = statistic.classes, self._promised
        self.classes_ = seen.copy() if told is None else np.union1d(seen, told)
        super()._publish(statistic)

    def _by_class(self, table: NDArray[Any]) -> NDArray[Any]:
        """A table of the statistic, one row a class (k, ...); zeros for classes not yet seen."""
        seen = self.statistics_.classes
        if len(seen) == len(self.classes_):
            return table
        wide = np.zeros((len(self.classes_), *table.shape[1:]), table.dtype)
        wide[np.searchsorted(self.classes_, seen)] = table
        return wide
