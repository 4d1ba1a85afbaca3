"""Linear regression: which problem a model's numbers answer, and how well.

Every target is a problem of its own. Legend: s_i the weight of a row and p_i its share of all; w, b
the published coefficients and intercept; r_i = t_i - w.x_i - b.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import lasso, least_squares, normal_equations
from .claims import Certificate, Claim, total_weight
from .closed_form import ClassData, agrees, size_claim, unit
from .discriminant_planes import Spread, moments, rank_claims, rounding_of_means, statistics_claims
from .fitted_attributes import (
    Scores,
    choice_claim,
    decision_claims,
    held_to,
    nearness,
    numbers_of,
    penalty_claim,
)
from .least_squares import claims as regression_claims
from .path_errors import path_claims, path_errors_claims
from .rounded_matrix import TINY, UNIT, Floats, RegressionFit, RoundedMatrix, shares_of


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Name the problem of each target and hand it to its verifier."""
    if not hasattr(model, "coef_"):
        raise ValueError(f"This {type(model).__name__} is not fitted yet: call fit before certify.")
    if X.shape[1] != model.n_features_in_:
        raise ValueError(f"X has {X.shape[1]} columns, but the model has {model.n_features_in_}.")
    targets = np.asarray(y, np.float64)
    if not np.isfinite(targets).all():
        raise ValueError("y must be finite to certify a fit on it; it contains NaN or infinity.")
    targets = targets[:, np.newaxis] if targets.ndim == 1 else targets
    errors = path_errors_claims(model, X, targets[:, 0], weight, effort)
    kept = np.flatnonzero(weight > 0)
    X, targets, weight = X[kept], targets[kept], weight[kept]
    coef, intercept = _published(model, targets.shape[1], X.shape[1])
    table = RoundedMatrix(X, shares_of(weight), bool(getattr(model, "fit_intercept", True)))
    total = float(weight.sum())
    problem, verify = _problem(model, total)
    unit = 2.0**-24 if model.coef_.dtype == np.float32 else UNIT
    claims: list[Claim] = [
        *penalty_claim(model),
        *choice_claim(model),
        *path_claims(
            model, RegressionFit(table, targets[:, 0], coef[0], float(intercept[0]), unit)
        ),
        *errors,
    ]
    claims += singular_claim(model, table, total)
    claims += condition_claim(model, table, total)
    for k in range(targets.shape[1]):
        power = power_of_tiny(targets[:, k])
        t, w, b = (np.ldexp(v, power) for v in (targets[:, k], coef[k], intercept[k]))
        fit = RegressionFit(table, np.ascontiguousarray(t), w, float(b), unit)
        found = verify(fit, k, tol, effort, power)
        if power:
            problem += f", target {k} and its numbers times 2^{power}, for their squares are none"
        claims += _named(found, k if targets.shape[1] > 1 else None)
    bias = ", b free" if table.centred else ", b = 0"
    words = f"the {len(kept):,} rows and {X.shape[1]:,} columns given, {total_weight(weight)}"
    if model.coef_.dtype == np.float32:
        words += "; coefficients in 32 bits, which end near 1e-7 of their size"
    return Certificate(type(model).__name__, problem + bias, words, tuple(claims))


def power_of_tiny(t: Floats) -> int:
    """The power of two that takes a target (n,) to one if its squares are too small; else 0.

    Coefficients and the penalty on their absolute values are then as many times as large; the
    penalty on their squares stays as it is.
    """
    largest = float(np.abs(t).max(initial=0.0))
    return 0 if largest == 0 or largest > TINY else 1 - int(np.frexp(largest)[1])


def _scaled(said: dict[str, float], power: int) -> dict[str, float]:
    """Published numbers of a target that is multiplied; without those that have lost digits."""
    if not power:
        return said
    times = {name: power if name == "gradient_norm_" else 2 * power for name in said}
    return {name: float(np.ldexp(v, times[name])) for name, v in said.items() if abs(v) > 1e-290}


def _published(model: Any, n_targets: int, d: int) -> tuple[Floats, Floats]:
    """Coefficients (t, d) and intercepts (t,)."""
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else np.asarray(model.coef_)
    coef = np.asarray(coef, np.float64).reshape(-1, d) if coef.size else np.zeros((n_targets, d))
    intercept = np.broadcast_to(np.ravel(np.asarray(model.intercept_, np.float64)), (n_targets,))
    if len(coef) != n_targets:
        raise ValueError(f"y has {n_targets} targets, but the model has {len(coef)}.")
    return coef, intercept


