import numpy as np
import pandas as pd
import pytest

from rosenblatt.missing_values import is_missing, which_missing


@pytest.mark.parametrize(
    "value", [None, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]
)
def test_what_says_that_there_is_nothing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "nan", False, np.inf, np.array([np.nan, 1.0]), (None,)])
def test_what_is_something(value):
    assert not is_missing(value)


@pytest.mark.parametrize(
    "values", [["a", None, np.nan], ["a", pd.NA, None], [1.0, np.nan, None], [(1, 2), None, pd.NaT]]
)
def test_many_at_once_are_judged_as_one_by_one(values):
    objects = np.empty(3, object)
    objects[:] = values
    assert which_missing(objects).tolist() == [is_missing(value) for value in values]
