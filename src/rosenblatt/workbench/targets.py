"""Targets: the rows that have one, and the task, classification or regression."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rosenblatt.data import Table, TableError
from rosenblatt.data.columns import OF_NO_USE
from rosenblatt.data.errors import listed, shown
from rosenblatt.data.finite_numbers import as_floats, check_finite
from rosenblatt.data.parsing import parse, parse_written

from .findings import rows_counted

FEW_NUMBERS = 20  # whole numbers that are classes, if there are no more of them
MOST_NAMED = 5  # labels
ROWS_OF_A_CLASS = 4  # at least, so that each part of the data has some
ROWS_A_CLASS = 5  # on average, or they are too many to learn


def with_target(
    table: Table, target: str, hints: list[str], least_rows: int = 0
) -> tuple[pl.DataFrame, Any, pl.Series]:
    """Return the rows that have a target, and their targets; raise if a number is infinite."""
    check_finite(table)
    table = replace(table, frame=as_floats(table.frame))
    values = table.column(target)
    if values.dtype.is_nested() or values.dtype in OF_NO_USE:
        raise TableError(
            f"{target} holds values of a kind that no model predicts ({values.dtype}): make words "
            "or numbers of them."
        )
    frame, sparse = table.frame, table.sparse
    values, note = measured(values, table.decimal_comma)
    hints += [f"{target} holds {note}."] if note else []
    known = is_known(values)
    if not known.all():
        n_missing = len(values) - int(known.sum())
        if n_missing == len(values):
            raise TableError(f"No row of {table.name} has a value of {target!r}.")
        are = "is" if n_missing == 1 else "are"
        hints.append(f"{rows_counted(n_missing)} without {target} {are} left out.")
        frame, values = frame.filter(known), values.filter(known)
        sparse = None if sparse is None else sparse[known.to_numpy()]
    check_rows(table, values, least_rows)
    if values.n_unique() == 1:
        raise TableError(
            f"All rows of {table.name} have the same {target}, {shown(values[0])}: there is "
            "nothing to learn."
        )
    return frame, sparse, values


def is_known(values: pl.Series) -> pl.Series:
    """Return True for each value that is not missing."""
    known = values.is_not_null()
    return known & values.is_not_nan().fill_null(False) if values.dtype.is_float() else known


def measured(values: pl.Series, decimal_comma: bool) -> tuple[pl.Series, str]:
    """Return a target of many numbers that people wrote as numbers, with a note; others as is."""
    if values.dtype != pl.String or values.n_unique() <= FEW_NUMBERS:
        return values, ""
    numbers, how = parse_written(values, decimal_comma, dates=False)
    return numbers, "" if how is None else how.note


def check_rows(table: Table, values: pl.Series, least: int) -> None:
    """Raise if there are too few rows to split."""
    if len(values) < least:
        raise TableError(
            f"{table.name} must have at least {least} rows with a target; got {len(values)}. "
            f"{table.hint}".rstrip()
        )


def checked_task(task: str | None) -> str | None:
    """Return the task; raise if there is no such task."""
    if task not in (None, "classification", "regression"):
        raise ValueError(f"task must be classification or regression; got {task!r}.")
    return task


def task_of(values: pl.Series) -> str:
    """Return the task of a target: few whole numbers, and words, are classes.

    >>> task_of(pl.Series([1.5, 2.5])), task_of(pl.Series(["a", "b"])), task_of(pl.Series([0, 1]))
    ('regression', 'classification', 'classification')
    """
    dtype = values.dtype
    if not dtype.is_numeric():
        return "classification"
    whole = dtype.is_integer() or bool((values == values.round(0)).all())
    return "classification" if whole and values.n_unique() <= FEW_NUMBERS else "regression"


def enough_of_each(
    frame: pl.DataFrame, sparse: Any, values: pl.Series, target: str, hints: list[str]
) -> tuple[pl.DataFrame, Any, pl.Series]:
    """Return the rows of classes that have enough rows."""
    n_classes = values.n_unique()
    if n_classes * ROWS_A_CLASS > len(values):
        raise TableError(
            f"{target} has {n_classes:,} values in {len(values):,} rows: too many classes to "
            "learn. Is it a number to be predicted (task regression), or a name?"
        )
    counts = values.value_counts()
    rare = counts.filter(pl.col("count") < ROWS_OF_A_CLASS)[values.name]
    if not len(rare):
        return frame, sparse, values
    kept = ~values.is_in(rare.implode())
    names = ", ".join(map(str, rare.sort().head(5).to_list()))
    if n_classes - len(rare) < 2:
        raise TableError(
            f"Fewer than two values of {target} have {ROWS_OF_A_CLASS} rows or more, so that there "
            f"is nothing to tell apart; too few are of {names}. Give more rows of each."
        )
    rows = f"with fewer than {ROWS_OF_A_CLASS} rows"
    what = f"1 class {rows} is" if len(rare) == 1 else f"{len(rare)} classes {rows} are"
    hints.append(f"{what} left out: {names}.")
    return (
        frame.filter(kept),
        None if sparse is None else sparse[kept.to_numpy()],
        values.filter(kept),
    )


def with_plain_labels(values: pl.Series, clean: bool, hints: list[str]) -> pl.Series:
    """Report labels that differ in case or blanks only, or merge them if `clean`.

    The most frequent spelling stays.

    >>> hints = []
    >>> with_plain_labels(pl.Series("y", ["yes", "Yes", "yes", "no"]), True, hints).to_list()
    ['yes', 'yes', 'yes', 'no']
    >>> hints
    ["Labels of y that differ in case or blanks alone were merged: 'yes' = 'Yes'."]
    """
    if values.dtype != pl.String:
        return values
    spelled = values.value_counts(sort=True)[values.name].to_list()
    kept: dict[str, list[str]] = {}
    for word in spelled:
        kept.setdefault(plain_label(word), []).append(word)
    groups = [words for words in kept.values() if len(words) > 1]
    if not groups:
        return values
    named = listed([" = ".join(map(shown, words)) for words in groups], MOST_NAMED)
    alike = f"Labels of {values.name} that differ in case or blanks alone"
    if not clean:
        hints.append(f"{alike} count as different: {named}. --clean-labels merges them.")
        return values
    hints.append(f"{alike} were merged: {named}.")
    return values.replace({word: words[0] for words in groups for word in words})


def plain_label(word: str) -> str:
    """Return a label in lower case, with single blanks."""
    return " ".join(word.split()).casefold()


def labels_of(values: pl.Series) -> NDArray[Any]:
    """Return labels as an array of words, whole numbers or truth values."""
    if values.dtype.is_numeric() or values.dtype == pl.Boolean:
        return values.to_numpy().copy()
    return np.array(values.cast(pl.String).to_list())


def numbers_of(values: pl.Series, target: str) -> NDArray[np.float64]:
    """Return a target without gaps as floats; raise if a value is not a number."""
    if not values.dtype.is_numeric():
        values = values.cast(pl.String)
    numbers, how = parse_written(values, dates=False)
    if how is None:
        numbers, _ = parse(values, pl.Float64)
    if numbers.null_count():
        odd = shown(values.filter(numbers.is_null())[0])
        raise TableError(f"{target} holds {odd}, which is not a number; regression needs numbers.")
    y = numbers.cast(pl.Float64).to_numpy().copy()
    if not np.isfinite(y).all():
        raise TableError(f"{target} is infinite in row {int(np.flatnonzero(~np.isfinite(y))[0])}.")
    return y
