"""Every check of the project, with the minutes each part took.

The tests take every core. The other parts take one core each and run beside the tests, one after
the other, so that no core waits for them. `--only NAME` runs one part; further arguments go to
pytest. `make test` calls this.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

ROOT = Path(__file__).resolve().parent.parent
MOST_MINUTES = 20
BIN = Path(sys.executable).parent
# Every core has a worker of its own: threads of libraries would only wait for each other, spinning.
ALONE_ON_A_CORE = {"OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
Parts = dict[str, list[list[str]]]  # the commands of each part


def pytest(*arguments: str) -> list[str]:
    """A run of pytest."""
    return [sys.executable, "-m", "pytest", "-q", *arguments]


def on_every_core(arguments: list[str]) -> Parts:
    """Compile the loops, then run the tests."""
    workers = str(os.cpu_count() or 2)
    return {
        "warm": [[str(BIN / "rosenblatt"), "warm"]],
        "tests": [pytest("-n", workers, "--dist", "worksteal", *arguments)],
    }


def tests_of_loops() -> list[str]:
    """Return the tests that call loops directly, which also run without the compiler."""
    beside_models = sorted((ROOT / "tests").rglob("test_*_loops.py"))
    return ["tests/loops", *(str(path.relative_to(ROOT)) for path in beside_models)]


def on_one_core() -> Parts:
    """What needs no compiled loop."""
    ruff = str(BIN / "ruff")
    return {
        "lint": [
            [ruff, "check", "--quiet", "."],
            [ruff, "format", "--quiet", "--check", "."],
            [str(BIN / "mypy")],
            [str(BIN / "lint-imports"), "--no-cache"],
        ],
        "plain Python": [pytest(*tests_of_loops(), "-m", "not needs_compiler")],
    }


def on_one_core_when_warm() -> Parts:
    """What would compile the loops a second time if it started before `warm` ends."""
    html = ("-q", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")
    sources = ("src/rosenblatt", "docs", "README.md")
    return {
        "docs": [[str(BIN / "sphinx-build"), *html]],
        "peer tests": [[sys.executable, "tools/peer_tests.py", "--quick", "-n0"]],
        "examples": [pytest("--doctest-modules", "--doctest-glob=*.md", *sources)],
    }


def succeeds(name: str, command: list[str], quiet: bool) -> bool:
    """Run a command; if `quiet`, its output is printed in one piece when it ends."""
    environment = {**ALONE_ON_A_CORE, **os.environ}
    # Without it the many processes that tests start would each compile our modules to bytecode.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if name == "plain Python":
        environment["NUMBA_DISABLE_JIT"] = "1"
    title = f"\n{name}: {Path(command[0]).name} {' '.join(command[1:])}"
    if not quiet:
        print(title, flush=True)
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        check=False,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
    )
    if quiet:
        print(title, done.stdout.decode(errors="replace"), sep="\n", flush=True)
    return done.returncode == 0


class Results:
    """Minutes of each part, and which parts failed."""

    def __init__(self) -> None:
        self.minutes: dict[str, float] = {}
        self.failed: list[str] = []

    def add(self, parts: Parts, quiet: bool = False) -> None:
        """Run parts one after the other; a part ends at the first command that fails."""
        for name, commands in parts.items():
            start = time.perf_counter()
            if not all(succeeds(name, command, quiet) for command in commands):
                self.failed.append(name)
            self.minutes[name] = (time.perf_counter() - start) / 60

    def report(self, total: float) -> None:
        """Print a row for each part."""
        print()
        for name, spent in self.minutes.items():
            print(f"{spent:6.2f} min  {name}{'  FAILED' if name in self.failed else ''}")
        late = f"; more than {MOST_MINUTES} is a bug" if total > MOST_MINUTES else ""
        print(f"{total:6.2f} min  in all{late}")


def run_everything(results: Results, arguments: list[str]) -> None:
    """Compile the loops and run the tests; all else runs beside them."""
    warm = Event()

    def beside() -> None:
        results.add(on_one_core(), quiet=True)
        warm.wait()
        results.add(on_one_core_when_warm(), quiet=True)

    with ThreadPoolExecutor(1) as side:
        running = side.submit(beside)
        try:
            parts = on_every_core(arguments)
            results.add({"warm": parts["warm"]})
        finally:
            warm.set()
        results.add({"tests": parts["tests"]})
        running.result()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="run one part")
    options, arguments = parser.parse_known_args()
    parts = {**on_every_core(arguments), **on_one_core(), **on_one_core_when_warm()}
    if options.only not in (None, *parts):
        parser.error(f"--only must be one of {', '.join(parts)}; got {options.only!r}.")
    start, results = time.perf_counter(), Results()
    if options.only is None:
        run_everything(results, arguments)
    else:
        results.add({options.only: parts[options.only]})
    results.report((time.perf_counter() - start) / 60)
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
