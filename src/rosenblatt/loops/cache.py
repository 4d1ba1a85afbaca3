"""Where compiled loops are kept between processes.

Numba notices when a loop's own file changes, but not when a helper that it calls from another
file does. So the folder is named by a digest of every file in ``loops/`` and of what the machine
code depends on: a change of any of them starts an empty folder.
"""

import hashlib
import os
import sys
from contextlib import suppress
from functools import cache
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


@cache
def digest() -> str:
    """Name everything that compiled code depends on in twenty letters."""
    parts = [numba.__version__, np.__version__, llvmlite.binding.get_host_cpu_name(), sys.version]
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        parts += [source.name, source.read_text(encoding="utf-8")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


@cache
def folder() -> Path | None:
    """The folder for loops as they are now, made if need be; None if it cannot be written."""
    try:
        path = cache_root() / "loops" / digest()
        # Compiled code is loaded from here: nobody else may write it.
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, RuntimeError):  # RuntimeError: nobody knows where home is
        return None
    return path if os.access(path, os.W_OK | os.X_OK) else None


class _DigestLocator(_CacheLocator):
    """Tells Numba to look in `folder`, whose name already says that the source is unchanged."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._module = py_func.__module__

    def get_cache_path(self) -> str:
        return str(folder())

    def get_source_stamp(self) -> str:
        return digest()

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

    def __init__(self, folder: str, loop: str) -> None:
        super().__init__(folder, loop, digest())
        self._loop = loop

    def save(self, key: Any, data: Any) -> None:
        self._save_data(self._name(key), (repr(key), data))

    def load(self, key: Any) -> Any:
        try:
            form, data = self._load_data(self._name(key))
        except FileNotFoundError:
            return None
        return data if form == repr(key) else None

    def _name(self, key: Any) -> str:
        return f"{self._loop}.{hashlib.sha256(repr(key).encode()).hexdigest()[:20]}.nbc"


class DigestCache(FunctionCache):
    """Numba's cache of one function, in a folder keyed by all of `loops`."""

    _impl_class = _DigestCacheImpl

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        self._cache_file = _OneFileEach(self._cache_path, self._impl.filename_base)

    def _load_overload(self, signature: Any, target_context: Any) -> Any:
        try:
            return super()._load_overload(signature, target_context)
        except Exception:  # a damaged file can fail in any way; the loop is compiled anew
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(OSError):  # such as a full disk: the loop is compiled, and will be again
            super().save_overload(signature, data)

    @staticmethod
    def available() -> bool:
        """Say whether there is a folder to write to; without one, each process compiles."""
        return folder() is not None
