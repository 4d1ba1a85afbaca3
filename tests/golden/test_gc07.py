"""GC07, J9: one update among three classes."""

import numpy as np

from rosenblatt import Perceptron


def test_the_true_class_gains_and_the_predicted_one_loses():
    # x = [-2, 3, 1]: scores 4+6+1 = 11, 0+9+4 = 13, -2+12-2 = 8; class 1 is predicted, 2 is true.
    W = np.array([[-2.0, 2, 1], [0, 3, 4], [1, 4, -2]])
    x = np.array([-2.0, 3, 1])
    assert (W @ x).tolist() == [11, 13, 8]
    # Rows of weight zero bring the other two classes without being visited.
    X, y, weight = np.vstack([x, x, x]), [2, 0, 1], [1, 0, 0]
    model = Perceptron(fit_intercept=False, max_updates=1, shuffle=False)
    model.fit(X, y, coef_init=W, sample_weight=weight)
    assert model.coef_.tolist() == [[-2, 2, 1], [2, 0, 3], [-1, 7, -1]]
    assert (model.coef_ @ x).tolist() == [11, -1, 22]
    assert model.predict([x]).tolist() == [2]
