"""Rows that come one by one, put aside until someone looks.

Adding a row to a statistic and drawing all conclusions takes a hundred times as long as copying the
row. So a model that streams copies it, if nothing can be wrong with it, and catches up when one of
its fitted attributes is read, or when `ROWS` have come together.
"""

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .statistics import Labels

ROWS = 256

LOCK = threading.RLock()  # two threads may look at the same time


class Waiting:
    """Up to `ROWS` rows (1, d) of known classes that wait to be added."""

    def __init__(self, model: Any) -> None:
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
        if type(y) is not np.ndarray or y.shape != (1,) or not math.isfinite(np.vdot(X, X)):
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
