"""Choosing some of many: steps in even strides, points at random with a fixed seed."""

from __future__ import annotations

import numpy as np


def strided(n: int, most: int) -> list[int]:
    """At most `most` of the numbers below n, evenly spread, the first and the last among them."""
    if n <= most:
        return list(range(n))
    return [int(i) for i in np.linspace(0, n - 1, most).round()]


def sampled(n: int, most: int) -> list[int]:
    """At most `most` of the numbers below n, drawn once and for all, in order."""
    if n <= most:
        return list(range(n))
    return sorted(int(i) for i in np.random.default_rng(0).choice(n, most, replace=False))
