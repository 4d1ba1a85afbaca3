"""Trees grow split by split, forests tree by tree."""

import itertools

import numpy as np
import pytest

from rosenblatt import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    Trace,
)

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


def test_the_table_of_a_tree_has_each_split_in_words():
    trace = Trace()
    DecisionTreeClassifier().set_callbacks(trace).fit(*XOR)
    assert str(trace.table()).splitlines()[2:] == [
        "| 0     |                            | 0.5   |",
        "| 1     | x1 <= 0.5 of 4 rows: 2 + 2 | 0.5   |",
        "| 2     | x2 <= 0.5 of 2 rows: 1 + 1 | 0.25  |",
        "| 3     | x2 <= 0.5 of 2 rows: 1 + 1 | 0     |",
        "DecisionTreeClassifier: 3 splits.",
    ]


def test_each_step_adds_one_split_to_those_before():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 3, 80)
    trace = Trace()
    DecisionTreeClassifier(max_leaf_nodes=9).set_callbacks(trace).fit(X, y)
    splits = [step.estimator.trace_view()["splits"] for step in trace]
    assert [len(s) for s in splits] == list(range(9))
    for before, after in itertools.pairwise(splits):
        np.testing.assert_array_equal(after[:-1], before)


def test_a_forest_starts_without_a_model_and_gains_a_tree_a_step(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    trace = Trace()
    forest = RandomForestClassifier(7, random_state=0).set_callbacks(trace).fit(X, y)
    assert trace[0].estimator is None
    assert [len(step.estimator.estimators_) for step in trace[1:]] == list(range(1, 8))
    frame = trace.to_frame()
    assert np.isnan(frame["error"][0])
    assert frame["error"].iloc[-1] == pytest.approx(1 - forest.score(X, y))
    assert str(trace.table()).startswith("| tree | what")
    page = tmp_path / "run.html"
    trace.save(page)
    assert "RandomForestClassifier, tree by tree" in page.read_text(encoding="utf-8")
    assert [ax.get_xlabel() for ax in trace.plot().axes] == ["x1", "tree"]


@pytest.mark.parametrize("model", [DecisionTreeRegressor(), ExtraTreesRegressor(5, random_state=0)])
def test_a_regression_on_one_column_is_a_curve_of_steps(model):
    x = np.arange(8.0)[:, np.newaxis]
    trace = Trace()
    model.set_callbacks(trace).fit(x, np.arange(8.0) > 3)
    assert trace.plot().axes[0].get_ylabel() == "target"
