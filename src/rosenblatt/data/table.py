"""Tables: columns by name, or the labels and sparse features of a LIBSVM file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import scipy.sparse as sp

from .errors import TableError, did_you_mean, listed

TARGET = "target"  # the name of the labels of a LIBSVM file
MOST_NAMED = 8  # columns or sheets in an error


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name; of a LIBSVM file, the labels by name and the features in a CSR matrix.

    Attributes
    ----------
    frame : polars.DataFrame
        The columns.
    name : str
        The name of the file or table, for errors.
    sparse : CSR matrix or None
        Features without names.
    guessed : bool
        Whether types of columns were inferred from words, as in CSV.
    decimal_comma : bool
        Whether words that are to be numbers have decimal commas.
    cells : polars.DataFrame or None
        The cells of CSV or TSV as they are in the file, if it was read in batches of words.
    hint : str
        A sentence if the first line of a file looks like values, not like names of columns.

    Examples
    --------
    >>> from rosenblatt.data import read_table
    >>> table = read_table("iris")
    >>> len(table), table.frame.columns[-1]
    (150, 'species')
    """

    frame: pl.DataFrame
    name: str
    sparse: sp.csr_matrix | None = None
    guessed: bool = False
    decimal_comma: bool = False
    cells: pl.DataFrame | None = None
    hint: str = ""

    def __len__(self) -> int:
        """The number of rows."""
        return int(self.frame.height)

    def column(self, name: str) -> pl.Series:
        """Return a column; for an unknown name raise an error with similar names.

        >>> from rosenblatt.data import read_table
        >>> read_table("iris").column("specis")
        Traceback (most recent call last):
        rosenblatt.data.errors.TableError: iris has no column 'specis'. Did you mean species?
        """
        if name not in self.frame.columns:
            raise TableError(f"{self.name} has no column {name!r}.{self._names_near(name)}")
        return self.frame[name]

    def _names_near(self, name: str) -> str:
        names = self.frame.columns
        if self.sparse is not None:
            return f" The labels of a LIBSVM file are called {names[0]}."
        if all(re.fullmatch(r"column_\d+", column) for column in names):
            return f" Without a header columns are called {names[0]} to {names[-1]}."
        near = did_you_mean(name, names) or f" It has {listed(names, MOST_NAMED)}."
        return f"{near} {self.hint}".rstrip()

    @property
    def rows(self) -> Any:
        """The columns; of a LIBSVM file, the sparse features."""
        return self.frame if self.sparse is None else self.sparse

    def take(self, rows: Any) -> "Table":
        """Return some rows, by a slice, their numbers or a mask."""
        if isinstance(rows, pl.Series):
            rows = rows.to_numpy()
        is_mask = not isinstance(rows, slice) and rows.dtype == bool

        def some(frame: pl.DataFrame) -> pl.DataFrame:
            return frame.filter(rows) if is_mask else frame[rows]

        return replace(
            self,
            frame=some(self.frame),
            sparse=None if self.sparse is None else self.sparse[rows],
            cells=None if self.cells is None else some(self.cells),
        )

    def cut(self, rows: int | None) -> Iterator["Table"]:
        """Yield batches of so many rows, or the table itself."""
        if rows is None:
            yield self
            return
        for start in range(0, len(self), rows):
            yield self.take(slice(start, start + rows))
