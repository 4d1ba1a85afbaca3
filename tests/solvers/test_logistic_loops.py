"""Blocks of rows and their parts, against the formulas."""

import numpy as np
import pytest
from scipy.special import entr, expit

from rosenblatt.loops.rows import arrays
from rosenblatt.solvers import logistic_loops


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_loss_share_and_gradient_do_not_depend_on_the_blocks(n):
    rng = np.random.default_rng(n)
    X, w = rng.normal(size=(n, 5)), rng.normal(size=6)
    y, c = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8), rng.random(n)
    share, gradient = np.empty(n), np.zeros(6)
    loss = logistic_loops.loss_pass(arrays(X), y, c, 0, n, w, share, np.empty(64), gradient)
    m = y * (X @ w[:-1] + w[-1])
    assert loss == pytest.approx(c @ np.logaddexp(0, -m), rel=1e-13)
    np.testing.assert_allclose(share, expit(-m), rtol=1e-13)
    step = -c * y * expit(-m)
    np.testing.assert_allclose(gradient, np.append(step @ X, step.sum()), atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none_is_seen_in_the_loss(bad):
    X = np.array([[1.0, 2.0], [bad, 0.0]])
    y, c = np.array([1, -1], np.int8), np.ones(2)
    loss = logistic_loops.loss_pass(
        X, y, c, 0, 2, np.array([1.0, 0.0, 0.0]), np.empty(2), np.empty(64), gradient := np.zeros(3)
    )
    assert not np.isfinite(loss) or not np.all(np.isfinite(gradient))


def test_margins_far_out_neither_overflow_nor_lose_the_loss():
    X, c = np.array([[800.0], [-800.0], [1e300]]), np.ones(3)
    share, gradient = np.empty(3), np.zeros(2)
    y = np.array([1, 1, -1], np.int8)
    loss = logistic_loops.loss_pass(
        X, y, c, 0, 3, np.array([1.0, 0.0]), share, np.empty(64), gradient
    )
    assert loss == pytest.approx(1e300)
    np.testing.assert_allclose(share, [0.0, 1.0, 1.0], atol=1e-300)


def test_entropy_of_certain_and_uncertain_rows():
    rng = np.random.default_rng(0)
    p = np.concatenate([[0.0, 1.0, 1e-310, 0.5], rng.random(50)])
    c = rng.random(54)
    assert logistic_loops.entropy(c, p) == pytest.approx(c @ (entr(p) + entr(1 - p)), rel=1e-13)
