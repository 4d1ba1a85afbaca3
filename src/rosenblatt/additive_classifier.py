"""Additive models of classes: they stream labelled rows, and classes seen later extend them."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from rosenblatt import checks
from rosenblatt.additive import Additive
from rosenblatt.base import all_or_nothing
from rosenblatt.statistics import Labels, Moments, Statistic

# Single rows of a stream, stored until the model is read.
#
# `partial_fit` of one row costs hundreds of microseconds if it updates the statistic and all
# attributes, and more where equations are solved; copying the row costs a few. So a model stores
# single rows that are valid at first sight, and learns them together when a fitted attribute is
# read or when `ROWS` are stored.


ROWS = 256

# Rows whose squared length reaches this get the full checks: sums of such rows may overflow.
LONG = 1e200

# Fitted attributes that pending rows do not change.
KEPT = ("classes_", "n_features_in_")


class PendingRows:
    """Up to `ROWS` rows (1, d) of known classes."""

    def __init__(self, model: Any) -> None:
        self.before: dict[str, Any] = dict(vars(model))  # the model without these rows
        self.classes: NDArray[Any] = model.statistics_.classes
        self.places = {label: k for k, label in enumerate(self.classes.tolist())}
        self.parameters = [(name, getattr(model, name)) for name in model._get_param_names()]
        self.X = np.empty((ROWS, model.n_features_in_), model.statistics_.dtype)
        self.shape = (1, model.n_features_in_)
        self.codes = np.empty(ROWS, np.int64)
        self.n = 0

    def add(self, X: Any, y: Any, parameters: dict[str, Any]) -> bool:
        """Store a row and return True; False for a row that needs the full checks."""
        if type(X) is not np.ndarray or X.shape != self.shape or X.dtype != self.X.dtype:
            return False
        if type(y) is not np.ndarray or y.shape != (1,) or not np.vdot(X, X) < LONG:
            return False
        place = self.places.get(y.item())
        if place is None or self.n == ROWS:
            return False
        for name, value in self.parameters:  # changed parameters need a check
            if parameters[name] is not value:
                return False
        self.X[self.n] = X[0]
        self.codes[self.n] = place
        self.n += 1
        return True

    def batch(self) -> tuple[NDArray[Any], Labels]:
        """The rows and their labels."""
        return self.X[: self.n], Labels(self.classes, self.codes[: self.n])

    def current(self) -> dict[str, Any]:
        """The attributes of the model that are still current, with the pending rows."""
        before = self.before.items()
        return {n: v for n, v in before if not n.endswith("_") or n in KEPT} | {"_pending": self}

    def changed(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Attributes that the user has set since the first of these rows, such as parameters."""
        nothing = object()
        return {
            name: value
            for name, value in attributes.items()
            if name != "_pending" and self.before.get(name, nothing) is not value
        }


class StoresPendingRows:
    """An additive classifier that stores single rows of a stream until it is read."""

    _pending: PendingRows | None = None

    def _stores_single_rows(self) -> bool:
        """Whether the model can learn any finite row of a known class, with no further check."""
        return False

    def _store_row(self, X: Any, y: Any) -> bool:
        """Store a single row and return True; False if it has to be learned at once."""
        state, pending = self.__dict__, self._pending
        if pending is None:
            if "statistics_" not in state or "feature_names_in_" in state:
                return False
            if not self._stores_single_rows():
                return False
            self._validate_params()
            pending = PendingRows(self)
        if not pending.add(X, y, state):
            return False
        if pending.n == 1:
            self.__dict__ = pending.current()
        if pending.n == ROWS:
            self._learn_pending()
        return True

    def _learn_pending(self) -> None:
        """Learn the pending rows, with the parameters that were set when they came."""
        pending = self._pending
        if pending is not None:
            model: Any = object.__new__(type(self))
            model.__dict__ = dict(pending.before)
            model._publish_more(model.statistics_ + model._measure(*pending.batch(), None))
            self.__dict__ = vars(model) | pending.changed(vars(self))

    def __getattr__(self, name: str) -> Any:
        # Python calls this for missing attributes: those that pending rows change are removed.
        if name.endswith("_") and not name.startswith("_"):
            self._learn_pending()
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "statistics_")

    def __getstate__(self) -> Any:
        self._learn_pending()
        return super().__getstate__()


class AdditiveClassifier(ClassifierMixin, StoresPendingRows, Additive):  # type: ignore[misc]
    """An additive model of classes. Classes seen later extend it."""

    classes_: NDArray[Any]

    _promised: NDArray[Any] | None = None  # classes that `partial_fit` was told of

    def _forget_stream(self) -> None:
        self._promised = self._pending = None

    def _counted_with(self) -> dict[str, Any]:
        """The options that the statistic is counted with."""
        named = {name: getattr(self, name) for name in self.measured_by or ()}
        return self.statistic_type[1] | named

    def _measure(
        self, X: Any, y: Any, sample_weight: NDArray[Any] | None, careful: bool = False
    ) -> Statistic:
        kind, options = self.statistic_type[0], self._counted_with()
        if issubclass(kind, Moments):
            options["careful"] = careful  # counts are exact as they are
        measured: Statistic = kind.of(X, y, sample_weight, **options)
        return measured

    def _measure_groups(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, n_groups: int
    ) -> list[Any]:
        by_group = self.statistic_type[0].by_group
        measured: list[Any] = by_group(
            X, y, groups, n_groups, sample_weight, **self._counted_with()
        )
        return measured

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
        if classes is None and sample_weight is None and self._store_row(X, y):
            return self
        self._learn_more(X, y, classes, sample_weight)
        return self

    @all_or_nothing
    def _learn_more(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        """Learn from some more rows at once."""
        self._validate_params()
        first = not hasattr(self, "statistics_")
        statistic = self._statistic(X, y, sample_weight, first=first)
        if classes is not None:
            told = np.unique(np.asarray(classes))
            checks.known_classes(statistic.classes, told)
            self._promised = told if self._promised is None else np.union1d(self._promised, told)
        self._publish_more(statistic if first else self.statistics_ + statistic)

    def _publish_more(self, statistic: Statistic) -> None:
        """Set the statistic of a stream, to which more may come, and all that follows from it."""
        self._during = "partial_fit"
        self._publish(statistic)
        del self._during

    def _check_y(self, y: Any, n: int) -> Labels:
        classes, codes = checks.labels(y, n)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", "refuse") == "ignore"
        return tags


def given_shares(priors: Any, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The shares (K,) that a user gives classes of such weights (K,); none where there is none."""
    given = np.where(weight > 0, checks.priors(priors, len(weight)), 0.0)
    if not given.any():
        raise ValueError("priors must not be zero for all classes that have rows.")
    return np.asarray(given / given.sum())
