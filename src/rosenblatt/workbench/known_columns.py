"""Tables for a saved model: columns found by name, parsed as in the training table.

Columns may come in any order, and others beside them; what is missing or of another kind is named.
"""

from dataclasses import replace
from typing import Any

import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from rosenblatt.data import Table, TableError
from rosenblatt.data.errors import listed, shown
from rosenblatt.data.finite_numbers import FINITE, as_floats, beyond, check_finite
from rosenblatt.data.parsing import YES_OR_NO, misfit, parse

from .column_parts import MOST_CATEGORIES, Categories
from .features import TableColumns, TableFeatures
from .model_metadata import KnownColumn, SavedModel
from .row_view import MOST_NAMED, lacking
from .targets import is_known, labels_of, measured, numbers_of, plain_label

# Kinds of numbers, dates and truth values that a column is brought back to.
DTYPES: dict[str, Any] = {
    str(dtype): dtype
    for dtype in (
        pl.Boolean, pl.Date, pl.Time, pl.Float32, pl.Float64,
        pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64,
    )
} | {"Datetime": pl.Datetime("us")}  # fmt: skip


def known_columns(
    frame: pl.DataFrame, kinds: dict[str, str], notations: dict[str, str]
) -> tuple[KnownColumn, ...]:
    """Return the columns that a model reads, as in the training table."""
    schema = frame.schema  # made anew at each call
    return tuple(
        KnownColumn(name, kind, str(schema[name].base_type()), notations.get(name, ""))
        for name, kind in kinds.items()
    )


def rows_for(saved: SavedModel, table: Table, start: int = 0) -> Any:
    """Return the rows of a table for a model; `start` rows came before, for messages."""
    if not saved.columns:
        return _matrix_for(saved, table)
    if table.sparse is not None:
        names = ", ".join(column.name for column in saved.columns[:MOST_NAMED])
        raise TableError(
            f"{table.name} has no names of columns, and the model reads them: {names}."
        )
    there = set(table.frame.columns)
    missing = [column.name for column in saved.columns if column.name not in there]
    if missing:
        raise TableError(
            f"{lacking(table.name, missing, table.frame.columns)} {table.hint}".rstrip()
        )
    return pl.DataFrame([_column(table, column, start) for column in saved.columns])


def targets_of(saved: SavedModel, table: Table) -> tuple[Table, NDArray[Any]]:
    """Return the rows of a table that have a target, and the targets (n,) of the model."""
    table = replace(table, frame=as_floats(table.frame))
    values = table.column(saved.target)
    if saved.task == "regression":
        values, _ = measured(values, table.decimal_comma)
    known = is_known(values)
    if not known.any():
        raise TableError(f"No row of {table.name} has a value of {saved.target!r}.")
    rows, values = table.take(known), values.filter(known)
    if saved.task == "regression":
        return rows, numbers_of(values, saved.target)
    if not _has_words_as_classes(saved):
        return rows, labels_of(values)
    return rows, labels_of(_spelled_as_classes(values.cast(pl.String), saved))


def knows_plain_labels(saved: SavedModel) -> bool:
    """Return True if all classes of a model differ in more than case and blanks."""
    if not _has_words_as_classes(saved):
        return False
    classes = list(map(str, saved.model.classes_))
    return len(set(map(plain_label, classes))) == len(classes)


def _spelled_as_classes(labels: pl.Series, saved: SavedModel) -> pl.Series:
    """Replace labels that differ from a class in case or blanks only by the class."""
    if not knows_plain_labels(saved):
        return labels
    classes = {plain_label(str(label)): str(label) for label in saved.model.classes_}
    return labels.replace({w: classes.get(plain_label(w), w) for w in labels.unique().to_list()})


def target_of(saved: SavedModel, row: Table) -> Any:
    """Return the target of one row as the model names it, None if the table does not have it."""
    if saved.target not in row.frame.columns:
        return None
    values = row.frame[saved.target]
    if values.dtype == pl.String and not _has_words_as_classes(saved):  # as batches of words are
        classes = getattr(saved.model, "classes_", None)
        is_boolean = classes is not None and classes.dtype.kind == "b"
        values, _ = parse(values, pl.Boolean if is_boolean else pl.Float64, row.decimal_comma)
    known = replace(row, frame=row.frame.with_columns(values))
    try:
        [truth] = targets_of(saved, known)[1]
    except TableError:  # it is missing, or of another kind
        return None
    if saved.task == "classification":  # 1.0 is the class 1
        classes = saved.model.classes_
        truth = next((label for label in classes if label == truth), truth)
    return truth


def columns_of_words(saved: SavedModel) -> set[str]:
    """Return the columns that held words in the training table, including the target.

    Numbers and dates in a notation of people are such: "1.234" may be more than a thousand.

    Tables are read with these as words: a table of "01" and "1" alone would hold numbers, and its
    categories be others.
    """
    found = {
        column.name
        for column in saved.columns
        if column.notation or wanted_dtype(column) == pl.String
    }
    return found | {saved.target} if _has_words_as_classes(saved) else found


