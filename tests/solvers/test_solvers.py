"""Every solver goes downhill to the same point, by gradients that are right."""

import itertools

import numpy as np
import pytest

from rosenblatt.solvers.gradient_descent import Diverged, gradient, sgd
from rosenblatt.solvers.lbfgs import lbfgs
from rosenblatt.solvers.logistic_coordinate import coordinate
from rosenblatt.solvers.newton import newton, newton_cg
from rosenblatt.solvers.sampled_newton import sampled_newton
from tests.solvers.problems import KINDS, differences, make

SOLVERS = {
    "coordinate": coordinate,
    "gradient": gradient,
    "gradient, fixed step": lambda problem, place: gradient(problem, place, 0.002),
    "lbfgs": lbfgs,
    "newton": newton,
    "newton-cg": newton_cg,
    "sampled": sampled_newton,
    "sgd": lambda problem, place: sgd(problem, place, seed=0),
}


def each_kind(*names):
    """Every solver that is named with a kind in two, in turn: each kind has half of them."""
    cases = itertools.product(enumerate(names), enumerate(KINDS))
    chosen = [(name, kind) for (i, name), (j, kind) in cases if (i + j + j // 2) % 2 == 0]
    return pytest.mark.parametrize(("name", "kind"), chosen, ids=str)


def walk(problem, name, most):
    start = problem.at(np.zeros(problem.shape))
    return [start, *itertools.islice(SOLVERS[name](problem, start), most)]


def optimum(problem):
    return walk(problem, "newton", 30)[-1]


@each_kind(*SOLVERS)
def test_the_gradient_of_each_step_is_that_of_finite_differences(name, kind):
    # K3, S1: each step has the right gradient
    problem = make(kind)
    for place in walk(problem, name, 3):
        expected = differences(lambda p: problem.at(p).objective, place.point)
        if not problem.fit_intercept:
            expected[-1] = 0
        np.testing.assert_allclose(place.gradient, expected, rtol=1e-5, atol=2e-5)


@each_kind(*SOLVERS)
def test_every_solver_comes_to_the_same_point(name, kind):
    # S2, S5, S6: stochastic steps, coordinates and the other solvers
    problem = make(kind)
    best = optimum(problem)
    last = walk(problem, name, {"sgd": 300}.get(name, 2000))[-1]
    tolerance = 1e-4 if name == "sgd" else 1e-9
    assert last.objective - best.objective <= tolerance * best.objective
    if problem.reference if len(problem.shape) == 2 else True:
        np.testing.assert_allclose(last.point, best.point, atol=50 * np.sqrt(tolerance))


@each_kind(*[name for name in SOLVERS if name not in ("sgd", "sampled")])
def test_the_objective_never_rises(name, kind):
    # S3: choosing the step
    values = [place.objective for place in walk(make(kind), name, 50)]
    assert all(b <= a * (1 + 1e-13) for a, b in itertools.pairwise(values))


@each_kind("coordinate", "gradient")
def test_an_l1_penalty_leaves_weights_at_zero_exactly(name, kind):
    problem = make(kind, l1=4.0, l2=0.0)
    last = walk(problem, name, 3000)[-1]
    assert np.any(last.point[:-1] == 0)
    assert np.any(last.point[:-1] != 0)
    assert last.gradient_norm < 1e-5


def test_a_step_that_is_too_large_is_noticed():
    problem = make(KINDS[0])
    start = problem.at(np.zeros(problem.shape))
    with pytest.raises(Diverged, match="the objective rose from"):
        list(itertools.islice(gradient(problem, start, 10.0), 1000))


def test_stochastic_steps_that_are_too_large_are_noticed():
    # K7: one example at a time
    problem = make(KINDS[0], l2=1e4)
    start = problem.at(np.zeros(problem.shape))
    with pytest.raises(Diverged, match="floating point"):
        list(itertools.islice(sgd(problem, start, 0, 1e308), 1000))


def test_samples_lead_near_the_optimum_of_a_large_table():
    problem = make((2, False, False, True), n_rows=20_000)
    places = walk(problem, "sampled", 4)
    best = optimum(problem)
    assert places[1].objective - best.objective < 0.02 * best.objective
    assert places[-1].objective - best.objective < 1e-6 * best.objective


def test_more_coordinates_than_fit_in_one_round_are_moved_in_turns(monkeypatch):
    import rosenblatt.solvers.logistic_coordinate as module

    monkeypatch.setattr(module, "MAX_CHOSEN", 3)
    problem = make(KINDS[0], l1=0.5, l2=0.5)
    assert walk(problem, "coordinate", 500)[-1].gradient_norm < 1e-6
