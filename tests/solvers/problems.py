"""Small problems of every kind for tests of solvers."""

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_classification

from rosenblatt.solvers.logistic_problem import BinaryProblem
from rosenblatt.solvers.softmax import SoftmaxProblem

KINDS = [
    (n_classes, reference, sparse, fit_intercept)
    for n_classes, reference in ((2, False), (3, False), (3, True))
    for sparse in (False, True)
    for fit_intercept in (True, False)
]


def make(kind, l1=0.0, l2=1.0, dtype=np.float64, n_rows=80, seed=0):
    """A noisy problem with weights on the rows."""
    n_classes, reference, sparse, fit_intercept = kind
    X, y = make_classification(
        n_rows, 6, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2,
        random_state=seed,
    )  # fmt: skip
    X = X.astype(dtype)
    if sparse:
        X[np.abs(X) < 0.4] = 0
        X = sp.csr_matrix(X)
    c = np.random.RandomState(seed).uniform(0.5, 2.0, n_rows)
    if n_classes == 2:
        return BinaryProblem(X, np.where(y == 1, 1.0, -1.0), c, l1, l2, fit_intercept)
    return SoftmaxProblem(X, y.astype(np.int32), n_classes, c, l1, l2, fit_intercept, reference)


def some_point(problem, seed=0, size=0.5):
    point = size * np.random.RandomState(seed).standard_normal(problem.shape)
    if not problem.fit_intercept:
        point[-1] = 0
    return point


def differences(function, point, step=1e-6):
    """The gradient of a function at a point, by central differences."""
    gradient = np.empty(point.size)
    for j in range(point.size):
        move = np.zeros(point.size)
        move[j] = step
        move = move.reshape(point.shape)
        gradient[j] = (function(point + move) - function(point - move)) / (2 * step)
    return gradient.reshape(point.shape)
