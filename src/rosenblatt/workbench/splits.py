"""Which rows are learned from, chosen by and tested on, and the folds of the first part.

Rows of one moment, and rows of one group, are never on both sides of a border.
"""

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from rosenblatt.data import TableError
from rosenblatt.model_selection import train_dev_test_split

from .findings import rows_counted

USUAL_FOLDS = 5
MOST_FOLDS = 10  # of few rows, where five scores are too few to tell families apart
FEW_ROWS = 1_000
ROWS_A_FOLD = 10
LEAST_TIMES = 4  # two to learn from, one to choose by, one to test on
LEAST_GROUPS = 4

Rows = NDArray[np.int64]
Folds = list[tuple[Rows, Rows]]
Three = tuple[Rows, Rows, Rows]


@dataclass(frozen=True, eq=False)
class Split:
    """The rows of the three parts, and how they came into them."""

    train: Rows
    dev: Rows
    test: Rows
    how: str  # "stratified", "at random", "by group" or "by time"
    words: str = ""  # by which column, and what the parts hold
    moments: Rows | None = None  # of each row, if they are split by time: 0 is the earliest
    groups: NDArray[Any] | None = None  # of each row, if they are split by group


def split_of(
    y: NDArray[Any],
    *,
    classes: bool,
    times: pl.Series | None = None,
    groups: pl.Series | None = None,
    seed: int = 0,
) -> Split:
    """Rows in three parts: by time, by group, or by chance with the share of each class."""
    if times is not None and groups is not None:
        raise TableError("Split by time or by group, not by both.")
    if times is not None:
        moments = moments_of(times)
        parts = split_by_time(moments)
        return Split(*parts, "by time", _ranges(times, *parts), moments)
    if groups is not None:
        words = f"rows of one {groups.name} stay together"
        return Split(*split_by_group(groups, seed), "by group", words, groups=groups.to_numpy())
    train, dev, test = train_dev_test_split(
        np.arange(len(y)), stratify=y if classes else None, random_state=seed
    )
    return Split(train, dev, test, "stratified" if classes else "at random")


def _ranges(times: pl.Series, *parts: Rows) -> str:
    """From when to when the parts are."""
    learned, judged, tested = (
        f"{times[part].min()!s} to {times[part].max()!s}".replace(" 00:00:00", "") for part in parts
    )
    return f"by {times.name}: learned from {learned}, judged on {judged}, tested on {tested}"


def check_known(values: pl.Series) -> None:
    """Raise if a column that rows are split by has gaps."""
    missing = values.is_null()
    if values.dtype.is_float():
        missing |= values.is_nan().fill_null(False)
    if missing.any():
        n = int(missing.sum())
        have, them = ("has", "it") if n == 1 else ("have", "them")
        raise TableError(
            f"{values.name} is missing in {rows_counted(n)}, which {have} no place then; leave "
            f"{them} out, or fill in what is missing."
        )


def moments_of(times: pl.Series) -> Rows:
    """The place (n,) of each row's time among the different times, from 0."""
    check_known(times)
    if not (times.dtype.is_temporal() or times.dtype.is_numeric()):
        raise TableError(
            f"{times.name} holds words ({times[0]!r}), whose order is that of the alphabet; give "
            "dates as 2026-01-31, or numbers."
        )
    places: Rows = times.rank("dense").to_numpy().astype(np.int64) - 1
    if places.max() + 1 < LEAST_TIMES:
        raise TableError(
            f"{times.name} has {places.max() + 1} different times, and a split by time takes at "
            f"least {LEAST_TIMES}: two to learn from, one to choose by, one to test on."
        )
    return places


def split_by_time(moments: Rows) -> Three:
    """The rows of the three parts, earliest first; equal times stay together."""
    order = np.argsort(moments, kind="stable")
    wanted = [len(part) for part in train_dev_test_split(order, shuffle=False)]
    changes = _changes(moments[order])
    # The first part needs two moments, and each other part one.
    first = _nearest(changes[1:-1], wanted[0])
    second = _nearest(changes[changes > first], wanted[0] + wanted[1])
    return order[:first], order[first:second], order[second:]


def split_by_group(groups: pl.Series, seed: int) -> Three:
    """The rows of the three parts; equal groups stay together."""
    check_known(groups)
    n_groups = groups.n_unique()
    if n_groups < LEAST_GROUPS:
        only = "1 value" if n_groups == 1 else f"{n_groups} different values"
        raise TableError(
            f"{groups.name} has {only}, and a split by group takes at least {LEAST_GROUPS}: two to "
            "learn from, one to choose by, one to test on."
        )
    names = groups.rank("dense").to_numpy().astype(np.int64)
    everyone = np.arange(len(groups))
    train, dev, test = train_dev_test_split(everyone, groups=names, random_state=seed)
    if len(np.unique(names[train])) < 2:
        share = len(train) / len(groups)
        raise TableError(
            f"{share:.0%} of the rows have the same {groups.name}, {groups[int(train[0])]!r}, so "
            "that there is no other to learn from; split by another column."
        )
    return train, dev, test


def folds_by_time(moments: Rows) -> Folds:
    """Rows in order of time: learned from all that came before, scored on what came next."""
    n, changes = len(moments), _changes(moments)
    n_folds = min(USUAL_FOLDS, n // 4)
    size = n // (n_folds + 1)
    starts = sorted({_nearest(changes, start) for start in range(n - n_folds * size, n, size)})
    return [(np.arange(start), np.arange(start, end)) for start, end in pairwise([*starts, n])]


def number_of_folds(n: int) -> int:
    """How many folds n rows are searched by, if groups and classes allow it.

    >>> [number_of_folds(n) for n in (30, 80, 900, 100_000)]
    [5, 8, 10, 5]
    """
    few = n < FEW_ROWS
    return min(MOST_FOLDS, max(USUAL_FOLDS, n // ROWS_A_FOLD)) if few else USUAL_FOLDS


def folds_of(
    y: NDArray[Any],
    *,
    classes: bool,
    every_class: bool = False,
    groups: Any = None,
    seed: int = 0,
) -> Folds:
    """Folds in which rows of a group stay together, or that have their share of every class.

    A class of fewer rows than there are folds is missing from some of them; with `every_class`
    there are only as many folds as it has rows.
    """
    splitter: Any
    n_folds = number_of_folds(len(y))
    if groups is not None:
        splitter = GroupKFold(min(n_folds, len(np.unique(groups))))
    elif classes:
        counts = np.unique(y, return_counts=True)[1]
        n_folds = max(2, min(n_folds, int(counts.min() if every_class else counts.max())))
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    else:
        splitter = KFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        return list(splitter.split(np.zeros(len(y)), y, groups))


def _changes(moments: Rows) -> Rows:
    """The rows, in order of time, that begin a new moment; not the first."""
    return np.flatnonzero(np.diff(moments)) + 1


def _nearest(places: Rows, wanted: int) -> int:
    return int(places[np.abs(places - wanted).argmin()])
