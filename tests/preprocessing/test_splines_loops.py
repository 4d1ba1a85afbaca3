"""Splines are those of scikit-learn, within the knots and beyond them, in either precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import SplineTransformer

from rosenblatt.preprocessing import basis_functions
from rosenblatt.preprocessing.basis_functions import Splines


def theirs(degree, n_functions, X, Z):
    """Column by column: of degree one, scikit-learn takes the second for one of degree two."""
    made = SplineTransformer(
        n_functions + 2 - degree, degree=degree, knots="quantile", extrapolation="linear",
        include_bias=False,
    )  # fmt: skip
    return np.hstack([made.fit(X[:, [j]]).transform(Z[:, [j]]) for j in range(X.shape[1])])


@given(
    seed=st.integers(0, 200),
    degree=st.integers(1, 4),
    extra=st.integers(0, 5),
    whole=st.booleans(),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_they_are_those_of_scikit_learn(seed, degree, extra, whole, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3)) * [1.0, 100.0, 0.01]
    if whole:  # knots coincide
        X = np.round(X / [1.0, 100.0, 0.01])
    X = X.astype(dtype)
    Z = np.concatenate([X, 3 * X]).astype(dtype)
    ours = Splines(degree + extra, degree).fit(X).transform(Z)
    expected = theirs(degree, degree + extra, X, Z)
    assert ours.dtype == dtype
    scale = np.abs(expected).max(axis=0)
    eps = np.finfo(dtype).eps
    assert (np.abs(ours - expected) <= 64 * eps * scale).all()


def test_many_rows_are_made_in_parts(monkeypatch):
    X = np.random.default_rng(0).normal(size=(100, 3))
    whole = Splines(6, 3).fit(X).transform(X)
    monkeypatch.setattr(basis_functions, "CELLS_AT_ONCE", 20)
    np.testing.assert_array_equal(Splines(6, 3).fit(X).transform(X), whole)


@pytest.mark.parametrize("degree", [1, 3])
def test_they_sum_to_one_with_the_one_left_out_and_a_constant_is_no_trouble(degree):
    x = np.linspace(0, 1, 50)[:, np.newaxis]
    found = Splines(7, degree).fit(x).transform(x)
    assert found.shape == (50, 7)
    assert (found >= 0).all()
    assert (found.sum(axis=1) <= 1 + 1e-12).all()
    flat = np.ones((20, 1))
    np.testing.assert_array_equal(
        Splines(7, degree).fit(flat).transform(flat), theirs(degree, 7, flat, flat)
    )
