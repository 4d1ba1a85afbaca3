import numpy as np
import pandas as pd
import pytest

from rosenblatt.missing import is_missing


@pytest.mark.parametrize(
    "value", [None, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]
)
def test_what_says_that_there_is_nothing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "nan", False, np.inf, np.array([np.nan, 1.0]), (None,)])
def test_what_is_something(value):
    assert not is_missing(value)
