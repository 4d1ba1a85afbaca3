"""Several statistics of the same rows, as one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .categories import CategoryCounts
from .features import FeatureCounts
from .moments import Moments
from .statistic import Names, Statistic

PARTS: dict[str, type[Statistic]] = {
    kind.__name__: kind for kind in (CategoryCounts, FeatureCounts, Moments)
}


@dataclass(frozen=True, eq=False, repr=False)
class ProductStatistic(Statistic):
    """Statistics of different columns of the same rows, added and subtracted part by part.

    Attributes
    ----------
    parts : the statistics by name, at least one.
    columns : for each part the places of its features among all, by name.
    classes, rows, weight : as in `ClassCounts`.
    feature_names, dtype : of the data, names as far as known.

    Examples
    --------
    >>> from rosenblatt.statistics import CategoryCounts, Moments, ProductStatistic
    >>> def of(size, colour, y):
    ...     parts = {"size": Moments.of(size, y), "colour": CategoryCounts.of(colour, y)}
    ...     return ProductStatistic.of(parts, {"size": [0], "colour": [1]})
    >>> a = of([[1.0], [3.0]], [["red"], ["blue"]], [0, 0])
    >>> b = of([[5.0]], [["red"]], [0])
    >>> (a + b).parts["size"].mean, (a + b).parts["colour"].counts_of(0)
    (array([[3.]]), array([[1, 2]]))
    >>> a + b - b == a
    True
    """

    parts: dict[str, Any]
    columns: dict[str, tuple[int, ...]]
    feature_names: Names = None

    @classmethod
    def of(cls, parts: Mapping[str, Any], columns: Mapping[str, Any], names: Names = None) -> Self:
        """Return statistics of the same rows as one.

        Parameters
        ----------
        parts : the statistics, by name.
        columns : the places of each one's features, by name.
        names : of all the features.
        """
        if not parts:
            raise ValueError("There must be at least one part.")
        first = next(iter(parts.values()))
        for name, part in parts.items():
            for what in ("classes", "rows", "weight"):
                if not np.array_equal(getattr(part, what), getattr(first, what)):
                    raise ValueError(f"Parts must be of the same rows; {name!r} has other {what}.")
            if part.n_features != len(columns[name]):
                raise ValueError(
                    f"{name!r} has {part.n_features} features; got {len(columns[name])} columns."
                )
        places = {name: tuple(int(j) for j in columns[name]) for name in parts}
        taken = sorted(j for columns_of in places.values() for j in columns_of)
        if taken != list(range(len(taken))):
            raise ValueError(
                f"columns must be the places from 0 to {len(taken) - 1}, each once; got {taken}."
            )
        return cls(dict(parts), places, names)

    @property
    def _first(self) -> Any:
        return next(iter(self.parts.values()))

    @property
    def classes(self) -> Any:
        """Classes that have rows, sorted, (K,)."""
        return self._first.classes

    @property
    def rows(self) -> Any:
        """Number of rows of each class, (K,)."""
        return self._first.rows

    @property
    def weight(self) -> Any:
        """Weight of the rows of each class, (K,)."""
        return self._first.weight

    @property
    def n_features(self) -> int:
        """Number of features in all parts."""
        return sum(part.n_features for part in self.parts.values())

    @property
    def dtype(self) -> np.dtype[Any]:
        """Finest precision among the parts."""
        return np.result_type(*(part.dtype for part in self.parts.values()))

    def _combined(self, other: Self, sign: int) -> Self:
        parts = {
            name: part + other.parts[name] if sign > 0 else part - other.parts[name]
            for name, part in self.parts.items()
        }
        return type(self)(parts, self.columns, self.feature_names or other.feature_names)

    def _options(self) -> dict[str, Any]:
        return {
            "columns": {name: list(places) for name, places in self.columns.items()},
            "parts": {name: type(part).__name__ for name, part in self.parts.items()},
        }

    def _about(self) -> dict[str, Any]:
        # The precision of each part is among its own tables.
        return {**super()._about(), "inside": {n: p._about() for n, p in self.parts.items()}}

    def _tables(self) -> dict[str, NDArray[Any]]:
        return {
            f"{name}.{table}": values
            for name, part in self.parts.items()
            for table, values in part._tables().items()
        }

    @classmethod
    def _checked(cls, tables: dict[str, NDArray[Any]], about: dict[str, Any]) -> Self:
        parts = {}
        for name, kind in about["parts"].items():
            mine = {
                table.removeprefix(f"{name}."): values
                for table, values in tables.items()
                if table.startswith(f"{name}.")
            }
            parts[name] = PARTS[kind]._checked(mine, about["inside"][name])
        names = about["feature_names"]
        return cls.of(parts, about["columns"], None if names is None else tuple(map(str, names)))
