"""Logistic regression with two classes, as a problem for the solvers."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import entr

from rosenblatt import loops
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.runtime.storage import arrays, read_only

from .logistic_objective import Array, Place, Problem, added

BLOCK = 64  # rows that a pass takes at a time: they stay in the nearest cache


class LogisticProblem(Problem):
    """Two classes: ``loss = log(1 + exp(-m))`` of the margin ``m = y (w.x + b)``.

    The probabilities kept are those of the wrong class, `share` (n,).
    """

    def __init__(
        self, X: Any, y: Array, c: Array, l1: float, l2: float, fit_intercept: bool
    ) -> None:
        super().__init__(X, read_only(c), l1, l2, fit_intercept)
        self.y = read_only(y.astype(np.int8))  # a sign, in an eighth of the memory
        self.rows = arrays(X)
        self.share = np.empty(self.n)

    def zero(self) -> float:
        total, second = float(self.c.sum()), float(self.c[self.y > 0].sum())
        if not self.fit_intercept:
            return total * float(np.log(2))
        return total * float(entr(second / total) + entr(1 - second / total))

    def _loss(self, point: Array) -> tuple[float, Array]:
        def work(start: int, stop: int) -> tuple[float, Array]:
            gradient = np.zeros(self.d + 1)
            loss = loops.logistic.loss_pass(
                self.rows, self.y, self.c, start, stop, point, self.share, np.empty(BLOCK), gradient
            )
            return loss, gradient

        parts = self._over_rows(work)
        return sum(loss for loss, _ in parts), added([g for _, g in parts])

    def _curvature(self, P: Array, v: Array) -> Array:
        def work(start: int, stop: int) -> Array:
            product = np.zeros(self.d + 1)
            loops.logistic.curvature_pass(
                self.rows, self.c, P, start, stop, v, np.empty(BLOCK), product
            )
            return product

        return added(self._over_rows(work))

    def hessian(self, place: Place, chosen: NDArray[np.intp] | None = None) -> Array:
        share = self.probabilities(place)
        chosen = np.arange(self.d + 1) if chosen is None else chosen
        return self._penalised_hessian(weighted_gram(self, share, chosen), chosen == self.d)

    def diagonal(self, place: Place) -> Array:
        share = self.probabilities(place)
        diagonal = np.empty(self.d + 1)
        h = self.c * share * (1 - share)
        diagonal[:-1] = squared_columns(self, h[:, None])[:, 0] + self.l2
        diagonal[-1] = h.sum() if self.fit_intercept else 1.0
        return diagonal

    def sample(self, n_rows: int) -> "LogisticProblem":
        rows = np.flatnonzero(self.c)
        rows = rows[:: max(1, len(rows) // n_rows)]
        c = self.c[rows]
        c = c * (self.c.sum() / c.sum())
        return LogisticProblem(self.X[rows], self.y[rows], c, self.l1, self.l2, self.fit_intercept)

    def on(self, X: Array) -> "LogisticProblem":
        return LogisticProblem(X, self.y, self.c, self.l1, self.l2, self.fit_intercept)

    def _probabilities(self) -> Array:
        return self.share

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite is no probability
    def _moved(self, P: Array, move: Array, start: int, stop: int) -> Array:
        scores = move[-1]
        if np.any(move[:-1]):
            scores = scores + self.X[start:stop] @ move[:-1]
        moved: Array = P * (1 + (1 - P) * self.y[start:stop] * scores)
        return moved

    def _pull(self, P: Array, start: int, stop: int) -> Array:
        push, pull = self.c[start:stop] * self.y[start:stop] * P, np.zeros(self.d + 1)
        loops.rows.add_each(self.rows, start, push, pull[:-1])
        pull[-1] = push.sum()
        return pull

    def _entropy(self, P: Array, kept: float, start: int, stop: int) -> float:
        return float(loops.logistic.entropy(self.c[start:stop], P * kept))


def weighted_gram(problem: Problem, share: Array, chosen: NDArray[np.intp]) -> Array:
    """The sum of h (x, 1)(x, 1)' over rows, for the chosen columns, d being the constant.

    A row weighs h = c p (1 - p), p its share.
    """
    columns = chosen[chosen < problem.d]
    bias = np.flatnonzero(chosen == problem.d)
    places = np.flatnonzero(chosen < problem.d)
    every = len(columns) == problem.d
    H = np.zeros((len(chosen), len(chosen)))
    with one_blas_thread():
        for start, stop in problem._blocks(len(columns)):
            p = share[start:stop]
            h = problem.c[start:stop] * p * (1 - p)
            H[bias, bias] += h.sum()
            if not len(columns):
                continue
            rows = problem.X[start:stop]
            rows = rows if every else rows[:, columns]
            root = np.sqrt(h)[:, None]
            if sp.issparse(rows):
                rows = rows.multiply(root).tocsr()
                gram, edge = (rows.T @ rows).toarray(), np.ravel(rows.T @ root)
            else:
                rows = rows * root
                gram, edge = rows.T @ rows, (rows.T @ root)[:, 0]
            H[np.ix_(places, places)] += gram
            if len(bias):
                H[bias, places] += edge
    if len(bias):
        H[places, bias] = H[bias, places]
    return H


def squared_columns(problem: Problem, h: Array) -> Array:
    """The sums (d, K) of h (n, K) times the squares of each column of X."""
    rows = arrays(problem.X)

    def work(start: int, stop: int) -> Array:
        sums = np.zeros((problem.d, h.shape[1]))
        loops.logistic.squares_pass(rows, h, start, stop, sums)
        return sums

    return added(problem._over_rows(work))
