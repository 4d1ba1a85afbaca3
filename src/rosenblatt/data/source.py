"""Data in many files, or in one that is larger than memory, cut into parts to be read alone."""

import glob
import zlib
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .batches import ROWS_PER_BATCH, read_batches
from .errors import TableError, listed
from .files import form_of
from .table import Table

ROWS_PER_PART = 1_000_000
HIDDEN = (".", "_")  # how names of files begin that other programs leave beside the data
MOST_NAMED = 8


class Part(NamedTuple):
    """Some rows of one file."""

    path: str
    start: int
    n_rows: int | None  # None: to the end

    def __str__(self) -> str:
        if self.n_rows is None:
            return self.path
        return f"{self.path}, rows {self.start:,} to {self.start + self.n_rows - 1:,}"


class Fold(NamedTuple):
    """One of several random folds of the rows."""

    number: int
    n_folds: int
    seed: int


class Source:
    """Rows in files: one file, a folder or a pattern such as ``data/*.parquet``.

    Columns and their types are those of the first file; every other must have the same columns, in
    any order. Parts depend on the files alone, so that any number of workers gives the same answer.

    Parameters
    ----------
    place : a file, a folder or a pattern.
    target : the column to be predicted; none for models that predict nothing.
    columns : the columns to learn from; all others if not given.
    format : csv, tsv, parquet, arrow, jsonl or libsvm; by the file's name if not given.
    rows_per_part : the most rows of a part of a Parquet file; other files are a part each.
    bad : "refuse" raises an error that names the part that cannot be read; "skip" leaves it out,
        with a warning.

    Examples
    --------
    >>> import tempfile, polars
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = polars.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0, 1, 1]})
    >>> for name in ("a", "b"):
    ...     table.write_parquet(f"{folder.name}/{name}.parquet")
    >>> source = Source(folder.name, target="y", rows_per_part=2)
    >>> [part.n_rows for part in source.parts()]
    [2, 1, 2, 1]
    >>> folder.cleanup()
    """

    named = True  # columns have names

    def __init__(
        self,
        place: Any,
        *,
        target: str | None = None,
        columns: list[str] | None = None,
        format: str | None = None,
        rows_per_part: int = ROWS_PER_PART,
        bad: Literal["refuse", "skip"] = "refuse",
    ) -> None:
        if bad not in ("refuse", "skip"):
            raise ValueError(f"bad must be 'refuse' or 'skip'; got {bad!r}.")
        self.bad = bad
        self.place, self.target, self.format = str(place), target, format
        self.rows_per_part = rows_per_part
        self.files = files_of(self.place)
        first = next(self._batches(Part(self.files[0], 0, 1), 1), None)
        if first is None:
            raise TableError(f"{self.files[0]} has no rows.")
        if target is not None:
            first.column(target)
        self.columns = columns or [name for name in first.frame.columns if name != target]
        for name in self.columns:
            first.column(name)
        self.left_out: Fold | None = None
        self.types = {name: first.frame.schema[name] for name in self.columns}
        self.sparse = first.sparse is not None

    def parts(self) -> list[Part]:
        """The parts of all files, in the order of their names."""
        return [part for path in self.files for part in self._parts_of(path)]

    def _parts_of(self, path: str) -> Iterator[Part]:
        if form_of(path, self.format).name != "parquet":
            yield Part(path, 0, None)
            return
        n = self._n_rows(path)
        if n is None:  # to be skipped: who reads it finds out why
            yield Part(path, 0, None)
            return
        for start in range(0, n, self.rows_per_part):
            yield Part(path, start, min(self.rows_per_part, n - start))

    def _n_rows(self, path: str) -> int | None:
        try:
            return int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
        except (pl.exceptions.PolarsError, OSError) as error:
            if self.bad == "skip":
                return None
            raise TableError(f"{path} cannot be read as Parquet: {error}.") from None

    def without(self, fold: Fold) -> "Source":
        """The same source without the rows of a fold."""
        some = copy(self)
        some.left_out = fold
        return some

    def read(self, part: Part, rows: int = ROWS_PER_BATCH) -> Iterator[tuple[Any, Any]]:
        """X and y of a part, in batches; without a target y is None."""
        for table in self.tables(part, rows):
            y = None if self.target is None else table.frame[self.target].to_numpy()
            yield self._features(table, part), y

    def tables(self, part: Part, rows: int = ROWS_PER_BATCH) -> Iterator[Table]:
        """The batches of a part with all their columns; none is empty."""
        draws = folds_of(part, self.left_out) if self.left_out is not None else None
        for table in self._whole_batches(part, rows):
            if draws is not None and self.left_out is not None:
                kept = draws(len(table)) != self.left_out.number
                sparse = None if table.sparse is None else table.sparse[kept]
                table = Table(table.frame.filter(kept), table.name, sparse)
            if len(table):
                yield table

    def _whole_batches(self, part: Part, rows: int) -> Iterator[Table]:
        for table in self._batches(part, rows):
            wanted = [*self.columns, *([] if self.target is None else [self.target])]
            missing = [name for name in wanted if name not in table.frame.columns]
            if missing:
                raise TableError(
                    f"{part} has no column {listed(missing, MOST_NAMED)}, which "
                    f"{self.files[0]} has."
                )
            yield table

    def _features(self, table: Table, part: Part) -> Any:
        if self.sparse:
            return table.sparse
        frame = table.frame.select(self.columns)
        for name, kind in self.types.items():
            found = frame.schema[name]
            if found.is_numeric() != kind.is_numeric() and found != pl.Null:
                raise TableError(
                    f"{part}: column {name!r} holds {found}, and {kind} in {self.files[0]}."
                )
        return frame

    def _batches(self, part: Part, rows: int) -> Iterator[Table]:
        if part.n_rows is None or form_of(part.path, self.format).name != "parquet":
            yield from read_batches(part.path, self.format, rows=rows)
            return
        try:
            scan = pl.scan_parquet(part.path, glob=False).slice(part.start, part.n_rows)
            for frame in scan.collect_batches(chunk_size=rows, maintain_order=True):
                yield Table(frame, str(part))
        except (pl.exceptions.PolarsError, OSError) as error:
            raise TableError(f"{part} cannot be read: {error}.") from None


def folds_of(part: Part, fold: Fold) -> Callable[[int], NDArray[np.int64]]:
    """A function that draws the folds of the next rows of a part: the same at each read."""
    place = zlib.crc32(f"{Path(part.path).name} {part.start}".encode())
    rng = np.random.default_rng([fold.seed, place])
    return lambda n: rng.integers(fold.n_folds, size=n)


def is_many(place: str) -> bool:
    """Whether a place is a folder or a pattern; no name at all is neither."""
    if not place:
        return False
    return Path(place).is_dir() or (not Path(place).exists() and glob.has_magic(place))


def files_of(place: str) -> list[str]:
    """The files of a place, by name."""
    path = Path(place)
    if path.is_dir():
        found = [str(file) for file in path.rglob("*") if file.is_file()]
    elif path.exists():
        found = [place]
    else:
        found = [name for name in glob.glob(place, recursive=True) if Path(name).is_file()]
    found = sorted(name for name in found if not Path(name).name.startswith(HIDDEN))
    if not found:
        raise TableError(f"There is no file {place}.")
    return found
