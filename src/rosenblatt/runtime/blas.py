"""BLAS on one thread while ours are at work.

How many threads BLAS uses is a setting of the whole process. Whoever changes it and puts back what
was there before leaves it wrong if another does so at the same time; so users are counted, the
first sets it, and the last puts it back.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_users = 0
_before: list[int] | None = None  # threads of each library, to be put back


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread: the chunks have threads of their own, and bits must not depend."""
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _users, _before
    with _lock:
        if _users == 0:
            if _before is None:  # else a fork has left what it found
                _before = [library.get_num_threads() for library in _libraries()]
            for library, n_threads in zip(_libraries(), _before, strict=True):
                if n_threads != 1:
                    _set(library, 1)
        _users += 1


def _leave() -> None:
    global _users, _before
    with _lock:
        _users = max(0, _users - 1)
        if _users == 0 and _before is not None:
            for library, n_threads in zip(_libraries(), _before, strict=True):
                if n_threads != 1:
                    _set(library, n_threads)
            _before = None


def _set(library: Any, n_threads: int) -> None:
    # threadpoolctl heeds only the thread that came first; here one at a time speaks for all.
    forget = getattr(library, "clear_controlling_thread", lambda force: None)
    forget(force=True)
    library.set_num_threads(n_threads)
    forget(force=True)


@cache
def _libraries() -> list[Any]:
    """The BLAS libraries of the process. Finding them takes milliseconds, so it is done once."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _only_this_thread() -> None:
    """In a forked child other users do not exist, and the lock may be held by nobody."""
    global _lock, _users
    _lock, _users = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_only_this_thread)
