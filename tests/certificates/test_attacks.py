"""Certificates that were once fooled: each case with the exact number it got wrong."""

import copy
import warnings
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import sklearn.linear_model as theirs
import sklearn.naive_bayes
from scipy.linalg import LinAlgWarning
from sklearn.base import is_regressor
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

import rosenblatt as rb
from rosenblatt import certify


def powers(degree):
    x = np.linspace(0.0, 1.0, 60)
    return np.column_stack([x**k for k in range(1, degree + 1)]), np.sin(7 * x) + (x > 0.6)


def test_a_direction_that_rounding_hides_counts_as_one_in_which_all_may_be_gained():
    a, c = np.arange(8.0), np.array([1.0, -1, 2, -2, 1, -1, 2, -2])
    X = np.column_stack([a + 16, a + 16 + c * 2.0**-45])
    certificate = certify(theirs.LinearRegression().fit(X, c), X, c)
    assert not certificate["gap"].holds
    assert certificate["gap"].value >= 19.0  # (x_2 - x_1) * 2^45 is the target itself
    with pytest.raises(KeyError):
        certificate["distance"]


@pytest.mark.parametrize("degree", [14, 18, 24])
def test_the_gap_of_many_powers_is_not_below_the_exact_one(degree):
    X, t = powers(degree)
    model = theirs.LinearRegression().fit(X, t)
    assert certify(model, X, t)["gap"].value >= exact_excess(X, t, model.coef_, model.intercept_)


def exact_excess(X, t, w, b):
    """``sum r^2`` less its least value, in fractions: by the residual's part along each column."""
    rows = [[Fraction(1), *map(Fraction, x)] for x in X.tolist()]
    plane = [Fraction(float(b)), *map(Fraction, np.asarray(w).tolist())]
    rest = [
        Fraction(y) - sum(p * x for p, x in zip(plane, row, strict=True))
        for row, y in zip(rows, t.tolist(), strict=True)
    ]
    gained, basis = Fraction(0), []
    for column in zip(*rows, strict=True):
        for other, square in basis:
            part = sum(a * b for a, b in zip(column, other, strict=True)) / square
            column = [a - part * b for a, b in zip(column, other, strict=True)]
        square = sum(a * a for a in column)
        if square:
            along = sum(a * b for a, b in zip(rest, column, strict=True))
            gained += along * along / square
            basis.append((column, square))
    return gained


def test_columns_that_depend_but_for_rounding_are_not_said_to_be_fitted_best():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((40, 3))
    X, t = np.column_stack([X, X[:, 0] + X[:, 1]]), rng.standard_normal(40)
    model = theirs.LinearRegression().fit(X, t)
    gap = certify(model, X, t)["gap"]
    assert not gap.holds
    assert gap.value >= exact_excess(X, t, model.coef_, model.intercept_)


def test_columns_near_the_end_of_whole_numbers_are_centred_on_their_true_mean():
    x, t = (2.0**53 + 2 * np.arange(10))[:, None], np.arange(10.0)
    model = rb.LinearRegression().fit(x, t)
    assert model.coef_ == 0.5  # differences of such numbers are exact
    assert certify(model, x, t)["gap"].value >= exact_excess(x, t, model.coef_, model.intercept_)


@pytest.mark.parametrize("exponent", [44, 48, 50])
@pytest.mark.parametrize("kind", [rb.GaussianNB, sklearn.naive_bayes.GaussianNB])
def test_variances_far_from_zero_hold_as_fitted_and_fail_when_changed(kind, exponent):
    rng = np.random.RandomState(0)
    X = np.round(8 * rng.standard_normal((40, 2))) + 2.0**exponent
    y = np.arange(40) % 2
    model = kind().fit(X, y)
    assert certify(model, X, y).holds
    model.var_ = model.var_ * 1.5
    assert not certify(model, X, y)["likelihood"].holds


def test_weights_whose_sum_overflows_leave_shares():
    X, t = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 1.0, 5.0]
    model = theirs.Lasso(alpha=1e-6).fit(X, t)
    model.coef_, model.intercept_ = model.coef_ * 0, 7.0
    gap = certify(model, X, t, sample_weight=np.full(4, 1e308))["gap"]
    assert not gap.holds
    assert gap.value == pytest.approx(certify(model, X, t)["gap"].value)


