"""What a trace keeps of a fit, and what it leaves alone."""

import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.callback import AutoPropagatedCallback, FitCallback, ScoringMonitor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from rosenblatt import Perceptron, Trace


def test_a_trace_follows_scikit_learns_protocol():
    assert isinstance(Trace(), FitCallback)
    assert isinstance(Trace(), AutoPropagatedCallback)


def test_an_unknown_every_is_refused():
    said = r"""^every must be "pass", "update" or "visit"; got 'epoch'\.$"""
    with pytest.raises(ValueError, match=said):
        Trace("epoch")


def test_step_k_is_the_fit_with_max_iter_k(watch):
    trace, model = watch()
    assert len(trace) == 1 + model.n_iter_
    for k in (1, 2, 17, model.n_iter_):
        _, shorter = watch(max_iter=k)
        np.testing.assert_array_equal(trace[k].estimator.coef_, shorter.coef_)
        np.testing.assert_array_equal(trace[k].estimator.intercept_, shorter.intercept_)
        assert trace[k].n_updates == shorter.n_updates_
        assert (trace[k].step, trace[k].epoch) == (k, k)


def test_step_0_is_the_start(watch):
    trace, _ = watch()
    assert trace[0].estimator.coef_.tolist() == [[0, 0]]
    assert trace[0].estimator.intercept_.tolist() == [-1]
    assert (trace[0].epoch, trace[0].n_updates) == (0, 0)


def test_each_update_is_a_step(watch, five):
    X, y = five
    trace, model = watch("update")
    assert len(trace) == 1 + model.n_updates_
    assert [step.n_updates for step in trace] == list(range(model.n_updates_ + 1))
    for before, step in pairwise(trace):
        moved = step.estimator.coef_ - before.estimator.coef_
        np.testing.assert_array_equal(moved, [y[step.row] * X[step.row]])
        assert y[step.row] * step.score <= 0


def test_each_visit_is_a_step_and_right_ones_share_the_model(watch, five):
    X, y = five
    trace, model = watch("visit")
    assert len(trace) == 1 + 5 * model.n_iter_
    assert [step.row for step in trace[1:11]] == [0, 1, 2, 3, 4] * 2
    assert sum(step.mistake for step in trace[1:]) == model.n_updates_
    for before, step in pairwise(trace):
        score = before.estimator.decision_function(X[[step.row]])[0]
        assert step.score == score
        assert step.mistake == (y[step.row] * score <= 0)
        assert (step.estimator is before.estimator) != step.mistake


def test_a_penalty_shrinks_the_model_at_right_visits_too(five):
    trace = Trace("visit")
    model = Perceptron(penalty="l2", alpha=0.01, max_iter=3, tol=None).set_callbacks(trace)
    with pytest.warns(ConvergenceWarning):
        model.fit(*five)
    right = next(step for step in trace[2:] if not step.mistake)
    assert np.any(right.estimator.coef_ != trace[right.step - 1].estimator.coef_)
    np.testing.assert_allclose(trace[-1].estimator.coef_, model.coef_)


def test_several_classes_leave_a_score_each(three_classes):
    X, y = three_classes
    trace = Trace("visit")
    with pytest.warns(ConvergenceWarning):
        Perceptron(max_iter=2, tol=None).set_callbacks(trace).fit(X, y)
    for before, step in pairwise(trace):
        np.testing.assert_allclose(
            step.score, before.estimator.decision_function(X[[step.row]])[0], atol=1e-12
        )


def test_sparse_rows_are_recorded_as_dense_ones(five):
    X, y = five
    tables = []
    for data in (X, csr_array(X)):
        trace = Trace("visit")
        Perceptron(shuffle=False, tol=None).set_callbacks(trace).fit(data, y)
        tables.append(str(trace.table()))
    assert tables[0] == tables[1]


def test_recorded_models_are_usable_and_free_of_the_fit(watch, five):
    trace, model = watch()
    for step in trace:
        assert not [name for name in vars(step.estimator) if "callback" in name]
    np.testing.assert_array_equal(trace[-1].estimator.predict(five[0]), model.predict(five[0]))
    assert clone(trace[3].estimator).get_params() == model.get_params()


