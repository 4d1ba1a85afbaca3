"""The loops of gradient boosting, beside NumPy's own words for them."""

import numpy as np
import pytest

from rosenblatt.ensemble import boosted_growth_loops, boosted_split_loops, boosting_loops

N, D = 60, 11
rng = np.random.default_rng(0)


@pytest.fixture
def coded():
    """Levels (n, d) with some missing, and their words."""
    levels = rng.integers(0, 20, (N, D))
    levels[rng.random((N, D)) < 0.1] = 255
    words = np.zeros((N, 16), np.uint8)
    words[:, :D] = levels
    return levels, np.ascontiguousarray(words.view("<u8").T)


def test_levels_are_how_many_cuts_lie_below():
    X, cuts = rng.normal(size=(N, D)), np.full((D, 255), np.inf)
    X[3, 2], cuts[:, :9] = np.nan, np.sort(rng.normal(size=(D, 9)), axis=1)
    codes = np.zeros((2, N), np.uint64)
    boosting_loops.code_rows(X, cuts, 0, N, 0, codes)
    found = np.ascontiguousarray(codes.T).view(np.uint8)[:, :D]
    wanted = np.transpose([np.searchsorted(cuts[j], X[:, j]) for j in range(D)])
    wanted[3, 2] = 255
    assert np.array_equal(found, wanted)


def test_a_histogram_has_the_sum_of_each_level(coded):
    levels, codes = coded
    loop = boosted_split_loops
    rows, values = np.zeros((2, N + loop.AHEAD), np.int32), rng.integers(-9, 9, N)
    rows[0, :40] = rng.permutation(N)[:40]
    hist = np.zeros((2, 2, 2048), np.int64)
    loop.histograms(codes, rows, values, 5, 40, 0, 2, hist, 1)
    some = rows[0, 5:40]
    for j in range(D):
        wanted = np.bincount(levels[some, j], values[some], 256)
        assert np.array_equal(hist[1, j // 8, j % 8 * 256 : (j % 8 + 1) * 256], wanted)


def test_rows_are_divided_in_their_order(coded):
    levels, codes = coded
    loop = boosted_growth_loops
    rows, left = np.zeros((2, N + boosted_split_loops.AHEAD), np.int32), np.zeros(256, np.int64)
    rows[0, :N], left[:7] = np.arange(N), 1
    middle = loop.partition(codes, 9, left, 10, 50, rows)
    goes_left = levels[10:50, 9] < 7
    wanted = np.concatenate([np.flatnonzero(goes_left), np.flatnonzero(~goes_left)]) + 10
    assert np.array_equal(rows[0, 10:50], wanted)
    assert middle == 10 + goes_left.sum()


@pytest.mark.parametrize("dither", [0, 1])
def test_packed_sums_are_the_sums_to_a_step(dither):
    g, h = rng.normal(size=N), rng.random(N)
    loop = boosted_split_loops
    whole = np.array([9, 9, 1, 7, 20, 10**9, 0])
    real = np.array([0.0, np.abs(g).sum() / 2**30, h.sum() / 2**19, 0.0, 0.0, 1.0])
    rows, values = np.zeros((2, N + loop.AHEAD), np.int32), np.zeros(N, np.int64)
    loop.pack(g, h, whole, real, dither, 0, N, rows, values)
    count, G, H = loop.sums_of(values[:50].sum(), whole, real)
    assert count == 50
    assert abs(G - g[:50].sum()) <= 50 * real[loop.G_SCALE]
    assert abs(H - h[:50].sum()) <= 50 * real[loop.H_SCALE]
