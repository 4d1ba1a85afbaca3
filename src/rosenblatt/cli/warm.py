"""`rosenblatt warm`: compile all loops ahead of use.

Every estimator is fitted to a handful of rows, in each storage and precision, because that compiles
just what users will need. The fits run in parallel processes and meet in the cache on disk.
"""

import itertools
import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.utils import get_tags

import rosenblatt
from rosenblatt.loops.cache import folder


class Rehearsal(NamedTuple):
    """One small fit."""

    estimator: str
    parameters: dict[str, Any]
    n_classes: int
    dtype: str
    sparse: bool
    n_columns: int = 3


def rehearsals() -> Iterator[Rehearsal]:
    """All fits that together compile all loops: each estimator says which of its parameters do."""
    for name in rosenblatt.__all__:
        estimator = getattr(rosenblatt, name)
        # Some learn in another way from more columns than rows.
        widths = getattr(estimator, "_rehearsed_widths", (3,))
        for parameters in getattr(estimator, "_rehearsals", ()):
            kinds = itertools.product((2, 3), ("float64", "float32"), (False, True), widths)
            for n_classes, dtype, sparse, width in kinds:
                yield Rehearsal(name, parameters, n_classes, dtype, sparse, width)


def rehearse(rehearsal: Rehearsal) -> float:
    """Fit once; return the seconds it took."""
    start = time.perf_counter()
    rng = np.random.RandomState(0)
    X = rng.standard_normal((12, rehearsal.n_columns)).astype(rehearsal.dtype)
    y = np.arange(12) % rehearsal.n_classes
    model = getattr(rosenblatt, rehearsal.estimator)(**rehearsal.parameters)
    if rehearsal.sparse and not get_tags(model).input_tags.sparse:
        return 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # twelve random rows need not converge
        model.fit(sp.csr_matrix(X) if rehearsal.sparse else X, y)
    return time.perf_counter() - start


def warm(jobs: int | None = None) -> None:
    """Rehearse everything in `jobs` processes, with a progress bar."""
    todo = list(rehearsals())
    console, start, before = Console(), time.perf_counter(), len(_compiled_forms())
    columns = (TextColumn("compiling"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Fresh interpreters: a forked one would carry this one's threads and locks.
    workers = ProcessPoolExecutor(jobs or os.cpu_count(), mp_context=get_context("spawn"))
    with workers, Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("compiling", total=len(todo))
        for done in as_completed([workers.submit(rehearse, rehearsal) for rehearsal in todo]):
            done.result()
            progress.advance(bar)
    seconds, new = time.perf_counter() - start, len(_compiled_forms()) - before
    if folder() is None:
        console.print("No folder could be written, so nothing was kept; see `rosenblatt doctor`.")
    elif new:
        console.print(f"{new} forms of loops compiled in {seconds:.1f} s; no first call will wait.")
    else:
        console.print("Nothing to do: all loops were compiled already.")


def _compiled_forms() -> list[Path]:
    """The files that hold compiled loops."""
    path = folder()
    return [] if path is None else list(path.glob("*.nbc"))
