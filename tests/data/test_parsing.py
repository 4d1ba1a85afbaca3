"""Columns of words as typed columns: of a known type, or of the type that some rows show."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from rosenblatt.data import read_table
from rosenblatt.data.parsing import infer_type, misfit, parse, parse_columns, parsed_or_refused

ROWS = np.arange(4)


@pytest.mark.parametrize(
    ("words", "expected", "holds"),
    [
        (["1", "2", None, "4", "many", None], [1, 2, None, 4, None, None], "numbers"),
        (["1", "2.5", None, "4", "many", "7"], [1.0, 2.5, None, 4.0, None, 7.0], "numbers"),
        (
            ["Yes", "no", "NO", None, "perhaps", "yes"],
            ["Yes", "no", "NO", None, None, "yes"],
            "yes",
        ),
    ],
)
def test_the_rest_follows_the_rows_that_are_looked_at(words, expected, holds):
    frame, said, _ = parse_columns(pl.DataFrame({"a": words}), ROWS)
    assert frame["a"].to_list() == expected
    [sentence] = said
    assert f"a holds {holds}" in sentence
    assert "missing" in sentence


def test_dates_are_dates_and_words_stay_words():
    frame = pl.DataFrame(
        {
            "day": ["2026-01-31", "2026-02-01", None, "2026-02-03", "soon", "later"],
            "town": ["Rome", "Oslo", "7", None, "8", "9"],
            "none": [None, None, None, None, "x", "y"],
        }
    )
    told, said, _ = parse_columns(frame, ROWS)
    assert told.schema == {"day": pl.Date, "town": pl.String, "none": pl.String}
    assert told["day"].null_count() == 3
    assert len(said) == 1
    assert "'soon' and 1 more" in said[0]


DAY, OTHER = dt.date(2020, 1, 31), dt.date(2021, 12, 1)


@pytest.mark.parametrize(
    ("values", "kind", "parsed", "bad"),
    [
        (["1", "2"], "numeric", [1, 2], []),
        (["1", "2.5", "-", "N/A", None], "numeric", [1.0, 2.5, None, None, None], []),
        (["1", "many"], "numeric", [1.0, None], [1]),
        (["1,5", "2"], "numeric", [1.5, 2.0], []),
        (["1", "2.5"], pl.Int64, [1, None], [1]),
        ([1.0, 2.5], pl.Int64, [1, None], [1]),
        ([True, False], "numeric", [True, False], []),
        ([True, None], pl.Float64, [1.0, None], []),
        ([DAY, None], "numeric", [None, None], [0]),
        ([DAY], pl.Int64, [None], [0]),
        ([[1]], "numeric", [None], [0]),
        ([None, None], "numeric", [None, None], []),
        (["Yes", "no", "T", "0"], "boolean", [True, False, True, False], []),
        (["yes", "n/a", None], "boolean", [True, None, None], [1]),
        ([1, 0, 2], pl.Boolean, [True, False, None], [2]),
        ([1.0, 0.0, 0.5], "boolean", [True, False, None], [2]),
        (["2020-01-31", "2021-12-01"], "date", [DAY, OTHER], []),
        (["2020-01-31", "n/a", "soon"], pl.Date, [DAY, None, None], [2]),
        (["2020-01-31T00:00:00", "2021-12-01 00:00"], pl.Date, [DAY, OTHER], []),
        ([DAY], pl.Datetime("us"), [dt.datetime(2020, 1, 31)], []),
        ([7], "date", [None], [0]),
        ([7, None], "categorical", ["7", None], []),
        (["$1,200", "-", "free"], "1,234.5", [1200.0, None, None], [2]),
        (["31.1.2020", "1.12.2021"], "%d.%m.%Y", [DAY, OTHER], []),
    ],
)
def test_values_are_parsed_as_a_type(values, kind, parsed, bad):
    commas = values == ["1,5", "2"]
    found, rows = parse(pl.Series("a", values, strict=False), kind, commas)
    assert found.to_list() == parsed
    assert rows.to_list() == bad


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["1", None, "2"], pl.Int64),
        (["1", "2.5"], pl.Float64),
        (["2020-01-31", "2021-12-01"], pl.Date),
        (["2020-01-31T10:00", "2021-12-01 11:00"], pl.Datetime),
        (["Y", "n"], "boolean"),
        (["Y", "no"], None),
        (["y"] * 200 + ["maybe"], None),
        (["1"] * 200 + ["many"], None),
        ([None], None),
    ],
)
def test_the_type_of_words_is_that_of_all(words, kind):
    assert infer_type(pl.Series(words, dtype=pl.String)) == kind


@pytest.mark.parametrize("time", ["10:33 PM", "10:33:10 CET", "25:61"])
def test_times_in_no_format_of_polars_are_words_or_in_a_notation(time, tmp_path):
    words = [f"2024-01-{day} {time}" for day in (21, 22)]
    assert infer_type(pl.Series(words)) is None
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{word},1\n" for word in words))
    assert read_table(str(tmp_path / "t.csv")).frame["a"].to_list() == words


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["none", "-", "a,b"]), pl.String])
def test_categories_are_not_read_as_missing_or_as_numbers(kind):
    words = pl.Series(["none", "-", "a,b"])
    found, bad = parse(words, kind, decimal_comma=True)
    assert found.cast(pl.String).equals(words)
    assert not len(bad)


def test_times_that_polars_writes_are_read_again(tmp_path):
    times = pl.Series("t", [dt.time(10, 30), dt.time(23, 59, 1, 500_000), None])
    file = str(tmp_path / "t.csv")
    pl.DataFrame([times, pl.Series("n", [1, 2, 3])]).write_csv(file)
    found, bad = parse(read_table(file).frame["t"], pl.Time)
    assert found.equals(times)
    assert not len(bad)


def test_what_was_written_is_what_is_parsed_again():
    rng = np.random.default_rng(0)
    for values in (
        pl.Series(rng.normal(size=50) * 10.0 ** rng.integers(-300, 300, 50)),
        pl.Series(rng.integers(-(2**62), 2**62, 50)),
        pl.Series([DAY, OTHER, None] * 20),
    ):
        words = values.cast(pl.String)
        found, bad = parse(words, infer_type(words))
        assert found.equals(values)
        assert not len(bad)


def test_one_sentence_names_the_first_value_that_does_not_fit():
    ages = pl.Series("age", ["31", "many", "few"])
    assert misfit(ages, parse(ages, "numeric")[1], "numeric", " of t.csv", 100) == (
        "Column 'age' of t.csv must hold numbers, but holds 'many' in row 101 (rows count from 0). "
        "Correct it or leave it empty."
    )
    with pytest.raises(ValueError, match=r"'age' must hold values of type Int8, but holds 'many'"):
        parsed_or_refused(ages, pl.Int8)