@pytest.mark.parametrize(
    ("make", "attribute"),
    [
        (rb.LinearDiscriminantAnalysis, "means_"),
        (rb.QuadraticDiscriminantAnalysis, "means_"),
        (rb.GaussianNB, "theta_"),
        (rb.NearestCentroid, "centroids_"),
        (rb.LogisticRegression, "coef_"),
        (rb.LinearSVC, "coef_"),
        (rb.PCA, "mean_"),
        (rb.KMeans, "cluster_centers_"),
        (rb.GaussianMixture, "means_"),
    ],
)
def test_weights_whose_sum_overflows_let_nothing_false_pass(make, attribute):
    X, y = clouds()
    model = make().fit(X, y)
    setattr(model, attribute, getattr(model, attribute) + 0.5)
    assert not certify(model, X, y, sample_weight=np.full(len(y), 1e308)).holds


@pytest.mark.parametrize("size", [5e-324, 1e200])
def test_margins_of_planes_at_the_ends_of_the_range_are_the_true_ones(size):
    X, y = np.array([[0.75], [-0.75]]), [1, 0]
    model = rb.Perceptron().fit(X, y)
    model.coef_, model.intercept_ = np.array([[size]]), np.zeros(1)
    assert 0.7499 < certify(model, X, y)["margin"].value <= 0.75
    far = certify(model, X * 1e150, y)["margin"].value
    assert 0.7499e150 < far <= 0.75e150


@pytest.mark.parametrize("kind", [theirs.LinearRegression, theirs.Ridge, theirs.Lasso])
def test_tiny_targets_do_not_pass_for_their_size(kind):
    X, t = np.arange(10.0)[:, None], np.arange(10.0) * 1e-160
    model = kind().fit(X, t)
    model.coef_ = model.coef_ * 0 + 3e-160
    assert not certify(model, X, t)["gap"].holds


@pytest.mark.parametrize("kind", [rb.LinearRegression, rb.Ridge, rb.Lasso, rb.ElasticNet])
@pytest.mark.parametrize("size", [1e-150, 1e-200, 1e-300])
def test_honest_fits_of_tiny_targets_hold(kind, size):
    X, t = np.arange(10.0)[:, None], (np.arange(10.0) + np.arange(10) % 3) * size
    penalised = kind in (rb.Lasso, rb.ElasticNet)
    model = (kind(0.01 * size) if penalised else kind()).fit(X, t)
    assert certify(model, X, t)["gap"].holds
    model.coef_ = model.coef_ * 1.5
    assert not certify(model, X, t)["gap"].holds


