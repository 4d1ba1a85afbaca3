"""Traces of least squares: one step, with or without a closed form."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from rosenblatt import Lasso, LinearRegression, Ridge, Trace
from rosenblatt.linear_model import least_squares

CLOSED = [Ridge(0.5), Ridge(0.5, solver="lsqr"), Ridge(0.5, solver="svd"), Ridge(positive=True),
          Ridge(0.5, fit_intercept=False), LinearRegression()]  # fmt: skip


@pytest.fixture
def without_closed_form(monkeypatch):
    """Rows that are too wide and too many for tables of products."""
    monkeypatch.setattr(least_squares, "FEATURES_WITH_GRAM", 10)
    monkeypatch.setattr(least_squares, "ROWS_WITH_DUAL", 10)
    rng = np.random.default_rng(0)
    return sp.random(40, 60, 0.3, random_state=0, format="csr"), rng.standard_normal((40, 2))


def traced(model, X, y, **parameters):
    trace = Trace()
    model.set_callbacks(trace).fit(X, y, **parameters)
    return trace


def squared_error(model, X, y, weight, alpha):
    left = y - model.predict(X)
    return weight @ left**2 + alpha * model.coef_ @ model.coef_


@pytest.mark.parametrize("model", CLOSED, ids=repr)
def test_a_closed_form_is_one_step_from_the_mean_of_the_targets(model):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 3))
    y, weight = X @ [1.0, -2.0, 0.5] + 3 + rng.standard_normal(30), rng.uniform(0.5, 2, 30)
    trace = traced(model, X, y, sample_weight=weight)
    assert len(trace) == 2
    start, end = trace[0].estimator, trace[1].estimator
    assert not start.coef_.any()
    assert np.array_equal(end.coef_, model.coef_)
    assert_allclose(end.intercept_, model.intercept_, rtol=1e-12, atol=1e-12)
    alpha = getattr(model, "alpha", 0.0)
    for step in (start, end):
        assert_allclose(step.objective_, squared_error(step, X, y, weight, alpha))
        assert step.dual_gap_ >= step.objective_ - end.objective_
    assert end.gradient_norm_ < 1e-10 * start.gradient_norm_
    assert not hasattr(model, "objective_")  # nobody pays for it who does not listen


def test_several_targets_are_told_together():
    X = np.random.default_rng(0).standard_normal((20, 2))
    trace = traced(Ridge([1.0, 2.0]), X, X @ [[1.0, 2.0], [0.0, 1.0]])
    assert trace[1].estimator.objective_.shape == (2,)
    assert len(trace.to_frame()) == 2


@pytest.mark.parametrize("positive", [False, True])
def test_a_fit_without_closed_form_is_one_step_as_well(positive, without_closed_form):
    X, y = without_closed_form
    model = Ridge([0.5, 2.0], tol=1e-9, positive=positive)
    trace = traced(model, X, y)
    quiet = Ridge([0.5, 2.0], tol=1e-9, positive=positive).fit(X, y)
    assert np.array_equal(quiet.coef_, model.coef_)
    assert model.solver_ == ("lbfgs" if positive else "lsmr")
    assert (model.n_iter_ > 1).all()
    assert len(trace) == 2
    last = trace[-1].estimator
    assert np.array_equal(last.coef_, model.coef_)
    assert_allclose(last.objective_, model.objective_, rtol=1e-12)
    assert (last.dual_gap_ <= 1e-9 * last.objective_).all()
    least = 1e-7 if positive else 1e-9  # the objective of L-BFGS has half the digits
    assert (model.gradient_norm_ <= least * trace[0].estimator.gradient_norm_).all()


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), Lasso(0.1)])
def test_the_curve_of_one_feature_is_drawn_where_it_was_and_is(model, tmp_path):
    X = np.arange(9.0)[:, None]
    trace = traced(model, X, 2 * X[:, 0] + 1)
    ax = trace.plot(feature_names=["age"]).axes[0]
    lines = [line for line in ax.lines if len(line.get_xdata())]
    assert_allclose(lines[-1].get_ydata(), model.predict(np.c_[lines[-1].get_xdata()]))
    assert_allclose(lines[0].get_ydata(), 9.0)  # the mean, before anything was learned
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "target")
    assert [text.get_text() for text in ax.get_legend().texts] == ["fit", "earlier"]
    trace.save(tmp_path / "run.html")
    plt.close("all")


def test_no_gap_is_above_the_objective():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((30, 3))
    frame = traced(Ridge(), X, X.sum(axis=1) + rng.standard_normal(30)).to_frame()
    assert np.isfinite(frame["dual_gap"]).all()
    assert (frame["dual_gap"] <= frame["objective"]).all()


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(0), LinearRegression(positive=True)])
def test_where_nothing_is_known_of_the_gap_it_has_no_column(model, monkeypatch):
    """Without a penalty, on more rows than columns."""
    monkeypatch.setattr(least_squares, "FEATURES_WITH_GRAM", 10)
    X = sp.random(80, 30, 0.3, random_state=0, format="csr")
    y = np.random.default_rng(0).standard_normal(80)
    trace = traced(model, X, y)
    assert len(trace) == 2
    frame = trace.to_frame()
    assert "dual_gap" not in frame
    assert np.isfinite(frame["gradient_norm"]).all()
    assert trace.table().columns == ("pass", "objective", "gradient")
    titles = [ax.get_title(loc="left") for ax in trace.plot().axes]
    assert titles == ["objective", "gradient norm"]
    plt.close("all")


@pytest.mark.filterwarnings("ignore:The rows determine")
def test_where_nothing_is_left_the_objective_is_the_gap(monkeypatch):
    """More columns than rows fit everything, and no sum of squares is below zero."""
    monkeypatch.setattr(least_squares, "FEATURES_WITH_GRAM", 10)
    rng = np.random.default_rng(0)
    frame = traced(LinearRegression(), rng.standard_normal((9, 30)), rng.normal(size=9)).to_frame()
    assert frame["dual_gap"].iloc[-1] <= frame["objective"].iloc[-1] < 1e-20
