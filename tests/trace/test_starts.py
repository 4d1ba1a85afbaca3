"""Fits with several starts: each is a run, and the one that was kept is shown."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.callback import ProgressBar
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import (
    AgglomerativeClustering,
    ConsensusClustering,
    GaussianMixture,
    KMeans,
    MiniBatchKMeans,
    Trace,
)
from rosenblatt.plot import cluster_steps

MODELS = [
    KMeans(3, init="random", n_init=6, random_state=2, tol=0),
    GaussianMixture(3, n_init=4, random_state=6, init_params="random", max_iter=500),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=["k-means", "mixture"])


def rows():
    rng = np.random.default_rng(0)
    corners = ((0, 0), (4, 0), (0, 4), (9, 9))
    return np.concatenate([rng.normal(c, 0.7, (20, 2)) for c in corners])


def ends_of(model):
    """The objectives at the end of each start."""
    return -model.start_bounds_ if hasattr(model, "start_bounds_") else model.inertias_


def traced(model, X, **settings):
    trace = Trace(**settings)
    model.set_callbacks(trace).fit(X)
    model.set_callbacks()
    return trace


@each_model
def test_each_start_is_a_run_whose_objective_never_rises(model):
    X = rows()
    trace = traced(model, X)
    ends = ends_of(model)
    assert trace.runs == tuple(f"{type(model).__name__} > start {k}" for k in range(len(ends)))
    frame = trace.to_frame()
    for k, run in enumerate(trace.runs):
        objective = frame[frame["run"] == run]["objective"].to_numpy()
        assert (np.diff(objective) <= 1e-9 * abs(objective[0])).all()
        assert frame[frame["run"] == run]["step"].tolist() == list(range(len(objective)))
        assert objective[-1] == pytest.approx(ends[k], rel=1e-3)


@each_model
def test_the_run_shown_is_the_one_that_was_kept(model):
    X = rows()
    trace = traced(model, X)
    best = int(ends_of(model).argmin())
    assert best < len(trace.runs) - 1  # not the last one by chance
    assert trace[-1].run == trace.runs[best]
    assert len(trace) == 1 + model.n_iter_ == len(trace.steps())
    figure = cluster_steps(trace, X)
    longest = max(len(line.get_xdata()) for line in figure.axes[-1].get_lines()[::2])
    assert longest <= max(100, model.n_iter_)  # ways of this start alone; ellipses have 100 points
    plt.close("all")


@each_model
def test_being_watched_changes_no_start(model):
    X = rows()
    traced(model, X)
    watched = ends_of(model)
    np.testing.assert_array_equal(ends_of(model.fit(X)), watched)


def test_a_single_start_is_the_run_of_the_fit():
    assert traced(KMeans(3, n_init=1, random_state=0), rows()).runs == ("KMeans",)


def test_the_kept_start_is_shown_in_a_pipeline_that_made_the_columns():
    X, trace = rows(), Trace()
    pipeline = make_pipeline(StandardScaler(), KMeans(3, init="random", n_init=6, random_state=2))
    pipeline.set_callbacks(trace).fit(X)
    model = pipeline[-1]
    assert trace[-1].run == trace.runs[model.inertias_.argmin()]
    assert trace[-1].run.endswith(f"KMeans > start {model.inertias_.argmin()}")


def test_visits_are_missed_once_for_all_starts():
    with pytest.warns(UserWarning, match="does not tell single visits") as said:
        traced(KMeans(3, init="random", n_init=4, random_state=2), rows(), every="visit")
    assert len(said) == 1


class StopAfter:
    """A callback that ends the fit after some steps."""

    def __init__(self, n_steps):
        self.n_left = n_steps

    def setup(self, estimator, context):
        """Nothing to prepare."""

    def teardown(self, estimator, context):
        """Nothing to clear away."""

    def on_fit_task_begin(self, estimator, context):
        """Nothing to note."""

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.n_left -= fitted_estimator is not None
        return self.n_left == 0


@each_model
def test_a_callback_ends_the_fit_at_the_end_of_a_start_too(model):
    X = rows()
    first = traced(model, X).steps(f"{type(model).__name__} > start 0")
    model.set_callbacks(StopAfter(len(first) - 1)).fit(X)
    assert len(ends_of(model)) == 1
    model.set_callbacks(StopAfter(len(first))).fit(X)
    assert len(ends_of(model)) == 2
    model.set_callbacks()


@each_model
def test_a_progress_bar_counts_the_starts(model, capsys):
    model.set_callbacks(ProgressBar()).fit(rows())
    model.set_callbacks()
    assert "start" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model", "instead"),
    [(AgglomerativeClustering(), "plot.dendrogram"), (ConsensusClustering(), "plot.vote_map")],
)
def test_clusterers_without_steps_refuse_callbacks_and_say_what_to_do(model, instead):
    assert not hasattr(model, "set_callbacks")
    with pytest.raises(AttributeError, match=instead):
        model.set_callbacks(Trace())


def test_the_page_names_no_model_as_traced_that_takes_no_callbacks():
    assert not hasattr(MiniBatchKMeans(), "set_callbacks")