def _problem(model: Any, weight: float) -> tuple[str, Any]:
    """The objective in words, and its verifier: (fit, number of the target, tol, effort, power)."""
    names = {base.__name__ for base in type(model).__mro__}
    positive = bool(getattr(model, "positive", False))
    sign = ", w >= 0" if positive else ""
    squares = "sum s_i (t_i - w.x_i - b)^2"
    if names & {"Lasso", "ElasticNet", "LassoCV", "ElasticNetCV"}:
        alpha = np.ravel(np.asarray(getattr(model, "alpha_", getattr(model, "alpha", None)), float))
        ratio = getattr(model, "l1_ratio_", getattr(model, "l1_ratio", 1.0))
        ratio = 1.0 if names & {"Lasso", "LassoCV"} else float(ratio)
        if not alpha.any():
            return squares + sign, lambda fit, k, tol, effort, power: least_squares.claims(
                fit, 0.0, weight, positive, tol, effort
            )  # what such a fit says of itself is of half the mean
        l2 = f" + {_value(alpha * (1 - ratio) / 2)} |w|^2" if ratio < 1 else ""
        problem = (
            f"1/2 sum p_i (t_i - w.x_i - b)^2 + {_value(alpha * ratio)} |w|_1{l2}, "
            f"p_i = s_i / sum s{sign}"
        )
        return problem, lambda fit, k, tol, effort, power: lasso.claims(
            fit, float(np.ldexp(alpha[k % len(alpha)] * ratio, power)),
            float(alpha[k % len(alpha)] * (1 - ratio)), positive, held_to(model, tol, 2.0), effort,
            _scaled(numbers_of(model, k), power), nearness(model),
        )  # fmt: skip
    if not names & {"LinearRegression", "Ridge", "RidgeCV"}:
        raise ValueError(f"The objective of {type(model).__name__} is not known here.")
    alpha = np.zeros(1)
    if names & {"Ridge", "RidgeCV"}:
        alpha = np.ravel(np.asarray(getattr(model, "alpha_", getattr(model, "alpha", None)), float))
    problem = squares + (f" + {_value(alpha)} |w|^2" if alpha.any() else "") + sign
    # Both take directions of less variation than this for dependence; theirs is mostly sure of it.
    drops = "LinearRegression" in names and getattr(model, "solution_", "") != "unique"
    least_share = float(getattr(model, "tol", 0.0)) if drops else 0.0
    closed = normal_equations.closed_form(model)
    return problem, lambda fit, k, tol, effort, power: least_squares.claims(
        fit, float(alpha[k % len(alpha)]), weight, positive, tol, effort, least_share, closed,
        _scaled(numbers_of(model, k), power), nearness(model),
    )  # fmt: skip


def _value(numbers: Floats) -> str:
    """A penalty, or the penalties of several targets."""
    each = [f"{number:.6g}" for number in numbers]
    return each[0] if len(set(each)) == 1 else f"({', '.join(each)})"


def _named(claims: list[Claim], target: int | None) -> list[Claim]:
    """Claims of one target of several say which."""
    if target is None:
        return claims
    return [replace(claim, name=f"{claim.name}, target {target}") for claim in claims]


# Singular values: those published by a least-squares fit, beside those of the rows given.

MOST_COLUMNS = 1000  # whose products are taken


def singular_claim(model: Any, table: RoundedMatrix, weight: float) -> list[Claim]:
    """That `singular_` are those of the centred, weighted rows; nothing where there are none."""
    # Their squares are the eigenvalues of the products of columns, up to rounding of the largest.
    said = getattr(model, "singular_", None)
    if said is None or table.d > MOST_COLUMNS or not table.d:
        return []
    said = np.sort(np.ravel(np.asarray(said, np.float64)))[::-1]
    derived = weight * np.linalg.eigvalsh(table.scatter(np.arange(table.d)))[::-1]
    far = float(np.abs(table.mean).max(initial=0.0))
    # Constants vary by the rounding of their mean, which is as large as any variation of theirs.
    largest = max(float(derived[0]), weight * (UNIT * far) ** 2, 1e-300)
    squares = np.zeros(max(len(said), len(derived)))
    squares[: len(derived)] = derived
    squares[: len(said)] -= said**2
    off, near = float(np.abs(squares).max()) / largest, nearness(model)
    off = off if off == off else np.inf
    # Columns far from zero have lost that of their variation before they were decomposed.
    level = float(np.sqrt(weight / largest)) * far
    near *= max(1.0, level)
    holds = bool(off <= near)
    statement = "singular_ are those of the centred, weighted rows"
    if not holds:
        statement += f", but for {off:.2g} of the square of the largest"
    return [Claim("singular values", statement, off, near, holds, "checked")]


def condition_claim(model: Any, table: RoundedMatrix, weight: float) -> list[Claim]:
    """That `condition_` is about the reciprocal condition of the normal equations."""
    said = getattr(model, "condition_", None)
    if said is None or table.d > MOST_COLUMNS or not 0 < table.d <= table.n:
        return []
    names = {base.__name__ for base in type(model).__mro__}
    alphas = np.ravel(getattr(model, "alpha_", getattr(model, "alpha", 0.0)))
    alphas = np.asarray(alphas, np.float64) if names & {"Ridge", "RidgeCV"} else np.zeros(1)
    if (abs(table.given).max(axis=0).min() < TINY) or not np.isfinite(weight):
        return []  # squares of such columns are out of range
    gram, found = table.scatter(np.arange(table.d)) * weight, []
    for alpha in alphas:
        scale = np.sqrt(np.diag(gram) + alpha)
        scale = np.where(scale > 0, scale, 1.0)
        scaled = (gram + alpha * np.eye(table.d)) / np.outer(scale, scale)
        found += [1 / max(np.linalg.cond(scaled, p), 1.0) for p in (1, 2)]
    # It is an estimate, and below rounding any number is.
    least, most = (max(float(end), 1e-12) for end in (min(found) / 8, max(found) * 8))
    value = float(said)
    holds = bool(least <= max(value, 1e-12) <= most and 0 <= value <= 1.01)
    statement = (
        f"condition_, the reciprocal condition of the normal equations, is {value:.2g}; the data "
        f"give {min(found):.2g} to {max(found):.2g}"
    )
    return [Claim("estimated condition", statement, value, most, holds, "checked")]


# Least squares on codes of the classes: each code is a regression, certified as such.


def least_squares_codes(model: Any, data: ClassData, tol: float) -> list[Claim]:
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
            replace(c, name=f"{c.name}{label}", statement=c.statement + words * (not c.holds))
            for c in found
        ]
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
