"""A column far from zero has the fit it would have near it, and its bias makes up for that."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import LogisticRegression, certify
from rosenblatt.linear_model import SeparationWarning
from rosenblatt.linear_model.centered_rows import offsets, shift_intercept


def rows(K=2, n=60):
    rng = np.random.RandomState(0)
    X = np.c_[np.arange(n), rng.randint(-9, 10, n)].astype(float)
    return X, (X @ rng.standard_normal((2, K)) + 20 * rng.gumbel(size=(n, K))).argmax(axis=1)


@pytest.mark.parametrize("offset", [1e5, 1e7, 1e8, 1e10])
@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("softmax", ["symmetric", "reference"])
@pytest.mark.parametrize("K", [2, 3])
def test_an_offset_changes_nothing_but_the_bias(offset, C, softmax, K):
    """From 1e7 on the fit went on to max_iter, and its weight was wrong from 1e8 on."""
    X, y = rows(K)
    far = X + [offset, 0]
    near = LogisticRegression(C=C, softmax=softmax, tol=1e-9).fit(X, y)
    model = LogisticRegression(C=C, softmax=softmax, tol=1e-9).fit(far, y)  # no warning
    assert model.stop_reason_ == "converged"
    np.testing.assert_allclose(model.coef_, near.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(far), near.predict_proba(X), atol=1e-5)
    model.set_params(warm_start=True).fit(far, y)
    assert model.n_iter_[0] <= 2


def test_the_certificate_of_a_far_column_holds():
    X, y = rows()
    assert certify(LogisticRegression(tol=1e-6).fit(X + [1e6, 0], y), X + [1e6, 0], y).holds


def test_separation_is_told_in_the_columns_given():
    X, y = rows()
    X, y = X + [1e8, 0], (np.arange(60) > 30).astype(int)
    with pytest.warns(SeparationWarning) as told:
        LogisticRegression(C=np.inf).fit(X, y)
    warning = told[0].message
    assert warning.kind == "complete"
    assert warning.columns[0] == 0
    assert warning.proof.verify(X, y)
    gained = (2 * y - 1) * (X @ warning.direction[:-1] + warning.direction[-1])
    assert gained.min() > 0


def test_offsets_are_of_far_columns_alone():
    X, _ = rows()
    far = np.c_[X + [1e7, 5], np.full(60, 1e7)]
    shift = offsets(far, True)
    assert shift[0] in far[:, 0]
    assert shift[1:].tolist() == [0, 0]  # near zero; and a constant
    assert offsets(far, False) is None
    assert offsets(sp.csr_matrix(far), True).tolist() == shift.tolist()  # as full as dense
    assert offsets(X, True) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert offsets(np.array([[np.nan, np.inf], [1.0, 2.0]]), True) is None


def test_weights_moved_there_and_back():
    table, shift = np.arange(6.0).reshape(3, 2), np.array([3.0, 4.0])
    there = shift_intercept(table, shift, 1)
    np.testing.assert_array_equal(shift_intercept(there, shift, -1), table)
    np.testing.assert_array_equal(there[-1], table[-1] + shift @ table[:-1])
    assert shift_intercept(table, None, 1) is table


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0, 1])
@pytest.mark.parametrize("offset", [1e4, 1e9])
def test_the_gradient_published_is_that_of_the_columns_given(offset, l1_ratio, K, storage):
    """Of ten such tables six had it of the columns less their offsets, and no certificate."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        near = rng.standard_normal((200, 20))
        y = (near[:, :K] + rng.gumbel(size=(200, K))).argmax(axis=1)
        X = near + offset
        model = LogisticRegression(l1_ratio=l1_ratio).fit(storage(X), y)
        assert certify(model, storage(X), y).holds
        if l1_ratio or offset > 1e6:  # beyond, the rounding of intercept_ alone is more than that
            continue
        p = model.predict_proba(X) - np.eye(K)[y]
        p = p[:, 1:] if K == 2 else p
        slopes = np.c_[(X.T @ p).T + model.coef_, p.sum(axis=0)]
        assert model.gradient_norm_ == pytest.approx(np.linalg.norm(slopes), rel=1e-3)
