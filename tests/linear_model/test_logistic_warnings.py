"""What a logistic fit says of its columns: which are dependent, and which to standardise."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.linalg import LinAlgWarning

from rosenblatt import LogisticRegression

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
NOISE = RNG.normal(size=200)
TWO = (X[:, 0] + NOISE > 0).astype(int)
THREE = np.digitize(X[:, 0] + NOISE, [-1, 1])
NAMES = ["length", "width", "depth", "age"]


def told(model, table, y):
    """What a fit warns of, and where."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(table, y)
    assert all(warning.filename == __file__ for warning in caught)
    return [str(w.message) for w in caught if issubclass(w.category, LinAlgWarning)]


@pytest.mark.parametrize("y", [TWO, THREE])
@pytest.mark.parametrize("storage", [pd.DataFrame, np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("far", [0.0, 1e3])
def test_dependent_columns_are_named_where_no_penalty_decides(y, storage, far):
    names = [*NAMES, "sum", "seven"]
    table = np.c_[X + far, X[:, 0] + X[:, 1], np.full(200, 7.0)]
    as_given = pd.DataFrame(table, columns=names) if storage is pd.DataFrame else storage(table)
    (message,) = told(LogisticRegression(C=np.inf), as_given, y)
    assert "determine 4 of 6 coefficients" in message
    named = ("'seven'", "'length', 'width', 'sum'") if storage is pd.DataFrame else ("5", "0, 1, 4")
    assert f"constant: {named[0]}; linearly dependent: {named[1]}." in message
    assert told(LogisticRegression(), as_given, y) == []


def test_independent_columns_are_not_doubted():
    for table in (X, X + 1e6, X * [1, 1e5, 1e-5, 1], sp.csr_matrix(X)):
        assert told(LogisticRegression(C=np.inf), table, TWO) == []
    assert (
        told(LogisticRegression(C=np.inf, fit_intercept=False), np.c_[X, np.ones(200)], TWO) == []
    )
    nearly = np.c_[X, X[:, 0] + 1e-4 * RNG.normal(size=200)]
    assert told(LogisticRegression(C=np.inf), nearly, TWO) == []


def test_dependent_columns_have_the_probabilities_of_the_others():
    both = np.c_[X, X[:, 0] + X[:, 1]]
    model = LogisticRegression(C=np.inf, tol=1e-8)
    assert told(model, both, TWO)
    alone = LogisticRegression(C=np.inf, tol=1e-8).fit(X, TWO)
    np.testing.assert_allclose(model.predict_proba(both), alone.predict_proba(X), atol=1e-6)
    assert np.abs(model.coef_).max() < 10


@pytest.mark.parametrize("storage", [pd.DataFrame, sp.csr_matrix])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
def test_columns_on_very_different_scales_are_to_be_standardised(storage, l1_ratio):
    table = X * [1, 1e5, 1e-5, 1]
    as_given = pd.DataFrame(table, columns=NAMES) if storage is pd.DataFrame else storage(table)
    model = LogisticRegression(l1_ratio=l1_ratio, max_iter=1000)
    (message,) = told(model, as_given, TWO)
    names = "'width', 'depth'" if storage is pd.DataFrame else "1, 2"
    assert f"Standardise {names}, or all columns" in message
    assert told(LogisticRegression(l1_ratio=l1_ratio), X * [1, 1e2, 1e-2, 1], TWO) == []
