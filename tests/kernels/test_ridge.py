"""Kernel ridge regression: scikit-learn's numbers, its path, and rows left out."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.kernel_ridge
import sklearn.model_selection
from sklearn.metrics.pairwise import rbf_kernel

import rosenblatt.kernel_ridge
import rosenblatt.model_selection
from rosenblatt import KernelRidge, Ridge, certify
from rosenblatt.kernels import Gaussian
from rosenblatt.kernels.shifted_systems import WIDTH, BandedMatrix, solve_one, solve_shifted
from rosenblatt.model_selection import cross_validate

KERNELS = ["linear", "poly", "polynomial", "rbf", "laplacian", "cosine"]


def curve(n=120, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=n)


def test_it_is_found_where_scikit_learn_has_it():
    assert rosenblatt.kernel_ridge.KernelRidge is KernelRidge is rosenblatt.kernels.KernelRidge


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("sparse", [False, True])
def test_the_coefficients_are_those_of_scikit_learn(kernel, sparse):
    X, y = curve()
    X = sp.csr_matrix(np.where(np.abs(X) < 0.3, 0, X)) if sparse else X
    Y = np.column_stack([y, -2 * y + 1])
    weight = np.random.default_rng(1).integers(1, 4, len(y)) * 1.0
    for targets, alpha in ((y, 0.3), (Y, [0.3, 2.0])):
        settings = {"kernel": kernel, "alpha": alpha, "gamma": 0.2}
        ours = KernelRidge(**settings).fit(X, targets, weight)
        theirs = sklearn.kernel_ridge.KernelRidge(**settings).fit(X, targets, weight)
        np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7, atol=1e-7)


def test_the_linear_kernel_is_ridge_without_an_intercept():
    X, y = curve()
    ours, ridge = KernelRidge(alpha=0.7).fit(X, y), Ridge(alpha=0.7, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(X.T @ ours.dual_coef_, ridge.coef_, rtol=1e-9)


def test_a_kernel_may_be_an_object_a_function_or_a_matrix():
    X, y = curve()
    named = KernelRidge(kernel="rbf", gamma=0.4).fit(X, y)
    K = Gaussian(0.4)(X)

    def pair(u, v, rate=0.4):
        return np.exp(-rate * np.sum((u - v) ** 2))

    for model, table in (
        (KernelRidge(kernel=Gaussian(0.4)), X),
        (KernelRidge(kernel=pair, kernel_params={"rate": 0.4}), X),
        (KernelRidge(kernel="precomputed"), K),
    ):
        model.fit(table, y)
        np.testing.assert_allclose(model.predict(table), named.predict(X), rtol=1e-9)
        assert certify(model, table, y).holds


def test_chi2_without_gamma_takes_the_default_of_the_kernel():
    X = np.random.default_rng(0).random((20, 3))
    model = KernelRidge(kernel="chi2").fit(X, X[:, 0])
    expected = sklearn.kernel_ridge.KernelRidge(kernel="chi2", gamma=1.0).fit(X, X[:, 0])
    np.testing.assert_allclose(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("n", [10, WIDTH, 3 * WIDTH + 7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_band_solves_as_factors_do(n, dtype):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(n, n // 2 + 1))
    K, t = A @ A.T / n, rng.normal(size=(n, 2))
    band = BandedMatrix(K, dtype)
    near = 1e-3 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(
        band.solve(t, band.factor(0.5)), solve_one(K, t, 0.5), rtol=near, atol=near
    )
    shifts = [1e-6, 0.1, 1.0, 10.0]
    for c, shift in zip(solve_shifted(K, t, shifts), shifts, strict=True):
        left = t - K @ c - shift * c
        assert np.abs(left).max() <= 1e-9 * max(1.0, np.abs(c).max() * shift)


def test_the_path_is_the_fits_and_its_rows_left_out_are_refits():
    # one eigendecomposition gives what n fits would
    X, y = curve(n=200)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    alphas = [1e-3, 0.1, 1.0, 30.0]
    path = KernelRidge(kernel="rbf").fit_path((X, y, weight), "alpha", alphas)
    left_out = path.left_out_residuals()
    for i, alpha in enumerate(alphas):
        alone = KernelRidge(alpha=alpha, kernel="rbf").fit(X, y, weight)
        np.testing.assert_allclose(path[i].predict(X), alone.predict(X), rtol=1e-8, atol=1e-9)
        for row in (0, 77):
            rest = np.arange(len(y)) != row
            model = KernelRidge(alpha=alpha, kernel="rbf").fit(X[rest], y[rest], weight[rest])
            expected = y[row] - model.predict(X[[row]])[0]
            assert left_out[i, row] == pytest.approx(expected, rel=1e-6)
    assert path.predict(X).shape == (4, 200)


def test_folds_of_a_search_give_the_scores_of_fits():
    X, y = curve()
    ours = cross_validate(KernelRidge(kernel="rbf"), X, y, cv=3)["test_score"]
    for score, fold in zip(ours, range(3), strict=True):
        test = np.arange(40 * fold, 40 * fold + 40)
        rest = np.setdiff1d(np.arange(120), test)
        model = sklearn.kernel_ridge.KernelRidge(kernel="rbf").fit(X[rest], y[rest])
        assert score == pytest.approx(model.score(X[test], y[test]))


def test_bad_matrices_and_kernels_are_named():
    X, y = curve(n=20)
    K = Gaussian(0.4)(X)
    K[3, 5] += 1
    with pytest.raises(ValueError, match=r"A kernel must be symmetric; got X\[3, 5\]"):
        KernelRidge(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match=r"The kernel of row 0 of X and training row 0 is inf"):
        KernelRidge(kernel=lambda u, v: np.inf).fit(X, y)
    with pytest.warns(UserWarning, match="Singular matrix in solving dual problem"):
        KernelRidge(alpha=0.0).fit(X, y)


# The certificate.


def objective(model, K, y, weight):
    c = model.dual_coef_
    return float(np.sum(weight * (y - K @ c) ** 2) + model.alpha * c @ K @ c)


@pytest.mark.parametrize("library", [KernelRidge, sklearn.kernel_ridge.KernelRidge])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
def test_the_gap_is_never_below_the_true_excess(library, kernel):
    X, y = curve(n=60)
    weight = np.random.default_rng(2).integers(1, 3, len(y)) * 1.0
    model = library(alpha=0.1, kernel=kernel, gamma=0.2).fit(X, y, weight)
    certificate = certify(model, X, y, sample_weight=weight)
    assert certificate.holds, str(certificate)
    K = model._get_kernel(X)
    best = objective(model, K, y, weight)
    for size in (1e-8, 1e-3, 1.0):
        model.dual_coef_ = model.dual_coef_ + size * np.random.default_rng(3).normal(size=len(y))
        excess = objective(model, K, y, weight) - best
        gap = certify(model, X, y, sample_weight=weight)["gap"]
        assert gap.value >= excess - 1e-13 * best
    assert not gap.holds


def test_a_kernel_that_is_none_does_not_hold():
    X, y = curve(n=40)
    model = KernelRidge(kernel="sigmoid", gamma=1.0, coef0=-1.0, alpha=50.0).fit(X, y)
    assert not certify(model, X, y)["scalar products"].holds


def test_it_fails_when_rows_or_penalty_are_others():
    X, y = curve(n=40)
    model = KernelRidge(kernel="rbf", alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="not the rows given"):
        certify(model, X + 1, y)
    model.alpha = 0.2
    assert not certify(model, X, y).holds


def search_of(kind, X, y, **how):
    grid = {"alpha": [1e-4, 0.01, 1.0, 100.0], "gamma": [0.05, 1.0]}
    return kind.GridSearchCV(how.pop("model"), grid, cv=3, **how).fit(X, y)


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
@pytest.mark.parametrize("n_targets", [0, 2])
def test_folds_that_share_a_kernel_matrix_score_as_fits_do(monkeypatch, scoring, n_targets):
    monkeypatch.setattr("rosenblatt.kernels.ridge.LEAST_ROWS", 50)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(122, 3))
    y = np.sin(X) @ rng.normal(size=(3, n_targets or 1)) + 0.1 * rng.normal(size=(122, 1))
    y = y if n_targets else y[:, 0]
    how = {"scoring": scoring, "return_train_score": True}
    ours = search_of(rosenblatt.model_selection, X, y, model=KernelRidge(kernel="rbf"), **how)
    theirs = search_of(
        sklearn.model_selection, X, y, model=sklearn.kernel_ridge.KernelRidge(kernel="rbf"), **how
    )
    for part in ("mean_test_score", "mean_train_score"):
        np.testing.assert_allclose(ours.cv_results_[part], theirs.cv_results_[part], rtol=1e-9)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8, atol=1e-9)


def test_one_matrix_serves_all_folds_and_penalties(monkeypatch):
    monkeypatch.setattr("rosenblatt.kernels.ridge.LEAST_ROWS", 50)
    X, y = curve(n=90)
    shapes, whole = [], KernelRidge._get_kernel
    monkeypatch.setattr(
        KernelRidge,
        "_get_kernel",
        lambda self, X, Y=None: shapes.append(len(X)) or whole(self, X, Y),
    )
    model = KernelRidge(kernel="rbf")
    rosenblatt.model_selection.GridSearchCV(model, {"alpha": [0.1, 1.0, 10.0]}, cv=5).fit(X, y)
    assert shapes == [90]


def of_complex_values(u, v):
    return 1j * float(u @ v)


def test_bad_kernels_are_refused_with_the_value_and_the_cure():
    X = np.random.default_rng(0).normal(size=(12, 3))
    t, K = X[:, 0], X @ X.T
    K[2, 5] = np.nan
    with pytest.raises(ValueError, match=r"kernel of row 2 of X and training row 5 is nan"):
        KernelRidge(kernel="precomputed").fit(K, t)
    fitted = KernelRidge(kernel="precomputed").fit(X @ X.T, t)
    with pytest.raises(ValueError, match=r"kernel of row 2 of X and training row 5 is nan"):
        fitted.predict(K)
    with pytest.raises(ValueError, match=r"degree=2.5 .* negative for row 0 .* or a coef0 above"):
        KernelRidge(kernel="poly", degree=2.5, coef0=0).fit(X, t)
    with pytest.raises(
        ValueError, match=r"of_complex_values, .* complex numbers.*; got 0?.*j\. For a function"
    ):
        KernelRidge(kernel=of_complex_values).fit(X, t)
    with pytest.raises(ValueError, match=r"two single rows .* kernel=\"precomputed\""):
        KernelRidge(kernel=rbf_kernel).fit(X, t)  # of two tables
    with pytest.raises(ValueError, match=r"it returned shape \(3, 3\)"):
        KernelRidge(kernel=np.outer).fit(X, t)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_cosine_kernel_is_certified(sparse):
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[7] = 0.0
    X, t = sp.csr_matrix(X) if sparse else X, np.arange(40.0)
    for kind in (KernelRidge, sklearn.kernel_ridge.KernelRidge):
        model = kind(kernel="cosine", alpha=0.1).fit(X, t)
        assert certify(model, X, t).holds
        model.dual_coef_[3] += 100.0
        assert not certify(model, X, t).holds
