"""Memory that was freed, given back to the system.

The C library keeps what small and middling arrays leave behind, in pieces that the next family's
arrays may not fit into: on a table of 270 MB it was a third of it.
"""

import ctypes
from collections.abc import Callable
from functools import cache


def give_back() -> None:
    """Have the C library return what it does not need; where it cannot, nothing happens.

    >>> give_back()
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        return getattr(ctypes.CDLL(None), "malloc_trim", None)  # of the GNU library
    except (OSError, TypeError):  # no library that is found in this way
        return None
