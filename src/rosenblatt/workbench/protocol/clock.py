"""Time that is given, and work that is stopped when it is over, or when Ctrl-C is pressed."""

import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")

MOST_SLOWNESS = 4.0  # a process that waited for its input is not slow
MOST_MOMENTS = 1000  # that a thread may take to start
RING_AGAIN = 0.3  # seconds: an error raised in a destructor or a callback of C is lost


class OutOfTime(BaseException):
    """The time is over. No model may swallow it, as it may an `Exception`."""


class Clock:
    """Seconds since it was made, of so many; None is for ever.

    `stopped` says why work was given up: "" for no reason yet, else "budget" or "interrupt".
    Some seconds may have passed `already`, such as those of a process that took long to start, and
    some are to be kept for what comes `after`: so many as that takes where nobody else computes.
    """

    def __init__(self, budget: float | None, already: float = 0.0, after: float = 0.0) -> None:
        self.budget, self.after = budget, after
        self.start = time.perf_counter() - already
        self.stopped = ""
        self._at_work = self._interrupted = False

    @property
    def seconds(self) -> float:
        """Seconds that have passed."""
        return time.perf_counter() - self.start

    @property
    def left(self) -> float:
        """Seconds that are left."""
        if self.budget is None:
            return float("inf")
        return self.budget - self.seconds - self.after * self.slowness

    @property
    def slowness(self) -> float:
        """How many times longer things take here than by themselves, on average so far.

        >>> 1 <= Clock(30.0, already=1e9).slowness <= MOST_SLOWNESS
        True
        """
        return min(max(1.0, self.seconds / time.process_time()), MOST_SLOWNESS)

    def attempt(
        self, work: Callable[[], Result], seconds: float, otherwise: Any = None
    ) -> Result | Any:
        """What some work gives; something else if it takes too long, or is interrupted.

        The second interrupt is not caught.
        """
        try:
            if self._interrupted and self.stopped != "interrupt":  # between two pieces of work
                raise KeyboardInterrupt
            return self.run(work, seconds)
        except OutOfTime:
            self.stopped = self.stopped or "budget"
        except KeyboardInterrupt:
            if self.stopped == "interrupt":
                raise
            self.stopped = "interrupt"
        return otherwise

    def run(self, work: Callable[[], Result], seconds: float) -> Result:
        """What some work gives; raises `OutOfTime` in it if it takes longer.

        It is heard between two steps of Python: our loops return to it every 0.3 seconds.
        """
        if seconds <= 0:
            raise OutOfTime
        alarm = Alarm()
        try:
            self._at_work = True
            alarm.set(seconds)
            return work()
        finally:
            # No step of Python at which an error may be raised comes before `try`.
            while True:
                try:
                    self._at_work = False
                    alarm.stop()
                    break
                except OutOfTime:  # it rang while it was being stopped
                    continue

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Have Ctrl-C end the work at hand, not what is between; a second one ends it all.

        Where Ctrl-C is not ours to hear (another thread, a handler of the caller's), it raises as
        ever, and `attempt` catches it if it comes during work.
        """
        ours = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if not ours:
            yield
            return

        def hear(number: int, frame: Any) -> None:
            again, self._interrupted = self._interrupted, True
            if again or self._at_work:
                raise KeyboardInterrupt

        signal.signal(signal.SIGINT, hear)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class Alarm:
    """Raises `OutOfTime` in the thread that made it, after some seconds and until it is stopped."""

    def __init__(self) -> None:
        self._thread, self._over = threading.get_ident(), threading.Event()
        self._lock, self._rang, self._begun = threading.Lock(), False, threading.Event()

    def set(self, seconds: float) -> None:
        """Begin to count."""
        if seconds != float("inf"):
            threading.Thread(target=self._ring, args=(seconds,), daemon=True).start()
            self._begun.set()

    def _ring(self, seconds: float) -> None:
        self._begun.wait()  # `start` holds a lock, and must not be rung out of it
        while not self._over.wait(seconds):
            with self._lock:
                if not self._over.is_set():
                    self._rang = True
                    _raise_in(self._thread)
            seconds = RING_AGAIN

    def stop(self) -> None:
        """Ring no more, and hear here what was not heard yet.

        It could be taken back unheard; but then Python 3.11 looks for it at each step for ever, and
        does not go on at all under a profiler or a debugger.
        """
        with self._lock:
            self._over.set()
        if self._rang:
            try:
                _raise_in(self._thread)
                while True:
                    time.sleep(0)
            except OutOfTime:
                pass


def age_of_process() -> float:
    """Seconds since this process was started; where nobody says, those that it has computed."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()  # a name may hold spaces
        began = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - began
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()


def _raise_in(thread: int) -> None:
    """Have a thread raise `OutOfTime` at its next step.

    A thread that is being started bears the number of the one that starts it, and would be hit in
    its place: it is waited for.
    """
    for _ in range(MOST_MOMENTS):
        if not getattr(threading, "_limbo", None):
            break
        time.sleep(0.001)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OutOfTime))
