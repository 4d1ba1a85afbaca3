"""Least squares on codes of the classes: each code is a regression, certified as such."""

from typing import Any

import numpy as np

from .claims import Claim
from .class_moments import moments, rounding_of_means, statistics_claims
from .closed_form import ClassData, Floats, agrees, size_claim, unit
from .discriminant_planes import Spread, rank_claims
from .least_squares import claims as regression_claims
from .published_numbers import Scores, decision_claims
from .rounded_matrix import RegressionFit, RoundedMatrix


def least_squares(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """Planes fitted to -1 and +1 of two classes, or to 1 in a class and 0 elsewhere."""
    W = np.atleast_2d(np.asarray(model.coef_, np.float64))
    b = np.atleast_1d(np.asarray(model.intercept_, np.float64))
    d, total = data.X.shape[1], float(data.weight.sum())
    targets = (data.codes[:, np.newaxis] == np.arange(len(data.classes))).astype(float)
    if len(data.classes) == 2:
        targets = 2 * targets[:, 1:] - 1
    if W.shape != (targets.shape[1], d) or b.shape != (targets.shape[1],):
        said = f"the planes have shape {W.shape}; the classes imply {(targets.shape[1], d)}"
        return [Claim("gap", said, np.inf, 0.0, False, "checked")]
    table = RoundedMatrix(data.X, data.weight / total, bool(model.fit_intercept))
    claims = []
    for k in range(len(W)):
        fit = RegressionFit(table, np.ascontiguousarray(targets[:, k]), W[k], float(b[k]))
        label = f", class {data.classes[k]}" if len(W) > 1 else ""
        found = regression_claims(fit, 0.0, total, False, tol)
        words = _why(model, found)
        claims += [
            Claim(
                f"{c.name}{label}", c.statement + ("" if c.holds else words),
                c.value, c.bound, c.holds, c.grade,
            )
            for c in found
        ]  # fmt: skip
    fitted = data.X @ W.T + b
    sizes = np.abs(data.X) @ np.abs(W).T + np.abs(b)
    if len(data.classes) == 2:
        fitted, sizes = (np.column_stack([np.zeros(len(t)), t]) for t in (fitted, sizes))
    n_biases = len(W) if model.fit_intercept else 0
    return [
        *decision_claims(model, data, Scores.of(model, fitted, sizes, d, model.coef_)),
        *claims,
        *_no_bias(model, b),
        *solution_claims(model, data),
        *size_claim(model, W.size + n_biases, shares=False),
        *statistics_claims(
            model, data, moments(data, data.X, full=True), rounding_of_means(model, W, data.X)
        ),
    ]


def _why(model: Any, found: list[Claim]) -> str:
    """What to say of a claim that fails: how well the problem is conditioned."""
    condition = next((claim for claim in found if claim.name == "condition"), None)
    if condition is None:
        return ""
    if condition.value * unit(model.coef_) > 1e-3:
        return (
            f"; the columns are nearly collinear (condition {condition.value:.1g}) for "
            f"coefficients of precision {unit(model.coef_):.1g}"
        )
    return f"; {condition.statement}"


def _no_bias(model: Any, b: Floats) -> list[Claim]:
    if model.fit_intercept:
        return []
    return [agrees("intercept", "the intercepts, not fitted,", model.intercept_, np.zeros_like(b))]


def solution_claims(model: Any, data: ClassData) -> list[Claim]:
    """What is said of how well the rows determine the planes."""
    share = data.weight / data.weight.sum()
    away = data.X
    if model.fit_intercept:
        away = away - share @ away
        away = (away - share @ away) * (np.ptp(data.X, axis=0) > 0)
    gram = away.T @ (away * share[:, np.newaxis])
    spread = Spread.of(gram)
    unique = len(spread.variances) == len(gram)
    right = (model.solution_ == "unique") == unique or spread.n_doubtful > 0
    statement = f"the solution is said to be {model.solution_!r}"
    scaled = gram / np.outer(spread.scale, spread.scale)
    reciprocal = 1 / np.linalg.cond(scaled, 1) if unique else 0.0
    said, known = float(model.condition_), max(reciprocal, 1e-12)
    near = known / 4 <= max(said, 1e-12) <= min(known * 4, 1.01)  # it is an estimate
    words = f"the reciprocal of the condition is {reciprocal:.2g}; {said:.2g} was estimated"
    return [
        *rank_claims(model, spread),
        Claim("solution", statement, len(spread.variances), None, bool(right), "checked"),
        Claim("estimated condition", words, said, known * 4, bool(near), "checked"),
    ]
