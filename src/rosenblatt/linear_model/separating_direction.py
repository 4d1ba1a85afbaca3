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

from rosenblatt.runtime.interrupts import interruptible
from rosenblatt.separation.inputs import UNIT
from rosenblatt.separation.plane_proofs import NEARLY_TIED, TINY, ahead_exactly, nearby
from rosenblatt.solvers.logistic_problem import LogisticProblem
from rosenblatt.solvers.softmax import SoftmaxProblem

Array = NDArray[np.float64]


# By how much the own class of each row leads each other class along a direction.
#
# Rows of weight zero do not count. A pair is a row that counts and a class other than its own, by
# its number in a table (n, K), or (n, 1) of two classes; the entries of own classes are no pairs.


class Leads:
    """The leads of a problem; directions have the shape of its points."""

    def __init__(self, problem: LogisticProblem) -> None:
        self.problem, self.used = problem, np.flatnonzero(problem.c > 0)
        self.several = isinstance(problem, SoftmaxProblem)
        self.K = int(np.prod(problem.shape[1:]))  # classes that have weights
        if isinstance(problem, SoftmaxProblem):
            self.code = problem.code[self.used]
            self.n_classes = self.width = problem.n_classes
            self.own = np.arange(self.width) == self.code[:, None]
        else:
            self.code = (problem.y[self.used] > 0).astype(np.intp)  # type: ignore[attr-defined]
            self.n_classes, self.width = 2, 1
            self.own = np.zeros((len(self.used), 1), np.bool_)
        self.n_pairs = int(self.own.size - self.own.sum())

    def along(self, direction: Array) -> Array:
        """The leads of all pairs, and infinity in the place of own classes."""
        scores = self._scores(self.problem.X, direction)
        if not self.several:
            return np.where(self.code[:, None] == 1, scores, -scores)
        return np.where(self.own, np.inf, scores[self.own][:, None] - scores)

    def rounding(self, direction: Array) -> Array:
        """The most that rounding can change of each lead."""
        n_terms = 2 * np.count_nonzero(direction.reshape(self.problem.d + 1, -1).any(axis=1)) + 4
        sizes = np.vstack([self._scores(abs(X), np.abs(direction), False) for X in self._parts()])
        sizes = sizes[self.used]
        if self.several:
            sizes = sizes + sizes[self.own][:, None]
        return np.asarray(1.01 * n_terms * UNIT * sizes + TINY)

    def exactly(self, direction: Array) -> bool:
        """Whether, with the best biases, no lead is below zero and some are above, in integers."""
        W = direction.reshape(self.problem.d + 1, -1)[:-1].T
        if not self.several:
            W = np.vstack([0 * W, W])
        elif len(W) < self.n_classes:  # the last class is the reference
            W = np.vstack([W, 0 * W[:1]])
        X = self.problem.X
        X = X[self.used] if len(self.used) < self.problem.n else X
        return ahead_exactly(X, self.code, W, self.problem.fit_intercept) is not None

    def matrix(self, pairs: NDArray[np.intp]) -> Any:
        """The CSR matrix whose product with a flat direction are the leads of some pairs."""
        row, other = np.divmod(pairs, self.width)
        bias = np.full((len(row), 1), float(self.problem.fit_intercept))
        table = sp.csr_matrix(self.problem.X[self.used[row]], dtype=np.float64)
        Z = sp.hstack([table, bias]).tocsr()
        code = self.code[row]
        if not self.several:
            return (sp.diags(2.0 * code - 1.0) @ Z).tocsr()
        return against(Z, code, other, self.K)

    def total(self) -> Array:
        """The flat vector whose product with a flat direction is the sum of all leads."""
        push = 2.0 * self.code[:, None] - 1.0
        if self.several:
            push = (self.n_classes * self.own - 1.0)[:, : self.K]
        each = np.zeros((self.problem.n, push.shape[1]))
        each[self.used] = push
        bias = push.sum(axis=0, keepdims=True) * self.problem.fit_intercept
        return np.vstack([np.asarray(self.problem.X.T @ each), bias]).ravel()

    def sizes(self) -> Array:
        """The largest absolute value (d + 1,) of each column; one for a column of zeros."""
        largest = np.zeros(self.problem.d)
        for X in self._parts():
            part = abs(X).max(axis=0)
            largest = np.maximum(largest, part.toarray()[0] if sp.issparse(X) else part)
        return np.append(np.where(largest > 0, largest, 1.0), 1.0)

    def _parts(self) -> list[Any]:
        X = self.problem.X
        if sp.issparse(X):
            return [X]
        return [X[start:stop] for start, stop in self.problem.blocks(self.problem.d)]

    def _scores(self, X: Any, direction: Array, counting: bool = True) -> Array:
        """Scores of classes, for all rows of a table or those that count; zero of a reference."""
        table = direction.reshape(self.problem.d + 1, -1)
        moved = np.flatnonzero(table[:-1].any(axis=1))
        if 4 * len(moved) < self.problem.d:  # few columns need no product with all
            scores = np.asarray(X[:, moved] @ table[moved])
        else:
            scores = np.asarray(X @ table[:-1])
        scores = scores + table[-1] * self.problem.fit_intercept
        if counting and len(self.used) < self.problem.n:
            scores = scores[self.used]
        if scores.shape[1] < self.width:
            scores = np.hstack([scores, np.zeros((len(scores), 1))])
        return scores


def against(Z: Any, code: NDArray[Any], other: NDArray[Any], K: int) -> Any:
    """Scores of rows' own classes minus those of others; a class past K has none."""
    Z = Z.tocoo()
    parts = []
    for kind, sign in ((code[Z.row], 1.0), (other[Z.row], -1.0)):
        has = kind < K
        columns = Z.col[has] * K + kind[has]
        shape = (Z.shape[0], Z.shape[1] * K)
        parts.append(sp.csr_matrix((sign * Z.data[has], (Z.row[has], columns)), shape))
    return parts[0] + parts[1]


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
    """Columns that have no value of one class below, or none above, any value of the others."""
    # Each is a direction alone, found without a program, and so is their sum.
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
    """What v is an escape for, or what is near it, against the rounding of each pair."""
    # Of several the first that is one without rounding too.
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
    """The direction with the least sum of weights among those with all leads at least one."""
    # Or, if a mean is given, among those with no lead below zero and that mean one. None if there
    # is no such direction.
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
