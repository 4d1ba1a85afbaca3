"""Every row of the registry is whole, and says what is so."""

import importlib
import importlib.util
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import all_estimators, get_tags

import rosenblatt
from benchmarks.scenarios import all_scenarios
from rosenblatt import registry
from rosenblatt.additive import Additive
from rosenblatt.capabilities import path_parameters
from rosenblatt.registry import Without
from rosenblatt.workbench.families import EXPANSIONS, LIMITS
from rosenblatt.workbench.model_catalogue import TAKES

ROOT = Path(__file__).resolve().parents[2]
each_row = pytest.mark.parametrize("row", registry.ROWS, ids=lambda row: row.name)

# scikit-learn's tags of what an estimator reads, and our words for them.
TAGS = {"sparse": "sparse", "allow_nan": "missing", "positive_only": "counts"}
TAGS |= {"categorical": "categorical"}


def estimator_of(row):
    return getattr(rosenblatt, row.name)


def test_every_public_estimator_has_a_row_and_every_row_an_estimator():
    members = {name: getattr(rosenblatt, name) for name in rosenblatt.__all__}
    public = {n for n, m in members.items() if inspect.isclass(m) and issubclass(m, BaseEstimator)}
    names = [row.name for row in registry.ROWS]
    assert public == set(names)
    assert len(names) == len(set(names))


@each_row
def test_no_cell_is_missing_and_what_does_not_apply_gives_a_reason(row):
    for column, cell in row._asdict().items():
        assert cell is not None, column
        assert cell or column == "file_types" or isinstance(cell, Without), column
        if isinstance(cell, Without):
            assert len(cell.reason.split()) > 3, f"{column}: say why, in a sentence"


@each_row
def test_it_is_where_the_row_says(row):
    assert estimator_of(row).__module__ == f"rosenblatt.{row.module}"
    assert estimator_of(row) is getattr(getattr(rosenblatt, row.home), row.name)
    assert row.home in registry.MODULES


@each_row
def test_its_task_and_inputs_are_what_scikit_learn_reads_from_it(row):
    assert row.task in registry.TASKS
    assert set(row.inputs) <= set(registry.INPUTS)
    if row.contract:
        tags = [get_tags(estimator_of(row)(**setting)) for setting in row.contract.settings]
        kinds = {"classification": "classifier", "regression": "regressor"}
        kinds |= {"clustering": "clusterer", "density": "density_estimator"}
        assert {tag.estimator_type for tag in tags} == {kinds.get(row.task)}
        read = {
            ours for tag in tags for name, ours in TAGS.items() if getattr(tag.input_tags, name)
        }
        assert read == set(row.inputs) & set(TAGS.values())


@each_row
def test_its_verifier_exists_and_reads_classes_that_exist(row):
    if row.verifier:
        verifier = importlib.import_module(f"rosenblatt.certificates.{row.verifier}")
        assert callable(verifier.certify_model)
    assert row.verifier or not row.sklearn
    assert set(row.sklearn or ()) <= set(dict(all_estimators()))


def test_no_class_has_two_verifiers():
    for row in registry.ROWS:
        for name in row.sklearn or ():
            assert registry.verifiers()["sklearn", name] == row.verifier


@each_row
def test_it_is_additive_if_the_row_says_so(row):
    assert issubclass(estimator_of(row), Additive) == bool(row.additive)


@each_row
def test_it_has_the_path_that_the_row_says(row):
    kind = estimator_of(row)
    found = path_parameters(kind()) if hasattr(kind, "fit_path") else ()
    assert found == (row.path or ())


@each_row
@pytest.mark.filterwarnings("ignore")
def test_its_trace_view_names_the_states_of_the_row(row):
    kind = estimator_of(row)
    assert not row.trace or hasattr(kind, "trace_view")
    if row.trace:
        X, y = np.arange(20.0).reshape(10, 2) ** 1.5, np.arange(10) % 2
        assert set(row.trace) <= set(kind().fit(X, y).trace_view())


@each_row
def test_parameters_it_names_are_parameters(row):
    known = set(inspect.signature(estimator_of(row)).parameters)
    settings = [*row.warm.settings] if row.warm else []
    settings += [{parameter: None} for parameter in row.path or ()]
    if row.contract:
        settings += [*row.contract.settings, *row.contract.checked, row.contract.endless]
    for contestant in row.contestants or ():
        settings += [contestant.grid, contestant.settings]
    assert set().union(*settings) <= known


@each_row
def test_its_page_exists_and_names_it(row):
    text = (ROOT / "docs" / row.page).read_text(encoding="utf-8")
    assert re.search(rf"\b{row.name}\b", text)


@each_row
def test_its_fit_by_parts_exists_and_the_page_of_scale_names_it(row):
    if row.parts:
        module = importlib.import_module(f"rosenblatt.distributed.{row.parts}")
        assert list(inspect.signature(module.fit_parts).parameters) == ["model", "passes"]
        page = (ROOT / "docs" / "scale.md").read_text("utf-8")
        assert re.search(rf"^\| {row.parts} \|.*`{row.name}`", page, re.MULTILINE)


@each_row
def test_its_benchmark_exists(row):
    assert not row.benchmark or row.benchmark in {scenario.name for scenario in all_scenarios()}


def test_the_workbench_resolves_every_limit_expansion_and_preparation():
    contestants = [contestant for row in registry.ROWS for contestant in row.contestants or ()]
    assert {limit for contestant in contestants for limit in contestant.limits} == set(LIMITS)
    assert {contestant.expansion for contestant in contestants} == {"", *EXPANSIONS}
    assert {contestant.reads for contestant in contestants} == set(TAKES)
    assert len({contestant.name for contestant in contestants}) == len(contestants)


def derived():
    path = ROOT / "tools" / "from_registry.py"
    spec = importlib.util.spec_from_file_location("from_registry", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.DERIVED


@pytest.mark.parametrize(("path", "content"), derived().items())
def test_files_derived_from_the_registry_are_current(path, content):
    assert (ROOT / path).read_text(encoding="utf-8") == content(), "python tools/from_registry.py"


def test_the_page_of_traces_names_every_class_that_can_be_traced():
    page = (ROOT / "docs" / "traces.md").read_text(encoding="utf-8")
    table = page.partition("## Who can be traced")[2].partition("\n\nModels that only")[0]
    traced = [row for row in registry.ROWS if row.trace]
    names = [row.name for row in traced if hasattr(estimator_of(row)(), "set_callbacks")]
    assert [name for name in names if f"`{name}" not in table] == []
