"""scikit-learn's own tests, run with our classes in place of theirs.

`make peer-tests` runs every module that a row of the registry names; `--quick` those that take
under 30 s, as the test run does; further arguments go to pytest (`-k words`, `-x`). Names of
modules, such as `test_ridge`, select them.

Failures that are meant stand, with their reasons, in `docs/differences.md`. A failure that is not
listed fails the run, and so does a listed test that passes. The list is for one version of
scikit-learn: under another the run reports, and does not fail.

This file is the command and, inside pytest, the plugin that swaps, marks and counts.
"""

import argparse
import contextlib
import functools
import importlib
import inspect
import itertools
import os
import re
import subprocess
import sys
import types
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sklearn
from _pytest.assertion import rewrite
from sklearn.utils import all_estimators, fixes

from rosenblatt import registry

ROOT = Path(__file__).resolve().parent.parent
PEER = Path(sklearn.__file__).parent
LIST = "PEER_TESTS_LIST"  # the variable that names the file of the list


@dataclass(frozen=True)
class Module:
    """A test module of scikit-learn, and the public names that are swapped in it."""

    path: str  # below sklearn/
    home: str  # the package of the names, in sklearn and in rosenblatt
    names: tuple[str, ...]
    quick: bool = True  # under 30 s: part of the test run

    @property
    def name(self) -> str:
        return Path(self.path).stem


# Underscored names that tests are written with, where the value does not lead to its home.
TOOLS = {*dir(rewrite), *dir(fixes)}


def table() -> list[Module]:
    """The test modules that rows of the registry name, each with the names of one package."""
    names: dict[tuple[str, str], set[str]] = {}
    slow = set()
    for row in registry.ROWS:
        if row.peer_tests or row.slow_peer_tests:
            parts = theirs(row.name).split(".")
            home = ".".join(itertools.takewhile(lambda part: part[0] != "_", parts[1:]))
            for path in (*row.peer_tests, *row.slow_peer_tests):
                names.setdefault((path, home), set()).update([row.name, *row.peer_functions])
        slow.update(row.slow_peer_tests)
    return [
        Module(path, home, tuple(sorted(some)), path not in slow)
        for (path, home), some in sorted(names.items())
    ]


def theirs(name: str) -> str:
    """The module of scikit-learn's class of a name."""
    return str(dict(all_estimators())[name].__module__)


TABLE = table()


# The command.


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only modules under 30 s")
    parser.add_argument("--list", default=str(ROOT / "docs" / "differences.md"))
    options, arguments = parser.parse_known_args()
    wanted = {word for word in arguments if word in {module.name for module in TABLE}}
    modules = {  # a module with names of two packages has two rows
        str(PEER / module.path): None
        for module in TABLE
        if (not wanted or module.name in wanted) and (module.quick or not options.quick)
    }
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "peer_tests", "-p", "no:cacheprovider"),
        *("-c", os.devnull, "--rootdir", str(PEER), "--confcutdir", str(PEER)),
        *("-n", str(os.cpu_count() or 2), "--disable-pytest-warnings"),
        *(word for word in arguments if word not in wanted),
        *modules,
    ]
    path = os.pathsep.join([str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, LIST: options.list}
    return subprocess.run(command, env=environment, check=False).returncode


# The list of failures that are meant.


@dataclass(frozen=True)
class Listed:
    """A row of the list: tests of a module, with `*` for any characters, and why they fail."""

    module: str
    test: str
    reason: str

    def matches(self, module: str, test: str) -> bool:
        pattern = ".*".join(map(re.escape, self.test.split("*")))
        return module == self.module and re.fullmatch(pattern, test) is not None


def read_list() -> tuple[str, list[Listed]]:
    """The version of scikit-learn that the list is for, and its rows."""
    file = Path(os.environ[LIST])
    text = file.read_text(encoding="utf-8")
    found = re.search(r"^The list is for scikit-learn (\S+)\.$", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"{file} does not name the version of scikit-learn that its list is for.")
    rows = re.findall(r"^\| (test_\w+) \| `(.+?)` \| (.+?) \|$", text, re.MULTILINE)
    return found[1], [Listed(*row) for row in rows]


# What a test uses.


def used(*start: Any) -> tuple[set[str], list[Any]]:
    """The names that functions use, and the values of those that are global, helpers included."""
    names: set[str] = set()
    values: list[Any] = []
    seen: set[int] = set()
    queue = list(start)
    while queue:
        value = queue.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        values.append(value)
        if isinstance(value, list | tuple | set):
            queue.extend(value)
        elif isinstance(value, dict):
            queue.extend(value.values())
        elif isinstance(value, functools.partial):
            queue.append(value.func)
        elif isinstance(value := unwrapped(value), types.FunctionType) and in_tests(value):
            mine = set(names_in(value.__code__))
            names |= mine
            queue.extend(value.__globals__[name] for name in mine & value.__globals__.keys())
    return names, values


def unwrapped(value: Any) -> Any:
    return inspect.unwrap(value) if inspect.isfunction(value) else value


def home(value: Any) -> str:
    """The name of the module that defines a value, or that is the value."""
    name = getattr(value, "__name__" if inspect.ismodule(value) else "__module__", None)
    return name if isinstance(name, str) else ""


def in_tests(value: Any) -> bool:
    return ".tests." in home(value)


def names_in(code: types.CodeType) -> Iterator[str]:
    """Names of globals and attributes in a function and in the functions inside it.

    What it patches by a dotted name in a string counts too.
    """
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)
        elif isinstance(constant, str) and re.fullmatch(r"sklearn(\.\w+)+", constant):
            yield from constant.split(".")


