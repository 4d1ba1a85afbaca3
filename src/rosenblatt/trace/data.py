"""The training data of a run, read row by row or as points, whatever it is stored in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Data:
    """X (n, d), y (n,) and the weights (n,) of a fit, by reference; each may be missing."""

    X: Any = None
    y: Any = None
    sample_weight: Any = None

    @classmethod
    def of(cls, X: Any, y: Any, metadata: Mapping[str, Any] | None) -> Data:
        """The data as a callback hook receives it."""
        return cls(X, y, (metadata or {}).get("sample_weight"))

    @property
    def n_features(self) -> int:
        """How many columns X has; 0 when there is none."""
        return int(np.shape(self.X)[1]) if self.X is not None and np.ndim(self.X) == 2 else 0

    def row(self, i: int) -> NDArray[np.float64]:
        """Example i as a dense vector (d,)."""
        return dense(self._rows[[i]] if sp.issparse(self.X) else self._rows[i]).ravel()

    @cached_property
    def _rows(self) -> Any:
        """X so that an index gives a row: not every sparse format has rows."""
        return self.X.tocsr() if sp.issparse(self.X) else getattr(self.X, "iloc", self.X)

    def points(self) -> NDArray[np.float64]:
        """All of X as a dense array (n, d), for pictures of few features."""
        return dense(self.X)

    def labels(self) -> NDArray[Any]:
        """All of y as an array (n,)."""
        return np.asarray(self.y).ravel()

    def weights(self) -> NDArray[Any] | None:
        """The weights as an array (n,); a single number is everybody's, as scikit-learn has it."""
        if self.sample_weight is None:
            return None
        weight = np.asarray(self.sample_weight)
        return weight if weight.ndim else np.full(len(self.labels()), weight, dtype=np.float64)

    def feature_names(self, estimator: Any, given: Sequence[str] | None = None) -> list[str]:
        """Names to put on axes: those given, else the model's, else x1, x2, ..."""
        names = getattr(estimator, "feature_names_in_", None) if given is None else given
        if names is None:
            names = [f"x{j + 1}" for j in range(self.n_features)]
        if given is not None and len(given) != self.n_features:
            raise ValueError(
                f"feature_names must have {self.n_features} names, one per column of X; "
                f"got {len(given)}."
            )
        return [str(name) for name in names]


def dense(values: Any) -> NDArray[np.float64]:
    """A float array of anything array-like or SciPy sparse."""
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
