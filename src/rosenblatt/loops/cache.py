"""The cache of compiled loops on disk.

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
from functools import cache
from importlib.util import resolve_name
from pathlib import Path


def cache_root() -> Path:
    """Return the folder of all caches of the library, which may not exist."""
    if chosen := os.environ.get("ROSENBLATT_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "rosenblatt"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rosenblatt"


PACKAGE = __package__.partition(".")[0]
FROM_IMPORT = re.compile(r"^\s*from (\S+) import (\([^)]*\)|.+)$", re.MULTILINE)
ROOT = Path(__file__).parents[1]
# Modules that decide how loops compile.
POLICY = ("__init__", "cache", "compiler", "helpers", "llvm")


def short_digest(*parts: str) -> str:
    """Return a digest of strings, of twenty letters."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


@cache
def environment() -> str:
    """Return a digest of versions, CPU and Numba policy, on which all compiled code depends."""
    import llvmlite.binding
    import numba
    import numpy as np

    policy = [(ROOT / "loops" / f"{name}.py").read_text("utf-8") for name in POLICY]
    cpu = llvmlite.binding.get_host_cpu_name()
    return short_digest(numba.__version__, np.__version__, cpu, sys.version, *policy)


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
    return short_digest(*(part for name in sorted(found) for part in (name, found[name])))


def _file(module: str) -> Path | None:
    """Return the file of a module of loops; None for other names."""
    is_shared = f"{module}.".startswith(f"{__package__}.")
    if not (is_shared or (module.startswith(f"{PACKAGE}.") and module.endswith("_loops"))):
        return None
    path = ROOT.joinpath(*module.removeprefix(PACKAGE).split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def _imports(source: str, package: str) -> Iterator[str]:
    """Yield every name that a source imports, which may be a module or something in one."""
    for home, names in FROM_IMPORT.findall(source):
        home = resolve_name(home, package)
        yield home
        yield from (f"{home}.{name}" for name in re.findall(r"\w+", names))


@cache
def folder() -> Path | None:
    """Return the folder for compiled loops, created if needed; None if it cannot be written."""
    return private_folder("loops", environment())


def private_folder(*names: str) -> Path | None:
    """Return a folder below the cache root, created if needed; None if it cannot be written."""
    try:
        path = cache_root().joinpath(*names)
        # Compiled code is loaded from here: only its owner may write.
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, RuntimeError):  # RuntimeError: the home folder is unknown
        return None
    return path if os.access(path, os.W_OK | os.X_OK) else None
