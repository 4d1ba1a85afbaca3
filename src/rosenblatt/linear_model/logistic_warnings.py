"""Warnings about the parameters of a logistic regression, its convergence, classes and columns."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.solvers.logistic import LogisticDescent, class_without_weight
from rosenblatt.solvers.logistic_problem import LogisticProblem

from .centred_rows import moved
from .column_warnings import Array, apart, dependence, names_of
from .separating_direction import TooMuch
from .separation_warning import escape, of_no_search, separation_warning

ENOUGH_ROWS = 10_000  # to see that columns vary on different scales
CELLS_PER_BLOCK = 100_000
MOST_WORK = 3e9  # multiplications that a look at all pairs of columns may take
MOST_COLUMNS = 1500
LEAST_WITH_SQUARE = 1e-150
DEPENDENT = 1e-12  # eigenvalues of correlations below this many times d: no fit tells them from 0
ROUNDING = 1e-12  # what dependent columns may leave of a combination that is zero


class Strengths(NamedTuple):
    """``l1 |w|_1 + l2/2 |w|^2 + C times the loss``; without a penalty C is 1."""

    l1: float
    l2: float
    C: float


def strengths(model: Any) -> Strengths:
    """The penalty of a model, from the parameters of today or from the deprecated one."""
    kind = model.penalty
    if kind == "deprecated":
        if model.l1_ratio is None:
            deprecated("'l1_ratio=None'", "Use a number from 0 to 1.")
        kind = {0: "l2", 1: "l1"}.get(model.l1_ratio or 0, "elasticnet")
        kind = None if np.isinf(model.C) else kind
    else:
        deprecated(
            "'penalty'",
            f"Got penalty={kind!r}. Leave it out, and use l1_ratio=0 for L2, l1_ratio=1 for L1, a "
            "number between for both, and C=np.inf for no penalty.",
        )
        _warn_of_contradictions(model, kind)
    if kind is None or np.isinf(model.C):
        return Strengths(0.0, 0.0, 1.0)
    if kind == "elasticnet" and model.l1_ratio is None:
        raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
    l1 = {"l1": 1.0, "l2": 0.0}.get(kind)
    l1 = float(model.l1_ratio) if l1 is None else l1
    return Strengths(l1, 1.0 - l1, float(model.C))


def _warn_of_contradictions(model: Any, kind: str | None) -> None:
    """scikit-learn's warnings about parameters that do not go together."""
    ratio = model.l1_ratio
    if kind != "elasticnet" and ratio is not None and 0 < ratio < 1:
        warn(f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={kind})")
    if (kind == "l2" and ratio != 0) or (kind == "l1" and ratio != 1):
        warn(
            f"Inconsistent values: penalty={kind} with l1_ratio={ratio}. penalty is deprecated. "
            "Please use l1_ratio only."
        )
    if kind is None and model.C != 1.0:
        warn("Setting penalty=None will ignore the C and l1_ratio parameters")


def deprecated(what: str, instead: str) -> None:
    """Warn of what scikit-learn 1.10 will refuse."""
    warn(
        f"{what} was deprecated in scikit-learn 1.8 and goes away in 1.10. {instead}", FutureWarning
    )


# Defaults of LogisticRegressionCV that scikit-learn changes, the version, and what to set.
CHANGING_DEFAULTS = {
    "use_legacy_attributes": (
        "of use_legacy_attributes will change from True to False in scikit-learn 1.10",
        "use_legacy_attributes=False",
    ),
    "l1_ratios": ("for l1_ratios will change from None to (0.0,) in 1.10", "l1_ratios=(0,)"),
    "scoring": (
        "of the parameter 'scoring' will change from accuracy to 'neg_log_loss' in 1.11",
        "scoring='accuracy' or 'neg_log_loss'",
    ),
}


def warn_of_changing_defaults(model: Any) -> None:
    """Warn once of all defaults that scikit-learn is to change and that the caller left out."""
    left_out = [row for name, row in CHANGING_DEFAULTS.items() if is_left_out(model, name)]
    if left_out:
        changes = "; ".join(f"The default value {change}" for change, _ in left_out)
        settings = ", ".join(setting for _, setting in left_out)
        warn(
            f"{changes}. The values of today are used. To avoid this warning, set {settings}.",
            FutureWarning,
        )
    if model.l1_ratios is None and model.penalty == "deprecated":
        deprecated("'l1_ratios=None'", "Use numbers from 0 to 1, such as l1_ratios=(0,).")


def is_left_out(model: Any, name: str) -> bool:
    """Whether the caller left a default that is to change as it is."""
    value = getattr(model, name)
    return isinstance(value, str) and value == "warn"


def warn_of_fit(
    model: Any,
    descent: LogisticDescent,
    codes: NDArray[np.intp],
    X: Any,
    y: Any,
    table: Any,
    shift: Array | None,
) -> str:
    """Warn of a fit that fell short, or has nowhere to go, or more answers than one."""
    # `shift` (d,) is what the fit subtracted from the columns of the `table` of X; a direction is
    # reported for the columns as given. Returns why the fit ended: "converged" becomes "diverged"
    # where the gradient vanished because the weights go to infinity.
    problem, reason = descent.problem, str(model.stop_reason_)
    found, unsearched = None, None
    if not problem.penalised:
        try:
            found = escape(problem, descent.place)
        except TooMuch:
            unsearched = of_no_search(problem, descent.place)
    if found is not None:
        if shift is not None:
            problem = problem.on(table)
            found = replace(found, direction=moved(found.direction, shift, -1))
        said = separation_warning(model, problem, found, X, y)
        warn(said)
        return "diverged" if reason == "converged" else reason
    for message, kind in (
        (descent.shortfall(reason), ConvergenceWarning),
        (unsearched, ConvergenceWarning),
        (class_without_weight(problem, codes, model.classes_), ConvergenceWarning),
        (of_columns(model, problem), LinAlgWarning),
    ):
        if message is not None:
            warn(message, kind)
    return reason


