"""DC08, L3, L6: soft margins of two points, and of three."""

import numpy as np
import pytest

from rosenblatt import LinearSVC


def soft(X, y, C, multi_class="ovr", **settings):
    settings = {"loss": "hinge", "penalize_intercept": False, **settings}
    return LinearSVC(C=C, multi_class=multi_class, **settings).fit(np.c_[X], y)


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("dual", ["auto", True])
@pytest.mark.parametrize(
    ("C", "w", "objective"), [(0.1, 0.2, 0.18), (0.25, 0.5, 0.375), (0.5, 1, 0.5), (9, 1, 0.5)]
)
def test_two_points(C, w, objective, dual, multi_class):
    # Two slacks of 1 - w: w^2 / 2 + 2 C (1 - w) is least at w = 2 C, or 1 if that is above.
    machine = soft([-1.0, 1.0], [-1, 1], C, multi_class, dual=dual, tol=1e-8, random_state=0)
    assert machine.coef_ == pytest.approx(np.array([[w]]), rel=1e-5)
    assert machine.objective_ == pytest.approx([objective], rel=1e-7)
    assert machine.dual_gap_ == pytest.approx([0.0], abs=1e-6)
    assert abs(machine.intercept_[0]) <= 1 - min(w, 1) + 1e-5


def test_three_points_in_a_row_with_the_middle_one_alone():
    # No slope helps: f = 1 is right twice and off by 2 once.
    machine = soft([-1.0, 0.0, 1.0], [1, -1, 1], 1.0)
    assert machine.coef_ == pytest.approx(np.zeros((1, 1)), abs=1e-9)
    assert machine.intercept_ == pytest.approx([1.0], abs=1e-8)
    assert machine.objective_ == pytest.approx([2.0], rel=1e-9)
