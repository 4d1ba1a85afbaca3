"""LogisticRegression: the optimum, how it is reached, and what is said of it."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.preprocessing import StandardScaler

from rosenblatt import LogisticRegression
from rosenblatt.runtime import threads

SOLVERS = ["auto", "newton", "lbfgs", "gradient", "coordinate"]
THEIR_SOLVERS = ["lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"]


def noisy(n_classes=2, n_rows=300, seed=0):
    return make_classification(
        n_rows, 7, n_informative=5, n_redundant=0, n_classes=n_classes, flip_y=0.1,
        random_state=seed,
    )  # fmt: skip


def objective(model, X, y, C=1.0, r=0.0, weight=None):
    """r |w|_1 + (1-r)/2 |w|^2 + C sum of losses, from the public attributes."""
    w = model.coef_
    own = model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    weight = np.ones(len(y)) if weight is None else weight
    penalty = r * np.abs(w).sum() + (1 - r) / 2 * (w**2).sum()
    return -weight @ own if np.isinf(C) else penalty - C * weight @ own


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [0.01, 1.0, np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_solver_finds_the_optimum_of_scikit_learn(solver, n_classes, C, sparse):
    # K8, S1: any way uphill ends at the same maximum
    X, y = noisy(n_classes)
    theirs = Theirs(C=C, tol=1e-9, max_iter=10_000).fit(X, y)
    model = LogisticRegression(C=C, solver=solver, tol=1e-7, max_iter=5000)
    model.fit(sp.csr_matrix(X) if sparse else X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=2e-4)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=2e-4)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=2e-4)
    assert model.objective_ == pytest.approx(objective(model, X, y, C), rel=1e-9)
    assert model.objective_ <= objective(theirs, X, y, C) + model.dual_gap_


@pytest.mark.parametrize("r", [0.3, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_l1_and_elastic_net_agree_with_scikit_learn(r, n_classes, sparse):
    X, y = noisy(n_classes)
    theirs = Theirs(C=0.05, l1_ratio=r, solver="saga", tol=1e-9, max_iter=100_000).fit(X, y)
    model = LogisticRegression(C=0.05, l1_ratio=r, tol=1e-7)
    model.fit(sp.csr_matrix(X) if sparse else X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-4)
    assert np.array_equal(model.coef_ == 0, theirs.coef_ == 0)
    assert model.objective_ == pytest.approx(objective(model, X, y, 0.05, r), rel=1e-9)


@pytest.mark.parametrize("solver", THEIR_SOLVERS)
def test_every_solver_name_of_scikit_learn_is_accepted(solver):
    X, y = noisy()
    model = LogisticRegression(solver=solver, tol=1e-8, max_iter=1000).fit(X, y)
    expected = LogisticRegression(tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)


@pytest.mark.parametrize(
    "solver", ["lbfgs", "newton", "newton-cg", "newton-cholesky", "sag", "sgd"]
)
def test_solvers_that_never_reach_zero_refuse_l1(solver):
    X, y = noisy()
    with pytest.raises(ValueError, match=f"solver='{solver}' supports only L2 or no penalty"):
        LogisticRegression(solver=solver, l1_ratio=1.0).fit(X, y)


def test_stochastic_steps_come_near():
    # K7, S2: one example at a time
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match="the gradient is"):
        model = LogisticRegression(solver="sgd", random_state=0, tol=1e-6).fit(X, y)
    best = LogisticRegression(tol=1e-9).fit(X, y)
    assert 0 <= model.objective_ - best.objective_ <= model.dual_gap_
    assert model.objective_ < 1.001 * best.objective_


@pytest.mark.parametrize("C", [0.1, 1.0, np.inf])
def test_reference_form_is_the_multinomial_logit(C):
    # K6: several classes, with or without a reference class
    X, y = noisy(3)
    model = LogisticRegression(C=C, softmax="reference", tol=1e-8).fit(X, y)
    assert np.all(model.coef_[-1] == 0)
    assert model.intercept_[-1] == 0
    symmetric = LogisticRegression(C=C, tol=1e-8).fit(X, y)
    same = np.allclose(model.predict_proba(X), symmetric.predict_proba(X), atol=1e-5)
    assert same == np.isinf(C)  # the penalised optima differ
    # At the optimum X'(y - p) = w / C, for each class that has weights.
    Y = (y[:, None] == model.classes_).astype(float)
    pull = (Y - model.predict_proba(X)).T @ X
    np.testing.assert_allclose(pull[:-1], model.coef_[:-1] / C, atol=1e-3)
    np.testing.assert_allclose(np.sum(Y - model.predict_proba(X), axis=0), 0, atol=1e-3)


def test_two_classes_need_no_reference():
    X, y = noisy()
    first = LogisticRegression(softmax="reference").fit(X, y)
    assert np.array_equal(first.coef_, LogisticRegression().fit(X, y).coef_)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_the_published_gap_is_proved_and_meets_tol(solver, l1_ratio):
    if l1_ratio and solver not in ("auto", "gradient", "coordinate"):
        pytest.skip("takes no L1")
    X, y = noisy()
    model = LogisticRegression(l1_ratio=l1_ratio, solver=solver, max_iter=5000).fit(X, y)
    best = LogisticRegression(l1_ratio=l1_ratio, tol=1e-9, max_iter=1000).fit(X, y)
    assert model.stop_reason_ == "converged"
    assert model.objective_ - best.objective_ <= model.dual_gap_
    share = np.mean(y)
    without_weights = -len(y) * (share * np.log(share) + (1 - share) * np.log(1 - share))
    assert model.dual_gap_ <= 1e-4 * without_weights
    assert model.gradient_norm_ <= 1e-4 * len(y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.5}])
def test_weights_are_those_of_scikit_learn(n_classes, class_weight):
    X, y = noisy(n_classes)
    weight = np.random.RandomState(0).uniform(0, 3, len(y))
    ours = LogisticRegression(class_weight=class_weight, tol=1e-8).fit(X, y, weight)
    theirs = Theirs(class_weight=class_weight, tol=1e-9, max_iter=10_000).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


@given(
    seed=st.integers(0, 50),
    n_classes=st.sampled_from([2, 3]),
    solver=st.sampled_from(["auto", "lbfgs", "coordinate"]),
)
def test_weights_equal_repetition_and_the_order_of_rows_does_not_matter(seed, n_classes, solver):
    X, y = noisy(n_classes, n_rows=60, seed=seed)
    rng = np.random.RandomState(seed)
    weight = rng.randint(0, 4, len(y))
    weight[[np.flatnonzero(y == k)[0] for k in range(n_classes)]] = 1
    order = rng.permutation(len(y))
    model = LogisticRegression(solver=solver, tol=1e-10, max_iter=1000)
    weighted = clone(model).fit(X, y, weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    shuffled = clone(model).fit(X[order], y[order], weight[order])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    np.testing.assert_allclose(weighted.coef_, shuffled.coef_, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_do_not_change_a_bit_of_the_sampled_fit(n_classes):
    X, y = noisy(n_classes, n_rows=120_000)
    X = np.hstack([X, X**2, np.sin(3 * X), np.cos(2 * X), X**3 / 10])
    fits = []
    for n_threads in (1, 3):
        with threads.limit(n_threads):
            fits.append(LogisticRegression(solver="newton").fit(X, y).coef_)
    assert np.array_equal(*fits)


def test_a_warm_start_is_the_previous_fit():
    X, y = noisy(3)
    model = LogisticRegression(warm_start=True, solver="lbfgs", tol=1e-6, max_iter=1000).fit(X, y)
    first = model.n_iter_[0]
    assert model.set_params(C=1.01).fit(X, y).n_iter_[0] < first
    with pytest.raises(ValueError, match="warm_start=True continues the previous fit"):
        model.fit(X[:, :3], y)
    reference = LogisticRegression(warm_start=True, softmax="reference").fit(X, y)
    assert reference.fit(X, y).n_iter_[0] <= 2


def test_no_iterations_is_the_start():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match="max_iter=0 is reached"):
        model = LogisticRegression(max_iter=0).fit(X, y)
    assert not model.coef_.any()
    assert model.stop_reason_ == "max_iter"


def test_a_fit_that_falls_short_says_by_how_much():
    # S4: stopping on a small gradient
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match=r"gradient is .* long, wanted .*max_iter=2"):
        LogisticRegression(solver="gradient", max_iter=2).fit(X, y)


def test_a_step_that_is_too_large_is_named_and_leaves_finite_coefficients():
    # S3: choosing the step
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match=r"diverged .*eta0=1.0 is too large"):
        model = LogisticRegression(solver="gradient", eta0=1.0, C=10).fit(X, y)
    assert model.stop_reason_ == "diverged"
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_proba(X)).all()
    with pytest.warns(ConvergenceWarning, match=r"eta0=1e\+300 is too large"):
        model = LogisticRegression(solver="sgd", eta0=1e300, C=10).fit(1e10 * X, y)
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_badly_scaled_columns_are_fitted_all_the_same(scale):
    X, y = noisy()
    X = X * np.array([scale, 1, 1, 1 / scale, 1, 1, 1])
    model = LogisticRegression(C=np.inf).fit(X, y)
    plain = LogisticRegression(C=np.inf).fit(noisy()[0], y)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(noisy()[0]), atol=1e-3)


def test_numbers_too_large_for_a_gradient_are_refused():
    X, y = noisy()
    with pytest.raises(ValueError, match=r"Numbers up to .* are too large"):
        LogisticRegression().fit(1e306 * X, y)


def test_scores_beyond_floating_point_are_refused_not_nan():
    X, y = noisy(3)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="rescale the features"):
        model.predict_proba(np.full((2, 7), 1e308) * np.sign(model.coef_[0]))


def test_constant_and_repeated_columns_do_no_harm():
    X, y = noisy()
    doubled = np.hstack([X, X, np.ones((len(X), 1)), np.zeros((len(X), 1))])
    penalised = LogisticRegression(tol=1e-6).fit(doubled, y)
    with pytest.warns(LinAlgWarning, match=r"constant: 14, 15; linearly dependent: 0, 7; 1, 8;"):
        free = LogisticRegression(C=np.inf, tol=1e-6).fit(doubled, y)
    for model in (penalised, free):
        assert model.stop_reason_ == "converged"
        assert np.isfinite(model.coef_).all()


def test_one_class_is_refused():
    with pytest.raises(ValueError, match=r"greater than one; y has 1 class: \[0\]"):
        LogisticRegression().fit([[1.0], [2.0]], [0, 0])


def test_no_weight_at_all_is_refused():
    with pytest.raises(ValueError, match="some row a positive weight"):
        LogisticRegression(class_weight={0: 0, 1: 0}).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize(
    ("parameters", "same"),
    [
        ({"penalty": "l2"}, {}),
        ({"penalty": "l1", "l1_ratio": 1.0}, {"l1_ratio": 1.0}),
        ({"penalty": "elasticnet", "l1_ratio": 0.4}, {"l1_ratio": 0.4}),
        ({"penalty": None}, {"C": np.inf}),
    ],
)
def test_the_deprecated_penalty_means_what_it_meant(parameters, same):
    X, y = noisy()
    with pytest.warns(FutureWarning, match="was deprecated in scikit-learn 1.8"):
        model = LogisticRegression(**parameters).fit(X, y)
    assert np.array_equal(model.coef_, LogisticRegression(**same).fit(X, y).coef_)


def test_n_jobs_is_deprecated():
    X, y = noisy()
    with pytest.warns(FutureWarning, match=r"'n_jobs' has no effect.*got n_jobs=1"):
        LogisticRegression(n_jobs=1).fit(X, y)


@pytest.mark.parametrize("solver", ["newton-cg", "newton-cholesky"])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_newton_goes_on_from_a_warm_start_as_if_never_stopped(solver, C):
    """Conjugate gradients used to measure their first step after a restart by other curvatures."""
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        at_once = LogisticRegression(solver=solver, C=C, max_iter=3).fit(X, y)
        in_steps = LogisticRegression(solver=solver, C=C, max_iter=1, warm_start=True)
        for _ in range(3):
            in_steps.fit(X, y)
    np.testing.assert_allclose(in_steps.coef_, at_once.coef_, rtol=1e-7)


def test_too_few_iterations_begin_with_scikit_learns_words():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match=r"^Newton solver did not converge after 1 iter.*"):
        LogisticRegression(solver="newton-cholesky", max_iter=1, tol=1e-12).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"^LogisticRegression stopped short of tol=1e-12"):
        LogisticRegression(max_iter=1, tol=1e-12).fit(X, y)


def test_contradicting_parameters_are_reported():
    X, y = noisy()
    with pytest.warns() as told:
        LogisticRegression(penalty="l2", l1_ratio=0.5).fit(X, y)
    text = " ".join(str(warning.message) for warning in told)
    assert "only used when penalty is 'elasticnet'" in text
    assert "Inconsistent values" in text
    with pytest.warns() as told:
        LogisticRegression(penalty=None, C=2.0).fit(X, y)
    assert any("ignore the C" in str(warning.message) for warning in told)


def test_verbose_tells_of_each_iteration(capsys):
    X, y = noisy()
    model = LogisticRegression(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_[0]
    assert lines[0].startswith("iteration 1: objective ")
    gaps = [float(line.split("gap ")[1]) for line in lines]
    assert np.isfinite(gaps).all()
    assert gaps[-1] == pytest.approx(model.dual_gap_, rel=1e-2)
    assert np.array_equal(LogisticRegression().fit(X, y).coef_, model.coef_)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_probabilities_sum_to_one_and_their_logarithms_agree(load):
    # K1, K5: probabilities, and the class of the largest
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression().fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P)
    assert np.array_equal(model.predict(X), model.classes_[P.argmax(axis=1)])
    assert np.isfinite(model.predict_log_proba(1e6 * X)).all()


def test_a_hundred_thousand_columns_and_a_hundred_rows():
    rng = np.random.RandomState(0)
    X, y = sp.random(100, 100_000, 0.01, "csr", random_state=rng), rng.randint(2, size=100)
    dense_enough = LogisticRegression().fit(X, y)
    assert dense_enough.stop_reason_ == "converged"
    assert dense_enough.score(X, y) == 1.0
    sparse = LogisticRegression(l1_ratio=1.0, C=5.0).fit(X, y)
    assert sparse.stop_reason_ == "converged"
    assert np.count_nonzero(sparse.coef_) < 400


@pytest.mark.parametrize("n", [2_000, 8_000])
def test_weights_to_begin_at_need_not_sum_to_zero_over_classes(n):
    X, y = make_classification(n, 20, n_informative=10, n_classes=8, random_state=0)
    model = LogisticRegression(warm_start=True, tol=1e-6).fit(X, y)
    best = model.objective_
    model.coef_ = model.coef_ + 5 * np.random.default_rng(0).normal(size=(1, 20))
    model.intercept_ = model.intercept_ + 1e4
    model.fit(X, y)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert model.n_iter_[0] <= 3


@pytest.mark.parametrize("C", [1e-8, 1.0])
@pytest.mark.parametrize("listened", [0, 1])
def test_one_iteration_is_no_divergence(C, listened, capsys):
    X = np.random.default_rng(0).normal(size=(5_000, 10))
    model = LogisticRegression(C=C, max_iter=1, verbose=listened)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 is reached"):
        assert model.fit(X, np.arange(5_000) % 10).stop_reason_ == "max_iter"


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
def test_with_a_reference_class_the_gap_is_known_too(C):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(C=C, softmax="reference").fit(X, y)
    assert model.stop_reason_ == "converged"
    assert model.dual_gap_ < 0.01 * model.objective_
