"""From rows to full scatters by bucket: sums of products of all pairs of features."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt import loops

from .batch import Batch, Beside
from .middles import Middles
from .scatter import Pairs, Tables, long_chunk
from .sums import settled

# What is multiplied at a time, in cache; plus 8, or the panels would all meet in one set of it.
BLOCK_ROWS = 256
BLOCK_ROWS_A_BUCKET = 16
SAMPLE_OF_PRODUCTS = 17  # rows of a bucket that are looked at in each chunk, to find its middle
TILE_ROUNDING = 2.0**-44  # of a sum of products: of some hundred rows, and of some hundred such

# A mean square up to this share of the limit of a single row's says that no row is so far out that
# the rest could not be told to 1e-9 without it: rounding is 2**-44 times 2**12 of what a typical
# row adds.
SPREAD_OF_NEAR = 1 / 16


def full_moments(batch: Batch, careful: bool) -> Tables:
    """Mean, full scatter and noise of each bucket; `careful` keeps 32 digits of every row."""
    n_buckets, d = batch.n_buckets, batch.n_features
    total = _Full.zero(n_buckets, d)
    # Four tables a chunk may exist at once: near rows, far rows, and their sums.
    work, table_cells = _chunk_moments(n_buckets, d, careful), 8 * n_buckets * d * d
    parts = batch.over_chunks(work, max(table_cells, long_chunk(batch)))
    for part in parts:
        for half in part:
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
        loops.bucket_moments.merge_full(1.0, places, *self, tuple(other), scratch)


def _chunk_moments(n_buckets: int, d: int, careful: bool) -> Callable[..., list[_Full]]:
    """The work on one chunk: the moments of its near rows, and of its far ones if there are any."""

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> list[_Full]:
        if careful or isinstance(X, tuple):
            return [_exact(_joined(X), buckets, weights, n_buckets, d)]
        with np.errstate(over="ignore", invalid="ignore"):  # the sums will tell
            near, far = _near(X, buckets, weights, n_buckets)
        return [near] if far is None else [near, _exact(_joined(X), far, weights, n_buckets, d)]

    return work


def _joined(X: Any) -> Any:
    """Rows with their targets as further columns, if they have any."""
    return X.joined() if isinstance(X, Beside) else X


def _exact(X: Any, buckets: NDArray[np.int64], weights: Any, n_buckets: int, d: int) -> _Full:
    """The moments of rows whose products are summed to 32 digits."""
    part = _Full.zero(n_buckets, d)
    sums, products = np.zeros_like(part.mean), np.zeros_like(part.scatter)
    _count(buckets, weights, part.weight)
    loops.bucket_moments.sum_products(X, buckets, weights, sums, products)
    loops.bucket_moments.centre_products(part.weight, sums, products, len(buckets), *part[1:])
    return part


def _middles(table: Any, buckets: NDArray[np.int64], n_buckets: int) -> Middles:
    """The middles of rows, and of their targets beside them."""
    if not isinstance(table, Beside):
        return Middles.of(table, buckets, n_buckets, SAMPLE_OF_PRODUCTS)
    both = (Middles.of(X, buckets, n_buckets, SAMPLE_OF_PRODUCTS) for X in (table.X, table.targets))
    return Middles(*map(np.hstack, zip(*both, strict=True)))


def _near(
    table: Any, buckets: NDArray[np.int64], weights: Any, n_buckets: int
) -> tuple[_Full, NDArray[np.int64] | None]:
    """The moments of the rows near the middle of their bucket, and the buckets (n,) of others."""
    centres, limits = _middles(table, buckets, n_buckets)
    d, four, tile = centres.shape[1], loops.simd.lanes.WIDTH, loops.simd.tiles.TILE
    part = _Full.zero(n_buckets, d)
    size = max(BLOCK_ROWS, BLOCK_ROWS_A_BUCKET * n_buckets) + 8
    height, width = (d + 1 + -(d + 1) % multiple for multiple in (four, tile))
    block = np.zeros((width // four, min(size, len(buckets)), four))
    products, places = np.zeros((n_buckets, height, width)), np.empty((2, n_buckets + 1), np.int64)
    scratch = (block, places)
    rows = (table.X, table.targets) if isinstance(table, Beside) else (table, None)
    add = loops.simd.tiles.sum_products_by_tile
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
        lower = np.tril(squares - np.outer(sums[b], shifts[b]))
        part.scatter[0, b] = lower + np.tril(lower, -1).T
        part.noise[b] = TILE_ROUNDING * squares.diagonal()
    return part, far


def _exact_means(
    X: Any,
    buckets: NDArray[np.int64],
    weights: Any,
    centres: NDArray[np.float64],
    far: NDArray[np.int64],
    part: _Full,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Set the means to 32 digits, which rows far out ask for; return sums and shifts (B, d)."""
    sums, shifts = np.zeros((2, *centres.shape)), np.zeros_like(centres)
    for b in range(len(centres)):
        rows = np.flatnonzero(buckets == b)
        loops.bucket_centres.add_distances(X, rows, weights, centres[b], far, b, sums)
    loops.bucket_centres.find_means(part.weight, sums, centres, shifts, part.mean)
    return sums[0], shifts


def _count(buckets: NDArray[np.int64], weights: Any, totals: Pairs) -> None:
    """Add the weight of each bucket to the pairs totals (2, B, 1)."""
    if weights is None:
        totals[0, :, 0] = np.bincount(buckets + 1, minlength=totals.shape[1] + 1)[1:]
    else:
        n_rows = np.zeros(totals.shape[1], np.int64)
        loops.bucket_counts.count_rows(buckets, weights, n_rows, totals[:, :, 0])
        settled(totals)


def _pair_sum(a: NDArray[np.float64], b: NDArray[np.float64]) -> Pairs:
    """a + b as pairs, without error."""
    total = a + b
    part = total - a
    return np.stack([total, (a - (total - part)) + (b - part)])
