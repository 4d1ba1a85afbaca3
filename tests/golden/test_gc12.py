"""GC12, D3: three surprises."""

from rosenblatt.information import surprise


def test_surprise_counts_halvings():
    assert surprise(1 / 2) == 1
    assert surprise(1) == 0
    assert surprise(0.0078125) == 7  # 2^-7
