"""Findings of each kind, made once, and a browser to look at their pages."""

import pytest

from tests.browser import Browser
from tests.workbench.report import comparing
from tests.workbench.report.comparing import CLASSIFIERS, compare

QUICK = ("logistic regression", "Gaussian naive Bayes", "linear discriminant analysis")


@pytest.fixture(scope="session")
def binary():
    return compare("breast_cancer", "diagnosis", {name: CLASSIFIERS[name] for name in QUICK})


@pytest.fixture(scope="session")
def iris():
    return compare("iris", "species")


@pytest.fixture(scope="session")
def digits():
    """Ten classes, from the quickest family alone."""
    families = {QUICK[1]: CLASSIFIERS[QUICK[1]]}
    return compare("digits", "digit", families, certified=False)


@pytest.fixture(scope="session")
def diabetes():
    return compare("diabetes", "progression")


@pytest.fixture(scope="session")
def every_kind(binary, iris, digits, diabetes):
    """One of each kind, and some that are out of the ordinary."""
    return {
        "binary": binary,
        "iris": iris,
        "digits": digits,
        "diabetes": diabetes,
        "hostile": comparing.hostile(iris),
        "unfinished": comparing.unfinished(iris),
        "wide": comparing.wide(binary),
    }


KINDS = ("binary", "iris", "digits", "diabetes", "hostile", "unfinished", "wide")


@pytest.fixture(params=KINDS)
def findings(request, every_kind):
    return every_kind[request.param]


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser
