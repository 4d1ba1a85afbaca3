"""Kernels equal their formulas, scikit-learn's and their feature maps; their matrices are sound."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import pairwise

from rosenblatt.kernels import (
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    is_positive_semidefinite,
)

PAIRS = [
    (Linear(), pairwise.linear_kernel),
    (Polynomial(3, 0.5, 1.0), lambda U, V: pairwise.polynomial_kernel(U, V, 3, 0.5, 1.0)),
    (Polynomial(2), lambda U, V: pairwise.polynomial_kernel(U, V, 2, 1.0, 0.0)),
    (Gaussian(0.3), lambda U, V: pairwise.rbf_kernel(U, V, 0.3)),
    (Laplacian(0.3), lambda U, V: pairwise.laplacian_kernel(U, V, 0.3)),
    (Sigmoid(0.2, 0.1), lambda U, V: pairwise.sigmoid_kernel(U, V, 0.2, 0.1)),
]
each_kernel = pytest.mark.parametrize("kernel", [kernel for kernel, _ in PAIRS], ids=repr)


def rows(n, d, seed=0):
    return np.random.RandomState(seed).standard_normal((n, d))


@pytest.mark.parametrize(("kernel", "theirs"), PAIRS, ids=[repr(kernel) for kernel, _ in PAIRS])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_equals_scikit_learn_dense_and_sparse(kernel, theirs, storage):
    # M1: the kernel functions
    U, V = rows(30, 6), rows(20, 6, seed=1)
    np.testing.assert_allclose(kernel(storage(U), storage(V)), theirs(U, V), rtol=1e-12, atol=1e-13)


@each_kernel
def test_float32_stays_float32(kernel):
    U = rows(10, 3).astype(np.float32)
    assert kernel(U).dtype == np.float32


@each_kernel
def test_the_rows_are_left_alone(kernel):
    U, V = rows(10, 3), rows(5, 3, seed=1)
    before = U.copy(), V.copy()
    kernel(U, V)
    assert np.array_equal(U, before[0])
    assert np.array_equal(V, before[1])


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from([0.0, 1.0, 2.5]))
def test_a_polynomial_kernel_is_the_product_of_its_features(seed, degree, coef0):
    # T18: polynomial kernels equal their feature maps
    rng = np.random.RandomState(seed)
    d = rng.randint(1, 5)
    U, V = rng.standard_normal((4, d)), rng.standard_normal((3, d))
    kernel = Polynomial(degree, gamma=0.7, coef0=coef0)
    phi_U, phi_V = kernel.features(U), kernel.features(V)
    assert phi_U.shape == (4, kernel.n_features(d))
    np.testing.assert_allclose(phi_U @ phi_V.T, kernel(U, V), rtol=1e-9, atol=1e-9)
    sparse = kernel.features(sp.csr_matrix(U))
    assert sp.issparse(sparse)
    np.testing.assert_allclose(sparse.toarray(), phi_U, rtol=1e-12)


def test_the_number_of_features_is_the_formula_of_the_course():
    # M3: writing the features out
    # d features, degree m: C(d + m - 1, m) products of exactly m factors
    assert Polynomial(6).n_features(100) == math.comb(105, 6) == 1_609_344_100


@given(st.integers(0, 2**32 - 1))
def test_kernels_of_distinct_rows_are_positive_semidefinite(seed):
    U = np.random.RandomState(seed).standard_normal((12, 3))
    for kernel, _ in PAIRS[:-1]:
        assert kernel.positive_semidefinite
        assert is_positive_semidefinite(kernel(U)), kernel


def test_what_is_no_kernel_is_recognised():
    U = rows(60, 4)
    assert not Sigmoid().positive_semidefinite
    assert not is_positive_semidefinite(Sigmoid()(U))
    assert not Polynomial(2, coef0=-1.0).positive_semidefinite
    assert not is_positive_semidefinite([[1.0, 2.0], [0.0, 1.0]])  # not symmetric
    assert not is_positive_semidefinite([[1.0, 2.0], [2.0, 1.0]])  # eigenvalue -1
    assert not is_positive_semidefinite([[1.0, 0.0]])  # not square
    assert is_positive_semidefinite(np.zeros((3, 3)))
    for scale in (1e-300, 1e308):
        assert not is_positive_semidefinite([[scale, scale], [scale, -scale]])
        assert is_positive_semidefinite([[scale, scale], [scale, scale]])


def test_a_kernel_matrix_may_be_unsymmetric_by_rounding():
    X = load_breast_cancer().data
    K = pairwise.rbf_kernel(X)
    assert not np.array_equal(K, K.T)
    assert is_positive_semidefinite(K)
    assert is_positive_semidefinite(pairwise.rbf_kernel(X.astype(np.float32)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_distances_survive_groups_far_apart(dtype):
    rng = np.random.RandomState(0)
    groups = [rng.standard_normal((40, 2)) + shift for shift in (1e6, -1e6)]
    U = np.vstack(groups).astype(dtype)
    for V in (U, U[:30], U[[0]]):
        truth = np.exp(-0.5 * ((U[:, None].astype(float) - V.astype(float)) ** 2).sum(axis=2))
        assert np.abs(Gaussian(0.5)(U, V) - truth).max() < 1e-6
        np.testing.assert_allclose(np.diag(Gaussian(0.5)(V)), 1.0)


def test_entries_stored_in_several_parts_count_as_one():
    X = sp.csr_matrix(([1.0, 1.0, 3.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    before = X.data.copy()
    for kernel, _ in PAIRS:
        np.testing.assert_allclose(kernel(X), kernel(X.toarray()))
    assert np.array_equal(X.data, before)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_distances_survive_rows_far_from_the_origin(dtype):
    U, V = rows(20, 4), rows(15, 4, seed=1)
    far = 1e6 if dtype == np.float64 else 1e3
    U_far, V_far = (U + far).astype(dtype), (V + far).astype(dtype)
    truth = Gaussian(0.5)(U_far.astype(float) - far, V_far.astype(float) - far)
    tolerance = 1e-9 if dtype == np.float64 else 1e-4
    assert np.abs(Gaussian(0.5)(U_far, V_far) - truth).max() < tolerance


def test_bad_numbers_are_refused():
    with pytest.raises(ValueError, match=r"degree must be an integer >= 0; got -1\."):
        Polynomial(-1)
    with pytest.raises(ValueError, match=r"degree must be an integer >= 0; got 2\.5\."):
        Polynomial(2.5)
    with pytest.raises(ValueError, match=r"gamma must be a finite number >= 0; got -2\."):
        Gaussian(-2)
    with pytest.raises(ValueError, match=r"gamma must be a finite number >= 0; got 'scale'\."):
        Gaussian("scale")
    with pytest.raises(ValueError, match=r"coef0 must be a finite number; got nan\."):
        Sigmoid(1.0, math.nan)
    with pytest.raises(ValueError, match=r"coef0 must be >= 0 for a kernel to have features"):
        Polynomial(2, coef0=-1).features([[1.0]])
    with pytest.raises(ValueError, match=r"shapes \(2, 3\) and \(2, 2\)"):
        Gaussian()(rows(2, 3), rows(2, 2))
    with pytest.raises(ValueError, match="Input contains NaN"):
        Gaussian()([[np.nan]], [[1.0]])


@pytest.mark.parametrize("offset", [1e5, 1e7])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_far_from_the_origin_keep_the_digits_of_their_distances(offset, dtype):
    """By scalar products alone the kernel was off by 5e-7 at offsets of 1e5, by 0.007 at 1e7."""
    rng = np.random.default_rng(0)
    rows = np.zeros((30, 8))
    rows[:, :2] = offset + 8 * rng.normal(size=(30, 2)).round(1)
    rows[::2, 3] = -offset  # groups far apart, which no shift brings together
    rows = rows.astype(dtype)
    exact = np.exp(-0.1 * ((rows[:, None].astype(float) - rows.astype(float)) ** 2).sum(axis=2))
    K = Gaussian(0.1)(sp.csr_matrix(rows))
    assert np.allclose(K, exact, rtol=1e-9 if dtype == np.float64 else 1e-4, atol=1e-30)
