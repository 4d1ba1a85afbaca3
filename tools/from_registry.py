"""Write the files that are derived from the registry: type stubs, and two pages.

`python tools/from_registry.py` writes them; `tests/contract/test_registry.py` fails when one is
not what it would write.
"""

from pathlib import Path

from rosenblatt import registry

ROOT = Path(__file__).resolve().parent.parent


def stubs() -> str:
    """Where type checkers find every public name: `src/rosenblatt/__init__.pyi`."""
    homes = registry.homes()
    lines = ["# Generated from the registry by tools/from_registry.py.", ""]
    lines += [f"from . import {module} as {module}" for module in registry.MODULES]
    for module, names in homes.items():
        lines += [f"from .{module} import {name} as {name}" for name in names]
    names = sorted(name for names in homes.values() for name in names)
    lines += ["", "__version__: str", "__all__ = ["]
    lines += [f'    "{name}",' for name in names]
    return "\n".join([*lines, "]", ""])


DERIVED = {"src/rosenblatt/__init__.pyi": stubs}


def main() -> None:
    """Write each file."""
    for path, content in DERIVED.items():
        (ROOT / path).write_text(content(), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
