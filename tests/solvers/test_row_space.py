"""Few rows of many columns: the optimum of all columns, from a problem as small as the rows."""

import itertools

import numpy as np
import pytest

from rosenblatt import LogisticRegression, certify
from rosenblatt.solvers.logistic import choose_newton, duality_gap
from rosenblatt.solvers.logistic_problem import BinaryProblem
from rosenblatt.solvers.newton import coordinates, newton_cg, row_space_newton
from rosenblatt.solvers.softmax import SoftmaxProblem

KINDS = list(itertools.product([2, 3], [False, True], [True, False]))  # classes, reference, bias


def make(K, reference=False, fit_intercept=True, l2=1.0, dtype=np.float64):
    rng = np.random.default_rng(K)
    X = rng.standard_normal((40, 900)).astype(dtype) + 1
    X[20:30] = X[10:20]  # rows that say nothing new
    code = np.argmax(X[:, :K] + rng.standard_normal((40, K)), axis=1)
    c = rng.uniform(0.5, 2, 40)
    if K == 2:
        return BinaryProblem(X, 2.0 * code - 1, c, 0.0, l2, fit_intercept)
    return SoftmaxProblem(X, code.astype(np.int32), K, c, 0.0, l2, fit_intercept, reference)


@pytest.mark.parametrize(("K", "reference", "intercept"), KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_step_finds_what_steps_on_all_columns_find(K, reference, intercept, dtype):
    problem = make(K, reference, intercept, dtype=dtype)
    start = problem.at(np.zeros(problem.shape))
    found = next(row_space_newton(problem, start))
    best = list(itertools.islice(newton_cg(problem, start), 100))[-1]
    assert found.objective <= best.objective * (1 + 1e-9)
    assert duality_gap(problem, found) <= 1e-9 * found.objective
    # A number added to the biases of all classes changes nothing.
    ours, theirs = problem.centered(found.point), problem.centered(best.point)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("K", [2, 3])
def test_weights_of_rows_score_and_weigh_as_those_of_columns(K):
    problem = make(K)
    features, outward, inward = coordinates(problem)
    assert features.shape == (40, 30), "ten rows are repeated"
    u = np.random.default_rng(0).standard_normal((30, *problem.shape[1:]))
    w = outward(u)
    np.testing.assert_allclose(problem.X @ w, features @ u, rtol=1e-9, atol=1e-9)
    assert np.linalg.norm(w) == pytest.approx(np.linalg.norm(u))
    np.testing.assert_allclose(inward(w), u, rtol=1e-8, atol=1e-8)


def test_it_begins_where_it_is_told():
    problem = make(2)
    best = next(row_space_newton(problem, problem.at(np.zeros(problem.shape))))
    again = next(row_space_newton(problem, best))
    assert again.objective <= best.objective


def test_it_is_chosen_for_few_rows_of_many_columns_with_an_l2_penalty():
    assert choose_newton(make(2)) == "newton-cholesky"  # few enough columns as they are
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5000)), np.arange(60) % 3
    model = LogisticRegression(tol=1e-8).fit(X, y)
    assert model.n_iter_[0] <= 2
    assert model.dual_gap_ <= 1e-8 * model.objective_
    assert certify(model, X, y).holds
    again = LogisticRegression(tol=1e-8, solver="newton-cg").fit(X, y)
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-5)
