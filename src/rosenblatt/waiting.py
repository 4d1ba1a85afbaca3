"""Rows that come one by one, put aside until someone looks.

Adding a row to a statistic and drawing all conclusions takes a hundred times as long as copying the
row, or a thousand times where equations are to be solved. So a model that streams copies it, if
nothing can be wrong with it, and catches up when one of its fitted attributes is read, or when
`ROWS` have come together.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .statistics import Labels

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

    def changed(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """Those of the model's attributes that others have set since: parameters, say."""
        nothing = object()
        return {
            name: value
            for name, value in attributes.items()
            if name != "_waiting" and self.known.get(name, nothing) is not value
        }
