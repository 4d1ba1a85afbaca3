"""Scores of many rows equal the obvious ones, for any number of features and rows."""

import numpy as np
import pytest

from rosenblatt import prediction_loops
from rosenblatt.loops.rows import read_only
from rosenblatt.naive_bayes import gaussian_loops
from rosenblatt.naive_bayes.gaussian import GaussianForm
from rosenblatt.prediction import in_cells
from tests.reference import gaussian as reference

sizes = pytest.mark.parametrize(("n", "d", "k"), [(1, 4, 1), (2, 5, 3), (7, 8, 2), (30, 11, 5)])
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def problem(n, d, k, dtype):
    rng = np.random.default_rng([n, d, k])
    X = (rng.standard_normal((n, d)) + 3).astype(dtype)
    return X, *rng.standard_normal((2, k, d)), rng.standard_normal(k), rng.standard_normal(d) + 3


@sizes
@dtypes
def test_linear(n, d, k, dtype):
    X, linear, _, constant, _ = problem(n, d, k, dtype)
    scores = np.full((k, n), np.nan)
    prediction_loops.linear_scores(read_only(X), in_cells(linear), constant, scores)
    np.testing.assert_allclose(scores, constant[:, None] + linear @ X.T, rtol=1e-12, atol=1e-12)


@sizes
@dtypes
def test_parabolas_and_the_highest_of_them(n, d, k, dtype):
    X, linear, square, constant, center = problem(n, d, k, dtype)
    z = X - center
    expected = constant[:, None] + linear @ z.T + square @ (z * z).T
    cells = (in_cells(center[None])[0], in_cells(square), in_cells(linear), constant)
    codes, scratch = np.full(n, -1), np.empty((4, cells[1].shape[1]))
    assert not gaussian_loops.choose_by_parabolas(read_only(X), *cells, codes, scratch)
    assert np.array_equal(codes, expected.argmax(axis=0))
    one = np.full((1, n), np.nan)
    first = (cells[0], cells[1][:1], cells[2][:1], cells[3][:1])
    gaussian_loops.one_parabola_score(read_only(X), *first, one)
    np.testing.assert_allclose(one, expected[:1], rtol=1e-12, atol=1e-12)


def test_of_equal_classes_the_first_is_chosen():
    form = GaussianForm(np.zeros((3, 4)), np.ones((3, 4)), np.array([0.0, 1.0, 1.0]), None)
    codes = np.empty(2, np.intp)
    assert form.parabolas().choose(read_only(np.zeros((2, 4))), codes)
    assert codes.tolist() == [1, 1]


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("row", range(5))
@pytest.mark.parametrize("k", [2, 3])
def test_a_row_that_no_class_explains_is_reported(bad, row, k):
    X, mean, _, start, _ = problem(5, 6, k, np.float64)
    form = GaussianForm(mean, np.linspace(0.5, 2, 6 * k).reshape(k, 6), start, None)
    assert form.parabolas().choose(read_only(X), np.empty(5, np.intp))
    X[row, 2] = bad
    assert not form.parabolas().choose(read_only(X), np.empty(5, np.intp))


@pytest.mark.parametrize("n", [0, 1, 11])
@dtypes
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("far", [0.0, 1e3])
def test_scores_by_distances_and_by_products_are_the_obvious_ones(n, dtype, missing, far):
    rng = np.random.default_rng(n)
    X = (rng.standard_normal((n, 5)) + far).astype(dtype)
    if missing:
        X[rng.random(X.shape) < 0.3] = np.nan
    means, variances = rng.standard_normal((3, 5)) + far, rng.uniform(0.1, 2, (3, 5))
    prior = np.array([0.2, 0.5, 0.3])
    norm = 0.5 * np.log(2 * np.pi * variances)
    start = np.log(prior) - norm.sum(axis=1)
    form = GaussianForm(means, 0.5 / variances, start, -norm if missing else None)
    expected = np.array(reference.joint(X, prior, means, variances)).reshape(n, 3)
    np.testing.assert_allclose(form.by_distances(X), expected, rtol=1e-12, atol=1e-12)
    assert form.keeps_digits
    np.testing.assert_allclose(form.by_products(X), expected, rtol=1e-12, atol=1e-12)
