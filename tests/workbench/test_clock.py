import threading
import time

import pytest

from rosenblatt.workbench.clock import Clock, OutOfTime


def work(seconds):
    """Work for ever, with a limit; return whether it was stopped."""
    try:
        with Clock(None).limit(seconds):
            while True:
                time.sleep(0.001)
    except OutOfTime:
        return True


def test_work_is_stopped_in_whatever_thread_it_is():
    assert work(0.05)
    heard = []
    thread = threading.Thread(target=lambda: heard.append(work(0.05)))
    thread.start()
    thread.join()
    assert heard == [True]


def test_work_that_ends_in_time_is_left_alone():
    with Clock(None).limit(0.05):
        pass
    time.sleep(0.1)  # nothing rings


def test_nothing_is_begun_without_time():
    with pytest.raises(OutOfTime), Clock(None).limit(0):
        pytest.fail("began")


def test_a_clock_without_a_budget_has_for_ever():
    assert Clock(None).left == float("inf")
    assert 0 < Clock(100.0).left <= 100