def test_recording_does_not_change_the_fit(watch, five):
    plain = Perceptron(shuffle=False, tol=None).fit(*five, coef_init=[[0, 0]], intercept_init=[-1])
    for every in ("pass", "update", "visit"):
        _, watched = watch(every)
        np.testing.assert_array_equal(watched.coef_, plain.coef_)
        assert (watched.n_iter_, watched.n_updates_) == (plain.n_iter_, plain.n_updates_)


def test_a_trace_stands_beside_other_callbacks(five):
    trace, monitor = Trace(), ScoringMonitor(scoring="accuracy")
    Perceptron(shuffle=False, tol=None).set_callbacks(trace, monitor).fit(*five)
    scores = [row["accuracy"] for row in monitor.get_logs().data if row["task_name"] == "pass"]
    np.testing.assert_allclose(1 - trace.to_frame().error[1:], scores)


def test_models_of_scikit_learn_are_recorded(five):
    X, y = five
    trace = Trace()
    model = LogisticRegression(C=100).set_callbacks(trace).fit(X, np.where(y > 0, "yes", "no"))
    assert trace[0].estimator.coef_.tolist() == [[0, 0]]
    np.testing.assert_allclose(trace[-1].estimator.coef_, model.coef_)
    assert trace.to_frame().error.iloc[-1] == 1 - model.score(X, np.where(y > 0, "yes", "no"))


def test_a_model_without_visits_says_so(five):
    with pytest.warns(UserWarning, match=r"LogisticRegression does not tell single visits; use Tr"):
        LogisticRegression().set_callbacks(Trace("visit")).fit(*five)


def test_the_steps_before_a_failure_are_kept(five):
    class Stop(Exception):
        pass

    class Stopper(Trace):
        def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None,
                            fitted_estimator=None):  # fmt: skip
            super().on_fit_task_end(
                estimator, context, X=X, y=y, metadata=metadata, fitted_estimator=fitted_estimator
            )
            if len(self) == 4:
                raise Stop

    trace = Stopper()
    with pytest.raises(Stop):
        Perceptron(shuffle=False, tol=None).set_callbacks(trace).fit(*five)
    assert len(trace) == 4
    assert trace.runs == ("Perceptron",)


def test_two_fits_are_two_runs(five):
    X, y = five
    trace = Trace()
    model = Perceptron(shuffle=False, tol=None).set_callbacks(trace)
    model.fit(X, y)
    first = model.n_iter_
    model.fit(X[:2], y[:2])
    assert trace.runs == ("Perceptron", "Perceptron (2)")
    assert len(trace) == 1 + model.n_iter_ != 1 + first
    assert len(trace.steps("Perceptron")) == 1 + first
    assert len(trace.to_frame()) == 2 + first + model.n_iter_


def test_an_index_outside_and_an_unknown_run_are_refused(watch):
    trace, _ = watch(max_iter=2)
    assert [step.step for step in trace[-2:]] == [1, 2]
    with pytest.raises(IndexError, match=r"This trace has 3 steps; there is no step 3\."):
        trace[3]
    with pytest.raises(ValueError, match=r"run must be one of \['Perceptron'\]; got 'x'\."):
        trace.table("x")


def test_an_empty_trace_says_how_to_fill_it():
    assert len(Trace()) == 0
    assert Trace().runs == ()
    assert len(Trace().to_frame()) == 0
    with pytest.raises(ValueError, match=r"This trace is empty: attach it with model\.set_callb"):
        Trace().table()


def test_a_pickled_trace_is_an_independent_copy(watch, five):
    trace, model = watch(max_iter=5)
    copy = pickle.loads(pickle.dumps(trace))
    np.testing.assert_array_equal(copy[-1].estimator.coef_, model.coef_)
    assert copy.to_frame().equals(trace.to_frame())
    Perceptron(shuffle=False, tol=None).set_callbacks(copy).fit(*five)
    assert copy.runs == ("Perceptron", "Perceptron (2)")
    assert trace.runs == ("Perceptron",)


def test_nothing_heavy_is_imported_with_the_module():
    script = (
        "import sys, rosenblatt.trace, rosenblatt.plot;"
        "print([m for m in ('matplotlib', 'pandas', 'rich', 'sklearn') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_nothing_of_a_finished_fit_stays_open(watch):
    trace, _ = watch()
    assert not trace._fits
    assert not trace._open
