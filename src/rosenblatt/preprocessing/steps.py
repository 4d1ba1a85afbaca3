"""The steps of each method and of its inverse, on a block of rows, in place.

Legend as in `standardizer`: a block (m, d) of doubles, mean, scale, least and span (d,).
A mean or scale of None is left out.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

Numbers = NDArray[np.float64]
Steps = Callable[..., None]


def to_z(block: Numbers, mean: Numbers | None, scale: Numbers | None) -> None:
    """(x - m) / s."""
    if mean is not None:
        block -= mean
    if scale is not None:
        block /= scale


def from_z(block: Numbers, mean: Numbers | None, scale: Numbers | None) -> None:
    """z s + m."""
    if scale is not None:
        block *= scale
    if mean is not None:
        block += mean


def to_sigmoid(block: Numbers, mean: Numbers | None, scale: Numbers | None) -> None:
    """1 / (1 + exp(-z))."""
    to_z(block, mean, scale)
    expit(block, out=block)


def from_sigmoid(block: Numbers, mean: Numbers | None, scale: Numbers | None) -> None:
    """The z of which it is the sigmoid: log(p / (1 - p))."""
    logit(block, out=block)
    from_z(block, mean, scale)


def to_range(low: float, high: float) -> Steps:
    """The z-score, stretched from 0 and 1 to low and high."""

    def steps(block: Numbers, shift: Numbers | None, scale: Numbers | None) -> None:
        to_z(block, shift, scale)
        if (low, high) != (0, 1):
            block *= high - low
            block += low

    return steps


def from_range(low: float, high: float) -> Steps:
    """Back from low to high, to a to b."""

    def steps(block: Numbers, least: Numbers, span: Numbers) -> None:
        if (low, high) != (0, 1):
            block -= low
            block /= high - low
        block *= span
        block += least

    return steps
