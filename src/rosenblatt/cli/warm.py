"""`rosenblatt warm`: compile all loops in advance.

Small fits run in parallel processes, which share the cache on disk. A note next to the compiled
loops lists them with a hash of the source code, so that a second call has nothing to do.
"""

import hashlib
import itertools
import os
import signal
import time
import warnings
from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from importlib import import_module
from multiprocessing import active_children, get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.utils import get_tags

from rosenblatt.loops.cache import folder
from rosenblatt.registry import ROWS, row_of

NOTE = "warm.txt"
MINUTES_OF_CPU = 3  # with an empty cache and idle cores
NOTHING_TO_DO = "Nothing to do: all loops are already compiled."


def run(args: Namespace) -> None:
    """Compile all loops in `--jobs` processes."""
    warm(args.jobs)


def warm(jobs: int | None = None) -> None:
    """Compile all loops in `jobs` processes, with a progress bar."""
    if is_warm():
        Console().print(NOTHING_TO_DO)
        return
    todo = list(rehearsals())
    console, start, before = Console(), time.perf_counter(), len(_compiled_forms())
    jobs = jobs or os.cpu_count() or 1
    minutes = max(1, round(MINUTES_OF_CPU / jobs))
    console.print(
        f"Compiling the inner loops by {len(todo)} small fits in {jobs} "
        f"process{'es' if jobs > 1 else ''}: about {minutes} minute{'s' if minutes > 1 else ''}."
    )
    _rehearse_all(todo, jobs, console)
    _take_note()
    seconds, new = time.perf_counter() - start, len(_compiled_forms()) - before
    if folder() is None:
        console.print("Nothing was kept, as no folder is writable; see `rosenblatt doctor`.")
    elif new:
        console.print(f"{new} functions compiled in {seconds:.1f} s.")
    else:
        console.print(NOTHING_TO_DO)


