"""Reading and writing a table, whatever kind of file it is in."""

import gzip
import io
import logging
import os
import re
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn import datasets
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from .delimited import NO_HEADER, dialect_of, of_cells, read_delimited, tidy
from .errors import TableError, did_you_mean, listed
from .files import (
    SEPARATORS,
    SPREADSHEETS,
    Form,
    check_unzipped,
    form_of,
    form_of_content,
    is_arrow_stream,
)
from .notation import read_words, written_as
from .text import blame_json, blame_libsvm, input_of, number_in

PIPED = "standard input"
TARGET = "target"  # how the labels of a LIBSVM file are called
MOST_NAMED = 8  # columns or sheets in an error
ROWS_FOR_HINT = 1_000  # that show whether a name is a value
MOST_COLUMNS = 100_000_000  # of a LIBSVM file: a table of weights must fit in memory


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
    decimal_comma : bool
        Whether words that are to be numbers have a comma before the fraction.
    cells : polars.DataFrame or None
        The same rows as they are in a file of CSV or TSV, read in batches of words.
    hint : str
        A sentence if the first line of a file looks like a row, and not like names of columns.

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
        """Return a column; an unknown name is refused with the nearest ones.

        >>> read_table("iris").column("specis")
        Traceback (most recent call last):
        rosenblatt.data.errors.TableError: iris has no column 'specis'. Did you mean species?
        """
        if name not in self.frame.columns:
            raise TableError(f"{self.name} has no column {name!r}.{self._names_near(name)}")
        return self.frame[name]

    def _names_near(self, name: str) -> str:
        """What may have been meant."""
        names = self.frame.columns
        if self.sparse is not None:
            return f" The labels of a LIBSVM file are called {names[0]}."
        if all(re.fullmatch(r"column_\d+", column) for column in names):
            return f" Without a header columns are called {names[0]} to {names[-1]}."
        near = did_you_mean(name, names) or f" It has {listed(names, MOST_NAMED)}."
        return f"{near} {self.hint}".rstrip()


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
        Between tabs quotes are characters like others: no value of TSV holds a tab or ends a line.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "libsvm", "xlsx", "ods"} or None
        The kind of file; None tells it from the name. Standard input is CSV unless told, or if it
        begins as files of Parquet or Arrow do.
    header : bool
        Whether the first line of CSV or TSV names the columns; if not they are called column_0,
        column_1, and so on. The labels of a LIBSVM file are called target.
    of_words : collection of str
        Columns of CSV, TSV and JSON lines that hold words even if all of them look like numbers,
        dates or truth values: such as a model has learned categories of, "01" and "1" among them.
    sheet : str or None
        The sheet of a spreadsheet, by its name or its number, from 1; the first if None.

    Returns
    -------
    table : Table
        Values that are missing (an empty cell, NA, NaN, null, ?) are null. Blank lines at the end
        of CSV or TSV are no rows, of one column neither: there, write NA for a missing value.

    Examples
    --------
    >>> from rosenblatt.data import read_table
    >>> read_table("wine").frame.shape
    (178, 14)
    """
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if hasattr(source, "columns"):
        frame = source if isinstance(source, pl.DataFrame) else pl.from_pandas(source)
        return _checked(Table(frame, "the table"))
    name = str(source)
    if name in BUNDLED and not Path(name).exists():
        return Table(load(name), name)
    if name == "-":
        form = form_of(name, format or "csv")
        read = sys.stdin.buffer.read()
        form = form_of_piped(read, form, format)
        return _checked(table_from(read, PIPED, form, header, of_words, sheet))
    path = existing(name)
    return _checked(table_from(path, name, form_of(path, format), header, of_words, sheet))


def form_of_piped(first: bytes, form: Form, given: str | None) -> Form:
    """The form of what is piped, which its first bytes tell unless it was given."""
    if given not in SPREADSHEETS:
        check_unzipped(first, PIPED)
    if given is None and first[:64].lstrip().startswith(b'{"'):
        raise TableError(f"What came by {PIPED} looks like JSON lines: --format jsonl.")
    return form if given else Form(form_of_content(first) or form.name)


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


def table_from(
    source: Any,
    name: str,
    form: Form,
    header: bool,
    of_words: Collection[str] = (),
    sheet: str | None = None,
) -> Table:
    """The table of a file, or of bytes."""
    if sheet is not None and form.name not in SPREADSHEETS:
        raise TableError(f"{name} is no spreadsheet, and has no sheet {sheet!r}.")
    if form.name in SPREADSHEETS:
        frame, hint = read_spreadsheet(source, name, header, sheet)
        hint = (header_hint(frame, name) if header else "") or hint
        return Table(frame, name, guessed=True, hint=hint)
    if form.name in SEPARATORS:
        dialect = dialect_of(source, name, SEPARATORS[form.name])
        frame = read_delimited(source, name, dialect, header, of_words)
        hint = header_hint(frame, name) if header else ""
        return Table(frame, name, guessed=True, decimal_comma=dialect.decimal_comma, hint=hint)
    if form.name == "libsvm":
        return table_of_libsvm(source, name)
    try:
        if form.name == "jsonl":  # numbers among words are told from words, as in CSV
            return Table(read_json_lines(source, of_words), name, guessed=True)
        read: Any = pl.read_parquet
        if form.name == "arrow":
            read = pl.read_ipc_stream if is_arrow_stream(source) else pl.read_ipc
        return Table(read(input_of(source)), name)
    except (pl.exceptions.PolarsError, OSError) as error:
        if form.name == "jsonl":
            blame_json(source, name)
        why = str(error).splitlines()[0]
        raise TableError(f"{name} cannot be read as {form.name}: {why}.") from None


def read_spreadsheet(
    source: Any, name: str, header: bool, sheet: str | None
) -> tuple[pl.DataFrame, str]:
    """A sheet without empty rows, the first unless one is named, and a hint if there are others."""
    import fastexcel  # which takes a moment, and need not be there

    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it reports each column of words
    source = source if isinstance(source, bytes) else str(source)
    try:
        book = fastexcel.read_excel(source)
        frame: pl.DataFrame = pl.read_excel(
            input_of(source), sheet_name=_sheet_of(book.sheet_names, sheet, name), has_header=header
        )
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError) as error:
        why = str(error).splitlines()[0]
        raise TableError(f"{name} cannot be read as a spreadsheet: {why}.") from None
    named = [re.sub(r"^__UNNAMED__", "column_", column).strip() for column in frame.columns]
    words = [column for column, dtype in frame.schema.items() if dtype == pl.String]
    hint = ""
    if sheet is None and len(book.sheet_names) > 1:
        hint = f"{name} has the sheets {listed(book.sheet_names, MOST_NAMED)}; the first was read."
        hint += " Name another by --sheet, or sheet=."
    return tidy(frame.with_columns(of_cells(frame.select(words))), named), hint


def _sheet_of(there: list[str], sheet: str | None, name: str) -> str:
    """The name of a sheet that is asked for by name or number."""
    if sheet is None or sheet in there:
        return sheet or there[0]
    if sheet.isdigit() and 1 <= int(sheet) <= len(there):
        return there[int(sheet) - 1]
    near = did_you_mean(sheet, there) or f" It has {listed(there, MOST_NAMED)}."
    raise TableError(f"{name} has no sheet {sheet!r}.{near}")


def header_hint(frame: pl.DataFrame, name: str) -> str:
    """A sentence if most names of columns look like values of these columns; else nothing.

    Names that count, as 1990, 1991, 1992 or 0, 1, 2 do, are names.
    """
    alike = [column for column in frame.columns if _is_like_a_value(column, frame[column])]
    numbers = [number for number in map(number_in, alike) if number is not None]
    counts = len(numbers) > 1 and bool(np.all(np.diff(numbers) == 1))
    if 2 * len(alike) <= frame.width or counts:
        return ""
    return f"The first line of {name} holds {listed(alike, 4)}. {NO_HEADER}"


def _is_like_a_value(name: str, values: pl.Series) -> bool:
    if values.dtype.is_numeric():
        return number_in(name) is not None
    if values.dtype != pl.String:
        return False
    some = values.head(ROWS_FOR_HINT)
    notation = written_as(some)  # of numbers and dates as people write them
    if notation is not None:
        return read_words(pl.Series([name]), notation.notation)[0] is not None
    return 2 * some.n_unique() < len(some) and name in some


def read_json_lines(source: Any, of_words: Collection[str] = ()) -> pl.DataFrame:
    """The columns of JSON lines; some may be told to be words.

    >>> read_json_lines(b'{"a": 1.0, "b": 2}').rows()
    [(1.0, 2)]
    >>> read_json_lines(b'{"a": 1.0, "b": 2}', of_words=["a"]).rows()
    [('1', 2)]
    """
    # A number may turn out to be a fraction, or a word, in the last line.
    frame = pl.read_ndjson(input_of(source), infer_schema_length=None)
    taken: Any = {
        name: pl.String
        for name, dtype in frame.schema.items()
        if name in of_words and (dtype.is_numeric() or dtype == pl.Boolean)
    }
    if not taken:
        return frame
    return pl.read_ndjson(input_of(source), infer_schema_length=None, schema_overrides=taken)


def table_of_libsvm(
    source: Any, name: str, zero_based: bool | str = "auto", before: int = 0
) -> Table:
    """The labels and features of a LIBSVM file, or of some lines that others came before."""
    try:
        X, y = load_svmlight_file(input_of(source), zero_based=zero_based)
    except (ValueError, OSError, OverflowError) as error:
        blame_libsvm(source, name, before)
        why = str(error).rstrip(".")
        raise TableError(f"{name} cannot be read as libsvm: {why}.") from None
    if not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        blame_libsvm(source, name, before)
    if X.shape[1] > MOST_COLUMNS:
        raise TableError(
            f"{name} has a feature of number {X.shape[1]:,}, more than {MOST_COLUMNS:,}: number "
            "them from 1 on."
        )
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


# Small real tables that come with scikit-learn, by name.


# The name of each, and of the column to be predicted.
BUNDLED = {
    "iris": "species",
    "digits": "digit",
    "wine": "cultivar",
    "breast_cancer": "diagnosis",
    "diabetes": "progression",
}


def load(name: str) -> pl.DataFrame:
    """A bundled table, labels in words where they have any."""
    bunch = getattr(datasets, f"load_{name}")()
    names = [str(column).replace(" (cm)", "").replace(" ", "_") for column in bunch.feature_names]
    frame = pl.DataFrame(bunch.data, schema=names)
    target = bunch.target
    if name in ("iris", "wine", "breast_cancer"):
        target = bunch.target_names[target]
    return frame.with_columns(pl.Series(BUNDLED[name], target.tolist()))


def write_table(table: Table, path: Path, form: Form) -> None:
    """Write a table in some form; the file must not matter to anyone before it is whole."""
    if form.name == "libsvm":
        content = _libsvm(table)
        path.write_bytes(gzip.compress(content) if form.zipped else content)
    elif form.name in ("parquet", "arrow"):
        buffer = io.BytesIO()  # the errors of polars' own files do not say what is wrong
        write = table.frame.write_parquet if form.name == "parquet" else table.frame.write_ipc
        write(buffer)
        path.write_bytes(buffer.getbuffer())
    else:
        text = (
            table.frame.write_ndjson()
            if form.name == "jsonl"
            else table.frame.write_csv(separator=SEPARATORS[form.name])
        )
        path.write_bytes(gzip.compress(text.encode()) if form.zipped else text.encode())


def _libsvm(table: Table) -> bytes:
    buffer = io.BytesIO()
    labels = table.frame[table.frame.columns[0]].to_numpy()
    dump_svmlight_file(table.sparse, labels, buffer, zero_based=False)
    return buffer.getvalue()
