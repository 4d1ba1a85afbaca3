"""scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.contract.estimators import ROWS, checked_instances, contract_of


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The best (alpha|penalty)")
@pytest.mark.filterwarnings("ignore:.*minimum norm:scipy.linalg.LinAlgWarning")
@pytest.mark.filterwarnings("ignore:The covariance matrix of class")
@pytest.mark.filterwarnings("ignore:within_class_std_dev_ has at least 1 zero")
@pytest.mark.filterwarnings("ignore:Can't check dok sparse matrix for nan or inf")
@pytest.mark.filterwarnings("ignore:TreeAugmentedNB takes categories")
@parametrize_with_checks(
    checked_instances(),
    expected_failed_checks=lambda estimator: contract_of(estimator).expected_failures,
)
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_expected_failures_are_only_of_weight_equivalence():
    for failures in (row.contract.expected_failures for row in ROWS):
        assert all(name.startswith("check_sample_weight_equivalence") for name in failures)
        assert all(failures.values())
