"""Where parts are worked on: in this process, on a pool of processes, or on a Dask cluster."""

import functools
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from importlib.metadata import version
from itertools import chain, islice
from typing import Any

from rosenblatt.data import TableError

TRIES = 3  # of a part
AT_ONCE = 16  # parts that are sent with their rows
MUST_AGREE = ("rosenblatt", "numpy")


def check_client(client: Any) -> None:
    """Refuse what is no engine, and workers that cannot do the work, by name."""
    if client is None or isinstance(client, Executor):
        return
    if not hasattr(client, "map") or not hasattr(client, "nthreads"):
        raise TypeError(
            "client must be None, a concurrent.futures executor or a Dask Client; got "
            f"{type(client).__name__}."
        )
    for address in client.nthreads():
        for package in MUST_AGREE:
            _check_worker(client, address, package)


def _check_worker(client: Any, address: str, package: str) -> None:
    """Raise if a worker has another version of a package than we have, or none."""
    # The function is Python's own, so that a worker without the package can run it.
    asked = client.submit(version, package, workers=[address], pure=False)
    try:
        theirs = asked.result()
    except ModuleNotFoundError:
        raise RuntimeError(
            f"Worker {address} has no package {package}: install {package}=={version(package)} "
            "in its environment."
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
        outcomes = (work(part, state) for part in parts)
    else:
        run = _on_executor if isinstance(client, Executor) else _on_dask
        outcomes = chain.from_iterable(run(work, state, some, client) for some in _handed(parts))
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


def _on_executor(work: Any, state: Any, parts: list[Any], pool: Executor) -> Iterator[Any]:
    futures = [pool.submit(work, part, state) for part in parts]
    try:
        for part, future in zip(parts, futures, strict=True):
            yield _result(future, work, state, part, pool)
    finally:
        for future in futures:
            future.cancel()


def _result(future: Any, work: Any, state: Any, part: Any, pool: Executor) -> Any:
    """The result of a part, tried again if it fails."""
    for tries_left in reversed(range(TRIES)):
        try:
            return future.result()
        except Exception as error:
            if not tries_left:
                raise failed(part, error) from error
            future = pool.submit(work, part, state)
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
        client.cancel(futures)


def failed(part: Any, error: Exception) -> RuntimeError:
    """The error about a part that nobody could work on."""
    return RuntimeError(f"{part} failed {TRIES} times; the last time: {error}")
