"""GC23, J9, W4: "win the vote", one score per topic."""

import numpy as np

from rosenblatt import Perceptron

TOPICS = ["politics", "sports", "tech"]


def test_the_highest_score_wins():
    # bias 1, win 1, game 0, vote 1, the 1. Politics 1 + 2 + 4 = 7, tech 2, sports 2: any sports
    # weights with that score will do.
    x = np.array([1.0, 1, 0, 1, 1])
    model = Perceptron(fit_intercept=False)
    model.classes_ = np.array(TOPICS)
    model.coef_ = np.array([[1.0, 2, 0, 4, 0], [-2, 4, 4, 0, 0], [2, 0, 2, 0, 0]])
    model.intercept_ = np.zeros(3)
    model.n_features_in_ = 5
    assert model.decision_function([x]).tolist() == [[7, 2, 2]]
    assert model.predict([x]).tolist() == ["politics"]
