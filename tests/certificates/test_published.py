"""What a fit says of itself is looked at: its objective, gap, gradient and penalty."""

import copy

import numpy as np
import pytest

from rosenblatt import ElasticNet, Lasso, LassoCV, LogisticRegression, certify

rng = np.random.RandomState(0)
X = rng.standard_normal((80, 5)) + [0, 3, 0, 0, 0]
T = X @ [1, 0, -1, 0, 2] + 3 + rng.standard_normal(80)
TWO, THREE = (np.median(T) < T).astype(int), np.digitize(T, np.quantile(T, [0.3, 0.6]))
CASES = [
    (Lasso(0.1), T), (Lasso(0.1, positive=True), T), (ElasticNet(0.1, l1_ratio=0.3), T),
    (LassoCV(), T), (LogisticRegression(), TWO), (LogisticRegression(l1_ratio=1.0), TWO),
    (LogisticRegression(), THREE), (LogisticRegression(softmax="reference"), THREE),
    (LogisticRegression(fit_intercept=False, class_weight="balanced"), TWO),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("model", "y"), CASES, ids=[f"{m}, {len(set(y))}" for m, y in CASES])
def test_false_numbers_are_found_out(model, y, dtype):
    Z = X.astype(dtype)
    model = copy.deepcopy(model).fit(Z, y)
    honest = certify(model, Z, y)
    assert honest.holds, str(honest)
    assert honest["published numbers"].holds
    for name, value in (("objective_", -5.0), ("gradient_norm_", 1e3), ("objective_", np.nan)):
        other = copy.deepcopy(model)
        setattr(other, name, value)
        claim = certify(other, Z, y)["published numbers"]
        assert not claim.holds
        assert name in claim.statement


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("model", "y"), [(Lasso(0.1, max_iter=1), T), (LogisticRegression(max_iter=1), TWO)]
)
def test_a_gap_below_the_true_excess_is_a_false_promise(model, y):
    model = copy.deepcopy(model).fit(X, y)
    assert certify(model, X, y)["published numbers"].holds
    model.dual_gap_ = 0.0
    claim = certify(model, X, y)["published numbers"]
    assert not claim.holds
    assert "dual_gap_ is published as 0, and the data give at least" in claim.statement


def test_the_penalty_is_the_one_given_or_one_that_was_tried():
    model = Lasso(0.1).fit(X, T)
    assert certify(model, X, T)["penalty"].holds
    model.alpha = 0.2
    assert "which is not the alpha given" in certify(model, X, T)["penalty"].statement
    search = LassoCV().fit(X, T)
    assert certify(search, X, T)["penalty"].holds
    search.alpha_ *= 1.001
    assert not certify(search, X, T)["penalty"].holds


def test_a_fit_is_held_to_its_own_tolerance():
    """Worse than it promised, though as good as the usual tolerance of a certificate."""
    model = Lasso(0.1, tol=1e-8).fit(X, T)
    assert certify(model, X, T).holds
    model.coef_[0] += 1e-3
    assert not certify(model, X, T)["gap"].holds
    assert certify(Lasso(0.1, tol=1e-4).fit(X, T), X, T)["gap"].bound > 1e-5
