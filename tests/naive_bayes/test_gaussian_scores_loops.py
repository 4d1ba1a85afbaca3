"""The Gaussian loops equal the obvious sums, whatever the precision and the number of rows."""

import numpy as np
import pytest

from rosenblatt import quadratic_forms_loops
from rosenblatt.runtime.storage import read_only
from tests.reference import gaussian as reference

K, D = 3, 5


def problem(n, dtype, missing, far=0.0):
    rng = np.random.default_rng(n)
    X = (rng.standard_normal((n, D)) + far).astype(dtype)
    if missing:
        X[rng.random(X.shape) < 0.3] = np.nan
    means, variances = rng.standard_normal((K, D)) + far, rng.uniform(0.1, 2, (K, D))
    prior = np.array([0.2, 0.5, 0.3])
    norm = 0.5 * np.log(2 * np.pi * variances)
    start = np.log(prior) - norm.sum(axis=1)
    form = (means, 0.5 / variances, start, -norm if missing else None)
    return X, form, np.array(reference.joint(X, prior, means, variances)).reshape(n, K)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 11])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("far", [0.0, 1e3])
def test_scores_and_choices_are_the_obvious_ones(n, dtype, missing, far):
    X, form, expected = problem(n, dtype, missing, far)
    scores, codes = np.empty((n, K)), np.empty(n, np.int64)
    quadratic_forms_loops.score_rows(read_only(X), *form, scores)
    lost = quadratic_forms_loops.choose_classes(read_only(X), *form, codes)
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)
    assert np.array_equal(codes, expected.argmax(axis=1))
    assert not lost


def test_of_equal_classes_the_first_is_chosen():
    X, codes = np.zeros((2, 1)), np.empty(2, np.int64)
    form = np.zeros((3, 1)), np.ones((3, 1)), np.array([0.0, 1.0, 1.0]), None
    quadratic_forms_loops.choose_classes(read_only(X), *form, codes)
    assert codes.tolist() == [1, 1]


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("row", range(5))
def test_a_row_that_no_class_explains_is_reported(bad, row):
    X, form, _ = problem(5, np.float64, False)
    X[row, 2] = bad
    assert quadratic_forms_loops.choose_classes(read_only(X), *form, np.empty(5, np.int64))
