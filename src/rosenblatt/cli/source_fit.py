"""`rosenblatt fit` of files that may be larger than memory, here or on many workers."""

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from shlex import quote
from typing import Any

import numpy as np

from rosenblatt.data import Source, TableError
from rosenblatt.data.errors import listed
from rosenblatt.workbench.large_sources import fit_source
from rosenblatt.workbench.model_file.files import save_model

from .sentences import print_line
from .tables import MOST_LISTED, Reading

ENGINES = ("here", "processes", "dask")
SECONDS_TO_ANSWER = 10


def fit_by_parts(
    place: str,
    target: str | None,
    model: str,
    settings: list[str] | None,
    reading: Reading,
    where: tuple[str | None, int, str | None],
    out: str,
    how: dict[str, Any],
) -> None:
    """Fit, write the file, and print what is in it."""
    source = Source(place, target=target, format=reading.format)
    if target is None and not source.sparse:
        columns = listed(source.columns, MOST_LISTED)
        raise TableError(f"Name the column to be predicted (--target); {place} has {columns}.")
    with client_for(*where) as client:
        progress = sys.stderr.isatty() or None
        saved = fit_source(source, model, settings, client, progress=progress, **how)
    save_model(saved, out)
    n_parts = len(list(source.parts()))
    parts = "1 part" if n_parts == 1 else f"{n_parts:,} parts"
    print_line(f"{saved.family} fitted to {saved.n_rows:,} rows in {parts}: {out}")
    gap = getattr(saved.model.steps[-1][1], "dual_gap_", None)
    if gap is not None:
        print_line(f"The objective is within {np.max(gap):.3g} of the best possible (duality gap).")
    print_line(f"Next: rosenblatt predict {quote(str(out))} TABLE")


@contextmanager
def client_for(engine: str | None, workers: int, scheduler: str | None) -> Iterator[Any]:
    """What parts are fitted on: nothing but this process, a pool, or a Dask client."""
    if engine not in (None, *ENGINES):
        raise ValueError(f"--engine must be one of {', '.join(ENGINES)}; got {engine}.")
    if scheduler is not None and engine not in (None, "dask"):
        raise ValueError(f"--scheduler is of dask; got --engine {engine}.")
    if scheduler is not None or engine == "dask":
        with _dask(workers, scheduler) as client:
            yield client
    elif engine == "processes":
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            yield pool
    else:
        yield None


@contextmanager
def _dask(workers: int, scheduler: str | None) -> Iterator[Any]:
    distributed = import_module("distributed")  # an extra: the error names it
    if scheduler is None:
        cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
            silence_logs="ERROR",
        )  # fmt: skip
        with cluster, distributed.Client(cluster) as client:
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout=SECONDS_TO_ANSWER)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"The scheduler {scheduler} cannot be reached: {str(error).splitlines()[0]}"
        ) from None
    with client:
        yield client
