"""Warnings about the columns of a linear fit: dependent, constant, or of unequal scales."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from rosenblatt import checks
from rosenblatt.runtime.threads import one_blas_thread

from .centered_rows import CenteredRows

INVOLVED = 1e-6  # the least share of a column in a direction that changes nothing
MUCH_LEFT_OUT = 1e-3  # of a fit, as a share of the sum that is explained
CONSTANT = 1e-14  # deviation as a share of the mean that is rounding
SCALES_APART = 1e6  # ratio of deviations above which a penalty means different things

Array = NDArray[np.float64]


def names_of(model: Any) -> list[str]:
    """Return the names of a fitted model's columns, or their numbers."""
    names = getattr(model, "feature_names_in_", getattr(model, "_names_of_search", None))
    if names is None:
        return [str(j) for j in range(model.n_features_in_)]
    return [repr(str(name)) for name in names]


def undetermined(model: Any, solution: Any, squares: Array | None) -> str:
    """Return the warning of a fit with many solutions, naming dependent columns."""
    d, names, tol = model.n_features_in_, names_of(model), model._least_variation()
    message = f"The rows determine {solution.rank} of {d} coefficients"
    if solution.dependent is None or squares is None:
        message += ", being fewer than the columns or dependent"
    else:
        within = f" to within tol={tol:.2g}" if tol else ""
        message += f"; {dependence(solution.dependent, squares == 0, names, within)}"
    message += (
        ". Of all coefficients that fit equally well the shortest are taken (minimum norm). Leave "
        "columns out, or use Ridge."
    )
    if solution.left_out > MUCH_LEFT_OUT:
        message += (
            f" What tol={tol:.2g} leaves out would explain {solution.left_out:.1%} more; a smaller "
            "tol keeps it."
        )
    return message


def dependence(
    dependent: Array, constant: NDArray[np.bool_], names: Sequence[str], within: str
) -> str:
    """Return the groups of dependent columns, from directions (d, q) that change no prediction."""
    found = []
    if constant.any():
        found.append(f"constant: {checks.listed(np.flatnonzero(constant), names)}")
    together = np.abs(dependent @ dependent.T) > INVOLVED
    together[constant] = together[:, constant] = False
    involved = np.flatnonzero(together.any(axis=0))
    if len(involved):
        n_groups, group = connected_components(together[np.ix_(involved, involved)], directed=False)
        groups = [
            checks.listed(involved[group == g], names)
            for g in range(min(n_groups, checks.MOST_NAMES))
        ]
        found.append(f"linearly dependent{within}: {'; '.join(groups)}")
    return "; ".join(found)


def unequal_scales(model: Any, squares: Array, weight: float, means: Array) -> str | None:
    """Return a message if columns vary on scales so different that one penalty cannot serve all.

    `squares` (d,) are sums of squares about the means (d,).
    """
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
    names = names_of(model)
    return (
        f"Columns vary on very different scales, from {deviations[small]:.2g} (column "
        f"{names[small]}) to {deviations[large]:.2g} (column {names[large]}), so that one penalty "
        "forbids some and leaves others free. Standardise "
        f"{checks.listed(far or [small, large], names)}, or all columns, for instance with "
        "rosenblatt.Standardizer."
    )


# Logistic regression: the same messages, of rows X (n, d) with weights (n,).

ENOUGH_ROWS = 10_000  # to see that columns vary on different scales
MAX_WORK = 3e9  # multiplications for the products of all pairs of columns
MAX_COLUMNS = 1500
LEAST_WITH_SQUARE = 1e-150
DEPENDENT = 1e-12  # eigenvalues of correlations below this many times d are rounding
ROUNDING = 1e-12  # what dependent columns may leave of a combination that is zero


def unequal_scales_of_rows(model: Any, X: Any, weights: Array) -> str | None:
    """Return the same message for rows."""
    some = slice(None, None, max(1, X.shape[0] // ENOUGH_ROWS))
    if not weights[some].any():
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        rows = CenteredRows(X[some], np.zeros((len(weights[some]), 1)), weights[some], True)
        squares = rows.squares()
        if rows.sparse:  # the rounding of a difference of two large numbers
            squares[squares < 1e-12 * rows.weight * rows.mean_x**2] = 0.0
    squares = np.where(np.isfinite(squares), squares, 0.0)
    return unequal_scales(model, squares, rows.weight, rows.mean_x)


def not_unique(model: Any, X: Any, weights: Array) -> str | None:
    """Return a message if other coefficients have the same probabilities, naming the columns."""
    (n, d), fit_intercept = X.shape, model.fit_intercept
    if d > MAX_COLUMNS or n * float(d) ** 2 > MAX_WORK:
        return None
    names = names_of(model)
    X = X[weights > 0]
    rows = CenteredRows(X, np.zeros((X.shape[0], 1)), None, fit_intercept)
    scatter = np.zeros((d, d))
    with one_blas_thread():
        for _, part in rows.blocks():
            scatter += part.T @ part
    low, high = X.min(axis=0), X.max(axis=0)
    if sp.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    rounding = 64 * np.finfo(np.float64).eps * np.abs(rows.mean_x)
    constant = np.diag(scatter) <= X.shape[0] * rounding**2
    if fit_intercept:
        constant |= low == high
    lost = np.maximum(np.abs(high), np.abs(low)) < LEAST_WITH_SQUARE
    tiny = np.flatnonzero(constant & (high > low) & lost)
    if len(tiny):
        return (
            f"Columns {checks.listed(tiny, names)} vary so little that their squares are lost in "
            "floating point. Standardise X, for example with StandardScaler."
        )
    varies = np.flatnonzero(~constant)
    lengths = np.sqrt(np.diag(scatter)[varies])
    values, vectors = np.linalg.eigh(scatter[np.ix_(varies, varies)] / np.outer(lengths, lengths))
    null = values < DEPENDENT * max(d, 1)
    if not constant.any() and not null.any():
        return None
    dependent = np.zeros((d, int(null.sum())))
    dependent[varies] = vectors[:, null]
    left = _variation_along(X, fit_intercept, vectors[:, null] / lengths[:, None], varies)
    within, nearly, of_class = "", "", " of each class" if len(model.classes_) > 2 else ""
    if left > ROUNDING:
        within, nearly = f" to within {left:.1g} of their size", " nearly"
    return (
        f"The rows determine {len(varies) - int(null.sum())} of {d} coefficients{of_class}; "
        f"{dependence(dependent, constant, names, within)}. Others have{nearly} the same "
        "likelihood and the same probabilities. Leave columns out, or use a penalty, for example "
        "C=1.0."
    )


def _variation_along(X: Any, fit_intercept: bool, V: Array, columns: NDArray[np.intp]) -> float:
    """Return the most that rows vary along directions V of some columns, scaled to length one."""
    squares, level = np.zeros(V.shape[1]), np.zeros(V.shape[1])
    if fit_intercept:
        level = np.asarray(X[[0]][:, columns] @ V)[0]
    for start in range(0, X.shape[0], ENOUGH_ROWS):
        part = X[start : start + ENOUGH_ROWS][:, columns]
        squares += ((np.asarray(part @ V) - level) ** 2).sum(axis=0)
    return float(np.sqrt(squares.max(initial=0.0)))
