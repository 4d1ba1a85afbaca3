"""`rosenblatt warm`: compile all loops ahead of use.

The rehearsals run in parallel processes and meet in the cache on disk. Beside the compiled loops a
note is kept of which there were and of the code that asked for them, so that a second call can
tell at a glance that there is nothing to do.
"""

import hashlib
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from rosenblatt.loops.cache import folder

from .rehearsal import rehearsals, rehearse

NOTE = "warm.txt"
NOTHING_TO_DO = "Nothing to do: all loops were compiled already."


def warm(jobs: int | None = None) -> None:
    """Rehearse everything in `jobs` processes, with a progress bar; nothing if that was done."""
    if is_warm():
        Console().print(NOTHING_TO_DO)
        return
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
    _take_note()
    seconds, new = time.perf_counter() - start, len(_compiled_forms()) - before
    if folder() is None:
        console.print("No folder could be written, so nothing was kept; see `rosenblatt doctor`.")
    elif new:
        console.print(f"{new} forms of loops compiled in {seconds:.1f} s; no first call will wait.")
    else:
        console.print(NOTHING_TO_DO)


def is_warm() -> bool:
    """Whether this very code was rehearsed, and all that was compiled then is still there."""
    path = folder()
    try:
        source, *forms = [] if path is None else (path / NOTE).read_text("utf-8").splitlines()
    except (OSError, ValueError):  # no note, or an empty one
        return False
    return source == _source() and set(forms) <= {form.name for form in _compiled_forms()}


def _take_note() -> None:
    """Write down what is compiled now, and for which code."""
    path = folder()
    if path is not None:
        names = sorted(form.name for form in _compiled_forms())
        (path / NOTE).write_text("\n".join([_source(), *names]), "utf-8")


def _source() -> str:
    """A digest of the package: any change may ask for other forms of loops."""
    found = hashlib.sha256()
    root = Path(__file__).parents[1]
    for file in sorted(root.rglob("*.py")):
        found.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


def _compiled_forms() -> list[Path]:
    """The files that hold compiled loops."""
    path = folder()
    return [] if path is None else list(path.glob("*.nbc"))
