import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from rosenblatt.workbench.protocol.clock import Clock, OutOfTime, age_of_process


def for_ever():
    while True:
        time.sleep(0.001)


def is_stopped(seconds):
    with pytest.raises(OutOfTime):
        Clock(None).run(for_ever, seconds)
    return True


def test_work_is_stopped_in_whatever_thread_it_is():
    assert is_stopped(0.05)
    heard = []
    thread = threading.Thread(target=lambda: heard.append(is_stopped(0.05)))
    thread.start()
    thread.join()
    assert heard == [True]


def test_work_that_ends_in_time_is_left_alone():
    assert Clock(None).run(lambda: 7, 0.05) == 7
    time.sleep(0.1)  # nothing rings


def test_work_that_does_not_hear_is_rung_for_again():
    """An error in a destructor or a callback is printed and lost."""
    lost = []

    def deaf():
        while True:
            try:
                for_ever()
            except OutOfTime:
                lost.append(1)
                if len(lost) > 2:
                    raise

    with pytest.raises(OutOfTime):
        Clock(None).run(deaf, 0.3)  # on a busy machine, too, it is at work by then
    assert len(lost) == 3
    time.sleep(0.5)  # nothing rings after it was heard


def test_work_that_ends_as_the_time_does_is_done_or_stopped_and_nothing_rings_later():
    for _ in range(200):
        try:
            Clock(None).run(lambda: time.sleep(0.0009), 0.001)
        except OutOfTime:
            continue
    time.sleep(0.5)


def test_nothing_is_begun_without_time():
    with pytest.raises(OutOfTime):
        Clock(None).run(lambda: pytest.fail("began"), 0)


def test_a_clock_without_a_budget_has_for_ever():
    assert Clock(None).left == float("inf")
    assert 0 < Clock(100.0).left <= 100


def test_an_attempt_says_why_it_was_given_up():
    clock = Clock(None)
    assert clock.attempt(lambda: 3, 1.0) == 3
    assert clock.stopped == ""
    assert clock.attempt(for_ever, 0.01, "nothing") == "nothing"
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
    code += (
        "from rosenblatt.workbench.protocol.clock import age_of_process; print(age_of_process())"
    )
    begun = time.perf_counter()
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.4 < float(said.stdout) < time.perf_counter() - begun + 0.1


def test_where_nobody_says_how_old_a_process_is_its_own_time_counts(monkeypatch):
    monkeypatch.delattr("os.sysconf")
    assert 0 < age_of_process() <= time.process_time()


AFTERWARDS = """
import cProfile, time
from rosenblatt.workbench.protocol.clock import Clock, OutOfTime

clock = Clock(None)
assert clock.run(lambda: 7, 1.0) == 7
assert clock.attempt(lambda: time.sleep(0.05) or 7, 0.01) in (None, 7)
profile = cProfile.Profile()
profile.enable()
print(sum(map(abs, range(100))))
profile.disable()
"""


def test_a_profiler_goes_on_after_work_that_had_a_time():
    """An error that is taken back unheard keeps Python 3.11 from doing so, for ever."""
    said = subprocess.run(
        [sys.executable, "-c", AFTERWARDS], capture_output=True, text=True, check=True, timeout=120
    )
    assert said.stdout == "4950\n"


THREADS = """
import threading
from rosenblatt.workbench.protocol.clock import Clock

def start_threads():
    for _ in range(400):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()

clock = Clock(None)
for i in range(150):
    clock.attempt(start_threads, 0.0005 + 0.0001 * i)
print("done")
"""


def test_an_alarm_while_threads_are_started_hits_none_of_them():
    """One that is hit before it says that it has started is waited for without end."""
    said = subprocess.run(
        [sys.executable, "-c", THREADS], capture_output=True, text=True, check=True, timeout=120
    )
    assert said.stdout == "done\n"
    assert said.stderr == ""
