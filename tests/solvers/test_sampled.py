import itertools

import numpy as np
import pytest

from rosenblatt import LogisticRegression
from rosenblatt.linear_model.solvers import newton_for
from rosenblatt.solvers.sampled import sampled_newton, sizes, sizes_of_curvature
from rosenblatt.solvers.softmax import SoftmaxProblem


def with_rare_columns(n=20_000, d=30, K=6, l2=1e-3, seed=0):
    """Numbers, and columns of few ones: in a sample some of these have none."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 10:] = rng.random((n, d - 10)) < np.geomspace(10 / n, 0.1, d - 10)
    X[:, 10:] = (X[:, 10:] - X[:, 10:].mean(axis=0)) / X[:, 10:].std(axis=0)
    y = (X @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)
    return SoftmaxProblem(X, y, K, np.ones(n), 0.0, l2, fit_intercept=True, reference=False)


@pytest.mark.parametrize("l2", [1e-2, 1.0, 100.0])
def test_columns_of_few_ones_do_not_hold_it_up(l2):
    problem = with_rare_columns(l2=l2)
    assert newton_for(problem) == "newton-sampled"
    steps = sampled_newton(problem, problem.at(np.zeros(problem.shape)))
    places = itertools.islice(steps, 50)
    short, small = 1e-4 * problem.n, 1e-4 * problem.zero()
    assert any(place.gradient_norm < short and problem.gap(place) < small for place in places)


def test_samples_grow_and_end_with_a_quarter_of_the_rows():
    problem = with_rare_columns()
    assert sizes(problem) == [1860]  # ten for each parameter
    rows = sizes_of_curvature(problem)
    assert [next(rows) for _ in range(3)] == [5000, 20_000, 20_000]


def test_each_class_by_itself_is_a_block_of_the_whole():
    problem = with_rare_columns(n=500, d=12, K=4)
    place = problem.at(np.random.default_rng(0).normal(size=problem.shape))
    H = problem.hessian(place).reshape(*problem.shape, *problem.shape)
    for k, block in enumerate(problem.class_hessians(place)):
        np.testing.assert_allclose(block, H[:, k, :, k], rtol=1e-10, atol=1e-12)


def test_samples_are_of_rows_that_count():
    """Weights of a mask may have the period of a sample."""
    problem = with_rare_columns(n=2_000, d=12)
    problem.c = np.tile([0.0, 0.0, 1.0, 1.0], 500)
    for n_rows in (500, 250, 30):
        part = problem.sample(n_rows)
        assert n_rows <= part.n
        assert np.all(part.c > 0)
        np.testing.assert_allclose(part.c.sum(), problem.c.sum())


@pytest.mark.parametrize(("n", "name"), [(16_160, "newton-sampled"), (7_400, "newton-cg")])
def test_few_rows_beside_the_columns_are_no_sample(n, name):
    """There, what ties the classes together decides how far a step may go."""
    assert newton_for(with_rare_columns(n=n, d=100, K=30)) == name


def test_columns_of_far_larger_scale_do_not_hold_it_up():
    problem = with_rare_columns(n=8_000, K=12)
    y = problem.code
    problem.X[:, 0] *= 1e3
    assert LogisticRegression(C=100).fit(problem.X, y).stop_reason_ == "converged"
