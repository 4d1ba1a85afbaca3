"""Pipelines are drawn in the columns they were given, where their model's own are too many."""

import json
import re
from threading import Lock

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from rosenblatt import (
    AveragedPerceptron,
    BasisExpansion,
    KernelPerceptron,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    Standardizer,
    Trace,
)

# Most transformers of scikit-learn do not speak to callbacks yet, and its pipelines say so.
pytestmark = [
    pytest.mark.usefixtures("unconverged"),
    pytest.mark.filterwarnings("ignore:The estimator .* does not support callbacks"),
]

BASES = [
    BasisExpansion("polynomial", degree=5),
    BasisExpansion("gaussian", n_functions=6),
    BasisExpansion("spline"),
    BasisExpansion("fourier", degree=2),
    BasisExpansion(["identity", np.abs]),
]


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


@pytest.fixture
def wave():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1, 1, (30, 1)), axis=0)
    return x, np.sin(3 * x[:, 0]) + 0.1 * rng.standard_normal(30)


@pytest.fixture
def disc():
    X = np.random.default_rng(0).normal(size=(60, 2))
    return X, np.where((X**2).sum(axis=1) > 1.2, "out", "in")


def traced(model, X, y, every="pass"):
    trace = Trace(every)
    model.set_callbacks(trace).fit(X, y)
    return trace


def page_of(trace, tmp_path, **options):
    """What a saved page knows."""
    trace.save(tmp_path / "run.html", **options)
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*)</script>', text, re.S)
    return json.loads(found[1])


def curves_in(figure):
    """The curves in the first axes, the last that was fitted being the last."""
    return [line.get_data() for line in figure.axes[0].lines if len(line.get_xdata())]


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(0.1), Lasso(0.01)], ids=repr)
@pytest.mark.parametrize("basis", BASES, ids=repr)
def test_the_curve_behind_an_expansion_is_what_the_pipeline_predicts(basis, model, wave, tmp_path):
    x, y = wave
    pipeline = make_pipeline(basis, model)
    trace = traced(pipeline, x, y)
    figure = trace.plot(feature_names=["age"])
    across, values = curves_in(figure)[-1]
    assert_allclose(values, pipeline.predict(across[:, None]))
    assert_allclose(curves_in(figure)[-2][1], y.mean())  # the oldest, drawn palest
    assert (across.min(), across.max()) == (x.min(), x.max())  # no word about what is beyond
    assert figure.axes[0].get_xlabel() == "age"

    page = page_of(trace, tmp_path)
    assert page["axes"] == ["x1"]
    assert page["features"] == list(basis.get_feature_names_out(["x1"]))
    curve = page["states"][-1]["curve"]
    places = np.linspace(*page["fit"]["across"], len(curve))
    assert_allclose(curve, pipeline.predict(places[:, None]), rtol=1e-4, atol=1e-4)
    assert_allclose(page["states"][0]["curve"], y.mean(), rtol=1e-4)


def test_all_steps_before_the_model_are_taken(wave):
    x, y = wave
    inner = make_pipeline(BasisExpansion(degree=3), Ridge(0.1))
    pipeline = make_pipeline(Standardizer(), "passthrough", inner)
    across, values = curves_in(traced(pipeline, x, y).plot())[-1]
    assert_allclose(values, pipeline.predict(across[:, None]))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("output", ["default", "pandas"])
def test_columns_keep_their_names(make, output, wave, tmp_path):
    x, y = wave
    frame = make({"age": x[:, 0]})
    pipeline = make_pipeline(StandardScaler(), BasisExpansion(degree=3), Ridge())
    trace = traced(pipeline.set_output(transform=output), frame, y)
    figure = trace.plot()
    across, values = curves_in(figure)[-1]
    assert_allclose(values, pipeline.predict(make({"age": across})))
    assert figure.axes[0].get_xlabel() == "age"
    page = page_of(trace, tmp_path)
    assert page["axes"] == ["age"]
    assert page["features"] == ["age", "age^2", "age^3"]
    with pytest.raises(ValueError, match="feature_names must have 1 names"):
        trace.plot(feature_names=["a", "b", "c"])


def test_steps_without_names_leave_the_weights_numbered(wave, tmp_path):
    x, y = wave
    powers = FunctionTransformer(lambda x: np.hstack([x, x**2, x**3]))
    page = page_of(traced(make_pipeline(powers, Ridge()), x, y), tmp_path)
    assert (page["axes"], page["features"]) == (["x1"], ["x1", "x2", "x3"])


@pytest.mark.parametrize("kind", [LogisticRegression, Perceptron, KernelPerceptron])
def test_boundaries_behind_an_expansion_are_drawn_among_the_points(kind, disc, tmp_path):
    X, y = disc
    pipeline = make_pipeline(BasisExpansion(degree=2), kind())
    trace = traced(pipeline, X, y)
    assert trace.plot().axes[0].get_ylabel() == "x2"
    page = page_of(trace, tmp_path)
    assert page["axes"] == ["x1", "x2"]
    assert_allclose(page["points"]["at"], X)
    assert page["grid"]
    assert "scores" in page["states"][-1]
    if kind is not KernelPerceptron:
        assert page["features"] == ["x1", "x2", "x1^2", "x1 x2", "x2^2"]


