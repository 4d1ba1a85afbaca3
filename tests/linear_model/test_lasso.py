"""Lasso and elastic net."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.linear_model as theirs
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import LinAlgWarning
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from rosenblatt import ElasticNet, Lasso, LassoCV, LinearRegression, Trace
from tests.reference.lasso import elastic_net, objective

TIGHT = 1e-12


def problem(n=60, d=8, seed=0, shift=0.0):
    rng = np.random.RandomState(seed)
    X = np.round(rng.standard_normal((n, d)) + shift, 2)
    y = X[:, : min(d, 3)].sum(axis=1) * 2 + rng.standard_normal(n)
    return X, y, rng.randint(0, 4, n).astype(float)


def their_fit(model, X, y, sample_weight=None):
    """scikit-learn's model of the same parameters, as exact as it gets."""
    parameters = model.get_params() | {"tol": 1e-14, "max_iter": 100_000}
    parameters.pop("n_features", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(theirs, type(model).__name__)(**parameters).fit(X, y, sample_weight)


models = pytest.mark.parametrize(
    "model",
    [
        Lasso(0.1, tol=TIGHT),
        Lasso(0.1, tol=TIGHT, fit_intercept=False, selection="random", random_state=1),
        Lasso(0.05, tol=TIGHT, positive=True, precompute=True),
        ElasticNet(0.1, tol=TIGHT),
        ElasticNet(0.1, l1_ratio=0.0, tol=TIGHT),
        ElasticNet(0.2, l1_ratio=0.9, tol=TIGHT, positive=True, fit_intercept=False),
    ],
    ids=str,
)


@models
@pytest.mark.parametrize("shape", [(60, 8), (15, 40)])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_finds_what_scikit_learn_finds(model, shape, storage, weighted):
    # H7: lasso and elastic net, of any shape
    X, y, weights = problem(*shape)
    weights = weights if weighted else None
    ours = model.fit(storage(X), y, sample_weight=weights)
    other = their_fit(model, X, y, weights)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=2e-5)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, atol=2e-5)
    assert ours.dual_gap_ <= TIGHT * y @ y
    value = objective(X, y, ours.coef_, ours.intercept_, ours.alpha, ours.l1_ratio, weights)
    assert ours.objective_ == pytest.approx(value, rel=1e-9)
    assert ours.stop_reason_ == "converged"
    assert ours.sparse_coef_.shape == (1, shape[1])
    assert np.array_equal(ours.sparse_coef_.toarray()[0], ours.coef_)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("shape", [(60, 8), (15, 40)])
def test_each_of_several_targets_is_a_lasso_of_its_own(storage, shape):
    X, y, _ = problem(*shape)
    Y = np.column_stack([y, X[:, 0] - 3, np.full(len(y), 2.0)])
    model = Lasso(0.1, tol=TIGHT).fit(storage(X), Y)
    assert model.coef_.shape == (3, shape[1])
    assert model.predict(X).shape == Y.shape
    assert len(model.n_iter_) == len(model.dual_gap_) == len(model.objective_) == 3
    for k in range(3):
        alone = Lasso(0.1, tol=TIGHT).fit(storage(X), Y[:, k])
        np.testing.assert_allclose(model.coef_[k], alone.coef_, atol=1e-7)
        assert model.intercept_[k] == pytest.approx(alone.intercept_)
    assert model.intercept_[2] == pytest.approx(2)
    column = Lasso(0.1).fit(X, y[:, None])
    assert column.coef_.shape == (shape[1],)
    assert column.intercept_.shape == (1,)


@pytest.mark.parametrize("Model", [Lasso, ElasticNet])
@pytest.mark.parametrize("shape", [(60, 8), (15, 40)])
def test_the_subgradient_conditions_hold(Model, shape):
    # H5: absolute weights penalised, exact zeros
    X, y, _ = problem(*shape)
    model = Model(0.1, tol=1e-14).fit(X, y)
    r = y - model.predict(X)
    slope = (X - X.mean(0)).T @ r / len(y) - model.alpha * (1 - model.l1_ratio) * model.coef_
    limit = model.alpha * model.l1_ratio
    assert r.mean() == pytest.approx(0, abs=1e-12)
    assert np.all(np.abs(slope) <= limit + 1e-6)
    used = model.coef_ != 0
    np.testing.assert_allclose(slope[used], limit * np.sign(model.coef_[used]), atol=1e-6)
    assert model.gradient_norm_ < 1e-5


