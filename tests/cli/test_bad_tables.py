"""Tables that cannot be learned from as they are: which column, and what to do."""

import json
import shlex

import numpy as np
import polars as pl
import pytest

from rosenblatt.workbench import comparison
from rosenblatt.workbench.verdicts import NOTHING_FITTED
from tests.cli.commands import done, refused, run
from tests.workbench.models import fitted, mixed_frame

N = 80


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def columns(**others):
    rng = np.random.default_rng(0)
    usual = {"a": rng.normal(size=N), "b": rng.normal(size=N), "y": ["u", "v"] * (N // 2)}
    return pl.DataFrame(usual | others)


@pytest.mark.parametrize("command", ["compare", "fit"])
def test_numbers_too_large_to_square_name_their_column(here, command):
    a = [9e307 if i == 9 else i / 7 for i in range(N)]
    columns(a=a).write_csv("t.csv")
    words = () if command == "compare" else ("--model", "GaussianNB", "-o", "m.skops")
    sentence = refused(command, "t.csv", "--target", "y", *words)
    assert sentence == (
        "Column 'a' must hold finite numbers up to 1e+150, but holds 9e+307 in row 9 (rows count "
        "from 0). Correct it or leave it empty."
    )
    columns(y=a).write_csv("t.csv")
    assert "Column 'y' must hold finite numbers up to 1e+150, but holds 9e+307" in refused(
        "compare", "t.csv", "--target", "y"
    )


def test_they_are_refused_by_predictions_too(here):
    columns().write_csv("t.csv")
    done("fit", "t.csv", "--target", "y", "--model", "GaussianNB", "-o", "m.skops")
    columns(a=[1e200] + [0.5] * (N - 1)).write_csv("u.csv")
    assert "Column 'a' of u.csv must hold finite numbers" in refused("predict", "m.skops", "u.csv")
    assert "'1e200' in row 0" in refused("predict", "m.skops", "u.csv").replace("1e+200", "1e200")


def test_whole_numbers_of_31_digits_are_numbers(here):
    a = [str(10**30 + 7919 * i * 10**28) for i in range(N)]
    columns(a=a).write_csv("t.csv")
    done("fit", "t.csv", "--target", "y", "--model", "GaussianNB", "-o", "m.skops")
    assert done("predict", "m.skops", "t.csv").count("\n") == N + 1
    assert "a = 1e+30" in done("explain", "m.skops", "t.csv", "--row", 0)


def test_a_table_of_a_target_alone_says_so(here):
    columns().select("y").write_csv("t.csv")
    for words in (("compare",), ("fit", "--model", "GaussianNB", "-o", "m.skops")):
        sentence = refused(words[0], "t.csv", "--target", "y", *words[1:])
        assert sentence == "t.csv has no column beside y to learn from: add one."


def test_one_class_to_learn_from_names_the_split(here):
    columns(t=range(N), y=["u"] * 60 + ["v"] * 20).write_csv("t.csv")
    for metric in ("roc_auc", "accuracy"):
        sentence = refused("compare", "t.csv", "--target", "y", "--time", "t", "--metric", metric)
        assert sentence.startswith("All 48 rows to learn from have the same y, u, when split by t")


def test_folds_of_one_class_refuse_scores_of_two(here):
    columns(t=range(N), y=["u"] * 30 + ["v"] * 50).write_csv("t.csv")
    words = ("compare", "t.csv", "--target", "y", "--time", "t", "--metric", "roc_auc")
    sentence = refused(*words)
    assert "roc_auc needs rows of every y in each fold, and fold 1 has" in sentence
    assert "take accuracy" in sentence


def test_a_word_among_numbers_is_told_of(here):
    a = [*columns()["a"].to_list()[:-3], "oops", 0.5, 0.25]
    rows = columns().drop("a").to_dicts()
    lines = [json.dumps({"a": x, **row}) for x, row in zip(a, rows, strict=True)]
    (here / "t.jsonl").write_text("\n".join(lines))
    words = [",".join(map(str, (x, row["b"], row["y"]))) for x, row in zip(a, rows, strict=True)]
    (here / "t.csv").write_text("\n".join(["a,b,y", *words]))
    for name in ("t.jsonl", "t.csv"):
        said = run("fit", name, "--target", "y", "--model", "GaussianNB", "-o", "m.skops").stderr
        assert "Warning: a holds numbers, but for 'oops' in row 77" in said


def test_a_target_with_a_word_is_no_number(here):
    columns(y=["many", *map(str, range(N - 1))]).write_csv("t.csv")
    assert "y holds 'many', which is not a number" in refused(
        "compare", "t.csv", "--target", "y", "--task", "regression"
    )


def test_nothing_fitted_is_no_success(here, monkeypatch):
    def late(folded, families, clock, progress, vote):
        clock.stopped = "budget"
        return [], []

    monkeypatch.setattr(comparison, "search_families", late)
    result = run("compare", "iris", "--target", "species", "--save", "m.skops")
    assert result.exit_code == 1
    assert NOTHING_FITTED in " ".join(result.stdout.split())
    assert not (here / "m.skops").exists()


# From Python.


@pytest.mark.parametrize("name", ["GaussianNB", "MixedNB"])
@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("age", ["31"] * 70 + ["many"] + ["7"] * 49, "'age' must hold numbers.*'many' in row 70"),
        ("age", [[1]] * 120, r"'age' must hold numbers, but holds \[1\] in row 0"),
        (
            "since",
            ["2020-01-31"] * 9 + ["soon"] * 111,
            "'since' must hold dates.*'soon' in row",
        ),
        ("since", list(range(120)), "'since' must hold dates, but holds 0 in row 0"),
    ],
)
def test_values_of_another_kind_are_named(name, column, values, told):
    model = fitted(name, certificate=False).model
    frame = mixed_frame().with_columns(pl.Series(column, values))
    with pytest.raises(ValueError, match=told):
        model.predict(frame)


