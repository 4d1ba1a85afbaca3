"""What a solver says after each iteration."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


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
