"""From rows to means and scatters by bucket, in one read."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import loops
from .batch import Batch

Pairs = NDArray[np.float64]
Tables = tuple[Pairs, Pairs, Pairs, Pairs | None]  # mean, scatter, noise[None], known weight

SAMPLE = 17  # rows of a bucket that are looked at to find its middle
BLOCK_CELLS = 32_768  # what BLAS is given at a time; stays in the second-level cache
BLOCK_ROWS = 256  # at least
BLAS_ROUNDING = 2.0**-48  # of a sum of products in plain doubles


def diagonal_moments(batch: Batch, weight: Pairs, ignore_missing: bool) -> Tables:
    """Mean, scatter and noise of each feature in each bucket, from weight (2, B, 1)."""
    shape = (2, batch.n_buckets, batch.n_features)

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> Pairs:
        table = np.zeros((2 + ignore_missing, *shape))
        if ignore_missing:
            loops.moments.sum_known_squares(X, buckets, weights, *table)
        else:
            loops.moments.sum_squares(X, buckets, weights, *table)
        return table

    parts = batch.over_chunks(work, 2 * shape[1] * shape[2])
    total = parts[0] if parts else np.zeros((2 + ignore_missing, *shape))
    for part in parts[1:]:
        for sums, more in zip(total, part, strict=True):
            loops.moments.add_pairs(sums.reshape(2, -1), more.reshape(2, -1), 1.0)
    batch.finite(total[0], total[1])
    if ignore_missing:
        weight = np.repeat(weight, shape[2], axis=2)
        loops.moments.add_pairs(weight.reshape(2, -1), total[2].reshape(2, -1), -1.0)
    mean, scatter, noise = np.zeros(shape), np.zeros(shape), np.zeros((1, *shape[1:]))
    chunk_rows = batch.n_rows / max(1, len(parts))
    loops.moments.centre(weight, total[0], total[1], chunk_rows, mean, scatter, noise[0])
    return mean, scatter, noise, weight if ignore_missing else None


def full_moments(batch: Batch, weight: Pairs) -> Tables:
    """Mean, full scatter and noise of each bucket, from weight (2, B, 1)."""
    n_buckets, d = batch.n_buckets, batch.n_features
    total = _Full.zero(n_buckets, d)
    for part in batch.over_chunks(_chunk_moments(n_buckets, d), 2 * n_buckets * d * d):
        for half in part:
            total.add(half)
    batch.finite(total.mean, total.scatter)
    return total.mean, total.scatter, total.noise[None], None


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


def _chunk_moments(n_buckets: int, d: int) -> Callable[..., list[_Full]]:
    """The work on one chunk: the moments of its near rows, and of its far ones if there are any."""

    def work(X: Any, buckets: NDArray[np.int64], weights: Any) -> list[_Full]:
        if isinstance(X, tuple):
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
    ones = np.ones(len(buckets)) if weights is None else weights
    n_rows = np.zeros(n_buckets, np.int64)
    loops.counts.count_rows(buckets, ones, n_rows, part.weight[:, :, 0])
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
    for b in range(n_buckets):
        # Sums of distances from the centre: of weights, of distances, of their products.
        weight, sums, products = 0.0, np.zeros(d), np.zeros((d, d))
        for start in range(starts[b], starts[b + 1], size):
            stop = min(start + size, starts[b + 1])
            here = (centres[b], reach[b], block, roots, far, b)
            n_near = loops.products.gather_near(X, order, start, stop, weights, *here)
            distances, root = block[:n_near], roots[:n_near]
            weight += root @ root
            sums += root @ distances
            products += distances.T @ distances
        if weight > 0:
            part.weight[0, b] = weight
            part.mean[:, b] = _pair_sum(centres[b], sums / weight)
            part.scatter[0, b] = products - np.outer(sums, sums / weight)
            part.noise[b] = BLAS_ROUNDING * products.diagonal()
    return part


def _pair_sum(a: NDArray[np.float64], b: NDArray[np.float64]) -> Pairs:
    """a + b as pairs, without error."""
    total = a + b
    part = total - a
    return np.stack([total, (a - (total - part)) + (b - part)])
