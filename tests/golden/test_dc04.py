"""DC04, F4: two spam documents, one ham, a vocabulary of three."""

import math

import numpy as np
import pytest

from rosenblatt import MultinomialNB

# win, vote, game: "win win game", "win vote"; "vote vote game"
DOCUMENTS, LABELS = [[2, 0, 1], [1, 1, 0], [0, 2, 1]], ["spam", "spam", "ham"]


def test_shares_smoothed_by_one():
    model = MultinomialNB(alpha=1).fit(DOCUMENTS, LABELS)
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [1 / 3, 2 / 3])
    np.testing.assert_allclose(
        np.exp(model.feature_log_prob_), [[1 / 6, 1 / 2, 1 / 3], [0.5, 0.25, 0.25]], rtol=1e-14
    )


def test_joint_of_win_vote():
    model = MultinomialNB(alpha=1).fit(DOCUMENTS, LABELS)
    joint = np.exp(model.predict_joint_log_proba([[1, 1, 0]])[0])
    np.testing.assert_allclose(joint, [1 / 36, 1 / 12], rtol=1e-14)


@pytest.mark.parametrize(("k", "expected"), [(0, 1.0), (1, 0.75), (math.inf, 2 / 3)])
def test_posterior_of_spam(k, expected):
    model = MultinomialNB(alpha=k).fit(DOCUMENTS, LABELS)
    assert model.predict_proba([[1, 1, 0]])[0, 1] == pytest.approx(expected, rel=1e-14)
