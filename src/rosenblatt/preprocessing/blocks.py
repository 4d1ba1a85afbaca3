"""Arithmetic on tables block by block: each number is read once and written once.

A block fits into the cache, so that several steps on it cost one trip to memory. Steps are taken
in doubles and rounded once, into the precision of the table.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import threads

Block = NDArray[np.float64]

WIDE = 512  # numbers that NumPy should have in a row, to spend its time on arithmetic
SMALLEST, LARGEST = 1e-140, 1e140  # between these a length may be squared and summed


def by_columns(
    X: NDArray[Any],
    out: NDArray[Any],
    steps: Callable[..., None],
    *columns: NDArray[np.float64] | None,
) -> None:
    """Fill out (n, d) with ``steps(block, *columns)`` on blocks of X (n, d); may be X itself.

    `steps` changes a block (m, d) of doubles, given numbers (d,) of each column.
    """
    n, d = X.shape
    # NumPy starts anew in each row: several short rows at a time are one long row.
    together = max(1, WIDE // max(d, 1))
    if not (X.flags.c_contiguous and out.flags.c_contiguous):
        together = 1
    in_place = out is X
    tiles = [None if column is None else np.tile(column, together) for column in columns]

    def work(start: int, stop: int) -> None:
        whole = start + (stop - start) // together * together
        if whole > start:
            wide = (-1, together * d)
            source, target = X[start:whole].reshape(wide), out[start:whole].reshape(wide)
            _apply(source, target, in_place, steps, tiles)
        if stop > whole:
            _apply(X[whole:stop], out[whole:stop], in_place, steps, columns)

    threads.over_chunks(work, n, X.size)


def _apply(
    X: NDArray[Any], out: NDArray[Any], in_place: bool, steps: Callable[..., None], columns: Any
) -> None:
    """Take the steps on one block."""
    if out.dtype == np.float64:
        if not in_place:
            out[...] = X
        steps(out, *columns)
    else:
        block = X.astype(np.float64)
        steps(block, *columns)
        out[...] = block


def scale_stored(X: Any, scale: NDArray[np.float64], *, divide: bool) -> None:
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
        starts = X.indptr.astype(np.int64, copy=False)
        values, into = X.data, out.data
    else:
        starts = np.arange(X.shape[0] + 1) * X.shape[1]
        values, into = X, out
    sparse = sp.issparse(X)

    def work(first: int, last: int) -> None:
        rows = slice(starts[first], starts[last]) if sparse else slice(first, last)
        block = values[rows].astype(np.float64)
        flat = block.reshape(-1)
        bounds = starts[first : last + 1] - starts[first]
        sizes = np.diff(bounds)
        held = bounds[:-1][sizes > 0]
        if len(held):
            lengths, shrink = _lengths(flat, held, sizes[sizes > 0], norm)
            if shrink is not None:
                flat /= shrink
            flat /= np.repeat(lengths, sizes[sizes > 0])
        into[rows] = block

    threads.over_chunks(work, X.shape[0], len(values) if sparse else X.size)


def _lengths(
    flat: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64], norm: str
) -> tuple[Block, Block | None]:
    """The norm of each run of numbers, 1 for zeros; and what to divide them by first, if any.

    Squares of very large or very small numbers leave the range of doubles; rows that hold such are
    divided by their largest number first.
    """
    lengths = _plain_lengths(flat, starts, norm)
    if ((lengths > SMALLEST) & (lengths < LARGEST)).all():
        return lengths, None
    largest = np.maximum.reduceat(np.abs(flat), starts)
    largest[largest == 0] = 1
    shrink = np.repeat(largest, sizes)
    lengths = _plain_lengths(flat / shrink, starts, norm)
    lengths[lengths == 0] = 1
    return lengths, shrink


def _plain_lengths(flat: Block, starts: NDArray[np.int64], norm: str) -> Block:
    with np.errstate(over="ignore", under="ignore"):
        parts: Block = np.abs(flat) if norm == "l1" else flat * flat
        sums: Block = np.add.reduceat(parts, starts)
    return sums if norm == "l1" else np.sqrt(sums)
