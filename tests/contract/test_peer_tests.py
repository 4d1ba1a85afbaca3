"""scikit-learn's own tests of our classes: every class has a module, and the list is held to."""

import sys
from pathlib import Path

import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.linear_model._ridge import _RidgeGCV, _solve_svd
from sklearn.utils._testing import assert_allclose

from tests.contract.test_parity import SHARED
from tools.peer_tests import TABLE, Listed, is_private, main

ROWS = """The list is for scikit-learn {version}.

| test_perceptron | `test_undefined_methods` | it passes |
| test_perceptron | `test_that_does_not_exist` | it is none |
"""


def test_every_class_runs_scikit_learns_own_tests():
    swapped = {name for module in TABLE for name in module.names}
    assert {estimator.__name__ for estimator in SHARED} <= swapped
    assert all((Path(sklearn.__file__).parent / module.path).exists() for module in TABLE)


def test_a_row_of_the_list_matches_tests_by_their_names():
    row = Listed("test_ridge", "test_fit[*svd]", "a reason")
    assert row.matches("test_ridge", "test_fit[42-svd]")
    assert not row.matches("test_ridge", "test_fit[42-svd-True]")
    assert not row.matches("test_base", "test_fit[42-svd]")


def test_private_names_are_those_that_no_public_module_has():
    assert is_private(_RidgeGCV)
    assert is_private(_solve_svd)
    assert not is_private(Ridge)
    assert not is_private(assert_allclose)  # what the tests are written with


@pytest.mark.parametrize(("version", "fails"), [(sklearn.__version__, True), ("1.0", False)])
def test_a_list_that_is_wrong_fails_the_run_of_its_version(
    version, fails, tmp_path, monkeypatch, capfd
):
    file = tmp_path / "list.md"
    file.write_text(ROWS.format(version=version), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["", "test_perceptron", "-n0", "--list", str(file)])
    failed, printed = bool(main()), capfd.readouterr().out
    assert failed == fails, printed
    assert ("XPASS(strict)" in printed) == fails
    assert "a test that does not exist: test_perceptron test_that_does_not_exist" in printed
