"""Whether a margin or a tube without slack exists, and the proof if not."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from rosenblatt.kernels.functions import Gaussian, Laplacian, Linear
from rosenblatt.kernels.shared_products import row_keys
from rosenblatt.kernels.space import KernelSpace
from rosenblatt.separation import separability

from .multiclass import Machine
from .training_rows import Floats, TrainingRows

UNDECIDED = 1e-6  # of the range of targets: what the linear program may be off by


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
                f"C=inf allows no slack, and {len(counted)} rows ({_some(places[counted])}) cannot "
                "be separated; see separability(X, y). Choose a finite C, or another kernel."
            )


def refuse_jointly_inseparable(
    rows: TrainingRows, first: NDArray[np.intp], codes: NDArray[np.intp]
) -> None:
    """Raise if no scores, one a class, put every row's own class first in the kernel's space."""
    if separates_anything(rows, first, codes):
        return
    refuse_no_joint_margin(_coordinates(rows, first), codes, first)


def refuse_no_joint_margin(
    X: Any, codes: NDArray[np.intp], places: NDArray[np.intp] | None = None
) -> None:
    """Raise if no planes, one a class, put every row's own class first; places number the rows."""
    found = separability(X, codes, joint=True)
    if not found.separable:
        counted = np.flatnonzero(np.asarray(found.combination).any(axis=1))
        named = counted if places is None else places[counted]
        raise ValueError(
            "C=inf allows no slack, and no scores put each row's own class first: with the weights "
            f"of separability(X, y, joint=True).combination on {len(counted)} rows "
            f"({_some(named)}), the demands of these rows cancel. Choose a finite C"
            + (", or another kernel." if places is not None else ".")
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
                "have different labels. Choose a finite C."
            )


def refuse_narrow_tube(
    rows: TrainingRows, first: NDArray[np.intp], t: Floats, epsilon: float
) -> None:
    """Raise if no function of the kernel's space is within epsilon of all targets."""
    if rows.kernel is not None:
        _refuse_far_targets(rows, first, t, epsilon)
    if isinstance(rows.kernel, Gaussian | Laplacian):
        return  # different rows are independent: any targets are reached
    F = _coordinates(rows, first)
    F = F.toarray() if sp.issparse(F) else F
    least = narrowest_tube(F, t)
    if least > epsilon + UNDECIDED * float(np.ptp(t)):
        raise ValueError(
            f"C=inf allows no error above epsilon={epsilon:g}, and the best function is off by "
            f"{least:.6g}. Choose a finite C, a larger epsilon, or another kernel."
        )


def narrowest_tube(F: Floats, t: Floats) -> float:
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


def _refuse_far_targets(
    rows: TrainingRows, first: NDArray[np.intp], t: Floats, epsilon: float
) -> None:
    """Raise if two equal rows have targets that no tube of this width holds both."""
    order = np.argsort(t, kind="stable")
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
