"""From rows to means and scatters by bucket, in one read."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import loops

from .batch import CHUNK_OVER_TABLE, Batch
from .middles import Middles

Pairs = NDArray[np.float64]
Tables = tuple[Pairs, Pairs, Pairs]  # mean (2, B, d), scatter (2, B, ...), noise (1, B, d)

# From so many rows, in all and in a bucket on average, plain sums of units of rows will do.
MANY_ROWS = 2048
MANY_ROWS_A_BUCKET = 512

FLOATS = (np.float64, np.float32)
LONG_CHUNK = 4_000_000  # numbers
SAMPLE = 65  # rows of a bucket that are looked at to find its middle


def diagonal_moments(batch: Batch, weight: Pairs, careful: bool) -> Tables:
    """Mean, scatter and noise of each feature in each bucket, from weight (2, B, 1).

    `careful` keeps 32 digits of every row, whether there are many or few.
    """
    if not careful and _are_many(batch):
        return _shifted_moments(batch, weight)
    shape = (2, batch.n_buckets, batch.n_features)

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> Pairs:
        table = np.zeros((2, *shape))
        loops.bucket_moments.sum_squares(X, buckets, weights, table[0], table[1])
        return table

    parts = batch.over_chunks(work, 2 * shape[1] * shape[2])
    return _centred(batch, weight, _total(parts, (2, *shape)), len(parts))


def _are_many(batch: Batch) -> bool:
    """Whether rows are dense, of equal weight, and enough for plain sums to be worth it."""
    least = max(MANY_ROWS, MANY_ROWS_A_BUCKET * batch.n_buckets)
    wide = batch.n_features >= loops.simd.lanes.WIDTH
    plain = isinstance(batch.X, np.ndarray) and batch.weights is None and batch.targets is None
    return plain and wide and batch.n_rows >= least


def _shifted_moments(batch: Batch, weight: Pairs) -> Tables:
    """As `diagonal_moments`, by plain sums of the distances from the middle of each bucket.

    There is one middle for the whole batch: then what is summed in plain doubles is all within its
    reach, whatever the order of the rows.
    """
    d, width = batch.n_features, loops.simd.lanes.WIDTH
    p = d + -d % width
    cells = np.append(np.arange(p - width), np.arange(d - width, d))  # the feature of each
    middles = Middles.of(batch.X, batch.buckets, batch.n_buckets, SAMPLE)
    centres, limits = (np.ascontiguousarray(t[:, cells]) for t in (middles.centres, middles.limits))

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> tuple[Pairs, Pairs]:
        table, plain = np.zeros((2, 2, *centres.shape)), np.zeros((1, 2, *centres.shape))
        tables = (table[0], table[1], plain[0, 0])
        scratch, counts = np.zeros(table.shape[1:]), np.zeros((2, len(centres)), np.int64)
        loops.bucket_centres.sum_shifted(X, buckets, centres, limits, tables, scratch, counts)
        return table, plain

    parts = batch.over_chunks(work, max(6 * centres.size, long_chunk(batch)))
    of_feature = np.arange(d) + np.where(np.arange(d) < p - width, 0, p - d)  # its cell
    total = np.ascontiguousarray(_total([table for table, _ in parts], ())[..., of_feature])
    plain = _total([plain for _, plain in parts], ())[0, 0][:, of_feature]
    mean, scatter, noise = _centred(
        batch, weight, total, len(parts), loops.bucket_centres.PLAIN_ROUNDING * plain
    )
    loops.bucket_moments.add_pairs(mean.reshape(2, -1), middles.as_pairs().reshape(2, -1), 1.0)
    mean[:, weight[0, :, 0] == 0] = 0
    return mean, scatter, noise


def known_moments(batch: Batch, weight: Pairs) -> tuple[Tables, Pairs]:
    """As `diagonal_moments`, leaving out NaN; and the weight (2, B, d) of what is known."""
    shape = (2, batch.n_buckets, batch.n_features)

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> Pairs:
        table = np.zeros((3, *shape))
        loops.bucket_moments.sum_known_squares(X, buckets, weights, table[0], table[1], table[2])
        return table

    parts = batch.over_chunks(work, 3 * shape[1] * shape[2])
    total = _total(parts, (3, *shape))
    known = np.repeat(weight, batch.n_features, axis=2)
    loops.bucket_moments.add_pairs(known.reshape(2, -1), total[2].reshape(2, -1), -1.0)
    return _centred(batch, known, total, len(parts)), known


def long_chunk(batch: Batch) -> int:
    """The size of table for which chunks are long, if they are read where they lie; else none.

    Short chunks are for those that must be copied to be read.
    """
    X = batch.X
    in_place = isinstance(X, np.ndarray) and X.flags.c_contiguous and X.dtype in FLOATS
    return LONG_CHUNK // CHUNK_OVER_TABLE if in_place else 0


def _total(parts: list[Pairs], shape: tuple[int, ...]) -> Pairs:
    """The sum of the chunks' sums (q, 2, B, d), first chunks first."""
    if not parts:
        return np.zeros(shape)
    for part in parts[1:]:
        for sums, more in zip(parts[0], part, strict=True):
            loops.bucket_moments.add_pairs(sums.reshape(2, -1), more.reshape(2, -1), 1.0)
    return parts[0]


def _centred(batch: Batch, weight: Pairs, total: Pairs, n_chunks: int, plain: Any = 0.0) -> Tables:
    """Mean, scatter and noise from sums and squares, and the noise (B, d) of plain sums."""
    batch.finite(total[0], total[1])
    mean, scatter = np.zeros_like(total[0]), np.zeros_like(total[0])
    noise = np.zeros((1, *mean.shape[1:])) + plain
    chunk_rows = batch.n_rows / max(1, n_chunks)
    loops.bucket_moments.centre(weight, total[0], total[1], chunk_rows, mean, scatter, noise[0])
    return mean, scatter, noise
