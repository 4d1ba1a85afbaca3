"""What columns add, adds up to what the model says."""

import numpy as np
import pytest

from rosenblatt.workbench.importance import explain_row
from rosenblatt.workbench.known_columns import rows_for
from rosenblatt.workbench.model_catalogue import family_named, named_families
from rosenblatt.workbench.weights import rule_in_words
from tests.workbench.models import fitted, table_for

pytestmark = pytest.mark.usefixtures("unconverged")
CANNOT = {
    "kernel perceptron",
    "kernel logistic regression",
    "ridge on products",
    "NearestCentroid",
    "BaggingClassifier",
    "BaggingRegressor",
    "nearest neighbors",
    "nearest neighbors regression",
    "nearest neighbors of mixed columns",
    "nearest neighbors regression of mixed columns",
    "kernel ridge regression",
    "kernel ridge on landmarks",
    "support vector machine on landmarks",
    "support vector machine",
    "support vector regression",
}


@pytest.mark.filterwarnings("ignore:.*stands in for kernels above")  # on few rows
@pytest.mark.filterwarnings("ignore:n_components > n_samples")
@pytest.mark.parametrize("family", named_families(), ids=lambda family: family.name)
def test_parts_by_column_add_up(family):
    saved = fitted(family.name, certificate=False)
    row = rows_for(saved, table_for(family, seed=2))[5:6]
    if family.name in CANNOT:
        with pytest.raises(TypeError, match=f"{family.name} cannot say what each column adds") as e:
            explain_row(saved, row)
        assert "LinearSVC, LinearSVR" in str(e.value)
        return
    told = explain_row(saved, row)
    assert [name.partition(" = ")[0] for name in told.names] == row.columns
    assert told.start + told.contributions.sum() == pytest.approx(told.log_odds)
    said = saved.model.predict(row)[0]
    if family.task == "regression":
        assert told.log_odds == pytest.approx(said)
        return
    assert told.winner == said
    if hasattr(saved.model, "predict_proba") and told.words[1] == "log-odds":
        p = dict(zip(saved.model.classes_, saved.model.predict_proba(row)[0], strict=True))
        assert told.log_odds == pytest.approx(np.log(p[told.winner] / p[told.rival]))


def test_values_of_the_row_are_shown_and_gaps_said():
    saved = fitted("ridge regression", certificate=False)
    row = rows_for(saved, table_for(family_named("Ridge")))[3:4]
    row[0, "town"] = None
    text = str(explain_row(saved, row))
    assert text.startswith("target\n")
    assert "town = missing" in text
    assert f"visits = {row['visits'][0]:g}" in text


def test_a_bend_along_a_column_is_its_part_and_a_mean_adds_nothing():
    saved = fitted("ridge on splines", certificate=False)
    row = rows_for(saved, table_for(family_named("Ridge")))[3:4]
    before = explain_row(saved, row)
    row[0, "visits"] = 9
    after = explain_row(saved, row)
    changed = [
        name.partition(" = ")[0]
        for name, one, two in zip(
            after.names, before.contributions, after.contributions, strict=True
        )
        if one != two
    ]
    assert changed == ["visits"]
    row[0, "age"] = None  # counts as the mean, and as missing
    with_gap = explain_row(saved, row)
    assert before.start == after.start == with_gap.start


def test_a_tree_shows_the_path_of_the_row_in_the_units_of_the_table():
    saved = fitted("decision tree", certificate=False)
    row = rows_for(saved, table_for(family_named("decision tree"), seed=2))[5:6]
    *tests, leaf = explain_row(saved, row).path
    assert tests
    assert leaf.startswith(f"leaf: {saved.model.predict(row)[0]}")
    words = [test.rsplit(" ", 2) for test in tests]
    of_numbers = [test for test in words if test[0] in row.columns]
    assert of_numbers
    for name, sign, threshold in of_numbers:
        assert (row[name][0] <= float(threshold)) == (sign == "<=")


@pytest.mark.parametrize("name", ["ConjunctionClassifier", "MofNClassifier"])
def test_a_rule_shows_its_tests_and_whether_it_fires(name):
    saved = fitted(name, certificate=False)
    rows = rows_for(saved, table_for(family_named(name), seed=2))[:20]
    second = saved.model.classes_[1]
    for i in range(len(rows)):
        rule, *tests, verdict = explain_row(saved, rows[i : i + 1]).path
        assert rule == f"rule: {rule_in_words(saved.model)}"
        held = sum(test.startswith("holds: ") for test in tests)
        assert verdict.endswith(f"{held} of {len(tests)} tests hold, {saved.model[-1].m_} needed")
        fires = saved.model.predict(rows[i : i + 1])[0] == second
        assert verdict.startswith("the rule fires" if fires else "the rule does not fire")
