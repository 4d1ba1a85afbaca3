"""Iterative fits speak scikit-learn's callback protocol."""

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.pipeline import make_pipeline

from rosenblatt import BasisExpansion, Lasso, Standardizer, Trace
from tests.contract.estimators import (
    holds_out,
    instances,
    iterative,
    learned,
    n_passes,
    name_of,
    only,
    problem,
    speaks,
    supervised,
)

pytestmark = pytest.mark.usefixtures("unconverged")
each_setting = pytest.mark.parametrize("estimator", only(iterative, instances()), ids=name_of)
each_that_speaks = pytest.mark.parametrize("estimator", only(speaks, instances()), ids=name_of)


class Listener:
    """Remembers each task's end, and stops the fit after so many."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.scores, self.arrays, self.log = [], [], []

    def setup(self, estimator, context):
        self.log.append("setup")

    def teardown(self, estimator, context):
        self.log.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.log.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.log.append(f"end {context.task_name}")
        if context.task_name != "pass":
            return False
        self.scores.append(fitted_estimator.score(X, y))
        self.arrays.append(learned(fitted_estimator))
        return self.stop_after is not None and len(self.scores) >= self.stop_after


@each_that_speaks
def test_every_pass_is_a_task_with_a_model_that_can_predict(estimator):
    X, y = problem(3, estimator=estimator)
    listener = Listener()
    model = clone(estimator).set_callbacks(listener).fit(X, y)
    assert listener.log[:3] == ["setup", "begin fit", "begin pass"]
    assert listener.log[-2:] == ["end fit", "teardown"]
    assert listener.log.count("end pass") == n_passes(model)
    if not holds_out(estimator):
        assert listener.scores[-1] == model.score(X, y)


@each_setting
def test_the_model_given_to_a_callback_does_not_change_later(estimator):
    X, y = problem(estimator=estimator)
    listener = Listener()
    clone(estimator).set_callbacks(listener).fit(X, y)
    assert len({id(array) for array in listener.arrays}) == len(listener.arrays)
    assert any(not np.array_equal(listener.arrays[0], later) for later in listener.arrays[1:])


@each_setting
def test_a_true_answer_stops_the_fit(estimator):
    X, y = problem(estimator=estimator)
    model = clone(estimator).set_callbacks(Listener(stop_after=2)).fit(X, y)
    assert n_passes(model) == 2
    assert model.stop_reason_ in ("callback", "early_stopping")


@pytest.mark.parametrize("transformer", [BasisExpansion(), Standardizer()], ids=name_of)
def test_a_transformer_tells_of_its_fit_and_a_watched_pipeline_warns_of_none(transformer):
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    listener = Listener()
    transformer.set_callbacks(listener).fit(X)
    assert listener.log == ["setup", "begin fit", "end fit", "teardown"]
    trace = Trace()
    make_pipeline(clone(transformer), Lasso()).set_callbacks(trace).fit(X, y)
    assert trace.runs == ("Pipeline > fit-final-estimator > Lasso",)


@each_that_speaks
def test_listening_does_not_change_the_fit(estimator):
    X, y = problem(estimator=estimator)
    heard = clone(estimator).set_callbacks(Listener()).fit(X, y)
    assert np.array_equal(learned(heard), learned(clone(estimator).fit(X, y)))


@each_that_speaks
def test_progress_bar_and_scoring_monitor_work(estimator, capsys):
    X, y = problem(estimator=estimator)
    metric = "r2" if is_regressor(estimator) else "accuracy"
    metric = metric if supervised(estimator) else "rand_score"
    monitor = ScoringMonitor(scoring=metric)
    model = clone(estimator).set_callbacks(ProgressBar(), monitor).fit(X, y)
    rows = [row for row in monitor.get_logs().data if row["task_name"] == "pass"]
    assert len(rows) == n_passes(model)
    assert all(row[metric] <= 1 for row in rows)
    assert is_regressor(estimator) or all(row[metric] >= 0 for row in rows)
