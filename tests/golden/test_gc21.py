"""GC21, K2, K3: two points, logistic regression by gradient ascent from zero, step 0.1.

By hand: x0=(3,-3), y=1; x1=(-2,2), y=0. At w=0 both probabilities are 0.5, so the gradient is
0.5 (1,3,-3) - 0.5 (1,-2,2) = (0, 2.5, -2.5), and the first step leads to (0, 0.25, -0.25).
"""

import numpy as np
import pytest

from rosenblatt import LogisticRegression, Trace

X = np.array([[3.0, -3.0], [-2.0, 2.0]])
Y = [1, 0]
WEIGHTS = [
    [0, 0, 0],
    [0, 0.25, -0.25],
    [-0.008652, 0.358516, -0.358516],
    [-0.017260, 0.428253, -0.428253],
]
PROBABILITIES = [(0.5, 0.5), (0.817574, 0.268941), (0.894961, 0.191125), (0.927725, 0.150553)]
GRADIENTS = [
    [0, 2.5, -2.5],
    [-0.086516, 1.085159, -1.085159],
    [-0.086086, 0.697369, -0.697369],
    [-0.078278, 0.517931, -0.517931],
]
LIKELIHOODS = [-1.386294, -0.514675, -0.323087, -0.238190]


@pytest.fixture
def trace(unconverged):
    trace = Trace()
    model = LogisticRegression(solver="gradient", eta0=0.1, C=np.inf, max_iter=3)
    model.set_callbacks(trace).fit(X, Y)
    return trace


def test_the_trace_has_the_numbers_of_the_notes(trace):
    assert len(trace) == 4
    for step, w, p, gradient, likelihood in zip(
        trace, WEIGHTS, PROBABILITIES, GRADIENTS, LIKELIHOODS, strict=True
    ):
        model = step.estimator
        np.testing.assert_allclose([*model.intercept_, *model.coef_[0]], w, atol=5e-7)
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], p, atol=5e-7)
        assert model.objective_ == pytest.approx(-likelihood, abs=5e-7)
        assert model.gradient_norm_ == pytest.approx(np.linalg.norm(gradient), abs=1e-6)


def test_the_frame_and_the_table_show_them(trace):
    frame = trace.to_frame()
    np.testing.assert_allclose(frame["objective"], -np.array(LIKELIHOODS), atol=5e-7)
    np.testing.assert_allclose(frame["gradient_norm"], np.linalg.norm(GRADIENTS, axis=1), atol=1e-6)
    np.testing.assert_allclose(frame[["intercept", "coef_0", "coef_1"]], WEIGHTS, atol=5e-7)
    text = str(trace.table())
    for shown in ("1.386", "0.5147", "0.3231", "0.2382", "3.536"):
        assert shown in text, text


def test_the_table_has_the_gradients_as_steps_of_the_notes(trace):
    updates = [row[-1] for row in trace.table().rows]
    assert trace.table().columns[-1] == "update"
    assert updates == ["+0.1 [0,2.5,-2.5]", "+0.1 [-0.08652,1.085,-1.085]",
                       "+0.1 [-0.08609,0.6974,-0.6974]", ""]  # fmt: skip


@pytest.mark.usefixtures("unconverged")
@pytest.mark.parametrize("parameters", [{"eta0": None}, {"solver": "sgd"}, {"solver": "newton"}])
def test_only_steps_of_a_fixed_length_have_one(parameters):
    trace = Trace()
    settings = {"solver": "gradient", "eta0": 0.1, "max_iter": 3} | parameters
    LogisticRegression(**settings).set_callbacks(trace).fit(X, Y)
    assert "update" not in trace.table().columns
