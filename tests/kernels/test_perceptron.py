"""The kernel perceptron: the plain one in another space."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rosenblatt import KernelPerceptron, Perceptron
from rosenblatt.kernels import Gaussian, Polynomial
from tests.contract.estimators import problem

pytestmark = pytest.mark.usefixtures("unconverged")


def quietly(model, X, y, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **given)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([2, 3]),
    st.sampled_from(["mistake", "positive", "negative"]),
    st.sampled_from(["cyclic", "random", "first", "worst"]),
    st.booleans(),
    st.sampled_from([np.asarray, sp.csr_matrix]),
)
def test_with_the_linear_kernel_it_is_the_perceptron_to_the_bit_on_integers(
    seed, n_classes, boundary, pick, fit_intercept, storage
):
    # J10: the perceptron in kernel form (see M6)
    rng = np.random.RandomState(seed)
    X = rng.randint(-3, 4, (20, 3)).astype(rng.choice([np.float64, np.float32]))
    y, weight = np.arange(20) % n_classes, rng.randint(0, 3, 20).astype(float)
    if len(np.unique(y[weight > 0])) < n_classes:
        return
    settings = {
        "boundary": boundary, "pick": pick, "fit_intercept": fit_intercept, "tol": None,
        "max_iter": 7, "random_state": seed, "max_updates": 25,
    }  # fmt: skip
    plain = quietly(Perceptron(**settings), X, y, sample_weight=weight)
    dual = quietly(KernelPerceptron("linear", **settings), storage(X), y, sample_weight=weight)
    assert np.array_equal(dual.dual_coef_ @ dual.support_vectors_, plain.coef_)
    assert np.array_equal(dual.intercept_, plain.intercept_)
    assert (dual.n_updates_, dual.n_iter_) == (plain.n_updates_, plain.n_iter_)
    assert dual.stop_reason_ == plain.stop_reason_
    assert np.array_equal(dual.predict(storage(X)), plain.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_polynomial_kernel_is_a_perceptron_on_its_features(n_classes):
    X, y = problem(n_classes, n_rows=60, n_features=3)
    X = np.round(X * 2)
    kernel = Polynomial(2, coef0=1)
    settings = {"max_iter": 20, "tol": None}
    dual = KernelPerceptron("poly", degree=2, gamma=1, coef0=1, **settings).fit(X, y)
    plain = Perceptron(**settings).fit(kernel.features(X), y)
    assert dual.n_updates_ == plain.n_updates_
    np.testing.assert_allclose(
        dual.dual_coef_ @ kernel.features(dual.support_vectors_), plain.coef_, atol=1e-9
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", [Gaussian(0.2), lambda U, V: Gaussian(0.2)(U, V), "precomputed"])
def test_names_objects_functions_and_matrices_agree(kernel, n_classes):
    X, y = problem(n_classes)
    new = X[:20] + 0.1
    settings = {"max_iter": 8, "tol": None}
    expected = KernelPerceptron("rbf", gamma=0.2, **settings).fit(X, y)
    assert np.array_equal(
        KernelPerceptron("gaussian", gamma=0.2, **settings).fit(X, y).dual_coef_,
        expected.dual_coef_,
    )
    model = KernelPerceptron(kernel, **settings)
    K, K_new = Gaussian(0.2)(X), Gaussian(0.2)(new, X)
    matrix = isinstance(kernel, str)
    model.fit(K if matrix else X, y)
    assert np.array_equal(model.dual_coef_, expected.dual_coef_)
    assert np.array_equal(model.support_, expected.support_)
    np.testing.assert_allclose(
        model.decision_function(K_new if matrix else new), expected.decision_function(new)
    )


def test_coefficients_count_mistakes():
    # M6: the kernel perceptron
    X, y = problem()
    model = KernelPerceptron(max_iter=20, tol=None).fit(X, y)
    assert np.abs(model.dual_coef_).sum() == model.n_updates_  # no row twice in this table
    assert np.array_equal(np.sign(model.dual_coef_[0]), np.where(y[model.support_] == "b", 1, -1))


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_identical_rows_are_merged_and_nothing_else_changes(storage, n_classes):
    rng = np.random.RandomState(0)
    X = rng.randint(0, 3, (80, 2)).astype(float)  # nine different rows at most
    X[X == 0] *= rng.choice([1.0, -1.0], np.count_nonzero(X == 0))  # -0.0 is 0.0
    y = rng.randint(n_classes, size=80)
    model = KernelPerceptron(max_iter=10, tol=None).fit(storage(X), y)
    assert len(model.support_) <= 9
    assert len(np.unique(X[model.support_], axis=0)) == len(model.support_)
    matrix = KernelPerceptron("precomputed", max_iter=10, tol=None)
    matrix.fit(Gaussian(model.gamma_)(X), y)  # has no rows to compare, and merges nothing
    assert len(matrix.support_) > len(model.support_)
    np.testing.assert_allclose(
        model.decision_function(storage(X)),
        matrix.decision_function(Gaussian(model.gamma_)(X)),
        atol=1e-9,
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_small_cache_changes_nothing_and_is_kept_within(n_classes):
    # M5: keeping the matrix of similarities small
    X, y = problem(n_classes, n_rows=3000)
    settings = {"max_iter": 3, "tol": None}
    expected = KernelPerceptron(cache_size=1000, **settings).fit(X, y)
    row = X.shape[0] * 8 / 2**20
    for megabytes in (row, 2 * row, 20 * row):
        model = KernelPerceptron(cache_size=megabytes, **settings).fit(X, y)
        assert np.array_equal(model.dual_coef_, expected.dual_coef_)
    tracemalloc.start()
    KernelPerceptron(cache_size=2 * row, **settings).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    everything = X.shape[0] ** 2 * 8
    assert peak < everything / 20, "far from the whole matrix of 72 megabytes"


def test_fewer_updates_make_a_smoother_boundary():
    # M9: overfitting with kernels, and what helps
    X, y = make_moons(300, noise=0.3, random_state=0)
    few = KernelPerceptron(gamma=5.0, max_updates=40).fit(X, y)
    many = KernelPerceptron(gamma=5.0, tol=None, max_iter=200).fit(X, y)
    assert len(few.support_) < len(many.support_)
    assert many.score(X, y) > few.score(X, y)


def test_rows_that_score_zero_for_ever_are_left_out_as_in_the_perceptron():
    X, y = np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, -2.0]]), [1, 1, 0]
    for kernel in ("linear", "poly", "precomputed"):
        model = KernelPerceptron(kernel, gamma=1, fit_intercept=False)
        K = Polynomial(3)(X)
        with pytest.warns(ConvergenceWarning, match="no weights can be right on them"):
            model.fit(K if kernel == "precomputed" else X, y)


def test_it_works_in_searches_and_pipelines_also_on_kernel_matrices():
    X, y = make_moons(120, noise=0.1, random_state=0)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KernelPerceptron()),
        {"kernelperceptron__gamma": [0.1, 3.0], "kernelperceptron__kernel": ["rbf", "laplacian"]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.9
    scores = cross_val_score(KernelPerceptron("precomputed"), Gaussian(3.0)(X), y, cv=3)
    assert scores.min() > 0.9


class TestBadInput:
    X, y = problem()

    def test_an_unknown_kernel(self):
        with pytest.raises(ValueError, match=r"'kernel' parameter of KernelPerceptron.*Got 'rfb'"):
            KernelPerceptron("rfb").fit(self.X, self.y)

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_a_kernel_that_is_not_finite_and_for_which_pair(self, value):
        def bad(U, V):
            K = U @ V.T
            K[:, 7] = value
            return K

        model = KernelPerceptron(bad, shuffle=False)
        with pytest.raises(ValueError, match=f"row 0 of X and training row 7 is {value}"):
            model.fit(self.X, self.y)
        assert not hasattr(model, "dual_coef_")

    def test_a_power_that_overflows(self):
        model = KernelPerceptron("poly", degree=9, gamma=1.0, shuffle=False)
        with pytest.raises(ValueError, match=r"row 0 of X and .* lower degree or gamma"):
            model.fit(1e40 * self.X, self.y)

    def test_a_function_of_the_wrong_shape(self):
        with pytest.raises(ValueError, match=r"<lambda>, .*\(1, 120\); it returned"):
            KernelPerceptron(lambda U, V: V[:, 0]).fit(self.X, self.y)

    def test_a_matrix_that_is_not_square(self):
        with pytest.raises(ValueError, match=r"a square matrix; got \(120, 5\)"):
            KernelPerceptron("precomputed").fit(self.X, self.y)

    def test_a_matrix_that_is_not_symmetric(self):
        K = Gaussian()(self.X)
        K[3, 8] = 0.25
        with pytest.raises(ValueError, match=r"X\[3, 8\] = 0\.25 and X\[8, 3\] = "):
            KernelPerceptron("precomputed").fit(K, self.y)

    def test_a_matrix_for_prediction_with_too_few_columns(self):
        K = Gaussian()(self.X)
        model = KernelPerceptron("precomputed").fit(K, self.y)
        with pytest.raises(ValueError, match="X has 5 features, but KernelPerceptron is expecting"):
            model.predict(K[:, :5])
        with pytest.raises(ValueError, match=r"120 features .* of the 120 training rows"):
            model.predict(K[:5, :5])

    @pytest.mark.parametrize("size", [0, -1.0])
    def test_a_budget_that_is_none(self, size):
        with pytest.raises(ValueError, match="'cache_size' parameter of KernelPerceptron"):
            KernelPerceptron(cache_size=size).fit(self.X, self.y)

    def test_a_budget_below_one_row(self):
        with pytest.raises(ValueError, match=r"cache_size=0\.0001 megabytes cannot hold 1 row"):
            KernelPerceptron(cache_size=0.0001).fit(self.X, self.y)

    @pytest.mark.parametrize("bad", [0, -5])
    def test_a_horizon_that_is_none(self, bad):
        with pytest.raises(ValueError, match=f"'max_updates' parameter of KernelPerceptron.*{bad}"):
            KernelPerceptron(max_updates=bad).fit(self.X, self.y)

    def test_a_function_that_is_not_symmetric(self):
        A = np.eye(5)
        A[0, 1] = 3.0
        with pytest.raises(ValueError, match=r"A kernel is symmetric, but it gives .* for rows"):
            KernelPerceptron(lambda U, V: U @ A @ V.T, tol=None).fit(self.X, self.y)

    def test_a_function_of_two_single_rows(self):
        with pytest.raises(ValueError, match=r"the kernel of all pairs of rows.*; it failed"):
            KernelPerceptron(lambda u, v: np.dot(u, v)).fit(self.X, self.y)

    def test_a_class_in_place_of_an_object(self):
        with pytest.raises(ValueError, match=r"kernel must be a name or an object; got the class"):
            KernelPerceptron(Gaussian).fit(self.X, self.y)

    def test_a_score_that_overflows_in_prediction(self):
        model = KernelPerceptron("poly", degree=9, max_updates=20).fit(self.X, self.y)
        first = model.support_[0]
        with pytest.raises(ValueError, match=f"row 1 of X and training row {first} is .*inf"):
            model.decision_function(np.vstack([self.X[:1], 1e200 * self.X[1:2]]))
        vast = KernelPerceptron("linear", fit_intercept=False).fit([[1e10], [-1e10]], [1, 0])
        vast.dual_coef_ = 1e100 * vast.dual_coef_
        with pytest.raises(ValueError, match=r"The score of row 1 of X overflowed"):
            vast.decision_function([[1.0], [1e200]])

    def test_a_function_that_is_not_finite_in_prediction_and_for_which_pair(self):
        def late(U, V):
            K = U @ V.T
            K[U[:, 0] > 50] = np.nan
            return K

        model = KernelPerceptron(late, max_updates=20).fit(self.X, self.y)
        new = np.array(self.X[:3])
        new[2, 0] = 60
        first = model.support_[0]
        with pytest.raises(ValueError, match=f"row 2 of X and training row {first} is nan"):
            model.predict(new)

    def test_a_function_of_complex_values(self):
        with pytest.raises(ValueError, match=r"<lambda>, .*it failed: its values are complex"):
            KernelPerceptron(lambda U, V: 1j * (U @ V.T)).fit(self.X, self.y)

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_a_matrix_that_is_not_finite_and_for_which_pair(self, value):
        K = Gaussian()(self.X)
        model = KernelPerceptron("precomputed").fit(K, self.y)
        K[8, 3] = K[3, 8] = value
        message = rf"The kernel of row 3 of X and training row 8 is {value}"
        with pytest.raises(ValueError, match=message):
            KernelPerceptron("precomputed").fit(K, self.y)
        with pytest.raises(ValueError, match=message):
            model.predict(K)

    def test_rows_to_predict_that_are_not_finite_and_in_which_column(self):
        model = KernelPerceptron(max_updates=20).fit(self.X, self.y)
        with pytest.raises(ValueError, match="Column 0 has 1 missing value"):
            model.predict([[np.nan, 0, 0, 0, 0]])

    def test_a_variance_that_overflows(self):
        for X in (1e200 * self.X, sp.csr_matrix(1e200 * self.X)):
            with pytest.raises(ValueError, match=r'gamma="scale".*the variance of X overflowed'):
                KernelPerceptron().fit(X, self.y)


def test_a_function_may_return_a_sparse_matrix():
    X, y = problem(sparse=True)
    model = KernelPerceptron(lambda U, V: U @ V.T, max_iter=5, tol=None).fit(X, y)
    expected = KernelPerceptron("linear", max_iter=5, tol=None).fit(X, y)
    assert np.array_equal(model.dual_coef_, expected.dual_coef_)


def test_prediction_shows_a_kernel_no_rows_but_those_given():
    X, y = problem()
    model = KernelPerceptron(lambda U, V: refuse_zeros(U) @ V.T, max_updates=20).fit(X, y)
    assert len(model.predict(X[:65])) == 65


def refuse_zeros(U):
    assert U.any(axis=1).all()
    return U


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_converged_model_is_right_on_its_training_rows(dtype):
    for seed in range(20):
        rng = np.random.RandomState(seed)
        X = np.vstack([rng.standard_normal((50, 2)) + shift for shift in (1e4, -1e4)]).astype(dtype)
        y = (np.abs(X[:, 0]) > 1e4).astype(int)
        model = KernelPerceptron(gamma=0.5, tol=None, max_iter=300).fit(X, y)
        assert not model.converged_ or model.score(X, y) == 1


def test_gamma_is_published_only_where_it_was_used():
    X, y = problem()
    assert KernelPerceptron(Gaussian(2.0), max_updates=9).fit(X, y).gamma_ is None
    dense = KernelPerceptron(max_updates=9).fit(X, y).gamma_
    assert dense == pytest.approx(1 / (X.shape[1] * X.var()))
    far = X + 1e6
    sparse = KernelPerceptron(max_updates=9).fit(sp.csr_matrix(far), y).gamma_
    assert sparse == pytest.approx(dense, rel=1e-6)


def test_a_matrix_is_symmetric_up_to_rounding_far_from_the_origin():
    """scikit-learn's Gaussian kernel of the raw breast cancer table was refused."""
    X, y = load_breast_cancer(return_X_y=True)
    K = rbf_kernel(X)
    assert not np.array_equal(K, K.T)
    assert KernelPerceptron("precomputed", max_iter=3).fit(K, y).n_updates_ > 0


