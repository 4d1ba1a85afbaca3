"""The widest plane: the nearest point of a convex hull, or of two hulls to each other.

``min |sum u_i a_i|`` over weights u >= 0 that sum to one within each group of rows. One group is
the hull nearest to the origin; the two classes as groups give the largest geometric margin with a
free intercept. Non-negative least squares (Lawson and Hanson, SciPy's `nnls`) solves it on a
working set, which grows by the rows whose product with the nearest point is too small.

If the hull holds the origin, the nearest point is zero and its weights show that no plane exists.

References
----------
C. L. Lawson, R. J. Hanson (1974), Solving Least Squares Problems, chapter 23.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.optimize import nnls

from rosenblatt.runtime.threads import interruptible

from .homogeneous_rows import dense
from .inputs import Floats, Table

ROUNDS = 60
CLOSE = 1e-11  # relative distance between a margin and its upper bound that ends the search
LONG_CALL = 500  # rows from which `nnls` takes longer than an interrupt should wait
MOST_ROWS = 2000  # of a working set


@dataclass(frozen=True)
class HullPoint:
    """The nearest point of a working set, as weighted rows, and its margin."""

    index: NDArray[np.intp]
    rows: Floats
    weights: Floats
    direction: Floats  # a unit vector, or zeros
    margin: float  # the smallest product with the direction, averaged over groups
    bound: float  # no unit vector has a larger margin


def nearest_points(A: Table, group: NDArray[np.intp], start: Floats) -> Iterator[HullPoint]:
    """Yield the nearest point of growing working sets of the rows of A (n, m).

    The first working set holds the rows with the smallest products with `start`. The search ends
    when no other row has a smaller product with the nearest point.
    """
    n_groups, size = int(group.max()) + 1, len(start) + 10
    members = [np.flatnonzero(group == g) for g in range(n_groups)]
    scores, first = A @ start, []
    for index in members:  # the rows with the smallest scores, and as many spread over the others
        order = index[np.argsort(scores[index], kind="stable")]
        first += [order[:size], order[size :: max(1, len(order) // size)]]
    work = np.unique(np.concatenate(first))
    for _ in range(ROUNDS):
        rows = dense(A[work])
        u = nearest_weights(rows, group[work], n_groups)
        z = rows.T @ u
        bound = float(np.linalg.norm(z)) / n_groups
        carrying = u > 0
        if not carrying.any():
            return
        support = work[carrying], rows[carrying], u[carrying]
        if bound <= 1e-15 * np.abs(rows).max():
            yield HullPoint(*support, 0.0 * z, 0.0, 0.0)
            return
        w = z / np.linalg.norm(z)
        scores = A @ w
        margin = float(np.mean([scores[index].min() for index in members]))
        yield HullPoint(*support, w, margin, bound)
        new = []
        for index in members:  # rows below the least score of the working set, the worst first
            reached = scores[np.intersect1d(index, work)].min()
            below = np.setdiff1d(index[scores[index] < reached], work)
            new.append(below[np.argsort(scores[below], kind="stable")[:size]])
        fresh = np.concatenate(new)
        kept = work[carrying | (scores[work] < np.median(scores[work]))]
        if margin >= bound * (1.0 - CLOSE) or not len(fresh) or len(kept) > MOST_ROWS:
            return
        work = np.union1d(kept, fresh)


def widest_direction(A: Table, group: NDArray[np.intp], start: Floats) -> tuple[Floats, float]:
    """Return the unit vector of the largest margin found, and a bound of all margins."""
    best, margin, bound = start, -np.inf, np.inf
    for point in nearest_points(A, group, start):
        bound = min(bound, point.bound or np.inf)
        if point.margin > margin:
            best, margin = point.direction, point.margin
    return best, bound


def nearest_weights(A: Floats, group: NDArray[np.intp], n_groups: int) -> Floats:
    """Return weights u >= 0, one in each group, of the shortest ``sum u_i a_i``; zeros if stuck."""
    # The condition on the sums is part of the least squares, so the sums are a little below one.
    # With one group that only scales u. With two, unequal sums would change the direction; they are
    # equal when the origin lies midway between the hulls, and a few shifts move it there.
    member = (group == np.arange(n_groups)[:, None]).astype(float)
    side = np.where(group == 0, -1.0, 1.0)[:, None] if n_groups == 2 else np.zeros((len(A), 1))
    if A.shape[1] > 2 * len(A):  # the same lengths and angles in fewer columns
        A = np.asarray(linalg.qr(A.T, mode="r", check_finite=False)[0][: len(A)].T)
    u = np.zeros(len(A))
    for _ in range(4):
        scale = np.abs(A).max() * np.sqrt(A.shape[1]) or 1.0
        system = np.vstack([A.T / scale, 16.0 * member])
        target = np.append(np.zeros(A.shape[1]), np.full(n_groups, 16.0))
        system = np.column_stack([system, target])
        if not np.isfinite(system).all():
            return np.zeros(len(A))
        if system.shape[0] > 2 * system.shape[1]:  # the same problem in fewer equations
            system = np.asarray(linalg.qr(system, mode="r")[0][: system.shape[1]])
        problem, most = (system[:, :-1], system[:, -1]), 10 * len(A)
        try:
            u = interruptible(partial(nnls, *problem, maxiter=most), len(A) > LONG_CALL)[0]
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