FITS = {
    "LinearRegression": lambda: rb.LinearRegression(),
    "Ridge": lambda: rb.Ridge(),
    "Lasso": lambda: rb.Lasso(0.01),
    "LogisticRegression": lambda: rb.LogisticRegression(),
    "Perceptron": lambda: rb.Perceptron(random_state=0),
    "AveragedPerceptron": lambda: rb.AveragedPerceptron(random_state=0),
    "LinearSVC": lambda: rb.LinearSVC(),
    "KernelLogisticRegression": lambda: rb.KernelLogisticRegression(),
    "LinearDiscriminantAnalysis": lambda: rb.LinearDiscriminantAnalysis(),
    "FisherDiscriminant": lambda: rb.FisherDiscriminant(),
    "LeastSquaresClassifier": lambda: rb.LeastSquaresClassifier(),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("number", [np.nan, 1e200, np.inf])
def test_numbers_that_are_none_or_too_large_fail_a_claim_and_raise_nothing(
    name, number, unconverged
):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((30, 2))
    y = (X[:, 0] - X[:, 1] + rng.standard_normal(30) / 2 > 0).astype(int)
    model = copy.deepcopy(FITS[name]().fit(X, y))
    name = "coef_" if hasattr(model, "coef_") else "dual_coef_"
    setattr(model, name, np.full_like(getattr(model, name), number))
    assert not certify(model, X, y).holds


def test_columns_far_from_zero_raise_nothing_in_logistic_regression(unconverged):
    for seed in range(20):
        rng = np.random.RandomState(seed)
        B = rng.standard_normal((30, 3))
        X = B + 10.0 ** rng.randint(6, 14)
        y = (B[:, 0] + rng.logistic(size=30) > 0).astype(int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            model = theirs.LogisticRegression(C=[1.0, 1e6][seed % 2], fit_intercept=seed % 3 > 0)
            model.fit(X, y)
        assert certify(model, X, y)["gap"].value >= 0


def test_a_mean_that_is_wrong_on_every_row_does_not_hold():
    X = np.random.RandomState(0).standard_normal((30, 2))
    y = (X[:, 0] > 0).astype(int)
    model = rb.AveragedPerceptron().fit(X, y)
    assert certify(model, X, y).holds
    model.coef_, model.intercept_ = -model.coef_, -model.intercept_
    assert not certify(model, X, y).holds


def clouds(n=60):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


TAMPERED = {
    "LinearRegression.condition_": (lambda: rb.LinearRegression(), "condition_", 1e-9),
    "Ridge.condition_": (lambda: rb.Ridge(), "condition_", 1e-9),
    "LassoCV.mse_path_": (lambda: rb.LassoCV(cv=3, tol=1e-7), "mse_path_", -1.0),
    "their LassoCV.mse_path_": (lambda: theirs.LassoCV(cv=3, tol=1e-7), "mse_path_", -1.0),
    "KernelPerceptron.gamma_": (lambda: rb.KernelPerceptron(tol=None), "gamma_", 3.0),
    "KernelPerceptron.support_vectors_": (
        lambda: rb.KernelPerceptron(tol=None), "support_vectors_", 1.0001,
    ),
    "KernelLogisticRegression.gamma_": (lambda: rb.KernelLogisticRegression(), "gamma_", -1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", TAMPERED)
def test_an_attribute_cannot_be_changed_unnoticed(name, unconverged):
    make, attribute, factor = TAMPERED[name]
    X, y = clouds()
    model = make()
    if is_regressor(model):
        y = X @ [1.0, 0.5] + np.random.RandomState(1).standard_normal(60)
    model.fit(X, y)
    assert certify(model, X, y).holds
    value = np.array(getattr(model, attribute), np.float64)
    if value.ndim:
        value[-1] *= factor
    else:
        value = float(value) * factor
    setattr(model, attribute, value)
    assert not certify(model, X, y).holds


def test_a_negative_gamma_is_no_scalar_product():
    X, y = clouds()
    model = rb.KernelLogisticRegression("rbf").fit(X, y)
    model.gamma_ = model.gamma = -1.0
    certificate = certify(model, X, y)
    assert certificate["feature space"].value < 0
    assert not certificate.holds


@pytest.mark.parametrize("kind", [rb.LinearRegression, rb.Ridge, rb.GaussianNB])
def test_forgetting_rows_that_vary_far_more_is_warned_of(kind):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((50, 2)), np.arange(50) % 2
    X[:5] *= 1e12
    model = kind().fit(X, y)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.forget(X[:5], y[:5])
    assert model.forget_bound_ > 1e-9
    assert any("may be off by" in str(w.message) for w in said)


def test_scores_that_are_no_numbers_are_refused():
    X, y = clouds()
    model = rb.KernelLogisticRegression("poly", degree=3).fit(X, y)
    for method in (model.decision_function, model.predict, model.predict_proba):
        with pytest.raises(ValueError, match="overflowed"):
            method([[1e200, -1e200]])


def test_in_32_bits_the_largest_probability_is_that_of_the_class_predicted():
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((400, 8)).astype(np.float32), np.arange(400) % 3
    model = rb.GaussianNB().fit(X, y)
    far = (X * 1e4).astype(np.float32)
    labels, shares = model.predict(far), model.predict_proba(far)
    assert shares.dtype == np.float32
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], labels)
    middle = np.broadcast_to(model.theta_[:2].mean(axis=0), (300, 8)).copy()
    middle += rng.uniform(-1e-6, 1e-6, middle.shape).astype(np.float32)
    shares = model.predict_proba(middle)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(middle))


def test_measurements_alone_hold_nothing():
    claim = rb.Claim("training error", "5 of 10 rows are wrong", 5, None, True, "proved")
    assert not rb.Certificate("M", "P", "D", (claim,)).holds


def test_an_unpenalised_fit_that_learned_nothing_does_not_hold():
    rng = np.random.RandomState(1)
    B = rng.standard_normal((200, 2))
    X, y = B + 1e7, (B[:, 0] - B[:, 1] + rng.logistic(size=200) > 0).astype(int)
    model = theirs.LogisticRegression(C=np.inf, fit_intercept=False).fit(X, y)
    gap = certify(model, X, y)["gap"]
    assert not gap.holds
    assert gap.value >= 34
    best = theirs.LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10).fit(B, y)
    assert certify(best, B, y)["gap"].value < 1e-6


