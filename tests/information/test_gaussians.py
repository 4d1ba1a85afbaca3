"""Gaussian densities against scipy's, and the laws of sums and scales against samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rosenblatt.information import Gaussian

reals = st.floats(-1e3, 1e3)
variances = st.floats(1e-3, 1e3)


@given(reals, variances, reals)
def test_the_density_of_a_number_is_scipys(mean, variance, x):
    ours = Gaussian(mean, variance).log_density(x)
    assert math.isclose(ours, stats.norm(mean, math.sqrt(variance)).logpdf(x), rel_tol=1e-9)


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_the_density_of_a_vector_is_scipys(d, seed):
    rng = np.random.default_rng(seed)
    A, mean, x = rng.normal(size=(d, d)), rng.normal(size=d), rng.normal(size=(3, 2, d))
    S = A @ A.T + 0.1 * np.eye(d)
    ours = Gaussian(mean, S).log_density(x)
    np.testing.assert_allclose(ours, stats.multivariate_normal(mean, S).logpdf(x), rtol=1e-8)


def test_one_dimension_is_the_same_as_a_vector_of_one():
    number, vector = Gaussian(1, 4), Gaussian([1], [[4]])
    assert math.isclose(number.log_density(3), vector.log_density([3]))


def test_the_density_integrates_to_one():
    x = np.linspace(-40, 50, 20001)
    assert math.isclose(np.trapezoid(Gaussian(3, 9).density(x), x), 1, rel_tol=1e-9)


def test_far_away_the_logarithm_still_speaks():
    assert Gaussian(0, 1).density(100) == 0
    assert math.isclose(Gaussian(0, 1).log_density(100), -5000.918938533205)


@given(reals, variances, reals, reals)
def test_a_scaled_and_shifted_gaussian_has_the_density_of_its_change_of_variables(m, v, a, b):
    if abs(a) < 1e-3:
        a = 1.0
    x, g = m + 0.5, Gaussian(m, v)
    ours = g.affine(a, b).log_density(a * x + b)
    assert math.isclose(ours, g.log_density(x) - math.log(abs(a)), rel_tol=1e-6, abs_tol=1e-6)


def test_a_sum_of_independent_draws_has_the_summed_variance():
    # D8: facts about Gaussians
    rng = np.random.default_rng(0)
    X, Y = Gaussian(1, 4), Gaussian(-2, 9)
    total = X.plus_independent(Y)
    draws = rng.normal(1, 2, 200_000) + rng.normal(-2, 3, 200_000)
    assert abs(draws.mean() - total.mean) < 5 * math.sqrt(13 / 200_000)
    assert abs(draws.var() / total.variance - 1) < 5 * math.sqrt(2 / 200_000)


def test_twice_a_variable_is_not_the_sum_of_two():
    g = Gaussian(0, 1)
    assert g.affine(2).variance == 4
    assert g.plus_independent(g).variance == 2


def test_vectors_are_mapped_by_matrices():
    g = Gaussian([1, 2], [[2, 1], [1, 3]]).affine([[1, 1], [0, 2], [1, 0]], [0, 1, 0])
    assert g.mean.tolist() == [3, 5, 1]
    assert g.variance.tolist() == [[7, 8, 3], [8, 12, 2], [3, 2, 2]]
    assert Gaussian([1, 2], np.eye(2)).affine(3, 1).variance.tolist() == [[9, 0], [0, 9]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Gaussian(0, -1), "variance must be a number >= 0; got -1"),
        (lambda: Gaussian(math.nan, 1), "mean must hold no NaN"),
        (lambda: Gaussian(0, math.inf), "variance must hold finite numbers up to .*; got inf"),
        (lambda: Gaussian([0, 0], 1), r"got shapes \(2,\) and \(\)"),
        (lambda: Gaussian([0, 0], [[1, 2], [0, 1]]), "symmetric"),
        (lambda: Gaussian([0, 0], [[1, 2], [2, 1]]), "no negative eigenvalue; got -1"),
        (lambda: Gaussian(0, 0).density(0), "variance must be a number > 0 for a density; got 0"),
        (lambda: Gaussian([0, 0], np.ones((2, 2))).density([0, 0]), "positive definite"),
        (lambda: Gaussian([0, 0], np.eye(2)).density([0, 0, 0]), "vectors of length 2"),
        (lambda: Gaussian(0, 1).density([]), "x must hold at least one number"),
        (lambda: Gaussian(0, 1).affine([1]), "a and b must be numbers"),
        (lambda: Gaussian([0, 0], np.eye(2)).affine([[1]]), r"matrix \(m, 2\)"),
        (lambda: Gaussian(0, 1).plus_independent(Gaussian([0], [[1]])), "the same dimension"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
