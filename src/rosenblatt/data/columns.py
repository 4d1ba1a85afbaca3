"""Kinds of columns: numbers, categories, truth values, texts, dates, or names of rows."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
import polars as pl

from .errors import LONGEST_SHOWN, TableError, did_you_mean
from .parsing import TRUTH

# A column of text has so many words per value on average, and so many different values.
WORDS_OF_A_TEXT = 4.0
SHARE_OF_DIFFERENT_TEXTS = 0.3

MOST_CATEGORIES_SHARE = 0.5  # of the rows: more values are names of rows
FEW_ROWS = 30  # too few to distinguish names of rows from categories
A_FEW_ROWS = 10_000  # NumPy counts so few values faster than polars
NAMES_OF_IDS = re.compile(r"(^|_|\b)(id|uuid|guid|key|index|rownum|row|nr|no)($|_|\b)", re.I)

OF_NO_USE = (pl.Binary, pl.Duration, pl.Object)
USED = ("numeric", "categorical", "boolean", "text", "date")
KINDS = (*USED, "identifier", "constant", "empty")


@dataclass(frozen=True)
class Column:
    """The kind of a column.

    Attributes
    ----------
    name : str
    kind : {"numeric", "categorical", "boolean", "text", "date", "identifier", "constant", "empty"}
        In a comparison also "groups", for the column that rows are split by.
    n_missing, n_different : int
        Number of rows without a value, and number of different values.
    note : str
        Why the column is not used; or how its numbers or dates are written.

    Examples
    --------
    >>> Column("age", "numeric", n_missing=2, n_different=61).used
    True
    """

    name: str
    kind: str
    n_missing: int
    n_different: int
    note: str = ""

    @property
    def used(self) -> bool:
        """Whether models get the column."""
        return self.kind in USED


def columns_of(frame: Any, kinds: dict[str, str] | None = None) -> list[Column]:
    """Return the kind of each column of a data frame; `kinds` gives those that are known.

    Examples
    --------
    >>> import polars as pl
    >>> from rosenblatt.data import columns_of
    >>> frame = pl.DataFrame({"id": range(40), "age": [20.5, 30.0] * 20, "ok": ["yes", "no"] * 20})
    >>> [(column.name, column.kind) for column in columns_of(frame)]
    [('id', 'identifier'), ('age', 'numeric'), ('ok', 'boolean')]
    """
    kinds = kinds or {}
    for name, kind in kinds.items():
        if name not in frame.columns:
            near = did_you_mean(name, frame.columns)
            raise TableError(f"kinds has {name!r}, which is not a column.{near}")
        if kind not in KINDS:
            near = did_you_mean(str(kind), KINDS) or f" There are {', '.join(KINDS)}."
            raise TableError(f"{kind!r} is not a kind of column ({name}).{near}")
    return [_column(frame[name], kinds.get(name)) for name in frame.columns]


def _column(values: pl.Series, given: str | None) -> Column:
    known = values.drop_nulls() if values.null_count() else values
    if known.dtype.is_float() and len(known) <= A_FEW_ROWS:  # there may be thousands of such
        different = np.unique(known.to_numpy())
        n_different = len(different) - int(np.isnan(different[-1:]).sum())
        known = known.drop_nans() if n_different < len(different) else known
    else:
        known = known.drop_nans() if known.dtype.is_float() else known
        n_different = known.n_unique()
    n_missing = len(values) - len(known)
    kind, note = (given, "") if given else _kind(values.name, known, n_different)
    return Column(values.name, kind, n_missing, n_different, note)


def _kind(name: str, known: pl.Series, n_different: int) -> tuple[str, str]:
    """Return the kind of a column by its values, and a note."""
    if not len(known):
        return "empty", "no row has a value"
    dtype = known.dtype
    if dtype.is_nested() or dtype in OF_NO_USE:
        return "empty", f"values are of a kind that no model takes ({dtype})"
    if n_different == 1:
        return "constant", f"all rows have the value {str(known[0])[:LONGEST_SHOWN]}"
    if dtype == pl.Boolean:
        return "boolean", ""
    if dtype.is_temporal():
        return "date", ""
    if dtype.is_numeric():
        return _kind_of_numbers(name, known, n_different)
    return _kind_of_words(known.cast(pl.String), n_different)


def _kind_of_numbers(name: str, known: pl.Series, n_different: int) -> tuple[str, str]:
    everyone = n_different == len(known) and len(known) >= FEW_ROWS
    # By values, not by type: a fraction in a test row would change the type.
    if everyone and (known.dtype.is_integer() or _are_whole(known)):
        low, high = _number(known.min()), _number(known.max())
        if NAMES_OF_IDS.search(name) or high - low + 1 == len(known):
            return "identifier", "every row has its own number, which says nothing of others"
    return "numeric", ""


def _are_whole(numbers: pl.Series) -> bool:
    first = numbers[0]
    return first == first // 1 and bool((numbers == numbers.floor()).all())


def _kind_of_words(words: pl.Series, n_different: int) -> tuple[str, str]:
    if n_different == 2 and set(words.str.to_lowercase().unique()) in TRUTH:
        return "boolean", ""
    share = n_different / len(words)
    length = _number(words.str.count_matches(r"\S+").mean())
    if length >= WORDS_OF_A_TEXT and share >= SHARE_OF_DIFFERENT_TEXTS:
        return "text", ""
    if len(words) >= FEW_ROWS and share > MOST_CATEGORIES_SHARE:
        return "identifier", f"{n_different} of {len(words)} values differ: they name rows"
    return "categorical", ""


def _number(value: Any) -> float:
    return float(value)


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name for a new column, with a number if it is taken.

    >>> free_name("cluster", ["x"]), free_name("cluster", ["cluster", "cluster_2"])
    ('cluster', 'cluster_3')
    """
    names = chain([name], (f"{name}_{number}" for number in count(2)))
    return next(free for free in names if free not in taken)
