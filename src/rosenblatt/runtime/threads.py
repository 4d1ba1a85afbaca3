"""A small pool of threads for loops that release the interpreter lock.

Work is cut into chunks fixed by the data, never by the number of threads, and results come
back in the order of the chunks: a fit has the same bits on one thread and on eight. The pool
is shared by the whole process, so that callers at once cannot oversubscribe the machine;
it starts at the first large job, and anew in a forked child.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from numbers import Integral
from typing import Any, Generic, TypeVar

__all__ = ["count", "limit", "over_chunks"]

Result = TypeVar("Result")

# Handing a chunk to a thread costs about as long as reading a tenth of this many numbers; a job
# of one chunk never meets the pool.
CELLS_PER_CHUNK = 100_000

_lock, _turn = threading.Lock(), threading.Lock()
_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_limits: dict[object, int] = {}  # those in force, whoever set them
_this_thread = threading.local()


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
        return [work(start, stop) for start, stop in chunks]
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
                self.done[i] = self.work(*self.chunks[i])
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


def start(work: Callable[[], object], most: int) -> list[Future[Any]]:
    """Call `work` in the threads beside the caller's, at most so many, without waiting."""
    pool = None if hasattr(_this_thread, "busy") else _get_pool(count() - 1)
    return [pool.submit(work) for _ in range(min(most, _pool_size))] if pool else []


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


def _forget_pool() -> None:
    """In a forked child the pool's threads do not exist, and its locks may be held by nobody."""
    global _pool, _pool_size, _lock, _turn, _this_thread
    _pool, _pool_size, _this_thread = None, 0, threading.local()
    _lock, _turn = threading.Lock(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