def unknown_columns(saved: SavedModel, table: Table) -> list[str]:
    """Return the columns of a table that the model does not read, except the target."""
    if not saved.columns:
        extra = 0 if table.sparse is None else table.sparse.shape[1] - saved.width
        return [f"{extra} columns past the {saved.width} it knows"] if extra > 0 else []
    known = {column.name for column in saved.columns} | {saved.target}
    return [name for name in table.frame.columns if name not in known]


def _has_words_as_classes(saved: SavedModel) -> bool:
    classes = getattr(saved.model, "classes_", None)
    return classes is not None and classes.dtype.kind in "OUS"


def _matrix_for(saved: SavedModel, table: Table) -> Any:
    """Return sparse rows with as many columns as in training."""
    if table.sparse is None:
        raise TableError(
            f"The model was fitted to {saved.width} columns without names (LIBSVM), and "
            f"{table.name} has columns with names: give the rows in the same form."
        )
    check_finite(table)
    X = sp.csr_matrix(table.sparse, copy=True)
    X.resize(X.shape[0], saved.width)
    return X


def _column(table: Table, known: KnownColumn, start: int) -> pl.Series:
    """Return a column parsed as in the training table."""
    values, wanted = table.frame[known.name], wanted_dtype(known)
    written = values.dtype == pl.String and known.notation
    found, bad = parse(values, known.notation if written else wanted, table.decimal_comma)
    if known.kind == "boolean" and found.dtype == pl.String and not len(bad):
        bad = (~found.str.to_lowercase().is_in(YES_OR_NO)).fill_null(False).arg_true()
    kind = known.kind
    if kind == "numeric" and not len(bad):
        bad, kind = beyond(found), FINITE
    if len(bad):
        raise TableError(misfit(values, bad, kind, f" of {table.name}", start))
    return found.cast(wanted)


def wanted_dtype(known: KnownColumn) -> Any:
    """Return the type that a column must have."""
    if known.kind == "numeric":
        return pl.Float64  # whole numbers may have become others since
    return DTYPES.get(known.dtype, pl.String)


# Categories that a model never saw, and empty cells, counted over the batches that it predicts for.


def known_categories(model: Pipeline) -> dict[str, list[str]]:
    """Return the categories of each categorical column of the training table."""
    first, last = model.steps[0][1], model.steps[-1][1]
    if isinstance(first, TableFeatures):
        parts = [part for part in first.parts_ if isinstance(part, Categories)]
        return {part.name: part.categories for part in parts}
    if isinstance(first, TableColumns) and hasattr(last, "categories_"):
        names = [name for name, kind in first.mixed_kinds().items() if kind == "categorical"]
        known = [values for values in last.categories_ if values is not None]  # of numbers
        pairs = zip(names, known, strict=True)
        return {name: [str(value) for value in values] for name, values in pairs}
    return {}


class OddCells:
    """Counts new categories and empty cells of each column.

    >>> odd = OddCells({"town": ["Bonn", "Rome"]})
    >>> odd.add(pl.DataFrame({"town": ["Oslo"] * 30 + ["Rome", None]}))
    >>> print(*odd.notes(), sep=chr(10))
    town: 30 of 31 values were never seen when the model was fitted, as 'Oslo'
    Empty cells: town 1
    """

    def __init__(self, known: dict[str, list[str]]) -> None:
        self._known = {name: pl.Series(values, dtype=pl.String) for name, values in known.items()}
        self._counts = dict.fromkeys(known, (0, 0))  # new ones, and all that are not missing
        self._new: dict[str, str] = {}  # one of them
        self._empty: dict[str, int] = {}

    def add(self, rows: Any) -> None:
        """Count the rows of a batch, as the model takes them."""
        for name, (n_new, n) in self._counts.items():
            words = rows[name].cast(pl.String).drop_nulls()
            new = words.filter(~words.is_in(self._known[name].implode()))
            self._counts[name] = n_new + len(new), n + len(words)
            if len(new):
                self._new.setdefault(name, new[0])
        for name in rows.columns if isinstance(rows, pl.DataFrame) else ():
            if n_empty := rows[name].null_count():
                self._empty[name] = self._empty.get(name, 0) + n_empty

    def notes(self, most: int = MOST_NAMED) -> list[str]:
        """Return a sentence for each of the first columns with new values, and on empty cells."""
        new = [(name, *counts) for name, counts in self._counts.items() if counts[0]]
        found = [
            f"{name}: {n_new:,} of {n:,} values {self._what(name)}, as {shown(self._new[name])}"
            for name, n_new, n in new[:most]
        ]
        if len(new) > most:
            found.append(f"{len(new) - most:,} more columns have values never seen")
        if self._empty:
            counted = [f"{name} {n:,}" for name, n in self._empty.items()]
            found.append(f"Empty cells: {listed(counted, most)}")
        return found

    def _what(self, name: str) -> str:
        if len(self._known[name]) == MOST_CATEGORIES:  # of more, the rarest are not told apart
            return f"are none of the {MOST_CATEGORIES} categories that the model tells apart"
        return "were never seen when the model was fitted"
