"""Logistic regression: which problem a model's numbers answer, and how well.

Objectives are multiplied with C, so that every row's loss has a weight ``c_i = C s_i`` (times its
class's weight) and the penalty is ``l1 |w|_1 + l2/2 |w|^2`` with ``l1 + l2 = 1``; without a penalty
both are 0 and ``c_i = s_i``.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import binary_logistic, softmax, unpenalised_logistic
from .binary_logistic import Bracket, Setting, setting_of, weights_of_classes
from .claims import Certificate, Claim, distance_claim, gap_claim, measured, within
from .closed_form import ClassData
from .fitted_attributes import (
    agreement,
    held_to,
    nearness,
    numbers_of,
    penalty_claim,
    training_error,
)
from .lasso import Penalty, gradient_length
from .rounded_matrix import UNIT, Floats, RoundedMatrix
from .separated_classes import claims_if_separable, with_direction
from .softmax import bracket
from .unpenalised_logistic import softmax_bracket


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Name the problem, or that of each class against the rest, and hand it to its verifier."""
    setting = setting_of(model, len(y))
    data = ClassData(model, X, y, weight)
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else model.coef_
    W, b = np.asarray(coef, np.float64), np.ravel(np.asarray(model.intercept_, np.float64))
    K = len(data.classes)
    X, W, b = _with_intercept_column(data.X, W, b, setting)
    fit_intercept = bool(model.fit_intercept) and setting.penalised_intercept is None
    bias = ", b free" if fit_intercept else ", b = 0"
    if setting.penalised_intercept is not None and model.fit_intercept:
        bias = f", the intercept penalised like a column of {setting.penalised_intercept:g}"
    claims: list[Claim] = [_training_error(data, W, b, X), *penalty_claim(model)]
    if K == 2 or setting.one_against_rest:
        loss = "loss_i = log(1 + exp(-y_i (w.x_i + b)))"
        for k in range(len(W)):
            y_k, c = _codes_and_weights(data, setting, k if K > 2 else 1, K)
            found = _binary(
                X, y_k, c, W[k], float(b[k]), setting, model, fit_intercept, tol, effort
            )
            of = f", {data.classes[k]}" if K > 2 else ""
            claims += [replace(claim, name=claim.name + of) for claim in found]
        weights = c
    else:
        loss = "loss_i = logsumexp(z_i) - z_i,y_i, z_i = W x_i + b"
        weights = weights_of_classes(data, setting)[data.codes] * data.weight * setting.factor
        claims += _several(X, data, weights, W, b, setting, model, fit_intercept, tol, effort)
    if K > 2 and getattr(model, "softmax", "symmetric") == "reference":
        bias += f", w = 0 and b = 0 for the last class, {data.classes[-1]}"
    problem = f"{setting.words(weights)}, {loss}{bias}"
    return Certificate(type(model).__name__, problem, data.words, tuple(claims))


def _with_intercept_column(
    X: Any, W: Floats, b: Floats, setting: Setting
) -> tuple[Any, Floats, Floats]:
    """A penalised intercept is a coefficient like any other."""
    scaling = setting.penalised_intercept
    if scaling is None:
        return X, W, b
    column = np.full((X.shape[0], 1), scaling)
    X = sp.csr_matrix(sp.hstack([X, column])) if sp.issparse(X) else np.hstack([X, column])
    return X, np.hstack([W, b[:, np.newaxis] / scaling]), np.zeros_like(b)


def _codes_and_weights(data: ClassData, setting: Setting, k: int, K: int) -> tuple[Floats, Floats]:
    """Class k is 1 and the others -1; of several classes the others keep weight one."""
    own = data.codes == k
    weights = weights_of_classes(data, setting)
    c = data.weight * setting.factor
    c = c * (weights[data.codes] if K == 2 else np.where(own, weights[k], 1.0))
    return np.where(own, 1.0, -1.0), c


