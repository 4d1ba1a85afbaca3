"""From rows to means and scatters by bucket, in one read."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops import tiles
from rosenblatt.loops.simd import float64x4
from rosenblatt.runtime.interrupts import interruptible
from rosenblatt.runtime.storage import read_only

from . import counts_loops, moments_loops, scatter_loops
from .batch import CHUNK_OVER_TABLE, Batch, Beside
from .sums import settled

Pairs = NDArray[np.float64]
Buckets = NDArray[np.int64]  # a name, as inner functions evaluate their annotations at every call
Tables = tuple[Pairs, Pairs, Pairs]  # mean (2, B, d), scatter (2, B, ...), noise (1, B, d)

# From so many rows, in all and in a bucket on average, plain sums of units of rows will do.
MANY_ROWS = 2048
MANY_ROWS_A_BUCKET = 512

FLOATS = (np.float64, np.float32)
LONG_CHUNK = 4_000_000  # numbers
SAMPLE = 65  # rows of a bucket that are looked at to find its middle


def diagonal_moments(batch: Batch, weight: Pairs, careful: bool) -> Tables:
    """Mean, scatter and noise of each feature in each bucket, from weight (2, B, 1)."""
    # `careful` keeps 32 digits of every row, whether there are many or few.
    if not careful and _are_many(batch):
        return _shifted_moments(batch, weight)
    shape = (2, batch.n_buckets, batch.n_features)

    def work(X: Any, buckets: Buckets, weights: Any) -> Pairs:
        table = np.zeros((2, *shape))
        moments_loops.sum_squares(X, buckets, weights, table[0], table[1])
        return table

    parts = batch.over_chunks(work, 2 * shape[1] * shape[2])
    return _centred(batch, weight, _total(parts, (2, *shape)), len(parts))


def _are_many(batch: Batch) -> bool:
    """Whether rows are dense, of equal weight, and enough for plain sums to be worth it."""
    least = max(MANY_ROWS, MANY_ROWS_A_BUCKET * batch.n_buckets)
    wide = batch.n_features >= float64x4.WIDTH
    plain = isinstance(batch.X, np.ndarray) and batch.weights is None and batch.targets is None
    return plain and wide and batch.n_rows >= least


def _shifted_moments(batch: Batch, weight: Pairs) -> Tables:
    """As `diagonal_moments`, by plain sums of the distances from the middle of each bucket."""
    # There is one middle for the whole batch: then what is summed in plain doubles is all within
    # its reach, whatever the order of the rows.
    d, width = batch.n_features, float64x4.WIDTH
    p = d + -d % width
    cells = np.append(np.arange(p - width), np.arange(d - width, d))  # the feature of each
    middles = Middles.of(batch.X, batch.buckets, batch.n_buckets, SAMPLE)
    centres, limits = (np.ascontiguousarray(t[:, cells]) for t in (middles.centres, middles.limits))

    def work(X: Any, buckets: Buckets, weights: Any) -> tuple[Pairs, Pairs]:
        table, plain = np.zeros((2, 2, *centres.shape)), np.zeros((1, 2, *centres.shape))
        tables = (table[0], table[1], plain[0, 0])
        scratch, counts = np.zeros(table.shape[1:]), np.zeros((2, len(centres)), np.int64)
        scatter_loops.sum_shifted(X, buckets, centres, limits, tables, scratch, counts)
        return table, plain

    parts = batch.over_chunks(work, max(6 * centres.size, long_chunk(batch)))
    of_feature = np.arange(d) + np.where(np.arange(d) < p - width, 0, p - d)  # its cell
    total = np.ascontiguousarray(_total([table for table, _ in parts], ())[..., of_feature])
    plain = _total([plain for _, plain in parts], ())[0, 0][:, of_feature]
    mean, scatter, noise = _centred(
        batch, weight, total, len(parts), scatter_loops.PLAIN_ROUNDING * plain
    )
    moments_loops.add_pairs(mean.reshape(2, -1), middles.as_pairs().reshape(2, -1), 1.0)
    mean[:, weight[0, :, 0] == 0] = 0
    return mean, scatter, noise


def known_moments(batch: Batch, weight: Pairs) -> tuple[Tables, Pairs]:
    """As `diagonal_moments`, leaving out NaN; and the weight (2, B, d) of what is known."""
    shape = (2, batch.n_buckets, batch.n_features)

    def work(X: Any, buckets: Buckets, weights: Any) -> Pairs:
        table = np.zeros((3, *shape))
        moments_loops.sum_known_squares(X, buckets, weights, table[0], table[1], table[2])
        return table

    parts = batch.over_chunks(work, 3 * shape[1] * shape[2])
    total = _total(parts, (3, *shape))
    known = np.repeat(weight, batch.n_features, axis=2)
    moments_loops.add_pairs(known.reshape(2, -1), total[2].reshape(2, -1), -1.0)
    return _centred(batch, known, total, len(parts)), known


def long_chunk(batch: Batch) -> int:
    """The size of table for which chunks are long, if they are read where they lie; else none."""
    # Short chunks are for those that must be copied to be read.
    X = batch.X
    in_place = isinstance(X, np.ndarray) and X.flags.c_contiguous and X.dtype in FLOATS
    return LONG_CHUNK // CHUNK_OVER_TABLE if in_place else 0


def _total(parts: list[Pairs], shape: tuple[int, ...]) -> Pairs:
    """The sum of the chunks' sums (q, 2, B, d), first chunks first."""
    if not parts:
        return np.zeros(shape)
    for part in parts[1:]:
        for sums, more in zip(parts[0], part, strict=True):
            moments_loops.add_pairs(sums.reshape(2, -1), more.reshape(2, -1), 1.0)
    return parts[0]


