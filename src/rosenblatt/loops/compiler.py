"""How Numba compiles loops: helpers once, as part of each loop that Python calls.

Numba finishes every function that it compiles (optimization, machine code, wrappers for Python),
then its caller with the function inside, and so on: the work is quadratic in the depth of calls.
Here a loop has two dispatchers. The one for Python is Numba's own. The one for callers in other
loops leaves a helper as unoptimized LLVM code that is linked into its caller.

This module imports Numba; `loops` imports it at the first call of a loop.
"""

import gc
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
from numba.core import types
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import make_intrinsic_template
from numba.core.typing.typeof import typeof_impl
from numba.extending import models, register_model

from . import Instruction, Loop
from .cache import DigestCache, folder
from .simd import llvm_type

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


@typeof_impl.register(Loop)
def _type_of_loop(loop: Loop, context: Any) -> Any:
    return types.Dispatcher(helper_of(loop))


@typeof_impl.register(Instruction)
def _type_of_instruction(instruction: Instruction, context: Any) -> Any:
    return type_of(instruction)


@cache
def type_of(instruction: Instruction) -> Any:
    """Return the type of an instruction, which holds its implementation."""
    result, *names = re.findall(r"\w+", instruction.signature)

    def typed(context: Any, *kinds: Any) -> Any:
        arguments = (
            kind if name == "array" else _type_named(name)
            for name, kind in zip(names, kinds, strict=True)
        )
        return _type_named(result)(*arguments), generate

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        values = [
            context.make_array(kind)(context, builder, value).data if name == "array" else value
            for name, kind, value in zip(names, signature.args, values, strict=True)
        ]
        made = instruction.build(builder, *values)  # type: ignore[misc]
        return context.get_dummy_value() if result == "void" else made

    parameters = inspect.signature(instruction.py_func).parameters.values()
    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    typed.__signature__ = inspect.Signature([first, *parameters])  # type: ignore[attr-defined]
    return types.Function(make_intrinsic_template(instruction, typed, instruction.signature))


class Vector(types.Type):  # type: ignore[misc]
    """The type of several numbers in one register, by its name."""


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, llvm_type(kind.name))


def _type_named(name: str) -> Any:
    """Return the type with a name such as int64 or float64x4."""
    return getattr(types, name, None) or Vector(name)


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
