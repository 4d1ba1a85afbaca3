"""BLAS is as it was when the last of its users has gone, whoever came first."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from rosenblatt import LinearDiscriminantAnalysis
from rosenblatt.runtime.threads import one_blas_thread


def blas_threads():
    return [found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"]


def test_contexts_that_overlap_leave_blas_as_it_was():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert set(blas_threads()) == {1}
        first.__exit__(None, None, None)
        assert set(blas_threads()) == {1}  # one is still at work
        second.__exit__(None, None, None)
        assert blas_threads() == before


def test_any_thread_may_keep_blas_to_one():
    """The library that sets it heeds the first thread only, unless told to forget it."""
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with ThreadPoolExecutor(1) as pool:
            inside = pool.submit(lambda: _inside(blas_threads)).result()
        assert set(inside) == {1}
        assert blas_threads() == before
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def _inside(ask):
    with one_blas_thread():
        return ask()


def test_predictions_at_once_leave_blas_as_it_was():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4000, 30)), np.arange(4000) % 3
    model = LinearDiscriminantAnalysis().fit(X, y)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: model.predict(X), range(60)))
        assert blas_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_forked_while_others_use_blas_does_not_wait_for_them():
    inside, done = threading.Event(), threading.Event()

    def use():
        with one_blas_thread():
            inside.set()
            done.wait()

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        user = threading.Thread(target=use)
        user.start()
        inside.wait()
        child = os.fork()
        if child == 0:
            with one_blas_thread():
                alone = set(blas_threads()) == {1}
            os._exit(0 if alone and blas_threads() == before else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        done.set()
        user.join()
        assert blas_threads() == before
