"""Without a penalty no loss is below zero, which is all that separated classes leave to say."""

import numpy as np
import pytest

from rosenblatt import LogisticRegression, certify
from rosenblatt.linear_model import SeparationWarning


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("softmax", ["symmetric", "reference"])
def test_a_fit_of_separated_classes_is_within_its_objective_of_the_best(n_classes, softmax):
    y = np.arange(60) % n_classes
    X = np.c_[np.random.default_rng(0).normal(size=60), 9.0 * y]
    model = LogisticRegression(C=np.inf, softmax=softmax)
    with pytest.warns(SeparationWarning) as told:
        model.fit(X, y)
    warning = told[0].message
    assert (warning.kind, warning.columns) == ("complete", (1,))
    assert warning.proof.verify(X, y)
    assert "column 1" in str(warning)
    certificate = certify(model, X, y)
    assert certificate["gap"].value <= model.objective_ * (1 + 1e-6)
    assert certificate.holds == (model.objective_ <= certificate["gap"].bound)
