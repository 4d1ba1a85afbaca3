"""Planes at hand: rows wider than long are separated without a search, and the proof holds."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import LogisticRegression
from rosenblatt.linear_model import SeparationWarning, separating_direction, separation_warning
from rosenblatt.linear_model.separation_warning import proof_by, separating
from rosenblatt.solvers.logistic_problem import BinaryProblem
from rosenblatt.solvers.softmax import SoftmaxProblem


def wide(n=60, d=1500, K=3, seed=0):
    rng = np.random.default_rng(seed)
    return sp.random(n, d, 0.5, random_state=seed, format="csr"), rng.permutation(np.arange(n) % K)


def problem_of(X, y, K, fit_intercept=True, reference=False):
    c = np.ones(len(y))
    if K == 2:
        return BinaryProblem(X, np.where(y == 1, 1.0, -1.0), c, 0.0, 0.0, fit_intercept)
    return SoftmaxProblem(X, y.astype(np.int32), K, c, 0.0, 0.0, fit_intercept, reference)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("softmax", ["symmetric", "reference"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_wide_table_is_separated_by_its_own_fit(K, softmax, fit_intercept, monkeypatch):
    monkeypatch.setattr(separating_direction, "linprog", None)  # no search
    X, y = wide(K=K)
    model = LogisticRegression(C=np.inf, softmax=softmax, fit_intercept=fit_intercept)
    with pytest.warns(SeparationWarning) as told:
        model.fit(X, y)
    warning = told[0].message
    assert warning.kind == "complete"
    assert warning.proof.verify(X, y)
    assert len(warning.columns) == X.shape[1]
    assert f"{warning.proof.margin:.3g}" in str(warning)
    assert "The plane found proves it" in str(warning)
    assert model.stop_reason_ == "diverged"


@pytest.mark.parametrize(("K", "reference"), [(2, False), (3, False), (3, True)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("dense", [True, False])
def test_least_squares_separates_where_the_fit_does_not_yet(K, reference, fit_intercept, dense):
    X, y = wide(K=K)
    X = X.toarray() if dense else X
    problem = problem_of(X, y, K, fit_intercept, reference)
    plane = separating(problem, np.zeros(problem.shape))
    assert plane.shape == problem.shape
    assert proof_by(problem, plane, X, y).verify(X, y)
    # Labels that the plane was not made for are not proved by it.
    assert proof_by(problem, plane, X, np.roll(y, 1)) is None


def test_equal_rows_of_different_classes_are_not_separated():
    X, y = wide(K=2)
    X = sp.vstack([X, X[:1]]).tocsr()
    problem = problem_of(X, np.append(y, 1 - y[0]), 2)
    assert separating(problem, np.zeros(problem.shape)) is None


def test_a_table_too_large_for_a_program_is_told_by_its_fit(monkeypatch):
    monkeypatch.setattr(separation_warning, "MANY_CELLS", 100)
    x = np.linspace(-1, 1, 200)
    with pytest.warns(SeparationWarning, match="completely by columns 0, 1, so no finite"):
        LogisticRegression(C=np.inf).fit(np.c_[x, x**2], x > 0)


def test_rows_without_weight_have_no_part_in_the_proof():
    X, y = wide(K=2)
    weight = np.ones(len(y))
    weight[0] = 0.0
    X = sp.vstack([X[1], X[1:]]).tocsr()  # row 0 is another label for the row after it
    with pytest.warns(SeparationWarning, match="completely") as told:
        LogisticRegression(C=np.inf).fit(X, y, sample_weight=weight)
    proof = told[0].message.proof
    assert proof.verify(X[1:], y[1:])
    assert not proof.verify(X, y)
