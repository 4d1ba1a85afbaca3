"""The rows of the registry agree with the classes, and the derived files with the rows."""

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
from rosenblatt import registry
from rosenblatt.additive import Additive
from rosenblatt.capabilities import TracedModel, path_parameters
from rosenblatt.registry.row import INPUTS, TASKS
from rosenblatt.workbench.families import EXPANSIONS, LIMITS
from rosenblatt.workbench.model_catalogue import TAKES

ROOT = Path(__file__).resolve().parents[2]
each_row = pytest.mark.parametrize("row", registry.ROWS, ids=lambda row: row.name)


def estimator_of(row):
    return getattr(rosenblatt, row.name)


def test_every_public_estimator_has_a_row_and_every_row_an_estimator():
    members = {name: getattr(rosenblatt, name) for name in rosenblatt.__all__}
    public = {n for n, m in members.items() if inspect.isclass(m) and issubclass(m, BaseEstimator)}
    names = [row.name for row in registry.ROWS]
    assert public == set(names)
    assert len(names) == len(set(names))


@each_row
def test_it_stands_in_the_module_of_its_row(row):
    assert estimator_of(row).__module__ == f"rosenblatt.{row.module}"
    assert estimator_of(row) is getattr(getattr(rosenblatt, row.home), row.name)
    assert estimator_of(row) is row.estimator
    assert registry.row_of(row.name) is row
    assert row.home in registry.MODULES


@each_row
def test_its_task_and_inputs_are_what_scikit_learn_reads_from_it(row):
    assert row.task in TASKS.values()
    assert set(row.inputs) <= {*INPUTS.values(), "text"}
    if row.contract:
        tags = [get_tags(estimator_of(row)(**setting)) for setting in row.contract.settings]
        kinds = {"classification": "classifier", "regression": "regressor"}
        kinds |= {"clustering": "clusterer", "density": "density_estimator"}
        assert {tag.estimator_type for tag in tags} == {kinds.get(row.task)}
        read = {name for tag in tags for name in INPUTS if getattr(tag.input_tags, name)}
        assert {INPUTS[name] for name in read} == set(row.inputs)


@each_row
def test_its_verifier_exists_and_reads_classes_that_exist(row):
    if row.certificate:
        verifier = importlib.import_module(f"rosenblatt.certificates.{row.certificate}")
        assert callable(verifier.certify_model)
    assert row.certificate or not row.also
    assert set(row.also) <= set(dict(all_estimators()))
    # The verifier of another row may read some settings of a class without its own verifier.
    others = [other.certificate for other in registry.ROWS if row.name in other.also]
    expected = [row.certificate] if row.certificate else others or [""]
    assert [registry.CERTIFICATES.get(row.name, "")] == expected


@each_row
def test_it_is_additive_if_it_is_made_so(row):
    assert issubclass(estimator_of(row), Additive) == row.additive


@each_row
@pytest.mark.filterwarnings("ignore")
def test_the_states_of_its_trace_view_are_documented(row):
    kind = estimator_of(row)
    if hasattr(kind, "trace_view"):
        X, y = np.arange(20.0).reshape(10, 2) ** 1.5, np.arange(10) % 2
        states = kind().fit(X, y).trace_view()
        assert states
        assert [
            name for name in states if f"``{name}``" not in TracedModel.trace_view.__doc__
        ] == []


@each_row
def test_parameters_it_names_are_parameters(row):
    known = set(inspect.signature(estimator_of(row)).parameters)
    settings = [*row.warm.settings] if row.warm else []
    if row.contract:
        settings += [*row.contract.settings, *row.contract.checked, row.contract.endless]
        settings += row.contract.tampered
    for candidate in row.compare:
        settings += [candidate.grid, candidate.settings, candidate.wide_settings]
    if hasattr(row.estimator, "fit_path"):
        settings += [dict.fromkeys(path_parameters(row.estimator()))]
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


def test_the_workbench_resolves_every_limit_expansion_and_preparation():
    candidates = [candidate for row in registry.ROWS for candidate in row.compare]
    assert {limit for candidate in candidates for limit in candidate.limits} == set(LIMITS)
    assert {candidate.expansion for candidate in candidates} == {"", *EXPANSIONS}
    assert {candidate.reads for candidate in candidates} == set(TAKES)
    assert len({candidate.name for candidate in candidates}) == len(candidates)


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
    traced = [row for row in registry.ROWS if hasattr(row.estimator, "trace_view")]
    names = [row.name for row in traced if hasattr(row.estimator(), "set_callbacks")]
    assert [name for name in names if f"`{name}" not in table] == []
