"""GC10, D1, W7: a good test for a rare disease."""

import pytest

from rosenblatt.information import bayes, posterior_odds, total_probability


def test_a_positive_answer_leaves_it_even():
    # 0.01 * 0.99 = 0.0099 ill and positive, 0.99 * 0.01 = 0.0099 well and positive
    assert bayes([0.01, 0.99], [0.99, 0.01]).tolist() == [0.5, 0.5]
    assert posterior_odds(0.01 / 0.99, 0.99 / 0.01) == pytest.approx(1)
    assert total_probability([0.01, 0.99], [0.99, 0.01]) == pytest.approx(0.0198)
