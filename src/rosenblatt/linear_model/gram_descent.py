"""Coordinate descent on a Gram matrix, for least squares with an elastic-net penalty.

``P(w) = 1/2 |t - X w|^2 + l1 |w|_1 + l2/2 |w|^2`` is a function of X'X, X't and t't alone. A sweep
minimizes over each weight in turn; it soon finds which weights are zero and the signs of the rest.
While these hold, P is a quadratic, whose minimum is one system of equations away: no number of
sweeps is as exact.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from rosenblatt.solvers import Iterate

from . import coordinate_descent_loops

Array = NDArray[np.float64]

# Equations with more unknowns than this are left to the sweeps.
MOST_UNKNOWNS = 4096
# Equations are solved after as many sweeps as they cost, and five more: so many unknowns cost one.
SWEEP_WORTH = 32
FIRST_SWEEPS = 5
# A fit that met its tolerance goes on to the exact minimum if it has at most so many unknowns.
MOST_TO_FINISH, EXACT, FLAT = 1024, 1e-12, 1e-9
NEARLY = 1e-6  # the gradient without a penalty, relative to the first, that is worth equations
MOST_FINISHING = 10  # times that signs may change on the last of the way
MOST_LOST = 10  # times that equations are solved again for fewer weights, at one go
EXTRA = (0.0, 1e-14, 1e-12, 1e-10)  # what may be added to their diagonal, as a share of it
HUGE = 1e150


class Penalty(NamedTuple):
    """``l1 |w|_1 + l2/2 |w|^2``, and no weight below zero if `positive`."""

    l1: float
    l2: float = 0.0
    positive: bool = False


def penalty_of(alpha: float, l1_ratio: float, positive: bool) -> Penalty:
    """Return the penalty of scikit-learn's parameters."""
    return Penalty(float(alpha * l1_ratio), float(alpha * (1 - l1_ratio)), bool(positive))


def exact(step: Iterate, yy: float, xy: Array) -> bool:
    """Return whether gap and gradient are zero but for rounding."""
    # Under a strong penalty the gap rounds to zero while small weights have few digits.
    return step.gap <= EXACT * yy and step.gradient_norm <= FLAT * float(np.linalg.norm(xy))


class GramDescent:
    """The problem given by xx = X'X (d, d), xy = X't (d,) and yy = t't."""

    def __init__(self, xx: Array, xy: Array, yy: float) -> None:
        self.xx, self.xy, self.yy = xx, xy, yy
        self.n_weights = len(xy)

    @property
    def variances(self) -> Array:
        """Squared length of each column, (d,)."""
        return np.diag(self.xx)

    def at(self, penalty: Penalty, w: Array) -> Iterate:
        """Return the objective and the gap at w, without a step."""
        return self._measure(penalty, w, self._left(w))

    def _left(self, w: Array) -> Array:
        """Return ``X'(t - X w)``, (d,)."""
        left = np.empty_like(self.xy)
        coordinate_descent_loops.gram_left(self.xx, self.xy, w, left)
        return left

    def steps(
        self, penalty: Penalty, w: Array, wanted: float = 0.0, rng: Any = None
    ) -> Iterator[Iterate]:
        """Continue from w, which is changed: a step is one sweep, in random order with `rng`."""
        left = self._left(w)
        order = np.arange(self.n_weights)
        settled, sweeps = True, 0  # since the last time that equations were solved
        while True:
            used = int(np.count_nonzero(w))
            if settled and used and sweeps >= FIRST_SWEEPS + used / SWEEP_WORTH:
                sweeps = 0 if self._solve_for_signs(penalty, w, left) else -used
            if rng is not None:
                rng.shuffle(order)
            settled = not coordinate_descent_loops.gram_sweep(self.xx, *penalty, order, w, left)
            sweeps += 1
            yield self._measure(penalty, w, left)

    def finish(self, penalty: Penalty, w: Array, step: Iterate) -> Iterate:
        """Go from w, which is changed, and is good enough at `step`, to the minimum near by."""
        if exact(step, self.yy, self.xy) or not 0 < np.count_nonzero(w) <= MOST_TO_FINISH:
            return step
        best, left, order = w.copy(), self._left(w), np.arange(self.n_weights)
        for _ in range(MOST_FINISHING):
            self._solve_for_signs(penalty, best, left)
            if not coordinate_descent_loops.gram_sweep(self.xx, *penalty, order, best, left):
                break
        last = self._measure(penalty, best, left)
        if not last.objective <= step.objective:
            return step
        w[:] = best
        lower = max(last.objective - last.gap, step.objective - step.gap)
        return replace(last, gap=max(0.0, last.objective - lower))

    def _measure(self, penalty: Penalty, w: Array, left: Array) -> Iterate:
        tr = self.yy - float(self.xy @ w)
        rr = max(0.0, tr - float(left @ w))
        objective, gap, norm = coordinate_descent_loops.measure(rr, tr, left, w, *penalty)
        if penalty == Penalty(0.0) and norm <= NEARLY * np.linalg.norm(self.xy):
            gap = min(gap, self._excess(left))
        return Iterate(w, objective, norm, gap)

    def _excess(self, left: Array) -> float:
        """Return how far plain least squares is from its minimum; a dual point is a weak bound."""
        if self.n_weights > MOST_TO_FINISH:
            return np.inf
        _, step, failed = lapack.dposv(self.xx, left, lower=1)
        return np.inf if failed else max(0.0, float(left @ step) / 2)

    def _solve_for_signs(self, penalty: Penalty, w: Array, left: Array) -> bool:
        """Go to the minimum for the signs of w; return whether that worked."""
        # Where a sign does not hold all the way, its weight stays at zero, and the rest go on.
        for _ in range(MOST_LOST):
            kept = np.flatnonzero(w)
            if not 0 < len(kept) <= MOST_UNKNOWNS:
                return False
            start = w[kept]
            step = self._newton_step(penalty, kept, start, left[kept])
            if step is None:
                return False
            lost = np.flatnonzero((start + step) * start < 0)
            shares = start[lost] / -step[lost]
            share = float(shares.min(initial=1.0))
            w[kept] = start + share * step
            w[kept[lost[shares == share]]] = 0.0
            coordinate_descent_loops.gram_left(self.xx, self.xy, w, left)
            if not len(lost):
                break
        return True

    def _newton_step(
        self, penalty: Penalty, kept: NDArray[np.intp], w: Array, left: Array
    ) -> Array | None:
        """Return the step from w (k,) to the minimum for its signs; None if there is none.

        It solves ``(X'X + l2 I) step = - gradient``.
        """
        # Columns so alike that rounding decides get a little on the diagonal: the step is then
        # shorter, and still downhill.
        downhill = left - penalty.l2 * w - penalty.l1 * np.sign(w)
        for extra in EXTRA:
            system = self.xx[np.ix_(kept, kept)]
            diagonal = system.ravel()[:: len(kept) + 1]
            diagonal += penalty.l2
            diagonal *= 1 + extra
            _, step, failed = lapack.dposv(system, downhill, lower=1, overwrite_a=1)
            if not failed and np.isfinite(step).all() and np.abs(step).max() < HUGE:
                return np.asarray(step)
        return None
