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

from rosenblatt.runtime import threads
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
    takes_missing,
)

pytestmark = pytest.mark.usefixtures("unconverged")
each_setting = pytest.mark.parametrize("estimator", instances(), ids=name_of)
each_class = pytest.mark.parametrize("Estimator", ESTIMATORS)


def large_problem(n_classes, estimator):
    """Enough cells for several chunks."""
    n_rows = min(30_000, contract_of(estimator).most_rows)
    return problem(n_classes, n_rows=n_rows, n_features=8, estimator=estimator)


def fit_and_read(estimator, X, y):
    model = clone(estimator).fit(X, y)
    return {**fitted_arrays(model), "scores": scores(model, X)}


@each_setting
@pytest.mark.parametrize(("n_classes", "n_threads"), [(2, 2), (3, 4)])
def test_same_bits_on_any_number_of_threads(estimator, n_classes, n_threads):
    X, y = large_problem(n_classes, estimator)
    with threads.limit(1):
        alone = fit_and_read(estimator, X, y)
    with threads.limit(n_threads):
        together = fit_and_read(estimator, X, y)
    for name, value in alone.items():
        assert np.array_equal(value, together[name]), name


@each_setting
def test_same_bits_from_several_threads_at_once(estimator):
    X, y = large_problem(2, estimator)
    expected = fit_and_read(estimator, X, y)
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: fit_and_read(estimator, X, y), range(8)):
            assert all(np.array_equal(result[name], value) for name, value in expected.items())


@each_class
def test_same_bits_in_joblib_workers(Estimator):
    X, y = large_problem(2, Estimator())
    estimator = Estimator(**contract_of(Estimator).settings[0])
    if iterative(estimator):
        estimator.set_params(**{limit_of(estimator): 3})
    expected = fit_and_read(estimator, X, y)
    jobs = [joblib.delayed(fit_and_read)(estimator, X, y) for _ in range(4)]
    for backend in ("loky", "threading"):
        for result in joblib.Parallel(n_jobs=2, backend=backend)(jobs):
            assert all(np.array_equal(result[name], value) for name, value in expected.items())


@each_setting
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_it_works_in_a_forked_child_after_use_in_the_parent(estimator):
    X, y = large_problem(2, estimator)
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
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)|kinds"):
        model.fit(bad, y)
    assert vars(model) == before
    fresh = clone(estimator)
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)|kinds"):
        fresh.fit(bad, y)
    assert not any(name.endswith("_") for name in vars(fresh))


@pytest.mark.parametrize("Estimator", [e for e in ESTIMATORS if iterative(e())])
def test_ctrl_c_is_heard_within_a_second_and_leaves_the_estimator_as_it_was(Estimator):
    rng, n = np.random.RandomState(0), min(200_000, contract_of(Estimator).most_rows)
    X, y = rng.standard_normal((n, 50)), rng.randint(2, size=n)
    model = Estimator().set_params(**{limit_of(Estimator()): 100_000})
    model.set_params(**contract_of(Estimator).endless)
    if hasattr(model, "tol"):
        model.set_params(tol=None)
    before = dict(vars(model))
    model.fit(X[:10], np.arange(10) % 2)  # whatever has to be compiled is compiled
    fresh = clone(model)
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(1.0, interrupt)
    timer.start()
    try:
        fresh.fit(X, y)
        timer.cancel()
        timer.join()  # whatever is on its way arrives here
    except KeyboardInterrupt:
        assert time.monotonic() - sent[0] < 1.0
        assert vars(fresh) == before
    else:
        pytest.skip("has its answer within a second")
