"""Reading a table, whole or in batches, whatever kind of file it is in."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from . import bundled
from .bundled import BUNDLED
from .delimited import LOOKED_AT, check_header, check_widths, options, read_delimited, tidy
from .errors import TableError, did_you_mean
from .formats import SEPARATORS, Form, form_of

TARGET = "target"  # how the labels of a LIBSVM file are called
ROWS_PER_BATCH = 50_000


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name; of a LIBSVM file, the labels by name and the features in a CSR matrix.

    Attributes
    ----------
    frame : polars.DataFrame
        The columns.
    name : str
        Where they came from, as errors say it.
    sparse : CSR matrix or None
        Features that have no names.
    guessed : bool
        Whether types of columns were told from words, as in CSV, and not by the file itself.

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

    def __len__(self) -> int:
        """The number of rows."""
        return int(self.frame.height)

    def column(self, name: str) -> pl.Series:
        """Return a column; an unknown name is refused with the nearest ones.

        >>> read_table("iris").column("specis")
        Traceback (most recent call last):
        rosenblatt.data.errors.TableError: iris has no column 'specis'. Did you mean species?
        """
        if name not in self.frame.columns:
            near = did_you_mean(name, self.frame.columns)
            few = f" It has {', '.join(self.frame.columns[:8])}." if not near else ""
            raise TableError(f"{self.name} has no column {name!r}.{near or few}")
        return self.frame[name]


def read_table(source: Any, format: str | None = None, *, header: bool = True) -> Table:
    """Read a table.

    Parameters
    ----------
    source : str, path, or polars or pandas data frame
        A file; "-" for standard input; the name of a bundled table (iris, digits, wine,
        breast_cancer, diabetes); or a data frame.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "libsvm"} or None
        The kind of file; None tells it from the name. Standard input is CSV unless told.
    header : bool
        Whether the first line of CSV or TSV names the columns.

    Returns
    -------
    table : Table
        Values that are missing (an empty cell, NA, NaN, null, ?) are null.

    Examples
    --------
    >>> from rosenblatt.data import read_table
    >>> read_table("wine").frame.shape
    (178, 14)
    """
    if hasattr(source, "columns"):
        frame = source if isinstance(source, pl.DataFrame) else pl.from_pandas(source)
        return _checked(Table(frame, "the table"))
    name = str(source)
    if name in BUNDLED and not Path(name).exists():
        return Table(bundled.load(name), name)
    if name == "-":
        form = form_of(name, format or "csv")
        read = sys.stdin.buffer.read()
        return _checked(_from(read, "standard input", form, header))
    form = form_of(existing(name), format)
    return _checked(_from(name, name, form, header))


def read_batches(
    source: Any,
    format: str | None = None,
    *,
    header: bool = True,
    rows: int = ROWS_PER_BATCH,
    words: bool = False,
) -> Iterator[Table]:
    """Read a table in batches of at most so many rows, so that it may be larger than memory.

    Parameters
    ----------
    source, format, header : as for `read_table`
        JSON lines, LIBSVM, standard input and data frames are read whole and then cut.
    rows : int
        The most rows of a batch.
    words : bool
        Whether all values of CSV and TSV stay words: for who knows what each column should hold,
        and would rather say which value does not than be told so by the reader.

    Examples
    --------
    >>> from rosenblatt.data import read_batches
    >>> [len(batch) for batch in read_batches("iris", rows=100)]
    [100, 50]
    """
    name = str(source)
    form = None
    if not (hasattr(source, "columns") or name in BUNDLED or name == "-"):
        form = form_of(existing(name), format)
    if form is None or form.name not in ("csv", "tsv", "parquet", "arrow"):
        table = read_table(source, format, header=header)
        for start in range(0, len(table), rows):
            some = None if table.sparse is None else table.sparse[start : start + rows]
            yield Table(table.frame[start : start + rows], table.name, some)
        return
    path, whole = existing(name), form.name not in SEPARATORS
    try:
        for frame in _lazy(path, form, header, words).collect_batches(
            chunk_size=rows, maintain_order=True
        ):
            if not whole and frame.height and frame[frame.columns[-1]].null_count():
                check_widths(path, name, SEPARATORS[form.name], frame.width)
                whole = True
            yield Table(tidy(frame), name)
    except (pl.exceptions.PolarsError, OSError) as error:
        if form.name in SEPARATORS:
            separator = SEPARATORS[form.name]
            check_widths(path, name, separator, len(check_header(path, name, separator, header)))
        why = str(error).splitlines()[0]
        raise TableError(f"{name} cannot be read as {form.name}: {why}.") from None


def _lazy(name: str, form: Form, header: bool, words: bool) -> pl.LazyFrame:
    """A plan to read a file."""
    if form.name == "parquet":
        return pl.scan_parquet(name, glob=False)
    if form.name == "arrow":
        return pl.scan_ipc(name, glob=False)
    separator = SEPARATORS[form.name]
    check_header(name, name, separator, header)
    asked = options(separator, header, LOOKED_AT) | ({"infer_schema": False} if words else {})
    return pl.scan_csv(name, **asked)


def existing(name: str) -> str:
    """The path of a file that is there."""
    path = Path(name).expanduser()
    if path.is_file():
        return str(path)
    if path.is_dir():
        raise TableError(f"{name} is a folder; name a file in it.")
    beside = (
        [str(path.parent / p.name) for p in path.parent.glob("*")] if path.parent.is_dir() else []
    )
    raise TableError(f"There is no file {name}.{did_you_mean(name, [*beside, *BUNDLED])}")


def _from(source: Any, name: str, form: Form, header: bool) -> Table:
    """The table of a file, or of bytes."""
    if form.name in SEPARATORS:
        frame = read_delimited(source, name, SEPARATORS[form.name], header)
        return Table(frame, name, guessed=True)
    if form.name == "libsvm":
        return _from_libsvm(source, name)
    import io

    read: Any = {"parquet": pl.read_parquet, "arrow": pl.read_ipc, "jsonl": pl.read_ndjson}
    try:
        data = io.BytesIO(source) if isinstance(source, bytes) else source
        # A number may turn out to be a fraction, or a word, in the last line.
        looked_at = {"infer_schema_length": None} if form.name == "jsonl" else {}
        return Table(read[form.name](data, **looked_at), name)
    except (pl.exceptions.PolarsError, OSError) as error:
        why = str(error).splitlines()[0]
        raise TableError(f"{name} cannot be read as {form.name}: {why}.") from None


def _from_libsvm(source: Any, name: str) -> Table:
    import io

    try:
        data = io.BytesIO(source) if isinstance(source, bytes) else source
        X, y = load_svmlight_file(data)
    except (ValueError, OSError) as error:
        raise TableError(f"{name} cannot be read as libsvm: {error}.") from None
    whole = bool(np.all(y == np.floor(y)))
    target = pl.Series(TARGET, y.astype(np.int64) if whole else y)
    return Table(pl.DataFrame([target]), name, X.tocsr())


def _checked(table: Table) -> Table:
    """A table with rows and columns."""
    if not table.frame.width:
        raise TableError(f"{table.name} has no columns.")
    if not len(table):
        raise TableError(f"{table.name} has no rows.")
    return table
