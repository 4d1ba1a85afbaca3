"""One long call into a library can be interrupted."""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from rosenblatt.runtime.interrupts import interruptible


def test_a_long_call_is_interrupted_and_its_answer_and_errors_come_back():
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: time.sleep(5))
    assert time.monotonic() - started < 3
    assert interruptible(lambda: "answer") == "answer"
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)
    with ThreadPoolExecutor(1) as pool:  # where no signal comes, the call is an ordinary one
        here = pool.submit(interruptible, threading.get_ident).result()
        assert here == pool.submit(threading.get_ident).result()
