"""Where compiled loops are kept between processes.

Numba notices when a loop's own file changes, but not when a helper that it calls from another
file does. So each compiled form is named by a digest of the loop's module and of every module of
loops that it imports, directly or through others. The folder is named by a digest of what all
machine code depends on: the versions, the CPU and the Numba policy.
"""

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
)


def cache_root() -> Path:
    """The folder that holds all of the library's caches, whether it exists or not."""
    if chosen := os.environ.get("ROSENBLATT_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "rosenblatt"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rosenblatt"


PACKAGE = __package__.partition(".")[0]
FROM_IMPORT = re.compile(r"^\s*from (\S+) import (\([^)]*\)|.+)$", re.MULTILINE)
ROOT = Path(__file__).parents[1]
POLICY = ("__init__", "cache", "compiler", "helpers")  # modules that decide how loops compile


def _digest(*parts: str) -> str:
    """Twenty letters that name `parts`."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


@cache
def environment() -> str:
    """Name what all compiled code depends on: versions, CPU and the Numba policy."""
    policy = [(ROOT / "loops" / f"{name}.py").read_text("utf-8") for name in POLICY]
    cpu = llvmlite.binding.get_host_cpu_name()
    return _digest(numba.__version__, np.__version__, cpu, sys.version, *policy)


@cache
def digest(module: str) -> str:
    """Return a digest of the source of a module and of all modules of loops that it imports."""
    found, todo = {}, [module]
    while todo:
        name = todo.pop()
        if name not in found and (file := _file(name)) is not None:
            found[name] = file.read_text(encoding="utf-8")
            package = name if file.stem == "__init__" else name.rpartition(".")[0]
            todo += _imports(found[name], package)
    return _digest(*(part for name in sorted(found) for part in (name, found[name])))


def _file(module: str) -> Path | None:
    """Return the file of a module of loops; None for other names."""
    is_shared = f"{module}.".startswith(f"{__package__}.")
    if not (is_shared or (module.startswith(f"{PACKAGE}.") and module.endswith("_loops"))):
        return None
    path = ROOT.joinpath(*module.removeprefix(PACKAGE).split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def _imports(source: str, package: str) -> Iterator[str]:
    """Every name that a source imports, which may be a module or something in one."""
    for home, names in FROM_IMPORT.findall(source):
        home = resolve_name(home, package)
        yield home
        yield from (f"{home}.{name}" for name in re.findall(r"\w+", names))


@cache
def folder() -> Path | None:
    """The folder for compiled loops, made if need be; None if it cannot be written."""
    try:
        path = cache_root() / "loops" / environment()
        # Compiled code is loaded from here: nobody else may write it.
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, RuntimeError):  # RuntimeError: nobody knows where home is
        return None
    return path if os.access(path, os.W_OK | os.X_OK) else None


class _DigestLocator(_CacheLocator):
    """Makes Numba look in `folder`, where a file's name shows that its source is unchanged."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._module = py_func.__module__

    def get_cache_path(self) -> str:
        return str(folder())

    def get_source_stamp(self) -> str:
        return digest(self._module)

    def get_disambiguator(self) -> str:
        return str(self._module)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_DigestLocator":
        return cls(py_func, py_file)


class _DigestCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_DigestLocator]  # noqa: RUF012  (Numba's own form)


class _OneFileEach(IndexDataCacheFile):
    """Each form of a loop, for the types it was compiled for, in a file named by these.

    Numba numbers the files and keeps an index of them. Of two processes that compile at once, one
    may lose its line in the index, or take the number of the other, whose code it is served later.
    """

    def __init__(self, folder: str, loop: str, source: str) -> None:
        super().__init__(folder, loop, source)
        self._loop, self._source = loop, source

    def save(self, key: Any, data: Any) -> None:
        self._save_data(self._name(key), (repr(key), data))

    def load(self, key: Any) -> Any:
        try:
            form, data = self._load_data(self._name(key))
        except FileNotFoundError:
            return None
        return data if form == repr(key) else None

    def _name(self, key: Any) -> str:
        return f"{self._loop}.{_digest(self._source, repr(key))}.nbc"


class DigestCache(FunctionCache):
    """Numba's cache of one function, in a file keyed by its source and its types."""

    _impl_class = _DigestCacheImpl

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        source = digest(py_func.__module__)
        self._cache_file = _OneFileEach(self._cache_path, self._impl.filename_base, source)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        # Numba sets up its compiler first, which takes longer than to import and load all else.
        # What was compiled without its runtime (``_nrt=False``) needs none of it.
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target_context)

    def _load_overload(self, signature: Any, target_context: Any) -> Any:
        try:
            return super()._load_overload(signature, target_context)
        except Exception:  # a damaged file can fail in any way; the loop is compiled anew
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(OSError):  # such as a full disk: the loop is compiled, and will be again
            super().save_overload(signature, data)
