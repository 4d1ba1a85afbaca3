"""Passes over the parts of a source: map each to a statistic, merge these in a tree.

`Passes.total(work, *state)` is the one mechanism of every fit by parts: `state` is sent to all
parts, ``work(rows, *state)`` makes a statistic of each, and their sum is returned.
"""

import functools
import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rosenblatt.base import warn
from rosenblatt.data import TableError
from rosenblatt.data.schema import LEFT_OUT
from rosenblatt.data.source import Part, Source

from .checkpoints import Checkpoint
from .engines import check_client, mapped
from .sums import MergeTree, Sums, merged

LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Progress:
    """How far a pass over a source is: parts done, rows read, seconds taken and seconds left.

    Examples
    --------
    >>> from rosenblatt.distributed import Progress
    >>> print(Progress(number=1, n_done=3, n_parts=4, n_rows=600, seconds=6.0, n_read=3))
    pass 1, part 3 of 4, 100 rows a second, 2 s left in it
    """

    number: int  # of the pass, from 1
    n_done: int  # parts
    n_parts: int | None  # None in the first pass over batches that come one by one
    n_rows: int  # read in this pass
    seconds: float  # since it began
    n_read: int  # parts read since then: fewer than are done if it was resumed

    @property
    def rows_per_second(self) -> float:
        """The speed of this pass so far."""
        return self.n_rows / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float:
        """When this pass will end, if it goes on as fast; no number if nobody has counted parts."""
        if self.n_parts is None:
            return float("nan")
        return (self.n_parts - self.n_done) * self.seconds / max(self.n_read, 1)

    def __str__(self) -> str:
        of, left = "", ""
        if self.n_parts is not None:
            of, left = f" of {self.n_parts}", f", {self.seconds_left:.0f} s left in it"
        speed = f"{self.rows_per_second:,.0f} rows a second"
        return f"pass {self.number}, part {self.n_done}{of}, {speed}{left}"


class Numbered(NamedTuple):
    """A part, and its place among all."""

    number: int
    part: Part

    def __str__(self) -> str:
        return str(self.part)


class PartRows:
    """The rows of one part, in batches, as the function of a pass receives them."""

    def __init__(self, source: Source, numbered: Numbered) -> None:
        self.source, (self.number, self.part) = source, numbered
        self.n_rows = 0

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Frames or CSR matrices, and their targets."""
        for X, y in self.source.read(self.part):
            self.n_rows += X.shape[0]
            yield X, y

    def tables(self, missing: bool = False) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Arrays of finite floats or CSR matrices, and their targets."""
        for X, y in self:
            yield self._numbers(X, missing), y

    def summed(self, measure: Callable[[Any, Any], Any]) -> Any:
        """The sum of ``measure(X, y)`` over batches of numbers; None if there are no rows."""
        return merged(measure(X, y) for X, y in self.tables())

    def rng(self, *seed: int) -> np.random.Generator:
        """Random numbers that depend on the seed and the part alone."""
        return np.random.default_rng([*seed, self.number])

    def _numbers(self, X: Any, missing: bool) -> Any:
        if sp.issparse(X):
            return X.tocsr()
        if isinstance(X, np.ndarray):
            return np.ascontiguousarray(X)
        words = [name for name, kind in X.schema.items() if not _is_number(kind)]
        if words:
            raise TableError(
                f"{self.part}: column {words[0]!r} holds {X.schema[words[0]]}, and this model "
                "reads numbers. Name the columns to learn from, or encode it."
            )
        table = np.ascontiguousarray(X.to_numpy())  # a quarter faster than to_numpy(order="c")
        table = table if table.dtype == np.float32 else table.astype(np.float64, copy=False)
        if not missing and not np.isfinite(table.sum()):
            _refuse_missing(self.part, table, X.columns)
        return table


