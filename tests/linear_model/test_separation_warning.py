"""Maximum likelihood on classes that can be separated: said with a proof, never NaN."""

import threading
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import LogisticRegression
from rosenblatt.linear_model import SeparationWarning, separation_warning

SOLVERS = ["auto", "newton-cg", "lbfgs", "gradient", "sgd", "coordinate"]


def told_of(model, X, y):
    """The warning of a fit, and the model."""
    with pytest.warns(SeparationWarning) as told:
        model.fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_proba(X)).all()
    return next(w.message for w in told if isinstance(w.message, SeparationWarning))


def check_direction(warning, X, sign):
    """No row loses along the direction, and some gain."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X, float)
    gained = sign * (X @ warning.direction[:-1] + warning.direction[-1])
    assert gained.min() >= -1e-9 * gained.max()
    assert gained.max() > 0
    return gained


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("sparse", [False, True])
def test_complete_separation(solver, sparse):
    # K2: the conditional likelihood; why separable data has no best weights
    X = np.array([[1.0, 5], [2, 4], [3, 4], [4, 4], [5, 4], [6, 5]])
    y = [0, 0, 0, 1, 1, 1]
    table = sp.csr_matrix(X) if sparse else X
    model = LogisticRegression(C=np.inf, solver=solver, random_state=0)
    warning = told_of(model, table, y)
    assert warning.kind == "complete"
    assert warning.proof.verify(X, y)
    assert warning.columns == (0,)
    assert "completely by column 0, so no finite maximum-likelihood" in str(warning)
    assert "C=1.0" in str(warning)
    assert check_direction(warning, table, np.where(y, 1, -1)).min() > 0
    assert model.stop_reason_ in ("diverged", "max_iter")


def test_quasi_complete_separation_of_one_number():
    # The classic: overlap in a single value of x.
    X = np.array([[1.0], [2], [3], [3], [4], [5]])
    y = np.array([0, 0, 0, 1, 1, 1])
    warning = told_of(LogisticRegression(C=np.inf), X, y)
    assert warning.kind == "partial"
    assert warning.proof is None
    assert "in part (4 of 6 rows) by column 0" in str(warning)
    assert np.count_nonzero(np.abs(check_direction(warning, X, 2 * y - 1)) < 1e-9) == 2


def test_one_dummy_column_that_is_always_right_when_it_is_one():
    rng = np.random.RandomState(0)
    age, dose = rng.standard_normal(200), rng.standard_normal(200)
    y = (age + rng.logistic(size=200) > 0).astype(int)
    treated = np.zeros(200)
    treated[np.flatnonzero(y == 1)[:9]] = 1
    X = pd.DataFrame({"age": age, "dose": dose, "treated": treated})
    warning = told_of(LogisticRegression(C=np.inf), X, y)
    assert warning.kind == "partial"
    assert warning.columns == ("treated",)
    assert "in part (9 of 200 rows) by column 'treated'" in str(warning)
    check_direction(warning, X, 2 * y - 1)


@pytest.mark.parametrize("softmax", ["symmetric", "reference"])
def test_a_class_of_several_that_can_be_told_from_the_rest(softmax):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((150, 3))
    y = rng.randint(3, size=150)
    model = LogisticRegression(C=np.inf, softmax=softmax)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    X[y == 2, 1] += 10
    warning = told_of(model, X, y)
    assert warning.kind == "partial"
    assert warning.columns == (1,)
    X[y == 1, 1] -= 10
    assert told_of(model, X, y).kind == "complete"


def test_a_penalty_has_a_finite_answer_and_nothing_to_say():
    X, y = [[1.0], [2], [3], [4]], [0, 0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LogisticRegression().fit(X, y).stop_reason_ == "converged"


def test_without_a_bias_the_plane_goes_through_the_origin():
    X, y = [[1.0], [2], [3], [4]], [0, 0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression(C=np.inf, fit_intercept=False).fit(X, y)
    warning = told_of(LogisticRegression(C=np.inf, fit_intercept=False), [[-1.0], [2]], [0, 1])
    assert warning.kind == "complete"
    assert warning.direction[-1] == 0


def test_rows_without_weight_do_not_count():
    X = np.array([[1.0], [2], [3], [4], [2.5], [2.4]])
    y = [0, 0, 1, 1, 0, 1]
    with pytest.warns(SeparationWarning, match="completely"):
        LogisticRegression(C=np.inf).fit(X, y, [1, 1, 1, 1, 0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression(C=np.inf).fit(X, y)


@given(seed=st.integers(0, 10_000), n_rows=st.integers(4, 14), n_classes=st.sampled_from([2, 3]))
def test_it_is_said_exactly_when_a_linear_program_says_so(seed, n_rows, n_classes):
    """Small whole numbers lie on planes often, so that all three cases occur."""
    from scipy.optimize import linprog

    rng = np.random.RandomState(seed)
    X = rng.randint(-2, 3, size=(n_rows, 2)).astype(float)
    y = np.arange(n_rows) % n_classes
    rng.shuffle(y)
    Z = np.hstack([X, np.ones((n_rows, 1))])
    leads = []
    for i in range(n_rows):
        for k in set(range(n_classes)) - {y[i]}:
            lead = np.zeros((n_classes, 3))
            lead[y[i]] += Z[i]
            lead[k] -= Z[i]
            leads.append(lead.ravel())
    leads = np.array(leads)
    solved = linprog(-leads.sum(axis=0), A_ub=-leads, b_ub=np.zeros(len(leads)), bounds=(-1, 1))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert any(isinstance(w.message, SeparationWarning) for w in told) == (-solved.fun > 1e-7)
    assert np.isfinite(model.coef_).all()


def test_probabilities_of_zero_rule_nothing_out():
    """One step from zero to infinity: the row of another class had a probability of exactly 0."""
    X, y = [[0.0], [0], [0], [0], [2.0**28]], [0, 1, 2, 3, 0]
    warning = told_of(LogisticRegression(C=np.inf, fit_intercept=False), X, y)
    assert warning.kind == "partial"
    assert warning.columns == (0,)


def test_columns_that_differ_by_a_hundred_millionth_are_two():
    """Taken for one, they balanced up to that, which was taken for a proof of no direction."""
    rng = np.random.default_rng(0)
    x, z = np.round(1024 * rng.normal(size=200)) / 1024, rng.integers(-3, 4, 200)
    warning = told_of(LogisticRegression(C=np.inf), np.c_[x, x + z * 2.0**-27], z > 0)
    assert warning.kind == "complete"
    assert warning.proof.verify(np.c_[x, x + z * 2.0**-27], z > 0)


@pytest.mark.parametrize("K", [2, 3])
def test_a_sparse_column_far_from_zero_separates_as_it_does_near(K):
    """It was called a constant, and the fit went on to max_iter."""
    far = sp.csr_matrix(1e8 + np.array([[1.0], [2], [3], [3], [4], [5], [5], [6], [7]]))
    y = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]) % K
    y = np.sort(y)  # of two classes the fives are one of each
    warning = told_of(LogisticRegression(C=np.inf), far, y)
    assert warning.kind == "partial"
    assert warning.columns == (0,)


def test_the_proof_is_of_the_rows_that_count():
    X, y = np.array([[1.0], [2], [3], [4], [2.5], [2.4]]), np.array([0, 0, 1, 1, 0, 1])
    with pytest.warns(SeparationWarning) as told:
        LogisticRegression(C=np.inf).fit(X, y, [1, 1, 1, 1, 0, 0])
    assert told[0].message.proof.verify(X[:4], y[:4])
    assert "proves it with a margin" in str(told[0].message)


def test_a_tie_that_holds_up_to_rounding_only_says_so():
    """Of 0.1 + 0.2 and 0.3 the sum is the larger one, by a rounding of it."""
    X = np.array([[0.3, 0.3], [0.1 + 0.2, 0.3], [1, 2], [2, 1], [0.3, 0.3], [0.1, 0.1]])
    y = np.array([1, 0, 0, 1, 0, 1])  # by column 0 less column 1, but for row 1
    warning = told_of(LogisticRegression(C=np.inf), X, y)
    assert warning.kind == "partial"
    assert warning.grade == "checked"
    assert "by columns 0, 1 up to rounding, so" in str(warning)
    X[1, 0] = 0.3
    warning = told_of(LogisticRegression(C=np.inf), X, y)
    assert warning.grade == "proved"
    assert "by columns 0, 1, so" in str(warning)


def noise(K=2, n=600, d=4):
    """Rows of classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, K)) + 2 * rng.gumbel(size=(n, K))).argmax(axis=1)


