"""The search for a direction, row by row as needed: the same answers as with all rows at once."""

import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import LogisticRegression
from rosenblatt.linear_model import SeparationWarning, separating_direction
from rosenblatt.linear_model.separating_direction import Leads, by_columns, by_program
from rosenblatt.solvers.logistic_problem import BinaryProblem
from rosenblatt.solvers.softmax import SoftmaxProblem


def problem_of(X, y, fit_intercept=True, reference=False, c=None):
    K, c = len(np.unique(y)), np.ones(len(y)) if c is None else c
    if K == 2:
        return BinaryProblem(X, np.where(y == 1, 1.0, -1.0), c, 0.0, 0.0, fit_intercept)
    return SoftmaxProblem(X, y.astype(np.int32), K, c, 0.0, 0.0, fit_intercept, reference)


def noise(K=2, n=600, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, K)) + 2 * rng.gumbel(size=(n, K))).argmax(axis=1)


def said(X, y, **settings):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = LogisticRegression(C=np.inf, **settings).fit(X, y)
    return model, [w.message for w in told]


@pytest.mark.parametrize(("K", "reference"), [(2, False), (3, False), (3, True)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("sparse", [False, True])
def test_leads_are_those_of_the_scores(K, reference, fit_intercept, sparse):
    X, y = noise(K, n=30)
    c = np.arange(30) % 7 * 0.5
    problem = problem_of(sp.csr_matrix(X) if sparse else X, y, fit_intercept, reference, c)
    leads, used = Leads(problem), np.flatnonzero(c)
    direction = np.random.default_rng(1).normal(size=problem.shape)
    table = direction.reshape(5, -1)
    scores = X @ table[:-1] + table[-1] * fit_intercept
    scores = np.c_[0 * scores, scores] if K == 2 else scores
    scores = np.c_[scores, np.zeros(30)] if reference else scores
    wanted = (scores[np.arange(30), y][:, None] - scores)[used]
    pairs = np.flatnonzero(~leads.own)
    along = leads.along(direction).ravel()[pairs]
    others = np.arange(K) != y[used][:, None]
    np.testing.assert_allclose(along, wanted[others], atol=1e-12)
    np.testing.assert_allclose(leads.matrix(pairs) @ direction.ravel(), along, atol=1e-12)
    np.testing.assert_allclose(leads.total() @ direction.ravel(), along.sum(), atol=1e-10)
    assert (leads.rounding(direction).ravel()[pairs] < 1e-13).all()


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("case", ["none", "turned", "complete"])
def test_some_pairs_give_the_answer_of_all(K, case, monkeypatch):
    X, y = noise(K)
    if case == "turned":
        X[:, 3] = 0.0
        X[np.flatnonzero(y == 1)[:20], 3] = 1.0
        X = X @ np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))[0]
    elif case == "complete":
        y = (X @ np.random.default_rng(3).normal(size=(4, K))).argmax(axis=1)
    problem = problem_of(X, y)
    start = np.zeros(problem.shape)
    monkeypatch.setattr(separating_direction, "FEW_CELLS", 500)
    for complete in (True, False):
        found = by_program(Leads(problem), start, complete)
        assert (found is not None) == (case == "complete" or (case == "turned" and not complete))
        if case == "turned" and not complete:
            assert found.n_ahead == 20
            assert not found.complete


@pytest.mark.parametrize("softmax", ["symmetric", "reference"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_columns_that_know_a_class_are_all_named(K, softmax, sparse):
    for k in range(K):
        X, y = noise(K)
        X[:, 1], X[:, 2] = 0.0, 7.0
        X[np.flatnonzero(y == k)[:3], 1] = 0.3
        X[np.flatnonzero(y == k)[2:6], 2] = 6.5
        _, (warning,) = said(sp.csr_matrix(X) if sparse else X, y, softmax=softmax)
        assert warning.kind == "partial"
        assert set(warning.columns) <= {1, 2}
        problem = problem_of(X, y, reference=softmax == "reference")
        found = by_columns(Leads(problem))
        assert np.flatnonzero(np.abs(found.direction[:-1]).reshape(4, -1).any(axis=1)).tolist() == [
            1,
            2,
        ]
        assert found.n_ahead == 6
        gained = Leads(problem).along(found.direction)
        assert gained.min() >= -1e-12


def test_a_column_must_part_at_zero_without_a_bias():
    X, y = noise()
    X[:, 1] = 1.0 + (y == 1) * (np.arange(len(y)) < 50)
    assert by_columns(Leads(problem_of(X, y))) is not None
    assert by_columns(Leads(problem_of(X, y, fit_intercept=False))) is None
    assert by_columns(Leads(problem_of(*noise()))) is None


@pytest.mark.parametrize("K", [2, 3])
def test_a_class_without_weight_has_no_columns(K):
    X, y = noise(K)
    assert by_columns(Leads(problem_of(X, y, c=(y != 1) * 1.0))) is None


def test_a_long_table_is_searched_too():
    """One of 5 million numbers was not, and its fit said it had converged."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((100_000, 52))
    y = (X @ rng.standard_normal(52) > 0).astype(int)
    model, (warning,) = said(X, y)
    assert warning.kind == "complete"
    assert warning.proof.verify(X, y)
    assert model.stop_reason_ == "diverged"


def test_a_search_given_up_is_told_only_if_weights_still_grow(monkeypatch):
    monkeypatch.setattr(separating_direction, "MOST_CELLS", 10)
    X, y = noise()
    assert said(X, y)[1] == []
    X[:, 3] = 0.0
    X[np.flatnonzero(y == 1)[:20], 3] = 1.0
    X = X @ np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))[0]
    _, (warning,) = said(X, y)
    assert isinstance(warning, ConvergenceWarning)
    assert not isinstance(warning, SeparationWarning)
    assert "was not checked to the end, because 600 rows of 4 columns" in str(warning)


def test_ctrl_c_is_heard_while_a_program_runs(monkeypatch):
    solve, where = separating_direction.linprog, []

    def noted(*args, **options):
        where.append(threading.current_thread())
        return solve(*args, **options)

    monkeypatch.setattr(separating_direction, "linprog", noted)
    said(np.array([[1.0], [2], [3], [3], [4], [5]]), [0, 0, 0, 1, 1, 1])
    assert where
    assert threading.main_thread() not in where