def _rehearse_all(todo: "list[Rehearsal]", jobs: int, console: Console) -> None:
    """Run all rehearsals in parallel processes; show a bar, or a line for each tenth."""
    columns = (TextColumn("compiling"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Fresh interpreters: a forked one would carry this one's threads and locks.
    workers = ProcessPoolExecutor(jobs, get_context("spawn"), _ignore_interrupts)
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("compiling", total=len(todo))
        try:
            submitted = [workers.submit(rehearse, rehearsal) for rehearsal in todo]
            for n_done, done in enumerate(as_completed(submitted), 1):
                done.result()
                progress.advance(bar)
                tenth = 10 * n_done // len(todo)
                if not console.is_terminal and tenth > 10 * (n_done - 1) // len(todo):
                    console.print(f"{10 * tenth}% after {progress.tasks[0].elapsed:.0f} s")
            workers.shutdown()
        except BaseException:
            workers.shutdown(wait=False, cancel_futures=True)
            for process in active_children():
                process.terminate()
            console.print("Compiled loops are kept; `rosenblatt warm` continues with the others.")
            raise


def _ignore_interrupts() -> None:
    """In a worker, leave Ctrl-C to the main process, which ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def is_warm() -> bool:
    """Return True if this source code was compiled and its compiled loops are still there."""
    path = folder()
    try:
        source, *forms = [] if path is None else (path / NOTE).read_text("utf-8").splitlines()
    except (OSError, ValueError):  # no note, or an empty one
        return False
    return source == _source() and set(forms) <= {form.name for form in _compiled_forms()}


def _take_note() -> None:
    """Record the compiled loops and the hash of the source code."""
    path = folder()
    if path is not None:
        names = sorted(form.name for form in _compiled_forms())
        (path / NOTE).write_text("\n".join([_source(), *names]), "utf-8")


def _source() -> str:
    """Return a hash of the source code of the package."""
    found = hashlib.sha256()
    root = Path(__file__).parents[1]
    for file in sorted(root.rglob("*.py")):
        found.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


def _compiled_forms() -> list[Path]:
    """Return the files of compiled loops."""
    path = folder()
    return [] if path is None else list(path.glob("*.nbc"))


# Small jobs that together compile all loops.
#
# Every estimator is fitted to a few rows, in each storage and precision. Additive estimators are
# also updated and applied, on few rows and on many, because large jobs use loops where small ones
# use NumPy.


FEW, REPEATED = 600, 115  # rows, and how often they come to make a table of over a million numbers
A_FEW = 50  # of which products are summed one by one
N_COLUMNS = 16
LARGE_COUNT = 10_000  # so large that sums of many do not fit into 32 bits
TEXTS = ["to be or not to be", "that is the question"]
MAIL = b"Subject: hello\nContent-Type: text/html\n\n<p>Hello</p>"
ANSWERS = ("predict", "predict_log_proba", "score_samples", "transform", "inverse_transform")


class Rehearsal(NamedTuple):
    """One estimator, on rows of one kind."""

    estimator: str
    parameters: dict[str, Any]
    n_classes: int
    dtype: str
    sparse: bool
    n_columns: int = 3
    large: str = ""  # a function that runs the loops of large tables


def rehearsals() -> Iterator[Rehearsal]:
    """Yield all rehearsals; rows of the registry list the settings that use other loops."""
    for row in ROWS:
        if row.warm:
            dtypes = ("float64", "float32", *(("int64",) if row.additive else ()))
            storages = (False, True) if row.warm.sparse else (False,)
            for settings in row.warm.settings:
                kinds = itertools.product((2, 3), dtypes, storages, row.warm.widths)
                for n_classes, dtype, sparse, width in kinds:
                    yield Rehearsal(
                        row.name, settings, n_classes, dtype, sparse, width, row.warm.large
                    )
    yield Rehearsal("SpamFilter", {}, 2, "", sparse=False)


def rehearse(rehearsal: Rehearsal) -> float:
    """Run it once; return the seconds it took."""
    start = time.perf_counter()
    if rehearsal.estimator == "SpamFilter":
        _filter_mail()
        return time.perf_counter() - start
    row = row_of(rehearsal.estimator)
    model = row.estimator(**rehearsal.parameters)
    tags = get_tags(model)
    one_against_one = tags.classifier_tags is not None and not tags.classifier_tags.multi_class
    if (rehearsal.sparse and not tags.input_tags.sparse) or (
        rehearsal.n_classes > 2 and one_against_one
    ):
        return 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # random rows need not converge, nor make sense
        (_use_statistics if row.additive else _fit)(model, rehearsal)
    return time.perf_counter() - start


def _filter_mail() -> None:
    """Learn and classify a message with the loops of large batches."""
    from rosenblatt.spam.batch_learning import BatchLearner
    from rosenblatt.spam.batch_scoring import BatchScorer
    from rosenblatt.spam.spam_filter import SpamFilter, lesson_of

    with TemporaryDirectory() as folder, SpamFilter(f"{folder}/spam.db") as spam_filter:
        lesson, message = lesson_of(MAIL, 1)
        BatchLearner(spam_filter.store).learn([(lesson, message)])
        BatchScorer(spam_filter.store, spam_filter.model).probabilities([message])


def _fit(model: Any, rehearsal: Rehearsal) -> None:
    """Fit to a dozen rows, or texts, and apply the model to them."""
    tags = get_tags(model).input_tags
    if tags.string and not tags.two_d_array:
        model.set_params(dtype=rehearsal.dtype).fit(TEXTS).transform(TEXTS)
        return
    X = np.random.RandomState(0).standard_normal((12, rehearsal.n_columns))
    X = X.astype(rehearsal.dtype)
    X[1] = X[0]  # under another label, so that nothing separates the classes and fits go on
    y = np.arange(12) % rehearsal.n_classes
    X = sp.csr_matrix(X) if rehearsal.sparse else X
    model.fit(X, y)
    for name in ("predict", "transform"):
        if hasattr(model, name):
            getattr(model, name)(X)
    if rehearsal.large:
        module, _, name = rehearsal.large.rpartition(".")
        getattr(import_module(f"rosenblatt.{module}"), name)(model, X, y)


def _use_statistics(model: Any, rehearsal: Rehearsal) -> None:
    """Fit, update, forget and predict, on tables and weights of all kinds."""
    rng = np.random.RandomState(0)
    few = rng.poisson(1.0, (FEW, N_COLUMNS)).astype(rehearsal.dtype)
    many = np.tile(few, (REPEATED, 1))
    y = np.arange(FEW) % rehearsal.n_classes
    if rehearsal.sparse:
        for weight in (None, np.full(FEW, 0.5)):  # zeros are not stored, nor shifted by centers
            model.fit(sp.csr_matrix(np.where(few > 2, few, 0)), y, weight)
        few, many = sp.csr_matrix(few + 1), sp.csr_matrix(many + 1)
    labels = np.tile(y, REPEATED)
    model.fit(many * LARGE_COUNT, labels)
    model.fit(few * 0.5, y)
    for n, row_weight in ((FEW, 0.5), (FEW, 2.0), (A_FEW, 0.5)):
        model.fit(few[:n], y[:n], np.full(n, row_weight))
    model.fit(few[:A_FEW], y[:A_FEW])
    for row_weight in (0.5, 5.0 * LARGE_COUNT):
        model.fit(many, labels, np.full(len(labels), row_weight))
    model.fit(many[:, 1:], labels)  # a chunk of narrow rows has more of them than 16 bits count
    model.fit(many, labels)
    with suppress(ValueError):  # minima and maxima cannot be forgotten
        model.partial_fit(few, y).forget(few, y)
    with suppress(ValueError):
        model.partial_fit(few * 0.5, y).forget(few * 0.5, y)
    for name in ANSWERS:
        if hasattr(model, name):
            getattr(model, name)(many)
