"""Single rows that wait are seen by whoever looks, and only by them."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from rosenblatt import GaussianNB
from rosenblatt.waiting import ROWS


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
        np.testing.assert_allclose(getattr(model, name), getattr(fit, name), rtol=1e-14)
    assert len(model.statistics_) == n
    assert not any("waiting" in name for name in vars(model))


@pytest.mark.parametrize("look", ["theta_", "var_", "statistics_", "class_prior_", "epsilon_"])
def test_each_attribute_is_up_to_date_whichever_is_read_first(look):
    X, y = rows(20)
    value = getattr(streamed(X, y), look)
    expected = getattr(GaussianNB().fit(X, y), look)
    if look == "statistics_":
        assert value.rows.tolist() == expected.rows.tolist()
    else:
        np.testing.assert_allclose(value, expected, rtol=1e-14)


def test_a_model_with_rows_waiting_is_a_model():
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