def _binary(
    X: Any, y: Floats, c: Floats, w: Floats, b: float,
    setting: Setting, model: Any, fit_intercept: bool, tol: float, effort: int,
) -> list[Claim]:  # fmt: skip
    """Claims of one plane."""
    kept = np.flatnonzero(c > 0)
    X, y, c = X[kept], y[kept], c[kept]
    if len(np.unique(y)) < 2:
        raise ValueError(
            "There is nothing to certify: all rows of positive weight are of one class."
        )
    table = RoundedMatrix(X, c / c.sum(), fit_intercept)
    problem = binary_logistic.BinaryLogistic(table, y, c, setting.penalty)
    scale = binary_logistic.scale_of(problem)
    tol, enough = _wanted(model, setting, tol, scale)
    centre, off = map(float, table.centre(w, b))
    if setting.penalty.l1 == setting.penalty.l2 == 0:
        found = unpenalised_logistic.bracket(problem, w, centre, tol)
    else:
        found = binary_logistic.bracket(problem, w, centre, enough, effort)
    found = replace(found, most=found.most + off * float(c.sum()))
    bound = tol * scale
    claims = [_gap(found, scale, bound)]
    scores, rounding = problem.scores(w)
    z, rounding = scores + centre, rounding + off + 4 * UNIT * abs(centre)
    value = problem.value(w, z, rounding)
    if (
        np.isinf(setting.C) and effort and found.most >= value * (1 - 1e-9)
    ):  # as if there were no best
        lead = float((y * z - rounding).min())
        claims = claims_if_separable(X, y, fit_intercept, value, scale, bound, lead) or claims
    if np.isinf(setting.C) and effort and len(claims) == 1:

        def lowest(rest: Any) -> float:
            share = c[rest] / c[rest].sum()
            others = binary_logistic.BinaryLogistic(
                RoundedMatrix(X[rest], share, fit_intercept), y[rest], c[rest], setting.penalty
            )
            return unpenalised_logistic.least_value(others, w, b, tol)

        ahead = float((y * z).max())
        codes = (y > 0).astype(np.intp)
        claims = with_direction(claims, model, X, codes, fit_intercept, ahead, scale, value, lowest)
    pull = c * y / (1 + np.exp(np.clip(y * z, -700, 700)))
    slopes, blur = table.transposed(pull)
    claims = _with_reason(claims, model, blur, setting, value, w)
    slopes = slopes - setting.penalty.l2 * w
    claims.append(
        _gradient(slopes, w, setting.penalty, float(pull.sum()) if fit_intercept else 0.0, c)
    )
    if setting.penalty.l2 > 0:
        claims.append(distance_claim(float(np.sqrt(2 * found.most / setting.penalty.l2)), w))
    level = float(pull.sum())
    raw = np.append(setting.penalty.l2 * w - table.transposed(pull)[0] - table.mean * level, -level)
    return claims + _agreement(model, problem, raw[np.newaxis], w[np.newaxis], value, found, scale)


def _several(
    X: Any, data: ClassData, c: Floats, W: Floats, b: Floats,
    setting: Setting, model: Any, fit_intercept: bool, tol: float, effort: int,
) -> list[Claim]:  # fmt: skip
    """Claims of one plane for each class."""
    kept = np.flatnonzero(c > 0)
    X, codes, c = X[kept], data.codes[kept], c[kept]
    K = len(data.classes)
    if len(np.unique(codes)) < K:
        raise ValueError("There is nothing to certify: a class has no row of positive weight.")
    table = RoundedMatrix(X, c / c.sum(), fit_intercept)
    reference = getattr(model, "softmax", "symmetric") == "reference"
    free = np.arange(K - 1) if reference else np.arange(K)
    problem = softmax.SoftmaxLogistic(table, codes, c, setting.penalty, free)
    scale = softmax.scale_of(problem)
    tol, enough = _wanted(model, setting, tol, scale)
    # What all scores of a row have in common is no part of the loss, and may be large.
    apart, between = (v - v.mean(axis=0) for v in (W.astype(np.longdouble), np.longdouble(b)))
    centre, off = table.centre(apart, between)
    if setting.penalty.l1 == setting.penalty.l2 == 0:
        found = softmax_bracket(problem, W, centre, tol)
    else:
        found = bracket(problem, W, centre, enough, effort)
    found = replace(found, most=found.most + 2 * float(off.max()) * float(c.sum()))
    if reference and W[-1].any():
        found = Bracket(np.inf, np.inf)
    bound = tol * scale
    claims = []
    if np.isfinite(found.most) or not np.isinf(setting.C):
        claims.append(_gap(found, scale, bound))
    scores, rounding = problem.scores(W)
    z, rounding = scores + centre, rounding + off + 4 * UNIT * np.abs(centre)
    value = problem.value(W, z, rounding)
    wrong = np.isinf(found.least)  # a last class with weights, where it is to have none
    if np.isinf(setting.C) and effort and found.most >= value * (1 - 1e-9) and not wrong:
        lead = softmax.least_lead(z, rounding, codes)
        claims = claims_if_separable(X, codes, fit_intercept, value, scale, bound, lead) or claims
    if np.isinf(setting.C) and effort and len(claims) == 1 and not wrong:
        ahead = float(np.ptp(z, axis=1).max())
        claims = with_direction(claims, model, X, codes, fit_intercept, ahead, scale)
    pull = softmax.pull(problem, z)
    slopes, blur = problem.slopes(pull)
    claims = _with_reason(claims, model, blur.max(axis=0), setting, value, W)
    slopes = -slopes - setting.penalty.l2 * W[free]
    level = float(np.abs(pull.sum(axis=0)).max()) if fit_intercept else 0.0
    gradient = _gradient(slopes.ravel(), W[free].ravel(), setting.penalty, level, c)
    if not claims:  # too large for a gap: nothing better is known of it
        gradient = within(gradient.name, gradient.statement, gradient.value, tol)
    claims.append(gradient)
    if setting.penalty.l2 > 0:
        claims.append(distance_claim(float(np.sqrt(2 * found.most / setting.penalty.l2)), W[free]))
    levels = pull.sum(axis=0)[free]
    raw = problem.slopes(pull)[0] + np.multiply.outer(levels, table.mean)
    raw = np.hstack([raw + setting.penalty.l2 * W[free], levels[:, np.newaxis]])
    return claims + _agreement(model, problem, raw, W[free], value, found, scale)


