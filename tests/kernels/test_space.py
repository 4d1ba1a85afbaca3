"""Coordinates in the feature space of a kernel, and sums over rows that planes there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from rosenblatt.kernels.space import SMALLEST, KernelSpace


def gaussian(n, d, gamma, seed=0, repeated=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[:repeated] = X[n - repeated :]
    return np.exp(-gamma * cdist(X, X, "sqeuclidean"))


@given(
    st.integers(1, 300),
    st.integers(1, 8),
    st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
    st.integers(0, 9),
)
def test_coordinates_multiply_to_the_kernel_and_planes_are_sums_over_rows(n, d, gamma, seed):
    K = gaussian(n, d, gamma, seed, repeated=n // 5)
    space = KernelSpace.of(K)
    np.testing.assert_allclose(space.F @ space.F.T, K, atol=1e-10)
    a = np.random.default_rng(seed).normal(size=(2, n))
    planes = a @ space.F
    found = space.of_rows(planes)
    np.testing.assert_allclose(found @ space.F, planes, atol=1e-8 * np.abs(planes).max())
    assert (np.linalg.norm(found, axis=1) <= np.linalg.norm(a, axis=1) * (1 + 1e-6)).all()


def test_equal_rows_and_smooth_kernels_take_few_directions():
    assert KernelSpace.of(gaussian(400, 2, 1e-2)).F.shape[1] < 60
    assert KernelSpace.of(gaussian(100, 5, 1.0, repeated=30)).F.shape[1] == 70
    assert KernelSpace.of(gaussian(500, 5, 1.0)).F.shape[1] == 500


def test_what_is_negative_is_left_out():
    A = np.random.default_rng(0).normal(size=(80, 80))
    values, vectors = np.linalg.eigh(A + A.T)
    F = KernelSpace.of(A + A.T).F
    positive = (vectors * np.maximum(values, 0)) @ vectors.T
    np.testing.assert_allclose(F @ F.T, positive, atol=1e-9)


@pytest.mark.parametrize("K", [np.zeros((4, 4)), -np.eye(4)])
def test_where_nothing_is_positive_there_is_one_direction_of_zeros(K):
    space = KernelSpace.of(K)
    assert not space.F.any()
    assert space.F.shape == (4, 1)


def test_scale_does_not_matter():
    K = gaussian(200, 3, 0.1)
    for scale in (1e-200, 1e200):
        F = KernelSpace.of(scale * K).F
        np.testing.assert_allclose(F @ F.T / scale, K, atol=4 * 200 * SMALLEST)
