"""Ctrl-C during one long call into a library; on the standard library alone, for any layer."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

Result = TypeVar("Result")

MANY_UNKNOWNS = 1000  # from which a decomposition takes tenths of a second
SECONDS_UNHEARD = 0.2  # on systems where waiting itself cannot be interrupted


def interruptible(work: Callable[[], Result], long: bool = True) -> Result:
    """Return what one long call returns that cannot be cut in pieces; Ctrl-C is heard meanwhile.

    The call is made in a thread of its own, for only the main thread hears Ctrl-C, and not while it
    is inside such a call. After one the thread goes on to the end of the call, for nobody.

    Parameters
    ----------
    work : a function that releases the lock, as those of LAPACK do.
    long : whether it takes long; else it is called in place, which costs nothing.

    Examples
    --------
    >>> from rosenblatt.runtime.interrupts import interruptible
    >>> interruptible(lambda: 2 + 2)
    4
    """
    if not long or threading.current_thread() is not threading.main_thread():
        return work()  # soon done; or no signal comes here
    done: Future[Result] = Future()
    settings = copy_context()  # among them what NumPy does about overflow

    def run() -> None:
        try:
            done.set_result(settings.run(work))
        except BaseException as error:
            done.set_exception(error)

    thread = threading.Thread(target=run, name="rosenblatt-long-call", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(SECONDS_UNHEARD)
    return done.result()
