"""What a cell means is decided by what the model has learned, not by the batch it comes in."""

import functools
import io
import json

import polars as pl
import pytest

from rosenblatt.cli import tables
from rosenblatt.data import read_batches
from tests.cli.commands import done, run

# Categories that look like numbers, dates and truth values, each of them in rows of its own, so
# that small batches hold nothing else.
ALIKE = [
    "1,5", "2,5", "1.5", "01", "1", "1.0", "true", "TRUE", "false", "XL",
    "2020-01-31", "2020-01-31T10:00", "2020-01-31 10:00:00",
]  # fmt: skip
TIMES = 6  # rows of a category
ROWS = [(word, f"{i % 7},{i % 10}", f"says {word}") for word in ALIKE for i in range(TIMES)]
TRUTH = [row[2] for row in ROWS]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def semicolons(rows, blank=""):
    lines = [f"{blank}{size};{weight};{y}" for size, weight, y in rows]
    return "\n".join(["size;weight;y", *lines]) + "\n"


def json_lines(rows):
    return "".join(
        json.dumps({"size": _json_value(size), "weight": i % 7, "y": y}) + "\n"
        for i, (size, _, y) in enumerate(rows)
    )


def _json_value(word):
    return {"1": 1, "1.0": 2.0, "1.5": 1.5, "true": True}.get(word, word)


def in_batches_of(monkeypatch, rows):
    monkeypatch.setattr(tables, "read_batches", functools.partial(read_batches, rows=rows))


def predicted(text):
    return pl.read_csv(io.StringIO(text), infer_schema=False)["prediction"].to_list()


def fitted(model, table):
    done("fit", table, "--target", "y", "--model", model, "-o", "m.skops", "--no-certificate")


@pytest.mark.parametrize("model", ["LogisticRegression", "MixedNB"])
@pytest.mark.parametrize("blank", ["", " "])
def test_categories_that_look_like_something_else_stay_what_they_are(
    model, blank, here, monkeypatch
):
    (here / "t.csv").write_text(semicolons(ROWS, blank))
    fitted(model, "t.csv")
    whole = done("predict", "m.skops", "t.csv", "--proba")
    assert predicted(whole) == TRUTH
    for rows in (2, TIMES):
        in_batches_of(monkeypatch, rows)
        assert done("predict", "m.skops", "t.csv", "--proba") == whole
        piped = run("predict", "m.skops", "-", "--proba", input=semicolons(ROWS, blank))
        assert piped.stdout == whole


def test_the_same_in_json_lines(here, monkeypatch):
    (here / "t.jsonl").write_text(json_lines(ROWS))
    fitted("MixedNB", "t.jsonl")
    whole = done("predict", "m.skops", "t.jsonl", "--proba")
    assert predicted(whole) == TRUTH
    in_batches_of(monkeypatch, TIMES)
    assert done("predict", "m.skops", "t.jsonl", "--proba") == whole


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("word", ["01", "1.0", "true", "2020-01-31T10:00", "1,5"])
def test_a_table_of_one_such_category_is_scored_and_explained_as_it_is_predicted(form, word, here):
    text = semicolons if form == "csv" else json_lines
    (here / f"t.{form}").write_text(text(ROWS))
    fitted("MixedNB", f"t.{form}")
    some = [row for row in ROWS if row[0] == word]
    (here / f"some.{form}").write_text(text(some))
    result = run("predict", "m.skops", f"some.{form}", "--score")
    assert predicted(result.stdout) == [f"says {word}"] * TIMES
    assert "accuracy 1.0000" in result.stderr
    told = f"predicted y = says {word} (correct)"
    assert told in done("explain", "m.skops", f"some.{form}", "--row", 3)


def test_classes_that_look_like_numbers_are_scored_as_words(here):
    rows = [(f"size {word}", 0, word) for word in ("01", "1", "x") for _ in range(TIMES)]
    (here / "t.csv").write_text(semicolons(rows))
    fitted("MixedNB", "t.csv")
    (here / "some.csv").write_text(semicolons(rows[:TIMES]))
    assert "accuracy 1.0000" in run("predict", "m.skops", "some.csv", "--score").stderr


def test_a_sealed_test_of_such_categories_counts_its_openings(here):
    (here / "t.csv").write_text(semicolons(ROWS * 2).replace("says ", "").replace(";", "|"))
    done("split", "t.csv", "--target", "y")
    done("fit", "t.train.csv", "--target", "y", "--model", "MixedNB", "-o", "m.skops")
    for times in (1, 2):
        run("predict", "m.skops", "t.test.csv", "--score")
        assert len((here / "t.test.csv.openings.jsonl").read_text().splitlines()) == times
    lines = map(json.loads, (here / "t.test.csv.openings.jsonl").read_text().splitlines())
    assert len({line["test"] for line in lines}) == 1


def test_a_word_beyond_the_training_part_makes_no_words_of_decimal_commas(here):
    from rosenblatt.data import read_table
    from rosenblatt.workbench.problem import problem_of

    rows = [(f"{i},{i % 9}", i, "uv"[i % 2]) for i in range(100)]
    (here / "t.csv").write_text(semicolons(rows))
    test = problem_of(read_table("t.csv"), "y").test
    rows[test[0]] = ("many", *rows[test[0]][1:])
    (here / "t.csv").write_text(semicolons(rows))
    found = problem_of(read_table("t.csv"), "y")
    assert found.used["size"] == "numeric"
    assert "size holds numbers, but for 'many'" in " ".join(found.hints)
