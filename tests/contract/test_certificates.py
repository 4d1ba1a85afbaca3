"""Every classifier can be certified, and its certificate speaks of the numbers given."""

import numpy as np
import pytest
from sklearn.base import clone

from rosenblatt import certify
from rosenblatt.certificates.dispatch import ADAPTERS
from tests.contract.estimators import instances, name_of, problem

pytestmark = pytest.mark.usefixtures("unconverged")


def is_certified(estimator):
    """Whether `certify` knows the class."""
    return ("rosenblatt", type(estimator).__name__) in ADAPTERS


each_setting = pytest.mark.parametrize(
    "estimator", [e for e in instances() if is_certified(e)], ids=name_of
)


@each_setting
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_has_a_claim_that_was_checked_and_agrees_with_predict(estimator, n_classes):
    X, y = problem(n_classes)
    model = clone(estimator).fit(X, y)
    certificate = certify(model, X, y)
    assert any(claim.grade in ("proved", "checked") for claim in certificate.claims)
    assert certificate["training error"].value == np.count_nonzero(model.predict(X) != y)
    assert certificate.holds, str(certificate)


@each_setting
def test_certifying_changes_nothing(estimator):
    X, y = problem()
    model = clone(estimator).fit(X, y)
    before, rows = dict(vars(model)), X.copy()
    certify(model, X, y)
    assert vars(model) == before
    assert np.array_equal(X, rows)
