"""GC22, L2, I1, J3: three points through the origin."""

import math

import numpy as np
import pytest

from rosenblatt import LinearSVC, Perceptron, certify, separability

X = np.array([[3.0, 2], [-2, 2], [-2, -3]])
Y = np.array([1, -1, 1])


def run(boundary):
    return Perceptron(fit_intercept=False, shuffle=False, tol=None, boundary=boundary).fit(X, Y)


@pytest.mark.parametrize(
    ("boundary", "weights", "updates"),
    [("negative", [1, -1], 2), ("mistake", [1, -1], 2), ("positive", [2, -2], 1)],
)
def test_the_run(boundary, weights, updates):
    # From zero: score 0 is wrong for x1 (w = [3, 2]); x2 scores -6 + 4 = -2, right; x3 scores
    # -6 - 6 = -12, wrong (w = [1, -1]); then 1, -4, 1, all right.
    model = run(boundary)
    assert model.coef_.tolist() == [weights]
    assert model.n_updates_ == updates
    assert model.n_iter_ == 2
    assert not model.intercept_.any()


def test_the_mistake_bound():
    # R^2 = 9 + 4 = 13, u = [1, -1] / sqrt 2, g = 1 / sqrt 2: 13 * 2 = 26.
    claim = certify(run("mistake"), X, Y)["mistake bound"]
    assert claim.value == 2
    assert claim.bound == pytest.approx(26, rel=1e-6)


def test_the_widest_planes():
    through_origin = separability(X, Y, fit_intercept=False)
    assert through_origin.margin == pytest.approx(1 / math.sqrt(2), rel=1e-9)
    free = separability(X, Y)
    assert free.margin == pytest.approx(1.767767, abs=1e-6)
    scale = 0.4 / free.coef[0]
    np.testing.assert_allclose(scale * free.coef, [0.4, -0.4], rtol=1e-8)
    assert scale * free.intercept == pytest.approx(0.6, rel=1e-8)


def test_the_hard_margin_machine():
    # w = 0.08 x1 - 0.16 x2 + 0.08 x3 = (0.4, -0.4); |w|^2 = 0.32, the sum of the multipliers.
    machine = LinearSVC(C=np.inf, penalize_intercept=False).fit(X, Y)
    np.testing.assert_allclose(machine.coef_, [[0.4, -0.4]], rtol=1e-9)
    np.testing.assert_allclose(machine.intercept_, [0.6], rtol=1e-9)
    assert machine.support_.tolist() == [0, 1, 2]
    assert 1 / np.linalg.norm(machine.coef_) == pytest.approx(1.767767, abs=1e-6)
    assert machine.objective_ == pytest.approx([0.16])
    assert machine.dual_gap_[0] <= 1e-12
