"""One pass over the parts of a source: measure each, add up in order, conclude."""

import functools
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any

from sklearn.base import clone

from rosenblatt.capabilities import is_additive_model
from rosenblatt.data import TableError
from rosenblatt.data.source import Part, Source
from rosenblatt.registry import ROWS

from .checkpoints import Checkpoint
from .merging import MergeTree

TRIES = 3  # of a part


def fit(
    model: Any,
    source: Source,
    client: Any = None,
    *,
    checkpoint: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """Fit a model to all rows of a source in one pass; return the fitted model.

    Counts are those of a fit in memory to the bit, moments to rounding. Parts are merged in their
    own order, so that any number of workers gives the same bits.

    Parameters
    ----------
    model : an estimator that stands on an additive statistic; it is cloned.
    source : a `rosenblatt.data.Source`.
    client : None for this process, a `concurrent.futures` executor, or a Dask `Client`.
    checkpoint : a folder in which finished parts are kept; a fit that was killed goes on from there
        to the same bits.
    progress : called with the number of parts that are done and of all parts.

    Examples
    --------
    >>> import tempfile, polars
    >>> from rosenblatt import GaussianNB
    >>> from rosenblatt.data import Source
    >>> from rosenblatt.distributed import fit
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = polars.DataFrame({"x": [1.0, 2.0, 8.0, 9.0], "y": ["a", "a", "b", "b"]})
    >>> table.write_parquet(folder.name + "/1.parquet")
    >>> model = fit(GaussianNB(), Source(folder.name, target="y", rows_per_part=2))
    >>> model.theta_.ravel()
    array([1.5, 8.5])
    >>> folder.cleanup()
    """
    refuse_others(model)
    parts = source.parts()
    tree = MergeTree()
    kept = None if checkpoint is None else Checkpoint(checkpoint, model, parts)
    if kept is not None:
        tree = kept.resumed()
    first = tree.n_added
    measured = mapped(functools.partial(measure_part, model, source), parts[first:], client)
    for n_done, statistic in enumerate(measured, first + 1):
        tree.add(statistic)
        if kept is not None:
            kept.save(tree)
        if progress is not None:
            progress(n_done, len(parts))
    total = tree.total()
    if total is None:
        raise TableError(f"{source.place} has no rows.")
    fitted = clone(model).fit_statistics(total)
    fitted.report_warnings()
    return fitted


def fit_stream(model: Any, source: Source, **options: Any) -> Any:
    """Fit a model to a source larger than memory, in this process; options as for `fit`.

    Examples
    --------
    >>> import tempfile, polars
    >>> from rosenblatt import Ridge
    >>> from rosenblatt.data import Source
    >>> from rosenblatt.distributed import fit_stream
    >>> table = polars.DataFrame({"x": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.0]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.write_csv(folder + "/a.csv")
    ...     fit_stream(Ridge(alpha=0.0), Source(folder, target="y")).coef_.round(6)
    array([2.])
    """
    return fit(model, source, None, **options)


def refuse_others(model: Any) -> None:
    """Refuse a model that does not follow from sums over rows, with the list of those that do."""
    if not is_additive_model(model):
        names = ", ".join(row.name for row in ROWS if row.additive is True)
        raise TypeError(
            f"{type(model).__name__} is not fitted by parts: it does not follow from sums over "
            f"rows. Those that do: {names}."
        )


def measure_part(model: Any, source: Source, part: Part) -> Any:
    """The statistic of one part, read in batches; None if it has no rows."""
    tree = MergeTree()
    try:
        for X, y in source.read(part):
            tree.add(model.measure(X, y))
    except TableError:
        raise
    except ValueError as error:
        raise TableError(f"{part}: {error}") from None
    return tree.total()


def mapped(function: Any, parts: list[Part], client: Any) -> Iterator[Any]:
    """The results of a function of each part, in the order of the parts."""
    if client is None:
        yield from map(function, parts)
    elif isinstance(client, Executor):
        yield from _on_executor(function, parts, client)
    elif hasattr(client, "scatter"):
        yield from _on_dask(function, parts, client)
    else:
        raise TypeError(
            "client must be None, a concurrent.futures executor or a Dask Client; got "
            f"{type(client).__name__}."
        )


def _on_executor(function: Any, parts: list[Part], pool: Executor) -> Iterator[Any]:
    futures = [pool.submit(function, part) for part in parts]
    try:
        for part, future in zip(parts, futures, strict=True):
            yield _result(future, function, part, pool)
    finally:
        for future in futures:
            future.cancel()


def _result(future: Any, function: Any, part: Part, pool: Executor) -> Any:
    """The result of a part, tried again unless its data is at fault."""
    for tries_left in reversed(range(TRIES)):
        try:
            return future.result()
        except TableError:
            raise
        except Exception as error:
            if not tries_left:
                raise RuntimeError(
                    f"{part} failed {TRIES} times; the last time: {error}"
                ) from error
            future = pool.submit(function, part)
    return None


def _on_dask(function: Any, parts: list[Part], client: Any) -> Iterator[Any]:
    """Dask gives the parts of a worker that died to the others; each result is taken once."""
    futures = client.map(function, parts, retries=TRIES - 1, pure=False)
    try:
        for part, future in zip(parts, futures, strict=True):
            try:
                yield future.result()
            except TableError:
                raise
            except Exception as error:
                raise RuntimeError(
                    f"{part} failed {TRIES} times; the last time: {error}"
                ) from error
            finally:
                future.release()
    finally:
        client.cancel(futures)
