"""GC27, M6: what two mistakes on one example leave behind."""

import numpy as np

from rosenblatt import KernelPerceptron


def test_a_coefficient_counts_the_mistakes_on_its_example():
    # Class +1 has 5 [1,2,3], class -1 has phi = [1,2,3] twice, without a bias. phi scores 70 and is
    # wrong, then 70 - 14 = 56 and wrong again: a = -2, its part of the weights -2 [1,2,3].
    phi = np.array([1.0, 2, 3])
    X, y = np.array([5 * phi, phi, phi]), np.array([1, -1, -1])
    model = KernelPerceptron("linear", fit_intercept=False, shuffle=False, max_updates=3).fit(X, y)
    assert model.support_.tolist() == [0, 1]  # the two rows phi are one support
    assert model.dual_coef_.tolist() == [[1, -2]]
    part = model.dual_coef_[0, 1] * model.support_vectors_[1]
    assert part.tolist() == [-2, -4, -6]