def test_sparse_rows_are_scored_by_a_model_of_dense_groups_far_apart():
    """Their mean is zero, and distances are taken from differences, which want dense rows."""
    X = np.array([[1e8, 1.0], [-1e8, -1.0], [1e8 + 1, 2.0], [-1e8 - 1, -2.0]])
    model = KernelPerceptron(gamma=1.0, tol=None).fit(X, [0, 1, 1, 0])
    assert model.predict(sp.csr_matrix(X)).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_the_scale_of_rows_in_32_bits_does_not_matter(scale):
    """Squared distances, or gamma, overflowed in 32 bits, and all similarities were zero."""
    X, y = problem()
    settings = {"max_iter": 5, "tol": None}
    model = KernelPerceptron(**settings).fit((scale * X).astype(np.float32), y)
    expected = KernelPerceptron(**settings).fit(X.astype(np.float32), y)
    assert model.n_updates_ == expected.n_updates_
    np.testing.assert_allclose(model.dual_coef_, expected.dual_coef_)


def test_a_score_that_32_bits_cannot_hold_keeps_its_side():
    """A narrow kernel is about 1e-60 between rows far apart: more than zero."""
    X = np.array([[0.0], [1.0], [12.0]], np.float32)
    model = KernelPerceptron(gamma=1.0, fit_intercept=False, max_updates=1, shuffle=False)
    model.fit(X, [1, 0, 0])
    assert model.support_.tolist() == [0]
    assert model.decision_function(X).dtype == np.float32
    assert model.predict(X).tolist() == [1, 1, 1]
