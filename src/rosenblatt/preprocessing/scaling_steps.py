"""Arithmetic on tables block by block: each number is read once and written once.

A block fits into the cache. Steps are computed in doubles and rounded once, to the precision of the
table. Large tables use compiled loops; small ones do not wait for the import of Numba.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit, logit

from rosenblatt.loops.rows import read_only
from rosenblatt.runtime import threads

from . import scaling_loops

Numbers = NDArray[np.float64]

LARGE = 1_000_000  # numbers; NumPy needs a few milliseconds for fewer
BLOCK_CELLS = 16_384  # numbers on which all steps are taken before the next are read
WIDE = 512  # numbers that NumPy should have in a row, to spend its time on arithmetic
SHORT = 32  # a row with fewer is better one of many in a long line
SMALLEST, LARGEST = 1e-140, 1e140  # between these a length may be squared and summed


def shift_and_divide(
    X: NDArray[Any],
    out: NDArray[Any],
    shift: Numbers | None,
    scale: Numbers | None,
    low: float = 0.0,
    high: float = 1.0,
) -> None:
    """Fill out (n, d) with (X - shift) / scale, stretched from low to high; may be X itself.

    Both implementations give the same bits.
    """
    if X.size < LARGE:
        by_columns(X, out, to_range(low, high), shift, scale)
        return
    d = X.shape[1]
    columns = (np.zeros(d) if shift is None else shift, np.ones(d) if scale is None else scale)

    def loop(rows: NDArray[Any], block: NDArray[Any]) -> None:
        scaling_loops.shift_and_divide(rows, *columns, high - low, low, block)

    _by_loop(loop, X, out)


def _by_loop(loop: Callable[..., None], X: NDArray[Any], out: NDArray[Any]) -> None:
    """Fill out (n, d) by ``loop(rows, block)`` on chunks of rows of X; may be X itself."""

    def work(first: int, last: int) -> None:
        rows = out[first:last]
        block = rows if out.flags.c_contiguous else np.empty(rows.shape, out.dtype)
        loop(read_only(X[first:last]), block)
        if block is not rows:
            rows[...] = block

    threads.over_chunks(work, X.shape[0], X.size)


def by_columns(
    X: NDArray[Any], out: NDArray[Any], steps: Callable[..., None], *columns: Numbers | None
) -> None:
    """Fill out (n, d) with ``steps(block, *columns)`` on blocks of X (n, d); may be X itself.

    `steps` changes a block (m, d) of doubles, given numbers (d,) of each column.
    """
    n, d = X.shape
    # NumPy starts anew in each row: several short rows at a time are one long row.
    together = max(1, WIDE // max(d, 1))
    if not (X.flags.c_contiguous and out.flags.c_contiguous):
        together = 1
    whole = n - n % together
    tiles = [None if column is None else np.tile(column, together) for column in columns]
    wide = (-1, together * d)
    _in_blocks(X[:whole].reshape(wide), out[:whole].reshape(wide), lambda b: steps(b, *tiles))
    _in_blocks(X[whole:], out[whole:], lambda b: steps(b, *columns))


def _in_blocks(X: NDArray[Any], out: NDArray[Any], steps: Callable[[Numbers], None]) -> None:
    """Take the steps on blocks of the rows of X (n, d), and put them into out."""
    size = max(1, BLOCK_CELLS // max(X.shape[1], 1))
    # Sums along rows should not depend on the order in memory, so blocks have one order.
    direct = out.dtype == np.float64 and out.flags.c_contiguous

    def work(first: int, last: int) -> None:
        scratch = None if direct else np.empty((min(size, last - first), X.shape[1]))
        for start in range(first, last, size):
            stop = min(start + size, last)
            block = out[start:stop] if scratch is None else scratch[: stop - start]
            block[...] = X[start:stop]
            steps(block)
            if scratch is not None:
                out[start:stop] = block

    threads.over_chunks(work, X.shape[0], X.size)


def scale_stored(X: Any, scale: Numbers, *, divide: bool) -> None:
    """Divide the columns of X (n, d), CSR, by scale (d,), or multiply them; in place."""
    data, indices = X.data, X.indices
    operation = np.divide if divide else np.multiply

    def work(start: int, stop: int) -> None:
        factors = scale[indices[start:stop]]
        operation(data[start:stop], factors, out=data[start:stop], casting="same_kind")

    threads.over_chunks(work, len(data), len(data))


def to_unit_length(X: Any, out: Any, norm: str) -> None:
    """Fill out (n, d) with the rows of X divided by their "l1" or "l2" norm; zero rows stay."""
    if sp.issparse(X):
        _runs_to_unit_length(X.data, out.data, X.indptr.astype(np.int64, copy=False), norm)
    elif X.size < LARGE:
        _in_blocks(X, out, lambda block: _block_to_unit_length(block, norm))
    else:

        def loop(rows: NDArray[Any], block: NDArray[Any]) -> None:
            starts = np.arange(len(rows) + 1) * X.shape[1]
            _compiled_runs(rows.reshape(-1), block.reshape(-1), starts, norm)

        _by_loop(loop, X, out)


def _compiled_runs(
    values: NDArray[Any], out: NDArray[Any], starts: NDArray[np.int64], norm: str
) -> None:
    scaling_loops.runs_to_unit_length(
        read_only(values), read_only(starts), norm == "l1", SMALLEST, LARGEST, out
    )


def _block_to_unit_length(block: Numbers, norm: str) -> None:
    """Divide each row of a block (m, d) by its norm."""
    if block.shape[1] < SHORT:
        _runs(block.reshape(-1), np.arange(len(block) + 1) * block.shape[1], norm)
        return
    with np.errstate(over="ignore", under="ignore"):
        if norm == "l1":
            lengths = np.abs(block).sum(axis=1)
        else:
            lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
    odd = ~((lengths > SMALLEST) & (lengths < LARGEST))
    if odd.any():
        rows = block[odd]
        _runs(rows.reshape(-1), np.arange(len(rows) + 1) * rows.shape[1], norm)
        block[odd] = rows
        lengths[odd] = 1
    block /= lengths[:, None]


def _runs_to_unit_length(
    values: NDArray[Any], out: NDArray[Any], starts: NDArray[np.int64], norm: str
) -> None:
    """Divide each run of values, from starts[i] to starts[i + 1], by its norm, into out."""

    def work(first: int, last: int) -> None:
        if len(values) >= LARGE:
            _compiled_runs(values, out, starts[first : last + 1], norm)
            return
        here = slice(starts[first], starts[last])
        block = values[here].astype(np.float64)
        _runs(block, starts[first : last + 1] - starts[first], norm)
        out[here] = block

    # A quarter of the usual chunk: its few copies should stay in the cache.
    threads.over_chunks(work, len(starts) - 1, 4 * len(values))


def _runs(flat: Numbers, starts: NDArray[np.int64], norm: str) -> None:
    """Divide each run of numbers by its norm, in place.

    Rows whose squares leave the range of doubles are divided by their largest number first.
    """
    sizes = np.diff(starts)
    held, sizes = starts[:-1][sizes > 0], sizes[sizes > 0]
    if not len(held):
        return
    lengths = _lengths(flat, held, norm)
    if not ((lengths > SMALLEST) & (lengths < LARGEST)).all():
        largest = np.maximum.reduceat(np.abs(flat), held)
        largest[largest == 0] = 1
        flat /= np.repeat(largest, sizes)
        lengths = _lengths(flat, held, norm)
        lengths[lengths == 0] = 1
    flat /= np.repeat(lengths, sizes)


def _lengths(flat: Numbers, starts: NDArray[np.int64], norm: str) -> Numbers:
    """Return the norm of each run of numbers that begins at one of `starts`; none is empty."""
    with np.errstate(over="ignore", under="ignore"):
        parts: Numbers = np.abs(flat) if norm == "l1" else flat * flat
        sums: Numbers = np.add.reduceat(parts, starts)
    return sums if norm == "l1" else np.sqrt(sums)


# The steps of each method and of its inverse, on a block (m, d) of doubles, in place; shift and
# scale (d,), or None.


Steps = Callable[[Numbers, Numbers | None, Numbers | None], None]


def to_sigmoid(block: Numbers, mean: Numbers | None, scale: Numbers | None) -> None:
    """1 / (1 + exp(-z))."""
    to_range(0, 1)(block, mean, scale)
    expit(block, out=block)


def from_sigmoid(block: Numbers, mean: Numbers | None, scale: Numbers | None) -> None:
    """The inverse: z = log(p / (1 - p))."""
    logit(block, out=block)
    from_range(0, 1)(block, mean, scale)


def to_range(low: float, high: float) -> Steps:
    """(x - shift) / scale, stretched from 0 and 1 to low and high."""

    def steps(block: Numbers, shift: Numbers | None, scale: Numbers | None) -> None:
        if shift is not None:
            block -= shift
        if scale is not None:
            block /= scale
        if (low, high) != (0, 1):
            block *= high - low
            block += low

    return steps


def from_range(low: float, high: float) -> Steps:
    """The inverse."""

    def steps(block: Numbers, shift: Numbers | None, scale: Numbers | None) -> None:
        if (low, high) != (0, 1):
            block -= low
            block /= high - low
        if scale is not None:
            block *= scale
        if shift is not None:
            block += shift

    return steps
