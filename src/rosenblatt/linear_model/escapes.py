"""The search for a direction along which the likelihood never falls.

A linear program finds one made of few columns. It starts with the pairs of a row and another class
that the fit has least ahead, and goes on with those that its answer lowers: an answer that lowers
none of all pairs is one for all, and if some of them leave no answer, nor do all.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from rosenblatt.interrupts import interruptible
from rosenblatt.separation.directions import NEARLY_TIED, nearby
from rosenblatt.separation.inputs import UNIT

from .leads import Leads

Array = NDArray[np.float64]

FEW_CELLS = 100_000  # of a program that may have all pairs from the start
MOST_CELLS = 1_000_000  # of a program: beyond, it may take minutes
MOST_COLUMNS = 5000
MOST_ROUNDS = 40
MOST_SECONDS = 20.0  # of one program


@dataclass(frozen=True, eq=False)
class Escape:
    """A direction along which the likelihood never falls."""

    direction: Array  # in the shape of the point
    n_ahead: int  # rows whose score it raises against some other class
    complete: bool  # whether it raises all rows against each other class
    at_hand: bool = False  # whether it was there without a search for few columns
    of_ranges: bool = False  # whether it follows from comparing values, which does not round


class TooMuch(Exception):
    """The search was given up."""


def by_program(leads: Leads, point: Array, complete: bool) -> Escape | None:
    """The direction of least weights that raises all pairs, or some and lowers none."""
    shape = leads.problem.shape
    scale = np.broadcast_to(leads.sizes()[:, None], (shape[0], int(np.prod(shape[1:])))).ravel()
    # The weights' mean lead over all pairs is one, which some pairs alone cannot say.
    mean = None if complete else leads.total() / leads.n_pairs / scale
    working = _nearest(leads, point)
    for _ in range(MOST_ROUNDS):
        some = leads.matrix(working)
        v = _least_direction((some @ sp.diags(1 / scale)).tocsr(), _biases(shape), mean)
        if v is None:
            return None
        v = v / scale
        broken = _broken(leads, v.reshape(shape), complete)
        new = np.setdiff1d(broken, working)
        if not len(new):
            return _upheld(leads, some, v, complete)
        order = {int(pair): place for place, pair in enumerate(broken)}  # the worst first
        new = np.array(sorted(new.tolist(), key=order.__getitem__), np.intp)
        working = np.concatenate([working, new[: max(len(working), 1000)]])
    raise TooMuch


def by_columns(leads: Leads) -> Escape | None:
    """Columns that have no value of one class below, or none above, any value of the others.

    Each is a direction alone, found without a program, and so is their sum.
    """
    problem, K = leads.problem, leads.n_classes
    if len(np.unique(leads.code)) < K:  # a class without weight is not asked
        return None
    low, high = _ranges(leads)
    direction = np.zeros((problem.d + 1, K))
    ahead = np.zeros(len(leads.used), np.bool_)
    for k in range(1 if K == 2 else 0, K):
        others = np.arange(K) != k
        for side, least, most in (
            (1.0, low[k], high[others].max(axis=0)),
            (-1.0, -high[k], -low[others].min(axis=0)),
        ):
            parts = most <= least if problem.fit_intercept else (most <= 0) & (least >= 0)
            for j in np.flatnonzero(parts & (np.ptp([low.min(0), high.max(0)], axis=0) > 0)):
                middle = least[j] if problem.fit_intercept else 0.0
                weight = 2.0 ** -np.ceil(np.log2(max(-low[:, j].min(), high[:, j].max())))
                direction[j, k] += side * weight
                direction[-1, k] -= weight * middle
                column = problem.X[:, [j]]
                column = column.toarray() if sp.issparse(column) else column
                ahead |= side * column[leads.used, 0] != middle
    if not direction.any():
        return None
    if K == 2:
        direction = direction[:, 1]
    elif leads.K < K:
        direction = direction[:, :-1] - direction[:, -1:]
    return Escape(direction.reshape(problem.shape), int(ahead.sum()), False, of_ranges=True)


def _ranges(leads: Leads) -> tuple[Array, Array]:
    """The least and the largest value (K, d) of each class in each column."""
    low, high = [], []
    for k in range(leads.n_classes):
        part = leads.problem.X[leads.used[leads.code == k]]
        ends = part.min(axis=0), part.max(axis=0)
        least, most = (end.toarray()[0] if sp.issparse(part) else end for end in ends)
        low.append(least)
        high.append(most)
    return np.array(low, np.float64), np.array(high, np.float64)


def _nearest(leads: Leads, point: Array) -> NDArray[np.intp]:
    """All pairs if they are few; else those that the point has least ahead."""
    problem = leads.problem
    stored = problem.X.nnz if sp.issparse(problem.X) else problem.X.size
    width = 2 if leads.several else 1
    cells_each = width * (stored / max(problem.n, 1) + 1)
    if leads.n_pairs * cells_each <= FEW_CELLS:
        return np.flatnonzero(~leads.own)
    wanted = min(leads.n_pairs, max(int(FEW_CELLS / cells_each), 2 * point.size))
    if wanted * cells_each > MOST_CELLS or point.size > MOST_COLUMNS:
        raise TooMuch
    ahead = leads.along(point).ravel()
    return np.sort(np.argpartition(ahead, wanted - 1)[:wanted])


def _broken(leads: Leads, v: Array, complete: bool) -> NDArray[np.intp]:
    """Pairs that v does not raise, or lowers, by more than a program's tolerance; worst first."""
    gained = leads.along(v).ravel()
    if complete:
        wrong = np.flatnonzero(gained <= leads.rounding(v).ravel())
    else:
        n_terms = np.count_nonzero(v) + 3
        sizes = leads.rounding(v).ravel() / (n_terms * UNIT)
        wrong = np.flatnonzero(gained < -NEARLY_TIED * sizes)
    return wrong[np.argsort(gained[wrong], kind="stable")]


