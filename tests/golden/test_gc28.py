"""GC28, J10, M6: the kernel perceptron on XOR with the kernel (u.v)^2."""

import numpy as np
import pytest

from rosenblatt import KernelPerceptron, certify
from rosenblatt.kernels import Polynomial

X = np.array([[1.0, 1], [-1, 1], [-1, -1], [1, -1]])
Y = np.array([1, -1, 1, -1])
GRID = np.array([[a, b] for a in (-2.0, -1, 0, 1, 2) for b in (-2.0, 0.5, 1, 3)])

# boundary, coefficients of the four points, f(x1, x2)
RUNS = [
    ("negative", [1, 0, 0, 0], lambda x1, x2: (x1 + x2) ** 2),
    ("positive", [0, -1, 0, 0], lambda x1, x2: -((x1 - x2) ** 2)),
    ("mistake", [1, -1, 0, 0], lambda x1, x2: 4 * x1 * x2),
]


def test_the_gram_matrix():
    K = Polynomial(2)(X)
    assert K.tolist() == [[4, 0, 4, 0], [0, 4, 0, 4], [4, 0, 4, 0], [0, 4, 0, 4]]


@pytest.mark.parametrize(("boundary", "coefficients", "f"), RUNS)
@pytest.mark.parametrize("kernel", ["poly", "precomputed", Polynomial(2)])
def test_all_conventions_end_at_the_second_pass(boundary, coefficients, f, kernel):
    settings = {"degree": 2, "gamma": 1, "fit_intercept": False, "shuffle": False, "tol": None}
    model = KernelPerceptron(kernel, boundary=boundary, **settings)
    precomputed = kernel == "precomputed"
    model.fit(Polynomial(2)(X) if precomputed else X, Y)
    a = np.zeros(4)
    a[model.support_] = model.dual_coef_[0]
    assert a.tolist() == coefficients
    assert model.n_iter_ == 2
    assert model.converged_
    rows = Polynomial(2)(GRID, X) if precomputed else GRID
    assert model.decision_function(rows).tolist() == f(*GRID.T).tolist()
    train = Polynomial(2)(X) if precomputed else X
    assert model.predict(train).tolist() == Y.tolist()


def test_margins_of_four_and_a_bound_of_two_mistakes():
    settings = {"degree": 2, "gamma": 1, "fit_intercept": False, "shuffle": False}
    model = KernelPerceptron("poly", **settings).fit(X, Y)
    assert (Y * model.decision_function(X)).tolist() == [4, 4, 4, 4]
    # |v|^2 = a'Ka = 4 + 4 = 8, g = 4 / sqrt(8) = sqrt(2), R^2 = 4: (R/g)^2 = 2
    certificate = certify(model, X, Y)
    assert certificate.holds
    assert certificate["margin"].value == pytest.approx(np.sqrt(2))
    assert certificate["mistake bound"].bound == pytest.approx(2)
    assert certificate["mistake bound"].value == 2
