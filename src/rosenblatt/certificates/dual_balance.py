"""Dual points that balance exactly.

An intercept without a penalty asks of a dual point that its masses cancel: ``sum a_i y_i = 0``, and
between classes, that as much leaves each class as enters it. A residual of rounding would not do,
since an intercept can be as large as it likes. So masses are rounded down to whole multiples of a
power of two: such numbers add up without error.
"""

import math

import numpy as np
from numpy.typing import NDArray

from .rounded_matrix import Floats


def grid_of(masses: Floats) -> float:
    """A power of two of which all masses, rounded down, and their sums are exact multiples."""
    largest = float(masses.max(initial=0.0))
    if not largest > 0:
        return 1.0
    bits = min(52, 60 - math.ceil(math.log2(max(masses.size, 2))))
    return float(2.0 ** (math.ceil(math.log2(largest)) - bits))


def balanced(a: Floats, y: Floats) -> Floats | None:
    """Masses (n,) not above a with ``sum a y = 0`` exactly, y = -1 or 1; None if there are none."""
    up, down = float(a[y > 0].sum()), float(a[y < 0].sum())
    if not (up > 0 and down > 0):
        return None
    shrunk = np.where(y > 0, a * min(1.0, down / up), a * min(1.0, up / down))
    unit = grid_of(shrunk)
    units = np.floor(shrunk / unit).astype(np.int64)
    surplus = int(units[y > 0].sum()) - int(units[y < 0].sum())
    heavier = np.flatnonzero((y > 0) == (surplus > 0))
    if not take_off(units, heavier, abs(surplus)):
        return None
    return np.asarray(units * unit)


def take_off(units: NDArray[np.int64], places: NDArray[np.intp], surplus: int) -> bool:
    """Lower units at some places by a surplus in all, largest first; False if that is too much."""
    if surplus == 0:
        return True
    for place in places[np.argsort(-units[places], kind="stable")].tolist():
        taken = min(int(units[place]), surplus)
        units[place] -= taken
        surplus -= taken
        if surplus == 0:
            return True
    return False


def transported(p: Floats, codes: NDArray[np.intp], c: Floats) -> Floats:
    """Probabilities (n, K) changed so that each class gets its weight; rows still sum to one."""
    K = p.shape[1]
    wanted = np.bincount(codes, c, K)
    got = c @ p
    p = p * np.minimum(1.0, wanted / np.where(got > 0, got, 1.0))
    short_rows = np.maximum(1.0 - p.sum(axis=1), 0.0)
    short_columns = np.maximum(wanted - c @ p, 0.0)
    if short_columns.sum() > 0:
        p = p + np.outer(short_rows, short_columns / short_columns.sum())
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def flows(p: Floats, codes: NDArray[np.intp], c: Floats) -> Floats | None:
    """Masses ``c_i p_ik`` (n, K) of the wrong classes, zero at the own, that balance exactly.

    As much leaves each class (rows of it given to others) as enters it (rows of others given to
    it). None if they cannot be brought to that by taking some off.
    """
    n, K = p.shape
    masses = p * c[:, np.newaxis]
    masses[np.arange(n), codes] = 0.0
    unit = grid_of(masses)
    units = np.floor(masses / unit).astype(np.int64)
    members = [np.flatnonzero(codes == k) for k in range(K)]
    for _ in range(K * K):
        between = np.array([units[rows].sum(axis=0) for rows in members])
        surplus = between.sum(axis=1) - between.sum(axis=0)
        if not surplus.any():
            return np.asarray(units * unit)
        giver, taker = int(surplus.argmax()), int(surplus.argmin())
        amount = min(int(surplus[giver]), -int(surplus[taker]))
        column = np.ascontiguousarray(units[:, taker])
        if not take_off(column, members[giver], amount):
            return None
        units[:, taker] = column
    return None
