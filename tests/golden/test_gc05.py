"""GC05, C1, J1: one perceptron update, explained."""

import numpy as np

from rosenblatt import Perceptron


def test_one_update_moves_the_score_by_the_squared_length_of_the_row():
    # w = [2, 2, 2], f = [4, 0, 1], label -1: score 8 + 0 + 2 = 10, wrong.
    # w - f = [-2, 2, 1]; score -8 + 0 + 1 = -7 = 10 - (16 + 0 + 1), right.
    f = np.array([[4.0, 0, 1]])
    X, y = np.vstack([f, [[1, 1, 1]]]), [-1, 1]
    model = Perceptron(fit_intercept=False, shuffle=False, tol=None, max_updates=1)
    model.fit(X, y, coef_init=[[2, 2, 2]])
    assert np.array_equal(model.coef_, [[-2, 2, 1]])
    assert (f @ model.coef_.T).item() == -7 == 10 - 17
    assert model.n_updates_ == 1
