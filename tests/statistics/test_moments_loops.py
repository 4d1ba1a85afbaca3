"""The moment loops equal exact fractions, whatever the storage, precision and weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from rosenblatt.loops.rows import arrays, read_only
from rosenblatt.statistics import moments_loops

B, D = 2, 6  # a vector of four columns, and two more


@st.composite
def problems(draw):
    n = draw(st.integers(0, 7))
    X = draw(nps.arrays(np.float64, (n, D), elements=st.sampled_from([0.0, 1.0, -2.5, 1e3, 0.1])))
    buckets = draw(nps.arrays(np.int64, n, elements=st.integers(-1, B - 1)))
    steps = st.sampled_from([0.1, 1.0, 3.0])
    weights = draw(st.none() | nps.arrays(np.float64, n, elements=steps))
    return X, buckets, None if weights is None else read_only(weights)


def expected(X, buckets, weights, centers):
    """Sums (B, D) and products (B, D, D) of rows less their centers."""
    w = np.ones(len(X)) if weights is None else weights
    Z = [X[buckets == b] - centers[b] for b in range(B)]
    sums = [w[buckets == b] @ z for b, z in enumerate(Z)]
    products = [(z * w[buckets == b][:, None]).T @ z for b, z in enumerate(Z)]
    return np.array(sums), np.array(products)


def diagonal(products):
    return np.diagonal(products, axis1=1, axis2=2)


@given(problems(), st.sampled_from([np.float64, np.float32]))
def test_sums_and_squares_of_dense_rows(problem, dtype):
    X, buckets, weights = problem
    X, centers = X.astype(dtype), np.arange(B * D, dtype=float).reshape(B, D)
    sums, squares = np.zeros((2, B, D))
    part = np.empty((2, B, D))
    buckets = read_only(buckets)
    moments_loops.sum_dense(read_only(X), buckets, weights, centers, sums, squares, part)
    first, second = expected(X, buckets, weights, centers)
    np.testing.assert_allclose(sums, first, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(squares, diagonal(second), rtol=1e-12, atol=1e-12)


@given(problems(), st.sampled_from([np.asarray, sp.csr_matrix]), st.data())
def test_missing_values_are_left_out(problem, storage, data):
    X, buckets, weights = problem
    gone = data.draw(nps.arrays(bool, X.shape))
    tables = np.zeros((3, B, D))
    rows, part = arrays(storage(np.where(gone, np.nan, X))), np.empty((2, B, D))
    buckets = read_only(buckets)
    moments_loops.sum_known(rows, buckets, weights, np.zeros((B, D)), *tables, part)
    first, second = expected(np.where(gone, 0, X), buckets, weights, np.zeros((B, D)))
    missed, _ = expected(gone.astype(float), buckets, weights, np.zeros((B, D)))
    np.testing.assert_allclose(tables[0], first, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tables[1], diagonal(second), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tables[2], missed)


@given(problems(), st.sampled_from([np.asarray, sp.csr_matrix]))
def test_products(problem, storage):
    X, buckets, weights = problem
    centers = np.zeros((B, D)) if storage is sp.csr_matrix else np.ones((B, D))
    sums, products = np.zeros((B, D)), np.zeros((B, D, D))
    buckets = read_only(buckets)
    moments_loops.sum_products(arrays(storage(X)), buckets, weights, centers, sums, products)
    first, second = expected(X, buckets, weights, centers)
    np.testing.assert_allclose(sums, first, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(products, np.tril(second), rtol=1e-12, atol=1e-12)


def tiled_products(X, buckets, weights, centers, rows, n_targets):
    n_buckets, d = centers.shape
    height, width = (d + 1 + -(d + 1) % multiple for multiple in (4, 12))
    products, block = np.zeros((n_buckets, height, width)), np.zeros((width // 4, rows, 4))
    places, first = np.empty((2, n_buckets + 1), np.int64), X.shape[1] - n_targets
    targets = read_only(X[:, first:].astype(np.float64)) if n_targets else None
    about = (read_only(buckets), weights, centers, products, block, places)
    moments_loops.sum_products_by_tile(read_only(X[:, :first]), targets, *about)
    return products[:, : d + 1, : d + 1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_targets", [0, 1, 3])
@pytest.mark.parametrize(
    ("n", "d", "rows"), [(0, 4, 8), (1, 4, 8), (50, 5, 16), (70, 11, 200), (90, 12, 40), (9, 26, 4)]
)
def test_products_by_tile(n, d, rows, n_targets, dtype, weighted):
    rng = np.random.default_rng([n, d])
    X, buckets = rng.standard_normal((n, d)).astype(dtype), rng.integers(-1, 3, size=n)
    weights = read_only(rng.uniform(size=n)) if weighted else None
    centers = rng.standard_normal((3, d))
    found = tiled_products(X, buckets, weights, centers, rows, n_targets)
    w = np.ones(n) if weights is None else weights
    for b in range(3):
        z = np.hstack([X[buckets == b] - centers[b], np.ones((np.sum(buckets == b), 1))])
        products = (z * w[buckets == b, None]).T @ z
        np.testing.assert_allclose(np.tril(found[b]), np.tril(products), rtol=1e-9, atol=1e-9)