def of_columns(model: Any, problem: LogisticProblem) -> str | None:
    """A sentence on columns that a penalty cannot treat alike, or that no fit can tell apart."""
    if problem.penalised:
        return apart(*_variation(problem), names_of(model))
    if problem.d > MOST_COLUMNS or problem.n * float(problem.d) ** 2 > MOST_WORK:
        return None
    return _undetermined(model, problem)


def _variation(problem: LogisticProblem) -> tuple[Array, float, Array]:
    """Weighted squares (d,) of columns less their mean, weight and means; of a sample of rows."""
    some = slice(None, None, max(1, problem.n // ENOUGH_ROWS))  # of a dense table no copy is made
    c, X = problem.c[some], problem.X[some]
    weight = float(c.sum())
    if not weight > 0:
        return np.zeros(problem.d), 1.0, np.zeros(problem.d)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.asarray(c @ X, np.float64).ravel() / weight
        if sp.issparse(X):
            squares = np.asarray(c @ X.multiply(X), np.float64).ravel() - weight * mean**2
            # What two large numbers leave over is no variation.
            squares[squares < 1e-12 * weight * mean**2] = 0.0
        else:
            size = max(1, CELLS_PER_BLOCK // len(X))  # in cache it takes a fraction of the time
            blocks = [slice(j, j + size) for j in range(0, problem.d, size)]
            squares = np.concatenate([c @ (X[:, j] - mean[j]) ** 2 for j in blocks])
    return np.where(np.isfinite(squares), squares, 0.0), weight, mean


def _undetermined(model: Any, problem: LogisticProblem) -> str | None:
    """Which columns are to blame if coefficients are not the only ones with these probabilities."""
    scatter, constant = _scatter(problem)
    low, high = _ends(problem)
    lost = np.maximum(np.abs(high), np.abs(low)) < LEAST_WITH_SQUARE
    tiny = np.flatnonzero(constant & (high > low) & lost)
    if len(tiny):
        return (
            f"Columns {checks.listed(tiny, names_of(model))} vary so little that their squares are "
            "lost in floating point. Standardise X, for example with StandardScaler."
        )
    varies = np.flatnonzero(~constant)
    lengths = np.sqrt(np.diag(scatter)[varies])
    correlation = scatter[np.ix_(varies, varies)] / np.outer(lengths, lengths)
    values, vectors = np.linalg.eigh(correlation)
    null = values < DEPENDENT * max(problem.d, 1)
    if not constant.any() and not null.any():
        return None
    dependent = np.zeros((problem.d, int(null.sum())))
    dependent[varies] = vectors[:, null]
    rank = len(varies) - int(null.sum())
    of_class = " of each class" if len(problem.shape) > 1 else ""
    left = _variation_along(problem, vectors[:, null] / lengths[:, None], varies)
    within, nearly = "", ""
    if left > ROUNDING:
        within, nearly = f" to within {left:.1g} of their size", " nearly"
    return (
        f"The rows determine {rank} of {problem.d} coefficients{of_class}; "
        f"{dependence(dependent, constant, names_of(model), within)}. Others have{nearly} the same "
        "likelihood and the same probabilities. Leave columns out, or use a penalty, for example "
        "C=1.0."
    )


def _variation_along(problem: LogisticProblem, V: Array, columns: NDArray[np.intp]) -> float:
    """The most that rows vary along directions V of some columns, scaled to length one."""
    used, squares, level = problem.c > 0, np.zeros(V.shape[1]), np.zeros(V.shape[1])
    if problem.fit_intercept:
        level = np.asarray(problem.X[[int(used.argmax())]][:, columns] @ V)[0]  # of the first row
    for start, stop in problem.blocks(problem.d):
        part = problem.X[start:stop][used[start:stop]][:, columns]
        squares += ((np.asarray(part @ V) - level) ** 2).sum(axis=0)
    return float(np.sqrt(squares.max(initial=0.0)))


def _ends(problem: LogisticProblem) -> tuple[Array, Array]:
    """The least and the largest number of each column (d,) in rows that count."""
    X = problem.X[problem.c > 0]
    low, high = X.min(axis=0), X.max(axis=0)
    if sp.issparse(X):
        return low.toarray().ravel(), high.toarray().ravel()
    return low, high


def _scatter(problem: LogisticProblem) -> tuple[Array, NDArray[np.bool_]]:
    """Products (d, d) of columns, less their mean if there is a bias; which ones are constant."""
    used = problem.c > 0
    n, d = int(used.sum()), problem.d
    mean = np.zeros(d)
    if problem.fit_intercept:
        mean = np.asarray(used @ problem.X, np.float64).ravel() / n
    scatter = np.zeros((d, d))
    with one_blas_thread():
        for start, stop in problem.blocks(d):
            part = problem.X[start:stop][used[start:stop]]
            if sp.issparse(part):
                scatter += (part.T @ part).toarray()
            else:
                part = part - mean
                scatter += part.T @ part
    if sp.issparse(problem.X):
        scatter -= n * np.outer(mean, mean)
    squares = np.diag(scatter)
    constant = squares <= n * (64 * np.finfo(np.float64).eps * np.abs(mean)) ** 2
    if problem.fit_intercept:
        # Their rounded squares may leave something over.
        low, high = _ends(problem)
        constant |= low == high
    return scatter, constant
