"""Memory that was freed, given back to the system.

The C library keeps what small and middling arrays leave behind, in pieces that the next family's
arrays may not fit into: on a table of 270 MB it was a third of it. A little is better kept: fresh
pages take longer to touch than to work with.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

LITTLE = 2**26  # bytes


class Heap(ctypes.Structure):
    """What the GNU library says of its heap, `struct mallinfo2`."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                     "uordblks", "fordblks", "keepcost")
    ]  # fmt: skip


def give_back() -> None:
    """Have the C library return what it does not need, if that is much; nothing if it cannot.

    >>> give_back()
    """
    trim = _function("malloc_trim", ctypes.c_int)
    if trim is not None and _n_free() > LITTLE:
        trim(0)


def _n_free() -> float:
    """Bytes that the C library holds and nobody uses; infinitely many if it does not say."""
    tell = _function("mallinfo2", Heap)
    return float("inf") if tell is None else float(tell().fordblks)


@cache
def _function(name: str, returns: type) -> Callable[..., Any] | None:
    """A function of the GNU library."""
    try:
        function = getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):  # no library that is found in this way
        return None
    if function is not None:
        function.restype = returns
    return function
