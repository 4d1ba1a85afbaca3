"""Checks of tables and weights that models share."""

import numpy as np
import pytest

import rosenblatt
from rosenblatt import Discretizer, certify

X, Y = np.arange(6.0)[:, np.newaxis], np.array([0, 0, 0, 1, 1, 1])
OF_TREES = ["DecisionTreeRegressor", "DecisionTreeClassifier", "HistGradientBoostingRegressor",
            "HistGradientBoostingClassifier", "AdaBoostClassifier", "ConjunctionClassifier",
            "MofNClassifier", "ExtraTreesClassifier", "RandomForestClassifier",
            "RandomForestRegressor", "BaggingClassifier", "BaggingRegressor"]  # fmt: skip


def fitted(name, weight, **settings):
    model = getattr(rosenblatt, name)()
    settings = {"min_samples_leaf": 1, "n_estimators": 5, "random_state": 0} | settings
    known = {key: value for key, value in settings.items() if key in model.get_params()}
    return model.set_params(**known).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("name", OF_TREES)
@pytest.mark.parametrize("size", [2.0**1023, 2.0**-1000])
def test_weights_whose_sums_or_products_leave_the_range_give_the_model_of_small_ones(name, size):
    if size < 1 and name.startswith("Hist"):
        pytest.skip("leaves of histogram boosting need a hessian of 0.001")
    weight = np.array([1.0, 1, 1, 0.5, 0.5, 1])
    model = fitted(name, size * weight)
    assert np.allclose(model.predict(X), fitted(name, weight).predict(X), rtol=1e-12)
    assert certify(model, X, Y, sample_weight=size * weight).holds


@pytest.mark.parametrize("size", [2.0**1020, 2.0**-1000])
def test_extreme_weights_do_not_move_the_cuts_of_a_column(size):
    x, y = np.repeat(X, 3, axis=0), np.repeat(Y, 3)
    model = Discretizer(max_bins=2, strategy="quantile")
    expected = model.fit(x, y).cuts_[0]
    assert np.array_equal(model.fit(x, y, sample_weight=np.full(18, size)).cuts_[0], expected)
