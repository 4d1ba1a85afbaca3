"""Work that is out of time stops at its next check, in whatever thread it is."""

import sys
import threading
import time

import numpy as np
import pytest

from rosenblatt import Perceptron, SGDClassifier
from rosenblatt.loops.rows import sum_of
from rosenblatt.runtime import deadline
from rosenblatt.runtime.deadline import OutOfTime
from rosenblatt.runtime.threads import interruptible, limit, over_chunks


def for_ever():
    while True:
        deadline.check()
        time.sleep(0.001)


def is_stopped(work=for_ever, seconds=0.05):
    started = time.perf_counter()
    with pytest.raises(OutOfTime), deadline.deadline(seconds):
        work()
    return time.perf_counter() - started < seconds + 2


def test_work_is_stopped_in_whatever_thread_it_is():
    assert is_stopped()
    stopped = []
    thread = threading.Thread(target=lambda: stopped.append(is_stopped()))
    thread.start()
    thread.join()
    assert stopped == [True]


def test_work_that_ends_in_time_is_left_alone():
    with deadline.deadline(60.0):
        deadline.check()
    deadline.check()


def test_nothing_is_begun_without_time():
    with pytest.raises(OutOfTime), deadline.deadline(0.0):
        pytest.fail("began")


def test_no_deadline_inside_another_is_later():
    with deadline.deadline(0.05), pytest.raises(OutOfTime), deadline.deadline(60.0):
        for_ever()
    with deadline.deadline(60.0):
        assert is_stopped()
        deadline.check()  # there is time for other work


def test_an_interrupt_before_the_work_leaves_no_deadline():
    for n_lines in range(5):
        lines = iter(range(n_lines, -1, -1))

        def trace(frame, event, argument, lines=lines):
            if frame.f_code.co_name == "deadline" and event == "line" and next(lines, None) == 0:
                raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            with deadline.deadline(60.0):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        assert deadline.END.get() is None


def test_a_compiled_loop_does_not_begin_after_the_deadline():
    values = np.ones(3)
    assert sum_of(values) == 3
    assert is_stopped(lambda: [sum_of(values) for _ in iter(int, 1)])


@pytest.mark.parametrize("n_threads", [1, 2])
def test_chunks_stop_in_every_thread(n_threads):
    with limit(n_threads):
        assert is_stopped(
            lambda: over_chunks(lambda start, stop: for_ever(), n_rows=8, cells=10**9)
        )


def test_threads_that_help_have_the_deadline_of_the_caller():
    threads = set()

    def work(start, stop):
        threads.add(threading.current_thread().name)
        for_ever()

    with limit(2):
        assert is_stopped(lambda: over_chunks(work, n_rows=8, cells=10**9))
    assert threads


def test_a_long_call_is_left_behind():
    assert is_stopped(lambda: interruptible(lambda: time.sleep(5)))


@pytest.mark.parametrize("model", [Perceptron, SGDClassifier])
def test_a_fit_that_would_not_end_is_stopped_and_leaves_no_model(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2_000, 5)), rng.integers(0, 2, 2_000)
    model = model(max_iter=10**9, tol=None)
    assert is_stopped(lambda: model.fit(X, y), 0.5)
    assert not hasattr(model, "coef_")
