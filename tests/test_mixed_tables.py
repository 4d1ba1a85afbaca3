"""Mixed tables: large arrays of small whole numbers take a shorter way to the same places."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rosenblatt import mixed_tables
from rosenblatt.mixed_tables import codes_of, encode, learn_categories

ROWS = np.random.default_rng(0).integers(0, 7, (300, 4))
TABLES = {
    "in place": ROWS.astype(np.float64),
    "with gaps": ROWS * 3.0,
    "whole numbers": ROWS * 2,
    "one by one": ROWS + 0.5,
    "negative": ROWS - 3.0,
    "too large": ROWS * 100.0,
    "infinite": np.where(ROWS == 6, np.inf, ROWS),
    "missing": np.where(ROWS == 2, np.nan, ROWS),
    "all missing": np.where(np.arange(4) == 1, np.nan, ROWS),
}


@pytest.fixture(params=TABLES)
def both_ways(request, monkeypatch):
    """A table, and a function that calls another one on both ways."""

    def call(function, *given):
        answers = []
        for least in (0, np.inf):
            monkeypatch.setattr(mixed_tables, "MANY_CELLS", least)
            answers.append(function(*given))
        return answers

    return TABLES[request.param], call


def test_a_large_array_has_the_same_categories_and_places(both_ways):
    X, call = both_ways
    fast, slow = call(learn_categories, X, np.ones(4, bool))
    assert all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(fast, slow, strict=True))
    np.testing.assert_array_equal(*call(encode, X, slow, "error"))


@pytest.mark.parametrize("new", [8.0, 0.25, -1.0, 1e300, np.inf])
def test_a_large_array_with_an_unknown_category_gets_the_same_answer(both_ways, new):
    X, call = both_ways
    known, later = learn_categories(X, np.ones(4, bool)), X.astype(np.float64)
    later[17, 2] = new
    np.testing.assert_array_equal(*call(encode, later, known, "majority"))
    if new not in known[2]:
        with pytest.raises(ValueError, match=r"Column 2 has a category that no training row had"):
            call(encode, later, known, "error")


WORDS = ["b", None, "a", "b", "c"]
COLUMNS = {
    "objects": lambda k: np.array(WORDS * k, object),
    "numbers and strings": lambda k: np.array([1, None, "a", 1, 2.5] * k, object),
    "floats": lambda k: np.array([3.5, np.nan, -1.0, 3.5, 0.0] * k, np.float32),
    "integers": lambda k: np.array([3, 1, 2, 3, 7] * k),
    "booleans": lambda k: np.array([True, False, True, True, True] * k),
    "nothing known": lambda k: np.array([np.nan] * 5 * k),
    "pandas": lambda k: pd.Series(WORDS * k),
    "pandas categories": lambda k: pd.Series(WORDS * k, dtype="category"),
    "polars": lambda k: pl.Series(WORDS * k),
    "polars categories": lambda k: pl.Series(WORDS * k, dtype=pl.Categorical),
    "polars nulls": lambda k: pl.Series([None] * 5 * k, dtype=pl.Categorical),
}


@pytest.mark.parametrize("k", [1, mixed_tables.MANY_ROWS])
@pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)
def test_codes_and_values_are_the_column(make, k):
    column = make(k)
    codes, values = codes_of(column)
    values = values if isinstance(values, list) else values.tolist()
    assert len(set(values)) == len(values)
    found = [values[code] if code < len(values) else None for code in codes]
    given = column.to_list() if hasattr(column, "to_list") else column.tolist()
    assert found == [None if value is None or value != value else value for value in given]
