"""The problems of logistic regression: objective, gradient, curvature and dual point.

    minimize  l1 |w|_1 + l2/2 |w|^2 + sum_i c_i loss_i(w, b)

A point holds the weights and, last, the intercept: (d + 1,) for two classes, (d + 1, K) for more.
The intercept is never penalized.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import entr

from rosenblatt.loops import rows as rows_loops
from rosenblatt.loops.rows import arrays, read_only
from rosenblatt.runtime import threads
from rosenblatt.runtime.threads import one_blas_thread

from . import logistic_loops

Array = NDArray[np.float64]
Result = TypeVar("Result")

MAX_PARTS = 16  # of a sum over rows; each part holds a gradient of its own
NUMBERS_PER_COLUMN = 4  # in each part, at least
ROUNDING = 1e-14  # relative, of an objective: a sum of many rounded terms
BLOCK = 64  # rows that a loop takes at a time: they stay in the L1 cache


@dataclass(frozen=True, eq=False)
class Iterate:
    """A point, the objective there, and the gradient of its smooth part."""

    point: Array
    objective: float
    gradient: Array
    gradient_norm: float  # of the shortest subgradient of the whole objective
    is_float32: bool = False  # computed in single precision


def soft_threshold(v: Array, threshold: float) -> Array:
    """Move each number toward 0 by a threshold, and not beyond."""
    return np.asarray(np.sign(v) * np.maximum(np.abs(v) - threshold, 0.0))


class PenalizedProblem:
    """A loss of linear scores, summed over rows, with an L1 and an L2 penalty on the weights.

    A subclass defines the four functions below; `_loss` also fills P.
    """

    P: Array  # of each row, what its curvature at the last point is computed from
    _loss: Callable[[Array], tuple[float, Array]]  # loss and gradient at a point
    _curvature: Callable[[Array, Array], Array]  # second derivative of the loss, of P, times v
    hessian: Callable[..., Array]  # (iterate, chosen=None), by the chosen entries of the flat point
    diagonal: Callable[[Iterate], Array]  # of the Hessian, in the shape of the point

    is_float32 = False
    rounding = ROUNDING

    def __init__(self, X: Any, c: Array, l1: float, l2: float, fit_intercept: bool) -> None:
        self.X, self.c = X, c
        self.l1, self.l2, self.fit_intercept = l1, l2, fit_intercept
        self.n, self.d = X.shape
        self.shape: tuple[int, ...] = (self.d + 1,)
        self._last: Iterate | None = None  # which P belongs to

    def at(self, point: Array) -> Iterate:
        """Return the objective at a point, and its gradient."""
        with np.errstate(over="ignore", invalid="ignore"):
            loss, gradient = self._loss(point)
            w = point[:-1]
            gradient[:-1] += self.l2 * w
            if not self.fit_intercept:
                gradient[-1] = 0.0
            objective = loss + 0.5 * self.l2 * float(np.vdot(w, w))
            if self.l1:
                objective += self.l1 * float(np.abs(w).sum())
            norm = float(np.linalg.norm(self.subgradient(point, gradient)))
        self._last = Iterate(point, objective, gradient, norm, self.is_float32)
        return self._last

    def subgradient(self, point: Array, gradient: Array) -> Array:
        """Return the shortest subgradient of the whole objective."""
        if not self.l1:
            return gradient
        w, g = point[:-1], gradient[:-1]
        shortest = gradient.copy()
        shortest[:-1] = np.where(w == 0, soft_threshold(g, self.l1), g + self.l1 * np.sign(w))
        return shortest

    def product(self, iterate: Iterate, v: Array) -> Array:
        """Return the Hessian of the smooth part times v."""
        result = self._curvature(self.probabilities(iterate), v)
        result[:-1] += self.l2 * v[:-1]
        if not self.fit_intercept:
            result[-1] = v[-1]
        return result

    def probabilities(self, iterate: Iterate) -> Array:
        """Return P at an iterate; recomputed if another point was visited since."""
        if iterate is not self._last:
            self.at(iterate.point)
            self._last = iterate
        return self.P

    def centered(self, v: Array) -> Array:
        """Return v without the part that adds the same to the scores of all classes."""
        return v

    def over_rows(self, work: Callable[[int, int], Result]) -> list[Result]:
        """Return ``work(start, stop)`` of each part of the rows, in order."""
        cells = int(self.X.nnz if sp.issparse(self.X) else self.X.size)
        # The gradient of each part takes memory, and time to add up.
        parts = min(MAX_PARTS, max(1, cells // (NUMBERS_PER_COLUMN * self.d)))
        return threads.over_chunks(work, self.n, min(cells, parts * threads.CELLS_PER_CHUNK))

    def blocks(self, width: int) -> list[tuple[int, int]]:
        """Return ranges of rows whose products of this width stay in cache."""
        size = max(16, threads.CELLS_PER_CHUNK // max(width, 1))
        return [(start, min(start + size, self.n)) for start in range(0, self.n, size)]

    def _penalized(self, H: Array, is_intercept: NDArray[np.bool_]) -> Array:
        """Add the curvature of the penalty to H; an intercept that is not fitted stays in place."""
        if not self.fit_intercept:
            H[is_intercept] = H[:, is_intercept] = 0.0
        H.flat[:: len(H) + 1] += np.where(is_intercept, float(not self.fit_intercept), self.l2)
        return H

    def _diagonal_of(self, h: Array) -> Array:
        """Return the diagonal of the Hessian, from the second derivatives h (n,) or (n, K)."""
        rows, K = arrays(self.X), h[0].size

        def work(start: int, stop: int) -> Array:
            sums = np.zeros((self.d, K))
            logistic_loops.squares_pass(rows, h.reshape(self.n, K), start, stop, sums)
            return sums

        level = h.sum(axis=0) if self.fit_intercept else np.ones(K)
        return np.vstack([total(self.over_rows(work)) + self.l2, level]).reshape(self.shape)


class LogisticProblem(PenalizedProblem):
    """Logistic regression with two or more classes; P holds probabilities."""

    zero: Callable[[], float]  # the objective without weights and with the best intercepts
    dual_at: Callable[..., tuple[Array, float] | None]  # see `BinaryProblem`
    of_rows: Callable[..., Self]  # (X, labels, c): the same problem of other rows
    labels: NDArray[Any]

    @property
    def is_penalized(self) -> bool:
        return self.l1 + self.l2 > 0

    def by_class(self, table: Array) -> Array:
        """Turn a point (d + 1, K) into the table to publish; two classes have one column."""
        return table

    def sample(self, n_rows: int) -> Self:
        """Return the problem of about `n_rows` rows, evenly spaced, that stand for all."""
        some = np.flatnonzero(self.c)
        some = some[:: max(1, len(some) // n_rows)]
        c = self.c[some]
        return self.of_rows(self.X[some], self.labels[some], c * (self.c.sum() / c.sum()))

    def as_float32(self) -> Self:
        """Return the same problem in single precision where that is faster."""
        return self

    def in_float64(self, iterate: Iterate) -> Iterate:
        """Return an iterate of this problem or of its float32 twin, in double precision."""
        return self.at(iterate.point) if iterate.is_float32 else iterate


class BinaryProblem(LogisticProblem):
    """Two classes: ``loss = log(1 + exp(-m))`` of the margin ``m = y (w.x + b)``.

    The labels y are -1 and +1; P (n,) holds the probability of the wrong class.
    """

    def __init__(
        self, X: Any, y: Array, c: Array, l1: float, l2: float, fit_intercept: bool
    ) -> None:
        super().__init__(X, read_only(c), l1, l2, fit_intercept)
        self.y = self.labels = read_only(y.astype(np.int8))
        self.rows = arrays(X)
        self.P = np.empty(self.n)

    def of_rows(self, X: Any, y: Array, c: Array) -> "BinaryProblem":
        return BinaryProblem(X, y, c, self.l1, self.l2, self.fit_intercept)

    def zero(self) -> float:
        weight, positive = float(self.c.sum()), float(self.c[self.y > 0].sum())
        if not self.fit_intercept:
            return weight * float(np.log(2))
        return weight * float(entr(positive / weight) + entr(1 - positive / weight))

    def _loss(self, point: Array) -> tuple[float, Array]:
        def work(start: int, stop: int) -> tuple[float, Array]:
            gradient = np.zeros(self.d + 1)
            loss = logistic_loops.loss_pass(
                self.rows, self.y, self.c, start, stop, point, self.P, np.empty(BLOCK), gradient
            )
            return loss, gradient

        parts = self.over_rows(work)
        return sum(loss for loss, _ in parts), total([gradient for _, gradient in parts])

    def _curvature(self, P: Array, v: Array) -> Array:
        def work(start: int, stop: int) -> Array:
            product = np.zeros(self.d + 1)
            logistic_loops.curvature_pass(
                self.rows, self.c, P, start, stop, v, np.empty(BLOCK), product
            )
            return product

        return total(self.over_rows(work))

    def hessian(self, iterate: Iterate, chosen: NDArray[np.intp] | None = None) -> Array:
        p = self.probabilities(iterate)
        chosen = np.arange(self.d + 1) if chosen is None else chosen
        return self._penalized(weighted_gram(self, self.c * p * (1 - p), chosen), chosen == self.d)

    def diagonal(self, iterate: Iterate) -> Array:
        p = self.probabilities(iterate)
        return self._diagonal_of(self.c * p * (1 - p))

    def dual_at(
        self, iterate: Iterate, move: Array, kept: float = 1.0
    ) -> tuple[Array, float] | None:
        """Return a dual point: minus the gradient of the loss, and the weighted sum of entropies.

        The dual point are the probabilities after a step of ``-move``, to first order; None if
        one is negative. The entropy is that of the dual point multiplied by `kept`.
        """
        P = self.probabilities(iterate)

        @np.errstate(over="ignore", invalid="ignore")
        def work(start: int, stop: int) -> tuple[Array, float] | None:
            p, y, c = P[start:stop], self.y[start:stop], self.c[start:stop]
            scores = move[-1]
            if np.any(move[:-1]):
                scores = scores + self.X[start:stop] @ move[:-1]
            p = p * (1 + (1 - p) * y * scores)
            if not np.all(np.isfinite(p)) or p.min(initial=0.0) < 0.0:
                return None
            push, pull = c * y * p, np.zeros(self.d + 1)
            rows_loops.add_each(self.rows, start, push, pull[:-1])
            pull[-1] = push.sum()
            return pull, float(logistic_loops.entropy(c, p * kept))

        return total_dual(self.over_rows(work))


def total(parts: list[Array]) -> Array:
    """Return the sum of arrays, in order, in the memory of the first: each may hold all weights."""
    for part in parts[1:]:
        parts[0] += part
    return parts[0]


def total_dual(parts: list[tuple[Array, float] | None]) -> tuple[Array, float] | None:
    """Return the sum of the dual points of parts of the rows; None if one is None."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return total([pull for pull, _ in known]), sum(entropy for _, entropy in known)


def weighted_gram(problem: PenalizedProblem, h: Array, chosen: NDArray[np.intp]) -> Array:
    """Return the sum of h (x, 1)(x, 1)' over rows, for chosen columns; the constant is d, last."""
    columns = chosen[chosen < problem.d]
    k, H = len(columns), np.zeros((len(chosen), len(chosen)))
    if k == 0:
        H += h.sum()
        return H
    with one_blas_thread():
        for start, stop in problem.blocks(k):
            rows, root = problem.X[start:stop], np.sqrt(h[start:stop])[:, None]
            rows = rows if k == problem.d else rows[:, columns]
            rows = rows.multiply(root).tocsr() if sp.issparse(rows) else rows * root
            gram = rows.T @ rows
            H[:k, :k] += gram.toarray() if sp.issparse(rows) else gram
            if k < len(chosen):
                H[k, :k] += np.ravel(rows.T @ root)
                H[k, k] += h[start:stop].sum()
    H[:k, k:] = H[k:, :k].T
    return H
