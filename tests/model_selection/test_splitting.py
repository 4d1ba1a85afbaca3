"""The usual folds are scikit-learn's own, found in less time."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from rosenblatt.model_selection.scoring import splits_of, splitter_of


@given(
    st.lists(st.integers(0, 3), min_size=6, max_size=40), st.integers(2, 4), st.sampled_from("iU")
)
def test_stratified_folds_are_those_of_scikit_learn(labels, n_splits, kind):
    y = np.array(labels) * 2 - 1 if kind == "i" else np.array(list("zbxa"))[labels]
    cv = StratifiedKFold(n_splits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a class with few rows
        try:
            expected = list(cv.split(y, y))
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)[:20]):
                splits_of(cv, y, y, {})
            return
        found = splits_of(cv, y, y, {})
    assert len(found) == n_splits
    for split, (train, test) in zip(found, expected, strict=True):
        assert np.array_equal(split.test, test)
        assert np.array_equal(split.train, train)
        assert np.array_equal(split.left_out, test)


@pytest.mark.parametrize("cv", [None, 3, np.int64(4), KFold(3), 1, "five"])
@pytest.mark.parametrize("classifier", [False, True])
@pytest.mark.parametrize("dtype", [int, str, float, bool])
def test_the_splitter_is_that_of_scikit_learn(cv, classifier, dtype):
    y = (np.arange(12) % 2).astype(dtype)
    try:
        expected = check_cv(cv, y, classifier=classifier)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20]):
            splitter_of(cv, y, classifier)
        return
    try:
        n_splits = expected.get_n_splits()
    except ValueError:
        return
    found = splitter_of(cv, y, classifier)
    assert type(found) is type(expected)
    assert found.get_n_splits() == n_splits
