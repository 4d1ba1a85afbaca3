"""V7, V9, B10: boosting's four curves, alpha against the error, and losses against the margin."""

import importlib.util
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.datasets import make_classification

from rosenblatt import AdaBoostClassifier, Trace
from rosenblatt.plot import alpha_curve, boosting_curves, error_parts, margin_losses

X, Y = make_classification(120, 4, flip_y=0.1, random_state=0)


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def curves(ax):
    return {line.get_label(): line.get_ydata() for line in ax.get_lines()}


@pytest.mark.parametrize("kind", [AdaBoostClassifier, sklearn.ensemble.AdaBoostClassifier])
def test_the_four_curves_of_boosting(ax, kind):
    train, test = slice(0, 80), slice(80, None)
    model = kind(n_estimators=12).fit(X[train], Y[train])
    drawn = curves(boosting_curves(model, X[train], Y[train], X[test], Y[test], ax))
    ours = AdaBoostClassifier(n_estimators=12).fit(X[train], Y[train])
    assert np.allclose(drawn["training error"], ours.train_errors_)
    assert np.allclose(drawn["error of the newest learner"], ours.estimator_errors_)
    assert np.allclose(drawn["bound on the training error"], ours.error_bounds_)
    assert drawn["test error"][-1] == pytest.approx(1 - model.score(X[test], Y[test]))
    assert (drawn["training error"] <= drawn["bound on the training error"]).all()


@pytest.mark.parametrize("kind", [AdaBoostClassifier, sklearn.ensemble.AdaBoostClassifier])
def test_curves_of_a_frame_give_no_warnings_of_names(ax, kind):
    frame = pd.DataFrame(X).add_prefix("column ")
    boosting_curves(kind(n_estimators=3).fit(frame, Y), frame, Y, frame, Y, ax=ax)
    assert len(ax.lines) > 3


def test_without_test_rows_there_is_no_curve_of_them(ax):
    model = AdaBoostClassifier(n_estimators=3).fit(X, Y)
    assert "test error" not in curves(boosting_curves(model, X, Y, ax=ax))


def test_alpha_falls_with_the_error_through_zero_at_one_half(ax):
    (line,) = [line for line in alpha_curve(ax).get_lines() if line.get_label() == "alpha"]
    e, alpha = line.get_data()
    assert (np.diff(alpha) < 0).all()
    assert np.interp([0.38, 0.5, 0.9], e, alpha) == pytest.approx([0.2448, 0, -1.0986], abs=1e-3)


def test_losses_are_above_the_mistakes(ax):
    drawn = curves(margin_losses(ax))
    for name in ("hinge", "squared hinge", "logistic, in bits", "exponential"):
        assert (drawn[name] >= drawn["mistake"] - 1e-12).all()


def test_a_trace_has_the_weights_of_the_rows_in_each_round(tmp_path):
    trace = Trace()
    AdaBoostClassifier(n_estimators=4).set_callbacks(trace).fit(X[:, :2], Y)
    assert len(trace) == 5  # before the first round, and after each
    first, second = (trace[t].estimator.trace_view()["row_weights"] for t in (1, 2))
    wrong = trace[1].estimator.predict(X[:, :2]) != Y
    assert np.allclose(first, 1 / len(Y))
    assert np.allclose(second[wrong], 0.5 / wrong.sum())  # h has error 1/2 under them
    assert trace.to_frame()["objective"].iloc[-1] == trace[4].estimator.error_bounds_[-1]
    plt.close(trace.plot())
    trace.save(tmp_path / "run.html")
    assert '"sizes":"' in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_bagging_lowers_variance_and_boosting_bias(ax):
    # P8: on two of three tables, few models each
    path = Path(__file__).resolve().parents[2] / "examples" / "bagging_and_boosting.py"
    spec = importlib.util.spec_from_file_location("bagging_and_boosting", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    _, digits, sphere = example.measured(n_models=8, n_estimators=15, most_rows=250).values()
    for found in (digits, sphere):
        assert found["boosted stumps"].bias < found["stump"].bias
        assert found["bagged trees"].variance < found["tree"].variance
    drawn = error_parts({"digits": digits, "sphere": sphere}, ax)
    assert [label.get_text() for label in drawn.get_yticklabels()] == list(digits) + list(sphere)
