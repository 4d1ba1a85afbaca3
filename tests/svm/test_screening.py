"""The plane of the rows that matter is that of all rows."""

import numpy as np
import pytest

from rosenblatt.svm.interior_point import InteriorPoint, ScreenedInteriorPoint
from rosenblatt.svm.margin_problem import MarginProblem

N, D = 3000, 4


def solved(fit):
    for _ in range(200):
        if fit.advance():
            return fit
    raise AssertionError("no end in 200 steps")


def problem_of(kind, bias):
    rng = np.random.default_rng(0)
    X, c = rng.normal(size=(N, D)), np.where(np.arange(N) % 7 == 1, 0.0, 0.3)
    if kind == "targets":
        t = X @ np.arange(D) + rng.normal(size=N) * (rng.random(N) < 0.1)
        return MarginProblem(X, t, c, c, 0.5, False, bias)
    t = np.where(X.sum(axis=1) + 0.3 * rng.normal(size=N) > 0.5, 1.0, -1.0)
    return MarginProblem(X, t, c * (t > 0), c * (t < 0), 0.0, False, bias)


@pytest.mark.parametrize("bias", [0.0, 1.0, np.inf])
@pytest.mark.parametrize("kind", ["classes", "targets"])
@pytest.mark.parametrize("rough", [0.0, 1.0, 3.0, 1e9])
def test_it_finds_the_plane_of_all_rows(kind, bias, rough):
    problem = problem_of(kind, bias)
    every = solved(InteriorPoint(problem, 1e-4))
    some = solved(ScreenedInteriorPoint(problem, 1e-4, *(rough * part for part in every.planes)))
    if rough == 1:
        assert len(some.rows) < N / 2
    assert some.gap() <= 1e-6 * problem.zero
    assert some.objective() == pytest.approx(every.objective(), rel=1e-5)
    assert problem.above[some.support].any() or problem.below[some.support].any()
