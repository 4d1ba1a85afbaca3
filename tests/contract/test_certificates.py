"""A certificate holds for the fit of every model that has one, and speaks of its numbers."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from rosenblatt import certify
from rosenblatt.registry import row_of
from tests.contract.estimators import instances, name_of, only, problem

pytestmark = pytest.mark.usefixtures("unconverged")


def certifiable(estimator):
    return bool(row_of(type(estimator).__name__).certificate)


each_setting = pytest.mark.parametrize("estimator", only(certifiable, instances()), ids=name_of)


@each_setting
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_has_a_claim_that_was_checked_and_agrees_with_predict(estimator, n_classes):
    X, y = problem(n_classes, estimator=estimator)
    model = clone(estimator).fit(X, y)
    certificate = certify(model, X, y)
    quality = [c for c in certificate if not c.is_measurement and c.name != "training error"]
    # A perceptron has its mistakes alone to speak of.
    assert quality or "Perceptron" in type(model).__name__
    if is_classifier(model):
        assert certificate["training error"].value == np.count_nonzero(model.predict(X) != y)
    failing = [claim.name for claim in certificate if not claim.holds]
    stopped = getattr(model, "stop_reason_", "converged") == "max_iter"
    assert certificate.holds or (stopped and failing in (["gap"], ["next step"])), str(certificate)


@each_setting
def test_certifying_changes_nothing(estimator):
    X, y = problem(estimator=estimator)
    model = clone(estimator).fit(X, y)
    before, rows = dict(vars(model)), X.copy()
    certify(model, X, y)
    assert vars(model) == before
    assert np.array_equal(X, rows)
