"""The columns that a run is drawn in: those its model sees, or those its pipeline was given."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .model_views import nameless

# The training data of a run, read row by row or as points, whatever it is stored in.


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


DRAWABLE = (1, 2)  # columns
PROBES = 5  # places along each column that steps are tried on


@dataclass(frozen=True, eq=False)
class Ground:
    """Data of one or two columns, and the fitted steps that lead from them to what a model sees."""

    data: Data
    steps: tuple[Any, ...] = ()

    def seen(self, places: NDArray[np.float64]) -> Any:
        """Places (m, 1 or 2) among the columns, as the model sees them."""
        if not self.steps:
            return places
        columns = getattr(self.data.X, "columns", None)
        rows: Any = places
        if columns is not None:
            rows = type(self.data.X)(dict(zip(columns, places.T, strict=True)))
        for step in self.steps:
            rows = step.transform(rows)
        return rows

    def names(self, model: Any, given: Sequence[str] | None) -> list[str]:
        """What its columns are called."""
        if not self.steps:
            return self.data.feature_names(model, given)
        own = getattr(self.data.X, "columns", None)
        return self.data.feature_names(None, own if given is None else given)

    def made_of(self, names: Sequence[str]) -> list[str] | None:
        """What the steps call what they make of columns of these names; None if they do not say."""
        made: Any = np.array(names, dtype=object)
        try:
            for step in self.steps:
                made = step.get_feature_names_out(made)
        except (AttributeError, ValueError):
            return None
        return [str(name) for name in made]

    def leads_to(self, model: Any) -> bool:
        """Whether the model can be asked anywhere among the columns, not at the rows alone.

        Steps may want words, or know their categories only.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows = self.seen(self._probes(beyond=hasattr(model, "classes_")))
                answers = np.asarray(nameless(model, rows).predict(rows))
        except (TypeError, ValueError):
            return False
        return answers.dtype.kind != "f" or bool(np.isfinite(answers).all())

    def _probes(self, beyond: bool) -> NDArray[np.float64]:
        """Some places where the rows are; and `beyond`, since regions have the room around them."""
        points = self.data.points()
        low, high = points.min(axis=0), points.max(axis=0)
        room = 2 * (high - low) if beyond else np.zeros(len(low))
        along = np.linspace(low - room, high + room, PROBES).T
        return np.stack(np.meshgrid(*along), axis=-1).reshape(-1, len(along))


def ground_of(pipeline: Any, data: Data, before: Ground | None) -> Ground | None:
    """What lies before the last step of a pipeline that is being fitted to `data`; None if nothing.

    The pipeline may be the last step of another, and have a ground of its own, `before`.
    """
    ground = before or Ground(data)
    if ground.data.n_features not in DRAWABLE:
        return None
    steps = [step for _, step in pipeline.steps[:-1] if step not in (None, "passthrough")]
    if not all(hasattr(step, "transform") for step in steps):
        return None
    try:  # a later fit of the same pipeline must not change them
        return Ground(ground.data, (*ground.steps, *copy.deepcopy(steps)))
    except TypeError:
        return None


def chosen_ground(data: Data, origin: Ground | None, model: Any) -> Ground:
    """The columns that the model sees if they can be drawn; else its pipeline's, if these can."""
    drawable: Iterable[int] = DRAWABLE if hasattr(model, "classes_") else (1,)
    if origin is None or data.n_features in drawable or origin.data.n_features not in drawable:
        return Ground(data)
    same_rows = np.shape(origin.data.X)[0] == np.shape(data.X)[0]
    return origin if same_rows and origin.leads_to(model) else Ground(data)
