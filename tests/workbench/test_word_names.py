"""Words of texts go by their names in what a model learned and in what it says of a row."""

import numpy as np
import polars as pl
import pytest

import rosenblatt
from rosenblatt.data import Table
from rosenblatt.workbench.fitting import fit_table
from rosenblatt.workbench.importance import explain_row
from rosenblatt.workbench.known_columns import rows_for
from rosenblatt.workbench.report import page
from rosenblatt.workbench.weights import note_on_weights, weights_of

FAMILIES = ["LogisticRegression", "MultinomialNB", "BernoulliNB", "ComplementNB"]
PLAIN = [f"plain{i}" for i in range(60)]


def letters(n=300, classes=("good", "bad")):
    """Texts of plain words, and of one word that tells the class, most of the time."""
    rng = np.random.default_rng(0)
    y = rng.choice(classes, n)
    texts = [
        " ".join([*rng.choice(PLAIN, 12), f"TELLS{label}" if rng.random() < 0.9 else "so"])
        for label in y
    ]
    rooms = rng.integers(0, 5, n)
    return Table(pl.DataFrame({"rooms": rooms, "said": texts, "y": y}), "letters")


@pytest.mark.parametrize("classes", [("good", "bad"), ("good", "bad", "so")])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_heaviest_words_are_named(family, classes):
    table = letters(classes=classes)
    model = fit_table(table, "y", family, certificate=False).model
    heaviest = [name.split(" [")[0] for name, _ in weights_of(model)[0][:6]]
    telling = {f"said: tells{label}" for label in classes}
    assert telling <= set(heaviest)
    assert ("tf-idf" in note_on_weights(model)) == (family == "LogisticRegression")


def test_a_positive_weight_speaks_for_the_second_class():
    table = letters()
    for family in FAMILIES:
        model = fit_table(table, "y", family, certificate=False).model
        weights = dict(weights_of(model)[0])
        assert weights["said: tellsgood"] > 0 > weights["said: tellsbad"], family
        assert "above zero speaks for good, what is below for bad" in note_on_weights(model)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_words_of_a_row_are_told_apart_and_add_up(family):
    table = letters()
    saved = fit_table(table, "y", family, certificate=False)
    row = rows_for(saved, table)[4:5]
    told = explain_row(saved, row)
    words = {f"said: {word}" for word in row["said"][0].lower().split()}
    assert words <= set(told.names)
    assert f"rooms = {row['rooms'][0]:g}" in told.names
    assert told.start + told.contributions.sum() == pytest.approx(told.log_odds)
    assert told.winner == saved.model.predict(row)[0]
    absent = dict(zip(told.names, told.contributions, strict=True))[
        "said: words that are not in it"
    ]
    assert (absent != 0) == (family == "BernoulliNB")


@pytest.mark.parametrize("text", [None, "", "!"])
def test_a_text_without_words_stands_by_its_value(text):
    saved = fit_table(letters(), "y", "LogisticRegression", certificate=False)
    row = pl.DataFrame({"rooms": [1], "said": pl.Series([text], dtype=pl.String)})
    told = explain_row(saved, row)
    assert told.names == ("rooms = 1", f"said = {'missing' if text is None else text}")


def test_the_report_names_words(tmp_path):
    found = rosenblatt.compare(
        letters().frame, target="y", families=["MultinomialNB"], ledger=tmp_path / "openings"
    )
    text = page(found.findings)
    assert "said: tellsbad" in text
    assert "said: place" not in " ".join(name for name, _ in found.findings.learned[:40])
