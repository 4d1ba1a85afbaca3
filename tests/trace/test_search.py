"""Traces of pipelines and searches, in this process and in others."""

import subprocess
import sys
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import Perceptron, Trace
from rosenblatt.trace.recorder import post


@pytest.fixture
def two_classes(three_classes):
    X, y = three_classes
    return X[y != "oak"], y[y != "oak"]


def searched(trace, data, **parameters):
    search = GridSearchCV(
        Perceptron(tol=None), {"max_iter": [2, 3]}, cv=3, **parameters
    ).set_callbacks(trace)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return search.fit(*data)


def test_a_pipeline_hands_the_trace_to_its_model(two_classes):
    trace = Trace()
    model = make_pipeline(StandardScaler(), Perceptron(tol=None, max_iter=4))
    with pytest.warns(ConvergenceWarning):
        model.set_callbacks(trace).fit(*two_classes)
    assert trace.runs == ("Pipeline > fit-final-estimator > Perceptron",)
    np.testing.assert_array_equal(trace[-1].estimator.coef_, model[-1].coef_)
    assert trace.to_frame().error.iloc[-1] == pytest.approx(1 - model.score(*two_classes))


@pytest.mark.parametrize("every", ["pass", "update"])
def test_worker_processes_send_their_records_home(two_classes, every):
    here, there = Trace(every), Trace(every)
    searched(here, two_classes)
    search = searched(there, two_classes, n_jobs=2)
    assert there.runs == here.runs
    assert len(there.runs) == 2 * 3 + 1
    assert there.runs[0] == "GridSearchCV > search > candidate-split-evaluation 0 > Perceptron"
    assert there.runs[-1] == "GridSearchCV > refit-with-best-params > Perceptron"
    np.testing.assert_array_equal(there[-1].estimator.coef_, search.best_estimator_.coef_)
    assert there.to_frame().equals(here.to_frame())
    assert str(there.table(there.runs[2])) == str(here.table(here.runs[2]))


def test_threads_share_the_trace(two_classes):
    here, there = Trace(), Trace()
    searched(here, two_classes)
    with joblib.parallel_backend("threading"):
        searched(there, two_classes, n_jobs=2)
    assert there.to_frame().equals(here.to_frame())


def test_pipelines_in_worker_processes_are_seen(two_classes):
    trace = Trace()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), Perceptron(tol=None)),
        {"perceptron__max_iter": [1, 2]}, cv=2, n_jobs=2,
    ).set_callbacks(trace)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(*two_classes)
    assert len(trace.runs) == 5
    assert [len(trace.steps(run)) for run in trace.runs[:4]] == [2, 2, 3, 3]


def test_a_model_defined_in_the_users_own_script_comes_home(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text(
        "from sklearn.model_selection import GridSearchCV\n"
        "from rosenblatt import Perceptron, Trace\n"
        "class Mine(Perceptron):\n    pass\n"
        "if __name__ == '__main__':\n"
        "    trace, X, y = Trace(), [[0.0], [9.0]] * 4, [0, 1] * 4\n"
        "    search = GridSearchCV(Mine(tol=None), {'eta0': [1, 2]}, cv=2, n_jobs=2)\n"
        "    search.set_callbacks(trace).fit(X, y)\n"
        "    print(len(trace.runs), all(type(s.estimator) is Mine for s in trace))\n"
    )
    out = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["5", "True"]


def test_a_second_search_does_not_hide_the_first(two_classes):
    trace = Trace()
    for _ in range(2):
        searched(trace, two_classes, n_jobs=2)
    assert len(trace.runs) == len(set(trace.runs)) == 14
    assert trace.runs[7].startswith("GridSearchCV (2) > ")


def test_the_folder_is_private_and_goes_with_the_trace(two_classes):
    trace = Trace()
    searched(trace, two_classes, n_jobs=2)
    folder = Path(trace._inbox.folder)
    assert folder.stat().st_mode & 0o077 == 0
    # Three splits: the training data of six fits was sent three times.
    assert len(list(folder.glob("*.data"))) == 3
    inbox = trace._inbox
    trace._inbox = None
    del inbox
    assert not folder.exists()


def test_a_lone_fit_needs_no_folder(watch):
    trace, _ = watch()
    assert trace._inbox is None


def test_records_that_cannot_be_sent_are_reported(watch, tmp_path):
    trace, _ = watch(max_iter=1)
    with pytest.warns(UserWarning, match="The trace of 'Perceptron' could not be sent"):
        post(str(tmp_path / "gone"), trace._run(None))