def written(path: str) -> tuple[int, int] | None:
    """The size of a file and when it was written; None if there is none."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _is_number(kind: Any) -> bool:
    return bool(kind.is_numeric() or kind == "Boolean")


def _refuse_missing(part: Part, table: NDArray[Any], names: list[str]) -> None:
    """Name the first number that is none; sums of very large numbers are none either."""
    wrong = np.argwhere(~np.isfinite(table))
    if len(wrong):
        i, j = wrong[0]
        raise TableError(
            f"{part}: column {names[j]!r} holds {table[i, j]}, and this model reads finite "
            "numbers. Fill in what is missing before the fit."
        )


class Passes:
    """The passes of one fit over all parts of its source."""

    def __init__(
        self, model: Any, source: Source, client: Any, checkpoint: Any, progress: Any
    ) -> None:
        check_client(client)
        self.model, self.source, self.client = model, source, client
        # Places in files are listed once; batches come anew in each pass.
        parts = list(source.parts()) if source.listed else None
        self.places = None if parts is None else list(map(Numbered, itertools.count(), parts))
        self.n_parts = None if parts is None else len(parts)
        self.files = {path: written(path) for path in {part.path for part in parts or ()}}
        self.progress = _printed if progress is True else progress
        self.kept = None
        if checkpoint is not None:
            self.kept = Checkpoint(checkpoint, model, source, parts)
        self.n_passes, self.skipped = 0, set[str]()

    def seed(self) -> int:
        """The model's seed as a number; one that was drawn is the same in a resumed fit."""
        state = self.model.random_state
        if isinstance(state, int | np.integer):
            return int(state)
        drawn = int(check_random_state(state).randint(LARGEST_SEED))
        return drawn if self.kept is None else self.kept.seed(drawn)

    def total(self, work: Callable[..., Any], *state: Any) -> Any:
        """The sum of ``work(rows, *state)`` over all parts; None counts nothing."""
        self.n_passes += 1
        tree = MergeTree()
        if self.kept is not None:
            known = self.kept.total(self.n_passes)
            if known is not None:
                return known
            tree = self.kept.resumed(self.n_passes)
        for statistic in self._measured(work, state, tree.n_added):
            tree.add(statistic)
            if self.kept is not None:
                self.kept.save(self.n_passes, tree)
        self._check_files()
        total = tree.total()
        if total is None:
            raise TableError(f"{self.source.place} has no rows.")
        if self.kept is not None:
            self.kept.end(self.n_passes, total)
        return total

    def _check_files(self) -> None:
        """Raise if a file changed: passes over different rows have no common optimum."""
        for path, before in self.files.items():
            if written(path) != before:
                raise TableError(f"{path} was written or removed during the fit: fit again.")

    def condensed(self, compute: Callable[[], Sums]) -> Sums:
        """What a function makes of some passes; a checkpoint keeps it in place of their totals."""
        first = self.n_passes + 1
        known = None if self.kept is None else self.kept.condensed(first)
        if known is not None:
            found, self.n_passes = known
            return Sums(found)
        result = compute()
        if self.kept is not None:
            self.kept.condense(first, self.n_passes, result)
        return result

    def _measured(self, work: Any, state: Any, first: int) -> Iterator[Any]:
        """The statistics of the parts from one on, each reported after it was taken."""
        began, n_rows, n_read = time.monotonic(), 0, 0
        measure = functools.partial(measured, work, self.source)
        outcomes = mapped(measure, state, self._parts_from(first), self.client)
        for n_read, (statistic, more, left_out) in enumerate(outcomes, 1):
            for sentence in left_out:
                self._warn(sentence)
            yield statistic
            n_rows += more
            if self.progress is not None:
                seconds = time.monotonic() - began
                self.progress(
                    Progress(self.n_passes, first + n_read, self.n_parts, n_rows, seconds, n_read)
                )
        self.n_parts = first + n_read

    def _parts_from(self, first: int) -> Iterable[Numbered]:
        """The parts from one on."""
        if self.places is not None:
            return self.places[first:]
        return itertools.islice(map(Numbered, itertools.count(), self.source.parts()), first, None)

    def _warn(self, sentence: str) -> None:
        """Warn of a part, or of rows, that were left out, in the first pass that meets them."""
        if sentence not in self.skipped:
            self.skipped.add(sentence)
            warn(f"Left out: {sentence}")

    def publish_columns(self, model: Any) -> None:
        """Publish how many columns there are, and their names if they have any."""
        model.n_features_in_ = len(self.source.columns)
        if self.source.named and not self.source.sparse:
            model.feature_names_in_ = np.array(self.source.columns, dtype=object)


def measured(work: Any, source: Source, numbered: Numbered, state: Any) -> Any:
    """The statistic of a part, the number of its rows, what was left out; or what is wrong."""
    rows, left_out = PartRows(source, numbered), list[str]()
    collecting = LEFT_OUT.set(left_out)
    try:
        return work(rows, *state), rows.n_rows, left_out
    except TableError as error:
        wrong = error
    except ValueError as error:
        wrong = TableError(f"{numbered}: {error}")
    finally:
        LEFT_OUT.reset(collecting)
    return (None, 0, [str(wrong)]) if source.bad == "skip" else wrong


def _printed(progress: Progress) -> None:
    end = "\n" if progress.n_done == progress.n_parts else ""
    print(f"\r{progress}", end=end, file=sys.stderr, flush=True)