def test_numbers_and_dates_as_words_are_what_they_say():
    saved = fitted("GaussianNB", certificate=False)
    frame = mixed_frame()
    words = frame.with_columns(pl.col("age", "since").cast(pl.String))
    hours = frame.with_columns(pl.col("since").cast(pl.Datetime("ns")))
    told = saved.model.predict_proba(frame)
    for same in (words, hours):
        assert np.array_equal(saved.model.predict_proba(same), told)


def test_objects_of_several_types_in_pandas_name_the_value():
    model = fitted("GaussianNB", certificate=False).model
    frame = mixed_frame().to_pandas()
    frame["age"] = ["many", *([1.5] * 119)]
    with pytest.raises(ValueError, match=r"'age' must hold numbers, but holds 'many' in row 0"):
        model.predict(frame)


# Words that nobody should type, and somebody will.


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("fit ~nobody-here/x.csv --target y --model Ridge -o m", "There is no file ~nobody-here"),
        ("fit iris --target species --model '' -o m", "There is no model ''"),
        (
            "fit iris --target species --model GaussianNB -o ''",
            "The name of the file to write is em",
        ),
        (
            "fit '' --target species --model GaussianNB -o m",
            "The name of the file to read is",
        ),
        ("fit /dev/null --target y --model Ridge -o m", "is not a regular file; give a file, or -"),
        (
            "compare iris --target species --out l.openings.jsonl",
            "records the evaluations on a test",
        ),
        ("split one.csv", "one.csv must have at least 3 rows; got 1"),
        ("certify m.skops iris --tol nan", "--tol must be at least 0; got nan"),
    ],
)
def test_odd_words_are_refused_in_a_sentence(here, words, told):
    (here / "one.csv").write_text("a,y\n1,u\n")
    (here / "l.openings.jsonl").write_text("")
    done("fit", "iris", "--target", "species", "--model", "GaussianNB", "-o", "m.skops")
    assert told in refused(*shlex.split(words))
    assert sorted(path.name for path in here.iterdir()) == [
        "l.openings.jsonl", "m.skops", "one.csv",
    ]  # fmt: skip


def test_a_pipe_without_rows_is_called_by_its_name(here):
    done("fit", "iris", "--target", "species", "--model", "GaussianNB", "-o", "m.skops")
    assert "standard input is empty" in run("predict", "m.skops", "-", input="").stderr


def test_numbers_longer_than_a_machine_has_are_compared_and_split_as_they_are(here):
    a = [str(2**63 + 7919**3 * i * i) for i in range(N)]
    columns(a=a).write_csv("t.csv")
    done("compare", "t.csv", "--target", "y", "--families", "nb", "--save", "m.skops")
    assert run("certify", "m.skops", "t.csv").exit_code in (0, 1)
    done("compare", "t.csv", "--target", "a", "--families", "ridge", "--out", "r.html")
    done("split", "t.csv")
    assert str(2**63 + 7919**3 * 9) in "".join(
        (here / f"t.{part}.csv").read_text() for part in ("train", "dev", "test")
    )


def test_what_is_piped_as_json_lines_is_told_how_to_be_read(here):
    """It was said to have quotes that do not end."""
    lines = '{"a": 1, "y": "p"}\n{"a": 2, "y": "q"}\n'
    done("fit", "iris", "--target", "species", "--model", "GaussianNB", "-o", "m.skops")
    for words in (("compare", "-", "--target", "y"), ("predict", "m.skops", "-")):
        result = run(*words, input=lines)
        assert result.exit_code == 2
        assert "looks like JSON lines: --format jsonl" in result.stderr


def test_libsvm_cannot_be_split_by_a_column(here):
    (here / "t.libsvm").write_text("".join(f"{i % 2} 1:{i % 2} 2:{i % 7}\n" for i in range(60)))
    sentence = refused("compare", "t.libsvm", "--target", "target", "--groups", "x1")
    assert sentence.startswith("A LIBSVM table cannot be split by a column")


