"""Traces of models that publish objective, gap and gradient norm."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from rosenblatt import ElasticNet, Lasso, LogisticRegression, Perceptron, Trace

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


@pytest.mark.parametrize("kind", [Lasso, ElasticNet])
@pytest.mark.parametrize("d", [3, 200])  # by products of columns, and by a working set
@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_lasso_begins_with_the_objective_of_no_weights(kind, d, n_targets):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, d))
    y = X[:, :n_targets] + 0.1 * rng.standard_normal((80, n_targets))
    y = y[:, 0] if n_targets == 1 else y
    trace = Trace()
    model = kind(alpha=0.1).set_callbacks(trace).fit(X, y)
    start = trace[0].estimator
    np.testing.assert_allclose(start.objective_, y.var(axis=0) / 2)
    assert np.isfinite(start.dual_gap_).all()
    assert np.all(start.dual_gap_ >= start.objective_ - model.objective_)
    quiet = kind(alpha=0.1).fit(X, y)  # who listens changes nothing
    assert np.array_equal(quiet.coef_, model.coef_)
    assert np.array_equal(quiet.n_iter_, model.n_iter_)


def test_columns_without_content_are_left_out():
    X = np.random.default_rng(0).standard_normal((60, 12))
    trace = Trace()
    Lasso(alpha=0.1).set_callbacks(trace).fit(X, X[:, 0])
    assert not {"error", "mistakes", "n_updates"} & set(trace.to_frame())
    table = trace.table()
    assert "w" not in table.columns
    assert "bias" not in table.caption
    trace = Trace()
    Lasso(alpha=0.1).set_callbacks(trace).fit(X[:, :2], X[:, 0])
    assert trace.table().caption.endswith("w has the bias first.")


@pytest.mark.parametrize("every", ["visit", "update"])
@pytest.mark.parametrize("model", [Lasso(0.1), LogisticRegression(solver="sgd", random_state=0)])
@pytest.mark.usefixtures("unconverged")
def test_a_model_without_visits_has_its_passes_recorded(every, model, tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 2))
    y = (X[:, 0] > 0.1).astype(int)
    trace = Trace(every)
    with pytest.warns(UserWarning, match="its passes are recorded"):
        model.set_callbacks(trace).fit(X, y)
    assert len(trace) == int(np.max(model.n_iter_)) + 1
    assert " pass" in trace.table().caption
    trace.plot()
    trace.save(tmp_path / "run.html")


@pytest.mark.parametrize("d", [12, 300])  # by products of columns, and by a working set
def test_the_search_for_so_many_features_is_shown(d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, d))
    y = X[:, :5] @ [5.0, 4.0, 3.0, 2.0, 1.0] + rng.standard_normal(60)
    trace = Trace()
    model = Lasso(n_features=4).set_callbacks(trace).fit(X, y)
    quiet = Lasso(n_features=4).fit(X, y)
    assert np.array_equal(quiet.coef_, model.coef_)
    frame = trace.to_frame()
    assert frame.n_kept.iloc[[0, 1, -1]].tolist() == [0, 0, 4]
    tried = len(frame) - 1 - model.n_iter_
    assert tried >= 4
    assert frame.alpha.iloc[1:4].is_monotonic_decreasing  # then between two of them
    assert (frame.alpha.iloc[tried + 1 :] == model.alpha_).all()
    assert np.array_equal(trace[-1].estimator.coef_, model.coef_)
    for step in list(trace)[1:tried]:  # each is the lasso of its penalty
        alone = Lasso(step.estimator.alpha_, tol=1e-8).fit(X, y)
        np.testing.assert_allclose(step.estimator.coef_, alone.coef_, atol=1e-6)
    table = trace.table()
    assert table.columns[:3] == ("pass", "alpha", "kept")
    assert "alpha was searched for" in table.caption


def test_a_callback_can_end_the_search():
    class Enough:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            return context.task_name == "penalty" and context.task_id == 2

    X = np.random.default_rng(0).standard_normal((60, 12))
    y = X[:, :5] @ [5.0, 4.0, 3.0, 2.0, 1.0]
    trace = Trace()
    model = Lasso(n_features=5).set_callbacks(trace, Enough()).fit(X, y)
    assert model.stop_reason_ == "callback"
    assert len(trace) == 4
    assert np.array_equal(trace[-1].estimator.coef_, model.coef_)
    assert 0 < np.count_nonzero(model.coef_) < 5
    Lasso(0.1).set_callbacks(trace := Trace()).fit(X, y)
    assert "alpha" not in trace.to_frame()  # nothing was searched for