def test_the_grid_has_the_classes_that_the_pipeline_predicts(disc):
    X, y = disc
    pipeline = make_pipeline(BasisExpansion(degree=2), LogisticRegression())
    figure = traced(pipeline, X, y).plot()
    lines = [c for c in figure.axes[0].collections if c.get_zorder() == 4]
    (place,) = [path for path in lines[-1].get_paths() if len(path.vertices)]
    assert np.abs(pipeline.decision_function(place.vertices)).max() < 0.1


def test_a_mean_beside_the_run_is_drawn_alone_on_the_page(disc, tmp_path):
    X, y = disc
    trace = traced(make_pipeline(BasisExpansion(degree=2), AveragedPerceptron()), X, y)
    trace.plot()
    assert page_of(trace, tmp_path)["published"] == "mean"


def test_visits_are_ringed_among_the_points(disc, tmp_path):
    X, y = disc
    pipeline = make_pipeline(BasisExpansion(degree=2), Perceptron(tol=None))
    page = page_of(traced(pipeline, X, y, every="visit"), tmp_path)
    assert page["steps"][1]["row"] in page["points"]["row"]


def test_what_the_model_itself_sees_comes_first(disc, wave, tmp_path):
    """Lines are exact there."""
    X, y = disc
    page = page_of(traced(make_pipeline(StandardScaler(), LogisticRegression()), X, y), tmp_path)
    assert page["grid"] is None
    assert_allclose(page["points"]["at"], StandardScaler().fit_transform(X))
    x, t = wave
    page = page_of(traced(make_pipeline(StandardScaler(), Ridge()), x, t), tmp_path)
    assert len(page["states"][-1]["curve"]) == 2


def test_a_later_fit_of_the_same_pipeline_leaves_the_picture_alone(wave):
    x, y = wave
    trace = Trace()
    pipeline = make_pipeline(BasisExpansion("gaussian"), Ridge(0.1)).set_callbacks(trace)
    pipeline.fit(x, y)
    expected = pipeline.predict(x)
    pipeline.fit(10 * x, -y)
    across, values = curves_in(trace.plot(run=trace.runs[0]))[-1]
    assert_allclose(np.interp(x[:, 0], across, values), expected, atol=1e-3)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_candidates_of_a_search_are_drawn(n_jobs, wave):
    x, y = wave
    pipeline = make_pipeline(BasisExpansion(degree=4), Lasso(tol=1e-3))
    search = GridSearchCV(pipeline, {"lasso__alpha": [0.01, 0.1]}, cv=2, n_jobs=n_jobs)
    trace = traced(search, x, y)
    assert len(trace.runs) == 5
    for run in trace.runs:
        assert len(curves_in(trace.plot(run=run))) > 1
    across, values = curves_in(trace.plot())[-1]
    assert_allclose(values, search.predict(across[:, None]))


def undrawn(trace, tmp_path):
    page = page_of(trace, tmp_path)
    return page["fit"] is None and page["points"] is None and not page["axes"]


def test_steps_that_know_categories_only_have_no_curve(tmp_path):
    x, y = np.arange(12)[:, None] % 4, np.arange(12.0)
    trace = traced(make_pipeline(OneHotEncoder(), Ridge()), x, y)
    assert undrawn(trace, tmp_path)
    words = pd.DataFrame({"town": list("abcabc")})
    assert undrawn(traced(make_pipeline(OneHotEncoder(), Ridge()), words, y[:6]), tmp_path)


def test_steps_that_refuse_the_room_around_the_points_have_no_regions(disc, tmp_path):
    X, y = disc
    pipeline = make_pipeline(BasisExpansion(["identity", np.sqrt]), LogisticRegression())
    trace = traced(pipeline, np.abs(X) + 0.1, y)
    assert undrawn(trace, tmp_path)
    assert len(trace.plot().axes) == 4


def test_more_columns_than_two_are_not_drawn(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert undrawn(traced(make_pipeline(BasisExpansion(), Ridge()), X, X[:, 0]), tmp_path)
    columns = ColumnTransformer([("all", BasisExpansion(), [0, 1])])
    assert undrawn(traced(make_pipeline(columns, Ridge()), X[:, :2], X[:, 0]), tmp_path)


def test_a_step_that_cannot_be_copied_disturbs_nobody(wave, tmp_path):
    class Locked(BasisExpansion):
        def fit(self, X, y=None):
            self.lock_ = Lock()
            return super().fit(X, y)

    assert undrawn(traced(make_pipeline(Locked(), Lasso(0.01)), *wave), tmp_path)
