"""How much is known of what a subtraction leaves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Sums to 32 digits are right to this share of the squares that went into them. What is less than
# that cannot be told from numbers that are all the same.
SAME = 2.0**-84


def relative_noise(before: Any, left: Any, floor: Any = 0.0, pooled: bool = False) -> float:
    """How far the scatters of the moments `left` may be off, relative to themselves, at most.

    `left` are the moments that a subtraction has left of those `before`. Where nothing is left but
    rounding, the answer is infinite: there may be any scatter up to that, or none. The exception is
    a feature that is as good as constant; nothing can be off by a share of zero.

    Parameters
    ----------
    before, left : moments.
    floor : what a model adds to the scatters (k, d) anyway.
    pooled : whether only sums over classes count.
    """
    places = np.searchsorted(before.classes, left.classes)
    was, is_now = before.diagonal(), left.diagonal()
    squares = (was.scatter + was.feature_weight * was.mean**2)[places]
    noise = np.where(left.rows[:, None] > 1, is_now.noise, 0.0)  # a single row has no scatter
    tables = (noise, is_now.scatter, is_now.scatter + floor, squares)
    if pooled:
        tables = tuple(table.sum(axis=0) for table in tables)
    noise, scatter, used, squares = tables
    matters = noise > np.where(scatter > 0, 0.0, SAME * squares)
    return float(_shares(noise[matters], used[matters]).max(initial=0.0))


def _shares(parts: NDArray[np.float64], wholes: NDArray[np.float64]) -> NDArray[np.float64]:
    """parts / wholes; infinite where there is no whole."""
    return np.divide(parts, wholes, out=np.full_like(parts, np.inf), where=wholes > 0)