def _centred(batch: Batch, weight: Pairs, total: Pairs, n_chunks: int, plain: Any = 0.0) -> Tables:
    """Mean, scatter and noise from sums and squares, and the noise (B, d) of plain sums."""
    batch.finite(total[0], total[1])
    mean, scatter = np.zeros_like(total[0]), np.zeros_like(total[0])
    noise = np.zeros((1, *mean.shape[1:])) + plain
    chunk_rows = batch.n_rows / max(1, n_chunks)
    moments_loops.centre(weight, total[0], total[1], chunk_rows, mean, scatter, noise[0])
    return mean, scatter, noise


# The middle of each bucket of rows, from a sample of them.


# How many rows the sample is chosen from: all of a chunk, or else so many, if not more for the
# sake of each bucket.
LOOKED_AT = 32_768
LOOKED_AT_A_BUCKET = 512
LOOKED_AT_FOR_RARE = 256  # rows of a bucket, in columns in which the sample is all alike


class Middles(NamedTuple):
    """Where the rows of each bucket lie."""

    centres: NDArray[np.float64]  # (B, d)
    limits: NDArray[np.float64]  # (B, d): squared distances up to which a row is near; -1 if none

    @staticmethod
    def of(X: Any, buckets: Buckets, n_buckets: int, sample: int) -> "Middles":
        """The middles of rows X (n, d), from `sample` of each bucket; few rows have none."""
        step = max(1, len(buckets) // max(LOOKED_AT, LOOKED_AT_A_BUCKET * n_buckets))
        n_rows = np.bincount(buckets[::step] + 1, minlength=n_buckets + 1)[1:]
        chosen = np.zeros((n_buckets, sample), np.int64)
        seen = np.zeros((2, n_buckets), np.int64)
        scatter_loops.choose_rows(buckets, step, n_rows, seen, chosen)
        rows = read_only(X[chosen.ravel()].astype(np.float64, copy=False))
        centres, reach = np.zeros((2, n_buckets, X.shape[1]))
        scatter_loops.find_centres(rows, n_rows, centres, reach, np.empty(sample))
        return Middles(centres, np.where(reach < 0, -1.0, reach * reach))

    def with_rare_values(self, X: Any, buckets: Buckets) -> "Middles":
        """The same with limits where the few rows were all alike, as mostly zeros are.

        Else every row with another value there would be far: a picture's edge, a rare word.
        """
        reach = scatter_loops.REACH
        for b in map(int, (self.limits == 0).any(axis=1).nonzero()[0]):
            columns = np.flatnonzero(self.limits[b] == 0)
            rows = np.flatnonzero(buckets == b)
            rows = rows[:: max(1, len(rows) // LOOKED_AT_FOR_RARE)]
            table = X[rows[:, np.newaxis], columns].astype(np.float64, copy=False)
            typical = _typical(table - self.centres[b, columns])
            self.limits[b, columns] = (reach * typical) ** 2
            columns = columns[typical == 0]  # rarer still, if not constant
            least = np.full(len(columns), np.inf)
            if len(columns):
                scatter_loops.find_least_gaps(X, buckets, b, columns, self.centres, least)
            self.limits[b, columns] = np.where(least < np.inf, (reach * least) ** 2, 0.0)
        return self

    def as_pairs(self) -> NDArray[np.float64]:
        """The centres as pairs (2, B, d)."""
        return np.stack([self.centres, np.zeros_like(self.centres)])


def _typical(gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lower quartile (d,) of the sizes above zero of gaps (n, d); 0 where there are none."""
    sizes = np.abs(gaps)
    sizes[sizes == 0] = np.inf
    sizes.sort(axis=0)
    quartile = np.isfinite(sizes).sum(axis=0) // 4
    found = np.take_along_axis(sizes, quartile[np.newaxis], axis=0)[0]
    return np.where(np.isfinite(found), found, 0.0)


# From rows to full scatters by bucket: sums of products of all pairs of features.


# What is multiplied at a time, in cache; plus 8, or the panels would all meet in one set of it.
BLOCK_ROWS = 256
BLOCK_ROWS_A_BUCKET = 16
SAMPLE_OF_PRODUCTS = 17  # rows of a bucket that are looked at in each chunk, to find its middle
TILE_ROUNDING = 2.0**-44  # of a sum of products: of some hundred rows, and of some hundred such

# A mean square up to this share of the limit of a single row's says that no row is so far out
# that the rest could not be told to 1e-9 without it: rounding is 2**-44 times 2**12 of what a
# typical row adds.
SPREAD_OF_NEAR = 1 / 16


MANY_PRODUCTS = 10**9  # take some tenths of a second, during which Ctrl-C would wait


def full_moments(batch: Batch, careful: bool) -> Tables:
    """Mean, full scatter and noise of each bucket; `careful` keeps 32 digits of every row."""
    many = batch.n_rows * batch.n_features**2 >= MANY_PRODUCTS
    return interruptible(lambda: _full_moments(batch, careful), many)


def _full_moments(batch: Batch, careful: bool) -> Tables:
    n_buckets, d = batch.n_buckets, batch.n_features
    # Four tables a chunk may exist at once: near rows, far rows, and their sums.
    work, table_cells = _chunk_moments(n_buckets, d, careful), 8 * n_buckets * d * d
    parts = batch.over_chunks(work, max(table_cells, long_chunk(batch)))
    halves = [half for part in parts for half in part]
    total = halves[0] if halves else _Full.zero(n_buckets, d)
    for half in halves[1:]:
        total.add(half)
    batch.finite(total.mean, total.scatter)
    return total.mean, total.scatter, total.noise[None]


class _Full(NamedTuple):
    """The moments of some rows, by bucket; changed in place while rows are added."""

    weight: Pairs  # (2, B, 1)
    mean: Pairs  # (2, B, d)
    scatter: Pairs  # (2, B, d, d)
    noise: NDArray[np.float64]  # (B, d)

    @staticmethod
    def zero(n_buckets: int, d: int) -> "_Full":
        """The moments of no rows."""
        weight, mean = np.zeros((2, n_buckets, 1)), np.zeros((2, n_buckets, d))
        return _Full(weight, mean, np.zeros((2, n_buckets, d, d)), np.zeros((n_buckets, d)))

    def add(self, other: "_Full") -> None:
        """Take in the rows of another."""
        places = np.arange(self.noise.shape[0])
        scratch = np.empty((2, self.noise.shape[1]))
        moments_loops.merge_full(1.0, places, *self, tuple(other), scratch)


def _chunk_moments(n_buckets: int, d: int, careful: bool) -> Callable[..., list[_Full]]:
    """The work on one chunk: the moments of its near rows, and of its far ones if there are any."""

    def work(X: Any, buckets: Buckets, weights: Any) -> list[_Full]:
        if careful or isinstance(X, tuple):
            return [_exact(_joined(X), buckets, weights, n_buckets, d)]
        with np.errstate(over="ignore", invalid="ignore"):  # the sums will tell
            near, far = _near(X, buckets, weights, n_buckets)
        return [near] if far is None else [near, _exact(_joined(X), far, weights, n_buckets, d)]

    return work


def _joined(X: Any) -> Any:
    """Rows with their targets as further columns, if they have any."""
    return X.joined() if isinstance(X, Beside) else X


def _exact(X: Any, buckets: Buckets, weights: Any, n_buckets: int, d: int) -> _Full:
    """The moments of rows whose products are summed to 32 digits."""
    part = _Full.zero(n_buckets, d)
    sums, products = np.zeros_like(part.mean), np.zeros_like(part.scatter)
    _count(buckets, weights, part.weight)
    moments_loops.sum_products(X, buckets, weights, sums, products)
    moments_loops.centre_products(part.weight, sums, products, len(buckets), *part[1:])
    return part


def _middles(table: Any, buckets: Buckets, n_buckets: int) -> Middles:
    """The middles of rows, and of their targets beside them."""

    def middles(X: Any) -> Middles:
        found = Middles.of(X, buckets, n_buckets, SAMPLE_OF_PRODUCTS)
        return found.with_rare_values(X, buckets)

    if not isinstance(table, Beside):
        return middles(table)
    both = map(middles, (table.X, table.targets))
    return Middles(*map(np.hstack, zip(*both, strict=True)))


def _near(
    table: Any, buckets: Buckets, weights: Any, n_buckets: int
) -> tuple[_Full, Buckets | None]:
    """The moments of the rows near the middle of their bucket, and the buckets (n,) of others."""
    centres, limits = _middles(table, buckets, n_buckets)
    d, four, tile = centres.shape[1], float64x4.WIDTH, tiles.TILE
    part = _Full.zero(n_buckets, d)
    size = max(BLOCK_ROWS, BLOCK_ROWS_A_BUCKET * n_buckets) + 8
    height, width = (d + 1 + -(d + 1) % multiple for multiple in (four, tile))
    block = np.zeros((width // four, min(size, len(buckets)), four))
    products, places = np.zeros((n_buckets, height, width)), np.empty((2, n_buckets + 1), np.int64)
    scratch = (block, places)
    rows = (table.X, table.targets) if isinstance(table, Beside) else (table, None)
    add = tiles.sum_products_by_tile
    add(*rows, buckets, weights, centres, None, products, None, *scratch)
    weight, squares = products[:, d, d, None], np.diagonal(products, axis1=1, axis2=2)[:, :d]
    wide = np.asarray(~(squares <= SPREAD_OF_NEAR * weight * limits).all(axis=1))
    far = None
    if wide.any():  # once more, row by row: some may be far
        far = np.full(len(buckets), -1)
        products[wide] = 0
        suspects = np.where(wide[buckets] & (buckets >= 0), buckets, -1)
        add(*rows, suspects, weights, centres, limits, products, far, *scratch)
    if weights is None:
        part.weight[0] = weight  # sums of ones are exact
    else:
        _count(buckets if far is None else np.where(far < 0, buckets, -1), weights, part.weight)
    if far is None:
        sums = np.ascontiguousarray(products[:, d, :d])
        shifts = sums / np.maximum(part.weight[0], 1e-300)
        part.mean[:] = _pair_sum(centres, shifts)
        part.mean[:, part.weight[0, :, 0] == 0] = 0
    else:
        sums, shifts = _exact_means(_joined(table), buckets, weights, centres, far, part)
    for b in map(int, part.weight[0, :, 0].nonzero()[0]):
        squares = products[b, :d, :d]
        about_mean = squares - sums[b][:, np.newaxis] * shifts[b]
        np.copyto(part.scatter[0, b], np.where(_lower(d), about_mean, about_mean.T))
        part.noise[b] = TILE_ROUNDING * squares.diagonal()
    return part, far


@lru_cache(4)
def _lower(d: int) -> NDArray[np.bool_]:
    """Where the lower half (d, d) of a matrix is, its diagonal included."""
    return np.tri(d, dtype=np.bool_)


def _exact_means(
    X: Any,
    buckets: Buckets,
    weights: Any,
    centres: NDArray[np.float64],
    far: Buckets,
    part: _Full,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Set the means to 32 digits, which rows far out ask for; return sums and shifts (B, d)."""
    sums, shifts = np.zeros((2, *centres.shape)), np.zeros_like(centres)
    for b in range(len(centres)):
        rows = np.flatnonzero(buckets == b)
        scatter_loops.add_distances(X, rows, weights, centres[b], far, b, sums)
    scatter_loops.find_means(part.weight, sums, centres, shifts, part.mean)
    return sums[0], shifts


def _count(buckets: Buckets, weights: Any, totals: Pairs) -> None:
    """Add the weight of each bucket to the pairs totals (2, B, 1)."""
    if weights is None:
        totals[0, :, 0] = np.bincount(buckets + 1, minlength=totals.shape[1] + 1)[1:]
    else:
        n_rows = np.zeros(totals.shape[1], np.int64)
        counts_loops.count_rows(buckets, weights, n_rows, totals[:, :, 0])
        settled(totals)


def _pair_sum(a: NDArray[np.float64], b: NDArray[np.float64]) -> Pairs:
    """a + b as pairs, without error."""
    total = a + b
    part = total - a
    return np.stack([total, (a - (total - part)) + (b - part)])
