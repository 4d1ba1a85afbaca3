"""Products by tile equal the obvious products, for any number of features, rows and buckets."""

import numpy as np
import pytest

from rosenblatt.loops import tiles
from rosenblatt.loops.rows import read_only


def products_of(X, buckets, weights, centres, limits, rows, n_targets=0):
    n_buckets, d = centres.shape
    height, width = (d + 1 + -(d + 1) % multiple for multiple in (4, 12))
    products, block = np.zeros((n_buckets, height, width)), np.zeros((width // 4, rows, 4))
    far, places = np.full(len(X), -1), np.empty((2, n_buckets + 1), np.int64)
    first = X.shape[1] - n_targets
    targets = read_only(X[:, first:].astype(np.float64)) if n_targets else None
    about = (read_only(buckets), weights, centres, limits, products, far, block, places)
    tiles.sum_products_by_tile(read_only(X[:, :first]), targets, *about)
    return products[:, : d + 1, : d + 1], far


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_targets", [0, 1])
@pytest.mark.parametrize(
    ("n", "d", "rows"), [(0, 3, 8), (1, 1, 8), (50, 3, 16), (70, 11, 200), (90, 12, 40), (9, 26, 4)]
)
def test_products(n, d, rows, n_targets, dtype, weighted):
    rng = np.random.default_rng([n, d])
    X, buckets = rng.standard_normal((n, d)).astype(dtype), rng.integers(-1, 3, size=n)
    weights = read_only(rng.uniform(size=n)) if weighted else None
    centres = rng.standard_normal((3, d))
    found, far = products_of(X, buckets, weights, centres, None, rows, n_targets)
    w = np.ones(n) if weights is None else weights
    for b in range(3):
        z = np.hstack([X[buckets == b] - centres[b], np.ones((np.sum(buckets == b), 1))])
        expected = (z * w[buckets == b, None]).T @ z
        np.testing.assert_allclose(np.tril(found[b]), np.tril(expected), rtol=1e-9, atol=1e-9)
    assert (far < 0).all()


@pytest.mark.parametrize("n_targets", [0, 1, 3])
def test_far_rows_are_left_out_and_named(n_targets):
    rng = np.random.default_rng(0)
    X, buckets = rng.uniform(-1, 1, (60, 6)), np.arange(60) % 2
    X[7, 5], X[20, 0] = 50.0, -50.0
    centres, limits = np.zeros((2, 6)), np.full((2, 6), 100.0)
    found, far = products_of(X, buckets, None, centres, limits, 16, n_targets)
    assert np.flatnonzero(far >= 0).tolist() == [7, 20]
    assert far[[7, 20]].tolist() == [1, 0]
    near = X[(far < 0) & (buckets == 1)]
    np.testing.assert_allclose(np.tril(found[1, :6, :6]), np.tril(near.T @ near))
    assert found[:, 6, 6].tolist() == [29.0, 29.0]
