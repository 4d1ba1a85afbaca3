"""Threads: a pool for loops that release the interpreter lock, BLAS on one thread, long calls.

The pool cuts work into chunks that depend on the data, never on the number of threads, and returns
results in the order of the chunks: a fit has the same bits on one thread and on eight. The whole
process shares the pool, so that simultaneous callers cannot oversubscribe the machine; it starts
at the first large job, and anew in a forked child.

BLAS has one number of threads for the whole process. Fits that set it to one are counted: the first
sets it, and the last restores it.

Python delivers Ctrl-C to the main thread only, and not during a long call into a library:
`interruptible` makes such a call in another thread.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from numbers import Integral
from typing import Any, Generic, TypeVar

from threadpoolctl import ThreadpoolController

from . import deadline

__all__ = ["count", "interruptible", "limit", "one_blas_thread", "over_chunks"]

Result = TypeVar("Result")

# Handing a chunk to a thread costs about as long as reading a tenth of this many numbers; a job
# of one chunk never meets the pool.
CELLS_PER_CHUNK = 100_000

_lock, _turn = threading.Lock(), threading.Lock()
_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_limits: dict[object, int] = {}  # those in force, whoever set them
_this_thread = threading.local()

_blas_lock = threading.Lock()
_n_blas_users = 0
_n_blas_threads: list[int] | None = None  # of each library, to be restored

MANY_UNKNOWNS = 1000  # from which a decomposition takes tenths of a second
SECONDS_UNHEARD = 0.2  # on systems where waiting itself cannot be interrupted


def count() -> int:
    """Return how many threads a large job may use.

    The least of: the cores this process may run on, ``ROSENBLATT_NUM_THREADS``,
    ``OMP_NUM_THREADS`` (which joblib sets in its workers, so that a search over processes
    does not start more threads than cores), and every :func:`limit` in force.

    Examples
    --------
    >>> from rosenblatt import threads
    >>> threads.count() >= 1
    True
    """
    settings = (os.environ.get(name) for name in ("ROSENBLATT_NUM_THREADS", "OMP_NUM_THREADS"))
    asked = [int(setting) for setting in settings if setting and setting.isdecimal()]
    return max(1, min([_cores(), *asked, *list(_limits.values())]))


@contextmanager
def limit(n_threads: Any) -> Iterator[None]:
    """Let large jobs use at most this many threads, in the whole process, until the end.

    Parameters
    ----------
    n_threads : the most threads; 1 means none but the caller's own.

    Examples
    --------
    >>> from rosenblatt import threads
    >>> with threads.limit(1):
    ...     threads.count()
    1
    """
    if not isinstance(n_threads, Integral) or n_threads < 1:
        raise ValueError(f"n_threads must be an integer >= 1; got {n_threads!r}.")
    token = object()
    _limits[token] = int(n_threads)
    try:
        yield
    finally:
        del _limits[token]


def over_chunks(work: Callable[[int, int], Result], n_rows: int, cells: int) -> list[Result]:
    """Call ``work(start, stop)`` on every chunk of rows; return the results in order.

    Parameters
    ----------
    work : a function of a range of rows; it must release the lock to gain anything.
    n_rows : how many rows there are.
    cells : how many numbers they hold in all; it decides the size of the chunks.

    Returns
    -------
    results : what `work` returned for each chunk, first rows first.

    Examples
    --------
    >>> from rosenblatt import threads
    >>> threads.over_chunks(lambda start, stop: stop - start, n_rows=10, cells=40)
    [10]
    """
    size = max(1, CELLS_PER_CHUNK * n_rows // max(cells, 1))
    chunks = [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    # A job inside a job runs where it is: a pool that waits for itself never ends.
    alone = len(chunks) < 2 or hasattr(_this_thread, "busy") or count() == 1
    if alone:
        return [_in_time(work, *chunk) for chunk in chunks]
    with _turn:  # the caller works, too: of several, one at a time
        return _Job(work, chunks).lead()


class _Job(Generic[Result]):
    """Chunks that the caller and the pool's threads take in turn."""

    def __init__(self, work: Callable[[int, int], Result], chunks: list[tuple[int, int]]) -> None:
        self.work, self.chunks = work, chunks
        self.todo = deque(range(len(chunks)))
        self.done: dict[int, Result] = {}
        self.errors: dict[int, BaseException] = {}

    def lead(self) -> list[Result]:
        """Do the chunks with the help of those threads that come in time; return the results."""
        helpers = start(self.run, len(self.chunks) - 1)
        try:
            _this_thread.busy = True
            self.run()
            for helper in helpers:
                if not helper.cancel():
                    _result(helper)
        finally:
            self.todo.clear()
            vars(_this_thread).pop("busy", None)
        return self.results()

    def run(self) -> None:
        """Take chunks until there are none."""
        while self.todo:
            try:
                i = self.todo.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                self.done[i] = _in_time(self.work, *self.chunks[i])
            except BaseException as error:
                self.errors[i] = error
                self.todo.clear()
                if isinstance(error, KeyboardInterrupt):
                    raise

    def results(self) -> list[Result]:
        """What the chunks returned, in order; raises the first error."""
        for i in sorted(self.errors):
            raise self.errors[i]
        return [self.done[i] for i in range(len(self.chunks))]


