"""Types are told by the rows that may be looked at; what does not fit elsewhere is missing."""

import numpy as np
import polars as pl
import pytest

from rosenblatt.data.parsing import parse_columns

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
