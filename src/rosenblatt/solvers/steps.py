"""What a solver says after each iteration."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

NOTHING_LEFT = 1e-6  # of a sum of squares


@dataclass(frozen=True, eq=False)
class Step:
    """A point of a solver's way, and what it is worth.

    Attributes
    ----------
    point : the parameters; the solver may go on writing into this array, so keep copies.
    objective : the value that is made small.
    gradient_norm : length of the gradient, or of the shortest subgradient.
    gap : how far the objective is from the best possible, at most; infinity where nothing is known.
    """

    point: NDArray[Any]
    objective: float
    gradient_norm: float = float("nan")
    gap: float = float("inf")


def gap_above_zero(objective: float, whole: float) -> float:
    """What is known of a gap because no sum of squares is negative; `whole` is the first of all.

    That proves something where next to nothing is left of it. Elsewhere nothing is known.
    """
    return objective if objective <= NOTHING_LEFT * whole else float("inf")
