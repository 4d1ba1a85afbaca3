"""Coordinate descent, on Gram matrices and on columns."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.linear_model import coordinate_descent
from rosenblatt.linear_model.coordinate_descent import (
    ColumnDescent,
    Columns,
    GramDescent,
    Penalty,
)
from tests.reference.lasso import centred, elastic_net


def table(n, d, seed=0):
    rng = np.random.RandomState(seed)
    X = np.round(rng.standard_normal((n, d)), 1)
    X[np.abs(X) < 0.4] = 0
    y = X[:, :3] @ np.array([2.0, -1.0, 0.5])[: min(3, d)] + rng.standard_normal(n)
    return X, y, rng.randint(1, 4, n).astype(float)


def descents(X, y, weights=None):
    """The same problem in all its forms."""
    A, t, mean_x, _ = centred(X, y, weights)
    p = np.ones(len(y)) / len(y) if weights is None else weights / weights.sum()
    root = np.sqrt(p)
    return {
        "gram": GramDescent(A.T @ A, A.T @ t, float(t @ t)),
        "dense": ColumnDescent(Columns(X, root, mean_x), t),
        "sparse": ColumnDescent(Columns(sp.csr_matrix(X), root, mean_x), t),
    }


def solved(descent, penalty, wanted=1e-12, most=500, rng=None):
    w = np.zeros(descent.n_weights)
    for step, _ in zip(descent.steps(penalty, w, wanted, rng), range(most), strict=False):
        if step.gap <= wanted * descent.yy:
            return w, step
    raise AssertionError(f"a gap of {step.gap} was not enough")


@pytest.mark.parametrize("form", ["gram", "dense", "sparse"])
@pytest.mark.parametrize("shape", [(60, 8), (20, 60), (1, 3), (5, 1)])
@pytest.mark.parametrize("penalty", [Penalty(0.1), Penalty(0.05, 0.2), Penalty(0.1, 0, True)])
def test_all_forms_find_what_the_book_finds(form, shape, penalty):
    X, y, weights = table(*shape)
    w, step = solved(descents(X, y, weights)[form], penalty)
    total = penalty.l1 + penalty.l2
    expected, _ = elastic_net(X, y, total, penalty.l1 / total, weights, positive=penalty.positive)
    A, t, *_ = centred(X, y, weights)
    # Where columns outnumber rows the weights need not be unique; the fit is.
    np.testing.assert_allclose(A @ w, A @ expected, atol=1e-5)
    value = (t - A @ w) @ (t - A @ w) / 2 + penalty.l1 * np.abs(w).sum() + penalty.l2 / 2 * w @ w
    assert step.objective == pytest.approx(value, rel=1e-10)


def test_a_set_too_large_for_a_gram_matrix_is_swept_by_columns(monkeypatch):
    monkeypatch.setattr(coordinate_descent, "LARGEST", 4)
    X, y, weights = table(40, 60)
    for form in ("dense", "sparse"):
        w, _ = solved(descents(X, y, weights)[form], Penalty(0.05), 1e-9)
        expected, _ = elastic_net(X, y, 0.05, 1.0, weights)
        np.testing.assert_allclose(w, expected, atol=1e-3)


def test_a_random_order_finds_the_same():
    X, y, _ = table(50, 9)
    for descent in descents(X, y).values():
        w, _ = solved(descent, Penalty(0.1), rng=np.random.RandomState(0))
        np.testing.assert_allclose(w, elastic_net(X, y, 0.1)[0], atol=1e-6)


def test_equal_columns_do_not_stop_the_descent():
    """Their equations have no single solution; the sweeps go on without them."""
    X, y, _ = table(40, 4)
    X = np.hstack([X, X, X])
    for descent in descents(X, y).values():
        w, _ = solved(descent, Penalty(0.1), 1e-10)
        np.testing.assert_allclose(
            w.reshape(3, 4).sum(0), elastic_net(X[:, :4], y, 0.1)[0], atol=1e-4
        )


@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(30, 6), (12, 25), (3, 2)]),
    l1=st.floats(1e-3, 2.0),
    l2=st.sampled_from([0.0, 1e-8, 0.1, 3.0]),
    positive=st.booleans(),
    scale=st.sampled_from([1e-2, 1.0, 1e2]),
)
def test_the_gap_is_never_below_the_true_excess(seed, shape, l1, l2, positive, scale):
    X, y, weights = table(*shape, seed)
    X, y = X * scale, y * scale + 1e3
    penalty = Penalty(l1 * scale**2, l2 * scale**2, positive)
    A, t, *_ = centred(X, y, weights)
    total = penalty.l1 + penalty.l2
    best, _ = elastic_net(X, y, total, penalty.l1 / total, weights, positive=positive)
    least = (t - A @ best) @ (t - A @ best) / 2
    least += penalty.l1 * np.abs(best).sum() + penalty.l2 / 2 * best @ best
    allowance = 1e-11 * (t @ t)
    for descent in descents(X, y, weights).values():
        w = np.zeros(X.shape[1])
        for step, _ in zip(descent.steps(penalty, w), range(6), strict=False):
            assert step.gap >= step.objective - least - allowance
            assert step.objective >= least - allowance
            assert step.gap >= 0


def test_the_objective_never_rises():
    X, y, weights = table(80, 30, seed=3)
    for descent in descents(X, y, weights).values():
        w = np.zeros(30)
        values = [
            s.objective for s, _ in zip(descent.steps(Penalty(0.02), w), range(12), strict=False)
        ]
        assert all(b <= a + 1e-12 for a, b in itertools.pairwise(values))
