"""Stochastic gradient descent against a naive implementation and scikit-learn."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit

from rosenblatt import SGDClassifier, SGDRegressor
from rosenblatt.linear_model import sgd_loops
from rosenblatt.runtime import threads
from tests.contract.estimators import problem

rng = np.random.RandomState(0)
X = 0.3 * rng.standard_normal((60, 5))
SIGNS = np.where(X @ [1, -2, 0.5, 0, 1] + 0.1 * rng.standard_normal(60) > 0, 1.0, -1.0)
TARGETS = X @ [1, -2, 0.5, 0, 1] + 0.2 * rng.standard_normal(60) + 0.5
CLASSES = np.arange(60) % 3
PENALTIES = ["l2", "l1", "elasticnet", None]
FIXED = {"shuffle": False, "max_iter": 3, "tol": None}
SCHEDULES = [
    {"learning_rate": "constant", "eta0": 0.1},
    {"learning_rate": "constant", "eta0": 0.5, "alpha": 1.5},  # w shrinks to 1/4 at each visit
    {"learning_rate": "optimal", "alpha": 0.5},
    {"learning_rate": "invscaling", "eta0": 0.3, "power_t": 0.25},
    {"learning_rate": "invscaling", "eta0": 0.3, "power_t": 0.4},
]
PASSIVE_AGGRESSIVE = [{"learning_rate": name, "eta0": 0.2} for name in ("pa1", "pa2")]

# Loss and slope of a score p for a target y; e is epsilon.
LOSSES = {
    "hinge": (lambda p, y, e: max(0, 1 - y * p), lambda p, y, e: -y * (y * p <= 1)),
    "perceptron": (lambda p, y, e: max(0, -y * p), lambda p, y, e: -y * (y * p <= 0)),
    "squared_hinge": (
        lambda p, y, e: max(0, 1 - y * p) ** 2,
        lambda p, y, e: -2 * y * max(0, 1 - y * p),
    ),
    "modified_huber": (
        lambda p, y, e: max(0, 1 - y * p) ** 2 if y * p >= -1 else -4 * y * p,
        lambda p, y, e: -2 * y * max(0, 1 - y * p) if y * p >= -1 else -4 * y,
    ),
    "log_loss": (
        lambda p, y, e: np.log1p(np.exp(-y * p)),
        lambda p, y, e: -y / (1 + np.exp(y * p)),
    ),
    "squared_error": (lambda p, y, e: (p - y) ** 2 / 2, lambda p, y, e: p - y),
    "huber": (
        lambda p, y, e: (p - y) ** 2 / 2 if abs(p - y) <= e else e * (abs(p - y) - e / 2),
        lambda p, y, e: np.clip(p - y, -e, e),
    ),
    "epsilon_insensitive": (
        lambda p, y, e: max(0, abs(p - y) - e),
        lambda p, y, e: np.sign(p - y) * (abs(p - y) > e),
    ),
    "squared_epsilon_insensitive": (
        lambda p, y, e: max(0, abs(p - y) - e) ** 2,
        lambda p, y, e: 2 * np.sign(p - y) * max(0, abs(p - y) - e),
    ),
}


def reference(model, rows, y, weight=None):
    """The weights of a fit without shuffling, by the plain update rule; (coef, intercept)."""
    loss, slope = LOSSES[model.loss]
    ratio = {"l1": 1.0, "elasticnet": model.l1_ratio}.get(model.penalty, 0.0)
    alpha = 0.0 if model.penalty is None else model.alpha
    w, b, owed, applied = np.zeros(rows.shape[1]), 0.0, 0.0, np.zeros(rows.shape[1])
    kept = []
    weight = np.ones(len(y)) if weight is None else weight
    for t, i in enumerate(np.tile(np.arange(len(y)), model.max_iter), start=1):
        x, p = rows[i], rows[i] @ w + b
        eta = {
            "optimal": 1 / (model.alpha * (model.alpha**-0.75 + t - 1)),
            "invscaling": model.eta0 / t**model.power_t,
        }.get(model.learning_rate, model.eta0)
        step = -eta * slope(p, y[i], model.epsilon)
        if model.learning_rate in ("pa1", "pa2"):
            size = loss(p, y[i], model.epsilon)
            step = min(model.eta0, size / (x @ x))
            if model.learning_rate == "pa2":
                step = size / (x @ x + 0.5 / model.eta0)
            step *= np.sign(y[i] if model.loss == "hinge" else y[i] - p)
        step *= weight[i]
        w = max(0, 1 - eta * alpha * (1 - ratio)) * w + step * x
        b += step if model.fit_intercept else 0
        if ratio:
            owed += eta * alpha * ratio
            before = w.copy()
            w = np.where(w > 0, np.maximum(0, w - owed - applied), w)
            w = np.where(before < 0, np.minimum(0, before + owed - applied), w)
            applied += w - before
        kept.append((w, b))
    if model.average and len(kept) >= model.average:
        kept = kept[int(model.average) - 1 :]
        return np.mean([w for w, _ in kept], axis=0), np.mean([b for _, b in kept])
    return w, b


def assert_follows_the_rule(model, y, rows=X):
    expected, intercept = reference(model, rows, y)
    fitted = clone(model).fit(rows, y)
    np.testing.assert_allclose(fitted.coef_.ravel(), expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fitted.intercept_[0], intercept, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("loss", SGDClassifier.loss_functions)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("average", [False, True, 50])
def test_classifier_follows_the_update_rule(loss, penalty, average):
    model = SGDClassifier(loss=loss, penalty=penalty, average=average, **FIXED)
    for schedule in SCHEDULES:
        assert_follows_the_rule(clone(model).set_params(**schedule), SIGNS)
    for schedule in PASSIVE_AGGRESSIVE if loss == "hinge" else []:
        assert_follows_the_rule(clone(model).set_params(**schedule), SIGNS, rows=3 * X)


@pytest.mark.parametrize("loss", SGDRegressor.loss_functions)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("average", [False, True, 50])
def test_regressor_follows_the_update_rule(loss, penalty, average):
    model = SGDRegressor(loss=loss, penalty=penalty, average=average, **FIXED)
    for schedule in SCHEDULES:
        assert_follows_the_rule(clone(model).set_params(**schedule), TARGETS)
    for schedule in PASSIVE_AGGRESSIVE if loss == "epsilon_insensitive" else []:
        assert_follows_the_rule(clone(model).set_params(**schedule), TARGETS, rows=3 * X)


def test_a_weight_multiplies_the_step_and_weight_zero_leaves_the_row_out():
    weight = np.arange(60) % 4
    model = SGDRegressor(eta0=0.05, **FIXED)
    seen = weight > 0
    expected = reference(model, X[seen], TARGETS[seen], weight[seen])[0]
    fitted = clone(model).fit(X, TARGETS, sample_weight=weight)
    np.testing.assert_allclose(fitted.coef_, expected, rtol=1e-10)
    assert fitted.t_ == 1 + 3 * seen.sum()


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("y", [SIGNS, CLASSES])
def test_sparse_rows_give_the_fit_of_dense_rows(penalty, average, y):
    rows = X.copy()
    if penalty in ("l2", None):  # an L1 penalty is applied to the features that a row stores
        rows[np.abs(rows) < 0.2] = 0
    model = SGDClassifier("log_loss", penalty=penalty, average=average, max_iter=5, tol=None)
    model.set_params(random_state=0, alpha=0.01, fit_intercept=False)
    dense, sparse = clone(model).fit(rows, y), clone(model).fit(sp.csr_matrix(rows), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("Estimator", ["SGDClassifier", "SGDRegressor"])
def test_sparse_rows_move_the_intercept_by_a_hundredth_of_a_step(Estimator):
    ours = globals()[Estimator](random_state=0, max_iter=5, tol=None, eta0=0.1, alpha=0.1)
    theirs = getattr(sklearn.linear_model, Estimator)(**ours.get_params())
    for model in (ours, theirs):
        model.fit(sp.csr_matrix(X), SIGNS)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9)


def test_an_l1_penalty_waits_for_the_rows_that_store_a_feature():
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    model = SGDRegressor(penalty="l1", alpha=0.1, learning_rate="constant", eta0=0.5, **FIXED)
    model.set_params(max_iter=1, fit_intercept=False)
    fitted = model.fit(sp.csr_matrix(rows), [1.0, 1.0, 1.0])
    # w_0 = 0.5 - 0.05 after its row. w_1 = 0.5 - 0.1 after the second, then
    # 0.4 + 0.5 (1 - 0.4) - 0.05.
    np.testing.assert_allclose(fitted.coef_, [0.45, 0.65])


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "squared_error"])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("learning_rate", ["optimal", "adaptive"])
def test_two_dense_classes_give_the_fit_of_scikit_learn(loss, penalty, learning_rate):
    rows, labels = problem(2, n_rows=300)
    settings = {"loss": loss, "penalty": penalty, "learning_rate": learning_rate, "alpha": 0.1}
    settings |= {"random_state": 3, "early_stopping": False}
    ours = SGDClassifier(**settings).fit(0.1 * rows, labels)
    theirs = sklearn.linear_model.SGDClassifier(**settings).fit(0.1 * rows, labels)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-9)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.t_ == theirs.t_


def test_a_dense_regression_is_that_of_scikit_learn():
    ours = SGDRegressor(random_state=1).fit(X, TARGETS)
    theirs = sklearn.linear_model.SGDRegressor(random_state=1).fit(X, TARGETS)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert ours.n_iter_ == theirs.n_iter_


@pytest.mark.parametrize("average", [False, True, 25])
def test_batches_in_order_give_one_epoch_in_order(average):
    settings = {**FIXED, "max_iter": 1, "average": average, "alpha": 0.01}
    for model, y in ((SGDClassifier(**settings), CLASSES), (SGDRegressor(**settings), TARGETS)):
        whole, stream = clone(model).fit(X, y), clone(model)
        for rows in np.split(np.arange(60), [1, 7, 30, 31]):
            arguments = {"classes": [0, 1, 2]} if isinstance(model, SGDClassifier) else {}
            stream.partial_fit(X[rows], y[rows], **arguments)
        np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(stream.intercept_, whole.intercept_, rtol=1e-12)
        assert stream.t_ == whole.t_ == 61


def test_each_class_is_fitted_against_the_rest_with_its_own_weight():
    class_weight = {0: 1.0, 1: 3.0, 2: 0.5}
    model = SGDClassifier(class_weight=class_weight, alpha=0.01, **FIXED).fit(X, CLASSES)
    for k in range(3):
        own = SGDClassifier(class_weight={-1: 1.0, 1: class_weight[k]}, alpha=0.01, **FIXED)
        own.fit(X, np.where(k == CLASSES, 1, -1))
        np.testing.assert_array_equal(model.coef_[k], own.coef_[0])
        assert model.intercept_[k] == own.intercept_[0]


def test_threads_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(threads, "CELLS_PER_CHUNK", 10)
    monkeypatch.setattr(threads, "count", lambda: 2)
    alone = SGDClassifier(random_state=0).fit(X, CLASSES)
    for n_jobs in (2, -1):
        shared = SGDClassifier(random_state=0, n_jobs=n_jobs).fit(X, CLASSES)
        np.testing.assert_array_equal(shared.coef_, alone.coef_)
        assert shared.n_iter_ == alone.n_iter_


def test_early_stopping_trains_on_the_other_rows():
    settings = {**FIXED, "learning_rate": "constant", "validation_fraction": 0.3}
    model = SGDClassifier(early_stopping=True, random_state=4, **settings).fit(X, CLASSES)
    split = StratifiedShuffleSplit(1, test_size=0.3, random_state=4)
    train = np.sort(next(split.split(X, CLASSES))[0])
    expected = SGDClassifier(**settings).fit(X[train], CLASSES[train])
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_the_reason_of_the_end_is_reported():
    assert SGDClassifier(random_state=0).fit(X, SIGNS).stop_reason_ == "converged"
    model = SGDClassifier(early_stopping=True, random_state=0).fit(X, SIGNS)
    assert model.stop_reason_ == "early_stopping"
    assert model.n_iter_ < 1000
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 epochs is .* tol=0.001; there were"):
        model = SGDRegressor(max_iter=2).fit(X, TARGETS)
    assert model.stop_reason_ == "max_iter"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SGDRegressor(max_iter=2, tol=None).fit(X, TARGETS).stop_reason_ == "max_iter"


def test_an_adaptive_rate_is_divided_until_it_is_small():
    model = SGDClassifier(learning_rate="adaptive", eta0=0.1, tol=1e-3, random_state=0)
    # Divided eight times, from 0.1 to 2.6e-7, with five epochs at each rate.
    assert model.fit(X, SIGNS).n_iter_ >= 45
    assert model.stop_reason_ == "converged"


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_float32_stays_float32(storage):
    rows = storage(X.astype(np.float32))
    for average in (False, True):
        model = SGDClassifier("log_loss", average=average, alpha=0.1, random_state=0)
        narrow, wide = clone(model).fit(rows, CLASSES), clone(model).fit(storage(X), CLASSES)
        assert narrow.coef_.dtype == narrow.intercept_.dtype == np.float32
        assert narrow.predict_proba(rows).dtype == np.float32
        np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=1e-3, atol=1e-4)


class Interrupt:
    """A callback that interrupts the fit after its second epoch."""

    def setup(self, estimator, context):
        self.n = 0

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.n += 1
        if self.n == 2:
            raise KeyboardInterrupt


def test_an_interrupted_fit_leaves_the_model_unchanged():
    model = SGDClassifier(average=True, random_state=0).fit(X, SIGNS)
    model.set_callbacks(Interrupt())
    before, coef = dict(vars(model)), model.coef_.copy()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, CLASSES)
    assert vars(model) == before
    np.testing.assert_array_equal(model.coef_, coef)


def test_a_warm_start_begins_with_the_weights_of_the_last_fit():
    model = SGDClassifier(warm_start=True, **FIXED).fit(X, SIGNS)
    given = SGDClassifier(**FIXED).fit(X, SIGNS, model.coef_.copy(), model.intercept_.copy())
    model.sparsify().fit(X, SIGNS)
    np.testing.assert_array_equal(model.coef_, given.coef_)
    assert model.t_ == given.t_ == 181


def test_a_fit_that_overflows_raises():
    with pytest.raises(ValueError, match="overflow occurred at epoch #1"):
        SGDRegressor(eta0=1e3, random_state=0).fit(1e200 * X, TARGETS)


@pytest.mark.parametrize("loss", ["log_loss", "modified_huber"])
@pytest.mark.parametrize("y", [SIGNS, CLASSES])
def test_probabilities_sum_to_one_and_agree_with_the_prediction(loss, y):
    model = SGDClassifier(loss, alpha=0.01, random_state=0).fit(X, y)
    P = model.predict_proba(100 * X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    scores = model.decision_function(X)
    if scores.ndim == 1:
        near = 1 / (1 + np.exp(-scores)) if loss == "log_loss" else (np.clip(scores, -1, 1) + 1) / 2
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], near)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))


def test_rows_that_no_class_claims_get_equal_probabilities():
    model = SGDClassifier("modified_huber", **FIXED).fit(X, CLASSES)
    model.coef_, model.intercept_ = 0 * model.coef_, np.full(3, -2.0)
    np.testing.assert_allclose(model.predict_proba(X), 1 / 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "squared"}, "The 'loss' parameter"),
        ({"penalty": "l3"}, "The 'penalty' parameter"),
        ({"alpha": 0}, "alpha must be > 0"),
        ({"eta0": 0}, "The 'eta0' parameter"),
        ({"average": -1}, "The 'average' parameter"),
        ({"loss": "log_loss", "learning_rate": "pa1"}, "needs loss='hinge'; got 'log_loss'"),
        ({"penalty": "elasticnet", "l1_ratio": None}, "l1_ratio must be set"),
        ({"class_weight": {-1: -1.0, 1: 1.0}}, "finite weights >= 0"),
    ],
)
def test_invalid_parameters_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        SGDClassifier(**settings).fit(X, SIGNS)


def test_partial_fit_needs_all_classes_first_and_keeps_them():
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        SGDClassifier().partial_fit(X, SIGNS)
    model = SGDClassifier(random_state=0).partial_fit(X, SIGNS, classes=[-1, 1])
    with pytest.raises(ValueError, match=r"do not exist in the initial classes"):
        model.partial_fit(X, CLASSES)


def test_the_order_of_visits_is_a_permutation():
    order = np.arange(1000, dtype=np.int32)
    sgd_loops.shuffle(order, 7)
    assert sorted(order) == list(range(1000))
    assert np.count_nonzero(order == np.arange(1000)) < 10
