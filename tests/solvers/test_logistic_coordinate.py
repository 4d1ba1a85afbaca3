"""Coordinate descent on quadratics with an L1 penalty: columns on any scale, few iterations."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import LogisticRegression
from rosenblatt.solvers.logistic_coordinate import leap


def value(H, g, l1, w):
    return g @ w + 0.5 * w @ H @ w + l1 @ np.abs(w)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 3]))
def test_a_leap_never_rises_and_keeps_the_slope(seed, n_equal):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((12, 8)) * 10.0 ** rng.uniform(-2, 2, 8)
    A[:, :n_equal] = A[:, :1]  # columns that repeat one leave H singular
    H, g = A.T @ A, 10 * rng.standard_normal(12) @ A
    l1 = np.where(rng.random(8) < 0.2, 0.0, rng.uniform(0.1, 5))
    w = rng.standard_normal(8) * (rng.random(8) < 0.7)
    before, signs = value(H, g, l1, w), np.sign(w)
    rest = g + H @ w
    leap(H, l1, w, rest)
    assert value(H, g, l1, w) <= before + 1e-9 * abs(before)
    assert np.all((np.sign(w) == signs) | (w == 0) | (l1 == 0)), "no weight changes sides"
    np.testing.assert_allclose(rest, g + H @ w, rtol=1e-6, atol=1e-6 * np.abs(g).max())


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
def test_raw_columns_take_few_iterations(C, l1_ratio, data_folder):
    table = pd.read_csv(data_folder / "penguins" / "penguins.csv").dropna()
    X = table[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]]
    model = LogisticRegression(C=C, l1_ratio=l1_ratio).fit(X, table["species"])
    assert model.stop_reason_ == "converged"
    assert model.n_iter_[0] <= 30, "sweeps alone take hundreds"
