"""Rows that come one by one, put aside until someone looks.

Adding a row to a statistic and drawing all conclusions takes a hundred times as long as copying the
row, or a thousand times where equations are to be solved. So a model that streams copies it, if
nothing can be wrong with it, and catches up when one of its fitted attributes is read, or when
`ROWS` have come together.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.runtime.model_lock import copy_of, turn_of
from rosenblatt.statistics import Labels

ROWS = 256

# Squared lengths from here on get a closer look: sums of them may leave the range of doubles.
LONG = 1e200

# What a model with rows waiting shows without looking at them.
KEPT = ("classes_", "n_features_in_")


class Waiting:
    """Up to `ROWS` rows (1, d) of known classes that wait to be added; used in the model's turn."""

    def __init__(self, model: Any) -> None:
        self.known: dict[str, Any] = dict(vars(model))  # the model without these rows
        self.classes: NDArray[Any] = model.statistics_.classes
        self.places = {label: k for k, label in enumerate(self.classes.tolist())}
        self.parameters = [(name, getattr(model, name)) for name in model._get_param_names()]
        self.X = np.empty((ROWS, model.n_features_in_), model.statistics_.dtype)
        self.shape = (1, model.n_features_in_)
        self.codes = np.empty(ROWS, np.int64)
        self.n = 0

    def take(self, X: Any, y: Any, parameters: dict[str, Any]) -> bool:
        """Put a row aside, and say so; or leave one alone that needs a closer look."""
        if type(X) is not np.ndarray or X.shape != self.shape or X.dtype != self.X.dtype:
            return False
        if type(y) is not np.ndarray or y.shape != (1,) or not np.vdot(X, X) < LONG:
            return False
        place = self.places.get(y.item())
        if place is None or self.n == ROWS:
            return False
        for name, value in self.parameters:  # changed ones are to be checked
            if parameters[name] is not value:
                return False
        self.X[self.n] = X[0]
        self.codes[self.n] = place
        self.n += 1
        return True

    def batch(self) -> tuple[NDArray[Any], Labels]:
        """The rows and their labels."""
        return self.X[: self.n], Labels(self.classes, self.codes[: self.n])

    def shown(self) -> dict[str, Any]:
        """The attributes of the model while rows wait: all but those that are out of date."""
        known = self.known.items()
        return {n: v for n, v in known if not n.endswith("_") or n in KEPT} | {"_waiting": self}

    def changed(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the model's attributes that others have set since: parameters, say."""
        nothing = object()
        return {
            name: value
            for name, value in attributes.items()
            if name != "_waiting" and self.known.get(name, nothing) is not value
        }


class RowsMayWait:
    """A model, beside `Additive`, that puts single rows of a stream aside until someone looks."""

    _waiting: Waiting | None = None

    def _may_wait(self) -> bool:
        """Whether any finite row of a known class can be learned, so that single ones may wait."""
        return False

    def _wait(self, X: Any, y: Any) -> bool:
        """Put a single row aside if that is safe; what the model knew is then out of date."""
        state, waiting = self.__dict__, self._waiting
        if waiting is None:
            if "statistics_" not in state or "feature_names_in_" in state or not self._may_wait():
                return False
            self._validate_params()
            waiting = Waiting(self)
        if not waiting.take(X, y, state):
            return False
        if waiting.n == 1:
            self.__dict__ = waiting.shown()
        if waiting.n == ROWS:
            self._settle()
        return True

    def _settle(self) -> None:
        """Learn the rows that wait, by the parameters that were in force when they came."""
        with turn_of(self):
            waiting = self._waiting
            if waiting is not None:
                model = copy_of(self, waiting.known)
                model._publish_more(model.statistics_ + model._measure(*waiting.batch(), None))
                self.__dict__ = vars(model) | waiting.changed(vars(self))

    def __getattr__(self, name: str) -> Any:
        # Asked for what is not there: it may be waiting to be concluded.
        if name.endswith("_") and not name.startswith("_"):
            with turn_of(self):
                self._settle()
                if name in vars(self):
                    return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "statistics_")

    def __getstate__(self) -> Any:
        with turn_of(self):
            self._settle()
            return super().__getstate__()
