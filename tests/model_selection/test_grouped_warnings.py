"""A search tells each kind of warning once."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import LogisticRegression
from rosenblatt.model_selection import GridSearchCV
from rosenblatt.model_selection.search import EachKindOnce, kind_of


class Talkative(ClassifierMixin, BaseEstimator):
    """Warns of two things at each fit, and of a third at some."""

    def __init__(self, level=1):
        self.level = level

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        warnings.warn(f"the gap is {X[0, 0]:.3g}", ConvergenceWarning, stacklevel=2)
        warnings.warn(f"column '{X[1, 0]}' is odd", UserWarning, stacklevel=2)
        if self.level > 1:
            warnings.warn("level is high", UserWarning, stacklevel=2)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def data():
    return np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2


def test_each_kind_is_told_once_with_its_count_and_the_last():
    X, y = data()
    with pytest.warns((ConvergenceWarning, UserWarning)) as told:
        GridSearchCV(Talkative(), {"level": [1, 2]}, cv=3).fit(X, y)
    said = [(w.category, str(w.message)) for w in told]
    assert said[0] == (
        ConvergenceWarning,
        f"the gap is {X[0, 0]:.3g} (7 times in this search; this is the last.)",
    )
    assert said[1][1].startswith("column '")
    assert said[1][1].endswith("is odd (7 times in this search; this is the last.)")
    assert said[2] == (UserWarning, "level is high (3 times in this search; this is the last.)")
    assert len(said) == 3
    assert told[0].filename == __file__


def test_a_single_warning_is_told_as_it_is():
    with pytest.warns(UserWarning, match=r"\Aonce\Z"), EachKindOnce():
        warnings.warn("once", stacklevel=1)


def test_paths_of_our_own_are_heard_too():
    X, y = data()
    search = GridSearchCV(LogisticRegression(max_iter=1, tol=1e-9), {"C": [1, 10]}, cv=4)
    with pytest.warns(ConvergenceWarning) as told:
        search.fit(X, y)
    assert len(told) < 3
    assert "times in this search; this is the last.)" in str(told[0].message)


def test_what_is_ignored_or_an_error_stays_so():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="never mind")
        with EachKindOnce():
            warnings.warn("never mind", stacklevel=1)
        with pytest.raises(UserWarning, match="mind this"), EachKindOnce():
            warnings.warn("mind this", stacklevel=1)
    assert not told


def test_what_would_be_shown_once_is_counted():
    with warnings.catch_warnings(record=True) as told:
        warnings.resetwarnings()
        with EachKindOnce():
            for _ in range(5):
                warnings.warn("again", stacklevel=1)
    assert [str(w.message) for w in told] == ["again (5 times in this search; this is the last.)"]


def test_an_error_leaves_the_warnings_before_it_heard():
    def fail():
        warnings.warn("before", stacklevel=1)
        raise ZeroDivisionError

    with pytest.warns(UserWarning, match="before"), pytest.raises(ZeroDivisionError):  # noqa: SIM117
        with EachKindOnce():
            fail()


def test_kinds_differ_in_words():
    assert kind_of("columns 1, 2 and 3 of 40") == kind_of("columns 7 and 8 of 50")
    assert kind_of("the gap is 1e-3") != kind_of("the gradient is 1e-3")
