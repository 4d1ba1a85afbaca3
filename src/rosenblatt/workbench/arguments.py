"""What was asked for: the table with its target, the families, the time; each checked."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from rosenblatt.data import Table, TableError, read_table
from rosenblatt.data.errors import did_you_mean, listed
from rosenblatt.plot.drawing import clipped

from .families import FAMILIES, Family, peers_of
from .model_catalogue import class_of, goes_by, meant_elsewhere
from .row_view import as_frame, plain_array, series_of

LEAST_BUDGET = 1.0  # seconds
MOST_LISTED = 12  # families in an error


@dataclass(frozen=True, kw_only=True, eq=False)
class CompareSettings:
    """The options of `compare`, which describes them: its keywords and the printed call."""

    target: str | None = None
    format: str | None = None
    header: bool = True
    task: str | None = None
    metric: str | None = None
    time: str | None = None
    groups: Any = None
    kinds: dict[str, str] | None = None
    families: Any = None
    peers: bool = False
    budget: Any = None
    random_state: int = 0
    ledger: Any = None
    sheet: str | None = None
    clean_labels: bool = False
    positive: Any = None


def checked_budget(budget: float | None) -> float | None:
    """Return the time limit in seconds, or None if it is infinite."""
    number = isinstance(budget, int | float) and not isinstance(budget, bool)
    if budget is not None and not (number and budget >= LEAST_BUDGET):
        raise ValueError(f"budget must be at least {LEAST_BUDGET:g} second; got {budget!r}.")
    return None if budget == math.inf else budget


def numbers_of(k: Any) -> Any:
    """Numbers of clusters as people type them, "4", "2-8" or "2,4,8"; other values as they are.

    >>> numbers_of("4"), numbers_of("2-4"), numbers_of("2,5"), numbers_of(None)
    (4, [2, 3, 4], [2, 5], None)
    """
    if not isinstance(k, str):
        return k
    try:
        first, dash, last = k.partition("-")
        numbers = [int(first), int(last)] if dash else [int(word) for word in k.split(",")]
    except ValueError:
        raise ValueError(f"k takes a number such as 4, or 2-8 or 2,4,8; got {k!r}.") from None
    if not dash:
        return numbers[0] if len(numbers) == 1 else numbers
    low, high = numbers
    if low > high:
        raise ValueError(f"k takes the smaller number first; got {k!r}, and {low} is above {high}.")
    return list(range(low, high + 1))


def chosen_families(
    names: Sequence[str], suiting: list[Family], others: list[tuple[str, str]]
) -> tuple[list[Family], list[tuple[str, str]]]:
    """Of the families that suit and of those that do not, the ones that are asked for.

    They go by their names or by their classes, and come in the order that they are asked for.
    """
    names = [names] if isinstance(names, str) else names
    if not len(names):
        raise TableError("families is empty: name some, or leave it out for all.")
    known, unsuited = {family.name: family for family in suiting}, dict(others)
    found = dict.fromkeys(_name_of_family(name, [*known, *unsuited]) for name in names)
    return (
        [known[name] for name in found if name in known],
        [(name, unsuited[name]) for name in found if name in unsuited],
    )


def _name_of_family(word: str, there: list[str]) -> str:
    """The name of the family that goes by a word and could be tried; refused if there is none."""
    if not isinstance(word, str):
        raise TableError(f"families takes names of families or of their classes; got {word!r}.")
    ours = [family for family in FAMILIES if goes_by(family, word)]
    peers = [] if ours else [family for family in peers_of() if goes_by(family, word)]
    for family in ours + peers:
        if family.name in there:
            return family.name
    if ours:
        raise TableError(f"{word} is for {ours[0].task}, which is not what the target asks for.")
    if peers:
        raise TableError(f"{word} is a peer, and peers are tried on request: peers=True.")
    near = meant_elsewhere(word) or did_you_mean(word, there)
    near = near or did_you_mean(word, filter(None, map(class_of, FAMILIES)))
    near = near or f" Model families: {listed(there, MOST_LISTED)}."
    raise TableError(f"There is no family {word!r}.{near}")


def table_of(
    X: Any,
    y: Any,
    target: str | None,
    format: str | None = None,
    header: bool = True,
    sheet: str | None = None,
) -> tuple[Table, str]:
    """The table with its target as a column, which y may name or hold."""
    if isinstance(y, str):
        if target not in (None, y):
            raise TableError(f"The target is {y!r} or {target!r}, not both.")
        y, target = None, y
    table = features_of(X, format, header, sheet)
    _check_plain(table.frame)
    if y is None:
        if target is None:
            raise TableError('Say which column is the target, as in target="label".')
        if sp.issparse(X):
            raise TableError(f"A matrix has no column {target!r}: give the values of y.")
        return table, target
    values = _values_of(y, target)
    if values.name in table.frame.columns:
        raise TableError(
            f"The table has a column {values.name!r} already: if it is the target, give its name "
            "instead of y; if not, give y another name as target."
        )
    n_rows = len(table) if table.sparse is None else table.sparse.shape[0]
    if n_rows != len(values):
        raise TableError(f"X has {n_rows} rows and y has {len(values)}.")
    _check_plain(pl.DataFrame([values]))
    columns = [*table.frame.get_columns(), values]  # a matrix has none before
    return replace(table, frame=pl.DataFrame(columns)), values.name


def _check_plain(frame: pl.DataFrame) -> None:
    """Raise if a column holds objects of Python or of an extension, which polars cannot compare."""
    for name, dtype in frame.schema.items():
        if dtype == pl.Object or isinstance(dtype, pl.BaseExtension):
            raise TableError(
                f"Column {name!r} holds objects that are neither numbers, words nor dates "
                f"({dtype}): turn them into such, or leave the column out."
            )


def with_groups(table: Table, groups: Any) -> tuple[Table, str | None]:
    """The table with its groups as a column, and the name of that.

    Groups may be a name, or values; such as are in a column of their name are that column.
    """
    if groups is None or isinstance(groups, str):
        return table, groups
    values = column_of(groups, "groups", "groups")
    if len(values) != len(table):
        raise TableError(
            f"groups has {len(values)} values, and the table {len(table)} rows: give one for each, "
            "or the name of a column."
        )
    if values.name in table.frame.columns:
        if table.frame[values.name].cast(pl.String).equals(values.cast(pl.String)):
            return table, values.name
        raise TableError(
            f"The table has a column {values.name!r} that is not the same as groups: give groups "
            "another name."
        )
    return replace(table, frame=table.frame.with_columns(values)), values.name


def checked_name(role: str, name: Any) -> Any:
    """The name of a column, or None."""
    if name is not None and not isinstance(name, str):
        raise TableError(f"{role} takes the name of a column; got a {type(name).__name__}.")
    return name


def column_of(values: Any, role: str, name: str) -> pl.Series:
    """One column of values: a list, an array, a series, or a data frame of one column."""
    if isinstance(values, pl.LazyFrame):
        values = values.collect()
    shape = np.shape(values)
    if len(shape) == 2 and shape[1] == 1:
        named = getattr(values, "columns", None)
        name = name if named is None else str(named[0])
        values = np.asarray(values)[:, 0]
    elif len(shape) != 1:
        many = f"{shape[1]} columns" if len(shape) == 2 else f"the shape {shape}"
        raise TableError(f"{role} has {many}, and one column is wanted: choose it.")
    name = str(getattr(values, "name", None) or name)
    if isinstance(values, pl.Series):
        return values.rename(name)
    return series_of(plain_array(values), name)


def _values_of(y: Any, target: str | None) -> pl.Series:
    values = column_of(y, "y", "target")
    return values if target is None else values.rename(target)


def features_of(X: Any, format: str | None, header: bool, sheet: str | None) -> Table:
    """X as a table; the columns of an array are called x0, x1, ..."""
    if isinstance(X, str | Path):
        return read_table(X, format, header=header, sheet=sheet)
    if format is not None or sheet is not None or not header:
        given = f"format={format!r}" if format is not None else "header=False"
        given = given if sheet is None else f"sheet={sheet!r}"
        raise TableError(
            f"{given} is about a file that is to be read, and X is a {type(X).__name__}: leave it "
            "out, or give the path of the file."
        )
    if isinstance(X, Table):
        return X
    if sp.issparse(X):
        return Table(pl.DataFrame(), "the table", X.tocsr())
    return read_table(as_frame(X))


# How a comparison was done, and the call that repeats one made in Python.


LONGEST = 300  # characters of an argument that are shown
DEFAULTS = {option.name: option.default for option in fields(CompareSettings)}


def call_of(X: Any, y: Any, name: str = "compare", **options: Any) -> str:
    """The call, with the arguments that were given; tables that have no name are X and y."""
    named = isinstance(X, str | os.PathLike)
    words = [_word(X) if named else "X"]
    if isinstance(y, str):  # the name of a column, which says it all
        words, y = [*words, _word(y)], None
    words += ["y"] if y is not None else []
    for option, value in options.items():
        if value is not None and value is not DEFAULTS.get(option):
            words.append(f"{option}={_word(value)}")
    lines = ["import rosenblatt"]
    if not named and y is not None:
        lines.append(
            "# X and y are the table and the target that were given, which this page does not hold."
        )
    elif not named or y is not None:
        which = "y is the target" if named else "X is the table"
        lines.append(f"# {which} that was given, which this page does not hold.")
    return "\n".join([*lines, f"rosenblatt.{name}({', '.join(words)})"])


def _word(value: Any) -> str:
    return clipped(repr(os.fspath(value) if isinstance(value, os.PathLike) else value), LONGEST)
