"""Planes of the rows that matter are those of all rows."""

import numpy as np
import pytest

from rosenblatt.svm.crammer_singer import CrammerSingerProblem
from rosenblatt.svm.crammer_singer_interior import (
    SCREENED_ROWS,
    CrammerSingerInterior,
    ScreenedCrammerSinger,
)

N, K = 2400, 4


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    codes = rng.integers(K, size=N)
    codes[:3] = K - 1  # of which there are no others
    codes[3:][codes[3:] == K - 1] = 0
    return rng.normal(size=(N, 5)) + 3 * rng.normal(size=(K, 5))[codes], codes


def solved(fit):
    for _ in range(200):
        if fit.advance():
            return fit
    raise AssertionError("no end in 200 steps")


@pytest.mark.parametrize("bias", [0.0, 1.0, np.inf])
def test_it_finds_the_planes_of_all_rows(table, bias):
    X, codes = table
    c = np.where(np.arange(N) % 7 == 1, 0.0, 0.3)
    problem = CrammerSingerProblem(X, codes, K, c, bias)
    assert np.count_nonzero(c) > SCREENED_ROWS
    some, every = (
        solved(ScreenedCrammerSinger(problem, 1e-4)),
        solved(CrammerSingerInterior(problem, 1e-4)),
    )
    assert len(some.rows) < N / 2
    assert some.gap() <= 1e-6 * problem.zero
    assert some.objective() == pytest.approx(every.objective(), rel=1e-6)
    assert c[some.support].all()
    np.testing.assert_array_equal(some.support, every.support)


def test_noise_asks_for_all_rows(table):
    X, codes = table
    problem = CrammerSingerProblem(
        X, np.random.default_rng(1).permutation(codes), K, np.ones(N), np.inf
    )
    fit = solved(ScreenedCrammerSinger(problem, 1e-4))
    assert len(fit.rows) == N
    assert fit.gap() <= fit.small_gap
