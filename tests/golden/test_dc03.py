"""DC03, GC09, F2: a word that only spam has, smoothed from not at all to infinitely."""

import math

import numpy as np
import pytest

from rosenblatt import BernoulliNB

WORD, LABEL = [[0], [0], [0], [1], [1]], ["ham", "ham", "ham", "spam", "spam"]


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (0, 1.0),
        (1, 5 / 7),  # .4 x 3/4 against .6 x 1/5
        (math.inf, 0.4),  # the share of spam
    ],
)
def test_posterior_of_spam_given_the_word(k, expected):
    model = BernoulliNB(alpha=k).fit(WORD, LABEL)
    assert model.predict_proba([[1]])[0, 1] == pytest.approx(expected, rel=1e-14)


def test_smoothed_by_one_the_word_has_three_quarters_and_a_fifth():
    model = BernoulliNB(alpha=1).fit(WORD, LABEL)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[0.2], [0.75]], rtol=1e-15)


def test_without_smoothing_ham_can_never_win_against_the_word():
    """GC09: whatever else the mail holds."""
    X = [[0, 1, 1], [0, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    model = BernoulliNB(alpha=0).fit(X, LABEL)
    assert model.feature_log_prob_[0, 0] == -np.inf
    assert model.predict([[1, 1, 1]]) == ["spam"]
    assert model.predict_proba([[1, 1, 1]])[0].tolist() == [0, 1]
