"""Which module may import which: what the contracts in pyproject.toml cannot say."""

import ast
import sys
from pathlib import Path

import grimp
import pytest

import rosenblatt

ROOT = Path(rosenblatt.__file__).parent


def folder_of(module):
    """The folder, or the module at the top level: "solvers" of "rosenblatt.solvers.newton"."""
    return module.split(".")[1] if "." in module else ""


def absolute(node, path):
    """The module that a `from ... import` names."""
    if not node.level:
        return node.module or ""
    parts = ("rosenblatt", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join([*parts[: -node.level], *filter(None, [node.module])])


def imports_of_private_names(path):
    """(line, module, name) of each private name that a file imports from another folder."""
    own = path.relative_to(ROOT).with_suffix("").parts[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom):
            continue
        module = absolute(node, path)
        if module.split(".")[0] != "rosenblatt" or folder_of(module) == own:
            continue
        for alias in node.names:
            if alias.name.startswith("_") and not alias.name.startswith("__"):
                yield node.lineno, module, alias.name


def test_no_module_imports_the_private_names_of_another_folder():
    found = [
        f"{path.relative_to(ROOT)}:{line} imports {name} from {module}"
        for path in sorted(ROOT.rglob("*.py"))
        for line, module, name in imports_of_private_names(path)
    ]
    assert not found, "\n".join(found)


def test_the_search_for_private_names_finds_them(monkeypatch, tmp_path):
    """Absolute and relative, from another folder only."""
    monkeypatch.setattr("tests.test_layers.ROOT", tmp_path)
    (tmp_path / "svm").mkdir()
    path = tmp_path / "svm" / "linear.py"
    path.write_text(
        "from rosenblatt.base import fitting, _in_a_row\n"
        "from ..solvers.newton import _moved\n"
        "from rosenblatt.svm.kernel import _own\n"
        "from .kernel import _own\n"
        "from sklearn.utils.validation import _check_sample_weight\n"
    )
    assert list(imports_of_private_names(path)) == [
        (1, "rosenblatt.base", "_in_a_row"),
        (2, "rosenblatt.solvers.newton", "_moved"),
    ]


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph("rosenblatt", include_external_packages=True)


def upstream(graph, folder):
    """The folders and packages that a folder imports, directly or through another module."""
    found = graph.find_upstream_modules(f"rosenblatt.{folder}", as_package=True)
    return {
        folder_of(name) if name.startswith("rosenblatt.") else name
        for name in found
        if folder_of(name) != folder and name != "rosenblatt"
    }


def test_certificates_reach_no_code_of_a_fit(graph):
    """New modules are out of reach unless they are named here."""
    reached = upstream(graph, "certificates") - {"numpy", "scipy"}
    here = {"registry", "runtime", "separation"}
    assert reached - set(sys.stdlib_module_names) == here | {"lazy_loader", "threadpoolctl"}
    inside = graph.find_upstream_modules("rosenblatt.certificates", as_package=True)
    runtime = {name for name in inside if name.startswith("rosenblatt.runtime.")}
    assert runtime == {"rosenblatt.runtime.deadline", "rosenblatt.runtime.threads"}


def test_verifiers_have_exact_arithmetic_of_their_own(graph):
    """A fit and its verifier that shared it would share its mistakes."""
    for name in graph.find_descendants("rosenblatt.certificates"):
        imported = graph.find_modules_directly_imported_by(name)
        proofs = {other for other in imported if other.startswith("rosenblatt.separation.")}
        assert not proofs, f"{name} imports {proofs}"


def circles(graph):
    """The sets of modules that import each other, directly or through others of the set."""
    above = {name: set() for name in graph.modules if name.startswith("rosenblatt")}
    for name in above:
        above[name] = graph.find_upstream_modules(name) & above.keys()
    found = {frozenset({name} | {o for o in above[name] if name in above[o]}) for name in above}
    return {circle for circle in found if len(circle) > 1}


def test_no_modules_import_each_other_in_a_circle(graph):
    """Of modules, where the contract looks at whole folders; the workbench's use each other."""
    trace = {"rosenblatt.trace.run", "rosenblatt.trace.frame"}  # brings Numba, when measured
    assert circles(graph) <= {frozenset(trace)}
