"""Directions that lower no row: what a linear program found, held against each row's rounding.

A program is right up to a share of its largest number; a row of small numbers may contradict by
less than that and be a contradiction all the same. So each row's lead is measured against the
rounding of its own products, after the ties that the program left a little open have been closed.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .inputs import UNIT, Floats
from .planes import TINY

LARGEST_DENOMINATOR = 1000  # of coefficients that are tried in place of those found
NEARLY_TIED = 1e-6  # a lead, as a share of its own products
MOST_CELLS = 2_000_000  # of ties closed by least squares


def upheld(leads: Any, v: Floats) -> tuple[Floats, NDArray[np.bool_]] | None:
    """A direction near v (p,) that lowers no row of leads (m, p), and which rows it raises.

    None if v and what is near it lower some row by more than the rounding of that row's products,
    or raise none by more.
    """
    for near in nearby(leads, v):
        gained, rounding = leads @ near, lead_rounding(leads, near)
        if (gained >= -rounding).all() and (gained > rounding).any():
            return near, np.asarray(gained > rounding)
    return None


def lead_rounding(leads: Any, v: Floats) -> Floats:
    """The most (m,) that rounding can change of ``leads @ v``."""
    n_terms = np.count_nonzero(v) + 3
    return np.asarray(1.01 * n_terms * UNIT * (abs(leads) @ np.abs(v)) + TINY)


def nearby(leads: Any, v: Floats) -> Iterator[Floats]:
    """The direction v, its simplest proportions, and v with the rows that are nearly tied tied."""
    if not v.any():
        return
    yield v
    yield whole(v)
    for _ in range(2):  # the second time for what rounding left of the first
        v = _tied(leads, v)
        yield v


def whole(v: Floats) -> Floats:
    """Whole numbers in about the proportions of v."""
    smallest = np.abs(v[v != 0]).min()
    near = [Fraction(x / smallest).limit_denominator(LARGEST_DENOMINATOR) for x in v.ravel()]
    factor = lcm(*(f.denominator for f in near))
    return np.array([float(f * factor) for f in near]).reshape(v.shape)


def _tied(leads: Any, v: Floats) -> Floats:
    """The nearest to v, of the same columns, with no lead on rows that have next to none."""
    used = np.flatnonzero(v)
    sizes = abs(leads) @ np.abs(v)
    gained = leads @ v
    tied = np.flatnonzero((np.abs(gained) <= NEARLY_TIED * sizes) & (sizes > 0))
    if not len(tied) or len(tied) * len(used) > MOST_CELLS:
        return v
    # In proportion to v, so that small coefficients are moved by a share of themselves too.
    A = leads[tied][:, used].toarray() * v[used] / sizes[tied, None]
    moved = v.copy()
    moved[used] *= 1 - np.linalg.lstsq(A, A.sum(axis=1), rcond=1e-9)[0]
    return moved
