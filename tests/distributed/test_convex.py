"""Convex models by parts reach the optimum of the fit in memory, and their gap is certified."""

import numpy as np
import polars as pl
import pytest

from rosenblatt import ElasticNet, Lasso, LinearSVC, LinearSVR, LogisticRegression, certify
from rosenblatt.data import Source, TableError
from rosenblatt.distributed import fit

N, D = 1_500, 5


def source_of(tmp_path, X, y, rows_per_part=200):
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    pl.DataFrame(columns | {"y": y}).write_parquet(tmp_path / "a.parquet")
    return Source(tmp_path / "a.parquet", target="y", rows_per_part=rows_per_part)


def rows(n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) * [1, 2, 3, 1, 1]
    X[:, 3] += 1e6  # far from zero
    scores = (X - X.mean(axis=0)) @ rng.standard_normal((D, n_classes))
    y = (scores + rng.gumbel(size=(N, n_classes))).argmax(axis=1)
    return X, np.array(["late", "a", "b"])[y] if n_classes > 2 else y


@pytest.mark.parametrize(
    ("n_classes", "settings"),
    [
        (2, {}),
        (2, {"l1_ratio": 1.0, "C": 0.01}),
        (2, {"fit_intercept": False, "class_weight": "balanced"}),
        (3, {}),
        (3, {"softmax": "reference", "C": np.inf}),
        (3, {"l1_ratio": 0.5, "C": 0.05}),
    ],
)
def test_logistic_regression_has_the_optimum_of_the_fit_in_memory(tmp_path, n_classes, settings):
    X, y = rows(n_classes)
    X[:, 3] -= 1e6 * (not settings.get("fit_intercept", True))
    model = LogisticRegression(tol=1e-8, **settings)
    parts, whole = fit(model, source_of(tmp_path, X, y)), model.fit(X, y)
    assert list(parts.classes_) == list(whole.classes_)
    assert parts.objective_ - whole.objective_ <= parts.dual_gap_ + 1e-9 * whole.objective_
    assert parts.dual_gap_ <= 1e-6 * whole.objective_
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-5)
    assert parts.stop_reason_ == "converged"


def test_wide_logistic_regression_needs_no_matrix(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 320))
    y = (X[:, :3].sum(axis=1) + rng.standard_normal(400) > 0).astype(int)
    source = source_of(tmp_path, X, y)
    for settings in ({"C": 0.01}, {"C": 0.05, "l1_ratio": 1.0}):
        model = LogisticRegression(**settings)
        parts, whole = fit(model, source), model.fit(X, y)
        assert abs(parts.objective_ - whole.objective_) <= parts.dual_gap_ + whole.dual_gap_


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss": "hinge"},
        {"loss": "hinge", "penalize_intercept": False, "class_weight": "balanced"},
        {"fit_intercept": False},
    ],
)
def test_linear_machines_are_within_the_gap_of_the_optimum(tmp_path, settings):
    X, y = rows(3)
    X[:, 3] -= 1e6
    parts = fit(LinearSVC(**settings), source_of(tmp_path, X, y))
    whole = LinearSVC(tol=1e-8, max_iter=100_000, **settings).fit(X, y)
    excess = parts.objective_ - whole.objective_
    assert np.all(excess <= parts.dual_gap_ + 1e-9 * whole.objective_)
    assert np.all(parts.dual_gap_ <= 1e-4 * N * 4)
    certificate = certify(parts, X, y)
    assert certificate.holds, certificate


@pytest.mark.parametrize(
    "settings", [{}, {"epsilon": 0.5}, {"loss": "squared_epsilon_insensitive", "epsilon": 0.2}]
)
def test_support_vector_regression_is_within_the_gap_of_the_optimum(tmp_path, settings):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((N, D))
    y = X @ [1.0, 2.0, 0.0, -1.0, 0.5] + rng.standard_t(3, N)
    parts = fit(LinearSVR(**settings), source_of(tmp_path, X, y))
    whole = LinearSVR(tol=1e-8, max_iter=100_000, **settings).fit(X, y)
    assert parts.objective_ - whole.objective_ <= parts.dual_gap_ + 1e-9 * whole.objective_
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=0.02)


@pytest.mark.parametrize("model", [Lasso(alpha=0.1), ElasticNet(alpha=0.1, fit_intercept=False)])
def test_the_lasso_follows_from_one_pass(tmp_path, model):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, D))
    y = X @ [1.0, 0.0, 0.0, -1.0, 0.05] + rng.standard_normal(N)
    seen = []
    parts = fit(model, source_of(tmp_path, X, y), progress=seen.append)
    assert {progress.number for progress in seen} == {1}
    whole = model.fit(X, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
    assert list(parts.feature_names_in_) == [f"x{j}" for j in range(D)]


def test_settings_and_rows_that_parts_cannot_have_are_refused(tmp_path):
    X, y = rows()
    source = source_of(tmp_path, X, y)
    with pytest.raises(ValueError, match="solver='sgd' goes row by row"):
        fit(LogisticRegression(solver="sgd"), source)
    with pytest.raises(ValueError, match="fitted by parts with penalty='l2'"):
        fit(LinearSVC(penalty="l1"), source)
    with pytest.raises(ValueError, match="'C' parameter"):
        fit(LogisticRegression(C=-1.0), source)
    X[700, 2] = np.nan
    with pytest.raises(TableError, match=r"a.parquet, rows 600 to 799: column 'x2' holds nan"):
        fit(LogisticRegression(), source_of(tmp_path, X, y))
    with pytest.raises(TableError, match=r"y has 1: \[0\]"):
        fit(LogisticRegression(), source_of(tmp_path, np.ones((N, 2)), 0 * y))
