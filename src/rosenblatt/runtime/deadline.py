"""Deadlines: work that is out of time stops at its next check.

Every compiled loop checks before it begins, and so do passes of solvers and chunks of rows: no call
lasts long, so that Ctrl-C is handled as well. Work without a deadline is never stopped.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["END", "OutOfTime", "check", "deadline"]

# By `time.perf_counter`; None without a deadline. Threads that help with a job run in a copy of its
# context. Frequent checks look here before they call `check`.
END: ContextVar[float | None] = ContextVar("rosenblatt_deadline", default=None)


class OutOfTime(BaseException):
    """The deadline has passed. Not an `Exception`: a model must not handle it."""


def check() -> None:
    """Raise `OutOfTime` if the deadline has passed."""
    end = END.get()
    if end is not None and time.perf_counter() >= end:
        raise OutOfTime


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Give the work inside so many seconds, and no more than a deadline around it leaves.

    >>> try:
    ...     with deadline(0.0):
    ...         print("begun")
    ... except OutOfTime:
    ...     print("out of time")
    out of time
    """
    outer, end = END.get(), time.perf_counter() + seconds
    try:  # Ctrl-C may come right after the deadline is set
        END.set(end if outer is None else min(outer, end))
        check()
        yield
    finally:
        END.set(outer)