def test_one_row_is_no_rows(here):
    rows = [f"{i % 9 / 2},{'pq'[i % 2]}" for i in range(40)]
    (here / "t.csv").write_text("\n".join(["x,y", *rows, "7,"]))
    said = run("fit", "t.csv", "--target", "y", "--model", "GaussianNB", "-o", "m.skops").stderr
    assert "1 row without y was ignored." in said


@pytest.mark.parametrize("header", [",a,y", " ,a,y", "column_0,,y"])
def test_a_column_without_a_name_gets_one(here, header):
    """As that of the numbers of rows has none which pandas writes."""
    rows = [f"{i},{i % 7 / 3},{'uv'[i % 2]}" for i in range(N)]
    (here / "t.csv").write_text("\n".join([header, *rows]) + "\n")
    said = done(
        "compare", "t.csv", "--target", "y", "--families", "GaussianNB", "--save", "m.skops"
    )
    gone = "column_0" if header == "column_0,,y" else "not used: index (identifier"
    assert (gone in " ".join(said.split())) == (header != "column_0,,y")
    assert done("predict", "m.skops", "t.csv").count("\n") == N + 1
    assert ("column_1 = " if header == "column_0,,y" else "a = ") in done(
        "explain", "m.skops", "t.csv", "--row", 2
    )


@pytest.mark.parametrize("word", ["Inf", "-Inf", "INF", "Infinity", "inf", "1e300"])
@pytest.mark.parametrize("other", ["2.5", "many"])
def test_infinity_is_refused_however_it_is_written(here, word, other):
    """polars takes some of these for words, beside which a column of numbers named rows."""
    a = [f"{i / 7}" for i in range(N)]
    a[4], a[9] = word, other
    columns(a=a).write_csv("t.csv")
    sentence = refused("compare", "t.csv", "--target", "y")
    assert sentence.startswith("Column 'a' must hold finite numbers")
    assert "in row 4 (rows count from 0). Correct it or leave it empty." in sentence


def test_a_category_that_is_called_infinity_is_one(here):
    columns(a=["Inf", "Nan-in", "Rome", "Oslo"] * (N // 4)).write_csv("t.csv")
    said = done("compare", "t.csv", "--target", "y", "--families", "GaussianNB", "--verbose")
    assert "1 categorical" in said


@pytest.mark.parametrize("which", ["a", "y"])
def test_numbers_whose_squares_are_zero_are_refused(here, which):
    """Every model had an R² of 1 then."""
    tiny = [1e-170 * (i % 9 - 4) for i in range(N)]
    columns(**{which: tiny}).write_csv("t.csv")
    assert refused("compare", "t.csv", "--target", "y") == (
        f"Column {which!r} holds no number larger than 4e-170, and squares of such are zero: give "
        "them in another unit."
    )


def test_columns_of_durations_are_left_out_and_of_times_are_used(here):
    seconds = pl.Series(range(N))
    columns(
        long=pl.select(pl.duration(seconds=seconds)).to_series(),
        at=(seconds * 10**12 // 3).cast(pl.Time),
    ).write_parquet("t.parquet")
    said = done(
        "compare", "t.parquet", "--target", "y", "--families", "GaussianNB,MixedNB",
    )  # fmt: skip
    said = " ".join(said.split())
    assert "long (empty: values are of a kind that no model takes (Duration" in said
    assert "failed" not in said


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([[i % 2] for i in range(N)]),
        pl.Series([b"a", b"b"] * (N // 2)),
        pl.Series([{"a": i % 2} for i in range(N)]),
        pl.select(pl.duration(seconds=pl.Series([1, 2] * (N // 2)))).to_series(),
    ],
    ids=lambda values: str(values.dtype),
)
def test_a_target_of_a_kind_that_cannot_be_predicted_is_named(here, values):
    columns(y=values).write_parquet("t.parquet")
    assert "y holds values of a kind that no model predicts" in refused(
        "compare", "t.parquet", "--target", "y"
    )


def test_classes_that_are_too_rare_may_leave_nothing_to_tell_apart(here):
    columns(y=["u"] * (N - 3) + ["v"] * 3).write_csv("t.csv")
    assert refused("compare", "t.csv", "--target", "y") == (
        "Fewer than two values of y have 4 rows or more, so that there is nothing to tell apart; "
        "too few are of v. Give more rows of each."
    )
    columns(y=["u", "v"] * ((N - 2) // 2) + ["w"] * 2).write_csv("t.csv")
    said = done("compare", "t.csv", "--target", "y", "--families", "GaussianNB")
    assert "1 class with fewer than 4 rows is left out: w." in " ".join(said.split())


def test_a_link_to_nothing_is_told_of(here):
    (here / "loop.csv").symlink_to("loop.csv")
    assert refused("compare", "loop.csv", "--target", "y") == ("loop.csv is a broken link.")
