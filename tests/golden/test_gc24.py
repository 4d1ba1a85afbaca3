"""GC24, L1: the margin of w = [2, 0]."""

import numpy as np
import pytest

from rosenblatt import LinearSVC

# The rows (-0.5, 0) and (0.5, 0) lie on the lines w.x = -1 and w.x = 1 of w = [2, 0], b = 0.
X = np.array([[-0.5, 0.0], [0.5, 0.0]])
Y = np.array([-1, 1])


def test_the_line_and_its_margin():
    machine = LinearSVC(C=np.inf, penalize_intercept=False).fit(X, Y)
    np.testing.assert_allclose(machine.coef_, [[2, 0]], atol=1e-12)
    assert machine.intercept_ == pytest.approx([0.0], abs=1e-12)
    assert 1 / np.linalg.norm(machine.coef_) == pytest.approx(0.5)


def test_the_line_f_is_c_lies_c_over_the_length_away_and_a_longer_w_is_nearer():
    machine = LinearSVC(C=np.inf, penalize_intercept=False).fit(X, Y)
    for c in (0.5, 1.0, 3.0):
        assert machine.decision_function([[c / 2, 7.0]]) == pytest.approx([c])
    before = machine.predict([[0.1, 0], [-0.1, 0]])
    for factor in (2, 1000):
        machine.coef_ = factor * np.array([[2.0, 0.0]])
        assert 1 / np.linalg.norm(machine.coef_) == 0.5 / factor
        assert np.array_equal(machine.predict([[0.1, 0], [-0.1, 0]]), before)
