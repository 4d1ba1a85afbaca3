"""Scores by vectors of four equal the obvious ones, for any number of features and rows."""

import numpy as np
import pytest

from rosenblatt import quadratic_forms_loops
from rosenblatt.prediction import in_cells
from rosenblatt.runtime.storage import read_only

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
    quadratic_forms_loops.linear_scores(read_only(X), in_cells(linear), constant, scores)
    np.testing.assert_allclose(scores, constant[:, None] + linear @ X.T, rtol=1e-12, atol=1e-12)


@sizes
@dtypes
def test_parabolas_and_the_highest_of_them(n, d, k, dtype):
    X, linear, square, constant, centre = problem(n, d, k, dtype)
    z = X - centre
    expected = constant[:, None] + linear @ z.T + square @ (z * z).T
    cells = (in_cells(centre[None])[0], in_cells(square), in_cells(linear), constant)
    codes, scratch = np.full(n, -1), np.empty((4, cells[1].shape[1]))
    assert not quadratic_forms_loops.choose_by_parabolas(read_only(X), *cells, codes, scratch)
    assert np.array_equal(codes, expected.argmax(axis=0))
    one = np.full((1, n), np.nan)
    first = (cells[0], cells[1][:1], cells[2][:1], cells[3][:1])
    quadratic_forms_loops.one_parabola_score(read_only(X), *first, one)
    np.testing.assert_allclose(one, expected[:1], rtol=1e-12, atol=1e-12)


def test_a_row_without_a_score_is_reported():
    X, linear, square, constant, centre = problem(5, 6, 2, np.float64)
    X[3, 2] = np.nan
    cells = (in_cells(centre[None])[0], in_cells(square), in_cells(linear), constant)
    assert quadratic_forms_loops.choose_by_parabolas(
        read_only(X), *cells, np.empty(5, np.int64), np.empty((4, 8))
    )
