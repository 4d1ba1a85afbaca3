"""Plain scores are those of scikit-learn to the last bit, and leave the rest to it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge as Theirs
from sklearn.metrics import get_scorer, make_scorer, r2_score
from sklearn.metrics._scorer import _PassthroughScorer

from rosenblatt import GaussianNB, Ridge
from rosenblatt.model_selection.scoring import accuracy, plain_score, r2


class Says:
    """A model that predicts what it was given."""

    def __init__(self, answers):
        self.answers = answers

    def predict(self, X):
        return self.answers


@given(
    seed=st.integers(0, 1000),
    n=st.sampled_from([2, 3, 9, 128, 1001]),
    far=st.sampled_from([0.0, 1e9]),
)
def test_r2_is_that_of_scikit_learn(seed, n, far):
    rng = np.random.default_rng(seed)
    y, said = rng.normal(far, 3.0, (2, n))
    assert r2(Says(said), None, y) == r2_score(y, said)
    places = rng.permutation(n)[: n // 2 + 1]
    if len(places) > 1:
        assert r2(Says(said), None, y[places], places) == r2_score(y[places], said[places])


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([1.0, 1.0], [1.0, 2.0]),
        ([1.0], [1.0]),
        ([1.0, np.nan], [1.0, 2.0]),
        ([1.0, 2.0], [1.0, np.inf]),
        ([1, 2], [1.0, 2.0]),
        ([1.0, 2.0], np.float32([1.0, 2.5])),
        ([[1.0], [2.0]], [[1.0], [2.0]]),
        ([1.0, 2.0], [[1.0], [2.0]]),
    ],
)
def test_what_needs_a_closer_look_is_left_to_scikit_learn(y, said):
    assert r2(Says(np.asarray(said)), None, np.asarray(y)) is None


def test_only_plain_scores_are_taken():
    assert plain_score(get_scorer("r2"), Ridge()) is r2
    assert plain_score(get_scorer("accuracy"), GaussianNB()) is accuracy
    assert plain_score(_PassthroughScorer(Theirs()), Theirs()) is r2
    assert plain_score(_PassthroughScorer(GaussianNB()), GaussianNB()) is accuracy
    for other in (
        get_scorer("neg_mean_squared_error"),
        make_scorer(r2_score, greater_is_better=False),
        make_scorer(r2_score, multioutput="variance_weighted"),
    ):
        assert plain_score(other, Ridge()) is None
