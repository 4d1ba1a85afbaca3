"""Where parts are worked on: in this process, on a pool of processes, or on a Dask cluster."""

import functools
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import suppress
from importlib.metadata import version
from itertools import chain, islice
from typing import Any

from rosenblatt.data import TableError

TRIES = 3  # of a part
AT_ONCE = 16  # parts that are sent with their rows, or to a pool before the first is taken back
SECONDS_TO_ANSWER = 60
MUST_AGREE = ("rosenblatt", "numpy")


def check_client(client: Any) -> None:
    """Refuse what is no engine, and workers that cannot do the work, by name."""
    if client is None:
        return
    if isinstance(client, Executor):
        _check_pool(client)
        return
    if not hasattr(client, "map") or not hasattr(client, "nthreads"):
        raise TypeError(
            "client must be None, a concurrent.futures executor or a Dask Client; got "
            f"{type(client).__name__}."
        )
    if getattr(client, "status", "running") == "closed":
        raise ValueError("The Dask client is closed: make a new one.")
    if not client.nthreads():
        _wait_for_a_worker(client)
    # The function is Python's own, so that a worker without the package can run it.
    asked = [
        (address, package, client.submit(version, package, workers=[address], pure=False))
        for address in client.nthreads()
        for package in MUST_AGREE
    ]
    for address, package, answer in asked:
        _check_worker(address, package, answer)


def _check_pool(pool: Executor) -> None:
    """Refuse processes that would wait forever: a fork has the locks of polars, not its threads."""
    context: Any = getattr(pool, "_mp_context", None)
    if isinstance(pool, ProcessPoolExecutor) and context.get_start_method() == "fork":
        raise ValueError(
            "This pool forks its processes, in which polars would wait forever: make it with "
            'ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")).'
        )


def _wait_for_a_worker(client: Any) -> None:
    """Some clusters start workers when there is work; others would let it wait forever."""
    try:
        client.submit(int, pure=False).result(timeout=SECONDS_TO_ANSWER)
    except TimeoutError:
        raise RuntimeError(
            f"The scheduler has had no worker for {SECONDS_TO_ANSWER} seconds: start some."
        ) from None


def _check_worker(address: str, package: str, answer: Any) -> None:
    """Raise if a worker has another version of a package than we have, or none, or is silent."""
    try:
        theirs = answer.result(timeout=SECONDS_TO_ANSWER)
    except ModuleNotFoundError:
        raise RuntimeError(
            f"Worker {address} has no package {package}: install {package}=={version(package)} "
            "in its environment."
        ) from None
    except TimeoutError:
        raise RuntimeError(
            f"Worker {address} has not answered for {SECONDS_TO_ANSWER} seconds: start it anew."
        ) from None
    if theirs != version(package):
        raise RuntimeError(
            f"Worker {address} has {package} {theirs}, and this process {version(package)}: "
            "install the same version on both, or sums would not agree."
        )


def mapped(work: Any, state: Any, parts: Iterable[Any], client: Any) -> Iterator[Any]:
    """``work(part, state)`` of each part, in the order of the parts."""
    outcomes: Iterator[Any]
    if client is None:
        outcomes = (_done_here(work, state, part) for part in parts)
    elif isinstance(client, Executor):
        outcomes = _on_executor(work, state, parts, client)
    else:
        outcomes = chain.from_iterable(
            _on_dask(work, state, some, client) for some in _handed(parts)
        )
    for outcome in outcomes:
        if isinstance(outcome, TableError):  # a value, so that nobody tries it again
            raise outcome
        yield outcome


def _handed(parts: Iterable[Any]) -> Iterator[list[Any]]:
    """All parts at once if they are places in files; some at a time if they are rows themselves."""
    if isinstance(parts, list):
        yield parts
        return
    left = iter(parts)
    while some := list(islice(left, AT_ONCE)):
        yield some


def _done_here(work: Any, state: Any, part: Any) -> Any:
    """The result of a part, tried again if it fails."""
    for _ in range(TRIES - 1):
        with suppress(Exception):
            return work(part, state)
    try:
        return work(part, state)
    except Exception as error:
        raise failed(part, error) from error


def _on_executor(work: Any, state: Any, parts: Iterable[Any], pool: Executor) -> Iterator[Any]:
    """Some parts are under way at a time, so that their results do not fill the memory."""
    most = max(AT_ONCE, 2 * getattr(pool, "_max_workers", 1))
    left, waiting = iter(parts), deque[Any]()
    try:
        while True:
            for part in islice(left, most - len(waiting)):
                waiting.append((part, _submitted(pool, work, part, state)))
            if not waiting:
                return
            part, future = waiting.popleft()
            yield _result(part, future, work, state, pool)
    finally:
        for _, future in waiting:
            future.cancel()


def _submitted(pool: Executor, work: Any, part: Any, state: Any) -> Any:
    try:
        return pool.submit(work, part, state)
    except RuntimeError as error:  # it was shut down, or one of its processes died
        raise RuntimeError(f"The pool takes no more parts, {part} the first: {error}.") from error


def _result(part: Any, future: Any, work: Any, state: Any, pool: Executor) -> Any:
    """The result of a part, tried again if it fails."""
    for tries_left in reversed(range(TRIES)):
        try:
            return future.result()
        except BrokenExecutor as error:
            raise RuntimeError(
                f"A process of the pool died while {part} was worked on, or one of the parts after "
                "it, and a pool replaces none: make a new one (a Dask cluster replaces workers)."
            ) from error
        except Exception as error:
            if not tries_left:
                raise failed(part, error) from error
            future = _submitted(pool, work, part, state)
    return None


def _on_dask(work: Any, state: Any, parts: list[Any], client: Any) -> Iterator[Any]:
    """Dask gives the parts of a worker that died to the others; each result is taken once."""
    # The state goes with the work: data scattered to workers is lost when they die.
    work = functools.partial(work, state=state)
    futures = client.map(work, parts, retries=TRIES - 1, pure=False)
    try:
        for part, future in zip(parts, futures, strict=True):
            try:
                outcome = future.result()
            except Exception as error:
                raise failed(part, error) from error
            future.release()
            yield outcome
    finally:
        with suppress(Exception):  # of a client that is closed, with nothing left to cancel
            client.cancel(futures)


def failed(part: Any, error: Exception) -> RuntimeError:
    """The error about a part that nobody could work on."""
    return RuntimeError(f"{part} failed {TRIES} times; the last time: {error}")