def is_private(value: Any) -> bool:
    """Whether a value is one of scikit-learn's that no public module gives.

    The tools of its tests, and `sklearn.utils` with them, do not count.
    """
    parts = home(value).split(".")
    hidden = [i for i, part in enumerate(parts) if part.startswith("_")]
    if parts[0] != "sklearn" or is_tool(value) or not hidden:
        return False
    public = importlib.import_module(".".join(parts[: hidden[0]]))
    name = getattr(value, "__name__", type(value).__name__)
    return inspect.ismodule(value) or not hasattr(public, name)


def uses(item: pytest.Function) -> tuple[bool, bool]:
    """Whether a test uses a private name of scikit-learn's, and whether it uses a name of ours."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    fixtures = item._fixtureinfo.name2fixturedefs.values()
    names, values = used(
        item.function, *parameters.values(), *(definition[-1].func for definition in fixtures)
    )
    tools = {getattr(value, "__name__", "") for value in values if is_tool(value)}
    underscored = {name for name in names if re.match("_[^_]", name)} - tools - TOOLS
    private = bool(underscored) or any(map(is_private, values))
    return private, any(home(value).startswith("rosenblatt.") for value in values)


def is_tool(value: Any) -> bool:
    """Whether the tests are written with something, rather than about it."""
    return in_tests(value) or home(value).startswith("sklearn.utils")


# The plugin.


@contextlib.contextmanager
def swapped(module: Module) -> Iterator[None]:
    """Our names in scikit-learn's public and private homes of them."""
    public = importlib.import_module(f"sklearn.{module.home}")
    ours = importlib.import_module(f"rosenblatt.{module.home}")
    with pytest.MonkeyPatch.context() as patch:
        for name in module.names:
            private = sys.modules[getattr(public, name).__module__]
            for place in {public, private}:
                patch.setattr(place, name, getattr(ours, name))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makemodule(module_path: Path) -> Iterator[Any]:
    """Import a test module while our names stand in the places it imports from."""
    collected = yield
    rows = [module for module in TABLE if module_path == PEER / module.path]
    with contextlib.ExitStack() as places:
        for module in rows:
            places.enter_context(swapped(module))
        if rows:
            collected.obj  # noqa: B018 - imports the module
    for module in rows:
        stand_in(module, collected.obj)
    return collected


def stand_in(module: Module, tests: Any) -> None:
    """Let a test module that imported a package, `svm`, find our names in it."""
    public = importlib.import_module(f"sklearn.{module.home}")
    ours = importlib.import_module(f"rosenblatt.{module.home}")
    package = types.ModuleType(ours.__name__)
    vars(package).update(vars(public), __name__=ours.__name__)
    vars(package).update({name: getattr(ours, name) for name in module.names})
    for name in [name for name, value in vars(tests).items() if value is public]:
        setattr(tests, name, package)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Function]) -> None:
    """Note what each test uses, and expect the listed ones to fail."""
    version, rows = read_list()
    for item in items:
        module = item.path.stem
        private, ours = uses(item)
        item.user_properties += [("module", module), ("private", private), ("ours", ours)]
        for row in rows:
            if version == sklearn.__version__ and row.matches(module, item.name):
                item.add_marker(pytest.mark.xfail(reason=row.reason, strict=True))
                item.user_properties.append(("row", f"{row.module} {row.test}"))


COUNTS: dict[str, Counter[str]] = {module.name: Counter() for module in TABLE}
ROWS_MATCHED: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count a test by its module, by what it uses and by how it ended."""
    properties = dict(report.user_properties)
    listed = "row" in properties
    if listed:
        ROWS_MATCHED.add(properties["row"])
    if (report.when != "call" and not report.failed) or (report.skipped and not listed):
        return
    count = COUNTS[properties["module"]]
    kinds = ["tests"]
    if not properties["private"]:
        kinds += ["public", "public ours"] if properties["ours"] else ["public"]
    for kind in kinds:
        count[kind] += 1
        count[f"{kind} passed"] += report.passed
    count["listed"] += listed and not report.passed


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail for a row that matches no test; under another version, do not fail."""
    if hasattr(session.config, "workerinput"):
        return
    version, rows = read_list()
    if version != sklearn.__version__:
        session.exitstatus = 0
    elif not exitstatus and unmatched(session.config, rows):
        session.exitstatus = 1


def unmatched(config: pytest.Config, rows: list[Listed]) -> list[str]:
    """Rows that match no test, if every test of their modules ran."""
    if config.option.keyword or config.option.maxfail:
        return []
    ran = {Path(word).stem for word in config.args}
    return [
        f"{row.module} {row.test}"
        for row in rows
        if row.module in ran and f"{row.module} {row.test}" not in ROWS_MATCHED
    ]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print a row for each module."""
    version, rows = read_list()
    write = terminalreporter.write_line
    write(f"scikit-learn {sklearn.__version__}; the list of differences is for {version}.")
    write(
        f"{'':32}{'every test':^24}{'no private name':^24}{'and uses ours':^24}\n"
        f"{'module':32}{'tests':>8}{'passed':>8}{'listed':>8}"
        + 2
        * f"{'tests':>8}{'passed':>8}{'share':>8}"
    )
    total: Counter[str] = sum(COUNTS.values(), Counter())
    for name, count in {**COUNTS, "in all": total}.items():
        if not count["tests"]:
            continue
        cells = [f"{count[kind]:8}" for kind in ("tests", "tests passed", "listed")]
        for kind in ("public", "public ours"):
            passed, tests = count[f"{kind} passed"], count[kind]
            cells.append(f"{tests:8}{passed:8}{passed / max(tests, 1):8.1%}")
        write(f"{name:32}{''.join(cells)}")
    for row in unmatched(config, rows):
        write(f"The list has a test that does not exist: {row}")


if __name__ == "__main__":
    sys.exit(main())
