"""Rows of a kernel matrix: what is computed when, and the memory they are kept in."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV as PlainSearch
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import (
    SVC,
    SVR,
    GridSearchCV,
    KernelLogisticRegression,
    KernelPerceptron,
    KernelRidge,
)
from rosenblatt.kernels import Gaussian, kernel_matrix
from rosenblatt.kernels.kernel_matrix import KernelMatrix

X = np.random.default_rng(0).normal(size=(60, 3))
K = Gaussian(0.3)(X)


@pytest.fixture(params=[10, 1500], ids=["float32", "float64"])
def of_rows(request, monkeypatch):
    monkeypatch.setattr(kernel_matrix, "FEW", request.param)
    monkeypatch.setattr(kernel_matrix, "COLUMNS", 16)  # the last block is narrower
    return KernelMatrix(Gaussian(0.3), X, 1)


def test_rows_are_added_whether_they_were_there_or_not(of_rows):
    f, expected = np.ones(60), np.ones(60)
    for rows in ([3, 50, 7], [7, 8, 9, 10, 3], [50]):
        steps = np.arange(1.0, len(rows) + 1)
        of_rows.add(np.array(rows), steps, f)
        expected += steps @ K[rows]
    np.testing.assert_allclose(f, expected, rtol=1e-5)
    some = np.array([4, 2, 59])
    np.testing.assert_allclose(of_rows.among(some), K[np.ix_(some, some)], rtol=1e-5)


def test_rows_of_a_working_set_that_do_not_move_are_not_computed(monkeypatch):
    monkeypatch.setattr(kernel_matrix, "FEW", 10)
    found = KernelMatrix(Gaussian(0.3), X, 1)
    found.among(np.arange(20))
    found.add(np.array([5, 6]), np.ones(2), np.zeros(60))
    assert np.flatnonzero(found.slot >= 0).tolist() == [5, 6]


def test_rows_that_are_read_in_order_replace_the_newest():
    asked = []

    def kernel(U, V):
        asked.append(len(U))
        return Gaussian(0.3)(U, V)

    room = 10 * 60 * 8 / kernel_matrix.MEGABYTE
    found = KernelMatrix(kernel, X, room, in_order=True)
    for _ in range(3):
        for i in range(12):
            if found.slot[i] < 0:
                found.fetch(np.array([i]))
            np.testing.assert_allclose(found.kept[found.slot[i]], K[i], rtol=1e-12)
    assert sum(asked) == 12 + 2 * 3  # nine rows stay


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (SVC(), {"kernel": ["rbf", "poly", "linear"], "C": [0.1, 1.0], "gamma": [0.01, 0.1]}),
        (SVR(), {"gamma": [0.1, 0.3], "C": [1.0, 3.0]}),
        (KernelRidge(), {"kernel": ["rbf"], "gamma": [0.1, 0.3], "alpha": [0.1, 1.0]}),
        (KernelLogisticRegression(), {"gamma": [0.1, 0.3]}),
        (KernelPerceptron(random_state=0, max_iter=5), {"gamma": [0.1, 0.3]}),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_search_has_the_scores_of_fits(model, grid):
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), model)
    name = pipeline.steps[-1][0]
    grid = {f"{name}__{parameter}": values for parameter, values in grid.items()}
    scores = [
        search(pipeline, grid, cv=3).fit(X, y).cv_results_["mean_test_score"]
        for search in (GridSearchCV, PlainSearch)
    ]
    np.testing.assert_allclose(*scores, rtol=1e-6)
