"""Fits end well or leave nothing behind; threads change nothing."""

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from rosenblatt import prediction
from rosenblatt.naive_bayes import base
from rosenblatt.runtime import threads
from rosenblatt.statistics import batch
from tests.contract.estimators import (
    ESTIMATORS,
    contract_of,
    fitted_arrays,
    instances,
    iterative,
    limit_of,
    name_of,
    problem,
    scores,
    takes_infinity,
    takes_missing,
)

pytestmark = pytest.mark.usefixtures("unconverged")
each_setting = pytest.mark.parametrize("estimator", instances(), ids=name_of)
each_class = pytest.mark.parametrize("Estimator", ESTIMATORS)


@pytest.fixture
def small_chunks(monkeypatch):
    """Many chunks in few rows. The work is the same on any number of threads."""
    monkeypatch.setattr(threads, "CELLS_PER_CHUNK", 1_000)
    for module in (batch, base):
        monkeypatch.setattr(module, "CELLS_PER_CHUNK", 2_000)
    monkeypatch.setattr(prediction, "LARGE", 2_000)


def rows_of(estimator, n_classes=2, n_rows=2_000):
    n_rows = min(n_rows, contract_of(estimator).most_rows)
    return problem(n_classes, n_rows=n_rows, n_features=8, estimator=estimator)


def fit_and_read(estimator, X, y):
    model = clone(estimator).fit(X, y)
    return {**fitted_arrays(model), "scores": scores(model, X)}


@each_setting
@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize(("n_classes", "n_threads"), [(2, 2), (3, 4)])
def test_same_bits_on_any_number_of_threads(estimator, n_classes, n_threads):
    X, y = rows_of(estimator, n_classes)
    with threads.limit(1):
        alone = fit_and_read(estimator, X, y)
    with threads.limit(n_threads):
        together = fit_and_read(estimator, X, y)
    for name, value in alone.items():
        assert np.array_equal(value, together[name]), name


@each_setting
@pytest.mark.usefixtures("small_chunks")
def test_same_bits_from_several_threads_at_once(estimator):
    X, y = rows_of(estimator)
    expected = fit_and_read(estimator, X, y)
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: fit_and_read(estimator, X, y), range(8)):
            assert all(np.array_equal(result[name], value) for name, value in expected.items())


@each_class
def test_same_bits_in_joblib_workers(Estimator):
    X, y = rows_of(Estimator(), n_rows=15_000)  # two chunks, as other processes cut them
    estimator = Estimator(**contract_of(Estimator).settings[0])
    if iterative(estimator):
        estimator.set_params(**{limit_of(estimator): 3})
    expected = fit_and_read(estimator, X, y)
    jobs = [joblib.delayed(fit_and_read)(estimator, X, y) for _ in range(4)]
    for backend in ("loky", "threading"):
        for result in joblib.Parallel(n_jobs=2, backend=backend)(jobs):
            assert all(np.array_equal(result[name], value) for name, value in expected.items())


@each_setting
@pytest.mark.usefixtures("small_chunks")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_it_works_in_a_forked_child_after_use_in_the_parent(estimator):
    X, y = rows_of(estimator)
    expected = fit_and_read(estimator, X, y)["scores"]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        child = pool.apply_async(fit_and_read, (estimator, X, y)).get(timeout=60)
    assert np.array_equal(child["scores"], expected)


@each_setting
def test_a_failed_fit_leaves_the_estimator_as_it_was(estimator):
    X, y = problem(estimator=estimator)
    model = clone(estimator).fit(X, y)
    before = dict(vars(model))
    bad = X[:, :3].copy()
    bad[7, 1] = np.inf if takes_missing(estimator) else np.nan
    if takes_infinity(estimator):
        y = y[:-1]
    refusal = r"Input X contains (NaN|infinity)|kinds|inconsistent numbers of samples"
    with pytest.raises(ValueError, match=refusal):
        model.fit(bad, y)
    assert vars(model) == before
    fresh = clone(estimator)
    with pytest.raises(ValueError, match=refusal):
        fresh.fit(bad, y)
    assert not any(name.endswith("_") for name in vars(fresh))


@pytest.mark.parametrize("Estimator", [e for e in ESTIMATORS if iterative(e())])
def test_ctrl_c_is_heard_within_a_second_and_leaves_the_estimator_as_it_was(Estimator):
    rng, n = np.random.RandomState(0), min(200_000, contract_of(Estimator).most_rows)
    X, y = rng.standard_normal((n, 50)), rng.randint(2, size=n)
    model = Estimator().set_params(**{limit_of(Estimator()): 100_000})
    model.set_params(**contract_of(Estimator).endless)
    if hasattr(model, "tol") and "tol" not in contract_of(Estimator).endless:
        model.set_params(tol=None)
    before = dict(vars(model))
    brief = clone(model).set_params(**{limit_of(model): 2})
    brief.fit(X[:10], np.arange(10) % 2)  # whatever has to be compiled is compiled
    fresh = clone(model)
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(0.5, interrupt)
    timer.start()
    try:
        fresh.fit(X, y)
        timer.cancel()
        timer.join()  # whatever is on its way arrives here
    except KeyboardInterrupt:
        assert time.monotonic() - sent[0] < 1.0
        assert vars(fresh) == before
    else:
        pytest.skip("has its answer within half a second")
