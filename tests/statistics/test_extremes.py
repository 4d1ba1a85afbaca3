"""Extremes merge, name what is wrong, and are never taken back."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.statistics import Extremes, Moments, RowCounts

X = np.array([[1.0, -2.0], [4.0, 0.0], [2.0, 3.0]])


def test_they_cannot_be_taken_back():
    whole = Extremes.of(X)
    with pytest.raises(ValueError, match=r"^Minima and maxima merge but cannot be taken back;"):
        whole - Extremes.of(X[:1])


def test_what_is_not_stored_is_zero():
    dense, sparse = Extremes.of(abs(X)), Extremes.of(sp.csr_matrix(abs(X)))
    assert dense == sparse
    assert np.array_equal(sparse.low, [[1, 0]])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_numbers_that_are_not_finite_are_refused_by_the_name_of_their_feature(bad, storage):
    spoiled = X.copy()
    spoiled[1, 1] = bad
    with pytest.raises(ValueError, match="Feature 1 holds NaN or infinity"):
        Extremes.of(storage(spoiled))


@pytest.mark.parametrize("kind", [Extremes, RowCounts])
@pytest.mark.parametrize("weights", [None, [0.5, 1.25, 3.0]])
def test_the_total_is_the_statistic_without_classes(kind, weights):
    assert kind.of(X, ["a", "b", "a"], weights).total() == kind.of(X, None, weights)
    assert kind.zero(2).total() == kind.zero(2)


def test_other_statistics_and_other_widths_are_refused():
    with pytest.raises(TypeError, match="Cannot add Moments and Extremes"):
        Extremes.of(X) + Moments.of(X)
    with pytest.raises(ValueError, match="different n_features: 2 and 1"):
        Extremes.of(X) + Extremes.of(X[:, :1])


def test_a_file_with_low_above_high_is_refused():
    arrays = Extremes.of(X).arrays()
    arrays["low"], arrays["high"] = arrays["high"], arrays["low"]
    with pytest.raises(ValueError, match="low is above high"):
        Extremes.from_arrays(arrays)


def test_numbers_that_csr_stores_in_parts_are_numbers():
    parts = sp.csr_matrix((np.array([1.0, 1.0, 3.0]), [0, 0, 0], [0, 2, 3]), (2, 1))
    assert Extremes.of(parts).low.tolist() == [[2.0]]
