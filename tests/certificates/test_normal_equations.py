"""Closed forms are judged by what arithmetic gives: rounding passes, a changed number does not."""

import copy
import warnings

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_diabetes

from rosenblatt import LinearRegression, Ridge, RidgeCV, certify

X, Y = load_diabetes(return_X_y=True)
MODELS = [
    LinearRegression(), LinearRegression(fit_intercept=False), LinearRegression(positive=True),
    Ridge(), Ridge(1e-6), Ridge(solver="svd"), RidgeCV(),
    linear_model.LinearRegression(), linear_model.LinearRegression(positive=True),
    linear_model.Ridge(), linear_model.Ridge(solver="svd"), linear_model.RidgeCV(),
]  # fmt: skip
each_model = pytest.mark.parametrize(
    "model", MODELS, ids=lambda m: f"{type(m).__module__.split('.')[0]} {m}"
)


def fitted(model, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of collinear columns and their scales
        return copy.deepcopy(model).fit(X, y, sample_weight=weight)


@each_model
def test_a_changed_coefficient_or_intercept_is_found_out(model):
    honest = fitted(model, X, Y)
    assert certify(honest, X, Y).holds, str(certify(honest, X, Y))
    for j in np.flatnonzero(honest.coef_):
        other = copy.deepcopy(honest)
        other.coef_[j] *= 2
        claim = certify(other, X, Y)["normal equations"]
        assert not claim.holds
        assert claim.value > claim.bound
        assert "not the numbers it gives" in claim.statement
    if honest.fit_intercept:
        honest.intercept_ += 1.0
        assert not certify(honest, X, Y)["normal equations"].holds


SHAPES = {
    "scales": lambda X: X * np.logspace(-4, 5, X.shape[1]),
    "far off": lambda X: X + 1e6,
    "collinear": lambda X: np.column_stack([X, X[:, 0] + X[:, 1]]),
    "nearly collinear": lambda X: np.column_stack([X, X[:, 0] + 1e-9 * X[:, 1]]),
    "constant": lambda X: np.column_stack([X, np.full(len(X), 0.1)]),
    "wide": lambda X: np.random.RandomState(0).standard_normal((len(X), 60)),
}


@each_model
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_honest_fits_of_awkward_columns_hold(model, shape, dtype, weighted):
    if dtype == np.float32 and shape == "far off":
        pytest.skip("nothing would be left of the columns")
    rng = np.random.RandomState(3)
    Z = rng.standard_normal((40, 5))
    t = (Z @ [1, -2, 0, 0.1, 3] + 50 + rng.standard_normal(40)).astype(dtype)
    Z = SHAPES[shape](Z).astype(dtype)
    weight = rng.uniform(0, 3, 40) if weighted else None
    certificate = certify(fitted(model, Z, t, weight), Z, t, sample_weight=weight)
    assert certificate["normal equations"].holds, str(certificate)


def test_a_solver_that_takes_steps_is_judged_by_its_gap_alone():
    model = linear_model.Ridge(solver="sag", tol=1e-3, random_state=0).fit(X, Y)
    assert certify(model, X, Y)["normal equations"].bound is None
