"""Additive models of classes: they stream labelled rows, and classes seen later extend them."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from rosenblatt.additive import Additive
from rosenblatt.base import encode_labels
from rosenblatt.pending_rows import StoresPendingRows
from rosenblatt.runtime.model_lock import in_turn, turn_of
from rosenblatt.statistics import Labels, Statistic


class AdditiveClassifier(ClassifierMixin, StoresPendingRows, Additive):  # type: ignore[misc]
    """An additive model of classes. Classes seen later extend it."""

    classes_: NDArray[Any]

    _promised: NDArray[Any] | None = None  # classes that `partial_fit` was told of

    @in_turn
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
        self._promised = self._pending = None
        super().fit(X, y, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows; any batches give what one fit on all rows gives; return self.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The examples.
        y : array-like of shape (n,)
            Their labels.
        classes : array-like of shape (K,) or None
            Labels that may come, those of `y` among them. They need not be given: a new label
            makes a new class.
        sample_weight : array-like of shape (n,) or None
            How often each row counts; any numbers >= 0.
        """
        if classes is None and sample_weight is None:
            with turn_of(self):
                if self._store_row(X, y):
                    return self
        self._learn_more(X, y, classes, sample_weight)
        return self

    @in_turn
    def _learn_more(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        """Learn from some more rows at once."""
        self._validate_params()
        first = not hasattr(self, "statistics_")
        statistic = self._statistic(X, y, sample_weight, first=first)
        if classes is not None:
            told = np.unique(np.asarray(classes))
            _refuse_other_labels(statistic.classes, told)
            self._promised = told if self._promised is None else np.union1d(self._promised, told)
        self._publish_more(statistic if first else self.statistics_ + statistic)

    def _publish_more(self, statistic: Statistic) -> None:
        """Set the statistic of a stream, to which more may come, and all that follows from it."""
        self._publish(statistic)

    def _check_y(self, y: Any, n: int) -> Labels:
        classes, codes = encode_labels(y)
        if len(codes) != n:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n} rows and y "
                f"has {len(codes)}."
            )
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


def _refuse_other_labels(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise if rows have labels that the `classes` given with them lack."""
    strange = np.setdiff1d(labels, classes)
    if strange.size:
        raise ValueError(
            f"The target label(s) {strange.tolist()} in y do not exist in the initial classes "
            f"{classes.tolist()}. Add them, or leave classes out: a new label makes a new class."
        )
