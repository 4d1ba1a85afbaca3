"""The moment loops equal exact fractions, whatever the storage, precision and weights."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from rosenblatt.runtime.storage import arrays, read_only
from rosenblatt.statistics import moments_loops
from tests.reference import statistics as reference

B, D = 2, 3
storages = st.sampled_from([np.asarray, sp.csr_matrix])
dtypes = st.sampled_from([np.float64, np.float32])
values = st.sampled_from([0.0, 1.0, -2.5, 1e6 + 1, 1e6 - 1, 0.1, 1e8])


@st.composite
def problems(draw, least=0):
    n = draw(st.integers(least, 7))
    X = draw(nps.arrays(np.float64, (n, D), elements=values))
    buckets = draw(nps.arrays(np.int64, n, elements=st.integers(0, B - 1)))
    steps = st.sampled_from([0.1, 1.0, 3.0])
    weights = draw(st.none() | nps.arrays(np.float64, n, elements=steps))
    return X, buckets, weights


def exact(X, buckets, weights):
    """Weight, mean and full scatter by bucket, of doubles; zero where a bucket is empty."""
    w = np.ones(len(X)) if weights is None else weights
    weight, mean, scatter = np.zeros((2, B, 1)), np.zeros((B, D)), np.zeros((B, D, D))
    for b, (total, m, s) in reference.moments(X, buckets, w).items():
        weight[0, b], mean[b], scatter[b] = float(total), reference.floats(m), reference.floats(s)
        weight[1, b] = float(total - reference.Fraction(weight[0, b, 0]))
    return weight, mean, scatter


def as_read(weights):
    return None if weights is None else read_only(weights)


def close(found, expected):
    return np.allclose(found, expected, rtol=1e-13, atol=1e-9)


def diagonal(scatter):
    return np.diagonal(scatter, axis1=-2, axis2=-1)


def diagonal_moments(X, buckets, weights, weight):
    """Mean, scatter and noise by the loops."""
    sums, squares = np.zeros((2, 2, B, D))
    moments_loops.sum_squares(arrays(X), read_only(buckets), as_read(weights), sums, squares)
    mean, scatter, noise = np.zeros((2, B, D)), np.zeros((2, B, D)), np.zeros((B, D))
    moments_loops.centre(weight, sums, squares, len(buckets), mean, scatter, noise)
    return mean, scatter, noise


def full_moments(X, buckets, weights, weight):
    """Mean, full scatter and noise by the loops."""
    sums, products = np.zeros((2, B, D)), np.zeros((2, B, D, D))
    moments_loops.sum_products(arrays(X), read_only(buckets), as_read(weights), sums, products)
    mean, scatter, noise = np.zeros((2, B, D)), np.zeros((2, B, D, D)), np.zeros((B, D))
    moments_loops.centre_products(weight, sums, products, len(buckets), mean, scatter, noise)
    return mean, scatter, noise


@given(problems(), storages, dtypes)
def test_mean_and_scatter(problem, storage, dtype):
    X, buckets, weights = problem
    X = X.astype(dtype)
    weight, mean, scatter = exact(X, buckets, weights)
    found = diagonal_moments(storage(X), buckets, weights, weight)
    assert close(found[0][0], mean)
    assert close(found[1][0], diagonal(scatter))
    assert np.all(np.abs(found[1][0] - diagonal(scatter)) <= 1e-15 * diagonal(scatter) + found[2])


@given(problems(), storages, dtypes)
def test_full_scatter(problem, storage, dtype):
    X, buckets, weights = problem
    X = X.astype(dtype)
    weight, mean, scatter = exact(X, buckets, weights)
    found = full_moments(storage(X), buckets, weights, weight)
    assert close(found[0][0], mean)
    assert close(found[1][0], scatter)


@given(problems(), storages, st.data())
def test_missing_values_are_left_out(problem, storage, data):
    X, buckets, weights = problem
    gone = data.draw(nps.arrays(bool, X.shape))
    with_gaps = storage(np.where(gone, np.nan, X))
    w = np.ones(len(X)) if weights is None else weights
    sums, squares, missing = np.zeros((3, 2, B, D))
    moments_loops.sum_known_squares(
        arrays(with_gaps), read_only(buckets), as_read(weights), sums, squares, missing
    )
    for b in range(B):
        for j in range(D):
            here = (buckets == b) & ~gone[:, j]
            assert np.isclose(missing[0, b, j], w[(buckets == b) & gone[:, j]].sum())
            assert np.isclose(sums[0, b, j], (w * X[:, j])[here].sum())
            assert np.isclose(squares[0, b, j], (w * X[:, j] ** 2)[here].sum())


@given(problems(1), st.integers(0, 7), st.booleans())
def test_merging_and_taking_out(problem, cut, full):
    X, buckets, weights = problem
    make = full_moments if full else diagonal_moments
    parts = []
    for rows in (slice(None, cut), slice(cut, None), slice(None)):
        w = None if weights is None else weights[rows]
        weight = exact(X[rows], buckets[rows], w)[0]
        parts.append((weight, *make(X[rows], buckets[rows], w, weight)))
    first, second, whole = parts
    merge = moments_loops.merge_full if full else moments_loops.merge
    scratch = (np.empty((2, D)),) if full else ()
    places = np.arange(B)

    total = tuple(table.copy() for table in first)
    assert merge(1.0, places, *total, second, *scratch) == -1
    for found, expected in zip(total[:3], whole[:3], strict=True):
        assert close(found[0], expected[0])

    left = tuple(table.copy() for table in whole)
    assert merge(-1.0, places, *left, second, *scratch) == -1
    kept = first[0][0, :, 0] > 0
    for found, expected in zip(left[:3], first[:3], strict=True):
        assert close(found[0][kept], expected[0][kept])


def test_a_scatter_below_zero_is_named():
    X, more = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 6.0]]), np.array([[1.0, 0.0, 1.0], [9, 0, 9]])
    buckets = np.zeros(2, np.int64)
    parts = []
    for rows in (np.vstack([X, X]), more):
        b = np.zeros(len(rows), np.int64)
        weight = exact(rows, b, None)[0]
        parts.append((weight, *diagonal_moments(rows, b, None, weight)))
    assert moments_loops.merge(-1.0, np.arange(B), *parts[0], parts[1]) == 0
    assert len(buckets) == 2
