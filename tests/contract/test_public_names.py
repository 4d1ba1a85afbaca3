"""Every public name is documented, has an example that runs, and is what it seems."""

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import rosenblatt
from rosenblatt import registry

MODULES = registry.MODULES
NAMES = [("rosenblatt", name) for name in rosenblatt.__all__] + [
    (f"rosenblatt.{module}", name)
    for module in MODULES
    for name in importlib.import_module(f"rosenblatt.{module}").__all__
]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_public_name_has_a_docstring_with_an_example(module, name):
    member = getattr(importlib.import_module(module), name)
    documentation = inspect.getdoc(member) or ""
    assert len(documentation) > 40
    assert doctest.DocTestParser().get_examples(documentation), "no >>> example"


@pytest.mark.parametrize("name", rosenblatt.__all__)
def test_public_methods_are_documented(name):
    member = getattr(rosenblatt, name)
    if inspect.isclass(member):
        for method_name, method in vars(member).items():
            if inspect.isfunction(method) and not method_name.startswith("_"):
                assert inspect.getdoc(method), f"{name}.{method_name}"


def test_all_is_sorted_and_dir_lists_the_modules_too():
    assert rosenblatt.__all__ == sorted(rosenblatt.__all__)
    assert sorted(dir(rosenblatt)) == sorted([*rosenblatt.__all__, *MODULES])


@pytest.mark.parametrize("taken", ["first", "last"])
def test_a_lazy_name_is_never_a_module(taken):
    """A module of a like name must not take a name's place, whichever is imported first."""
    take = "names = {name: getattr(rosenblatt, name) for name in rosenblatt.__all__}\n"
    script = (
        "import importlib, pkgutil, types, rosenblatt\n"
        f"{take if taken == 'first' else ''}"
        "for module in pkgutil.walk_packages(rosenblatt.__path__, 'rosenblatt.'):\n"
        "    importlib.import_module(module.name)\n"
        f"{take if taken == 'last' else ''}"
        "for name, value in names.items():\n"
        "    assert not isinstance(value, types.ModuleType), name\n"
        "    assert getattr(rosenblatt, name) is value, name\n"
        "    exec(f'from rosenblatt import {name} as again')\n"
        "    assert again is value, name\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_reference_lists_every_name_once():
    page = Path(__file__).resolve().parents[2] / "docs" / "api.md"
    lists = re.findall(r":toctree: api\n\n((?:   \S+\n)+)", page.read_text(encoding="utf-8"))
    names = [name for block in lists for name in block.split()]
    assert len(names) == len(set(names))
    modules = {module: importlib.import_module(f"rosenblatt.{module}") for module in MODULES}
    below = {
        f"{module}.{name}"
        for module, there in modules.items()
        for name in there.__all__
        if getattr(there, name) is not getattr(rosenblatt, name, None)
    }
    assert set(names) == {*rosenblatt.__all__, *below}


def test_no_public_function_shares_its_name_with_a_module():
    for module in MODULES:
        assert isinstance(getattr(rosenblatt, module), types.ModuleType)
        assert module not in rosenblatt.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="attribute Perceptrom"):
        _ = rosenblatt.Perceptrom


def test_importing_the_package_imports_nothing_heavy():
    script = (
        "import sys, rosenblatt\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pandas', 'matplotlib', 'rich'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_prediction_does_not_import_numba():
    script = (
        "import sys, numpy as np\n"
        "from rosenblatt import Perceptron\n"
        "model = Perceptron()\n"
        "model.coef_, model.intercept_ = np.ones((1, 2)), np.zeros(1)\n"
        "model.classes_, model.n_features_in_ = np.array([0, 1]), 2\n"
        "model.predict(np.ones((3, 2)))\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("module", ["metrics", "pipeline", "compose", "datasets", "impute"])
def test_modules_that_stay_in_sklearn_are_named(module):
    with pytest.raises(ImportError, match=rf"keep `from sklearn\.{module} import \.\.\.`"):
        importlib.import_module(f"rosenblatt.{module}")


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("model_selection", "train_test_split"),
        ("preprocessing", "StandardScaler"),
        ("tree", "export_text"),
        ("ensemble", "GradientBoostingClassifier"),
    ],
)
def test_names_that_scikit_learn_alone_has_are_imported_from_there(module, name):
    with pytest.raises(ImportError, match=rf"keep `from sklearn\.{module} import {name}`"):
        exec(f"from rosenblatt.{module} import {name}")
    assert not hasattr(importlib.import_module(f"rosenblatt.{module}"), name)


def test_modules_of_ours_that_others_cannot_find_are_not_said_to_be_of_sklearn():
    finder = next(one for one in sys.meta_path if getattr(one, "MODULES", None))
    assert finder.find_spec("rosenblatt.tree") is None  # as pytest asks, in folders of its own


def test_names_that_nobody_has_get_the_usual_error():
    with pytest.raises(ImportError, match="cannot import name 'Treee'"):
        exec("from rosenblatt.tree import Treee")


def test_modules_do_not_import_public_names_from_the_root_while_they_load():
    """The root imports them under a lock, which a thread that loads a module must not need."""
    for path in Path(rosenblatt.__file__).parent.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module == "rosenblatt" and not node.level:
                assert not {alias.name for alias in node.names} & set(rosenblatt.__all__), path
