"""Tables larger than memory: a sample to prepare columns and to choose by, the whole to fit.

What is learned of columns (their kinds, categories, means to fill in) is learned of a sample, which
millions of rows would not change; the model itself is fitted to every row, part by part.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import polars as pl
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from rosenblatt import distributed
from rosenblatt.data import Table
from rosenblatt.data.source import Source
from rosenblatt.distributed.passes import PartRows, Passes
from rosenblatt.registry import ROWS

from .families import FAMILIES
from .fitting import fit_table, whole_problem
from .known_columns import rows_for, targets_of
from .model_catalogue import class_of, families_named
from .model_file import SavedModel

SAMPLE_ROWS = 100_000
KEY = "__key"


class TableSample:
    """Rows of a table at random, and how many there were."""

    def __init__(self, frame: pl.DataFrame, n_rows: int, most: int) -> None:
        self.frame, self.n_rows, self.most = frame.bottom_k(most, by=KEY), n_rows, most

    def __add__(self, other: "TableSample") -> "TableSample":
        frame = pl.concat([self.frame, other.frame], how="vertical_relaxed")
        return TableSample(frame, self.n_rows + other.n_rows, self.most)


def draw_tables(rows: PartRows, seed: int, most: int) -> TableSample | None:
    """A sample of the rows of one part."""
    rng, total = rows.rng(seed), None
    for table in rows.source.tables(rows.part):
        rows.n_rows += len(table)
        frame = table.frame.with_columns(pl.Series(KEY, rng.random(len(table))))
        found = TableSample(frame, len(table), most)
        total = found if total is None else total + found
    return total


def sample_of(
    source: Source, client: Any = None, *, most: int | None = None, seed: int = 0
) -> tuple[Table, int]:
    """A sample of the rows of a source, in random order, and how many rows it has."""
    if source.sparse:
        raise ValueError(
            f"{source.place} holds sparse rows without names: fit them with distributed.fit."
        )
    source.check_repeats("A sample before the fit")
    passes = Passes(None, source, client, None, None)
    found = passes.total(draw_tables, seed, most or SAMPLE_ROWS)
    names = [*source.columns, source.target]
    return Table(found.frame.sort(KEY).select(names), source.place), int(found.n_rows)


class PreparedSource:
    """The features of a source, as the first steps of a pipeline make them."""

    sparse, named = False, False

    def __init__(self, source: Source, stub: SavedModel) -> None:
        self.source, self.stub = source, stub
        self.place, self.target, self.bad = source.place, source.target, source.bad
        self.listed, self.check_repeats = source.listed, source.check_repeats
        before = [step for step in stub.model.steps[:-1] if step[1] != "passthrough"]
        self.before = Pipeline(before) if before else None
        self.columns = list(range(int(stub.model.steps[-1][1].n_features_in_)))

    def parts(self) -> Iterable[Any]:
        """The parts of the source."""
        return self.source.parts()

    def read(self, part: Any) -> Iterator[tuple[Any, Any]]:
        """Features and targets of a part, in batches."""
        for table in self.source.tables(part):
            if self.target is not None and table.frame[self.target].is_null().all():
                continue
            rows, y = targets_of(self.stub, replace(table, name=str(part)))
            X = rows_for(self.stub, rows)
            yield X if self.before is None else self.before.transform(X), y


def fitted_to_all(
    stub: SavedModel, source: Source, n_rows: int, client: Any = None, **options: Any
) -> SavedModel:
    """A model of a sample with its last step fitted to every row of the source."""
    name, last = stub.model.steps[-1]
    prepared = PreparedSource(source, stub)
    whole = distributed.fit(clone(last), prepared, client, **options)  # type: ignore[arg-type]
    model = Pipeline([*stub.model.steps[:-1], (name, whole)])
    return replace(
        stub, model=model, n_rows=n_rows, split="all rows", seed=None, digest=None, certificate=None
    )


def fit_source(
    source: Source,
    model: str,
    settings: list[str] | None = None,
    client: Any = None,
    *,
    task: str | None = None,
    clean_labels: bool = False,
    **options: Any,
) -> SavedModel:
    """Fit a model to all rows of a source that have a target; options as for `distributed.fit`."""
    for family in families_named(model):  # refused before anything is read
        if distributed.way_of(family.make()) == "neighbors":
            raise TypeError(f"{family.name} keeps its rows where they are: no file could hold it.")
    sample, n_rows = sample_of(source, client)
    how: Any = {"task": task, "clean_labels": clean_labels, "certificate": False}
    stub = fit_table(sample, str(source.target), model, settings, **how)
    return fitted_to_all(stub, source, n_rows, client, **options)


def families_by_parts(sample: Table, target: str, task: str | None) -> list[str]:
    """The families for a task that are fitted by parts; forests would grow out, pass after pass."""
    able = {row.name for row in ROWS if row.way and row.way not in ("neighbors", "forest")}
    wanted = whole_problem(sample, target, task).task
    return [f.name for f in FAMILIES if f.task == wanted and class_of(f) in able]


def sentence(n_sample: int, n_rows: int, family: str) -> str:
    """What was chosen by what, and fitted to what."""
    return (
        f"Families were compared on a sample of {n_sample:,} of {n_rows:,} rows, of those that are "
        f"fitted by parts; the scores are of models of the sample. {family} was then fitted to all "
        f"{n_rows:,} rows."
    )
