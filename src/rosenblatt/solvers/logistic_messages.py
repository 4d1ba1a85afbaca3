"""Errors and warnings of logistic fits: numbers that are too large, a tolerance that was missed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import checks

from .gradient_descent import safe_step

# scikit-learn's warning of each solver that needs more iterations.
TOO_FEW_ITERATIONS = {
    "lbfgs": "lbfgs failed to converge. ",
    "liblinear": "Liblinear failed to converge, increase the number of iterations. ",
    "newton-cg": "newton-cg failed to converge. Increase the number of iterations. ",
    "newton-cholesky": "Newton solver did not converge after {max_iter} iterations. ",
    "sag": "The max_iter was reached which means the coef_ did not converge. ",
    "saga": "The max_iter was reached which means the coef_ did not converge. ",
}
MAX_WEIGHT = 1e150  # of a row: the square of more overflows


def shortfall(descent: Any, reason: str) -> str | None:
    """Return a message about a fit that diverged or missed its tolerance, else None."""
    settings = descent.settings
    if reason == "diverged":
        step = _safe_step(descent)
        shorter = f"eta0={step:.2g}, " if step > 0 else ""  # none is short enough
        return (
            f"The fit diverged and was stopped: {descent.divergence}. The step "
            f"eta0={settings.eta0} is too large for these data; use {shorter}eta0=None, or another "
            "solver. The coefficients are the best that were met."
        )
    if reason not in ("max_iter", "no_progress") or settings.tol is None:
        return None
    first = ""
    if reason == "max_iter":
        first = TOO_FEW_ITERATIONS.get(settings.solver, "").format(max_iter=settings.max_iter)
        advice = f"max_iter={settings.max_iter} is reached. Raise it, standardise X"
    else:
        advice = "No step lowers the objective any more in floating point. Standardise X"
    other = "" if settings.solver == "auto" else ', or use solver="auto"'
    return (
        f"{first}{settings.estimator} stopped short of tol={settings.tol}: {_missed(descent)}. "
        f"{advice}{other}, or raise tol."
    )


def _missed(descent: Any) -> str:
    """Return the values reached and wanted."""
    norm, gap, missed = descent.iterate.gradient_norm, descent.gap, []
    if norm > descent.wanted_gradient:
        missed.append(f"the gradient is {norm:.3g} long, wanted {descent.wanted_gradient:.3g}")
    if descent.problem.is_penalized and gap > descent.wanted_gap:
        missed.append(f"the duality gap is {gap:.3g}, wanted {descent.wanted_gap:.3g}")
    return " and ".join(missed) or "the tolerance was met only after the last test"


@np.errstate(over="ignore")
def _safe_step(descent: Any) -> float:
    """Return a step that does not diverge: one over the curvature."""
    problem = descent.problem
    if descent.solver != "gradient":
        return safe_step(problem)
    at_zero = problem.at(np.zeros(problem.shape))  # where the curvature is largest
    curvature = float(problem.diagonal(at_zero).astype(np.float64).sum())
    return float(descent.settings.C / max(curvature, 1e-300))


def class_without_weight(
    weights: NDArray[Any], codes: NDArray[np.intp], classes: NDArray[Any]
) -> str:
    """Return a message about a class of weight zero: its free intercept has no optimum."""
    empty = np.flatnonzero(weights == 0)[0]
    label = repr(classes.tolist()[empty])
    none = f"All rows of class {label} have weight zero"
    if not (codes == empty).any():
        none = f"The training rows of a fold have none of class {label}"
    return (
        f"{none}: its probability is best at zero, so that no finite bias is best, and it was "
        "stopped on its way. Leave the class out, or give it a weight."
    )


def not_finite(
    problem: Any, point: NDArray[Any], estimator: str, column_names: Callable[[], Sequence[str]]
) -> ValueError:
    """Return the error that names the numbers whose objective is not finite."""
    checks.finite(problem.X, estimator_name=estimator)
    at_zero = problem.at(np.zeros(problem.shape))
    fine_at_zero = np.isfinite(at_zero.objective) and np.isfinite(at_zero.gradient_norm)
    if not np.all(np.isfinite(point)) or (np.any(point) and fine_at_zero):
        return ValueError(
            "warm_start=True begins from coef_ and intercept_, which hold numbers up to "
            f"{np.abs(point).max():.3g}: the objective there is not finite. Fit a clone."
        )
    if problem.c.max() > MAX_WEIGHT:
        return ValueError(
            f"C times sample_weight is up to {problem.c.max():.3g}, too large for 64 bits; use "
            "smaller weights, or C=np.inf for no penalty."
        )
    sizes = abs(problem.X).max(axis=0)
    sizes = sizes.toarray()[0] if sp.issparse(sizes) else sizes
    where = checks.listed(np.flatnonzero(sizes >= sizes.max() / 1e3), column_names())
    return checks.too_large(f"Numbers up to {sizes.max():.3g} (column {where}) are")
