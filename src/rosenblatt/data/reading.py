"""Read and write tables in files of any format."""

import gzip
import io
import os
import sys
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
from sklearn import datasets
from sklearn.datasets import dump_svmlight_file

from .errors import TableError, did_you_mean
from .files import SEPARATORS, SPREADSHEETS, Form, check_unzipped, form_of, form_of_content
from .formats import Options, tables_in
from .table import Table

PIPED = "standard input"
ROWS_PER_BATCH = 50_000
# Tables of scikit-learn, and their targets.
BUNDLED = {
    "iris": "species",
    "digits": "digit",
    "wine": "cultivar",
    "breast_cancer": "diagnosis",
    "diabetes": "progression",
}


def read_table(
    source: Any,
    format: str | None = None,
    *,
    header: bool = True,
    of_words: Collection[str] = (),
    sheet: str | None = None,
) -> Table:
    """Read a table.

    Parameters
    ----------
    source : str, path, or polars (lazy, too) or pandas data frame
        A file; "-" for standard input; the name of a bundled table (iris, digits, wine,
        breast_cancer, diabetes); or a data frame. Values of CSV may also be separated by
        semicolons, tabs or bars, with decimal commas beside semicolons: the first lines show it.
        Quotes are not special in TSV: no value holds a tab or a line break.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "libsvm", "xlsx", "ods"} or None
        The format of the file; None infers it from the name. Standard input is CSV by default, or
        Parquet or Arrow if it begins as these files do.
    header : bool
        Whether the first line of CSV or TSV names the columns; if not they are called column_0,
        column_1, and so on. The labels of a LIBSVM file are called target.
    of_words : collection of str
        Columns of CSV, TSV and JSON lines that hold words even if all of them look like numbers,
        dates or truth values, such as the categories "01" and "1" of a fitted model.
    sheet : str or None
        The sheet of a spreadsheet, by its name or its number, from 1; the first if None.

    Returns
    -------
    table : Table
        Missing values (an empty cell, NA, NaN, null, ?) are null. Blank lines at the end of CSV or
        TSV are ignored; in a table of one column write NA for a missing value.

    Examples
    --------
    >>> from rosenblatt.data import read_table
    >>> read_table("wine").frame.shape
    (178, 14)
    """
    options = Options(header, of_words=of_words, sheet=sheet)
    table = next(_tables(source, format, None, options))
    if not table.frame.width:
        raise TableError(f"{table.name} has no columns.")
    if not len(table):
        raise TableError(f"{table.name} has no rows.")
    return table


def read_batches(
    source: Any,
    format: str | None = None,
    *,
    header: bool = True,
    rows: int = ROWS_PER_BATCH,
    words: bool = False,
    of_words: Collection[str] = (),
    sheet: str | None = None,
) -> Iterator[Table]:
    """Read a table in batches of at most so many rows, so that it may be larger than memory.

    Parameters
    ----------
    source, format, header, sheet : as for `read_table`
        Parquet and Arrow from standard input, data frames and spreadsheets are read as a whole and
        then cut. The first batch shows the columns and, in CSV, their types. In JSON lines, and
        for dates and cells with blanks around them, each batch shows its own types.
    rows : int
        Maximum number of rows of a batch.
    words : bool
        Whether all values of CSV and TSV stay words, for callers that know what each column should
        hold. Tables then have `cells`: the words as they are in the file.
    of_words : collection of str
        As for `read_table`.

    Examples
    --------
    >>> from rosenblatt.data import read_batches
    >>> [len(batch) for batch in read_batches("iris", rows=100)]
    [100, 50]
    """
    options = Options(header, words, of_words, sheet)
    return filter(len, _tables(source, format, rows, options))


def _tables(source: Any, format: str | None, rows: int | None, options: Options) -> Iterator[Table]:
    """Yield batches of so many rows, or one table."""
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if hasattr(source, "columns"):
        frame = source if isinstance(source, pl.DataFrame) else pl.from_pandas(source)
        return Table(frame, "the table").cut(rows)
    name = str(source)
    if name in BUNDLED and not Path(name).exists():
        return Table(load(name), name).cut(rows)
    if name == "-":
        return _piped(format, rows, options)
    path = existing(name)
    return tables_in(path, name, form_of(path, format).name, rows, options)


def _piped(format: str | None, rows: int | None, options: Options) -> Iterator[Table]:
    """Yield the tables of standard input; its first line shows the format unless it is given."""
    form = form_of("-", format or "csv").name
    lines = iter(sys.stdin.buffer)
    first = next(lines, b"")
    if form not in SPREADSHEETS:
        check_unzipped(first, PIPED)
    if format is None:
        if first[:64].lstrip().startswith(b'{"'):
            raise TableError(f"What came by {PIPED} looks like JSON lines: --format jsonl.")
        form = form_of_content(first) or form
    yield from tables_in(chain([first], lines), PIPED, form, rows, options)


def existing(name: str, *, or_bundled: bool = True) -> str:
    """Return the path of a file; an error names similar files and, by default, bundled tables."""
    if not name:
        raise TableError("The name of the file to read is empty: give one.")
    if name != name.encode("utf-8", "replace").decode():
        raise TableError(
            f"The name of the file is not UTF-8: {os.fsencode(name)!r}. Rename it, or read it from "
            "standard input (-)."
        )
    path = Path(os.path.expanduser(name))
    if path.is_file():
        return str(path)
    if path.is_dir():
        raise TableError(f"{name} is a folder; name a file in it.")
    if path.is_symlink() and not os.path.exists(path):
        raise TableError(f"{name} is a broken link.")
    if path.exists():
        raise TableError(f"{name} is not a regular file; give a file, or - for standard input.")
    beside = (
        [str(path.parent / p.name) for p in path.parent.glob("*")] if path.parent.is_dir() else []
    )
    known = [*beside, *BUNDLED] if or_bundled else beside
    raise TableError(f"There is no file {name}.{did_you_mean(name, known)}")


def load(name: str) -> pl.DataFrame:
    """Return a bundled table, with labels in words if there are any."""
    bunch = getattr(datasets, f"load_{name}")()
    names = [str(column).replace(" (cm)", "").replace(" ", "_") for column in bunch.feature_names]
    frame = pl.DataFrame(bunch.data, schema=names)
    target = bunch.target
    if name in ("iris", "wine", "breast_cancer"):
        target = bunch.target_names[target]
    return frame.with_columns(pl.Series(BUNDLED[name], target.tolist()))


def write_table(table: Table, path: Path, form: Form) -> None:
    """Write a table in some form, to a draft that nobody reads before it is complete."""
    buffer = io.BytesIO()  # polars' errors about its own files do not give the reason
    if form.name == "libsvm":
        labels = table.frame[table.frame.columns[0]].to_numpy()
        dump_svmlight_file(table.sparse, labels, buffer, zero_based=False)
    elif form.name == "parquet":
        table.frame.write_parquet(buffer)
    elif form.name == "arrow":
        table.frame.write_ipc(buffer)
    elif form.name == "jsonl":
        table.frame.write_ndjson(buffer)
    else:
        table.frame.write_csv(buffer, separator=SEPARATORS[form.name])
    zipped = form.zipped and form.name not in ("parquet", "arrow")
    path.write_bytes(gzip.compress(buffer.getvalue()) if zipped else buffer.getbuffer())
