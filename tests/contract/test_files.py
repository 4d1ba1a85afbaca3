"""Models survive a trip through a file, and loading runs no code from it."""

import pickle

import numpy as np
import pytest
import skops.io
from sklearn.base import clone

from tests.contract.estimators import instances, most_classes, name_of, problem

pytestmark = pytest.mark.usefixtures("unconverged")
each_setting = pytest.mark.parametrize("estimator", instances(), ids=name_of)


@each_setting
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle_round_trip(estimator, protocol):
    X, y = problem(most_classes(estimator))
    model = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(model, protocol))
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert getattr(again, "stop_reason_", None) == getattr(model, "stop_reason_", None)


@each_setting
def test_skops_round_trip_with_our_classes_alone_trusted(estimator):
    X, y = problem(most_classes(estimator))
    model = clone(estimator).fit(X, y)
    file = skops.io.dumps(model)
    ours = skops.io.get_untrusted_types(data=file)
    assert f"{type(model).__module__}.{type(model).__qualname__}" in ours
    assert all(name.startswith("rosenblatt.") or name == "numpy.dtype" for name in ours)
    again = skops.io.loads(file, trusted=ours)
    assert np.array_equal(again.decision_function(X), model.decision_function(X))


@each_setting
def test_clone_forgets_the_fit_and_keeps_the_parameters(estimator):
    X, y = problem()
    model = clone(estimator).fit(X, y)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "classes_")
