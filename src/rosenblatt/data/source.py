"""Data in many files, or in one that is larger than memory, cut into parts."""

import glob
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .errors import TableError, did_you_mean, listed, shown
from .files import form_of, is_arrow_stream
from .formats import SCANS, scan, scanned
from .given_batches import GivenBatches
from .reading import ROWS_PER_BATCH, read_batches
from .schema import checked_schema, conform, report_left_out, words_of
from .table import MOST_NAMED, Table

ROWS_PER_PART = 1_000_000
HIDDEN = (".", "_")  # first characters of files that other programs leave beside the data


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


class Files:
    """Files sorted by name, cut into parts."""

    named, once, listed = True, False, True

    def __init__(self, place: str, format: str | None, rows_per_part: int, skip: bool) -> None:
        self.place, self.format, self.rows_per_part, self.skip = place, format, rows_per_part, skip
        self.files = files_of(place)
        self.first = Part(self.files[0], 0, None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the names of all files, as each part has its own."""
        return vars(self) | {"files": [self.first.path]}

    def look(self, schema: Mapping[str, Any] | None = None) -> Table | None:
        """Return the first row of the first file that has one, None if no file has one."""
        for path in self.files:
            try:
                first = next(self.tables(Part(path, 0, 1), ROWS_PER_BATCH, schema), None)
            except TableError:
                if not self.skip:
                    raise
                continue
            if first is not None:
                self.first = Part(path, 0, None)
                return replace(first.take(slice(0, 1)), name=path)
        return None

    def parts(self) -> list[Part]:
        """Return the parts of all files."""
        return [part for path in self.files for part in self._parts_of(path)]

    def _parts_of(self, path: str) -> Iterator[Part]:
        n = self._n_rows(path)
        if n is None:
            yield Part(path, 0, None)
            return
        for start in range(0, n, self.rows_per_part):
            yield Part(path, start, min(self.rows_per_part, n - start))

    def _n_rows(self, path: str) -> int | None:
        """Return the number of rows of a file that can be cut into parts."""
        form = self._form_to_scan(path)
        if form is None:
            return None
        try:
            return int(scan(path, form).select(pl.len()).collect().item())
        except (pl.exceptions.PolarsError, OSError) as error:
            if self.skip:  # the reader will report it
                return None
            raise TableError(f"{path} cannot be read as {form}: {error}.") from None

    def _form_to_scan(self, path: str) -> str | None:
        """Return the format of a file of which polars can read some rows alone, else None."""
        form = form_of(path, self.format).name
        return None if form not in SCANS or (form == "arrow" and is_arrow_stream(path)) else form

    def tables(
        self, part: Part, rows: int, schema: Mapping[str, Any] | None = None
    ) -> Iterator[Table]:
        """Yield the rows of a part in batches; with a schema, cells of text stay words."""
        form = None if part.n_rows is None else self._form_to_scan(part.path)
        if form is None:
            words: Any = {"words": True, "of_words": words_of(schema)} if schema else {}
            yield from read_batches(part.path, self.format, rows=rows, **words)
            return
        try:
            yield from scanned(
                scan(part.path, form).slice(part.start, part.n_rows), str(part), rows
            )
        except (pl.exceptions.PolarsError, OSError) as error:
            raise TableError(f"{part} cannot be read: {error}.") from None


class Source:
    """Rows in files, or in batches that a program makes, cut into parts to be read alone.

    Columns and their types are those of the first file or batch, or of a schema that is given;
    every other must have the same columns, in any order. Parts depend on the data alone, so that
    any number of workers gives the same answer.

    Parameters
    ----------
    place : a file, a folder or a pattern such as ``data/*.parquet``; or batches: an iterable of
        polars or pandas data frames, Arrow record batches, arrays or tuples (X, y) of arrays, a
        function that returns such an iterable, or a polars lazy frame. Each batch is a part. A
        list, or a function, is read anew in each pass; an iterator, such as a generator, serves
        models that need one pass.
    target : the column to be predicted; none for models that predict nothing. The y of tuples is
        called target if not given.
    columns : the columns to learn from; all others if not given. Of sparse rows, how many there
        are: as many as in the first file or batch, if not given.
    schema : what columns hold: "numeric", "categorical", "boolean", "text" or "date", or a type of
        polars, by their names, the target's included. A value that does not fit is named with its
        place. Without it the first file or batch is looked at.
    format : csv, tsv, parquet, arrow, jsonl or libsvm; by the file's name if not given.
    rows_per_part : the most rows of a part of a Parquet or Arrow file; other files, and streams of
        Arrow, are a part each.
    bad : "refuse" raises an error that names the part that cannot be read, or the row whose value
        is not of the schema or whose target is missing; "skip" leaves the part or these rows out,
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
    >>> def halves():
    ...     yield table[:2]
    ...     yield table[2:]
    >>> list(Source(halves, target="y").parts())
    [batch 0, batch 1]
    """

    def __init__(
        self,
        place: Any,
        *,
        target: str | None = None,
        columns: list[str] | int | None = None,
        schema: Mapping[str, Any] | None = None,
        format: str | None = None,
        rows_per_part: int = ROWS_PER_PART,
        bad: Literal["refuse", "skip"] = "refuse",
    ) -> None:
        if not isinstance(rows_per_part, int) or rows_per_part < 1:
            raise ValueError(f"rows_per_part must be an integer >= 1; got {rows_per_part!r}.")
        if bad not in ("refuse", "skip"):
            raise ValueError(f"bad must be 'refuse' or 'skip'; got {bad!r}.")
        self.bad = bad
        self.left_out: Fold | None = None
        self.columns: Any
        self.types: dict[str, Any]
        self.store: Any
        if isinstance(place, str | PathLike):
            self.store = Files(str(place), format, rows_per_part, bad == "skip")
            self.target = target
        else:
            self.store = GivenBatches(place, target)
            self.target = self.store.target
        self.place, self.named = self.store.place, self.store.named
        self.once = self.store.once  # whether there is but one pass
        self.listed = self.store.listed  # whether parts are places, and not rows themselves
        self.schema = None if schema is None else checked_schema(schema)
        if self.schema is None:
            self._look(columns)
        else:
            self._take(self.schema, columns)

    def _look(self, columns: Any) -> None:
        """Take the columns and types of the first row."""
        first = self.store.look()
        if first is None:
            raise TableError(f"{self.store.first} has no rows.")
        if self.target is not None:
            first.column(self.target)
        self.sparse, self.types = first.sparse is not None, {}
        if self.sparse:
            self.columns = range(columns if isinstance(columns, int) else self._width())
            return
        self.columns = columns or [name for name in first.frame.columns if name != self.target]
        self.types = {name: first.column(name).dtype for name in self._wanted()}

    def _wanted(self) -> list[str]:
        """Return the columns to read, the target last."""
        columns = [] if self.sparse else list(self.columns)
        return columns if self.target is None else [*columns, self.target]

    def _width(self) -> int:
        """Return the number of columns of the first sparse file or batch."""
        tables = self.store.tables(self.store.first, ROWS_PER_BATCH)
        return max(int(table.sparse.shape[1]) for table in tables)

    def _take(self, schema: dict[str, Any], columns: Any) -> None:
        """Take the columns of a schema; their types are checked value by value."""
        self.columns = columns or [name for name in schema if name != self.target]
        self.types, self.sparse = {}, False
        for name in self._wanted():
            if name not in schema:
                raise TableError(f"schema has no column {name!r}.{did_you_mean(name, schema)}")

    def parts(self) -> Iterable[Any]:
        """Return the parts in the order of their files or batches."""
        parts: Iterable[Any] = self.store.parts()
        return parts

    def look(self) -> Any:
        """Return X of the first row."""
        first = self.store.look(self.schema)
        if first is None:
            raise TableError(f"{self.store.first} has no rows.")
        if self.schema:
            asked = {name: self.schema[name] for name in self.columns}
            first = conform(first, asked, str(self.store.first.path), 0)
        return self._features(first, self.store.first)

    def check_repeats(self, who: str) -> None:
        """Raise if the rows can be read once only."""
        if self.once:
            raise TableError(
                f"{who} reads the rows several times, and the batches came by an iterator, which "
                "is read once: give a list, or a function that returns a new iterator."
            )

    def without(self, fold: Fold) -> "Source":
        """Return the source without the rows of a fold."""
        some = copy(self)
        some.left_out = fold
        return some

    def read(self, part: Any, rows: int = ROWS_PER_BATCH) -> Iterator[tuple[Any, Any]]:
        """Yield X and y of a part in batches; without a target y is None."""
        for table in self.tables(part, rows, labelled=True):
            y = None
            if self.target is not None:
                self._check_type(part, self.target, table.frame[self.target].dtype)
                y = table.frame[self.target].to_numpy()
            yield self._features(table, part), y

    def tables(
        self, part: Any, rows: int = ROWS_PER_BATCH, labelled: bool = False
    ) -> Iterator[Table]:
        """Yield the batches of a part with all their columns; none is empty.

        In `labelled` batches each row has a target: rows without one are refused or left out.
        """
        draws = folds_of(part, self.left_out) if self.left_out is not None else None
        first, wanted = part.start, self._wanted()
        for table in self.store.tables(part, rows, self.schema):
            missing = [name for name in wanted if name not in table.frame.columns]
            if missing:
                has = "the schema has" if self.schema else f"{self.store.first} has"
                raise TableError(
                    f"{part} has no column {listed(missing, MOST_NAMED)}, which {has}."
                )
            n = len(table)
            if self.schema:
                asked = {name: self.schema[name] for name in wanted}
                table = conform(table, asked, str(part.path), first, self.bad == "skip")
            if labelled and self.target is not None:
                table = self._with_targets(table, part, first)
            if draws is not None and self.left_out is not None:
                table = table.take(draws(len(table)) != self.left_out.number)
            if len(table):
                yield table
            first += n

    def _with_targets(self, table: Table, part: Any, first: int) -> Table:
        """Refuse rows without a target, or leave them out."""
        values = table.frame[str(self.target)]
        wrong = values.is_null()
        if values.dtype.is_float():
            wrong = wrong | ~values.is_finite().fill_null(True)
        if not wrong.any():
            return table
        row = int(wrong.arg_max() or 0)
        sentence = (
            f"{part.path}: column {self.target!r}, the target, holds {shown(values[row])} in row "
            f"{first + row:,} (rows count from 0)."
        )
        if self.bad != "skip":
            raise TableError(f'{sentence} Fill it in, or leave such rows out with bad="skip".')
        report_left_out(int(wrong.sum()), first, len(table), part.path, sentence)
        return table.take(~wrong.to_numpy())

    def _features(self, table: Table, part: Any) -> Any:
        if self.sparse:
            return self._widened(table.sparse, part)
        frame = table.frame[list(self.columns)]  # select() would start a query for each batch
        for name, kind in frame.schema.items():
            self._check_type(part, name, kind)
        return frame if self.named else frame.to_numpy(order="c")

    def _check_type(self, part: Any, name: str, found: Any) -> None:
        """Raise if a column has words where the first file or batch has numbers, or vice versa."""
        kind = self.types.get(name, found)
        if found.is_numeric() != kind.is_numeric() and pl.Null not in (found, kind):
            raise TableError(
                f"{part}: column {name!r} holds {found}, and {kind} in {self.store.first}."
            )

    def _widened(self, X: Any, part: Any) -> Any:
        """Return sparse rows with all columns, of which the last may be empty in this part."""
        if X is None or X.shape[1] > len(self.columns):
            found = "no sparse rows" if X is None else f"{X.shape[1]:,} columns"
            raise TableError(
                f"{part} has {found}, and {self.store.first} has {len(self.columns):,} columns of "
                "them: give the number of columns, columns=..."
            )
        X.resize(X.shape[0], len(self.columns))
        return X


def folds_of(part: Any, fold: Fold) -> Callable[[int], NDArray[np.int64]]:
    """Return a function that draws the folds of the next rows of a part, the same at each read."""
    place = zlib.crc32(f"{Path(part.path).name} {part.start}".encode())
    rng = np.random.default_rng([fold.seed, place])
    return lambda n: rng.integers(fold.n_folds, size=n)


def is_many(place: str) -> bool:
    """Return True for a folder or a pattern."""
    if not place:
        return False
    return Path(place).is_dir() or (not Path(place).exists() and glob.has_magic(place))


def files_of(place: str) -> list[str]:
    """Return the files of a place, sorted by name."""
    path = Path(place)
    if path.is_dir():
        found = [str(file) for file in path.rglob("*") if file.is_file()]
    elif path.exists():
        found = [place]
    else:
        found = [name for name in glob.glob(place, recursive=True) if Path(name).is_file()]
    found = sorted(name for name in found if not Path(name).name.startswith(HIDDEN))
    if not found and path.is_dir():
        raise TableError(f"The folder {place} has no files.")
    if not found:
        raise TableError(f"There is no file {place}.")
    return found
