"""The time limit of a comparison, and Ctrl-C: what was found by then is reported."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from rosenblatt.runtime.deadline import OutOfTime, deadline

Result = TypeVar("Result")

MOST_SLOWNESS = 4.0  # a process that waited for its input is not slow


class Clock:
    """Seconds since it was made, of a budget; None is unlimited.

    Parameters
    ----------
    budget : the seconds there are, or None.
    already : seconds that have passed before, such as those of starting the process.
    after : seconds to keep for what follows, as long as that takes on an idle machine.

    Attributes
    ----------
    stopped : why work was given up: "budget" or "interrupt", or "" if nothing was.
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
        """How many times longer work takes here than on an idle machine, on average so far.

        >>> 1 <= Clock(30.0, already=1e9).slowness <= MOST_SLOWNESS
        True
        """
        return min(max(1.0, self.seconds / time.process_time()), MOST_SLOWNESS)

    def attempt(
        self, work: Callable[[], Result], seconds: float, otherwise: Any = None
    ) -> Result | Any:
        """Return what `work` returns, or `otherwise` if it takes too long or is interrupted.

        A second interrupt is not caught.
        """
        try:
            if self._interrupted and self.stopped != "interrupt":  # between two pieces of work
                raise KeyboardInterrupt
            try:
                self._at_work = True
                with deadline(seconds):
                    return work()
            finally:
                self._at_work = False
        except OutOfTime:
            self.stopped = self.stopped or "budget"
        except KeyboardInterrupt:
            if self.stopped == "interrupt":
                raise
            self.stopped = "interrupt"
        return otherwise

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Let Ctrl-C end the work at hand, not what is between; a second one ends everything.

        In another thread than the main one, and under a signal handler of the caller's, Ctrl-C is
        left alone; `attempt` catches it if it comes during work.
        """
        ours = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if not ours:
            yield
            return

        def interrupt(number: int, frame: Any) -> None:
            again, self._interrupted = self._interrupted, True
            if again or self._at_work:
                raise KeyboardInterrupt

        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def age_of_process() -> float:
    """Return the seconds since this process started; its CPU time where that is unknown."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()  # a name may hold spaces
        began = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - began
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()
