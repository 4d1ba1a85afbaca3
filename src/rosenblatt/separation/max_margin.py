"""The widest plane, as the shortest vector between convex hulls.

``min |sum u_i a_i|`` over weights u >= 0 that sum to one within each group of rows: one group
gives the hull nearest the origin (no intercept, or one that counts as a coordinate), the two
classes as groups give the widest geometric margin with a free intercept. Lawson and Hanson's
non-negative least squares solves it on a working set, which grows by the rows it gets wrong.

References
----------
C. L. Lawson, R. J. Hanson (1974), Solving Least Squares Problems, chapter 23.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.optimize import nnls

from .inputs import Floats

WORKING_SETS = 60
CLOSE = 1e-11  # relative distance between a margin and its upper bound that ends the search


def widest_direction(
    take: Callable[[NDArray[np.intp]], Floats],
    margins: Callable[[Floats], Floats],
    group: NDArray[np.intp],
    start: Floats,
) -> tuple[Floats, float]:
    """Return the unit vector w with the largest mean over groups of ``min a_i.w``, and a bound.

    `take` gives rows (k, m) by number, `margins` gives every ``a_i.w``, `start` (m,) is a vector
    whose smallest margins make the first working set. The best vector met is returned, and what
    no vector exceeds but for rounding: infinity where rounding hides it.
    """
    G = int(group.max()) + 1
    best = start / np.linalg.norm(start)
    scores = margins(best)
    value, size = _value(scores, group, G), len(start) + 10
    work = np.unique(np.concatenate([_lowest(scores, group == k, size) for k in range(G)]))
    least = np.inf
    for _ in range(WORKING_SETS):
        A = take(work)
        u = _nearest(A, group[work], G)
        z = A.T @ u
        bound = float(np.linalg.norm(z)) / G  # no unit vector does better on these rows
        if not u.any() or bound <= 1e-15 * np.abs(A).max():
            break
        least = min(least, bound)
        scores = margins(z / np.linalg.norm(z))
        reached = _value(scores, group, G)
        if reached < bound * (1.0 - CLOSE):  # z is a small difference: its equations are sharper
            sharp = _equal_margins(A[u > 0], group[work][u > 0], G)
            sharp_scores = margins(sharp)
            if _value(sharp_scores, group, G) > reached:
                z, scores, reached = sharp, sharp_scores, _value(sharp_scores, group, G)
        if reached > value:
            best, value = z / np.linalg.norm(z), reached
        if value >= bound * (1.0 - CLOSE):
            break
        fresh = [_wrong(scores, group == k, work, size) for k in range(G)]
        kept = work[(u > 0) | (scores[work] < np.median(scores[work]))]
        grown = np.unique(np.concatenate([kept, *fresh]))
        if np.isin(grown, work).all():
            break
        work = grown
    return best, least


def _equal_margins(A: Floats, group: NDArray[np.intp], G: int) -> Floats:
    """Return the unit vector w with one value of ``a_i.w`` within each group of rows A."""
    side = np.where(group == 0, -1.0, 1.0) if G == 2 else np.zeros(len(A))
    w = linalg.lstsq(np.column_stack([A, side]), np.ones(len(A)), lapack_driver="gelsy")[0][:-1]
    return np.asarray(w / (np.linalg.norm(w) or 1.0))


def _value(scores: Floats, group: NDArray[np.intp], G: int) -> float:
    return float(np.mean([scores[group == k].min() for k in range(G)]))


def _lowest(scores: Floats, among: NDArray[np.bool_], size: int) -> NDArray[np.intp]:
    """Return the numbers of the `size` smallest scores among some rows."""
    index = np.flatnonzero(among)
    order = np.argsort(scores[index], kind="stable")[:size]
    return index[order]


def _wrong(
    scores: Floats, among: NDArray[np.bool_], work: NDArray[np.intp], size: int
) -> NDArray[np.intp]:
    """Return the worst rows below what the working set reached, `size` at most."""
    inside = np.zeros(len(scores), dtype=bool)
    inside[work] = True
    reached = scores[among & inside].min()
    return _lowest(scores, among & ~inside & (scores < reached), size)


def _nearest(A: Floats, group: NDArray[np.intp], G: int) -> Floats:
    """Return weights u >= 0, one in each group, of the shortest ``sum u_i a_i``; zeros if stuck.

    The sums are asked for by least squares too, so they come out a little below one. With one
    group that only scales u. With two, unequal sums would tilt the answer; they are equal when
    the origin lies midway between the hulls, and a few shifts put it there.
    """
    member = (group == np.arange(G)[:, None]).astype(float)  # (G, k)
    side = np.where(group == 0, -1.0, 1.0)[:, None] if G == 2 else np.zeros((len(A), 1))
    target = np.append(np.zeros(A.shape[1]), np.full(G, 16.0))
    u = np.zeros(len(A))
    for _ in range(4):
        scale = np.sqrt(np.einsum("ij,ij->i", A, A).max()) or 1.0
        E = np.vstack([A.T / scale, 16.0 * member])
        try:
            u = np.asarray(nnls(E, target, maxiter=10 * E.shape[1])[0])
        except RuntimeError:
            return np.zeros(len(A))
        total = member @ u
        if not (total > 0).all():
            return np.zeros(len(A))
        u = u / total[group]
        if np.ptp(total) <= 1e-14:
            break
        A = A - side * ((side * A).T @ u / 2.0)
    return u
