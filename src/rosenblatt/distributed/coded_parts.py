"""Rows of parts as levels of their columns, for trees that grow by passes; workers keep them."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.ensemble.boosted_trees import ROWS_FOR_QUANTILES, code
from rosenblatt.statistics import ClassCounts

from .census import codes_of
from .passes import PartRows
from .sums import Sample, Sums

Array = NDArray[np.float64]
MISSING = 255  # the level of a value that is missing
BYTES_KEPT = 2**28  # of coded rows, in one process

KEPT: OrderedDict[tuple[str, int], tuple[Any, int]] = OrderedDict()


def sample_rows(rows: PartRows, seed: int, classifies: bool, missing: bool = True) -> Any:
    """A sample of rows, to place the levels by; counts of classes, or number and sum of targets."""
    rng, total = rows.rng(seed), None
    for X, y in rows.tables(missing):
        sample = Sample(rng.random(len(y)), X, y, ROWS_FOR_QUANTILES)
        targets = ClassCounts.of(y) if classifies else np.array([len(y), np.sum(y, dtype=float)])
        found = Sums(sample=sample, targets=targets)
        total = found if total is None else total + found
    return total


def read_coded(
    rows: PartRows, cuts: Array, classes: NDArray[Any] | None
) -> tuple[NDArray[np.uint64], Array]:
    """The codes (blocks, n) of the rows of a part, and their targets, classes by number."""
    codes, targets = [], []
    for X, y in rows.tables(missing=True):
        codes.append(code(np.asarray(X, np.float64), cuts))
        targets.append(y if classes is None else codes_of(classes, y))
    blocks = -(-len(cuts) // 8)
    together = np.concatenate([np.empty((blocks, 0), np.uint64), *codes], axis=1)
    return together, np.concatenate([np.empty(0), *targets]).astype(np.float64)


def taken(job: str, rows: PartRows, make: Callable[[], Any]) -> Any:
    """What this process keeps of a part, which is then no longer kept; else it is made anew."""
    known = KEPT.pop((job, rows.number), None)
    return make() if known is None else known[0]


def keep(job: str, rows: PartRows, known: Any, n_bytes: int) -> None:
    """Keep something of a part until there is too much; what was used long ago goes first."""
    KEPT[job, rows.number] = known, n_bytes
    while sum(size for _, size in KEPT.values()) > BYTES_KEPT:
        KEPT.popitem(last=False)
