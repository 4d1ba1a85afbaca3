"""Whether a margin, or a tube without slack, exists in the space of a kernel (C=inf)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from rosenblatt.kernels.functions import Gaussian, Laplacian, Linear, row_keys
from rosenblatt.kernels.space import KernelSpace
from rosenblatt.separation import separability

from .hard_margin import some_of
from .training_rows import Array, TrainingRows

UNDECIDED = 1e-6  # of the range of targets: what the linear program may be off by


def refuse_inseparable(
    rows: TrainingRows, codes: NDArray[np.intp], sides: Sequence[tuple[NDArray[np.intp], Array]]
) -> None:
    """Raise if the sides, 1 and -1, of some groups cannot be separated in the kernel's space."""
    if rows.kernel is not None:
        _refuse_equal_rows(rows, codes)
    if isinstance(rows.kernel, Gaussian | Laplacian):
        return  # different rows are independent: any sides are separated
    for some, side in sides:
        places = rows.first[some]
        found = separability(_coordinates(rows, places), side)
        if not found.separable:
            counted = np.flatnonzero(np.asarray(found.combination) > 0)
            raise ValueError(
                f"C=inf allows no slack, and {len(counted)} rows ({some_of(places[counted])}) "
                "cannot be separated; see separability(X, y). Choose a finite C, or another kernel."
            )


def _refuse_equal_rows(rows: TrainingRows, codes: NDArray[np.intp]) -> None:
    """Raise if two equal rows have different classes: no kernel separates them."""
    first, seen = rows.first, dict[bytes, int]()
    for k, key in enumerate(row_keys(rows.X[first])):
        other = seen.setdefault(key, k)
        if other != k and codes[other] != codes[k]:
            raise ValueError(
                f"C=inf allows no slack, and rows {first[other]} and {first[k]} of X are equal but "
                "have different labels. Choose a finite C."
            )


def refuse_narrow_tube(rows: TrainingRows, t: Array, epsilon: float) -> None:
    """Raise if no function of the kernel's space is within epsilon of all targets."""
    if rows.kernel is not None:
        _refuse_far_targets(rows, t, epsilon)
    if isinstance(rows.kernel, Gaussian | Laplacian):
        return  # different rows are independent: any targets are reached
    F = _coordinates(rows, rows.first)
    F = F.toarray() if sp.issparse(F) else F
    least = narrowest_tube(F, t)
    if least > epsilon + UNDECIDED * float(np.ptp(t)):
        raise ValueError(
            f"C=inf allows no error above epsilon={epsilon:g}, and the best function is off by "
            f"{least:.6g}. Choose a finite C, a larger epsilon, or another kernel."
        )


def narrowest_tube(F: Array, t: Array) -> float:
    """The least h such that some plane over F (n, r) is within h of the targets t (n,).

    >>> narrowest_tube(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.0]))
    0.5
    """
    shift, scale = float(t.mean()), float(np.ptp(t)) or 1.0
    F = F - F.mean(axis=0)
    F = np.column_stack([F / (np.abs(F).max(axis=0, initial=0.0) + 1e-300), np.ones(len(t))])
    wanted, width = (t - shift) / scale, np.ones((len(t), 1))
    found = linprog(
        np.append(np.zeros(F.shape[1]), 1.0),
        A_ub=np.vstack([np.hstack([F, -width]), np.hstack([-F, -width])]),
        b_ub=np.concatenate([wanted, -wanted]),
        bounds=[(None, None)] * F.shape[1] + [(0, None)],
    )
    # Without an answer nothing is refused: the run of the fit has an end of its own.
    return scale * float(found.fun) if found.status == 0 else 0.0


def _refuse_far_targets(rows: TrainingRows, t: Array, epsilon: float) -> None:
    """Raise if two equal rows have targets that no tube of this width holds both."""
    first, order = rows.first, np.argsort(t, kind="stable")
    least: dict[bytes, int] = {}
    for k, key in zip(order, row_keys(rows.X[first[order]]), strict=True):
        other = least.setdefault(key, k)
        if t[k] - t[other] > 2 * epsilon:
            raise ValueError(
                f"C=inf allows no error above epsilon={epsilon:g}, and rows {first[other]} and "
                f"{first[k]} of X are equal but have targets {t[other]:g} and {t[k]:g}. Choose a "
                "finite C or a larger epsilon."
            )


def _coordinates(rows: TrainingRows, places: NDArray[np.intp]) -> Any:
    """The rows in the kernel's space."""
    if isinstance(rows.kernel, Linear):
        return rows.wide[places]
    K = rows.wide[np.ix_(places, places)] if rows.kernel is None else rows.kernel(rows.wide[places])
    return KernelSpace.of(np.asarray(K)).F
