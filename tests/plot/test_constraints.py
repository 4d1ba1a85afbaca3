"""H8, V5: the region that a penalty allows, and the ellipse of equal error that touches it."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as theirs

from rosenblatt import ElasticNet, Lasso, LogisticRegression, Ridge
from rosenblatt.plot import constraint
from rosenblatt.plot.constraints import edge_of_region

matplotlib.use("agg")
RNG = np.random.RandomState(0)
X = RNG.standard_normal((60, 4)) @ RNG.standard_normal((4, 4))
T = X @ [2.0, -1.0, 0.3, 0.0] + RNG.standard_normal(60) + 5
MODELS = [
    Ridge(alpha=40.0),
    Lasso(alpha=1.5, tol=1e-10),
    ElasticNet(alpha=1.0, l1_ratio=0.4, tol=1e-10),
    theirs.Ridge(alpha=40.0, fit_intercept=False),
    theirs.Lasso(alpha=1.5, tol=1e-10),
]
each = pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model)[:12])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def drawn_edge(ax):
    return np.column_stack(ax.get_lines()[0].get_data())


def residuals(model, pair, w):
    """Sum of squares with the weights of two columns replaced by w (..., 2)."""
    coef = np.broadcast_to(model.coef_, (*np.shape(w)[:-1], X.shape[1])).copy()
    coef[..., list(pair)] = w
    rest = T - coef @ X.T
    if model.fit_intercept:
        rest -= rest.mean(axis=-1, keepdims=True)
    return (rest**2).sum(axis=-1)


@each
@pytest.mark.parametrize("pair", [(0, 1), (3, 2)])
def test_the_models_weights_are_the_best_of_the_region(model, pair):
    """The answer lies on the edge, and nothing on it or inside has a smaller error."""
    edge = drawn_edge(constraint(model, X, T, pair))
    fitted = model.fit(X, T)
    w = fitted.coef_[list(pair)]
    here = residuals(fitted, pair, w)
    for shrink in (1.0, 0.99, 0.7, 0.2):
        assert residuals(fitted, pair, shrink * edge).min() >= here * (1 - 1e-6)
    assert residuals(fitted, pair, 1.02 * edge).min() < here
    assert np.linalg.norm(edge - w, axis=1).min() < 0.01 * np.linalg.norm(edge, axis=1).max()


@each
def test_ridge_has_a_circle_and_the_lasso_a_diamond(model):
    edge = drawn_edge(constraint(model, X[:, :2], T))
    w = model.fit(X[:, :2], T).coef_
    if "Ridge" in repr(model):
        np.testing.assert_allclose(np.linalg.norm(edge, axis=1), np.linalg.norm(w))
    if "Lasso" in repr(model):
        np.testing.assert_allclose(np.abs(edge).sum(axis=1), np.abs(w).sum())
    corners = np.isclose(edge, 0, atol=1e-12 * np.abs(edge).max()).any(axis=1)
    assert corners.sum() == 5  # the first of them closes the line


def test_the_corners_of_a_mixed_penalty_lie_between_the_circle_and_the_diamond():
    w = np.array([0.6, 0.8])
    right = [edge_of_region(w, share)[0, 0] for share in (0.0, 0.3, 0.7, 1.0)]
    assert right[0] == pytest.approx(1.0)
    assert right[-1] == pytest.approx(1.4)
    assert right == sorted(right)


def test_names_zeros_and_the_axes_given():
    table = pd.DataFrame(X[:, :2], columns=["width", "height"])
    ax = plt.figure().gca()
    assert constraint(Lasso(n_features=1), table, T, ax=ax) is ax
    assert ax.get_xlabel() == "weight of width"
    zero = ["width", "height"][int(np.argmin(np.abs(Lasso(n_features=1).fit(table, T).coef_)))]
    assert [text.get_text() for text in ax.texts] == ["least squares", f"Lasso, {zero} = 0"]
    ax = constraint(Ridge(), X, T, (1, 3), names=["a", "b"], ax=plt.figure().gca())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("weight of a", "weight of b")


def test_columns_that_depend_on_each_other_have_lines_of_equal_error():
    ax = constraint(Ridge(), np.column_stack([X[:, 0], X[:, 0]]), T)
    a, b = Ridge().fit(np.column_stack([X[:, 0], X[:, 0]]), T).coef_
    assert a == pytest.approx(b)
    assert len(ax.collections) == 1  # the contours


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: constraint(Lasso(), X, T), "two different numbers from 0 to 3"),
        (lambda: constraint(Lasso(), X, T, (1, 1)), r"got \(1, 1\)"),
        (lambda: constraint(Lasso(), X, T, (0, 4)), "from 0 to 3"),
        (lambda: constraint(Lasso(alpha=1e6), X, T, (0, 1)), "lower alpha"),
        (lambda: constraint(LogisticRegression(), X, T > 5, (0, 1)), "LogisticRegression has none"),
        (lambda: constraint(theirs.LinearRegression(), X, T, (0, 1)), "LinearRegression has none"),
    ],
)
def test_what_cannot_be_drawn(call, message):
    with pytest.raises(ValueError, match=message):
        call()