def _wanted(model: Any, setting: Setting, tol: float, scale: float) -> tuple[float, float]:
    """The share of `scale` that a gap must be below, and to which it is to be known."""
    # Our own fits promise a gap; what they publish is looked at as closely as it claims.
    if np.isinf(setting.C) or not hasattr(model, "dual_gap_"):
        return tol, tol
    tol = held_to(model, tol)
    said = numbers_of(model)["dual_gap_"]
    return tol, min(tol, max(said, 0.0) / scale + nearness(model)) if said == said else tol


def _agreement(
    model: Any, problem: Any, slopes: Floats, W: Floats, value: float, found: Bracket, scale: float
) -> list[Claim]:
    """What a fit says of itself, beside slopes (k, d + 1) of the columns as they are."""
    table, w = problem.table, W.ravel()
    length = gradient_length(w, slopes[:, :-1].ravel(), problem.penalty)
    if table.centred:
        length = float(np.hypot(length, np.linalg.norm(slopes[:, -1])))
    widest = float((table.norms() + np.abs(table.mean)).max(initial=1.0))
    derived = {"objective_": value, "gradient_norm_": length, "dual_gap_": found.least}
    sizes = {
        "objective_": scale, "gradient_norm_": float(problem.c.sum()) * widest, "dual_gap_": scale,
    }  # fmt: skip
    return agreement(numbers_of(model), derived, sizes, nearness(model))


def _gap(found: Bracket, scale: float, bound: float) -> Claim:
    nearer = f", and not nearer than {found.least:.3g}" if found.least > 1e-9 * bound else ""
    return gap_claim(found.most, scale, bound, f" (duality gap){nearer}")


def _with_reason(
    claims: list[Claim], model: Any, blur: Floats, setting: Setting, value: float, W: Floats
) -> list[Claim]:
    """A gap that is not shown to be small says why, if rounding (d,) of the slopes is to blame."""
    reach = float(np.linalg.norm(W))
    return [
        claim
        if claim.name != "gap" or claim.holds
        else replace(
            claim,
            statement=claim.statement
            + why_blurred(model, blur, setting.penalty, value, reach, claim.bound or 0.0),
        )
        for claim in claims
    ]


def _gradient(slopes: Floats, w: Floats, penalty: Penalty, level: float, c: Floats) -> Claim:
    """The length of the gradient, or of the shortest subgradient, for each unit of weight."""
    held = np.where(w != 0, slopes - penalty.l1 * np.sign(w), slopes)
    left = np.where(w != 0, np.abs(held), np.maximum(np.abs(held) - penalty.l1, 0.0))
    length = float(np.sqrt(np.sum(left**2) + level**2)) / float(c.sum())
    statement = f"the gradient has length {length:.3g} for each unit of weight"
    return measured("gradient", statement, length)


def _training_error(data: ClassData, W: Floats, b: Floats, X: Any) -> Claim:
    """How many rows are predicted wrongly."""
    scores = np.asarray(X @ W.T) + b
    predicted = (scores[:, 0] > 0).astype(int) if len(W) == 1 else scores.argmax(axis=1)
    return training_error(data, predicted)


# Why a gap cannot be shown to be small: columns so wide that rounding hides it.
#
# The slope of a column is a sum of products with its numbers, known up to rounding r. A bound must
# allow for it: with ``l2/2 |w|^2`` that costs ``r^2 / (2 l2)``; with ``l1 |w|_1`` alone the dual
# point must shrink by ``r / l1``; and without a penalty it costs r times the coefficients' length.


def why_blurred(
    model: Any, rounding: Floats, penalty: Penalty, value: float, reach: float, bound: float
) -> str:
    """The end of a sentence on a gap that is above its bound; nothing where rounding is small."""
    # `rounding` (d,) is what it may do to the slope of each column, `value` the objective, `reach`
    # the length of coefficients spoken of where there is no penalty.
    if penalty.l2 > 0:
        worth = rounding**2 / (2 * penalty.l2)
    elif penalty.l1 > 0:
        worth = np.minimum(rounding / penalty.l1, 1.0) * value
    else:
        worth = np.minimum(rounding * reach, value)
    total = float(worth.sum()) if penalty.l2 > 0 else float(worth.max(initial=0.0))
    if not total > bound:
        return ""
    names = getattr(model, "feature_names_in_", np.arange(len(worth)))
    widest = names[int(np.argmax(worth))] if len(names) == len(worth) else int(np.argmax(worth))
    return (
        f"; rounding alone may hide {total:.3g}, most of it in column {widest!s}, whose numbers "
        "are so large: standardise it"
    )
