"""Objective, gradient, curvature and gap of the problems of logistic regression."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax

from rosenblatt.solvers.logistic import duality_gap
from rosenblatt.solvers.logistic_coordinate import coordinate
from rosenblatt.solvers.newton import newton
from tests.solvers.problems import KINDS, differences, make, some_point

each_kind = pytest.mark.parametrize("kind", KINDS, ids=str)


def plain_objective(problem, point):
    """The definition, in NumPy."""
    X = problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X
    Z = X @ point[:-1] + point[-1]
    if Z.ndim == 1:
        loss = np.logaddexp(0, -problem.y * Z)
    else:
        if problem.reference:
            Z = np.hstack([Z, np.zeros((len(Z), 1))])
        loss = -log_softmax(Z, axis=1)[np.arange(len(Z)), problem.code]
    w = point[:-1]
    return problem.c @ loss + problem.l1 * np.abs(w).sum() + 0.5 * problem.l2 * (w**2).sum()


def last(problem, solver, most):
    """Where a solver is after so many steps."""
    start = problem.at(np.zeros(problem.shape))
    return [start, *itertools.islice(solver(problem, start), most)][-1]


@each_kind
def test_the_objective_is_its_definition(kind):
    problem = make(kind, l1=0.3, l2=0.7)
    point = some_point(problem)
    np.testing.assert_allclose(problem.at(point).objective, plain_objective(problem, point))


@each_kind
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_gradient_is_that_of_finite_differences(kind, dtype):
    problem = make(kind, l2=0.7, dtype=dtype)
    point = some_point(problem)
    expected = differences(lambda p: problem.at(p).objective, point)
    if not problem.fit_intercept:
        expected[-1] = 0
    place = problem.at(point)
    np.testing.assert_allclose(place.gradient, expected, rtol=1e-6, atol=1e-6)
    assert place.gradient_norm == pytest.approx(np.linalg.norm(expected), rel=1e-6)


@each_kind
def test_the_curvature_is_that_of_finite_differences(kind):
    problem = make(kind, l2=0.7)
    point = some_point(problem)
    place = problem.at(point)
    H = problem.hessian(place)
    np.testing.assert_allclose(H, H.T, atol=1e-12)
    v = some_point(problem, seed=1)
    step = 1e-6
    expected = (problem.at(point + step * v).gradient - problem.at(point - step * v).gradient) / (
        2 * step
    )
    np.testing.assert_allclose(problem.product(place, v), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose((H @ v.ravel()).reshape(v.shape), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(problem.diagonal(place).ravel(), np.diag(H))
    some = np.array([0, 2, H.shape[0] - 1])
    np.testing.assert_allclose(problem.hessian(place, some), H[np.ix_(some, some)])


@each_kind
def test_the_curvature_is_nowhere_negative(kind):
    # T9: the logistic likelihood has one summit
    problem = make(kind, l2=0.0)
    for seed in range(5):
        curvatures = np.linalg.eigvalsh(problem.hessian(problem.at(some_point(problem, seed))))
        assert curvatures[0] >= -1e-12 * curvatures[-1]


@each_kind
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)])
def test_a_gap_is_never_below_the_true_excess_and_closes_at_the_optimum(kind, l1, l2):
    problem = make(kind, l1=l1, l2=l2)
    place = last(problem, coordinate, 200)
    best = place.objective
    # With L1 alone the bound closes with the square root of what is left.
    assert duality_gap(problem, place) <= (1e-8 if l2 else 1e-5) * best
    for seed, size in ((0, 0.01), (1, 0.3), (2, 3.0)):
        other = problem.at(place.point + some_point(problem, seed, size))
        assert duality_gap(problem, other) >= other.objective - best - 1e-12 * best


@each_kind
def test_without_a_penalty_the_gap_bounds_too(kind):
    problem = make(kind, l2=0.0)
    places = [problem.at(np.zeros(problem.shape))]
    places += [place for place, _ in zip(newton(problem, places[0]), range(20), strict=False)]
    best = places[-1].objective
    assert duality_gap(problem, places[-1]) <= 1e-9 * best
    for place in places:
        assert duality_gap(problem, place) >= place.objective - best - 1e-12 * best


@given(seed=st.integers(0, 1000), size=st.floats(0.001, 5), C=st.floats(0.01, 100))
def test_gaps_are_sound_whatever_the_point(seed, size, C):
    problem = make(KINDS[0], n_rows=30, seed=seed % 10)
    problem.c = problem.c * C
    place = last(problem, newton, 30)
    other = problem.at(some_point(problem, seed, size))
    assert duality_gap(problem, other) >= (other.objective - place.objective) * (1 - 1e-12)


def test_a_sample_counts_for_all_rows():
    problem = make(KINDS[0])
    part = problem.sample(20)
    assert part.n == 20
    assert part.c.sum() == pytest.approx(problem.c.sum())
