"""Models survive a trip through a file, and loading runs no code from it."""

import pickle

import numpy as np
import pytest
import skops.io
from sklearn.base import clone

from rosenblatt import registry
from tests.contract.estimators import instances, iterative, name_of, problem, scores

pytestmark = pytest.mark.usefixtures("unconverged")
each_setting = pytest.mark.parametrize("estimator", instances(), ids=name_of)


@each_setting
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle_round_trip(estimator, protocol):
    X, y = problem(3, estimator=estimator)
    model = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(model, protocol))
    assert np.array_equal(scores(again, X), scores(model, X))
    assert not iterative(estimator) or again.stop_reason_ == model.stop_reason_


@each_setting
def test_skops_round_trip_with_our_classes_alone_trusted(estimator):
    X, y = problem(3, estimator=estimator)
    model = clone(estimator).fit(X, y)
    file = skops.io.dumps(model)
    ours = skops.io.get_untrusted_types(data=file)
    assert f"{type(model).__module__}.{type(model).__qualname__}" in ours
    # A statistic keeps the precision of its data: a dtype, which runs nothing either.
    listed = {f"rosenblatt.{name}" for name in registry.FILE_TYPES}
    assert set(ours) - {"numpy.dtype"} <= listed, "file_types of its row lacks one"
    again = skops.io.loads(file, trusted=ours)
    assert np.array_equal(scores(again, X), scores(model, X))


@each_setting
def test_clone_forgets_the_fit_and_keeps_the_parameters(estimator):
    X, y = problem(estimator=estimator)
    model = clone(estimator).fit(X, y)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "classes_")
