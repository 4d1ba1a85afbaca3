"""GC06, L1, L2: five points, from one pass by hand to the whole run."""

import math

import numpy as np
import pytest

from rosenblatt import LinearSVC, Perceptron, Trace, certify, separability
from rosenblatt.separation import widest

X = np.array([[1.0, 1], [3, 2], [2, 4], [3, 4], [2, 3]])
Y = np.array([-1, 1, 1, 1, -1])

# boundary, bias to start from, final (b, w1, w2), passes with the clean one, updates
RUNS = [
    ("positive", -1, [-24, 10, 1], 176, 339),
    ("positive", 0, [-24, 10, 1], 174, 338),
    ("negative", -1, [-23, 10, 1], 173, 332),
    ("negative", 0, [-23, 10, 1], 176, 339),
    ("mistake", -1, [-31, 12, 2], 232, 446),
    ("mistake", 0, [-31, 12, 2], 230, 445),
]


def run(boundary="mistake", bias=0, **settings):
    model = Perceptron(shuffle=False, tol=None, boundary=boundary, **settings)
    return model.fit(X, Y, coef_init=[[0, 0]], intercept_init=[bias])


@pytest.mark.parametrize(("boundary", "bias", "weights", "passes", "updates"), RUNS)
def test_the_whole_run(boundary, bias, weights, passes, updates):
    # 0, C2, J3: the run under each convention of what a mistake is, with a constant feature
    model = run(boundary, bias)
    assert [*model.intercept_, *model.coef_[0]] == weights
    assert (model.n_iter_, model.n_updates_) == (passes, updates)
    assert model.converged_
    assert np.array_equal(model.predict(X), Y)


@pytest.mark.parametrize(
    ("boundary", "margins"),
    [
        ("positive", [13, 8, 0, 10, 1]),
        ("negative", [12, 9, 1, 11, 0]),
        ("mistake", [17, 9, 1, 13, 1]),
    ],
)
def test_functional_margins(boundary, margins):
    model = run(boundary)
    assert (Y * model.decision_function(X)).tolist() == margins
    if boundary == "mistake":
        length = math.sqrt(31**2 + 12**2 + 2**2)  # of (b, w): 1109
        assert min(margins) / length == pytest.approx(0.030029, abs=1e-6)


def test_the_first_pass_by_hand(unconverged):
    trace = Trace(every="visit")
    model = Perceptron(shuffle=False, tol=None, max_iter=1).set_callbacks(trace)
    model.fit(X, Y, coef_init=[[0, 0]], intercept_init=[-1])
    frame = trace.to_frame()
    visits = frame[frame["row"].notna()] if "row" in frame else frame
    assert visits["score"].tolist() == [-1, -1, 14, 17, 12]
    assert visits["mistake"].tolist() == [False, True, False, False, True]
    words = str(trace.table())
    for row in (
        ["1", "[-1, 0, 0]", "-1", "yes"],
        ["2", "[-1, 0, 0]", "-1", "no", "+[1, 3, 2]"],
        ["3", "[0, 3, 2]", "14", "yes"],
        ["4", "[0, 3, 2]", "17", "yes"],
        ["5", "[0, 3, 2]", "12", "no", "-[1, 2, 3]"],
        ["end", "[-1, 1, -1]"],
    ):
        squeezed = [line.replace(" ", "") for line in words.splitlines()]
        cells = [cell.replace(" ", "") for cell in row]
        assert any(
            line.lstrip("│|").startswith(cells[0]) and all(cell in line for cell in cells)
            for line in squeezed
        ), (row, words)
    assert [*model.intercept_, *model.coef_[0]] == [-1, 1, -1]


def test_the_mistake_bound():
    # T1: a bound on the perceptron's mistakes
    # R^2 = 1 + 9 + 16 = 26; u = (4, 2, -15) / sqrt(245); every y u.z is 1/sqrt(245) or more.
    found = widest(X, Y.astype(float), bias=1.0)
    np.testing.assert_allclose(found.direction, np.array([4, 2, -15]) / math.sqrt(245), atol=1e-9)
    assert found.margin == pytest.approx(1 / math.sqrt(245), rel=1e-9)
    claim = certify(run(), X, Y)["mistake bound"]
    assert claim.holds
    assert claim.value == 445
    assert claim.bound == pytest.approx(6370, rel=1e-6)


def test_the_mistake_bound_from_another_start():
    # The plain form (R^2 + 2 g |v0|) / g^2 = 26 * 245 + 2 sqrt(245) is no tighter than ours.
    claim = certify(run(bias=-1), X, Y)["mistake bound"]
    g = 1 / math.sqrt(245)
    plain = (26 + 2 * g) / g**2
    assert plain == pytest.approx(6401.304952, abs=1e-6)
    assert 446 <= claim.bound <= plain
    assert claim.holds


def test_the_final_plane_itself_gives_a_looser_bound():
    claim = certify(run(), X, Y, effort=0)["mistake bound"]
    assert claim.bound == pytest.approx(26 * 1109, rel=1e-6)
    assert 445 <= 28834


def test_the_widest_plane():
    answer = separability(X, Y)
    assert answer.margin == pytest.approx(1 / math.sqrt(20), rel=1e-9)
    scale = 4 / answer.coef[0]
    np.testing.assert_allclose(scale * answer.coef, [4, 2], rtol=1e-9)
    assert scale * answer.intercept == pytest.approx(-15, rel=1e-9)
    lead = scale * Y * (X @ answer.coef + answer.intercept)
    np.testing.assert_allclose(lead, [9, 1, 1, 5, 1], rtol=1e-8)


@pytest.mark.parametrize("scaled", [False, True])
def test_the_hard_margin_machine(scaled):
    # w = (4, 2), b = -15; rows 2, 3 and 5 are on the lines f = -1 and +1.
    bias = {"penalize_intercept": False} if not scaled else {"intercept_scaling": 1e4}
    machine = LinearSVC(C=np.inf, **bias).fit(X, Y)
    np.testing.assert_allclose(machine.coef_, [[4, 2]], rtol=1e-6)
    np.testing.assert_allclose(machine.intercept_, [-15], rtol=1e-6)
    np.testing.assert_allclose(Y * machine.decision_function(X), [9, 1, 1, 5, 1], rtol=1e-6)
    assert 1 / np.linalg.norm(machine.coef_) == pytest.approx(0.223607, abs=1e-6)
    assert machine.support_.tolist() == [1, 2, 4]
