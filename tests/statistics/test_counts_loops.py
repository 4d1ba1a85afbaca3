"""The counting loops equal the slow, obvious counts, whatever storage, precision and weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from rosenblatt.loops.rows import arrays, read_only
from rosenblatt.statistics import counts_loops
from tests.reference import statistics as reference

B, D = 3, 4
storages = st.sampled_from([np.asarray, sp.csr_matrix])
dtypes = st.sampled_from([np.float64, np.float32, np.int64])


@st.composite
def problems(draw, whole):
    n = draw(st.integers(0, 7))
    X = draw(nps.arrays(np.float64, (n, D), elements=st.integers(0, 3).map(float)))
    buckets = draw(nps.arrays(np.int64, n, elements=st.integers(-1, B - 1)))
    steps = st.sampled_from([1.0, 2.0, 3.0] if whole else [0.5, 1.0, 0.25])
    weights = draw(st.none() | nps.arrays(np.float64, n, elements=steps))
    return X, buckets, weights


def expected_sums(X, buckets, weights, threshold=None):
    w = np.ones(len(X)) if weights is None else weights
    w = np.where(buckets >= 0, w, 0)
    sums = reference.feature_sums(X, buckets, w, threshold)
    table = np.zeros((B, D))
    for b, values in sums.items():
        table[b] = reference.floats(values)
    return table


def as_read(weights):
    return None if weights is None else read_only(weights)


@given(problems(whole=True), storages, dtypes)
def test_sums_of_whole_numbers(problem, storage, dtype):
    X, buckets, weights = problem
    sums = np.zeros((B, D), np.int64)
    rows = arrays(storage(X.astype(dtype)))
    bad = counts_loops.sum_whole(rows, read_only(buckets), as_read(weights), 1e9, sums)
    assert bad == -1
    assert np.array_equal(sums, expected_sums(X, buckets, weights))


@given(problems(whole=False), storages, st.sampled_from([1.0, 0.5, 0.1]))
def test_sums_of_any_numbers(problem, storage, scale):
    X, buckets, weights = problem
    sums = np.zeros((B, D))
    rows = arrays(storage(scale * X))
    bad = counts_loops.sum_real(rows, read_only(buckets), as_read(weights), sums)
    assert bad == -1
    assert np.allclose(sums, expected_sums(scale * X, buckets, weights), rtol=1e-15)


@given(problems(whole=True), storages, dtypes, st.sampled_from([0.0, 1.0, 1.5]))
def test_presence(problem, storage, dtype, threshold):
    X, buckets, weights = problem
    rows = arrays(storage(X.astype(dtype)))
    expected = expected_sums(X, buckets, weights, threshold)
    for kind in (np.int64, np.float64):
        sums = np.zeros((B, D), kind)
        counts_loops.count_present(rows, read_only(buckets), as_read(weights), threshold, sums)
        assert np.array_equal(sums, expected)


@given(problems(whole=True))
def test_categories(problem):
    X, buckets, weights = problem
    X = X.astype(np.int64) - 1  # -1 is missing
    w = np.ones(len(X)) if weights is None else weights
    expected = np.zeros((B, D, 3))
    counted = reference.category_counts(X, buckets, np.where(buckets >= 0, w, 0))
    for (b, j, value), weight in counted.items():
        if value >= 0:
            expected[b, j, value] = float(weight)
    starts, sums = read_only(np.arange(D + 1) * 3), np.zeros((B, 3 * D), np.int64)
    counts_loops.count_categories(read_only(X), read_only(buckets), as_read(weights), starts, sums)
    assert np.array_equal(sums, expected.reshape(B, -1))
    real = np.zeros((B, 3 * D))
    counts_loops.count_categories(read_only(X), read_only(buckets), read_only(w), starts, real)
    assert np.array_equal(real, expected.reshape(B, -1))


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("bad", [-1.0, 0.5, np.nan, np.inf, -np.inf, 1e300])
def test_the_first_row_that_is_not_whole_is_named(storage, bad):
    X = arrays(storage(np.array([[1.0, 2.0], [3.0, bad], [4.0, 5.0]])))
    buckets, sums = read_only(np.zeros(3, np.int64)), np.zeros((1, 2), np.int64)
    assert counts_loops.sum_whole(X, buckets, None, 1e9, sums) == 1


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, -np.inf])
def test_the_first_row_that_cannot_be_counted_is_named(storage, bad):
    X = arrays(storage(np.array([[1.0, 2.0], [3.0, bad], [4.0, 5.0]])))
    assert counts_loops.sum_real(X, read_only(np.zeros(3, np.int64)), None, np.zeros((1, 2))) == 1


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_presence_of_what_is_not_finite_is_refused(storage, bad):
    X = arrays(storage(np.array([[1.0, 2.0], [3.0, bad], [4.0, 5.0]])))
    buckets, sums = read_only(np.zeros(3, np.int64)), np.zeros((1, 2), np.int64)
    assert counts_loops.count_present(X, buckets, None, 0.0, sums) == 1
    weights, real = read_only(np.full(3, 0.5)), np.zeros((1, 2))
    assert counts_loops.count_present(X, buckets, weights, 0.0, real) == 1
