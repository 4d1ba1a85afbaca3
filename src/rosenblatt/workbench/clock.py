"""Time that is given, and work that is stopped when it is over."""

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class OutOfTime(BaseException):
    """The time is over. No model may swallow it, as it may an `Exception`."""


class Clock:
    """Seconds since it was made, of so many; None is for ever."""

    def __init__(self, budget: float | None) -> None:
        self.budget = budget
        self.start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds that have passed."""
        return time.perf_counter() - self.start

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return float("inf") if self.budget is None else self.budget - self.seconds

    @contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """Raise `OutOfTime` in the block if it takes longer.

        It is heard between two steps of Python: our loops return to it every 0.3 seconds.
        """
        if seconds <= 0:
            raise OutOfTime
        if seconds == float("inf"):
            yield
            return
        thread, over, lock = threading.get_ident(), False, threading.Lock()

        def ring() -> None:
            with lock:
                if not over:
                    _raise_in(thread, OutOfTime)

        alarm = threading.Timer(seconds, ring)
        alarm.daemon = True
        alarm.start()
        try:
            yield
        finally:
            with lock:
                over = True
            alarm.cancel()


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Have a thread raise an error at its next step."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
