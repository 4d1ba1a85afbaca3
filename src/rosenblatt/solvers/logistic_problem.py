"""The problems of logistic regression: the objective, its gradient and its curvature.

    minimise  l1 |w|_1 + l2/2 |w|^2 + sum_i c_i loss_i(w, b)

A point holds the weights and, last, the bias: (d + 1,) for two classes, (d + 1, K) for more. The
bias is never penalised.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import entr

from rosenblatt.loops import rows as rows_loops
from rosenblatt.runtime import threads
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.runtime.storage import arrays, read_only

from . import Iterate, logistic_loops
from .curvature_factors import factored, inverted

Array = NDArray[np.float64]
Inverse = Callable[[Array], Array]  # v -> H^-1 v, H a curvature
Result = TypeVar("Result")

PARTS = 16  # sums over rows are made in so many parts at most, each with a gradient of its own
NUMBERS_PER_COLUMN = 4  # in each part, at least
ROUNDING = 1e-14  # of objective and bound, each a sum of rounded terms
ROUNDING_OF_ROUGH = 1e-7
MOST_TOGETHER = 300  # parameters of several classes whose curvature is looked at as one matrix
MOST_OF_A_CLASS = 300  # parameters: their curvature is made in the time of some dozen products
BLOCK = 64  # rows that a pass takes at a time: they stay in the nearest cache


@dataclass(frozen=True, eq=False)
class Place(Iterate):
    """A step with the gradient of the smooth part of the objective."""

    gradient: Array = field(default_factory=lambda: np.empty(0))
    is_rough: bool = False  # worked out in single precision


class LogisticProblem:
    """What the problems with two and with more classes share."""

    is_rough = False

    def __init__(self, X: Any, c: Array, l1: float, l2: float, fit_intercept: bool) -> None:
        self.X, self.c = X, c
        self.l1, self.l2, self.fit_intercept = l1, l2, fit_intercept
        self.n, self.d = X.shape
        self.shape: tuple[int, ...] = (self.d + 1,)
        self._known: Place | None = None  # where the probabilities are those of

    @property
    def penalised(self) -> bool:
        """Whether large weights cost anything."""
        return self.l1 + self.l2 > 0

    def at(self, point: Array) -> Place:
        """The objective at a point, and its gradient."""
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
        self._known = Place(point, objective, norm, gradient=gradient, is_rough=self.is_rough)
        return self._known

    def subgradient(self, point: Array, gradient: Array) -> Array:
        """The shortest subgradient of the whole objective."""
        if not self.l1:
            return gradient
        w, g = point[:-1], gradient[:-1]
        shortest = gradient.copy()
        pulled = np.sign(g) * np.maximum(np.abs(g) - self.l1, 0.0)
        shortest[:-1] = np.where(w == 0, pulled, g + self.l1 * np.sign(w))
        return shortest

    def zero(self) -> float:
        """The objective without weights and with the best bias, to measure gaps against."""
        raise NotImplementedError

    def product(self, place: Place, v: Array) -> Array:
        """The second derivative of the smooth part times v."""
        result = self._curvature(self.probabilities(place), v)
        result[:-1] += self.l2 * v[:-1]
        if not self.fit_intercept:
            result[-1] = v[-1]
        return result

    def hessian(self, place: Place, chosen: NDArray[np.intp] | None = None) -> Array:
        """The second derivative of the smooth part, by the chosen entries of the flat point."""
        raise NotImplementedError

    def class_hessians(self, place: Place) -> Array:
        """The second derivatives (K, d + 1, d + 1) by the weights of each class alone."""
        raise NotImplementedError

    def _penalised_hessian(self, H: Array, bias: NDArray[np.bool_]) -> Array:
        """H with the penalty's curvature; a bias that is not fitted stays where it is."""
        if not self.fit_intercept:
            H[bias] = H[:, bias] = 0.0
        H.flat[:: len(H) + 1] += np.where(bias, float(not self.fit_intercept), self.l2)
        return H

    def diagonal(self, place: Place) -> Array:
        """The diagonal of the second derivative, in the shape of the point."""
        raise NotImplementedError

    def inverse_curvature(self, place: Place) -> Inverse:
        """A function v -> H^-1 v at a place; of many classes, without what ties them together."""
        if len(self.shape) == 1 or np.prod(self.shape) <= MOST_TOGETHER:
            solve = factored(self.hessian(place))
            return lambda v: self.centred(solve(self.centred(v).ravel()).reshape(self.shape))
        # One product with all inverses: a call for each class takes longer than its arithmetic.
        inverses = inverted(self.class_hessians(place))

        def solution(v: Array) -> Array:
            with np.errstate(over="ignore", invalid="ignore"):
                own = np.matmul(inverses, self.centred(v).T[:, :, None])
            return self.centred(own[:, :, 0].T)

        return solution

    def inverse_diagonal(self, place: Place) -> Inverse:
        """A function v -> v over the diagonal of H."""
        diagonal = np.maximum(self.diagonal(place), 1e-300)
        return lambda v: self.centred(self.centred(v) / diagonal)

    @property
    def has_curvature_by_class(self) -> bool:
        """Whether `inverse_curvature` is of few parameters at a time, and worth its time."""
        return len(self.shape) > 1 and self.d <= MOST_OF_A_CLASS

    def centred(self, v: Array) -> Array:
        """v without the part that moves the scores of all classes alike, and so no probability."""
        return v

    def by_class(self, table: Array) -> Array:
        """Weights and biases (d + 1, K), of two classes (d + 1, 1), as published, from a point."""
        return table

    def sample(self, n_rows: int) -> "LogisticProblem":
        """The problem of about `n_rows` rows, evenly spaced, that count for all."""
        raise NotImplementedError

    def rough(self) -> "LogisticProblem":
        """The same problem in single precision, where that is faster; its places are rough."""
        return self

    def exactly(self, place: Place) -> Place:
        """A place of this problem or of its rough twin, in double precision."""
        return self.at(place.point) if place.is_rough else place

    @property
    def rounding(self) -> float:
        """How far off an objective may be, a sum of many rounded terms."""
        return ROUNDING_OF_ROUGH if self.is_rough else ROUNDING

    def on(self, X: Array) -> "LogisticProblem":
        """The problem of other features (n, r) of the same rows."""
        raise NotImplementedError

    def probabilities(self, place: Place) -> Array:
        """What the loops left of a place; worked out anew if another has been visited since."""
        if place is not self._known:
            self.at(place.point)
            self._known = place
        return self._probabilities()

    def over_rows(self, work: Callable[[int, int], Result]) -> list[Result]:
        """``work(start, stop)`` of each part of the rows, in order."""
        cells = int(self.X.nnz if sp.issparse(self.X) else self.X.size)
        # A gradient per part takes memory, and time to add up, that rows of few numbers are not
        # worth: each part has at least a few numbers for each column.
        parts = min(PARTS, max(1, cells // (NUMBERS_PER_COLUMN * self.d)))
        return threads.over_chunks(work, self.n, min(cells, parts * threads.CELLS_PER_CHUNK))

    def blocks(self, width: int) -> list[tuple[int, int]]:
        """Ranges of rows whose products of this width stay in cache."""
        size = max(16, threads.CELLS_PER_CHUNK // max(width, 1))
        return [(start, min(start + size, self.n)) for start in range(0, self.n, size)]

    def _loss(self, point: Array) -> tuple[float, Array]:
        raise NotImplementedError

    def _curvature(self, P: Array, v: Array) -> Array:
        raise NotImplementedError

    def _probabilities(self) -> Array:
        raise NotImplementedError

    def moved_probabilities(self, P: Array, move: Array, start: int, stop: int) -> Array:
        """The probabilities of some rows after a step of minus `move`, to first order."""
        raise NotImplementedError

    def dual_of_rows(
        self, P: Array, move: Array, start: int, stop: int
    ) -> tuple[Array, float] | None:
        """Pull and entropy of some rows after a move; None if P is then no probability any more."""
        moved = self.moved_probabilities(P, move, start, stop)
        if not np.all(np.isfinite(moved)) or moved.min(initial=0.0) < 0.0:
            return None
        return self.pull(moved, start, stop), self.entropy(moved, 1.0, start, stop)

    def dual_at(self, place: Place, move: Array) -> tuple[Array, float] | None:
        """Pull and entropy of the probabilities after a move; None if they are none any more."""
        # They are worked out again by a part of the rows at a time: with many classes, all of them
        # would take more memory than the rows.
        P = self.probabilities(place)
        parts = self.over_rows(lambda i, j: self.dual_of_rows(P[i:j], move, i, j))
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return added([pull for pull, _ in known]), sum(entropy for _, entropy in known)

    def entropy_at(self, place: Place, move: Array, kept: float) -> float:
        """The entropy of the probabilities after a move, the dual point multiplied by `kept`."""
        P = self.probabilities(place)

        def work(start: int, stop: int) -> float:
            moved = self.moved_probabilities(P[start:stop], move, start, stop)
            return self.entropy(moved, kept, start, stop)

        return sum(self.over_rows(work))

    def pull(self, P: Array, start: int, stop: int) -> Array:
        """Minus the gradient of the loss of some rows at these probabilities, as a point."""
        raise NotImplementedError

    def entropy(self, P: Array, kept: float, start: int, stop: int) -> float:
        """The sum of c times the entropy of some rows, their dual point multiplied by `kept`."""
        raise NotImplementedError


def added(parts: list[Array]) -> Array:
    """The sum of arrays, in order, in the place of the first: each may hold all weights."""
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total


class BinaryProblem(LogisticProblem):
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
            loss = logistic_loops.loss_pass(
                self.rows, self.y, self.c, start, stop, point, self.share, np.empty(BLOCK), gradient
            )
            return loss, gradient

        parts = self.over_rows(work)
        return sum(loss for loss, _ in parts), added([g for _, g in parts])

    def _curvature(self, P: Array, v: Array) -> Array:
        def work(start: int, stop: int) -> Array:
            product = np.zeros(self.d + 1)
            logistic_loops.curvature_pass(
                self.rows, self.c, P, start, stop, v, np.empty(BLOCK), product
            )
            return product

        return added(self.over_rows(work))

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

    def sample(self, n_rows: int) -> "BinaryProblem":
        rows = np.flatnonzero(self.c)
        rows = rows[:: max(1, len(rows) // n_rows)]
        c = self.c[rows]
        c = c * (self.c.sum() / c.sum())
        return BinaryProblem(self.X[rows], self.y[rows], c, self.l1, self.l2, self.fit_intercept)

    def on(self, X: Array) -> "BinaryProblem":
        return BinaryProblem(X, self.y, self.c, self.l1, self.l2, self.fit_intercept)

    def _probabilities(self) -> Array:
        return self.share

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite is no probability
    def moved_probabilities(self, P: Array, move: Array, start: int, stop: int) -> Array:
        scores = move[-1]
        if np.any(move[:-1]):
            scores = scores + self.X[start:stop] @ move[:-1]
        moved: Array = P * (1 + (1 - P) * self.y[start:stop] * scores)
        return moved

    def pull(self, P: Array, start: int, stop: int) -> Array:
        push, pull = self.c[start:stop] * self.y[start:stop] * P, np.zeros(self.d + 1)
        rows_loops.add_each(self.rows, start, push, pull[:-1])
        pull[-1] = push.sum()
        return pull

    def entropy(self, P: Array, kept: float, start: int, stop: int) -> float:
        return float(logistic_loops.entropy(self.c[start:stop], P * kept))


def weighted_gram(problem: LogisticProblem, share: Array, chosen: NDArray[np.intp]) -> Array:
    """The sum of h (x, 1)(x, 1)' over rows, for the chosen columns, d being the constant."""
    # A row weighs h = c p (1 - p), p its share.
    columns = chosen[chosen < problem.d]
    bias = np.flatnonzero(chosen == problem.d)
    places = np.flatnonzero(chosen < problem.d)
    every = len(columns) == problem.d
    H = np.zeros((len(chosen), len(chosen)))
    with one_blas_thread():
        for start, stop in problem.blocks(len(columns)):
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


def squared_columns(problem: LogisticProblem, h: Array) -> Array:
    """The sums (d, K) of h (n, K) times the squares of each column of X."""
    rows = arrays(problem.X)

    def work(start: int, stop: int) -> Array:
        sums = np.zeros((problem.d, h.shape[1]))
        logistic_loops.squares_pass(rows, h, start, stop, sums)
        return sums

    return added(problem.over_rows(work))