@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(30, 5), (10, 25)]),
    alpha=st.floats(1e-3, 3.0),
    l1_ratio=st.sampled_from([0.0, 0.3, 1.0]),
    shift=st.sampled_from([0.0, 1e4]),
)
def test_weights_equal_repetition_and_columns_have_no_order(seed, shape, alpha, l1_ratio, shift):
    X, y, weights = problem(*shape, seed, shift)
    weights[0] += 1
    model = ElasticNet(alpha, l1_ratio=l1_ratio, tol=1e-10)
    with warnings.catch_warnings():  # a penalty near zero proves little of many columns
        warnings.simplefilter("ignore", ConvergenceWarning)
        weighted = model.fit(X, y, sample_weight=weights)
        rows = np.repeat(np.arange(len(y)), weights.astype(int))
        gap = weighted.dual_gap_
        fits = [weighted.predict(X)]
        gaps = [gap]
        for other in (
            ElasticNet(**model.get_params()).fit(X[rows], y[rows]),
            ElasticNet(**model.get_params()).fit(X[:, ::-1], y, sample_weight=7 * weights),
        ):
            order = slice(None, None, -1) if len(fits) == 2 else slice(None)
            fits.append(other.predict(X[:, order]))
            gaps.append(other.dual_gap_)
    # Two fits within g of the best differ by at most 2 sqrt(2 g) on the rows, root mean square.
    for fit, other_gap in zip(fits[1:], gaps[1:], strict=True):
        away = np.sqrt(np.average((fit - fits[0]) ** 2, weights=weights))
        assert away <= 2 * np.sqrt(2 * max(gap, other_gap)) + 1e-6 * np.std(y)


@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(30, 5), (10, 25)]),
    l1_ratio=st.sampled_from([0.5, 1.0]),
    max_iter=st.integers(1, 4),
    alpha=st.floats(1e-2, 2.0),
)
def test_the_gap_bounds_the_excess_of_fits_stopped_early(seed, shape, l1_ratio, max_iter, alpha):
    X, y, weights = problem(*shape, seed)
    weights[0] += 1
    model = ElasticNet(alpha, l1_ratio=l1_ratio, tol=None, max_iter=max_iter)
    model.fit(X, y, sample_weight=weights)
    best = elastic_net(X, y, alpha, l1_ratio, weights)
    least = objective(X, y, *best, alpha, l1_ratio, weights)
    reached = objective(X, y, model.coef_, model.intercept_, alpha, l1_ratio, weights)
    assert model.dual_gap_ >= reached - least - 1e-12 * np.average(y**2)
    assert model.n_iter_ == max_iter


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("shape", [(60, 8), (15, 40)])
def test_at_the_largest_penalty_all_weights_are_zero(storage, shape):
    X, y, _ = problem(*shape, shift=5.0)
    largest = np.abs((X - X.mean(0)).T @ (y - y.mean())).max() / len(y)
    model = Lasso(largest * (1 + 1e-9)).fit(storage(X), y)
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(y.mean())
    assert model.dual_gap_ == pytest.approx(0, abs=1e-9)
    assert Lasso(largest * 0.99).fit(storage(X), y).coef_.any()


def test_rows_far_from_the_origin_lose_no_digits():
    X, y, _ = problem()
    near, far = Lasso(0.1, tol=TIGHT).fit(X, y), Lasso(0.1, tol=TIGHT).fit(X + 1e6, y - 1e6)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-7)
    wide = problem(20, 50)
    near = Lasso(0.1, tol=TIGHT).fit(*wide[:2])
    far = Lasso(0.1, tol=TIGHT).fit(wide[0] + 1e6, wide[1])
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)


def test_float32_stays_float32_and_is_solved_in_64_bits():
    X, y, _ = problem()
    for storage in (np.asarray, sp.csr_matrix):
        narrow = Lasso(0.1, tol=TIGHT).fit(storage(X.astype(np.float32)), y.astype(np.float32))
        assert narrow.coef_.dtype == narrow.intercept_.dtype == np.float32
        assert narrow.predict(X.astype(np.float32)).dtype == np.float32
        np.testing.assert_allclose(narrow.coef_, Lasso(0.1, tol=TIGHT).fit(X, y).coef_, atol=1e-5)


