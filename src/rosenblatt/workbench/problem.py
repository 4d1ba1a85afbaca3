"""What is to be learned from a table: the task, the rows that can be used, and their split."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rosenblatt.data import Column, Table, TableError, columns_of
from rosenblatt.data.errors import shown
from rosenblatt.data.notation import Notation
from rosenblatt.data.parsing import ParsedColumns, parse_columns, parse_written, words_among_numbers

from . import targets
from .row_view import NO_LONGER, dates_in, n_bytes, numbers_in
from .splits import (
    MOST_FOLDS,
    USUAL_FOLDS,
    Folds,
    Rows,
    folds_by_time,
    folds_of,
    number_of_folds,
    split_of,
)
from .texts import CountedTexts

LEAST_ROWS = 20
MOST_BYTES_IN_DOUBLE = 2**27  # of a table whose numbers are told to the last digit in any case
WHAT_GROUPS_DO = "keeps rows together, and is no feature"


@dataclass(frozen=True, eq=False)
class Problem:
    """A table with its target taken out, split into rows to learn from, to look at, and to test on.

    Only the training part is looked at to say what columns hold.
    """

    name: str
    target: str
    task: str  # "classification" or "regression"
    X: Any  # polars.DataFrame, or CSR matrix
    y: NDArray[Any]
    train: Rows
    dev: Rows
    test: Rows
    split: str  # "stratified", "at random", "by group" or "by time"
    groups: NDArray[Any] | None
    random_state: int
    kinds: dict[str, str] = field(default_factory=dict)  # that were given
    hints: tuple[str, ...] = ()
    moments: Rows | None = None  # of each row, if they are split by time: 0 is the earliest
    split_words: str = ""  # by which column, and what the parts hold
    grouped_by: str | None = None  # the column of `groups`
    texts: CountedTexts = field(default_factory=CountedTexts)  # those seen so far
    written: dict[str, Notation] = field(default_factory=dict)  # columns in a notation of people

    def some(self, rows: Rows) -> Any:
        """Return some rows."""
        return self.X[rows]

    def count_texts(self) -> None:
        """Count the words of all rows but those of the test part."""
        for name in (name for name, kind in self.used.items() if kind == "text"):
            self.texts.count(self.X[name][np.concatenate([self.train, self.dev])])

    @cached_property
    def columns(self) -> list[Column]:
        """What the columns of the training part hold, that of the groups first."""
        if not self.is_table:
            return []
        found = [
            replace(column, note=self.written[column.name].note)
            if column.used and column.name in self.written
            else column
            for column in columns_of(self.some(self.train), self.kinds)
        ]
        if self.grouped_by is not None and self.groups is not None:
            n_groups = len(np.unique(self.groups[self.train]))
            found.insert(0, Column(self.grouped_by, "groups", 0, n_groups, WHAT_GROUPS_DO))
        return found

    @property
    def notations(self) -> dict[str, str]:
        """How numbers or dates of some columns are written, by name."""
        return {name: how.code for name, how in self.written.items()}

    @property
    def is_table(self) -> bool:
        """Whether features have names and kinds; else they are a CSR matrix."""
        return isinstance(self.X, pl.DataFrame)

    @cached_property
    def used(self) -> dict[str, str]:
        """The kind of each column that models are given, by name."""
        used = {column.name: column.kind for column in self.columns if column.used}
        if self.is_table and not used:
            if not self.columns:
                raise TableError(
                    f"{self.name} has no column beside {self.target} to learn from: add one."
                )
            why = "; ".join(f"{c.name}: {c.note or c.kind}" for c in self.columns[:5])
            raise TableError(f"{self.name} has no column to learn from ({why}).")
        return used

    @property
    def has_text(self) -> bool:
        """Whether models are given a column of texts."""
        return "text" in self.used.values()

    @property
    def used_by_mixed(self) -> dict[str, str]:
        """The same without texts, which no model of mixed columns reads."""
        return {name: kind for name, kind in self.used.items() if kind != "text"}

    @cached_property
    def no_counts(self) -> str:
        """The first column that models of counts cannot read, and why; nothing if they read all."""
        rows = self.some(self.train)
        for name, kind in self.used.items():
            if kind == "date":
                return f"column {name!r} holds dates"
            if kind == "numeric" and not _are_counts(rows[name].drop_nulls()):
                return f"column {name!r} has negative or fractional values"
        return ""

    @cached_property
    def single(self) -> bool:
        """Whether models are given numbers of 32 bits: of a large table that has no longer ones."""
        if not self.is_table or n_bytes(self.X) <= MOST_BYTES_IN_DOUBLE:
            return False
        kinds = {name: self.X.schema[name] for name in self.used}
        return all(kind in NO_LONGER for kind in kinds.values())

    @cached_property
    def n_classes(self) -> int:
        """How many labels there are in the training part."""
        return len(np.unique(self.y[self.train])) if self.task == "classification" else 0

    def folds(self, every_class: bool = False) -> Folds:
        """Rows to fit to and to score on: pairs of row numbers, all of the training part.

        With `every_class` there are no more folds than the rarest class has rows.
        """
        if self.moments is not None:
            return folds_by_time(self.moments[self.train])
        groups = None if self.groups is None else self.groups[self.train]
        return folds_of(
            self.y[self.train],
            classes=self.task == "classification",
            every_class=every_class,
            groups=groups,
            seed=self.random_state,
        )

    def lack_classes(self, parts: Iterable[Rows]) -> bool:
        """Whether one of some parts of the training rows has no row of a class."""
        if self.task == "regression":
            return False
        y = self.y[self.train]
        codes = np.unique(y, return_inverse=True)[1]  # words take long to compare
        return any(not np.bincount(codes[rows], minlength=self.n_classes).all() for rows in parts)

    def on_folds(self, n_folds: int) -> list[str]:
        """A sentence if there are fewer folds than usual, or more than a class has rows."""
        because, n_rows = self._limit_of_folds()
        if n_rows < n_folds:
            return [f"Some of the {n_folds} folds score on no row of a class: {because}."]
        if not because or n_folds >= USUAL_FOLDS:
            return []
        few = f"{n_folds} folds instead of {USUAL_FOLDS}, as {because}"
        return [f"{few}: families that differ are harder to tell apart."]

    def why_folds(self, n_folds: int) -> str:
        """Why there are not as many folds as usual, in words; nothing if there are."""
        n = len(self.train)
        if n_folds == USUAL_FOLDS:
            return ""
        if n_folds < max(number_of_folds(n), USUAL_FOLDS):
            return f"as {self._limit_of_folds()[0]}"
        size = "fewer than 1,000" if n_folds == MOST_FOLDS else "ten for each"
        return f"as the training part has {n} rows, {size}"

    def _limit_of_folds(self) -> tuple[str, float]:
        """What there may be too little of for more folds, and the rows of the rarest class."""
        for what, of_rows in (("times", self.moments), ("groups", self.groups)):
            if of_rows is not None:
                n = len(np.unique(of_rows[self.train]))
                return f"the training part has {n} {what}", np.inf
        if self.task == "regression":
            return "", np.inf
        labels, counts = np.unique(self.y[self.train], return_counts=True)
        rows = "1 row" if counts.min() == 1 else f"{counts.min()} rows"
        return f"{labels[counts.argmin()]} has {rows} in the training part", counts.min()


def _are_counts(values: pl.Series) -> bool:
    whole = values.dtype.is_integer() or bool((values == values.floor()).all())
    return whole and bool((values >= 0).all())


def problem_of(
    table: Table,
    target: str,
    *,
    task: str | None = None,
    time: str | None = None,
    groups: str | None = None,
    kinds: dict[str, str] | None = None,
    random_state: int = 0,
    clean_labels: bool = False,
) -> Problem:
    """The problem of predicting one column of a table from the others."""
    hints = [table.hint] if table.hint else []
    frame, sparse, values = targets.with_target(table, target, hints, LEAST_ROWS)
    if targets.checked_task(task) is None:
        task = targets.task_of(values)
        if task == "classification" and values.dtype.is_numeric() and values.n_unique() > 2:
            hints.append(
                f"{target} holds {values.n_unique()} different whole numbers, which are taken as "
                "classes; with the task regression they are numbers."
            )
    if task == "classification":
        values = targets.with_plain_labels(values, clean_labels, hints)
        frame, sparse, values = targets.enough_of_each(frame, sparse, values, target, hints)
        targets.check_rows(table, values, LEAST_ROWS)
    assert task is not None
    y = targets.numbers_of(values, target) if task == "regression" else targets.labels_of(values)
    for name in (time, groups):
        if name is not None:
            if table.sparse is not None and name not in table.frame.columns:
                raise TableError(
                    f"A LIBSVM table cannot be split by a column, as its columns have no names; "
                    f"got {name!r}."
                )
            table.column(name)  # which says so if there is none
            if name == target:
                raise TableError(f"{target} is to be predicted, and cannot split the rows as well.")
    split = split_of(
        y,
        classes=task == "classification",
        times=None if time is None else times_of(frame[time]),
        groups=None if groups is None else frame[groups],
        seed=random_state,
    )
    if task == "classification" and len(np.unique(y[split.train])) == 1:
        by = f"by {time}, what came first" if time else f"by {groups}"
        raise TableError(
            f"All {len(split.train):,} rows to learn from have the same {target}, "
            f"{y[split.train[0]]}, when split {by}: other values are in the rows that are kept "
            "back. Give more rows, or split in another way."
        )
    kinds = {name: kind for name, kind in (kinds or {}).items() if name not in (target, groups)}
    written: dict[str, Notation] = {}
    if sparse is None:
        frame = frame.drop([name for name in (target, groups) if name is not None])
        frame, told, written = with_types(table, frame, split.train, kinds)
        hints += told
    return Problem(
        table.name, target, task, frame if sparse is None else sparse, y, split.train, split.dev,
        split.test, split.how, split.groups, random_state, kinds, tuple(hints), split.moments,
        split.words, groups, written=written,
    )  # fmt: skip


def times_of(values: pl.Series) -> pl.Series:
    """Times to split rows by, read if they are written in words."""
    return parse_written(values)[0]


def with_types(
    table: Table, frame: pl.DataFrame, rows: Any, kinds: dict[str, str] | None = None
) -> ParsedColumns:
    """Features whose words are read as the numbers or dates that some rows show, or `kinds` says.

    What is said to be numbers or dates must be such in all rows.
    """
    given, commas = kinds or {}, table.decimal_comma
    written: dict[str, Notation] = {}
    for name, kind in given.items():
        if name not in frame.columns or kind not in ("numeric", "date"):
            continue
        parsed_column, how = parse_written(frame[name], commas, dates=kind == "date")
        if how is not None:
            written[name], frame = how, frame.with_columns(parsed_column)
        (numbers_in if kind == "numeric" else dates_in)(frame[name])  # which may refuse a value
    parsed = parse_columns(frame, rows, commas, table.guessed, given)
    odd = words_among_numbers(parsed.frame, table.frame, commas) if table.guessed else []
    odd += _numbers_with_units(parsed.frame[rows])
    return ParsedColumns(parsed.frame, parsed.hints + odd, written | parsed.written)


# A number and what is not part of it: "12.3 kg", "12.3-".
WITH_A_UNIT = r"^\s*[-+]?\d+(?:[.,]\d+)*\s*(?:[A-Za-zµ°²³/]{1,6}|-)\s*$"


def _numbers_with_units(frame: pl.DataFrame) -> list[str]:
    """Hints at columns of numbers with units, which name rows if nobody takes the units away."""
    hints = []
    for column in columns_of(frame.select(pl.selectors.string())):
        words = frame[column.name].drop_nulls()
        if column.kind == "identifier" and words.str.contains(WITH_A_UNIT).all():
            hints.append(
                f"Column {column.name!r} is left out: {shown(words[0])} is no plain number. Take "
                "away what stands after the numbers, and they are read."
            )
    return hints


# A part of the training rows, for when there is no time to learn from all of them.

SHARE = 1 / 8  # of the rows, and of these, if they are too many still
ENOUGH_ROWS = 100  # to train on that are worth learning from instead of all


def can_be_smaller(problem: Problem) -> bool:
    """Whether a share of the training rows is enough to learn from."""
    return SHARE * len(problem.train) >= ENOUGH_ROWS


def smaller(problem: Problem) -> Iterator[Problem]:
    """The same with fewer and fewer rows to learn from, as a hint says; the seed chooses them.

    The kinds of columns stay those that all training rows show, by which families were chosen.
    """
    part, share = problem, SHARE
    while can_be_smaller(part):
        train, dev = (_drawn(problem, rows, share) for rows in (problem.train, problem.dev))
        if problem.groups is not None and len(np.unique(problem.groups[train])) < 2:
            return
        hint = (
            f"There was no time for all {len(problem.train):,} training and {len(problem.dev):,} "
            f"development rows: {len(train):,} and {len(dev):,} of them were searched. With more "
            "time there may be a better answer."
        )
        part = replace(problem, train=train, dev=dev, hints=(*problem.hints, hint))
        if "columns" in vars(problem):
            vars(part)["columns"] = problem.columns
        yield part
        share *= SHARE


def _drawn(problem: Problem, rows: Rows, share: float) -> Rows:
    classes = problem.y[rows] if problem.task == "classification" else None
    return part_of(rows, share, classes, problem.random_state)


def part_of(rows: Rows, share: float, y: NDArray[Any] | None, seed: int) -> Rows:
    """A share of rows: of each class in y, or, if there are none, spread evenly over all of them.

    >>> part_of(np.arange(100, 112), 0.25, None, 0).tolist()
    [100, 105, 111]
    >>> part_of(np.arange(5), 0.2, np.array([7, 7, 7, 7, 8]), 0)[-1]  # no class is lost
    np.int64(4)
    """
    if y is None:
        return rows[np.linspace(0, len(rows) - 1, ceil(share * len(rows))).astype(np.int64)]
    order = np.random.default_rng(seed).permutation(len(rows))
    _, classes, counts = np.unique(y[order], return_inverse=True, return_counts=True)
    together = np.argsort(classes, kind="stable")
    place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)  # in its class
    kept = together[place < np.repeat(np.ceil(share * counts), counts)]
    return rows[np.sort(order[kept])]
