"""Solvers: a problem and a start in, better and better points out.

A solver is a generator of `Iterate`: one after each iteration, with the objective and how far from
the best it may be. It knows nothing of estimators. The model that runs it decides when to stop,
reports to the callbacks, and publishes the last point.
"""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

NOTHING_LEFT = 1e-6  # of a sum of squares


@dataclass(frozen=True, eq=False)
class Iterate:
    """A point after an iteration of a solver, and what it is worth."""

    point: NDArray[Any]  # the solver may go on writing into this array, so keep copies
    objective: float
    gradient_norm: float = float("nan")  # or the length of the shortest subgradient
    gap: float = float("inf")  # upper bound of the distance to the best objective


def gap_above_zero(objective: float, whole: float) -> float:
    """A bound of the gap, as no sum of squares is negative; `whole` is at the start."""
    # It is useful where next to nothing of the sum is left. Elsewhere the answer is infinity.
    return objective if objective <= NOTHING_LEFT * whole else float("inf")
