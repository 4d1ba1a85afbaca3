"""Loops called by their machine code, without Numba.

Numba takes half a second to import and to load a loop from its cache, as long as reading three
thousand messages takes. Loops count no references (`compiled`), so that their machine code works by
itself: a C function ``status = loop(result, exception, ...)`` that takes an array as numbers, which
are two pointers that are not used, its size and that of an item, its address, shape and strides.

The first process that calls a loop with arguments of some types goes through Numba and stores the
machine code in a file; others load it by llvmlite, in a few hundredths of a second.
"""

import ctypes
import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.loops import JIT_DISABLED, Loop
from rosenblatt.loops.cache import digest, private_folder, short_digest

SYMBOL = "loop"  # name of the function in its file
DIGEST_SIZE = 32


class MachineCode:
    """A loop, called by its machine code if that was stored, else through Numba."""

    def __init__(self, loop: Any) -> None:
        self.loop, self.name = loop, f"{loop.__module__}.{loop.__name__}"
        self._calls: dict[str, Callable[..., Any]] = {}  # by the types of arguments

    def __call__(self, *arguments: Any) -> Any:
        form = form_of(arguments)
        call = self._calls.get(form)
        if call is None:
            call = self._calls[form] = self._loaded(form) or self._compiled(form)
        return call(*arguments)

    def is_kept(self) -> bool:
        """Return whether machine code of this loop is stored, for any types."""
        path = folder()
        return path is not None and any(path.glob(f"{self._stem}.*"))

    def _file(self, form: str) -> Path | None:
        path = folder() if form else None
        return path and path / f"{self._stem}.{short_digest(form)}"

    @property
    def _stem(self) -> str:
        """The first part of file names: the loop and a digest of its source."""
        return f"{self.name}.{digest(self.loop.__module__)}"

    def _loaded(self, form: str) -> Callable[..., Any] | None:
        """Return the stored function for some types; None if the file is missing or damaged."""
        file, data = self._file(form), b""
        if file is not None:
            with suppress(OSError):
                data = file.read_bytes()
        digest, code = data[:DIGEST_SIZE], data[DIGEST_SIZE:]
        if not code or hashlib.sha256(code).digest() != digest:  # LLVM ends the process on others
            return None
        return loaded_function(code)

    def _compiled(self, form: str) -> Callable[..., Any]:
        """Return a function that calls the loop through Numba, and stores its machine code once."""
        loop = self.loop

        def call(*arguments: Any) -> Any:
            answer = loop(*arguments)
            self._calls[form] = loop
            file = self._file(form)
            with suppress(Exception):  # compiled again next time
                if file is not None:
                    code = machine_code(loop.dispatcher, arguments)
                    draft = file.with_name(f".{file.name}.{os.getpid()}")
                    draft.write_bytes(hashlib.sha256(code).digest() + code)
                    draft.replace(file)
            return answer

        return call if isinstance(loop, Loop) else loop  # plain Python is not stored


def form_of(argument: Any) -> str:
    """Return the types of arguments; empty unless they are integers and arrays without gaps.

    >>> form_of((1, np.zeros(3)))
    '(i<f81w)'
    """
    if isinstance(argument, tuple):
        parts = [form_of(part) for part in argument]
        return f"({''.join(parts)})" if all(parts) else ""
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        kind = f"{argument.dtype.str}{argument.ndim}{'w' if flags.writeable else 'r'}"
        return kind if flags.c_contiguous and flags.aligned else ""
    return "i" if type(argument) in (int, np.int64) else ""


def numbers_of(argument: Any) -> list[int]:
    """Return the numbers that the machine code takes for an argument."""
    if isinstance(argument, tuple):
        return [number for part in argument for number in numbers_of(part)]
    if isinstance(argument, np.ndarray):
        address = argument.__array_interface__["data"][0]
        head = [0, 0, argument.size, argument.itemsize, address]
        return [*head, *argument.shape, *argument.strides]
    return [int(argument)]


def loaded_function(code: bytes) -> Callable[..., int]:
    """Return a function that calls machine code; it returns an integer."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address, prototypes = engine.get_function_address(SYMBOL), {}

    def call(*arguments: Any) -> int:
        numbers = numbers_of(arguments)
        if len(numbers) not in prototypes:
            kinds = [ctypes.c_int64] * (len(numbers) + 2)
            prototypes[len(numbers)] = ctypes.CFUNCTYPE(ctypes.c_int32, *kinds)(address)
        result, exception = ctypes.c_int64(), ctypes.c_int64()
        places = ctypes.addressof(result), ctypes.addressof(exception)
        if prototypes[len(numbers)](*places, *numbers):
            raise RuntimeError("A loop ended early.")
        return result.value

    call.engine = engine  # type: ignore[attr-defined]  # which owns the machine code
    return call


def machine_code(dispatcher: Any, arguments: tuple[Any, ...]) -> bytes:
    """Return the machine code of a loop that Numba compiled for arguments, an object file."""
    import llvmlite.binding as llvm
    import numba

    compiled = dispatcher.overloads[tuple(map(numba.typeof, arguments))]
    module = llvm.parse_bitcode(compiled.library._get_module_for_linking().as_bitcode())
    function = module.get_function(compiled.fndesc.llvm_func_name)
    # All else is internal, and dropped with Numba's wrappers, which need its library.
    for other in (*module.functions, *module.global_variables):
        if not other.is_declaration:
            other.linkage = "internal"
    function.linkage, function.name = "external", SYMBOL
    machine = _target_machine()
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    code: bytes = machine.emit_object(module)
    return code


def _target_machine() -> Any:
    """Return this processor, for one use: an engine owns the machine that it is made with."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = _processor()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=3, jit=True)


def _processor() -> tuple[str, str]:
    """Return the name and the features of this processor."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def folder() -> Path | None:
    """Return the folder of machine code for this processor; None if it cannot be created."""
    if JIT_DISABLED or sys.platform == "win32":
        return None
    import llvmlite

    name = short_digest(llvmlite.__version__, version("numba"), *_processor())
    return private_folder("machine_code", name)
