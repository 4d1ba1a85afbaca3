"""Whether a margin without slack exists, and the proof if not."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.kernels.dual import row_keys
from rosenblatt.kernels.functions import Gaussian, Laplacian, Linear
from rosenblatt.kernels.space import KernelSpace
from rosenblatt.separation import separability

from .multiclass import Machine
from .training_rows import TrainingRows


def refuse_inseparable(
    rows: TrainingRows,
    first: NDArray[np.intp],
    codes: NDArray[np.intp],
    machines: list[Machine],
) -> None:
    """Raise if some machine's classes cannot be separated in the kernel's space."""
    if separates_anything(rows, first, codes):
        return
    for machine in machines:
        places = first[machine.rows]
        found = separability(_coordinates(rows, places), machine.side)
        if not found.separable:
            counted = np.flatnonzero(np.asarray(found.combination) > 0)
            raise ValueError(
                "C=inf allows no slack, and the classes cannot be separated: averages of both, "
                f"over {len(counted)} rows ({_some(places[counted])}) with the weights of "
                "separability(X, y).combination, coincide. Choose a finite C, or another kernel."
            )


def refuse_jointly_inseparable(
    rows: TrainingRows, first: NDArray[np.intp], codes: NDArray[np.intp]
) -> None:
    """Raise if no scores, one a class, put every row's own class first in the kernel's space."""
    if separates_anything(rows, first, codes):
        return
    found = separability(_coordinates(rows, first), codes, joint=True)
    if not found.separable:
        counted = np.flatnonzero(np.asarray(found.combination).any(axis=1))
        raise ValueError(
            "C=inf allows no slack, and no scores put each row's own class first: with the weights "
            f"of separability(X, y, joint=True).combination on {len(counted)} rows "
            f"({_some(first[counted])}), the demands of these rows cancel. Choose a finite C, or "
            "another kernel."
        )


def separates_anything(
    rows: TrainingRows, first: NDArray[np.intp], codes: NDArray[np.intp]
) -> bool:
    """Whether different rows are independent in the kernel's space, so that any sides are taken."""
    if rows.kernel is not None:
        refuse_equal_rows(rows, first, codes)
    return isinstance(rows.kernel, Gaussian | Laplacian)


def _some(places: NDArray[np.intp]) -> str:
    words = ", ".join(str(int(i)) for i in places[:6])
    return words + (", ..." if len(places) > 6 else "")


def refuse_equal_rows(rows: TrainingRows, first: NDArray[np.intp], codes: NDArray[np.intp]) -> None:
    """Raise if two equal rows have different classes: no kernel separates them."""
    seen: dict[bytes, int] = {}
    for k, key in enumerate(row_keys(rows.X[first])):
        other = seen.setdefault(key, k)
        if other != k and codes[other] != codes[k]:
            raise ValueError(
                f"C=inf allows no slack, and rows {first[other]} and {first[k]} of X are equal but "
                "have different labels: nothing separates them. Choose a finite C."
            )


def _coordinates(rows: TrainingRows, places: NDArray[np.intp]) -> Any:
    """The rows in the kernel's space."""
    if isinstance(rows.kernel, Linear):
        return rows.wide[places]
    K = rows.wide[np.ix_(places, places)] if rows.kernel is None else rows.kernel(rows.wide[places])
    return KernelSpace.of(np.asarray(K)).F
