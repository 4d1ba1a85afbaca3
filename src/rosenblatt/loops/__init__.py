"""Compiled loops: arrays in, arrays out; no checks, no classes.

Every loop is a plain function that reads like the textbook's pseudocode; `compiled` hands it
to Numba. With ``NUMBA_DISABLE_JIT=1`` the same functions run as ordinary Python, in a debugger
if you like. Loops are imported when first used (``loops.perceptron``), because importing Numba
takes most of a second and prediction does not need it.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

__all__ = ["compiled"]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(
    function: Function | None = None,
    *,
    reorder_sums: bool = False,
    fuse: bool = False,
    inline: bool = False,
) -> Any:
    """Compile a loop: the one Numba policy of this library.

    - ``nogil``: other threads go on meanwhile; our own pool depends on it.
    - cached on disk, keyed by the loop's source and all loops that it imports (see `loops.cache`),
      so that only the first use on a machine waits for the compiler.
    - no reference counts (``_nrt``): loops are handed every array they use, scratch space
      included, and allocate none. Counting would cost two locked instructions for each array
      argument of each helper at each row; a pass took half as long again.
    - no ``parallel``: Numba's threading layers abort or hang under fork and concurrent calls.
    - ``error_model="numpy"``: division by zero gives inf or nan, without a branch per division.
    - `reorder_sums` lets the compiler add in another order and fuse multiply-adds, which makes
      dot products several times faster. The order is then fixed by the compiled code, so the
      answer is still the same at every call.
    - `fuse` lets it fuse multiply-adds alone, which round once instead of twice: for series.
    - `inline` puts the function into its callers: a call passes seven numbers for every array of
      a tuple, which costs more than a short function that is called once a node.
    """
    if function is None:
        return lambda function: compiled(
            function, reorder_sums=reorder_sums, fuse=fuse, inline=inline
        )
    import numba

    if numba.config.DISABLE_JIT:
        import numpy as np

        # Compiled arithmetic wraps and overflows without a word; so does its twin.
        return np.errstate(all="ignore")(function)

    from .cache import DigestCache

    # nnan and ninf are left out: loops look for values that are not finite.
    fused = {"contract"} if fuse else False
    fastmath = {"reassoc", "contract", "nsz"} if reorder_sums else fused
    policy: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": fastmath,
        "_nrt": False,
        "forceinline": inline,
    }
    loop = numba.njit(**policy)(function)
    if DigestCache.available():
        loop._cache = DigestCache(loop.py_func)
    return loop


def __getattr__(name: str) -> ModuleType:
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
