"""Mixed tables: large arrays of small whole numbers take a shorter way to the same places."""

import numpy as np
import pytest

from rosenblatt import mixed_tables
from rosenblatt.mixed_tables import encode, learn_categories

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
