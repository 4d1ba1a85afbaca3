"""Sums about a centre, of units of rows, equal the obvious sums; far rows lose no digits."""

import numpy as np
import pytest

from rosenblatt.runtime.storage import read_only
from rosenblatt.statistics import scatter_loops


def sums(X, buckets, n_buckets, centres, limits):
    """Sums and squares (B, d) as pairs, and which of the squares were summed in plain doubles."""
    d = X.shape[1]
    p = d + -d % 4
    cells = np.append(np.arange(p - 4), np.arange(d - 4, d))
    tables = (*np.zeros((2, 2, n_buckets, p)), np.zeros((n_buckets, p)))
    scratch, counts = np.zeros((2, n_buckets, p)), np.zeros((2, n_buckets), np.int64)
    places = (np.ascontiguousarray(table[:, cells]) for table in (centres, limits))
    scatter_loops.sum_shifted(read_only(X), read_only(buckets), *places, tables, scratch, counts)
    assert not scratch.any()
    features = np.arange(d) + np.where(np.arange(d) < p - 4, 0, p - d)
    return (table[..., features] for table in tables)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d"), [(1, 4), (5, 5), (600, 7), (3000, 12)])
@pytest.mark.parametrize("limit", [-1.0, 1e9])
def test_sums_and_squares_of_distances(n, d, dtype, limit):
    rng = np.random.default_rng([n, d])
    X = (rng.standard_normal((n, d)) + 10).astype(dtype)
    buckets, centres = rng.integers(3, size=n), rng.standard_normal((3, d)) + 10
    first, second, plain = sums(X, buckets, 3, centres, np.full((3, d), limit))
    for b in range(3):
        z = X[buckets == b].astype(np.float64) - centres[b]
        np.testing.assert_allclose(first[0, b], z.sum(axis=0), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(second[0, b], (z * z).sum(axis=0), rtol=1e-13)
    assert np.allclose(plain, second[0] if limit > 0 else 0)


def test_a_far_row_is_summed_with_care_and_the_rest_can_be_told_without_it():
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((1000, 5)), 3)
    X[700, 2] = 1e9 + 0.5
    buckets, centres = np.zeros(1000, np.int64), np.zeros((1, 5))
    _, second, plain = sums(X, buckets, 1, centres, np.full((1, 5), 1e4))
    rest = (second[0, 0, 2] - X[700, 2] ** 2) + second[1, 0, 2]
    # The square of the far number is not one double; what it lacks is known.
    high = X[700, 2] ** 2
    lacks = float(int(2 * X[700, 2]) ** 2 - 4 * int(high)) / 4
    others = np.delete(X[:, 2], 700)
    assert np.isclose(rest - lacks, (others**2).sum(), rtol=1e-9)
    assert plain[0, 2] < 1000  # its unit is not among those summed in plain doubles


def test_nan_is_not_lost():
    X = np.zeros((10, 4))
    X[3, 1] = np.nan
    first, second, _ = sums(X, np.zeros(10, np.int64), 1, np.zeros((1, 4)), np.ones((1, 4)))
    assert np.isnan(first[0, 0]).tolist() == [False, True, False, False]
    assert np.isnan(second[0, 0]).tolist() == [False, True, False, False]