def _upheld(leads: Leads, some: Any, v: Array, complete: bool) -> Escape | None:
    """What v is an escape for, or what is near it, against the rounding of each pair.

    Of several the first that is one without rounding too.
    """
    first = None
    for near in nearby(some, v):
        direction = near.reshape(leads.problem.shape)
        gained, rounding = leads.along(direction), leads.rounding(direction)
        ahead = (gained > rounding) & ~leads.own
        all_ahead = bool(ahead.sum() == leads.n_pairs)
        if (all_ahead if complete else ahead.any()) and (gained >= -rounding).all():
            found = Escape(direction, int(ahead.any(axis=1).sum()), all_ahead)
            if all_ahead or leads.exactly(direction):
                return found
            first = first or found
    return first


def _biases(shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which entries of the flat point are biases."""
    bias = np.zeros(shape, np.bool_)
    bias[-1] = True
    return bias.ravel()


def _least_direction(leads: Any, bias: NDArray[np.bool_], mean: Array | None) -> Array | None:
    """The direction with the least sum of weights among those with all leads at least one.

    Or, if a mean is given, among those with no lead below zero and that mean one. None if there is
    no such direction.
    """
    m, p = leads.shape
    if leads.nnz > MOST_CELLS or p > MOST_COLUMNS:
        raise TooMuch
    # u - v is the direction; biases cost next to nothing, so that weights are used sparingly.
    solved = interruptible(
        lambda: linprog(
            np.tile(np.where(bias, 1e-6, 1.0), 2),
            A_ub=-sp.hstack([leads, -leads]).tocsr(),
            b_ub=np.full(m, -1.0 if mean is None else 0.0),
            A_eq=None if mean is None else sp.csr_matrix(np.concatenate([mean, -mean])[None]),
            b_eq=None if mean is None else [1.0],
            bounds=(0, None),
            method="highs",
            options={"time_limit": MOST_SECONDS, "primal_feasibility_tolerance": 1e-9},
        )
    )
    if solved.status == 2:  # it has no solution
        return None
    if solved.x is None or solved.status != 0:
        raise TooMuch
    direction = solved.x[:p] - solved.x[p:]
    direction[np.abs(direction) < 1e-9 * np.abs(direction).max()] = 0.0
    return np.asarray(direction)
