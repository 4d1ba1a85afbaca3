"""A warning points at the line of whoever called, whichever way it was reached."""

import warnings

import pytest
from sklearn.base import clone

from rosenblatt import BernoulliNB, GaussianNB, MixedNB, QuadraticDiscriminantAnalysis

X, Y = [[0.0], [1.0], [5.0]], [0, 0, 1]


def take_away(model):
    """A second row of a class comes by a merge, and goes again."""
    model.fit(X[:2], Y[:2]).merge(clone(model).fit(X[:2], [1, 1])).forget(X[:1], [1])


WAYS = {
    "fit": lambda model: model.fit(X, Y),
    "partial_fit": lambda model: model.partial_fit(X, Y),
    "forget": take_away,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", [GaussianNB(ddof=1), MixedNB(ddof=1)])
def test_a_divisor_of_nothing_is_told_to_the_caller(model, way):
    with pytest.warns(UserWarning, match="ddof") as said:
        WAYS[way](clone(model))
    assert {warning.filename for warning in said} == {__file__}


def test_smoothing_that_is_raised_and_rows_that_are_impossible_too():
    with pytest.warns(UserWarning, match="alpha too small") as said:
        model = BernoulliNB(alpha=0, force_alpha=False).fit([[0, 1], [1, 0]], [0, 1])
    assert said[0].filename == __file__
    model = BernoulliNB(alpha=0).fit([[0, 1], [1, 0]], [0, 1])
    for ask in (model.predict, model.predict_proba, model.predict_log_proba):
        with pytest.warns(UserWarning, match="probability zero") as said:
            ask([[1, 1]])
        assert said[0].filename == __file__


def test_and_of_a_singular_covariance():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        QuadraticDiscriminantAnalysis().fit([[0, 0], [1, 1], [5, 5], [7, 7]], [0, 0, 1, 1])
    assert said
    assert said[0].filename == __file__
