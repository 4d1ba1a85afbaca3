import numpy as np
import pytest
from scipy import stats

from rosenblatt.workbench.significance import (
    bootstrap,
    hoeffding,
    interval_of_mean,
    p_values,
    wilson,
)


def test_the_corrected_interval_covers_a_known_case():
    scores = np.array([0.8, 0.82, 0.78, 0.81, 0.79])
    error = np.sqrt((1 / 5 + 0.25) * scores.var(ddof=1))
    found = interval_of_mean(scores)
    assert found.high - found.low == pytest.approx(2 * stats.t.ppf(0.975, 4) * error)
    assert interval_of_mean(np.array([0.99, 1.0, 1.0]), "accuracy").high == 1.0
    low = interval_of_mean(np.array([0.0, 0.3, 0.1]), "f1_macro")
    assert (low.low, low.high < 1) == (0.0, True)
    assert interval_of_mean(np.array([-0.5, 0.2, 0.1]), "r2").low < -0.5
    wide = interval_of_mean(scores, ratio=0.5)
    assert wide.high - wide.low > found.high - found.low


def test_p_values_are_corrected_by_holm():
    rng = np.random.default_rng(0)
    scores = 0.8 + 0.01 * rng.standard_normal((4, 5)) - np.array([0, 0.01, 0.05, 0.3])[:, None]
    p = p_values(scores, 0, 0.25)
    raw = []
    for other in scores[1:]:
        lead = scores[0] - other
        error = np.sqrt((1 / 5 + 0.25) * lead.var(ddof=1))
        raw.append(stats.t.sf(lead.mean() / error, 4))
    order = np.argsort(raw)
    expected = np.minimum(1, np.maximum.accumulate(np.array(raw)[order] * [3, 2, 1]))
    np.testing.assert_allclose(p[1:][order], expected)
    assert p[0] == 1
    assert p_values(np.tile(scores[0], (3, 1)), 0, 0.25).tolist() == [1, 1, 1]


def test_wilson_agrees_with_scipy():
    # B9: a share of right rows, and its interval
    for n_right, n in ((0, 10), (7, 10), (10, 10), (450, 500)):
        expected = stats.binomtest(n_right, n).proportion_ci(method="wilson")
        found = wilson(n_right, n)
        assert 0 <= found.low <= found.high <= 1
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_hoeffding_is_wider_than_wilson():
    for share in (0.5, 0.9, 1.0):
        narrow, wide = wilson(int(share * 200), 200), hoeffding(share, 200)
        assert wide.low < narrow.low


def test_rows_drawn_in_groups_say_as_much_as_rows(monkeypatch):
    rng = np.random.default_rng(1)
    errors, spread = rng.normal(0, 0.5, 20_000) ** 2, rng.normal(size=20_000) ** 2
    groups = bootstrap(errors, spread, draws=500)
    monkeypatch.setattr("rosenblatt.workbench.significance.MOST_TO_DRAW", 10**9)
    rows = bootstrap(errors, spread, draws=500)
    width = rows.high - rows.low
    assert abs(groups.low - rows.low) < 0.1 * width
    assert abs(groups.high - rows.high) < 0.1 * width


def test_the_bootstrap_holds_the_score():
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    errors, spread = rng.normal(0, 0.5, 300) ** 2, (y - y.mean()) ** 2
    found = bootstrap(errors, spread)
    assert found.low < 1 - errors.sum() / spread.sum() < found.high