def test_a_fit_that_stops_short_says_what_it_reached_and_what_to_change():
    X, y, _ = problem()
    with pytest.warns(
        ConvergenceWarning,
        match=r"^Objective did not converge. The duality gap is .* after 1 iterations; tol=1e-12",
    ):
        model = Lasso(0.01, max_iter=1, tol=TIGHT).fit(X, y)
    assert model.stop_reason_ == "max_iter"
    assert model.dual_gap_ > TIGHT * np.var(y)
    plain = Lasso(0.0).fit(X, y)
    expected = theirs.LinearRegression().fit(X, y)
    np.testing.assert_allclose(plain.coef_, expected.coef_, atol=1e-8)
    twice = np.hstack([X, X])
    with pytest.warns(ConvergenceWarning, match="use LinearRegression"):
        plain = Lasso(0.0).fit(twice, y)
    np.testing.assert_allclose(plain.predict(twice), expected.predict(X), atol=1e-8)


def test_no_tolerance_means_as_many_iterations_as_were_asked_for():
    X, y, _ = problem()
    model = Lasso(0.1, tol=None, max_iter=37).fit(X, y)
    assert (model.n_iter_, model.stop_reason_) == (37, "max_iter")


def test_warm_start_goes_on_where_the_last_fit_ended():
    X, y, _ = problem()
    model = Lasso(0.1, tol=1e-9, warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ < first
    with pytest.raises(ValueError, match=r"warm_start=True continues the .* with shape of coef_"):
        model.fit(X[:, :3], y)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("shape", [(60, 8), (15, 40)])
def test_numbers_too_large_to_square_are_refused_and_nothing_is_left_behind(storage, shape):
    X, y, _ = problem(*shape)
    X = X.copy()
    X[3, 1] = 1e200
    model = Lasso(0.1)
    with pytest.raises(ValueError, match=r"[Ff]eature 1 .*too large for 64 bits"):
        model.fit(storage(X), y)
    assert not hasattr(model, "coef_")
    with pytest.raises(ValueError, match="too large for 64 bits"):
        model.fit(storage(problem(*shape)[0]), y * 1e200)


def test_columns_of_very_different_scales_and_constant_ones_do_no_harm():
    X, y, _ = problem(50, 6)
    X = np.hstack([X * np.array([1e-8, 1e-3, 1, 1e3, 1e6, 1]), np.full((50, 1), 7.3)])
    for storage in (np.asarray, sp.csr_matrix, frame):
        named = "'c0'" if storage is frame else "0"
        with pytest.warns(LinAlgWarning, match=rf"\(column {named}\) to .*Standardise {named}"):
            model = Lasso(0.01, tol=1e-10).fit(storage(X), y)
        assert np.isfinite(model.coef_).all()
        assert model.coef_[-1] == 0
        assert model.stop_reason_ == "converged"
    assert Lasso().fit(np.ones((5, 3)), np.arange(5.0)).coef_.tolist() == [0, 0, 0]
    with pytest.warns(LinAlgWarning, match="Columns vary on very different scales"):
        assert Lasso(0.1).fit(X, np.full(50, 4.0)).intercept_ == pytest.approx(4)
    with pytest.warns(LinAlgWarning, match=r"\(column 'c0'\) to .* \(column 'c4'\)"):
        LassoCV(alphas=[1.0, 0.1]).fit(frame(X), y)


def frame(X):
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def test_weights_must_mean_something():
    X, y, weights = problem()
    with pytest.raises(ValueError, match="at least one non-zero"):
        Lasso().fit(X, y, sample_weight=0 * weights)
    with pytest.raises(ValueError, match="Negative values"):
        Lasso().fit(X, y, sample_weight=weights - 1)
    assert np.array_equal(Lasso(0.1).fit(X, y, 3).coef_, Lasso(0.1).fit(X, y).coef_)


def test_callbacks_are_told_the_numbers_of_each_iteration():
    X, y = load_diabetes(return_X_y=True)

    class Listener:
        def __init__(self):
            self.seen = []

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            if context.task_name == "pass":
                m = fitted_estimator
                self.seen.append((m.objective_, m.dual_gap_, m.gradient_norm_, m.coef_))

    listener = Listener()
    model = Lasso(0.05, tol=1e-10).set_callbacks(listener).fit(X, y)
    assert len(listener.seen) == model.n_iter_ > 1
    objectives, gaps, norms, coefs = zip(*listener.seen, strict=True)
    assert list(objectives) == sorted(objectives, reverse=True)
    assert gaps[-1] == model.dual_gap_
    assert norms[-1] == model.gradient_norm_ < norms[0]
    assert not np.array_equal(coefs[0], coefs[-1])


@pytest.mark.parametrize("alpha_share", [0.5, 0.05, 0.002])
def test_it_agrees_with_scikit_learn_on_real_tables(data_folder, alpha_share):
    for X, y in real_tables(data_folder):
        largest = np.abs((X - X.mean(0)).T @ (y - y.mean())).max() / len(y)
        model = Lasso(alpha_share * largest, tol=1e-9).fit(X, y)
        other = their_fit(model, X, y)
        mine = objective(X, y, model.coef_, model.intercept_, model.alpha)
        others = objective(X, y, other.coef_, other.intercept_, model.alpha)
        assert mine - others <= model.dual_gap_ + 1e-13 * mine
        assert others - mine <= other.dual_gap_ + 1e-13 * mine
        assert np.abs(model.predict(X) - other.predict(X)).max() <= 1e-3 * np.std(y)


def real_tables(folder):
    """Tables with a number to predict, columns standardised."""
    wine = pd.read_csv(folder / "wine_quality" / "wine_quality.csv.gz").drop(columns="colour")
    yield scale(wine.drop(columns="quality")), wine["quality"].to_numpy(float)
    alcohol = wine["alcohol"].to_numpy()
    yield scale(np.vander(alcohol / 10, 12)[:, :-1]), wine["quality"].to_numpy(float)  # dependent
    longley = pd.read_csv(folder / "longley" / "longley.csv").to_numpy()
    yield scale(longley[:, :-1]), longley[:, -1]
    X, y = load_diabetes(return_X_y=True)
    yield X, y


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("shape", [(200, 30), (40, 300)])
@pytest.mark.parametrize("wanted", [1, 5, 17])
def test_a_number_of_features_can_be_asked_for(storage, shape, wanted):
    # H6: a lasso that keeps a wanted number of features
    rng = np.random.RandomState(5)
    X = rng.standard_normal(shape)
    y = X[:, :10] @ np.arange(1.0, 11) + rng.standard_normal(shape[0])
    model = Lasso(n_features=wanted, tol=1e-8).fit(storage(X), y)
    assert np.count_nonzero(model.coef_) == wanted
    plain = Lasso(model.alpha_, tol=1e-8).fit(storage(X), y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-3)
    assert model.stop_reason_ == "converged"


def test_too_many_features_cannot_be_asked_for():
    X, y, _ = problem()
    with pytest.raises(ValueError, match="n_features=9 is more than the 8 features of X"):
        Lasso(n_features=9).fit(X, y)
    with pytest.raises(ValueError, match="asks for one target; got 2"):
        Lasso(n_features=3).fit(X, np.column_stack([y, y]))
    wide = problem(6, 50)
    with pytest.warns(ConvergenceWarning, match="n_features=40 cannot be reached"):
        assert np.count_nonzero(Lasso(n_features=40).fit(*wide[:2]).coef_) <= 6


@pytest.mark.filterwarnings("ignore:Columns vary:scipy.linalg.LinAlgWarning")
def test_features_in_small_units_come_in_further_down_the_path():
    X, y, _ = problem(80, 5)
    X = np.column_stack([X, 1e12 * X[:, 0] + 1e11 * X[:, 1]])
    for wanted in (1, 2, 3):
        assert np.count_nonzero(Lasso(n_features=wanted).fit(X, y).coef_) == wanted


def test_another_number_of_features_than_asked_for_is_told():
    X, y, _ = problem(80, 4)
    with pytest.warns(ConvergenceWarning, match="n_features=5 cannot be reached; 4 is the nearest"):
        Lasso(n_features=5).fit(np.column_stack([X, np.ones(80)]), y)


def test_a_hundred_features_of_a_hundred_thousand_on_a_hundred_rows():
    """W9: company features by the thousand, and a hundred prices."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((100, 100_000))
    y = X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(100)
    model = Lasso(n_features=90, tol=1e-6).fit(X, y)
    assert 80 <= np.count_nonzero(model.coef_) <= 100
    assert model.dual_gap_ <= 1e-6 * np.var(y)
    assert np.count_nonzero(Lasso(n_features=5).fit(X, y).coef_) in (4, 5, 6)


@pytest.mark.parametrize(("shape", "tol"), [((300, 12), 0.05), ((40, 90), 1e-3)])
@pytest.mark.parametrize("Model", [ElasticNet, Lasso])
def test_a_fit_that_is_good_enough_goes_the_last_of_the_way(Model, shape, tol):
    X, y, _ = problem(*shape)
    X = X + X[:, :1]  # columns much alike: sweeps alone are slow
    rough, exact = Model(0.05, tol=tol).fit(X, y), Model(0.05, tol=1e-13).fit(X, y)
    np.testing.assert_allclose(rough.coef_, exact.coef_, atol=1e-8)
    assert rough.dual_gap_ < 1e-9 * np.var(y)


def test_without_a_penalty_it_is_least_squares_and_knows_it():
    X, y, _ = problem(60, 6)
    model = Lasso(alpha=0).fit(X, y)
    assert model.stop_reason_ == "converged"
    assert model.n_iter_ < 50
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-8)


@pytest.mark.parametrize("shape", [(60, 8), (15, 40)])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_a_trace_has_finite_numbers_from_the_beginning_and_for_several_targets(shape, n_targets):
    X, y, _ = problem(*shape)
    targets = y if n_targets == 1 else np.column_stack([y + k * X[:, 0] for k in range(3)])
    trace = Trace()
    model = Lasso(0.05, tol=1e-9).set_callbacks(trace).fit(X, targets)
    frame = trace.to_frame()
    numbers = frame[["objective", "dual_gap", "gradient_norm"]].to_numpy(float)
    assert np.isfinite(numbers).all()
    centred = targets - targets.mean(axis=0)
    assert numbers[0, 0] == pytest.approx((centred**2).sum() / (2 * len(X)))  # all weights zero
    assert (np.diff(numbers[:, 0]) <= 1e-12).all()
    assert numbers[-1, 0] == pytest.approx(np.sum(model.objective_))
    assert numbers[-1, 1] == pytest.approx(np.sum(model.dual_gap_))
    alone = Lasso(0.05, tol=1e-9).fit(X, targets)
    assert np.array_equal(alone.coef_, model.coef_)


def test_one_row_has_no_features_to_keep_and_no_arithmetic_to_warn_of():
    with pytest.warns(ConvergenceWarning, match="n_features=2 cannot be reached; 0 is the nearest"):
        Lasso(n_features=2).fit([[1.0, 2.0, 3.0]], [1.0])


@pytest.mark.parametrize("kind", [Lasso, ElasticNet])
@pytest.mark.parametrize("d", [4, 400])
def test_without_a_penalty_it_is_least_squares_and_no_warning(kind, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, d))
    y = X[:, 0] + rng.standard_normal(50)
    model = kind(alpha=0, tol=1e-10).fit(X, y)
    best = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean())[0]
    np.testing.assert_allclose(
        model.predict(X), X @ best + y.mean() - X.mean(axis=0) @ best, atol=1e-4
    )


def test_a_gram_matrix_given_is_checked_and_computed_anew():
    X, y, _ = problem()
    centred = X - X.mean(axis=0)
    expected = Lasso(0.1, tol=TIGHT).fit(centred, y)
    given = Lasso(0.1, tol=TIGHT, precompute=centred.T @ centred).fit(centred, y)
    np.testing.assert_array_equal(given.coef_, expected.coef_)
    with pytest.warns(UserWarning, match="Gram matrix was provided but X was centered") as told:
        Lasso(0.1, precompute=X.T @ X).fit(X + 1.0, y)
    assert told[0].filename == __file__
    with pytest.raises(
        ValueError, match=r"did not pass validation: element \(0, 0\) is .* X.T @ X"
    ):
        Lasso(0.1, precompute=2 * centred.T @ centred).fit(centred, y)
    with pytest.raises(ValueError, match=r"Gram matrix of X, \(8, 8\); got \(2, 2\)"):
        Lasso(0.1, precompute=np.eye(2)).fit(centred, y)


def test_small_weights_under_a_strong_penalty_have_all_their_digits():
    """The gap rounds to zero after one sweep, and weights were left with four digits."""
    X, y, _ = problem()
    alpha = 1e6
    expected = theirs.Ridge(alpha * len(y), solver="svd").fit(X, y).coef_
    np.testing.assert_allclose(
        ElasticNet(alpha, l1_ratio=0, tol=1e-11).fit(X, y).coef_, expected, rtol=1e-11
    )
