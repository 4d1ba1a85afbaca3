"""After forgetting, a model is what a fit on the other rows is, or says how far off it may be."""

import warnings

import numpy as np
import pytest

from rosenblatt import (
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    Standardizer,
)
from rosenblatt.statistics import Moments

FULL = [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, LeastSquaresClassifier]
MANY = 40_000  # rows whose products are summed in plain doubles


def rows(n_out, spread, offset=0.0):
    """Two hundred ordinary rows, and many that lie far out; with labels."""
    rng = np.random.default_rng(0)
    y, out_y = np.repeat([0, 1], 100), np.arange(n_out) % 2
    X = rng.standard_normal((200, 3)) + y[:, None]
    return X, y, offset + spread * rng.standard_normal((n_out, 3)), out_y


def variance(model):
    return model.statistics_.diagonal().scatter


@pytest.mark.parametrize("kind", [*FULL, GaussianNB])
@pytest.mark.parametrize(("spread", "offset"), [(30, 0), (1, 30)])
def test_rows_leave_no_trace(kind, spread, offset):
    X, y, out, out_y = rows(2000, spread, offset)
    model, alone = kind(), kind().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that such rows are of low rank
        model.fit(np.vstack([X, out]), np.append(y, out_y))
    model.forget(out, out_y)
    assert model.forget_bound_ < 1e-9
    np.testing.assert_allclose(variance(model), variance(alone), rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize("kind", FULL)
@pytest.mark.parametrize(("spread", "offset"), [(1e8, 0), (1e5, 0), (1e3, 0), (30, 0), (1, 1e9)])
def test_many_rows_far_out_leave_a_model_that_knows_how_far_off_it_is(kind, spread, offset):
    X, y, out, out_y = rows(MANY, spread, offset)
    model, alone = kind(), kind().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(np.vstack([X, out]), np.append(y, out_y)).forget(out, out_y)
        again = kind().fit(np.vstack([X, out]), np.append(y, out_y))
    bound = model.forget_bound_
    off = np.abs(variance(model) - variance(alone)).sum(axis=0) / variance(alone).sum(axis=0)
    assert off.max() <= 1.5 * bound
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        again.forget(out, out_y)
    told = any("of its variance" in str(warning.message) for warning in caught)
    assert told == (bound > 1e-9)
    assert told or spread == 30


def test_the_bound_is_that_of_the_last_forgetting():
    X, y, out, out_y = rows(50, 1.0)
    model = GaussianNB().fit(np.vstack([X, out]), np.append(y, out_y))
    assert not hasattr(model, "forget_bound_")
    assert 0 < model.forget(out, out_y).forget_bound_ < 1e-12
    assert not hasattr(model.partial_fit(out, out_y), "forget_bound_")
    counts = MultinomialNB().fit(np.abs(X).round(), y).forget(np.abs(X[:9]).round(), y[:9])
    assert counts.forget_bound_ == 0
    assert Standardizer().fit(X).forget(X[:9]).forget_bound_ < 1e-12


@pytest.mark.parametrize("full", [False, True])
def test_a_bound_speaks_of_what_was_lost_and_not_of_what_never_varied(full):
    rng = np.random.default_rng(0)
    X, out = (np.hstack([s * rng.standard_normal((40, 2)), np.full((40, 1), 7.1)]) for s in (1, 9))
    whole, part = (Moments.of(table, full=full) for table in (np.vstack([X, out]), out))
    assert (whole - part).diagonal().scatter[0, 2] == 0
    assert 0 < whole.subtraction_bound(part) < 1e-11


def test_a_bound_is_infinite_where_only_rounding_is_left():
    """It was zero: what had been rounded away had no part in it."""
    X, y, out, out_y = rows(MANY, 1e8)
    whole = Moments.of(np.vstack([X, out]), np.append(y, out_y), full=True)
    assert whole.subtraction_bound(Moments.of(out, out_y, full=True)) > 1e3


def test_a_single_row_that_is_left_has_no_variance_to_be_off():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 4)) + [1e9, 1e6, 1e6, 1e6], np.arange(40) % 3
    model = GaussianNB().fit(X, y).forget(X[3:], y[3:])
    assert model.forget_bound_ == 0
    np.testing.assert_array_equal(model.theta_, X[:3])
