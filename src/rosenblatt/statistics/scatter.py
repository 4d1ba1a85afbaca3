"""From rows to means and scatters by bucket, in one read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas
from threadpoolctl import ThreadpoolController

from .. import loops
from .batch import Batch
from .sums import settled

Pairs = NDArray[np.float64]
Tables = tuple[Pairs, Pairs, Pairs]  # mean (2, B, d), scatter (2, B, ...), noise (1, B, d)

SAMPLE = 17  # rows of a bucket that are looked at to find its middle
BLOCK_CELLS = 32_768  # what BLAS is given at a time; stays in the second-level cache
BLOCK_ROWS = 256  # at least
BLAS_ROUNDING = 2.0**-45  # of a sum of products in plain doubles, tens of thousands at a time


def diagonal_moments(batch: Batch, weight: Pairs) -> Tables:
    """Mean, scatter and noise of each feature in each bucket, from weight (2, B, 1)."""
    shape = (2, batch.n_buckets, batch.n_features)

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> Pairs:
        table = np.zeros((2, *shape))
        loops.moments.sum_squares(X, buckets, weights, table[0], table[1])
        return table

    parts = batch.over_chunks(work, 2 * shape[1] * shape[2])
    return _centred(batch, weight, _total(parts, (2, *shape)), len(parts))


def known_moments(batch: Batch, weight: Pairs) -> tuple[Tables, Pairs]:
    """As `diagonal_moments`, leaving out NaN; and the weight (2, B, d) of what is known."""
    shape = (2, batch.n_buckets, batch.n_features)

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> Pairs:
        table = np.zeros((3, *shape))
        loops.moments.sum_known_squares(X, buckets, weights, table[0], table[1], table[2])
        return table

    parts = batch.over_chunks(work, 3 * shape[1] * shape[2])
    total = _total(parts, (3, *shape))
    known = np.repeat(weight, batch.n_features, axis=2)
    loops.moments.add_pairs(known.reshape(2, -1), total[2].reshape(2, -1), -1.0)
    return _centred(batch, known, total, len(parts)), known


def _total(parts: list[Pairs], shape: tuple[int, ...]) -> Pairs:
    """The sum of the chunks' sums (q, 2, B, d), first chunks first."""
    if not parts:
        return np.zeros(shape)
    for part in parts[1:]:
        for sums, more in zip(parts[0], part, strict=True):
            loops.moments.add_pairs(sums.reshape(2, -1), more.reshape(2, -1), 1.0)
    return parts[0]


def _centred(batch: Batch, weight: Pairs, total: Pairs, n_chunks: int) -> Tables:
    """Mean, scatter and noise from sums and squares."""
    batch.finite(total[0], total[1])
    mean, scatter = np.zeros_like(total[0]), np.zeros_like(total[0])
    noise = np.zeros((1, *mean.shape[1:]))
    chunk_rows = batch.n_rows / max(1, n_chunks)
    loops.moments.centre(weight, total[0], total[1], chunk_rows, mean, scatter, noise[0])
    return mean, scatter, noise


def full_moments(batch: Batch, careful: bool) -> Tables:
    """Mean, full scatter and noise of each bucket; `careful` keeps 32 digits of every row."""
    n_buckets, d = batch.n_buckets, batch.n_features
    total = _Full.zero(n_buckets, d)
    with one_blas_thread():
        # Four tables a chunk may exist at once: near rows, far rows, and their sums.
        parts = batch.over_chunks(_chunk_moments(n_buckets, d, careful), 8 * n_buckets * d * d)
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
        loops.moments.merge_full(1.0, places, *self, tuple(other), scratch)


def _chunk_moments(n_buckets: int, d: int, careful: bool) -> Callable[..., list[_Full]]:
    """The work on one chunk: the moments of its near rows, and of its far ones if there are any."""

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> list[_Full]:
        if careful or isinstance(X, tuple):
            return [_exact(X, buckets, weights, n_buckets, d)]
        far = np.full(len(buckets), -1)
        near = _near(X, buckets, weights, far, n_buckets)
        if (far < 0).all():
            return [near]
        return [near, _exact(X, far, weights, n_buckets, d)]

    return work


def _exact(X: Any, buckets: NDArray[np.int64], weights: Any, n_buckets: int, d: int) -> _Full:
    """The moments of rows whose products are summed to 32 digits."""
    part = _Full.zero(n_buckets, d)
    sums, products = np.zeros_like(part.mean), np.zeros_like(part.scatter)
    _count(buckets, weights, part.weight)
    loops.products.sum_products(X, buckets, weights, sums, products)
    loops.products.centre_products(part.weight, sums, products, len(buckets), *part[1:])
    return part


def _near(
    X: Any, buckets: NDArray[np.int64], weights: Any, far: NDArray[np.int64], n_buckets: int
) -> _Full:
    """The moments of the rows near the middle of their bucket, by BLAS; the others go to `far`."""
    n, d = X.shape
    part = _Full.zero(n_buckets, d)
    starts, order = np.empty(n_buckets + 1, np.int64), np.empty(n, np.int64)
    loops.products.sort_by_bucket(buckets, starts, order)
    centres, reach = np.zeros((n_buckets, d)), np.empty((n_buckets, d))
    loops.products.find_centres(X, order, starts, centres, reach, np.empty(SAMPLE))
    size = max(BLOCK_ROWS, BLOCK_CELLS // d)
    block, roots = np.empty((size, d)), np.empty(size)
    sums, products = np.zeros((n_buckets, d)), np.zeros((n_buckets, d, d))
    squares = np.zeros((d, d))
    for b in range(n_buckets):
        for start in range(starts[b], starts[b + 1], size):
            stop = min(start + size, starts[b + 1])
            here = (centres[b], reach[b], block, roots, far, b)
            n_near = loops.products.gather_near(X, order, start, stop, weights, *here)
            distances = block[:n_near]
            sums[b] += roots[:n_near] @ distances
            # The upper half alone; block by block, because a sum of sums keeps more digits.
            blas.dsyrk(1.0, distances.T, beta=0.0, c=squares.T, overwrite_c=1, lower=1)
            products[b] += squares
    _count(np.where(far < 0, buckets, -1), weights, part.weight)
    for b in map(int, part.weight[0, :, 0].nonzero()[0]):
        shift = sums[b] / part.weight[0, b]
        part.mean[:, b] = _pair_sum(centres[b], shift)
        whole = np.triu(products[b])
        whole += np.triu(whole, 1).T
        part.scatter[0, b] = whole - np.outer(sums[b], shift)
        part.noise[b] = BLAS_ROUNDING * products[b].diagonal()
    return part


def _count(buckets: NDArray[np.int64], weights: Any, totals: Pairs) -> None:
    """Add the weight of each bucket to the pairs totals (2, B, 1)."""
    if weights is None:
        totals[0, :, 0] = np.bincount(buckets + 1, minlength=totals.shape[1] + 1)[1:]
    else:
        n_rows = np.zeros(totals.shape[1], np.int64)
        loops.counts.count_rows(buckets, weights, n_rows, totals[:, :, 0])
        settled(totals)


def _pair_sum(a: NDArray[np.float64], b: NDArray[np.float64]) -> Pairs:
    """a + b as pairs, without error."""
    total = a + b
    part = total - a
    return np.stack([total, (a - (total - part)) + (b - part)])


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread: the chunks have threads of their own, and bits must not depend."""
    with _blas().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas() -> ThreadpoolController:
    """Finding the libraries takes milliseconds, so it is done once."""
    return ThreadpoolController()
