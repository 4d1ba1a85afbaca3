"""Some rows of a table, by number: a column is copied when it is asked for, the table never."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray


class View:
    """Rows of a data frame, in any order.

    >>> frame = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    >>> view = View(frame, np.array([2, 0]))
    >>> view["b"].to_list(), view.shape, view[np.array([1])]["a"].to_list()
    (['z', 'x'], (2, 2), [1])
    """

    def __init__(self, frame: pl.DataFrame, rows: NDArray[np.int64]) -> None:
        self.frame, self.rows = frame, rows

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.frame.columns

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.height, self.frame.width

    def __len__(self) -> int:
        return self.height

    def __getitem__(self, which: Any) -> Any:
        """A column by its name, or a view of some of these rows by their numbers."""
        if isinstance(which, str):
            return self.frame[which][self.rows]
        return View(self.frame, self.rows[which])


def as_frame(X: Any) -> Any:
    """Rows with columns by name: a pandas frame as a polars one, columns of an array x0, x1, ...

    >>> as_frame([[1.0, 2.0]]).columns
    ['x0', 'x1']
    """
    if isinstance(X, pl.DataFrame | View):
        return X
    if hasattr(X, "columns"):
        return pl.from_pandas(X)
    X = np.asarray(X)
    return pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])


def some(X: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a data frame, a view of one, or a matrix."""
    return View(X, rows) if isinstance(X, pl.DataFrame) else X[rows]
