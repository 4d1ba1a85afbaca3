"""Traces of models that publish objective, gap and gradient norm."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from rosenblatt import LogisticRegression, Perceptron, Trace

SOLVERS = ["newton", "newton-cg", "lbfgs", "gradient", "sgd", "coordinate"]


def traced(**parameters):
    X, y = make_blobs(90, 2, centers=3, random_state=3, cluster_std=2.5)
    trace = Trace()
    model = LogisticRegression(random_state=0, **parameters).set_callbacks(trace).fit(X, y)
    return trace, model


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.usefixtures("unconverged")
def test_every_solver_tells_objective_gap_and_gradient_at_each_step(solver):
    trace, model = traced(solver=solver)
    frame = trace.to_frame()
    told = frame[["objective", "dual_gap", "gradient_norm"]]
    assert len(frame) == model.n_iter_[0] + 1
    assert np.isfinite(told.to_numpy()).all()
    assert told.iloc[-1].tolist() == [model.objective_, model.dual_gap_, model.gradient_norm_]
    best = LogisticRegression(tol=1e-9).fit(*make_blobs(
        90, 2, centers=3, random_state=3, cluster_std=2.5
    )).objective_  # fmt: skip
    assert (frame["dual_gap"] >= frame["objective"] - best - 1e-12 * best).all()


def test_the_table_has_a_column_for_each():
    table = traced(solver="newton")[0].table()
    assert table.columns[:5] == ("pass", "error", "objective", "gap", "gradient")


def test_the_picture_has_a_curve_for_each_and_the_boundary(tmp_path):
    trace, _ = traced(solver="newton")
    titles = [ax.get_title(loc="left") for ax in trace.plot().axes]
    assert titles[1:] == ["training error", "objective", "duality gap", "gradient norm"]
    trace.save(tmp_path / "run.html")
    assert "LogisticRegression" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_models_without_them_have_no_such_columns():
    trace = Trace()
    Perceptron().set_callbacks(trace).fit([[-1.0], [1.0]], [0, 1])
    assert not {"dual_gap", "gradient_norm"} & set(trace.to_frame())
