"""Every check of the project, in order, with the minutes each part took.

`--only NAME` runs one part; further arguments go to pytest. `make test` calls this.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_MINUTES = 20
BIN = Path(sys.executable).parent


def pytest(*arguments: str) -> list[str]:
    """A run of pytest over several workers."""
    workers = str(os.cpu_count() or 2)
    return [sys.executable, "-m", "pytest", "-q", "-n", workers, "--dist", "worksteal", *arguments]


def parts(arguments: list[str]) -> dict[str, list[list[str]]]:
    """The commands of each part."""
    ruff = str(BIN / "ruff")
    return {
        "lint": [
            [ruff, "check", "--quiet", "."],
            [ruff, "format", "--quiet", "--check", "."],
            [str(BIN / "mypy")],
            [str(BIN / "lint-imports"), "--no-cache"],
        ],
        "warm": [[str(BIN / "rosenblatt"), "warm"]],
        "tests": [pytest(*arguments)],
        "peer tests": [[sys.executable, "tools/peer_tests.py", "--quick"]],
        "examples": [
            pytest(
                "--doctest-modules", "--doctest-glob=*.md", "src/rosenblatt", "docs", "README.md"
            )
        ],
        "plain Python": [pytest("tests/loops", "-m", "not needs_compiler")],
        "docs": [
            [
                str(BIN / "sphinx-build"),
                *("-q", "-W", "--keep-going", "-b", "html"),
                *("docs", "docs/_build/html"),
            ]
        ],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run one part")
    options, arguments = parser.parse_known_args()
    minutes: dict[str, float] = {}
    failed: list[str] = []
    for name, commands in parts(arguments).items():
        if options.only not in (None, name):
            continue
        start = time.perf_counter()
        environment = dict(os.environ)
        if name == "plain Python":
            environment["NUMBA_DISABLE_JIT"] = "1"
        for command in commands:
            print(f"\n{name}: {Path(command[0]).name} {' '.join(command[1:])}", flush=True)
            if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
                failed.append(name)
                break
        minutes[name] = (time.perf_counter() - start) / 60
    report(minutes, failed)
    return 1 if failed else 0


def report(minutes: dict[str, float], failed: list[str]) -> None:
    """Print a row for each part."""
    print()
    for name, spent in minutes.items():
        print(f"{spent:6.2f} min  {name}{'  FAILED' if name in failed else ''}")
    total = sum(minutes.values())
    late = f"; more than {MOST_MINUTES} is a bug" if total > MOST_MINUTES else ""
    print(f"{total:6.2f} min  in all{late}")


if __name__ == "__main__":
    sys.exit(main())
