"""`rosenblatt fit` of files that may be larger than memory, in this process or on workers."""

import sys
from argparse import Namespace
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
from rosenblatt.workbench.model_file import save_model

from .output import print_line
from .tables import MOST_LISTED

SECONDS_TO_ANSWER = 10


def fit_by_parts(args: Namespace) -> None:
    """Fit, write the file, and print a summary."""
    source = Source(args.table, target=args.target, format=args.format)
    if args.target is None and not source.sparse:
        columns = listed(source.columns, MOST_LISTED)
        raise TableError(f"Give the target column (--target); {args.table} has {columns}.")
    with client_for(args.engine, args.workers, args.scheduler) as client:
        saved = fit_source(
            source, args.model, args.settings, client, progress=sys.stderr.isatty() or None,
            task=args.task, clean_labels=args.clean_labels, checkpoint=args.checkpoint,
        )  # fmt: skip
    save_model(saved, args.out)
    n_parts = len(list(source.parts()))
    parts = "1 part" if n_parts == 1 else f"{n_parts:,} parts"
    print_line(f"{saved.family} fitted to {saved.n_rows:,} rows in {parts}: {args.out}")
    gap = getattr(saved.model.steps[-1][1], "dual_gap_", None)
    if gap is not None:
        print_line(f"The objective is within {np.max(gap):.3g} of the best possible (duality gap).")
    print_line(f"Next: rosenblatt predict {quote(args.out)} TABLE")


@contextmanager
def client_for(engine: str | None, workers: int, scheduler: str | None) -> Iterator[Any]:
    """Yield the workers that fit the parts: None for this process, a pool, or a Dask client."""
    if scheduler is not None and engine not in (None, "dask"):
        raise ValueError(f"--scheduler requires --engine dask; got --engine {engine}.")
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
    distributed = import_module("distributed")  # optional dependency
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
