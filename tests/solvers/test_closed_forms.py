"""Solvers of least squares know nothing of estimators: matrices in, the shortest answer out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.linear_model.least_squares import solve, solve_nonnegative, solve_rows
from rosenblatt.linear_model.ridge_decomposition import Spectrum, ridge_coefs


def problem(seed, n=30, d=5, rank=None):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d))
    if rank is not None:
        A = A[:, :rank] @ rng.normal(size=(rank, d))
    return A, rng.normal(size=(n, 2))


@given(seed=st.integers(0, 50), rank=st.integers(1, 5), penalty=st.sampled_from([0.0, 1e-3, 10.0]))
def test_products_and_rows_give_the_shortest_best_answer(seed, rank, penalty):
    A, B = problem(seed, rank=rank)
    below = np.sqrt(penalty) * np.eye(5)
    rows, right = np.vstack([A, below]), np.vstack([B, np.zeros((5, 2))])
    best = np.linalg.lstsq(rows, right, rcond=1e-9)[0]
    for solution in (solve(A.T @ A, A.T @ B, penalty), solve_rows(A, B, penalty)):
        np.testing.assert_allclose(solution.coef, best, rtol=1e-6, atol=1e-8)
        assert solution.rank == (5 if penalty else rank)
        assert solution.dependent.shape == (5, 5 - solution.rank)


@given(seed=st.integers(0, 50), penalty=st.sampled_from([0.0, 1.0]))
def test_nonnegative_answers_satisfy_the_conditions_of_optimality(seed, penalty):
    A, B = problem(seed)
    coef = solve_nonnegative(A.T @ A, A.T @ B, penalty).coef
    gradient = A.T @ (A @ coef - B) + penalty * coef
    assert (coef >= 0).all()
    assert (gradient >= -1e-9).all()
    np.testing.assert_allclose(gradient * coef, 0, atol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_one_decomposition_serves_all_penalties(scale):
    A, B = problem(0)
    A[:, 0] *= scale
    penalties = np.array([1e-3, 1.0, 100.0])
    coefs, condition = ridge_coefs(A.T @ A, A.T @ B, penalties)
    assert 0 < condition <= 1
    for penalty, coef in zip(penalties, coefs, strict=True):
        np.testing.assert_allclose(coef, solve_rows(A, B, penalty).coef, rtol=1e-9)
    by_rows = Spectrum.of_rows(A, B).coefs(penalties)
    np.testing.assert_allclose(by_rows, coefs, rtol=1e-8)
