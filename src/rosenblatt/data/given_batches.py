"""Batches of rows from Python: data frames, Arrow record batches, arrays, and pairs (X, y)."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from .errors import TableError
from .table import TARGET, Table

FORMS = (
    "a polars or pandas data frame, an Arrow record batch or table, an array, or a tuple (X, y) of "
    "arrays"
)


class GivenPart:
    """A batch with its number."""

    start, n_rows = 0, None

    def __init__(self, number: int, batch: Any) -> None:
        self.number, self.batch = number, batch
        self.path = f"batch {number}"

    def __repr__(self) -> str:
        return self.path


class GivenBatches:
    """Parts that are batches of an iterable, of a function that returns one, or of a lazy frame.

    A list, or a function that is called for each pass, may be read again; an iterator, such as a
    generator, is read once. Only the first batch is read before the first pass.
    """

    listed = False

    def __init__(self, batches: Any, target: str | None) -> None:
        self.batches: Callable[[], Iterable[Any]] = _anew(batches)
        self.once, self.target = isinstance(batches, Iterator), target
        self.place = getattr(batches, "__name__", type(batches).__name__)
        first = next(iter(self.batches()), None)
        if first is None:
            raise TableError("There are no batches to learn from.")
        if self.once:
            self.batches = _once(chain([first], batches))
        self.first = GivenPart(0, first)
        self.shape = np.shape(_rows_of(first))
        self.named = not isinstance(_rows_of(first), np.ndarray)
        if isinstance(first, tuple) and target is None:
            self.target = TARGET

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the batches: workers get parts."""
        return vars(self) | {"batches": None, "first": GivenPart(0, None)}

    def look(self, schema: Any = None) -> Table | None:
        """Return the first row, None if the first batch is empty."""
        return next(self.tables(self.first, 1), None)

    def parts(self) -> Iterator[GivenPart]:
        """Yield a part for each batch."""
        return (GivenPart(k, batch) for k, batch in enumerate(self.batches()))

    def tables(self, part: GivenPart, rows: int, schema: Any = None) -> Iterator[Table]:
        """Yield the rows of a part in batches."""
        found = np.shape(_rows_of(part.batch))
        if not self.named and found[1:] != self.shape[1:]:
            raise TableError(f"{part} is an array {found}, and {self.first} one {self.shape}.")
        return table_of(part.batch, str(part), self.target or TARGET).cut(rows)


def _anew(batches: Any) -> Callable[[], Iterable[Any]]:
    """Return a function that returns all batches."""
    if isinstance(batches, pl.LazyFrame):
        return lambda: batches.collect_batches(maintain_order=True)
    if hasattr(batches, "columns"):
        return lambda: [batches]
    if callable(batches):
        return lambda: batches()
    if not isinstance(batches, Iterable):
        raise TypeError(
            "A source is a file, a folder, a pattern, an iterable of batches or a function that "
            f"returns one; got {type(batches).__name__}."
        )
    return lambda: batches


def _once(batches: Iterator[Any]) -> Callable[[], Iterable[Any]]:
    """Return a function that returns the iterator once, and raises at the next call."""
    left = [batches]

    def taken() -> Iterator[Any]:
        if not left:
            raise TableError(
                "The batches came by an iterator, which was read: give a function that returns a "
                "new one for each pass."
            )
        return left.pop()

    return taken


def _rows_of(batch: Any) -> Any:
    return batch[0] if isinstance(batch, tuple) else batch


def table_of(batch: Any, name: str, target: str) -> Table:
    """Return the table of a batch; y of a tuple (X, y) becomes the column `target`."""
    X, y = batch if isinstance(batch, tuple) and len(batch) == 2 else (batch, None)
    sparse = sp.csr_matrix(X) if sp.issparse(X) else None
    try:
        frame = pl.DataFrame(height=X.shape[0]) if sparse is not None else _frame(X)
        if y is not None:
            frame = frame.with_columns(pl.Series(target, np.asarray(y)))
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        why = str(error).splitlines()[0]
        raise TableError(f"{name} is not a table: {why}. A batch is {FORMS}.") from None
    return Table(frame, name, sparse)


def _frame(X: Any) -> pl.DataFrame:
    if isinstance(X, pl.LazyFrame):
        return X.collect()
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise ValueError(f"an array of rows has two dimensions; got {X.ndim}")
        return pl.DataFrame(X, schema=[f"column_{j}" for j in range(X.shape[1])], orient="row")
    if type(X).__module__.startswith("pandas"):
        return pl.from_pandas(X)
    return pl.DataFrame(X)
