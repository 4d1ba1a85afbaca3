"""Compiled loops: arrays in, arrays out; no checks, no classes.

A loop is a plain function that reads like the textbook's pseudocode; `compiled` gives it to Numba
at its first call, so that importing a module of loops does not import Numba. With
``NUMBA_DISABLE_JIT=1`` the same functions run as ordinary Python, in a debugger if you like.

This package holds the shared code: compile policy, cache, access to rows, SIMD. The loops of a
model stand next to it, as in ``linear_model/perceptron_loops.py``.
"""

import os
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

from rosenblatt.runtime import deadline

__all__ = ["JIT_DISABLED", "Instruction", "Loop", "compiled", "instruction"]

JIT_DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def compiled(
    function: Callable[..., Any] | None = None,
    *,
    reorder_sums: bool = False,
    fuse: bool = False,
    inline: bool = False,
) -> Any:
    """Compile a loop: the only place that configures Numba.

    - ``nogil``: other threads continue meanwhile; our thread pool depends on it.
    - cached on disk, keyed by the source of the loop's module and of all modules of ours that it
      imports (see `loops.cache`), so that only the first use on a machine compiles.
    - no reference counts (``_nrt``): loops receive every array they use, scratch space
      included, and allocate none. Counting would cost two locked instructions for each array
      argument of each helper at each row; an epoch took half as long again.
    - no ``parallel``: Numba's threading layers abort or hang under fork and concurrent calls.
    - ``error_model="numpy"``: division by zero gives inf or nan, without a branch per division.
    - `reorder_sums` lets the compiler add in another order and fuse multiply-adds, which makes
      dot products several times faster. The order is then fixed by the compiled code, so the
      result is still the same at every call.
    - `fuse` lets it fuse multiply-adds only, which round once instead of twice: for series.
    - `inline` puts the function into its callers: a call passes seven numbers for every array of
      a tuple, which costs more than a short function that is called once per node.
    """
    if function is None:
        return lambda function: compiled(
            function, reorder_sums=reorder_sums, fuse=fuse, inline=inline
        )
    if JIT_DISABLED:
        import numpy as np

        # Compiled arithmetic wraps and overflows without warnings.
        return np.errstate(all="ignore")(function)

    # nnan and ninf are left out: loops look for values that are not finite.
    fused = {"contract"} if fuse else False
    policy = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": {"reassoc", "contract", "nsz"} if reorder_sums else fused,
        "_nrt": False,
        "forceinline": inline,
    }
    return Loop(function, policy)


class Loop:
    """A function that Numba compiles at its first call, or as part of a loop that calls it."""

    def __init__(self, function: Callable[..., Any], policy: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func, self.policy = function, policy

    def __call__(self, *arguments: Any) -> Any:
        if deadline.END.get() is not None:  # so that work which calls loop after loop ends in time
            deadline.check()
        return self.dispatcher(*arguments)

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's dispatcher for calls from Python."""
        from . import compiler

        return compiler.dispatcher_of(self)

    @property
    def _numba_type_(self) -> Any:
        """The type that Numba gives to a loop in the code of another loop."""
        from . import compiler

        return compiler.type_of_loop(self)


class Instruction:
    """A function with one implementation for plain Python and another for the compiler."""

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        update_wrapper(self, function)
        self.py_func, self.signature = function, signature
        self.build: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)

    def llvm(self, build: Callable[..., Any]) -> None:
        """Set the compiler's implementation: a function of an LLVM builder and the arguments.

        Instead of an array it receives the address of its first element. It is called while a
        loop compiles, and may import llvmlite then.
        """
        self.build = build

    @property
    def _numba_type_(self) -> Any:
        """The type that Numba gives to an instruction in the code of a loop."""
        from . import compiler

        return compiler.type_of_instruction(self)


def instruction(signature: str) -> Callable[[Callable[..., Any]], Instruction]:
    """Decorate the plain Python form of a function; its `llvm` decorates the compiler's form.

    The signature has the names of Numba's types, such as ``"int64(array, intp)"``; ``array`` stands
    for any type of array, and ``float64x4`` for a vector of four doubles.
    """
    if JIT_DISABLED:
        return _plain_instruction
    return lambda function: Instruction(function, signature)


def _plain_instruction(function: Any) -> Any:
    """Return the function itself; its `llvm` ignores the compiler's form."""
    function.llvm = lambda build: build
    return function
