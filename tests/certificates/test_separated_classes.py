"""Quasi-complete separation has a claim of its own: a direction that lowers no row."""

import signal
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression as Theirs

from rosenblatt import LogisticRegression, certify, separability
from rosenblatt.certificates.separated_classes import direction
from rosenblatt.linear_model import SeparationWarning


def fitted(X, y, kind=LogisticRegression, **settings):
    """A fit without a penalty, and what it said of separation."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = kind(C=np.inf, **settings).fit(X, y)
    kinds = [w.message.kind for w in told if isinstance(w.message, SeparationWarning)]
    return model, kinds[0] if kinds else None


def dummy(K=2, n=80, seed=0):
    """Noise in one column, and another that is 1 for one class only."""
    rng = np.random.default_rng(seed)
    X = np.c_[rng.normal(size=n), rng.integers(0, 2, n)]
    y = ((X[:, 0] + rng.normal(size=n) > 0) | (X[:, 1] == 1)).astype(int)
    if K == 3:
        y[(X[:, 1] == 0) & (rng.random(n) < 0.4)] = 2
    return X, y


@pytest.mark.parametrize("kind", [LogisticRegression, Theirs])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_column_that_decides_some_rows_alone(kind, K, sparse):
    X, y = dummy(K)
    rows = sp.csr_matrix(X) if sparse else X
    model, _ = fitted(rows, y, kind)
    certificate = certify(model, rows, y)
    claim = certificate["separability"]
    assert claim.grade == "proved"
    assert claim.value == (X[:, 1] == 1).sum()
    assert "a direction of column 1 raises" in claim.statement
    assert "no finite best exists" in claim.statement
    assert certificate.holds == certificate["gap"].holds


def test_the_gap_is_the_distance_from_the_value_that_is_never_reached():
    X, y = dummy()
    rest = X[:, 1] == 0  # what no direction raises; its own best is finite
    best = LogisticRegression(C=np.inf, tol=1e-12).fit(X[rest][:, :1], y[rest]).objective_
    for steps in (1, 3, 6):
        model, _ = fitted(X, y, max_iter=steps)
        gap = certify(model, X, y)["gap"]
        excess = model.objective_ - best
        assert excess * (1 - 1e-6) <= gap.value <= 1.01 * excess + 1e-6
        assert gap.holds == (gap.value <= gap.bound)


def test_columns_are_named_and_the_tie_may_be_any_number():
    X = pd.DataFrame({"age": [1.1, 2.2, 3.3, 3.3, 4.7, 5.9], "other": [1.0, 0, 1, 0, 1, 0]})
    y = [0, 0, 0, 1, 1, 1]
    X.loc[[2, 3], "other"] = 0.0
    model, kind = fitted(X, y)
    assert kind == "partial"
    claim = certify(model, X, y)["separability"]
    assert claim.grade == "proved"
    assert "age" in claim.statement


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("K", [2, 3])
def test_a_claim_is_made_exactly_when_the_fit_finds_a_direction(fit_intercept, K):
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(40):
        X = rng.integers(-2, 3, size=(rng.integers(5, 14), 2)).astype(float)
        y = np.r_[np.arange(K), rng.integers(0, K, len(X) - K)]
        model, kind = fitted(X, y, fit_intercept=fit_intercept)
        names = [claim.name for claim in certify(model, X, y)]
        assert ("separability" in names) == (kind is not None)
        found = direction(X, y, fit_intercept)
        assert (found is None) == (kind is None)
        if found is not None:
            assert found.grade == "proved"
            assert found.rows.all() or kind == "partial"
        seen.add(kind)
    assert seen == {None, "partial", "complete"}


def test_a_direction_that_no_simple_numbers_make_is_checked():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    X, y = dummy()
    found = direction(X @ turn, y, True)
    assert found.grade == "checked"
    assert found.rows.sum() == (X[:, 1] == 1).sum()
    claim = certify(fitted(X @ turn, y)[0], X @ turn, y)["separability"]
    assert "lowers none by more than the rounding of its products" in claim.statement


def test_a_table_too_large_to_look_at_has_its_gap_alone(monkeypatch):
    for limit in ("FEW_CELLS", "MOST_CELLS"):
        monkeypatch.setattr(f"rosenblatt.certificates.separated_classes.{limit}", 10)
    X, y = dummy()
    X = X @ np.linalg.qr(np.random.default_rng(0).normal(size=(2, 2)))[0]
    assert "separability" not in [claim.name for claim in certify(fitted(X, y)[0], X, y)]


OVERLAPS = [
    [-3, -2, -1, 0.5, 0, 1, 2, 1e8],
    [-3, -2, -1, 1e-7, 0, 1, 2, 3],
    [0, 0, 0, 1e-9, 0, 0, 1, 1],
    [-1e8, -2, -1, 1e-3, 0, 1, 2, 1e12],
]


@pytest.mark.parametrize("x", OVERLAPS)
@pytest.mark.parametrize("kind", [LogisticRegression, Theirs])
def test_one_large_value_hides_no_overlap(x, kind):
    """Row 3 is on the other side of row 4, however little that is next to the largest value."""
    X, y = np.reshape(x, (-1, 1)).astype(float), np.repeat([0, 1], 4)
    model, said = fitted(X, y, kind)
    assert said is None
    assert direction(X, y, True) is None
    assert "separability" not in [claim.name for claim in certify(model, X, y)]


def test_the_same_without_the_overlap_is_found():
    for x in OVERLAPS:
        X, y = np.reshape(x, (-1, 1)).astype(float), np.repeat([0, 1], 4)
        X[3] = X[4]
        assert fitted(X, y)[1] == "partial"
        assert direction(X, y, True).grade == "proved"


def test_columns_of_very_different_sizes_are_claimed_only_if_separable():
    rng = np.random.default_rng(0)
    for _ in range(30):
        X = rng.lognormal(sigma=8, size=(40, 2)) * rng.choice([-1, 1], (40, 2))
        y = rng.integers(0, 2, 40)
        separable = separability(X, y).separable
        _, said = fitted(X, y)
        assert (said is not None) == separable
        assert separable or direction(X, y, True) is None


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_single_columns_of_a_large_table_need_no_program(K, sparse, fit_intercept, monkeypatch):
    X, y = dummy(K)
    rows = sp.csr_matrix(X) if sparse else X
    wanted = direction(rows, y, fit_intercept)
    monkeypatch.setattr("rosenblatt.certificates.separated_classes.FEW_CELLS", 10)
    monkeypatch.setattr("rosenblatt.certificates.separated_classes.linprog", None)
    found = direction(rows, y, fit_intercept)
    assert found.columns.tolist() == wanted.columns.tolist() == [1]
    assert found.grade == "proved"
    np.testing.assert_array_equal(found.ahead, wanted.ahead)


def test_a_column_far_from_zero_is_found_where_the_program_finds_nothing():
    X, y = np.array([[1.0], [2], [3], [3], [4], [5]]) + 1e7, np.repeat([0, 1], 3)
    model, kind = fitted(X, y)
    assert kind == "partial"
    claim = certify(model, X, y)["separability"]
    assert (claim.grade, claim.value) == ("proved", 4)


def test_the_program_hears_an_interrupt(monkeypatch):
    """A program may take twenty seconds, and is one call into HiGHS."""

    def slow(*args, **kwargs):
        time.sleep(5)

    monkeypatch.setattr("rosenblatt.certificates.separated_classes.linprog", slow)
    X, y = np.array([[1.0], [2], [3], [3], [4], [5]]), np.array([0, 0, 0, 1, 1, 1])
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        direction(X, y, True)
    assert time.monotonic() - started < 3
