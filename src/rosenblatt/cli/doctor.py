"""`rosenblatt doctor`: installed versions, cache state and missing extras."""

import importlib.metadata
import os
import platform
from argparse import Namespace

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .output import EXTRAS

NEEDED = ("numpy", "scipy", "scikit-learn", "numba")


def run(args: Namespace) -> int:
    """Print the state of the installation; return 1 if a required package is missing, else 0."""
    console = Console()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("rosenblatt", _version("rosenblatt") or "not installed as a package")
    table.add_row("python", f"{platform.python_version()} on {platform.platform(terse=True)}")
    missing = [name for name in NEEDED if _version(name) is None]
    for name in NEEDED:
        table.add_row(name, _version(name) or "missing: pip install rosenblatt")
    for extra, names in EXTRAS.items():
        table.add_row(f"extra: {extra}", escape(_extra(extra, names)))
    table.add_row("threads", _threads())
    if not missing:
        table.add_row("loops", _loops())
    console.print(table)
    if missing:
        console.print(f"Missing packages: {', '.join(missing)}.")
    else:
        console.print("All required packages are installed.")
    return 1 if missing else 0


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _extra(extra: str, names: tuple[str, ...]) -> str:
    """Return the versions of the packages of an extra, and how to install missing ones."""
    found = [f"{name} {version}" for name in names if (version := _version(name))]
    missing = [name for name in names if _version(name) is None]
    if missing:
        found.append(f'{", ".join(missing)} missing (pip install "rosenblatt[{extra}]")')
    return ", ".join(found)


def _threads() -> str:
    """Return the number of threads and its source."""
    from rosenblatt.runtime import threads

    settings = [
        f"{name}={os.environ[name]}"
        for name in ("ROSENBLATT_NUM_THREADS", "OMP_NUM_THREADS")
        if name in os.environ
    ]
    because = f" ({', '.join(settings)})" if settings else f" (cores: {os.cpu_count()})"
    return f"{threads.count()}{because}"


def _loops() -> str:
    """Return the cache folder of compiled loops and their number."""
    import numba

    from rosenblatt.loops.cache import cache_root, folder

    if getattr(numba.config, "DISABLE_JIT", False):
        return "not compiled: NUMBA_DISABLE_JIT is set, loops run as plain Python"
    path = folder()
    if path is None:
        return (
            f"no cache: {cache_root()} is not writable, so every process compiles again; "
            "set ROSENBLATT_CACHE_DIR to a writable folder"
        )
    files = list(path.glob("*.nbc"))
    size = sum(file.stat().st_size for file in files) / 1e6
    advice = "" if files else "; run `rosenblatt warm` to compile all"
    return f"{len(files)} compiled functions, {size:.1f} MB in {path}{advice}"
