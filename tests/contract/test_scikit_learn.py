"""scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.contract.estimators import CHECKED_SETTINGS, EXPECTED_FAILURES, instances


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The best (alpha|penalty)")
@pytest.mark.filterwarnings("ignore:.*minimum norm:scipy.linalg.LinAlgWarning")
@pytest.mark.filterwarnings("ignore:The covariance matrix of class")
@pytest.mark.filterwarnings("ignore:Can't check dok sparse matrix for nan or inf")
@parametrize_with_checks(
    instances(CHECKED_SETTINGS),
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator).__name__, {}),
)
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_expected_failures_are_only_of_weight_equivalence():
    for failures in EXPECTED_FAILURES.values():
        assert all(name.startswith("check_sample_weight_equivalence") for name in failures)
        assert all(failures.values())
