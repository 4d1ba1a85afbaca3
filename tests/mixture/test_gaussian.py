"""R1, R2, R4, R5, T11: EM beside its definition, scikit-learn's and k-means."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.mixture
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import GaussianMixture, KMeans, Trace, certify
from rosenblatt.mixture.components import Components, MixtureRows, roots_of

KINDS = ["full", "tied", "diag", "spherical"]
each_kind = pytest.mark.parametrize("kind", KINDS)


def rows(n=240, d=3, K=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X + 3 * rng.normal(size=(K, d))[rng.integers(K, size=n)]


def em_step(X, weights, means, covariances, row_weights):
    """One step as it is written down, with full covariances; and the log-likelihood before."""
    joint = np.array(
        [
            p * multivariate_normal(m, S).pdf(X)
            for p, m, S in zip(weights, means, covariances, strict=True)
        ]
    )
    likelihood = np.average(np.log(joint.sum(axis=0)), weights=row_weights)
    shares = joint / joint.sum(axis=0) * row_weights
    totals = shares.sum(axis=1)
    means = shares @ X / totals[:, None]
    covariances = [
        (r * (X - m).T) @ (X - m) / t for r, m, t in zip(shares, means, totals, strict=True)
    ]
    return totals / totals.sum(), means, np.array(covariances), likelihood


def test_every_step_is_that_of_the_definition():
    X, K = rows(), 3
    row_weights = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    weights, means = np.full(K, 1 / K), X[[0, 100, 200]]
    covariances = np.stack([np.cov(X.T)] * K)
    how = {"reg_covar": 0.0, "tol": 0.0, "weights_init": weights, "means_init": means}
    how |= {"precisions_init": np.linalg.inv(covariances)}
    likelihoods = []
    for n_iter in range(1, 6):
        weights, means, covariances, before = em_step(X, weights, means, covariances, row_weights)
        likelihoods.append(before)
        model = GaussianMixture(K, max_iter=n_iter, **how)
        with pytest.warns(ConvergenceWarning, match="did not converge"):
            model.fit(X, sample_weight=row_weights)
        np.testing.assert_allclose(model.weights_, weights, rtol=1e-9)
        np.testing.assert_allclose(model.means_, means, rtol=1e-9)
        np.testing.assert_allclose(model.covariances_, covariances, rtol=1e-8)
        np.testing.assert_allclose(model.lower_bounds_, likelihoods, rtol=1e-12)


@each_kind
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_from_the_same_start_it_ends_where_scikit_learn_does(kind, dtype):
    X = rows(700, 5, 3).astype(dtype)
    how = {"covariance_type": kind, "means_init": X[:3], "random_state": 0, "max_iter": 500}
    ours = GaussianMixture(3, **how).fit(X)
    theirs = sklearn.mixture.GaussianMixture(3, **how).fit(X.astype(np.float64))
    assert ours.n_iter_ == theirs.n_iter_
    close = {"rtol": 1e-9, "atol": 1e-9} if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-4}
    for name in ("weights_", "means_", "covariances_", "precisions_", "lower_bounds_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), **close)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), **close)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), **close)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert ours.bic(X) == pytest.approx(theirs.bic(X), rel=close["rtol"])
    assert ours.aic(X) == pytest.approx(theirs.aic(X), rel=close["rtol"])
    assert ours.n_parameters_ == theirs._n_parameters()


@each_kind
@pytest.mark.parametrize("hard", [False, True])
def test_the_likelihood_never_falls_and_shares_sum_to_one(kind, hard):
    for seed in range(3):
        X = rows(150, 2, 4, seed) + 1000
        model = GaussianMixture(
            3, covariance_type=kind, reg_covar=0.0, tol=1e-9, max_iter=2000, random_state=seed,
            assignment="hard" if hard else "soft",
        ).fit(X)  # fmt: skip
        assert (np.diff(model.lower_bounds_) >= -1e-10).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
        assert model.weights_.sum() == pytest.approx(1, rel=1e-14)
        np.testing.assert_allclose(model.weights_ @ model.means_, X.mean(axis=0), rtol=1e-13)


def test_hard_assignments_with_a_known_variance_are_k_means():
    X = rows(300, 2, 4)
    start = X[:4]
    kmeans = KMeans(4, init=start, tol=0).fit(X)
    for variance in (0.01, 1.0, 50.0):
        model = GaussianMixture(
            4, covariance_type="spherical", known_variance=variance, assignment="hard",
            means_init=start, tol=1e-12, random_state=0,
        ).fit(X)  # fmt: skip
        np.testing.assert_allclose(model.means_, kmeans.cluster_centers_, rtol=1e-12)
        assert np.array_equal(model.predict(X), kmeans.labels_)


def test_soft_assignments_follow_k_means_as_the_variance_shrinks():
    X = rows(300, 2, 4)
    kmeans = KMeans(4, init=X[:4], tol=0).fit(X)
    far = []
    for variance in (1.0, 1e-2, 1e-4):
        model = GaussianMixture(
            4, covariance_type="spherical", known_variance=variance, means_init=X[:4], tol=1e-9,
            max_iter=1000, random_state=0,
        ).fit(X)  # fmt: skip
        far.append(np.abs(model.means_ - kmeans.cluster_centers_).max())
    assert far[-1] < 1e-6
    assert far[-1] < far[0]


@each_kind
def test_pieces_train_together(kind):
    X = rows()
    how = {"covariance_type": kind, "tol": 0.0, "random_state": 0}
    with pytest.warns(ConvergenceWarning):
        model = GaussianMixture(3, max_iter=1, **how).fit(X)
    with pytest.warns(ConvergenceWarning):
        whole = GaussianMixture(3, max_iter=4, **how).fit(X)
    for _ in range(3):
        pieces = [model.measure(piece) for piece in np.array_split(X, 3)]
        model = GaussianMixture.from_statistics(sum(pieces[1:], pieces[0]), covariance_type=kind)
    np.testing.assert_allclose(model.means_, whole.means_, rtol=1e-10)
    np.testing.assert_allclose(model.covariances_, whole.covariances_, rtol=1e-9)


def test_starts_report_their_ends_and_the_likeliest_is_kept():
    X = rows(200, 2, 4)
    model = GaussianMixture(4, n_init=5, init_params="random", max_iter=500, random_state=0).fit(X)
    assert model.start_bounds_.shape == (5,)
    assert model.lower_bound_ == model.start_bounds_.max()
    assert model.stop_reason_ == "converged"


def test_a_component_that_collapses_is_named():
    X = np.concatenate([np.random.default_rng(0).normal(size=(100, 2)), [[50.0, 50.0]] * 3])
    with pytest.warns(ConvergenceWarning, match="Component 1 has collapsed onto rows of weight 3"):
        GaussianMixture(2, means_init=[[0.0, 0.0], [50.0, 50.0]], random_state=0).fit(X)


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_a_component_that_collapses_is_named_beside_a_constant_column(kind):
    """A column without spread silenced the warning; alone it is no collapse."""
    X = np.column_stack([np.random.default_rng(0).normal(size=100), np.ones(100)])
    far = np.concatenate([X, [[50.0, 1.0]]])
    how = {"covariance_type": kind, "means_init": [[0.0, 1.0], [50.0, 1.0]], "random_state": 0}
    with pytest.warns(ConvergenceWarning, match="Component 1 has collapsed onto rows of weight 1"):
        GaussianMixture(2, **how).fit(far)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianMixture(covariance_type=kind).fit(X)


@pytest.mark.parametrize(
    ("X", "how", "weights", "match"),
    [
        ([[0.0], [np.nan]], {}, None, "NaN"),
        ([[0.0], [1.0]], {"n_components": 3}, None, "n_samples >= n_components"),
        ([[0.0], [1.0]], {}, [0, 0], "non-zero"),
        ([[0.0], [1.0]], {}, [-1, 1], "Negative"),
        ([[1.0, 0.0], [1.0, 1.0], [1.0, 5.0]], {"reg_covar": 0.0}, None, "It is component 0"),
        ([[0.0], [1.0]], {"known_variance": 1.0}, None, "must be 'spherical'"),
    ],
)
def test_bad_input_is_refused(X, how, weights, match):
    with pytest.raises(ValueError, match=match):
        GaussianMixture(**how).fit(X, sample_weight=weights)


def test_a_constant_column_is_no_collapse():
    X = np.column_stack([np.full(50, 3.0), np.random.default_rng(0).normal(size=50)])
    model = GaussianMixture(2, random_state=0, max_iter=1000).fit(X)
    np.testing.assert_allclose(model.means_[:, 0], 3.0)


def test_a_trace_has_the_parameters_of_every_iteration():
    X, trace = rows(), Trace()
    model = GaussianMixture(3, random_state=0).set_callbacks(trace).fit(X)
    assert len(trace) == model.n_iter_ + 1
    assert np.array_equal(trace[-1].estimator.means_, model.means_)
    objective = trace.to_frame()["objective"].iloc[1:]
    assert (np.diff(objective) <= 1e-6).all()


def test_draws_have_the_moments_of_the_mixture():
    model = GaussianMixture(2, random_state=0).fit(rows(K=2))
    X, components = model.sample(20_000)
    assert np.array_equal(np.unique(components), [0, 1])
    np.testing.assert_allclose(X.mean(axis=0), model.weights_ @ model.means_, atol=0.1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize(("n", "d", "K"), [(3, 1, 1), (96, 2, 3), (205, 5, 2), (311, 24, 5)])
def test_sums_by_products_are_those_by_factors(n, d, K, hard, dtype, monkeypatch):
    X = rows(n, d, K).astype(dtype)
    weights = np.random.default_rng(1).integers(0, 3, n) / 2 + (np.arange(n) == 0)
    spread = np.stack([np.atleast_2d(np.cov(X.T)) + np.eye(d)] * K)
    start = Components(np.full(K, 1 / K), X[:K], spread, roots_of(spread, "full"), "full")
    by_products = MixtureRows(X, weights).expected(start, hard, True)
    monkeypatch.setattr("rosenblatt.mixture.components.MOST_LOST", 0.0)
    by_factors = MixtureRows(X, weights).expected(start, hard, True)
    np.testing.assert_allclose(by_products[0], by_factors[0], rtol=1e-11)
    for found, wanted in zip(by_products[1], by_factors[1], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


def test_narrow_components_far_apart_keep_their_digits():
    X = np.random.default_rng(0).normal(size=(400, 3))
    side = np.repeat([-1e6, 1e6], 200)
    near = 1e-2 * X + side[:, None]
    model = GaussianMixture(2, reg_covar=0.0, random_state=0).fit(near)
    order = model.means_[:, 0].argsort()
    for k, sign in zip(order, [-1e6, 1e6], strict=True):
        exact = np.cov(near[side == sign].T - sign, bias=True)
        np.testing.assert_allclose(model.covariances_[k], exact, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize(("settings", "columns"), [({"n_components": 3}, 3), ({}, 2)])
def test_a_warm_start_from_another_shape_is_refused(settings, columns):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = GaussianMixture(2, warm_start=True, random_state=0, max_iter=500).fit(X)
    assert len(model.fit(X).means_) == 2
    with pytest.raises(ValueError, match="Use warm_start=False"):
        model.set_params(**settings).fit(X[:, :columns])


@each_kind
def test_the_unit_of_the_weights_does_not_matter(kind):
    X = rows()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(X))
    model = GaussianMixture(3, covariance_type=kind, random_state=0)
    means = model.fit(X, sample_weight=weights).means_
    small = model.fit(X, sample_weight=weights * 1e-40).means_
    np.testing.assert_allclose(small, means, rtol=1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_starts_are_drawn_among_rows_that_count():
    X = np.vstack([np.zeros((20, 2)), np.random.RandomState(0).standard_normal((20, 2)) + 9])
    weights = np.repeat([0.0, 1.0], 20)
    for seed in range(10):
        model = GaussianMixture(2, init_params="random_from_data", random_state=seed)
        model.fit(X, sample_weight=weights)
        assert (model.means_ > 3).all()


def test_a_known_variance_is_kept_when_all_else_is_given():
    X = np.random.RandomState(0).standard_normal((30, 2))
    model = GaussianMixture(
        2, covariance_type="spherical", known_variance=4.0, weights_init=[0.9, 0.1],
        means_init=[[0, 0], [1, 1]], precisions_init=[100.0, 100.0], max_iter=0,
    ).fit(X)  # fmt: skip
    np.testing.assert_array_equal(model.covariances_, [4.0, 4.0])
    np.testing.assert_array_equal(model.weights_, [0.5, 0.5])


def test_shares_of_a_data_frame_are_certified():
    X = pd.DataFrame(np.random.RandomState(0).standard_normal((80, 2)), columns=["a", "b"])
    model = GaussianMixture(2, random_state=0, tol=1e-6, max_iter=500).fit(X)
    names = {claim.name for claim in certify(model, X).claims}
    assert {"likelihood", "sums", "shares"} <= names
    with pytest.raises(ValueError, match="egative"):
        model.measure(X, sample_weight=np.full(80, -1.0))


@pytest.mark.parametrize("name", ["lower_bound_", "lower_bounds_"])
@pytest.mark.parametrize("by", [1.0, np.nan])
def test_a_changed_bound_fails_its_certificate(name, by):
    X = np.random.RandomState(0).standard_normal((200, 2))
    model = GaussianMixture(2, random_state=0, tol=1e-6, max_iter=1000).fit(X)
    assert certify(model, X).holds
    setattr(model, name, np.add(getattr(model, name), by).tolist())
    assert not certify(model, X).holds
