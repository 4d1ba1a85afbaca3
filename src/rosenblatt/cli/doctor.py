"""`rosenblatt doctor`: what is here, and what is missing."""

import importlib.metadata
import os
import platform
from argparse import Namespace

from rich.console import Console
from rich.markup import escape
from rich.table import Table

NEEDED = ("numpy", "scipy", "scikit-learn", "numba")
EXTRAS = {
    "tables": ("polars", "pyarrow", "pandas", "fastexcel"),
    "plot": ("matplotlib",),
    "cli": ("rich", "shtab"),
    "files": ("skops",),
    "dask": ("distributed",),
    "service": ("starlette", "uvicorn"),
}


def run(args: Namespace) -> int:
    """Print the findings; return 0 if everything needed is here, else 1."""
    console = Console()
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("rosenblatt", _version("rosenblatt") or "not installed as a package")
    table.add_row("python", f"{platform.python_version()} on {platform.platform(terse=True)}")
    missing = [name for name in NEEDED if _version(name) is None]
    for name in NEEDED:
        table.add_row(name, _version(name) or "MISSING: pip install rosenblatt")
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
    """Versions of an extra's packages, and how to get those that are missing."""
    found = [f"{name} {version}" for name in names if (version := _version(name))]
    missing = [name for name in names if _version(name) is None]
    if missing:
        found.append(f'without {", ".join(missing)} (pip install "rosenblatt[{extra}]")')
    return ", ".join(found)


def _threads() -> str:
    """How many threads, and why."""
    from rosenblatt.runtime import threads

    settings = [
        f"{name}={os.environ[name]}"
        for name in ("ROSENBLATT_NUM_THREADS", "OMP_NUM_THREADS")
        if name in os.environ
    ]
    because = f" ({', '.join(settings)})" if settings else f" (cores: {os.cpu_count()})"
    return f"{threads.count()}{because}"


def _loops() -> str:
    """Where compiled loops are kept, and how many there are."""
    import numba

    from rosenblatt.loops.cache import cache_root, folder

    if getattr(numba.config, "DISABLE_JIT", False):
        return "not compiled: NUMBA_DISABLE_JIT is set, loops run as plain Python"
    path = folder()
    if path is None:
        return (
            f"no cache: {cache_root()} cannot be written, so every process compiles anew; "
            "set ROSENBLATT_CACHE_DIR to a folder that can"
        )
    files = list(path.glob("*.nbc"))
    size = sum(file.stat().st_size for file in files) / 1e6
    advice = "" if files else "; `rosenblatt warm` fills it"
    return f"{len(files)} compiled forms, {size:.1f} MB in {path}{advice}"
