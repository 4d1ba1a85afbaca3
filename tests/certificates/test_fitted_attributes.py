"""Certificates check what a fit reports of itself: its objective, gap, gradient and penalty."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.linear_model import LinearRegression as Theirs

from rosenblatt import (
    BaggingClassifier,
    GaussianNB,
    KernelLogisticRegression,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeCV,
    certify,
    registry,
)
from rosenblatt.linear_model import least_squares

rng = np.random.RandomState(0)
X = rng.standard_normal((80, 5)) + [0, 3, 0, 0, 0]
T = X @ [1, 0, -1, 0, 2] + 3 + rng.standard_normal(80)
TWO, THREE = (np.median(T) < T).astype(int), np.digitize(T, np.quantile(T, [0.3, 0.6]))
# The settings of the contract tests of all models whose verifiers recompute the objective.
VERIFIERS = (
    "kernel_logistic", "kernel_machine", "linear_regression", "linear_svm", "logistic_regression"
)  # fmt: skip
MODELS = [
    row.estimator(**settings)
    for row in registry.ROWS
    if row.contract and row.certificate in VERIFIERS
    for settings in row.contract.settings
]
MODELS += [LogisticRegression(fit_intercept=False, class_weight="balanced", l1_ratio=1.0)]
CASES = [(model, y) for model in MODELS for y in ((TWO, THREE) if is_classifier(model) else (T,))]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("row", registry.ROWS, ids=lambda row: row.name)
def test_every_model_with_an_objective_is_in_the_cases(row):
    if not (row.certificate and row.contract and row.task in ("classification", "regression")):
        pytest.skip("no certificate, no settings or no target")
    y = TWO if row.task == "classification" else T
    table = np.abs(X) if "counts" in row.inputs else X
    model = row.estimator(**row.contract.settings[0]).fit(table, y)
    if hasattr(model, "objective_"):
        names = {claim.name.partition(",")[0] for claim in certify(model, table, y)}
        assert row.certificate in VERIFIERS or "published numbers" not in names


@pytest.mark.filterwarnings("ignore::UserWarning")  # unconverged; penalties at the edge
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("model", "y"), CASES, ids=[f"{m}, {len(set(y))}" for m, y in CASES])
def test_false_numbers_are_found_out(model, y, dtype):
    Z = X.astype(dtype)
    model = copy.deepcopy(model).fit(Z, y)
    if not hasattr(model, "objective_"):
        pytest.skip("a closed form")
    honest = certify(model, Z, y)
    is_converged = getattr(model, "stop_reason_", "converged") == "converged"
    assert honest.holds or not is_converged, str(honest)
    assert all(claim.holds for claim in claims_of_attributes(honest))
    for name, value in (("objective_", -5.0), ("gradient_norm_", 1e3), ("objective_", np.nan)):
        if not hasattr(model, name):  # support vector machines have no gradient
            continue
        other = copy.deepcopy(model)
        one_per_class = np.ndim(getattr(model, name)) > 0
        setattr(other, name, np.full_like(getattr(model, name), value) if one_per_class else value)
        claims = claims_of_attributes(certify(other, Z, y))
        assert not any(claim.holds for claim in claims)
        assert all(name in claim.statement for claim in claims)


def claims_of_attributes(certificate):
    """The claims on objectives and gradients: one, or one for each class."""
    claims = [claim for claim in certificate if claim.name.startswith("published numbers")]
    assert claims
    return claims


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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("positive", "sparse"), [(False, True), (True, False), (True, True)])
@pytest.mark.parametrize("max_iter", [3, None])
def test_ridge_by_steps_is_looked_at_as_well(monkeypatch, positive, sparse, max_iter):
    for name in ("FEATURES_WITH_GRAM", "ROWS_WITH_DUAL"):
        monkeypatch.setattr(least_squares, name, 3)
    weight, Z = np.arange(80) % 3 + 0.5, sp.random(80, 90, 0.2, format="csr", random_state=0)
    targets = 100 * (np.c_[T, -T] if positive else T)
    Z = Z if sparse else Z.toarray()
    model = Ridge(2.0, positive=positive, max_iter=max_iter, tol=1e-9).fit(Z, targets, weight)
    assert model.solver_ in ("lbfgs", "lsmr")
    claims = [c for c in certify(model, Z, targets, sample_weight=weight) if "numbers" in c.name]
    assert len(claims) == (2 if positive else 1)
    assert all(claim.holds for claim in claims)
    false = {"objective_": 1.001 * model.objective_, "gradient_norm_": model.gradient_norm_ + 10}
    if max_iter and not positive:
        false["dual_gap_"] = 0.01 * model.dual_gap_
    for name, value in false.items():
        other = copy.deepcopy(model)
        setattr(other, name, value)
        found = certify(other, Z, targets, sample_weight=weight)
        assert any(name in c.statement and not c.holds for c in found if "numbers" in c.name)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "sigmoid"])
@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"softmax": "reference"}])
def test_kernel_logistic_regression_is_looked_at_as_well(y, kernel, settings):
    weight = np.arange(80) % 3 / 2
    model = KernelLogisticRegression(kernel, tol=1e-6, **settings).fit(X, y, weight)
    assert certify(model, X, y, sample_weight=weight)["published numbers"].holds
    stopped = KernelLogisticRegression(kernel, max_iter=1, **settings).fit(X, y, weight)
    honest = certify(stopped, X, y, sample_weight=weight)["published numbers"]
    assert honest.holds, honest
    for name, value in (
        ("objective_", 1.001 * stopped.objective_),
        ("gradient_norm_", stopped.gradient_norm_ + 1),
        ("dual_gap_", 1e-3 * stopped.dual_gap_),
    ):
        other = copy.deepcopy(stopped)
        setattr(other, name, value)
        claim = certify(other, X, y, sample_weight=weight)["published numbers"]
        assert not claim.holds
        assert name in claim.statement


@pytest.mark.parametrize("kind", [LinearRegression, Theirs])
def test_singular_values_are_those_of_the_rows(kind):
    weight = np.arange(80) % 3 / 2
    model = kind().fit(X + [0, 1e3, 0, 0, 0], T, weight)
    assert certify(model, X + [0, 1e3, 0, 0, 0], T, sample_weight=weight)["singular values"].holds
    model.singular_ = model.singular_ * np.array([1, 1, 1.001, 1, 1])
    assert not certify(model, X, T, sample_weight=weight)["singular values"].holds


@pytest.mark.filterwarnings("ignore:The best penalty is the smallest")
@pytest.mark.parametrize("settings", [{}, {"cv": 3}, {"alpha_per_target": True}])
def test_the_penalty_of_a_search_has_the_best_score(settings):
    y = np.c_[T, -T] if settings.get("alpha_per_target") else T
    model = RidgeCV([0.1, 3.0, 40.0], **settings).fit(X, y)
    assert certify(model, X, y)["choice"].holds
    for name in ("scores_", "best_score_"):
        other = copy.deepcopy(model)
        setattr(other, name, 1.1 * getattr(model, name))
        assert not certify(other, X, y)["choice"].holds


def test_labels_in_a_column_are_certified_as_their_list():
    """They raised an IndexError."""
    X = np.random.RandomState(0).standard_normal((40, 2))
    y = (X[:, 0] > 0).astype(int)
    for model in (LogisticRegression(), GaussianNB(), Perceptron()):
        model.fit(X, y)
        in_list, in_column = certify(model, X, y), certify(model, X, y[:, None])
        assert [c.value for c in in_column.claims] == [c.value for c in in_list.claims]


def test_sentences_say_what_a_number_is():
    # A dual_gap_ read as an equality, a condition_ of 0.12 stood beside a condition number of 2.2,
    # rows out of a sample read as mistakes, and a bound that was not searched read as the excess.
    rng = np.random.RandomState(0)
    X = rng.standard_normal((60, 5))
    t = X[:, 0] + rng.standard_normal(60)
    model = Lasso(alpha=0.01).fit(X, t)
    said = certify(model, X, t)["published numbers"].statement
    assert said.endswith("dual_gap_ is not below the true gap")
    model.coef_ = model.coef_ * 1.01
    said = certify(model, X, t, effort=0)["gap"].statement
    assert said.endswith("(duality gap); a bound, the excess itself may be far smaller")
    said = certify(Ridge().fit(X, t), X, t)["estimated condition"].statement
    assert said.startswith("condition_, the reciprocal condition of the normal equations, is ")
    bag = BaggingClassifier(n_estimators=3, random_state=0).fit(X, t > 0)
    assert "the sample of a model leaves out " in certify(bag, X, t > 0)["out of bag"].statement
