"""Every model with a path: what it fits, and what it refuses."""

import numpy as np
import pytest

import rosenblatt
from rosenblatt import registry
from rosenblatt.capabilities import path_parameters
from tests.contract.estimators import problem

pytestmark = pytest.mark.usefixtures("unconverged")
VALUES = {"alpha": [0.1, 1.0], "C": [0.1, 1.0], "max_iter": [2, 5], "ccp_alpha": [0.0, 0.1]}


def parameter_of(row):
    """The first parameter that a class has a path over; nothing if there is none."""
    return next(iter(path_parameters(row.estimator())), "") if row.contract else ""


ROWS = [row for row in registry.ROWS if parameter_of(row) in VALUES]
each = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def model_of(row):
    model = row.estimator()
    return model, parameter_of(row), problem(2, estimator=model)


@each
def test_each_model_of_a_path_predicts_as_the_path_does(row):
    model, parameter, (X, y) = model_of(row)
    path = model.fit_path((X, y), parameter, VALUES[parameter])
    assert len(path) == 2
    for i, predictions in enumerate(path.predict(X)):
        assert getattr(path[i], parameter) == VALUES[parameter][i]
        own = path[i].predict(X)
        if row.task == "regression":  # one is solved from rows, all from one decomposition
            np.testing.assert_allclose(predictions, own, rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_array_equal(predictions, own)


@each
def test_other_parameters_and_values_that_a_fit_refuses_are_refused(row):
    model, parameter, data = model_of(row)
    with pytest.raises(ValueError, match=f"parameter must be '{parameter}'; got 'nonsense'"):
        model.fit_path(data, "nonsense", [1])
    with pytest.raises(ValueError, match="at least one value"):
        model.fit_path(data, parameter, [])
    for bad in (-1, float("nan"), "word"):
        with pytest.raises(ValueError, match=f"The '{parameter}' parameter"):
            model.fit_path(data, parameter, [bad, VALUES[parameter][1]])


def test_settings_without_a_path_are_refused():
    rows = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ValueError, match="these settings have no path"):
        rosenblatt.LogisticRegression(solver="sgd").fit_path(rows, "C", [1.0])
    with pytest.raises(ValueError, match="these settings have no path"):
        rosenblatt.Ridge(positive=True).fit_path(rows, "alpha", [1.0])


@pytest.mark.parametrize("name", ["Perceptron", "AveragedPerceptron"])
def test_passes_of_one_run_learn_what_runs_of_so_many_passes_learn(name):
    def attributes(model):
        return {key: value for key, value in vars(model).items() if key.endswith("_")}

    X, y = problem(3)
    trace = rosenblatt.Trace()
    model = getattr(rosenblatt, name)(tol=None, random_state=3).set_callbacks(trace)
    path = model.fit_path((X, y), "max_iter", [5, 1, 3])
    assert len(trace.runs) == 1  # of the longest, which the user's callback has seen
    for alone in path:
        own = attributes(getattr(rosenblatt, name)(**alone.get_params()).fit(X, y))
        np.testing.assert_equal(attributes(alone), own)
