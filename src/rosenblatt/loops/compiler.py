"""How Numba compiles loops: helpers once, as part of each loop that Python calls.

Numba finishes every function that it compiles (optimization, machine code, wrappers for Python),
then its caller with the function inside, and so on: the work is quadratic in the depth of calls.
Here a loop has two dispatchers. The one for Python is Numba's own. The one for callers in other
loops leaves a helper as unoptimized LLVM code that is linked into its caller.

This module imports Numba; `loops` imports it at the first call of a loop.
"""

import gc
import inspect
import os
import pickle
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import types
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.core.typing.templates import make_intrinsic_template
from numba.extending import models, register_model

from rosenblatt.runtime.atomic_files import drafted

from .cache import digest, folder, short_digest
from .llvm import llvm_type

_dispatchers: list[Any] = []  # of all loops that Python has called
# Versions whose private classes `helpers` was tested with; others compile helpers as Numba does.
TESTED_VERSIONS = ("0.68",)


@global_compiler_lock
@cache
def dispatcher_of(loop: Any) -> Any:
    """Return the dispatcher that Python calls."""
    dispatcher = _PythonDispatcher(loop.py_func, targetoptions=_options(loop))
    if folder() is not None:
        dispatcher._cache = DigestCache(loop.py_func)
    _dispatchers.append(dispatcher)
    return dispatcher


def compiled_loops() -> dict[str, int]:
    """Return the loops that this process compiled, not loaded, with the number of their forms."""
    counts = {
        f"{d.py_func.__module__}.{d.__name__}": sum(d.stats.cache_misses.values())
        for d in _dispatchers
    }
    return {name: count for name, count in counts.items() if count}


@global_compiler_lock
@cache
def helper_of(loop: Any) -> Any:
    """Return the dispatcher that other loops call."""
    if not numba.__version__.startswith(TESTED_VERSIONS):
        return dispatcher_of(loop)
    from .helpers import HelperDispatcher

    return HelperDispatcher(loop.py_func, _options(loop))


@cache
def type_of_loop(loop: Any) -> Any:
    """Return the type of a loop as a global variable of other loops."""
    return types.Dispatcher(helper_of(loop))


@cache
def type_of_instruction(instruction: Any) -> Any:
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
        made = instruction.build(builder, *values)
        return context.get_dummy_value() if result == "void" else made

    parameters = inspect.signature(instruction.py_func).parameters.values()
    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    typed.__signature__ = inspect.Signature([first, *parameters])
    return types.Function(make_intrinsic_template(instruction, typed, instruction.signature))


class Vector(types.Type):
    """The type of several numbers in one register, by its name."""


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, llvm_type(kind.name))


def _type_named(name: str) -> Any:
    """Return the type with a name such as int64 or float64x4."""
    return getattr(types, name, None) or Vector(name)


def _options(loop: Any) -> dict[str, Any]:
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


_paused = threading.Event()  # set while a compilation has switched the garbage collector off


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Switch Python's cyclic collector off: it takes a tenth of the compile time."""
    enabled = gc.isenabled()
    if enabled:
        _paused.set()
        gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
            _paused.clear()


if hasattr(os, "register_at_fork"):  # the process may be forked during a compilation
    os.register_at_fork(after_in_child=lambda: gc.enable() if _paused.is_set() else None)


class DigestCache(_Cache):
    """The compiled forms of a loop, each in a file named by its source and the types of arguments.

    Numba's own cache numbers these files and keeps an index. Of two processes that compile at once,
    one may lose its line in the index, or take the number of the other, whose code it loads later.
    """

    cache_path = property(lambda self: str(folder()))

    def __init__(self, py_func: Any) -> None:
        self._loop = f"{py_func.__module__}.{py_func.__name__}"
        # The code is for loops of modules that have no digest.
        self._source = short_digest(digest(py_func.__module__), py_func.__code__.co_code.hex())

    def _file(self, signature: Any, codegen: Any) -> Path:
        form = short_digest(self._source, repr(signature), repr(codegen.magic_tuple()))
        return Path(self.cache_path, f"{self._loop}.{form}.nbc")

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        # Numba's own cache sets up the compiler first, which takes longer than to import and load
        # all else. What was compiled without its runtime (``_nrt=False``) needs none of it.
        try:
            data = self._file(signature, target_context.codegen()).read_bytes()
            return CompileResult._rebuild(target_context, *pickle.loads(data))
        except Exception:  # a damaged file can fail in any way; the loop is compiled anew
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        if data.library.has_dynamic_globals:  # such as addresses, which no other process has
            return
        # Errors such as a full disk: the loop is compiled, and will be again.
        with suppress(OSError), drafted(self._file(signature, data.codegen)) as draft:
            draft.write_bytes(dumps(data._reduce()))

    def enable(self) -> None:
        """Do nothing: the cache is always in use."""

    disable = flush = enable
