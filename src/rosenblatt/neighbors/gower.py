"""Gower's distance of rows with numbers and categories: the mean over columns known in both rows.

A column of numbers adds ``|a - b| / r``, r the range of the stored rows; a column of categories
adds 0 if both are equal, else 1. Where one of the two is missing, the column is left out.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import checks
from rosenblatt.mixed_tables import categorical_columns, encode, learn_categories

Table = NDArray[np.float64]

SETTINGS = ("categorical", "unknown")
ADVICE = "metric_params={'unknown': 'differs'} takes it as unlike every other."


@dataclass(frozen=True)
class MixedColumns:
    """The kinds of columns: numbers with their range, or categories."""

    categories: list[NDArray[Any] | None]  # of each column, sorted; None for numbers
    ranges: Table  # (d,): 1 for constant columns and categories
    unknown: str = "error"

    @classmethod
    def learn(cls, X: Any, settings: dict[str, Any]) -> tuple[Self, Table]:
        """Return the columns of a table, and its rows as numbers (n, d), categories as codes."""
        unknown = settings.get("unknown", "error")
        if set(settings) - set(SETTINGS) or unknown not in ("error", "differs"):
            raise ValueError(
                "With metric='gower', metric_params may hold 'categorical', the columns of "
                f"categories, and 'unknown', 'error' or 'differs'; got {settings!r}."
            )
        categories = learn_categories(X, _categorical(X, settings.get("categorical")))
        rows = encode(X, categories, "error", ADVICE)
        ranges = np.ones(rows.shape[1])
        for j, known in enumerate(categories):
            present = rows[~np.isnan(rows[:, j]), j]
            if known is None and len(present):
                with np.errstate(over="ignore"):
                    ranges[j] = np.ptp(present) or 1.0
                checks.in_range(ranges[j], f"The range of column {j} is", "rescale it")
        return cls(categories, ranges, unknown), rows

    @property
    def categorical(self) -> NDArray[np.bool_]:
        """The mask (d,) of the columns of categories."""
        return np.array([known is not None for known in self.categories])

    def encode(self, X: Any) -> Table:
        """Return rows as numbers; an unknown category becomes -1 or raises."""
        return encode(X, self.categories, self.unknown, ADVICE)

    def decode(self, rows: Table) -> NDArray[Any]:
        """Return encoded rows (n, d) as objects, with None for missing values."""
        values = np.empty(rows.shape, object)
        for j, known in enumerate(self.categories):
            present = ~np.isnan(rows[:, j])
            column = rows[present, j]
            values[present, j] = column if known is None else known[column.astype(np.intp)]
        return values


def _categorical(X: Any, given: Any) -> NDArray[np.bool_]:
    """Return the mask of the columns of categories: the given ones, else columns of strings."""
    if given is not None or hasattr(X, "columns"):
        columns = "from_dtype" if given is None else given
        return categorical_columns(X, columns, "metric_params['categorical']")
    if X.dtype.kind != "O":
        return np.full(X.shape[1], X.dtype.kind in "US")
    return np.array([any(isinstance(value, str) for value in column) for column in X.T])


def objects(X: Any) -> NDArray[Any]:
    """Return a table (n, d) as objects."""
    if not hasattr(X, "columns"):
        return np.asarray(X, object)
    values = np.empty((len(X), len(X.columns)), object)
    for j, name in enumerate(X.columns):
        values[:, j] = X[name].to_list()
    return values
