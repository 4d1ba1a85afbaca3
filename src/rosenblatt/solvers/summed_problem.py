"""A logistic regression whose sums over rows are made elsewhere, one pass over them for a point.

Loss, gradient and curvature come together: where the rows are read from a disk, or from many, a
pass costs more than what is computed in it.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .logistic_problem import MOST_TOGETHER, Array, LogisticProblem, Place


class RowSums(Protocol):
    """Sums over all rows, without the penalty."""

    def at(self, point: Array, curved: bool) -> tuple[float, Array, Array]:
        """Loss, gradient, and the second derivative; if not `curved`, its diagonal."""

    def hessian(self, point: Array, chosen: NDArray[np.intp]) -> Array:
        """The second derivative by the chosen entries of the flat point."""

    def dual(self, point: Array, move: Array) -> tuple[Array, float] | None:
        """Pull and entropy of the probabilities after a move; None if they are none any more."""

    def entropy(self, point: Array, move: Array, kept: float) -> float:
        """The entropy of the probabilities after a move, the dual point multiplied by `kept`."""


class SummedProblem(LogisticProblem):
    """The problem of rows that are elsewhere; `form` is that of one row for each class."""

    def __init__(self, form: LogisticProblem, n_rows: int, sums: RowSums) -> None:
        super().__init__(form.X, form.c, form.l1, form.l2, form.fit_intercept)
        self.form, self.sums, self.n, self.shape = form, sums, n_rows, form.shape
        self.curved = int(np.prod(form.shape)) <= MOST_TOGETHER
        self._curvature_known: Any = None

    def zero(self) -> float:
        return self.form.zero()

    def centred(self, v: Array) -> Array:
        return self.form.centred(v)

    def by_class(self, table: Array) -> Array:
        return self.form.by_class(table)

    def _loss(self, point: Array) -> tuple[float, Array]:
        loss, gradient, self._curvature_known = self.sums.at(point, self.curved)
        return loss, gradient

    def _curvature_at(self, place: Place) -> Array:
        if place is not self._known:
            self.at(place.point)
            self._known = place
        return np.array(self._curvature_known)

    def hessian(self, place: Place, chosen: NDArray[np.intp] | None = None) -> Array:
        every = np.arange(int(np.prod(self.shape)))
        chosen = every if chosen is None else chosen
        if self.curved:
            H = self._curvature_at(place)[np.ix_(chosen, chosen)]
        else:
            H = self.sums.hessian(place.point, chosen)
        n_weights = every.size - every.size // (self.d + 1)
        return self._penalised_hessian(H, chosen >= n_weights)

    def diagonal(self, place: Place) -> Array:
        known = self._curvature_at(place)
        diagonal = (np.diag(known) if self.curved else known).reshape(self.shape).copy()
        diagonal[:-1] += self.l2
        diagonal[-1] = diagonal[-1] if self.fit_intercept else 1.0
        return diagonal

    def dual_at(self, place: Place, move: Array) -> tuple[Array, float] | None:
        return self.sums.dual(place.point, move)

    def entropy_at(self, place: Place, move: Array, kept: float) -> float:
        return self.sums.entropy(place.point, move, kept)
