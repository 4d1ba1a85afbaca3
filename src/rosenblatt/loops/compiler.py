"""How Numba compiles loops: helpers once, as part of each loop that Python calls.

Numba finishes every function that it compiles (optimization, machine code, wrappers for Python),
then its caller with the function inside, and so on: the work is quadratic in the depth of calls.
Here a loop has two dispatchers. The one for Python is Numba's own. The one for callers in other
loops leaves a helper as unoptimized LLVM code that is linked into its caller.

This module imports Numba; `loops` imports it at the first call of a loop.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
from numba.core import types
from numba.core.registry import CPUDispatcher
from numba.core.typing.typeof import typeof_impl

from . import Instruction, Loop
from .cache import DigestCache, folder

# Versions whose private classes `helpers` was tested with; others compile helpers as Numba does.
TESTED_VERSIONS = ("0.68",)


@cache
def dispatcher_of(loop: Loop) -> Any:
    """Return the dispatcher that Python calls."""
    dispatcher = _PythonDispatcher(loop.py_func, targetoptions=_options(loop))
    if folder() is not None:
        dispatcher._cache = DigestCache(loop.py_func)
    return dispatcher


@cache
def helper_of(loop: Loop) -> Any:
    """Return the dispatcher that other loops call."""
    if not numba.__version__.startswith(TESTED_VERSIONS):
        return dispatcher_of(loop)
    from .helpers import HelperDispatcher

    return HelperDispatcher(loop.py_func, _options(loop))


@cache
def intrinsic_of(instruction: Instruction) -> Any:
    """Return the intrinsic that compiles an instruction."""
    return numba.extending.intrinsic(instruction.typed)


@typeof_impl.register(Loop)
def _type_of_loop(loop: Loop, context: Any) -> Any:
    return types.Dispatcher(helper_of(loop))


@typeof_impl.register(Instruction)
def _type_of_instruction(instruction: Instruction, context: Any) -> Any:
    return typeof_impl(intrinsic_of(instruction), context)


def _options(loop: Loop) -> dict[str, Any]:
    return {"nopython": True, "boundscheck": None, **loop.policy}


class _PythonDispatcher(CPUDispatcher):
    """Numba's dispatcher for a loop whose helpers were linked in."""

    def compile(self, sig: Any) -> Any:
        with _no_garbage_collection():
            return super().compile(sig)

    def add_overload(self, cres: Any) -> None:
        # A helper's environment has a place only now, in the finished machine code of the loop.
        for environment in cres._find_referenced_environments():
            cres.library.codegen.set_env(environment.env_name, environment)
        super().add_overload(cres)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Switch Python's cyclic collector off: it takes a tenth of the compile time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
