"""Bagging: what is ours in scikit-learn's class."""

import numpy as np
import pytest

from rosenblatt import BaggingClassifier, DecisionTreeClassifier

X, Y = np.arange(20.0)[:, np.newaxis], np.repeat([0, 1], 10)


class Interrupted(DecisionTreeClassifier):
    def fit(self, X, y, sample_weight=None):
        raise KeyboardInterrupt


def test_a_fit_that_is_interrupted_leaves_the_model_as_it_was():
    model = BaggingClassifier(random_state=0)
    unfitted = set(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.set_params(estimator=Interrupted()).fit(X, Y)
    assert set(vars(model)) == unfitted
    model.set_params(estimator=None).fit(X, Y)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(estimator=Interrupted()).fit(X, 1 - Y)
    assert (model.predict(X) == Y).mean() > 0.9
