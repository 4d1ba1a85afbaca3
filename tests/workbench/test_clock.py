import os
import signal
import subprocess
import sys
import time

import pytest

from rosenblatt.runtime import deadline
from rosenblatt.workbench.clock import Clock, age_of_process


def for_ever():
    while True:
        deadline.check()
        time.sleep(0.001)


def test_a_clock_without_a_budget_has_for_ever():
    assert Clock(None).left == float("inf")
    assert 0 < Clock(100.0).left <= 100


def test_an_attempt_says_why_it_was_given_up():
    clock = Clock(None)
    assert clock.attempt(lambda: 3, 1.0) == 3
    assert clock.stopped == ""
    assert clock.attempt(for_ever, 0.01, "nothing") == "nothing"
    assert clock.attempt(lambda: pytest.fail("began"), 0.0) is None
    assert clock.stopped == "budget"


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)


def test_the_first_interrupt_ends_the_work_and_the_second_all():
    clock = Clock(None)
    with clock.listening():
        assert clock.attempt(interrupt, 1.0) is None
        assert clock.stopped == "interrupt"
        assert clock.attempt(lambda: 3, 1.0) == 3
        with pytest.raises(KeyboardInterrupt):
            clock.attempt(interrupt, 1.0)
    with pytest.raises(KeyboardInterrupt):  # as ever
        interrupt()


def test_an_interrupt_between_two_pieces_of_work_ends_the_next():
    clock = Clock(None)
    with clock.listening():
        interrupt()
        assert clock.attempt(lambda: pytest.fail("began"), 1.0) is None
        assert clock.stopped == "interrupt"
        with pytest.raises(KeyboardInterrupt):
            interrupt()


def test_a_clock_may_have_begun_already():
    clock = Clock(10.0, already=4.0)
    assert 5 < clock.left <= 6


def test_time_is_kept_for_what_comes_after_and_more_on_a_busy_machine(monkeypatch):
    monkeypatch.setattr(time, "perf_counter", lambda: 1_000.0)
    monkeypatch.setattr(time, "process_time", lambda: 10.0)  # as long as the clock goes
    assert Clock(30.0, already=10.0, after=2.0).left == 18.0
    monkeypatch.setattr(time, "process_time", lambda: 5.0)
    assert Clock(30.0, already=10.0, after=2.0).left == 16.0
    assert Clock(30.0, already=10.0).left == 20.0
    monkeypatch.setattr(time, "process_time", lambda: 0.01)  # it was waiting, not slow
    assert Clock(30.0, already=10.0, after=2.0).left == 12.0
    assert Clock(None, already=10.0, after=2.0).left == float("inf")


def test_a_process_is_as_old_as_it_is():
    code = "import time; time.sleep(0.5)\n"
    code += "from rosenblatt.workbench.clock import age_of_process; print(age_of_process())"
    begun = time.perf_counter()
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.4 < float(said.stdout) < time.perf_counter() - begun + 0.1


def test_where_nobody_says_how_old_a_process_is_its_own_time_counts(monkeypatch):
    monkeypatch.delattr("os.sysconf")
    assert 0 < age_of_process() <= time.process_time()
