"""Numbers and dates as people write them."""

import datetime as dt

import polars as pl
import pytest

from rosenblatt.data.columns import columns_of
from rosenblatt.data.notation import infer_notation, parse_notation
from rosenblatt.data.parsing import parse_columns


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["1,169", "300", "12,345,678"], [1169, 300, 12345678]),
        (["$22,026.47", "-$5", "USD 7"], [22026.47, -5, 7]),
        (["12%", "3.5 %"], [0.12, 0.035]),
        (["(300)", "($1,200.50)", "8"], [-300, -1200.5, 8]),
        (["1.234,5", "2,25", "12"], [1234.5, 2.25, 12]),
        (["1 234", "€ 5", "−3"], [1234, 5, -3]),
        (["7", "-", "n/a", "Unknown", "?", "1e3", *"234"], [7, *[None] * 4, 1000, 2, 3, 4]),
        (["05/13/2020", "1/2/21"], None),
        (["05/13/2020", "1/2/2021"], [dt.date(2020, 5, 13), dt.date(2021, 1, 2)]),
        (["13/05/2020", "1/2/2021"], [dt.date(2020, 5, 13), dt.date(2021, 2, 1)]),
        (["13.5.20", "1.2.21"], [dt.date(2020, 5, 13), dt.date(2021, 2, 1)]),
        (["May 13, 2020", "January 2, 2021"], [dt.date(2020, 5, 13), dt.date(2021, 1, 2)]),
        (["13-May-2020", "unknown"], [dt.date(2020, 5, 13), None]),
        (["2020-05-13 14:02"], [dt.datetime(2020, 5, 13, 14, 2)]),
        (["5/13/2020 2:02 PM"], [dt.datetime(2020, 5, 13, 14, 2)]),
        (["192.168.1.1", "10.0.0.1"], None),
        (["12,34,5"], None),
        (["1-2-3"], None),
        (["-", "n/a"], None),
        (["Rome", "May"], None),
    ],
)  # fmt: skip
def test_words_are_the_numbers_or_dates_that_people_mean(words, values):
    how = infer_notation(pl.Series(words))
    assert (how is None) == (values is None)
    if how is not None:
        read = parse_notation(pl.Series(words), how.code).to_list()
        assert read == (values if "%" in how.code else pytest.approx(values))


def test_training_rows_tell_the_notation_and_other_rows_follow_it():
    frame = pl.DataFrame(
        {
            "price": ["$1,169", "$20", "-", "free"],
            "day": ["1/2/2020", "3/4/2020", None, "25/4/2020"],
            "code": ["a1", "b2", "c3", "1,000"],
        }
    )
    told = parse_columns(frame, [0, 1, 2])
    assert told.frame["price"].to_list() == [1169.0, 20.0, None, None]
    assert told.frame["day"].null_count() == 2  # 25 is no month
    assert told.frame.schema["code"] == pl.String
    assert ["'free'" in told.hints[0], "'25/4/2020'" in told.hints[1]] == [True, True]
    assert told.written["price"].note == "numbers written as '$1,169'; '-' counts as missing"
    assert "month first: no row shows the order" in told.written["day"].note


def test_words_of_a_data_frame_stay_categories_if_they_are_plain_and_repeat():
    frame = pl.DataFrame({"zip": ["02134", "10001"] * 20, "size": [f"{i}.5" for i in range(40)]})
    told = parse_columns(frame, range(40), guessed=False)
    assert [column.kind for column in columns_of(told.frame)] == ["categorical", "numeric"]
