"""Tables, targets and groups in whatever form Python users have them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import rosenblatt
from rosenblatt.data import TableError, read_table
from rosenblatt.workbench.arguments import chosen_families, table_of, with_groups
from rosenblatt.workbench.families import FAMILIES
from tests.workbench.models import mixed_frame

WORDS = ["Rome", np.nan, "Oslo"] * 40


@pytest.fixture
def frame():
    return mixed_frame()


@pytest.mark.parametrize(
    "y",
    [
        WORDS,
        np.array(WORDS, object),
        pd.Series(WORDS, name="goal"),
        pd.Series(WORDS, dtype="category"),
        pd.DataFrame({"goal": WORDS}),
        pl.Series("goal", ["Rome", None, "Oslo"] * 40),
        pl.DataFrame({"goal": ["Rome", None, "Oslo"] * 40}),
        pl.LazyFrame({"goal": ["Rome", None, "Oslo"] * 40}),
        np.array(WORDS, object)[:, np.newaxis],
    ],
    ids=lambda y: type(y).__name__,
)
def test_a_target_in_any_form_with_its_gaps(frame, y):
    table, name = table_of(frame, y, None)
    assert name in ("goal", "target")
    assert table.frame[name].to_list() == ["Rome", None, "Oslo"] * 40
    assert table_of(frame, y, "other")[1] == "other"


def test_rows_without_a_target_are_left_out_with_a_word(frame, tmp_path):
    found = rosenblatt.compare(
        frame, WORDS, families=["Gaussian naive Bayes"], ledger=tmp_path / "openings.jsonl"
    )
    assert "40 rows without target are left out." in found.findings.notes


def test_features_in_any_form(frame):
    objects = np.array(frame.rows(), object)
    for X in (objects, objects.tolist()):
        table, _ = table_of(X, WORDS, None)
        assert table.frame.columns == ["x0", "x1", "x2", "x3", "x4", "target"]
        kinds = [pl.Float64, pl.Int64, pl.String, pl.String, pl.Date, pl.String]
        assert table.frame.dtypes == kinds
    for X in (frame, frame.lazy(), frame.to_pandas()):
        assert table_of(X, WORDS, None)[0].frame.columns == [*frame.columns, "target"]


def test_the_name_of_a_column_is_a_target_too(frame):
    assert table_of(frame.lazy(), "town", None)[1] == "town"
    assert table_of("iris", "species", None)[1] == "species"
    with pytest.raises(TableError, match=r"no column 'twn'. Did you mean town\?"):
        rosenblatt.compare(frame, "twn")
    with pytest.raises(TableError, match="'town' or 'age', not both"):
        rosenblatt.compare(frame, "town", target="age")


def test_targets_that_cannot_be_meant(frame):
    with pytest.raises(TableError, match="y has 2 columns, and one column is wanted"):
        rosenblatt.compare(frame, frame.select("town", "age"))
    with pytest.raises(TableError, match="'town' already: if it is the target, give its name"):
        rosenblatt.compare(frame, frame["town"])
    with pytest.raises(TableError, match="X has 120 rows and y has 3"):
        rosenblatt.compare(frame, WORDS[:3])
    with pytest.raises(TableError, match='as in target="label"'):
        rosenblatt.compare(frame)
    with pytest.raises(TableError, match="A matrix has no column 'town'"):
        rosenblatt.compare(sp.csr_matrix(np.eye(3)), target="town")
    with pytest.raises(TableError, match="time takes the name of a column; got a Series"):
        rosenblatt.compare(frame, "town", time=frame["since"])


def test_groups_by_name_or_by_value(frame, tmp_path):
    houses = np.arange(120) // 4
    for groups in (houses, houses.tolist(), pd.Series(houses)):
        found = rosenblatt.compare(
            frame, "age", groups=groups, families=["least squares"],
            ledger=tmp_path / "openings.jsonl",
        )  # fmt: skip
        assert found.findings.protocol.split_words == "rows of one groups stay together"
        columns = {column.name: column for column in found.findings.columns}
        assert (columns["groups"].kind, columns["groups"].used) == ("groups", False)
        assert "groups" not in found.best[0].kinds
    table, _ = table_of(frame, "age", None)
    assert with_groups(table, frame.to_pandas()["town"]) == (table, "town")
    assert with_groups(table, pd.Series(houses, name="house"))[1] == "house"
    with pytest.raises(TableError, match="groups has 9 values, and the table 120 rows"):
        with_groups(table, houses[:9])
    with pytest.raises(TableError, match="a column 'town' that is not the same as groups"):
        with_groups(table, pd.Series(houses, name="town"))


ROWS = np.random.default_rng(0).normal(size=(40, 2))
LABELS = ["u", "v"] * 20


@pytest.mark.parametrize(
    ("X", "options", "told"),
    [
        (ROWS.astype(complex), {}, "Column 'x0' holds objects that are neither numbers"),
        (pd.DataFrame(ROWS).assign(k=[{1: 2}] * 40), {}, "Column 'k' holds objects"),
        (pd.DataFrame(ROWS, columns=["a", "a"]), {}, "more than one column named 'a'"),
        (ROWS, {"kinds": {"x0": "date"}}, "'x0' must hold dates, but holds 0.12"),
        (pl.DataFrame({"a": LABELS}), {"kinds": {"a": "numeric"}}, "'a' must hold numbers, but"),
        (ROWS, {"families": []}, "families is empty"),
        (ROWS, {"budget": "soon"}, "budget must be at least 1 second; got 'soon'"),
        (ROWS, {"metric": 7}, "metric takes the name of a scorer of scikit-learn; got 7"),
    ],
)
def test_what_nobody_can_learn_from_is_named(X, options, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        rosenblatt.compare(X, LABELS, ledger=tmp_path / "ledger", **options)


def names(*words, task="classification"):
    suiting = [family for family in FAMILIES if family.task == task]
    found, unsuited = chosen_families(words, suiting[1:], [(suiting[0].name, "does not suit")])
    return [family.name for family in found], unsuited


def test_families_go_by_their_classes_too():
    assert names("LinearDiscriminantAnalysis", "logisticregression", "logistic regression") == (
        ["linear discriminant analysis", "logistic regression"], [],
    )  # fmt: skip
    assert names("Ridge", task="regression")[0] == ["ridge regression"]
    assert names("GaussianNB", "Perceptron") == (
        ["perceptron"], [("Gaussian naive Bayes", "does not suit")],
    )  # fmt: skip


def test_one_family_may_be_named_by_itself(tmp_path):
    found = rosenblatt.compare(
        "iris", "species", families="GaussianNB", ledger=tmp_path / "openings"
    )
    assert [entry.family for entry in found.findings.contestants] == ["Gaussian naive Bayes"]


@pytest.fixture
def bare(tmp_path):
    """A file without a header, whose name does not say that it is CSV."""
    rows = [",".join(map(str, row)) for row in read_table("iris").frame.rows()]
    (tmp_path / "iris.data").write_text("\n".join(rows))
    return tmp_path / "iris.data"


def test_files_are_read_as_the_call_says(bare, tmp_path):
    found = rosenblatt.compare(
        bare, "column_4", format="csv", header=False, families="GaussianNB",
        ledger=tmp_path / "openings",
    )  # fmt: skip
    assert found.findings.protocol.n_train == 90
    said = found.findings.protocol.command
    assert "format='csv', header=False" in said
    again = eval(said.splitlines()[-1], {"rosenblatt": rosenblatt})
    assert again.findings.opening.score == found.findings.opening.score


@pytest.mark.parametrize("option", [{"format": "csv"}, {"header": False}])
def test_what_is_said_of_files_is_refused_of_anything_else(frame, option):
    with pytest.raises(TableError, match=r"is about a file .*, and X is a DataFrame"):
        rosenblatt.compare(frame, "town", **option)


@pytest.mark.parametrize("library", [pd, pl])
def test_one_column_without_a_frame_is_told_how_to_become_one(library):
    texts = library.Series(["a b", "c d"] * 20)
    with pytest.raises(TableError, match=r'make a table: df\[\["message"\]\]'):
        rosenblatt.compare(texts, ["x", "y"] * 20)
