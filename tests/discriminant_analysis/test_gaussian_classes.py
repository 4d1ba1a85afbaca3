"""Linear and quadratic discriminant analysis: the theory, scikit-learn's numbers, the algebra."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.discriminant_analysis as sk
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.covariance import OAS
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError

from rosenblatt import LinearDiscriminantAnalysis as LDA
from rosenblatt import QuadraticDiscriminantAnalysis as QDA
from rosenblatt.statistics import Moments
from tests.reference import gaussians as reference

BOTH = [LDA(), LDA(solver="eigen", shrinkage=0.2), LDA(covariance="diagonal"), QDA(),
        QDA(covariance="diagonal")]  # fmt: skip
each = pytest.mark.parametrize("model", BOTH, ids=repr)


def clouds(n=200, d=3, k=3, seed=0, shift=0.0):
    """Gaussian classes of different covariances; the rows (n, d) and labels (n,)."""
    rng = np.random.default_rng([n, d, k, seed])
    y = rng.permutation(np.arange(n) % k)
    X = np.empty((n, d))
    for c in range(k):
        here = y == c
        X[here] = rng.normal(size=(here.sum(), d)) @ rng.normal(size=(d, d))
        X[here] += 2 * rng.normal(size=d) + shift
    return X, np.array(["a", "b", "c", "d"])[y]


def same(a, b, X, tol=1e-9):
    np.testing.assert_array_equal(a.classes_, b.classes_)
    scale = np.abs(b.decision_function(X)).max()
    np.testing.assert_allclose(
        a.decision_function(X), b.decision_function(X), rtol=tol, atol=tol * scale
    )


# What scikit-learn finds


SETTINGS = [
    (LDA, {}),
    (LDA, {"store_covariance": True, "n_components": 1}),
    (LDA, {"solver": "lsqr"}),
    (LDA, {"solver": "lsqr", "shrinkage": 0.3}),
    (LDA, {"solver": "lsqr", "shrinkage": "auto"}),
    (LDA, {"solver": "lsqr", "covariance_estimator": OAS()}),
    (LDA, {"solver": "eigen"}),
    (LDA, {"solver": "eigen", "shrinkage": 0.3}),
    (LDA, {"solver": "eigen", "shrinkage": "auto"}),
    (QDA, {}),
    (QDA, {"reg_param": 0.2, "store_covariance": True}),
    (QDA, {"solver": "eigen", "shrinkage": 0.2, "store_covariance": True}),
    (QDA, {"solver": "eigen", "shrinkage": "auto"}),
    (QDA, {"solver": "eigen", "covariance_estimator": OAS()}),
]


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("given_priors", [False, True])
@pytest.mark.parametrize(("Model", "settings"), SETTINGS)
def test_it_agrees_with_scikit_learn(Model, settings, given_priors, load):
    X, y = load(return_X_y=True)
    X = X / X.std(axis=0)
    n_classes = len(np.unique(y))
    priors = np.arange(1.0, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    settings = {**settings, "priors": priors if given_priors else None}
    if Model is QDA:
        settings["tol"] = 1e-8
    ours, theirs = (M(**settings).fit(X, y) for M in (Model, getattr(sk, Model.__name__)))
    for name in ("means_", "priors_", "xbar_", "coef_", "intercept_", "explained_variance_ratio_",
                 "covariance_"):  # fmt: skip
        assert hasattr(ours, name) == hasattr(theirs, name), name
        if hasattr(theirs, name):
            found, expected = np.asarray(getattr(ours, name)), np.asarray(getattr(theirs, name))
            atol = 1e-9 * np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=atol, err_msg=name)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    same(ours, theirs, X)
    if Model is LDA and settings.get("solver") != "lsqr":
        # axes have no sign of their own
        a, b = ours.transform(X), theirs.transform(X)
        np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-9 * np.abs(b).max())
    if Model is QDA:
        for k in range(n_classes):
            np.testing.assert_allclose(ours.scalings_[k], theirs.scalings_[k], rtol=1e-8)
            turned = np.abs(ours.rotations_[k].T @ theirs.rotations_[k])
            np.testing.assert_allclose(turned, np.eye(X.shape[1]), atol=1e-5)


def test_letters(data_folder):
    cells = np.genfromtxt(data_folder / "letter" / "letter.csv.gz", delimiter=",", dtype=str)
    where = 0 if not cells[1, 0].lstrip("-").isdigit() else -1
    y, X = cells[1:, where], np.delete(cells, where, axis=1)[1:].astype(float)
    for Model in (LDA, QDA):
        ours, theirs = Model().fit(X, y), getattr(sk, Model.__name__)().fit(X, y)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_collinear_features_are_dropped_as_scikit_learn_does():
    X, y = clouds()
    X = np.hstack([X, X[:, :1] + X[:, 1:2], np.ones((len(X), 1))])
    ours, theirs = LDA().fit(X, y), sk.LinearDiscriminantAnalysis().fit(X, y)
    assert ours.rank_ == 3
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    without = LDA().fit(X[:, :3], y)
    np.testing.assert_allclose(ours.predict_proba(X), without.predict_proba(X[:, :3]), atol=1e-8)


# The theory


def test_joint_densities_are_bayes_rule_written_out():
    # G2: one Gaussian per class: linear and quadratic boundaries
    X, y = clouds()
    model = QDA().fit(X, y)
    for x in X[:5]:
        joint = reference.log_joint(X, y, x)
        scores = np.array([joint[c] for c in model.classes_])
        np.testing.assert_allclose(model.score_samples([x])[0], np.log(np.exp(scores).sum()))
        posterior = np.exp(scores - scores.max())
        np.testing.assert_allclose(model.predict_proba([x])[0], posterior / posterior.sum())


def test_equal_covariances_make_quadratic_boundaries_linear():
    X, y = clouds(k=2)
    X[y == "b"] = X[y == "a"] + [1, 2, 3]
    grid = np.random.default_rng(0).normal(size=(50, 3))
    same(QDA().fit(X, y), LDA(tol=0).fit(X, y), grid)


def test_the_regions_of_linear_discriminants_are_convex():
    # I2, T13: the midpoint of two points of one region is in it.
    X, y = clouds(k=4, n=400)
    model = LDA().fit(X, y)
    rng = np.random.default_rng(0)
    a, b = rng.normal(scale=4, size=(2, 5000, 3))
    of_a = model.predict(a)
    alike = of_a == model.predict(b)
    assert alike.sum() > 500
    np.testing.assert_array_equal(model.predict((a + b) / 2)[alike], of_a[alike])


def test_nothing_beats_the_true_distribution():
    # T4: two known Gaussians; the rule with the true densities errs least, and the fitted
    # model, on enough rows, errs as much.
    rng = np.random.default_rng(0)

    def draw(n):
        y = rng.integers(2, size=n)
        return np.where(y[:, None] == 1, rng.normal([1, 0], [2, 1], (n, 2)),
                        rng.normal([-1, 0], [1, 1], (n, 2))), y  # fmt: skip

    def bayes(X):
        first = -0.5 * ((X[:, 0] + 1) ** 2)
        second = -0.5 * ((X[:, 0] - 1) / 2) ** 2 - np.log(2)
        return (second > first).astype(int)

    X, y = draw(200_000)
    best = np.mean(bayes(X) != y)
    quadratic = QDA().fit(*draw(50_000))
    floor = np.mean(1 - quadratic.predict_proba(X).max(axis=1))  # E[1 - max P(y | x)]
    assert floor == pytest.approx(best, abs=0.003)
    rows = draw(50_000)
    others = [np.mean(M().fit(*rows).predict(X) != y) for M in (LDA, QDA)]
    others += [np.mean((X @ w > t) != y) for w in ([1, 0], [1, 1]) for t in (-0.5, 0, 0.5)]
    assert all(error > best - 0.002 for error in others)
    assert others[1] < best + 0.002, "the quadratic model is of the true kind"
    assert others[0] > best + 0.005, "the linear one is not"


@each
def test_samples_are_of_the_model(model):
    # G3: a model fitted to draws from a model is that model again.
    X, y = clouds(n=600)
    model = clone(model).set_params(**({"shrinkage": None} if model.solver == "eigen" else {}))
    model.fit(X, y)
    drawn, labels = model.sample(60_000, random_state=0)
    again = clone(model).fit(drawn, labels)
    np.testing.assert_allclose(again.priors_, model.priors_, atol=0.02)
    np.testing.assert_allclose(again.means_, model.means_, atol=0.12)
    assert np.mean(again.predict(X) == model.predict(X)) > 0.98
    np.testing.assert_allclose(again.score_samples(X), model.score_samples(X), rtol=0.1, atol=0.3)
    np.testing.assert_array_equal(drawn, model.sample(60_000, random_state=0)[0])
    with pytest.raises(ValueError, match="n_samples must be an integer >= 1; got 0"):
        model.sample(0)


@each
@pytest.mark.parametrize("k", [2, 3])
def test_an_explanation_adds_up_to_the_log_odds(model, k):
    X, y = clouds(k=k)
    model = clone(model).fit(X, y)
    for x in X[:5]:
        log_probabilities = model.predict_log_proba([x])[0]
        explanation = model.explain(x)
        w, r = (list(model.classes_).index(c) for c in (explanation.winner, explanation.rival))
        assert explanation.winner == model.predict([x])[0]
        odds = log_probabilities[w] - log_probabilities[r]
        assert explanation.log_odds == pytest.approx(odds, rel=1e-7, abs=1e-8)
        total = explanation.start + explanation.contributions.sum()
        assert total == pytest.approx(explanation.log_odds)
    with pytest.raises(ValueError, match="rival must be a class other"):
        model.explain(X[0], rival="z")
    assert "log-odds" in str(model.explain(sp.csr_matrix(X[:1])))


@each
def test_probabilities_are_sound_at_the_ends_of_the_world(model):
    X, y = clouds(k=3)
    model = clone(model).fit(X, y)
    for far in (1e3, 1e100):
        found = model.predict_proba(np.full((1, 3), far))
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(), 1)
    with pytest.raises(ValueError, match=r"NaN|range of floating point"):
        model.predict_proba([[np.nan, 0, 0]])
    with pytest.raises(ValueError, match="infinity"):
        model.predict([[np.inf, 0, 0]])


def test_large_tables_take_the_loop_and_small_ones_blas():
    X, y = clouds(n=30_000, d=40, k=3)
    for labels in (y, np.where(y == "c", "a", y)):
        model = QDA().fit(X, labels)
        assert model._factors.regular
        parts = np.concatenate([model.decision_function(part) for part in np.split(X, 3)])
        np.testing.assert_allclose(model.decision_function(X), parts, rtol=1e-9, atol=1e-9)
        wide = np.asfortranarray(X)
        np.testing.assert_array_equal(model.predict(wide), model.predict(X))
        narrow = model.decision_function(X.astype(np.float32))
        np.testing.assert_allclose(narrow, parts, rtol=1e-4, atol=1e-3)


def nearly_the_same_column_twice(noise):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(26_000, 40))
    X[:, 1] = X[:, 0] + noise * X[:, 1]
    y = rng.integers(2, size=len(X))
    X[y == 1] *= 1.1
    return X, y


def test_near_singular_covariances_are_those_of_scikit_learn():
    X, y = nearly_the_same_column_twice(1e-3)
    ours, theirs = (M(tol=1e-12).fit(X, y) for M in (QDA, sk.QuadraticDiscriminantAnalysis))
    assert not ours._factors.regular
    same(ours, theirs, X, 1e-8)


def test_near_singular_covariances_are_not_multiplied_out():
    X, y = nearly_the_same_column_twice(1e-4)
    model = QDA(tol=1e-12).fit(X, y)
    no, yes = scores_as_published(model, X)
    atol = 1e-10 * np.abs(yes - no).max()
    np.testing.assert_allclose(model.decision_function(X), yes - no, rtol=0, atol=atol)


def scores_as_published(model, X):
    """log P(x, y) of each class, up to a constant, from the published numbers in long doubles."""
    X = X.astype(np.longdouble)
    for k, prior in enumerate(model.priors_.astype(np.longdouble)):
        variances = model.scalings_[k].astype(np.longdouble)
        z = (X - model.means_[k]) @ (model.rotations_[k] / np.sqrt(variances))
        yield np.log(prior) - 0.5 * ((z * z).sum(axis=1) + np.log(variances).sum())


# The algebra


@each
@given(cut=st.integers(30, 150), seed=st.integers(0, 20), far=st.sampled_from([0.0, 1e6]))
def test_merge_forget_and_batches_equal_a_refit(model, cut, seed, far):
    X, y = clouds(seed=seed, shift=far)
    whole = clone(model).fit(X, y)
    tol = 1e-9 if far == 0 else 1e-6  # scores far from the origin lose digits by themselves
    a, b = clone(model).fit(X[:cut], y[:cut]), clone(model).fit(X[cut:], y[cut:])
    same(a.merge(b), whole, X, tol)
    same(a.forget(X[cut:], y[cut:]), clone(model).fit(X[:cut], y[:cut]), X, tol)
    stream = clone(model)
    for part in np.split(np.arange(len(X)), [3, cut]):
        stream.partial_fit(X[part], y[part])
    same(stream, whole, X, tol)
    same(type(model).from_statistics(whole.statistics_, **model.get_params()), whole, X, 0)


@each
def test_weights_equal_repetition(model):
    X, y = clouds()
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    same(weighted, repeated, X)


@each
def test_sparse_rows_give_the_same_model(model):
    X, y = clouds()
    X[np.abs(X) < 0.5] = 0
    dense, sparse = clone(model).fit(X, y), clone(model).fit(sp.csr_matrix(X), y)
    same(sparse, dense, X)
    S = sp.csr_matrix(X)
    np.testing.assert_allclose(dense.decision_function(S), dense.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(dense.score_samples(S), dense.score_samples(X), atol=1e-8)
    if hasattr(dense, "transform"):
        np.testing.assert_allclose(dense.transform(S), dense.transform(X), atol=1e-8)


def test_a_stream_waits_until_it_knows_enough():
    X, y = clouds(k=2)
    model = QDA()
    for i in range(4):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=["a", "b"])
        if i == 0:
            with pytest.raises(NotFittedError, match="number of classes has to be greater"):
                model.predict(X)
    for i in range(4, len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    same(model, QDA().fit(X, y), X)


def test_a_class_that_was_promised_and_never_came_has_probability_zero():
    X, y = clouds(k=2)
    for model in (LDA(), QDA()):
        model.partial_fit(X, y, classes=["a", "b", "z"])
        found = model.predict_proba(X)
        assert (found[:, 2] == 0).all()
        two = type(model)().fit(X, y).predict_proba(X)
        np.testing.assert_allclose(found[:, :2], two, atol=1e-12)


def test_a_forgotten_class_is_gone():
    X, y = clouds()
    model = LDA().fit(X, y)
    model.forget(X[y == "c"], y[y == "c"])
    same(model, LDA().fit(X[y != "c"], y[y != "c"]), X)


def test_float32_stays():
    X, y = clouds()
    for model in (LDA(), LDA(solver="eigen"), QDA()):
        model.fit(X.astype(np.float32), y)
        for found in (model.decision_function(X.astype(np.float32)), model.means_, model.priors_,
                      model.score_samples(X.astype(np.float32)), model.sample(3, 0)[0],
                      model.predict_proba(X.astype(np.float32))):  # fmt: skip
            assert found.dtype == np.float32


def test_parameters_are_counted():
    X, y = clouds()
    assert LDA().fit(X, y).n_parameters_ == 2 + 9 + 6
    assert LDA(covariance="diagonal").fit(X, y).n_parameters_ == 2 + 9 + 3
    assert QDA().fit(X, y).n_parameters_ == 2 + 9 + 18
    assert QDA(priors=[0.2, 0.3, 0.5]).fit(X, y).n_parameters_ == 9 + 18


# What is refused


@pytest.mark.parametrize("model", [LDA(solver="lsqr", shrinkage="auto"),
                                   QDA(solver="eigen", covariance_estimator=OAS())])  # fmt: skip
def test_what_needs_the_rows_works_with_fit_alone(model):
    X, y = clouds()
    model.fit(X, y)
    before = dict(vars(model))
    settings = model.get_params(deep=False)
    for call in (
        lambda: model.partial_fit(X, y),
        lambda: model.forget(X[:5], y[:5]),
        lambda: model.merge(clone(model).fit(X, y)),
        lambda: type(model).from_statistics(model.statistics_, **settings),
    ):
        with pytest.raises(ValueError, match=r"works with fit alone|same parameters"):
            call()
    assert vars(model) == before
    with pytest.raises(ValueError, match="sample_weight must be None"):
        model.fit(X, y, sample_weight=np.ones(len(X)))
    with pytest.raises(TypeError, match="needs a dense X"):
        model.fit(sp.csr_matrix(X), y)


def test_singular_covariances_are_refused_by_name_or_raised():
    X, y = clouds()
    X = np.hstack([X, X[:, :1]])
    with pytest.raises(np.linalg.LinAlgError, match=r"rank 3 of 4. Set shrinkage"):
        LDA(solver="eigen").fit(X, y)
    with pytest.raises(np.linalg.LinAlgError, match=r"class a is not full rank.*Set shrinkage"):
        QDA(solver="eigen").fit(X, y)
    with pytest.warns(LinAlgWarning, match=r"class a is not full rank.*Set reg_param"):
        model = QDA().fit(X, y)
    assert min(values.min() for values in model.scalings_) == pytest.approx(model.tol)
    assert np.isfinite(model.predict_proba(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QDA(reg_param=0.1).fit(X, y)
        LDA(solver="eigen", shrinkage=0.1).fit(X, y)
        LDA(solver="lsqr", shrinkage=0.1).fit(X, y)
    with pytest.warns(LinAlgWarning, match=r"rank 3 of 4;.*Set shrinkage"):
        LDA(solver="lsqr").fit(X, y)


def test_a_covariance_estimator_needs_only_fit():
    """scikit-learn takes any object with `fit`; ours asked for `get_params` and a return value."""

    class Covariance:
        def fit(self, X):
            self.covariance_ = np.cov(X.T, bias=True)

    X, y = clouds()
    given = Covariance()
    model = LDA(solver="lsqr", covariance_estimator=given).fit(X, y)
    np.testing.assert_allclose(model.coef_, LDA(solver="lsqr").fit(X, y).coef_)
    assert not hasattr(given, "covariance_")


def test_bad_input_is_refused_and_changes_nothing():
    X, y = clouds()
    with pytest.raises(ValueError, match="only 1 sample in class c"):
        QDA().fit(X, np.where(np.arange(len(X)) == 0, "c", "a"))
    with pytest.raises(ValueError, match="more than the number of classes; got 2"):
        LDA().fit(X[:2], ["a", "b"])
    with pytest.raises(ValueError, match="must match number of classes; got 2 and 3"):
        LDA(priors=[0.5, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match="priors must be non-negative"):
        QDA(priors=[-0.5, 0.5, 1]).fit(X, y)
    with pytest.warns(UserWarning, match="priors do not sum to 1"):
        model = LDA(priors=[1, 2, 1]).fit(X, y)
    np.testing.assert_allclose(model.priors_, [0.25, 0.5, 0.25])
    with pytest.raises(ValueError, match=r"n_components cannot be larger.*here 2; got 3"):
        LDA(n_components=3).fit(X, y)
    with pytest.raises(NotImplementedError, match="shrinkage not supported with 'svd'"):
        LDA(shrinkage=0.1).fit(X, y)
    with pytest.raises(NotImplementedError, match="lsqr"):
        LDA(solver="lsqr").fit(X, y).transform(X)
    with pytest.raises(ValueError, match="not include products of different features"):
        LDA.from_statistics(Moments.of(X, y))
    same(LDA.from_statistics(Moments.of(X, y, full=True), covariance="diagonal"),
         LDA(covariance="diagonal").fit(X, y), X)  # fmt: skip
    stream = QDA.from_statistics(Moments.of(X[:90], y[:90], full=True), covariance="diagonal")
    same(stream.partial_fit(X[90:], y[90:]), QDA(covariance="diagonal").fit(X, y), X)
    model = QDA().fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="Cannot remove"):
        model.forget(X[:99] + 1e3, y[:99])
    assert vars(model) == before


def test_units_far_apart_are_no_lack_of_rank():
    """A feature in tiny units drowned the others: their variances were raised, with a warning."""
    X, y = load_iris(return_X_y=True)
    expected = QDA().fit(X, y).predict(X)
    for unit in (1e-8, 1e4, 1e7, 1e8, 1e10):
        for settings in ({}, {"solver": "eigen"}):
            model = QDA(**settings, tol=0 if unit < 1 else 1e-4).fit(X * [1, 1, unit, 1], y)
            np.testing.assert_array_equal(model.predict(X * [1, 1, unit, 1]), expected)
    with pytest.warns(LinAlgWarning, match=r"at most 2.*, which is rounding, in 1 of 5 direct"):
        QDA(tol=0).fit(np.hstack([X, X[:, :1] + X[:, 1:2]]), y)


@pytest.mark.parametrize("n_features", [58, 59, 100])
def test_lsqr_with_fewer_rows_than_features(n_features):
    """Directions without variance were kept: coefficients of 1e12, and no row of training right."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, n_features)), np.arange(60) % 2
    X[:, 0] += y
    model = LDA(solver="lsqr")
    if n_features > 58:
        with pytest.warns(LinAlgWarning, match=r"rank 58 of \d+; .*Set shrinkage"):
            model.fit(X, y)
    else:
        model.fit(X, y)
    assert model.score(X, y) > 0.9
    assert np.abs(model.coef_).max() < 1e4
    explained = [model.explain(x).winner for x in X]
    np.testing.assert_array_equal(explained, model.predict(X))


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_far_from_the_origin_are_told_apart(solver, n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(150) % n_classes
    X = rng.standard_normal((150, 3)) + y[:, None]
    near = LDA(solver=solver).fit(X - X.mean(axis=0), y)
    far = LDA(solver=solver).fit(X + 2.0**30, y)
    agree = far.predict(X + 2.0**30) == near.predict(X - X.mean(axis=0))
    assert agree.mean() > 0.98  # rows on the boundary may fall to the other side


@pytest.mark.parametrize("model", [LDA(tol=0.5), LDA(), LDA(n_components=1), QDA(reg_param=0.5)])
def test_explain_speaks_of_the_predicted_class(model):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 3)) + 0.5 * y[:, None]
    model = clone(model).fit(X, y)
    explained = [model.explain(x) for x in X]
    np.testing.assert_array_equal([e.winner for e in explained], model.predict(X))
    assert min(e.log_odds for e in explained) > -1e-9


def test_a_linear_model_wants_more_rows_than_classes_however_it_learns():
    X, y = clouds()
    first = [int(np.flatnonzero(y == label)[0]) for label in "abc"]
    few = Moments.of(X[first], y[first], full=True)
    with pytest.raises(np.linalg.LinAlgError, match="more than the number of classes; got 3"):
        LDA.from_statistics(few)
    stream = LDA().partial_fit(X[first], y[first])
    with pytest.raises(NotFittedError, match="more than the number of classes; got 3"):
        stream.predict(X)
    rows = [*first, *range(len(X))]
    same(stream.partial_fit(X, y), LDA().fit(X[rows], y[rows]), X)