def _in_time(work: Callable[[int, int], Result], start: int, stop: int) -> Result:
    """Work on a chunk, unless the deadline has passed."""
    if deadline.END.get() is not None:
        deadline.check()
    return work(start, stop)


def start(work: Callable[[], object], most: int) -> list[Future[Any]]:
    """Call `work` in the threads beside the caller's, at most so many, without waiting.

    Each call runs in a copy of the caller's context, which has its deadline.
    """
    pool = None if hasattr(_this_thread, "busy") else _get_pool(count() - 1)
    n_calls = min(most, _pool_size) if pool else 0
    return [pool.submit(copy_context().run, work) for _ in range(n_calls)] if pool else []


def _result(future: Future[Result]) -> Result:
    """Wait for a job in short steps: between them an interrupt takes effect; return its result."""
    while True:
        try:
            return future.result(timeout=0.2)
        except TimeoutError:
            if future.done():
                return future.result()


def _cores() -> int:
    """The cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _get_pool(size: int) -> ThreadPoolExecutor | None:
    """The process's pool of `size` threads beside the caller's; None when there are none."""
    global _pool, _pool_size
    if size == 0:
        return None
    with _lock:
        if _pool is None or _pool_size != size:
            # A pool of another size is left to finish what it was given.
            _pool = ThreadPoolExecutor(size, "rosenblatt", initializer=_mark_busy)
            _pool_size = size
        return _pool


def _mark_busy() -> None:
    _this_thread.busy = True


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread: the chunks have threads of their own, and bits must not depend."""
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _n_blas_users, _n_blas_threads
    with _blas_lock:
        if _n_blas_users == 0:
            if _n_blas_threads is None:  # else a fork has left what it found
                _n_blas_threads = [library.get_num_threads() for library in _libraries()]
            for library, n_threads in zip(_libraries(), _n_blas_threads, strict=True):
                if n_threads != 1:
                    _set(library, 1)
        _n_blas_users += 1


def _leave() -> None:
    global _n_blas_users, _n_blas_threads
    with _blas_lock:
        _n_blas_users = max(0, _n_blas_users - 1)
        if _n_blas_users == 0 and _n_blas_threads is not None:
            for library, n_threads in zip(_libraries(), _n_blas_threads, strict=True):
                if n_threads != 1:
                    _set(library, n_threads)
            _n_blas_threads = None


def _set(library: Any, n_threads: int) -> None:
    # threadpoolctl heeds only the thread that came first; here one at a time speaks for all.
    forget = getattr(library, "clear_controlling_thread", lambda force: None)
    forget(force=True)
    library.set_num_threads(n_threads)
    forget(force=True)


@cache
def _libraries() -> list[Any]:
    """The BLAS libraries of the process. Finding them takes milliseconds, so it is done once."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def interruptible(work: Callable[[], Result], long: bool = True) -> Result:
    """Return what one long call returns that cannot be cut in pieces, unless it is stopped.

    The call is made in a thread of its own: the main thread gets Ctrl-C and checks the deadline
    meanwhile. After one of them the thread goes on to the end of the call, and its result is lost.

    Parameters
    ----------
    work : a function that releases the lock, as those of LAPACK do.
    long : whether it takes long; else it is called in place, which costs nothing.

    Examples
    --------
    >>> from rosenblatt.runtime.threads import interruptible
    >>> interruptible(lambda: 2 + 2)
    4
    """
    if not long or threading.current_thread() is not threading.main_thread():
        return work()  # soon done; or no signal comes here
    done: Future[Result] = Future()
    settings = copy_context()  # among them what NumPy does about overflow

    def run() -> None:
        try:
            done.set_result(settings.run(work))
        except BaseException as error:
            done.set_exception(error)

    thread = threading.Thread(target=run, name="rosenblatt-long-call", daemon=True)
    thread.start()
    while thread.is_alive():
        if deadline.END.get() is not None:
            deadline.check()
        thread.join(SECONDS_UNHEARD)
    return done.result()


def _reset_after_fork() -> None:
    """In a forked child the pool's threads do not exist, and its locks may be held by nobody."""
    global _pool, _pool_size, _lock, _turn, _this_thread, _blas_lock, _n_blas_users
    _pool, _pool_size, _this_thread = None, 0, threading.local()
    _lock, _turn = threading.Lock(), threading.Lock()
    _blas_lock, _n_blas_users = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