def test_the_same_for_several_classes():
    rng = np.random.RandomState(1)
    B = rng.standard_normal((200, 2))
    X, y = B + 1e7, (B[:, 0] - B[:, 1] + rng.logistic(size=200) > [[-1.0], [1.0]]).sum(axis=0)
    model = theirs.LogisticRegression(C=np.inf, fit_intercept=False).fit(X, y)
    model.coef_ = model.coef_ * 0
    assert certify(model, X, y)["gap"].value > 30
    best = theirs.LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10).fit(B, y)
    assert certify(best, B, y)["gap"].value < 1e-6


def fixed_ridge(X):
    model = theirs.Ridge().fit(X[:5], np.arange(5.0))
    model.coef_ = np.linspace(0.0, 1.0, X.shape[1])
    return model


@pytest.mark.parametrize(
    "make",
    [
        lambda X, y: rb.LeastSquaresClassifier().fit(X, y),
        lambda X, y: rb.LinearDiscriminantAnalysis().fit(X, y),
        lambda X, y: rb.FisherDiscriminant().fit(X, y > 0),
        lambda X, y: rb.LinearRegression().fit(X, y),
        lambda X, y: rb.LinearRegression().fit(X[:80], y[:80]),
        lambda X, y: certify(fixed_ridge(X), X, y),
        lambda X, y: rb.PCA(100).fit(X).transform(X),
        lambda X, y: rb.PCA(100, svd_solver="full").fit_transform(X[:600]),
        lambda X, y: rb.GaussianMixture(2, tol=1.0, random_state=0).fit(X[:, :50]).means_,
    ],
    ids=[
        "classes",
        "lda",
        "fisher",
        "regression",
        "wide",
        "certificate",
        "projections",
        "full",
        "mixture",
    ],
)
def test_threads_of_blas_change_no_bit(make):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((1500, 600))
    y = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"), warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)
            made = make(X, y)
        if isinstance(made, rb.Certificate):
            found.append([claim.value for claim in made])
        elif isinstance(made, np.ndarray):
            found.append(made.tobytes())
        else:
            names = ("coef_", "intercept_", "singular_", "condition_", "scalings_")
            found.append([np.asarray(getattr(made, n, 0.0)).tobytes() for n in names])
            found[-1].append(made.predict(X[:300]).tobytes())
    assert found[0] == found[1]


def test_targets_in_a_column_lists_in_a_search_and_any_tolerance_are_read():
    X, _ = clouds()
    t = X @ [1.0, 0.5] + np.random.RandomState(1).standard_normal(60)
    assert certify(rb.LinearRegression().fit(X, t), X, t[:, np.newaxis]).holds
    assert certify(rb.Lasso(tol=1e300).fit(X, t), X, t, tol=1e300).holds
    for kind in (GridSearchCV, rb.GridSearchCV):
        search = kind(rb.Ridge(), {"alpha": [1.0, 2.0]}).fit(X.tolist(), t.tolist())
        assert certify(search, X.tolist(), t.tolist()).holds


def test_predictions_of_a_wide_lasso_are_the_same_for_any_number_of_threads():
    X = np.random.RandomState(0).standard_normal((400, 3000))
    model, found = rb.Lasso(alpha=0.05, max_iter=20).fit(X, X[:, 0]), []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(model.predict(X).tobytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", [rb.CategoricalNB, rb.MixedNB])
def test_complex_columns_of_polars_keep_no_real_part_alone(kind):
    frame = pl.DataFrame({"a": pl.Series([1 + 2j, 1 + 3j, 2 + 2j, 2 + 3j], dtype=pl.Object)})
    with pytest.raises((TypeError, ValueError), match="complex"):
        kind().fit(frame, [0, 1, 0, 1])


def test_a_scorer_of_probabilities_is_refused_by_its_public_name():
    X, _ = clouds()
    with pytest.raises(ValueError, match="make_scorer") as refusal:
        rb.RidgeCV(scoring="neg_log_loss").fit(X, X[:, 0])
    assert "._" not in str(refusal.value)
    assert "_Scorer" not in str(refusal.value)
