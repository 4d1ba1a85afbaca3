"""The problems of logistic regression: what is made small, and how good a point is.

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

from rosenblatt.runtime import threads

from .curvature_factors import factored, inverted
from .steps import Step

Array = NDArray[np.float64]
Inverse = Callable[[Array], Array]  # v -> H^-1 v, H a curvature
Result = TypeVar("Result")

PARTS = 16  # sums over rows are made in so many parts at most, each with a gradient of its own
NUMBERS_PER_COLUMN = 4  # in each part, at least
ROUNDING = 1e-14  # of objective and bound, each a sum of rounded terms
ROUNDING_OF_ROUGH = 1e-7
MOST_TOGETHER = 300  # parameters of several classes whose curvature is looked at as one matrix
MOST_OF_A_CLASS = 300  # parameters: their curvature is made in the time of some dozen products
MOST_FREE = 1500  # parameters without a penalty up to which a gap is worked out


@dataclass(frozen=True, eq=False)
class Place(Step):
    """A step with the gradient of the smooth part of the objective."""

    gradient: Array = field(default_factory=lambda: np.empty(0))
    is_rough: bool = False  # worked out in single precision


class Problem:
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

    def sample(self, n_rows: int) -> "Problem":
        """The problem of about `n_rows` rows, evenly spaced, that count for all."""
        raise NotImplementedError

    def rough(self) -> "Problem":
        """The same problem in single precision, where that is faster; its places are rough."""
        return self

    def exactly(self, place: Place) -> Place:
        """A place of this problem or of its rough twin, in double precision."""
        return self.at(place.point) if place.is_rough else place

    @property
    def rounding(self) -> float:
        """How far off an objective may be, a sum of many rounded terms."""
        return ROUNDING_OF_ROUGH if self.is_rough else ROUNDING

    def on(self, X: Array) -> "Problem":
        """The problem of other features (n, r) of the same rows."""
        raise NotImplementedError

    def gap(self, place: Place) -> float:
        """How far the objective of a place is above the best possible, at most.

        Any dual point bounds the best from below. The probabilities are one, once they balance in
        each direction that is not penalised: for that, they are moved to first order in the way
        Newton's step on those directions would move them. Where that does not give probabilities,
        or where without a penalty there are too many directions, it is known at least that no
        objective is negative.
        """
        place = self.exactly(place)
        move = self._balancing_move(place)
        dual = None if move is None else self._dual(place, move)
        if move is None or dual is None:
            return place.objective
        pull, entropy = dual
        if not self.fit_intercept:
            pull[-1] = 0.0
        allowance = ROUNDING * (abs(place.objective) + float(np.abs(self.c).sum()))
        cost, kept = 0.0, 1.0
        if self.penalised:
            cost, kept = self._conjugate(pull[:-1])
        else:
            # The balance holds up to rounding: stated for points up to 100 times as far out.
            residual = float(np.linalg.norm(pull))
            allowance += 100.0 * residual * float(np.linalg.norm(place.point))
        if kept != 1.0:
            entropy = self._entropy_after(place, move, kept)
        bound = entropy - cost - allowance
        return place.objective - min(max(bound, 0.0), place.objective)

    def _dual(self, place: Place, move: Array) -> tuple[Array, float] | None:
        """Pull and entropy of the probabilities after a move; None if they are none any more.

        They are worked out again by a part of the rows at a time: with many classes, all of them
        would take more memory than the rows.
        """
        P = self.probabilities(place)
        parts = self._over_rows(lambda i, j: self._dual_of_rows(P[i:j], move, i, j))
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return added([pull for pull, _ in known]), sum(entropy for _, entropy in known)

    def _dual_of_rows(
        self, P: Array, move: Array, start: int, stop: int
    ) -> tuple[Array, float] | None:
        moved = self._moved(P, move, start, stop)
        if not _are_probabilities(moved):
            return None
        return self._pull(moved, start, stop), self._entropy(moved, 1.0, start, stop)

    def _entropy_after(self, place: Place, move: Array, kept: float) -> float:
        """The entropy of the probabilities after a move, the dual point multiplied by `kept`."""
        P = self.probabilities(place)

        def work(start: int, stop: int) -> float:
            moved = self._moved(P[start:stop], move, start, stop)
            return self._entropy(moved, kept, start, stop)

        return sum(self._over_rows(work))

    def probabilities(self, place: Place) -> Array:
        """What the loops left of a place; worked out anew if another has been visited since."""
        if place is not self._known:
            self.at(place.point)
            self._known = place
        return self._probabilities()

    def _conjugate(self, v: Array) -> tuple[float, float]:
        """The penalty's share of the dual, and what the dual point must be multiplied with."""
        over = np.maximum(np.abs(v) - self.l1, 0.0)
        if self.l2:
            return float(np.vdot(over, over)) / (2 * self.l2), 1.0
        most = float(np.abs(v).max(initial=0.0))
        return 0.0, 1.0 if most <= self.l1 else self.l1 / most

    def _balancing_move(self, place: Place) -> Array | None:
        """Newton's step over the free parameters alone; None if there are too many."""
        move = np.zeros(self.shape)
        if self.penalised:
            if self.fit_intercept:
                free = np.arange(move.size - move[-1].size, move.size)
                move.flat[free] = factored(self.hessian(place, free))(place.gradient.flat[free])
            return move
        if move.size > MOST_FREE:
            return None
        return factored(self.hessian(place))(place.gradient.ravel()).reshape(self.shape)

    def _over_rows(self, work: Callable[[int, int], Result]) -> list[Result]:
        """``work(start, stop)`` of each part of the rows, in order."""
        cells = int(self.X.nnz if sp.issparse(self.X) else self.X.size)
        # A gradient per part takes memory, and time to add up, that rows of few numbers are not
        # worth: each part has at least a few numbers for each column.
        parts = min(PARTS, max(1, cells // (NUMBERS_PER_COLUMN * self.d)))
        return threads.over_chunks(work, self.n, min(cells, parts * threads.CELLS_PER_CHUNK))

    def _blocks(self, width: int) -> list[tuple[int, int]]:
        """Ranges of rows whose products of this width stay in cache."""
        size = max(16, threads.CELLS_PER_CHUNK // max(width, 1))
        return [(start, min(start + size, self.n)) for start in range(0, self.n, size)]

    def _loss(self, point: Array) -> tuple[float, Array]:
        raise NotImplementedError

    def _curvature(self, P: Array, v: Array) -> Array:
        raise NotImplementedError

    def _probabilities(self) -> Array:
        raise NotImplementedError

    def _moved(self, P: Array, move: Array, start: int, stop: int) -> Array:
        """The probabilities of some rows after a step of minus `move`, to first order."""
        raise NotImplementedError

    def _pull(self, P: Array, start: int, stop: int) -> Array:
        """Minus the gradient of the loss of some rows at these probabilities, as a point."""
        raise NotImplementedError

    def _entropy(self, P: Array, kept: float, start: int, stop: int) -> float:
        """The sum of c times the entropy of some rows, their dual point multiplied by `kept`."""
        raise NotImplementedError


def _are_probabilities(P: Array) -> bool:
    return bool(np.all(np.isfinite(P)) and P.min(initial=0.0) >= 0.0)


def added(parts: list[Array]) -> Array:
    """The sum of arrays, in order, in the place of the first: each may hold all weights."""
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total