def turned(K=2):
    """As `noise`, but a combination of all columns is above zero on 20 rows of class 1 alone."""
    X, y = noise(K)
    X[:, 3] = 0.0
    X[np.flatnonzero(y == 1)[:20], 3] = 1.0
    return X @ np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))[0], y


def messages_of(X, y, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LogisticRegression(C=np.inf, **settings).fit(X, y)
    return model, [w.message for w in caught]


@pytest.mark.parametrize("K", [2, 3])
def test_a_combination_of_columns_that_separates_some_rows(K):
    assert messages_of(*noise(K))[1] == []
    _, (warning,) = messages_of(*turned(K))
    assert warning.kind == "partial"
    assert warning.columns == (0, 1, 2, 3)
    assert "in part (20 of 600 rows)" in str(warning)


@pytest.mark.parametrize("softmax", ["symmetric", "reference"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_columns_that_know_a_class_are_named(K, softmax, sparse):
    for k in range(K):
        X, y = noise(K)
        X[:, 1], X[:, 2] = 0.0, 7.0
        X[np.flatnonzero(y == k)[:3], 1] = 0.3
        X[np.flatnonzero(y == k)[2:6], 2] = 6.5
        _, (warning,) = messages_of(sp.csr_matrix(X) if sparse else X, y, softmax=softmax)
        assert warning.kind == "partial"
        assert set(warning.columns) <= {1, 2}
        assert warning.grade == "proved"


def test_a_column_must_separate_at_zero_without_an_intercept():
    X, y = noise()
    X[:, 1] = 1.0 + (y == 1) * (np.arange(len(y)) < 50)
    assert messages_of(X, y)[1][0].columns == (1,)
    assert messages_of(X, y, fit_intercept=False)[1] == []


def test_a_long_table_is_separated_by_its_own_fit():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((100_000, 52))
    y = (X @ rng.standard_normal(52) > 0).astype(int)
    model, (warning,) = messages_of(X, y)
    assert warning.kind == "complete"
    assert warning.proof.verify(X, y)
    assert model.stop_reason_ == "diverged"


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("softmax", ["symmetric", "reference"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("max_cells", [10, 10**9])
def test_a_table_of_more_columns_than_rows_is_separated(
    K, softmax, fit_intercept, max_cells, monkeypatch
):
    monkeypatch.setattr(separation_warning, "MAX_CELLS", max_cells)
    X = sp.random(60, 1500, 0.5, random_state=0, format="csr")
    y = np.random.default_rng(0).permutation(np.arange(60) % K)
    model = LogisticRegression(C=np.inf, softmax=softmax, fit_intercept=fit_intercept)
    warning = told_of(model, X, y)
    assert warning.kind == "complete"
    assert warning.proof.verify(X, y)
    assert len(warning.columns) == X.shape[1]
    assert f"proves it with a margin of {warning.proof.margin:.3g}" in str(warning)
    assert model.stop_reason_ == "diverged"


def test_a_large_table_is_not_searched_and_told_only_if_weights_still_grow(monkeypatch):
    monkeypatch.setattr(separation_warning, "MAX_CELLS", 10)
    assert messages_of(*noise())[1] == []
    _, (warning,) = messages_of(*turned())
    assert isinstance(warning, ConvergenceWarning)
    assert not isinstance(warning, SeparationWarning)
    assert "columns were not searched for a separation, because 600 rows of 4" in str(warning)


def test_ctrl_c_is_noticed_while_a_program_runs(monkeypatch):
    solve, where = separation_warning.linprog, []

    def noted(*args, **options):
        where.append(threading.current_thread())
        return solve(*args, **options)

    monkeypatch.setattr(separation_warning, "linprog", noted)
    messages_of(np.array([[1.0], [2], [3], [3], [4], [5]]), [0, 0, 0, 1, 1, 1])
    assert where
    assert threading.main_thread() not in where


def test_rows_without_weight_have_no_part_in_the_proof():
    X = sp.random(60, 1500, 0.5, random_state=0, format="csr")
    y = np.random.default_rng(0).permutation(np.arange(60) % 2)
    weight = np.ones(len(y))
    weight[0] = 0.0
    X = sp.vstack([X[1], X[1:]]).tocsr()  # row 0 is another label for the row after it
    with pytest.warns(SeparationWarning, match="completely") as told:
        LogisticRegression(C=np.inf).fit(X, y, sample_weight=weight)
    proof = told[0].message.proof
    assert proof.verify(X[1:], y[1:])
    assert not proof.verify(X, y)
