"""One long call into a library can be interrupted."""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.linalg import lapack

from rosenblatt import LinearDiscriminantAnalysis, LinearRegression
from rosenblatt.runtime.threads import MANY_UNKNOWNS, interruptible
from rosenblatt.runtime.threads import limit as threads_limit
from rosenblatt.statistics import moments_loops


def test_a_long_call_is_interrupted_and_its_answer_and_errors_come_back():
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: time.sleep(5))
    assert time.monotonic() - started < 3
    assert interruptible(lambda: "answer") == "answer"
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)
    with ThreadPoolExecutor(1) as pool:  # where no signal comes, the call is an ordinary one
        here = pool.submit(interruptible, threading.get_ident).result()
        assert here == pool.submit(threading.get_ident).result()


@pytest.mark.parametrize(
    ("model", "calls"),
    [
        (LinearRegression(), [(lapack, "dpotrf"), (np.linalg, "eigvalsh")]),
        (LinearDiscriminantAnalysis(), [(np.linalg, "eigh"), (np.linalg, "svd")]),
    ],
)
def test_products_and_decompositions_of_many_columns_run_where_ctrl_c_need_not_wait(
    monkeypatch, model, calls
):
    """Ctrl-C waited for the end of each: seconds, from some thousand columns on."""
    threads = {}

    def watched(name, call):
        def work(first, *args, **settings):
            large = not hasattr(first, "shape") or min(first.shape) >= MANY_UNKNOWNS
            if large:
                threads[name] = threading.current_thread().name
            return call(first, *args, **settings)

        return work

    add = moments_loops.sum_products_by_tile
    monkeypatch.setattr(moments_loops, "sum_products_by_tile", watched("products", add))
    for module, name in calls:
        monkeypatch.setattr(module, name, watched(name, getattr(module, name)))
    X = np.random.RandomState(0).standard_normal((1010, 1000))
    with threads_limit(1):
        model.fit(X, (X[:, 0] > 0).astype(int))
    assert threads == dict.fromkeys(
        ["products", *(name for _, name in calls)], "rosenblatt-long-call"
    )


def test_a_long_call_keeps_the_settings_of_numpy():
    with np.errstate(over="ignore"):
        assert np.isinf(interruptible(lambda: np.float64(1e308) * 10))
