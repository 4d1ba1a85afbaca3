"""What a user should know of the columns of a linear fit, in words that name them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from rosenblatt import checks

INVOLVED = 1e-6  # the least share of a column in a direction that changes nothing
WORTH_A_WORD = 1e-3  # what is left out of a fit, as a share of what is explained
CONSTANT = 1e-14  # deviation as a share of the mean that is rounding
SCALES_APART = 1e6  # ratio of deviations above which a penalty means different things

Array = NDArray[np.float64]


def names_of(model: Any) -> list[str]:
    """How to speak of a fitted model's columns, of which a search may know the names for it."""
    names = getattr(model, "feature_names_in_", getattr(model, "_names_of_search", None))
    if names is None:
        return [str(j) for j in range(model.n_features_in_)]
    return [repr(str(name)) for name in names]


def undetermined(model: Any, solution: Any, squares: Array | None) -> str:
    """Why a fit had to choose among many coefficients: which columns are to blame."""
    d, names = model.n_features_in_, names_of(model)
    message = f"The rows determine {solution.rank} of {d} coefficients"
    if solution.dependent is None or squares is None:
        message += ", being fewer than the columns or dependent"
    else:
        tol = model._least_share()
        within = f" to within tol={tol:.2g}" if tol else ""
        message += f"; {dependence(solution.dependent, squares == 0, names, within)}"
    message += (
        ". Of all coefficients that fit equally well the shortest are taken (minimum norm). Leave "
        "columns out, or use Ridge."
    )
    if solution.left_out > WORTH_A_WORD:
        message += (
            f" What tol={model._least_share():.2g} leaves out would explain {solution.left_out:.1%}"
            " more; a smaller tol keeps it."
        )
    return message


def dependence(
    dependent: Array, constant: NDArray[np.bool_], names: Sequence[str], within: str
) -> str:
    """Which columns depend on each other, from directions (d, q) that change no prediction."""
    said = []
    if constant.any():
        said.append(f"constant: {checks.listed(np.flatnonzero(constant), names)}")
    together = np.abs(dependent @ dependent.T) > INVOLVED
    together[constant] = together[:, constant] = False
    involved = np.flatnonzero(together.any(axis=0))
    if len(involved):
        n_groups, group = connected_components(together[np.ix_(involved, involved)], directed=False)
        groups = [
            checks.listed(involved[group == g], names)
            for g in range(min(n_groups, checks.MOST_NAMES))
        ]
        said.append(f"linearly dependent{within}: {'; '.join(groups)}")
    return "; ".join(said)


def apart(squares: Array, weight: float, means: Array, names: Sequence[str]) -> str | None:
    """Say so if columns vary on scales so different that one penalty cannot serve all."""
    deviations = np.sqrt(squares / weight)
    varies = np.flatnonzero(deviations > CONSTANT * np.abs(means))
    if len(varies) < 2:
        return None
    small = varies[np.argmin(deviations[varies])]
    large = varies[np.argmax(deviations[varies])]
    if deviations[large] <= SCALES_APART * deviations[small]:
        return None
    middle = np.median(deviations[varies])
    far = [j for j in varies if not 1 / 1e3 < deviations[j] / middle < 1e3]
    return (
        f"Columns vary on very different scales, from {deviations[small]:.2g} (column "
        f"{names[small]}) to {deviations[large]:.2g} (column {names[large]}), so that one penalty "
        "forbids some and leaves others free. Standardise "
        f"{checks.listed(far or [small, large], names)}, or all columns, for instance with "
        "rosenblatt.Standardizer."
    )


def columns(y: Any) -> Array:
    """Targets (n, t) of y (n,) or (n, t)."""
    targets: Array = np.asarray(y, np.float64)
    return targets[:, None] if targets.ndim == 1 else targets
