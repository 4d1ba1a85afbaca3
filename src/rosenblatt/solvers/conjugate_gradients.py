"""Conjugate gradients on least squares: nothing but products with the rows and their transpose."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .step import Step, gap_above_zero

Array = NDArray[np.float64]


def conjugate_gradients(
    product: Callable[[Array], Array],
    adjoint: Callable[[Array], Array],
    target: Array,
    penalty: float = 0.0,
    sizes: Array | None = None,
) -> Iterator[Step]:
    """Minimise ``|target - X w|^2 + penalty |w|^2`` from w = 0; yield a step after each iteration.

    `product` is X, `adjoint` its transpose, `sizes` (d,) about the diagonal of ``X'X + penalty``,
    by which directions are scaled. Without sizes the limit is the shortest of all solutions.

    The objective bends upward at least as much as ``penalty |w|^2``, so it is at most
    ``|gradient|^2 / (4 penalty)`` above its least value.
    """
    whole = float(target @ target)
    residual, half = target.copy(), adjoint(target)  # half: minus half the gradient
    w = np.zeros_like(half)
    scaled = half if sizes is None else half / sizes
    direction, size = scaled.copy(), float(half @ scaled)
    while True:
        if size > 0:
            moved = product(direction)
            step = size / (float(moved @ moved) + penalty * float(direction @ direction))
            w += step * direction
            residual -= step * moved
            half = adjoint(residual) - penalty * w
            scaled = half if sizes is None else half / sizes
            before, size = size, float(half @ scaled)
            direction = scaled + (size / before) * direction
        square = float(half @ half)
        objective = float(residual @ residual) + penalty * float(w @ w)
        gap = square / penalty if penalty else gap_above_zero(objective, whole)
        gap = gap if square > 0 else 0.0
        yield Step(w, objective, 2 * square**0.5, gap)
