import datetime

import polars as pl
import pytest

from rosenblatt.data import TableError, columns_of

N = 60
VALUES = {
    "numeric": [[i / 7 for i in range(N)], [i % 9 for i in range(N)], [i * i for i in range(N)]],
    "boolean": [[True, False] * 30, ["yes", "No"] * 30, ["0", "1"] * 30, ["t", None, "f"] * 20],
    "categorical": [
        ["a", "b", "c"] * 20,
        ["Rome", "Oslo", None] * 20,
        ["A1", "B2"] * 30,
    ],
    "text": [[f"the quick brown fox number {i}" for i in range(N)]],
    "date": [[datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(N)]],
    "identifier": [[f"user{i}" for i in range(N)], list(range(100, 100 + N))],
    "constant": [[3.5] * N, ["x"] * N, [None, "x"] * 30],
    "empty": [[None] * N, [float("nan")] * N],
}


@pytest.mark.parametrize(("kind", "values"), [(k, v) for k, many in VALUES.items() for v in many])
def test_kinds(kind, values):
    [column] = columns_of(pl.DataFrame({"c": values}))
    assert column.kind == kind
    assert column.used == (kind in ("numeric", "boolean", "categorical", "text", "date"))
    assert bool(column.note) == (not column.used)
    missing = sum(v is None or v != v for v in values)
    assert column.n_missing == missing


def test_numbers_that_all_differ_name_rows_if_they_are_called_so():
    squares = [i * i for i in range(N)]
    kinds = [c.kind for c in columns_of(pl.DataFrame({"user_id": squares, "area": squares}))]
    assert kinds == ["identifier", "numeric"]


def test_a_kind_can_be_said():
    [column] = columns_of(pl.DataFrame({"c": [1, 2, 3] * 20}), {"c": "categorical"})
    assert column.kind == "categorical"


def test_kinds_that_are_none_and_columns_that_are_not_there_are_refused():
    frame = pl.DataFrame({"age": [1.0, 2.0], "town": ["a", "b"]})
    with pytest.raises(TableError, match=r"kinds has .aeg., which is not .* Did you mean age"):
        columns_of(frame, {"aeg": "text"})
    with pytest.raises(TableError, match=r"'txt' is not a kind of column .* Did you mean text"):
        columns_of(frame, {"town": "txt"})
