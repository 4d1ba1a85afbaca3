"""Single rows of a stream are stored, and learned when the model is read."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from rosenblatt import (
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from rosenblatt.additive import BUFFERED_ROWS as ROWS

SOLVERS = [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(), LeastSquaresClassifier()]


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)), np.arange(n) % 2


def streamed(X, y, model=None):
    model = GaussianNB() if model is None else model
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    return model


@pytest.mark.parametrize("n", [2, 3, 10, ROWS + 1, ROWS + 2, ROWS + 3, 3 * ROWS])
def test_a_stream_of_single_rows_is_a_fit(n):
    X, y = rows(n)
    model, fit = streamed(X, y), GaussianNB().fit(X, y)
    for name in ("theta_", "var_", "class_count_", "epsilon_"):
        # Means are right to a part of the spread, which is one.
        np.testing.assert_allclose(getattr(model, name), getattr(fit, name), 1e-13, 1e-15)
    assert len(model.statistics_) == n
    assert "_buffer" not in vars(model)


@pytest.mark.parametrize("look", ["theta_", "var_", "statistics_", "class_prior_", "epsilon_"])
def test_each_attribute_is_up_to_date_whichever_is_read_first(look):
    X, y = rows(20)
    value = getattr(streamed(X, y), look)
    expected = getattr(GaussianNB().fit(X, y), look)
    if look == "statistics_":
        assert value.rows.tolist() == expected.rows.tolist()
    else:
        np.testing.assert_allclose(value, expected, rtol=1e-14)


def test_a_model_with_pending_rows_is_a_model():
    X, y = rows(21)
    fit = GaussianNB().fit(X, y)
    model = streamed(X, y)
    check_is_fitted(model)
    assert hasattr(model, "theta_")
    assert not hasattr(streamed(X, y), "coef_")
    for again in (
        copy.copy(streamed(X, y)),
        copy.deepcopy(streamed(X, y)),
        pickle.loads(pickle.dumps(streamed(X, y))),
    ):
        np.testing.assert_allclose(again.predict_proba(X), fit.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(streamed(X, y).score_samples(X), fit.score_samples(X), rtol=1e-12)
    assert not hasattr(clone(streamed(X, y)), "classes_")
    merged = streamed(X[:10], y[:10]).merge(streamed(X[10:], y[10:]))
    np.testing.assert_allclose(merged.var_, fit.var_, rtol=1e-12)
    left = streamed(X, y).forget(X[15:], y[15:])
    np.testing.assert_allclose(left.var_, GaussianNB().fit(X[:15], y[:15]).var_, rtol=1e-12)


def test_rows_that_need_a_closer_look_get_it_at_once():
    X, y = rows(20)
    model = streamed(X, y)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="Input X contains"):
            model.partial_fit(np.full((1, 3), bad), y[:1])
    with pytest.raises(ValueError, match="X has 2 features"):
        model.partial_fit(X[:1, :2], y[:1])
    assert len(model.statistics_) == 20
    streamed(X, y, model).partial_fit(X[:1], np.array([7]))  # a new class
    assert model.classes_.tolist() == [0, 1, 7]
    assert model.class_count_.tolist() == [20, 20, 1]
    streamed(X, y, model).partial_fit(X[:1], y[:1], sample_weight=[2.5])
    assert model.class_count_.tolist() == [32.5, 30, 1]


def test_parameters_changed_meanwhile_are_checked():
    X, y = rows(20)
    model = streamed(X, y).set_params(var_smoothing=-1)
    with pytest.raises(ValueError, match="var_smoothing"):
        model.partial_fit(X[:1], y[:1])
    model.set_params(var_smoothing=0.5).partial_fit(X[:1], y[:1])
    assert model.epsilon_ == pytest.approx(0.5 * np.vstack([X, X[:1]]).var(axis=0).max())


def test_a_fit_starts_afresh():
    X, y = rows(20)
    model = streamed(X, y).fit(X[:6], y[:6])
    assert len(model.statistics_) == 6
    np.testing.assert_array_equal(model.theta_, GaussianNB().fit(X[:6], y[:6]).theta_)


def test_many_threads_may_look_at_once():
    X, y = rows(50)
    expected = streamed(X, y).predict_proba(X)
    for _ in range(20):
        model = streamed(X, y)
        with ThreadPoolExecutor(4) as pool:
            for found in pool.map(lambda _, m=model: m.predict_proba(X), range(8)):
                np.testing.assert_array_equal(found, expected)


@pytest.fixture
def eager_threads():
    """Threads that take turns a thousand times as often as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("eager_threads")
def test_many_threads_may_look_for_what_is_not_there():
    """Looking whether a model is fitted went over attributes that another thread changed."""
    X, y = rows(30)
    for _ in range(50):
        model = streamed(X, y)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _, m=model: (check_is_fitted(m), vars(m).copy()), range(8)))
        assert len(model.statistics_) == 30


def test_parameters_set_while_rows_are_pending_change_nothing_before_the_next_fit():
    X, y = rows(20)
    expected = GaussianNB().fit(X, y)
    model = streamed(X, y).set_params(var_smoothing=1)
    assert model.epsilon_ == pytest.approx(expected.epsilon_)
    assert model.var_smoothing == 1
    model = streamed(X, y).set_params(priors=[2, 3, 4])
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    assert model.priors == [2, 3, 4]


def test_what_users_keep_on_a_model_stays():
    X, y = rows(20)
    model = streamed(X, y)
    model.note = "mine"
    assert model.theta_.shape == (2, 3)
    assert model.note == "mine"


@pytest.mark.parametrize("model", SOLVERS, ids=repr)
def test_equations_are_not_solved_for_every_row(model, monkeypatch):
    X, y = rows(60)
    solved = []
    conclude = type(model)._conclude
    monkeypatch.setattr(
        type(model), "_conclude", lambda self, *how: (solved.append(1), conclude(self, *how))
    )
    stream = streamed(X[30:], y[30:], clone(model).fit(X[:30], y[:30]))
    assert len(solved) == 1
    whole = clone(model).fit(X, y)
    solved.clear()
    np.testing.assert_array_equal(stream.predict(X), whole.predict(X))
    np.testing.assert_allclose(stream.decision_function(X), whole.decision_function(X), rtol=1e-9)
    assert len(solved) == 1


def test_rows_that_do_not_make_a_model_yet_are_stored_too():
    X, y = rows(20)
    model = streamed(X, y, QuadraticDiscriminantAnalysis())
    np.testing.assert_allclose(
        model.predict_proba(X), QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    )


def test_rows_so_long_that_sums_may_overflow_get_a_closer_look():
    X, y = rows(20)
    model = streamed(X, y)
    with pytest.raises(ValueError, match="64 bits"):
        model.partial_fit(np.array([[1.5e154, 0.0, 0.0]]), y[:1])
    model.partial_fit(np.array([[1e120, 0.0, 0.0]]), y[:1])
    assert len(model.statistics_) == 21
    assert np.isfinite(model.var_).all()
