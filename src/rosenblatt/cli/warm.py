"""`rosenblatt warm`: compile all loops ahead of use.

The rehearsals run in parallel processes and meet in the cache on disk.
"""

import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from rosenblatt.loops.cache import folder

from .rehearsal import rehearsals, rehearse


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
