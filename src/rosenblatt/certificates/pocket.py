"""Pocket perceptrons: the error of the pocket, that it never rose, and the run behind it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import averaged, perceptron
from .claims import Certificate, Claim
from .leads import leads_of


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: perceptron.Floats, *, tol: float, effort: int
) -> Certificate:
    """The pocket's error recounted; that nothing visited was better can only be observed."""
    certificate = averaged.certify_model(model, X, y, weight, tol=tol, effort=effort)
    fit = perceptron.read(model, X, y, weight)
    leads = leads_of(fit.X, fit.codes, *perceptron.score_rows(fit), fit.ties_go_up)
    claims = [*certificate.claims[:1], pocket_error(model, fit, leads.lower), best_visited(model)]
    return Certificate(
        certificate.model,
        certificate.problem,
        certificate.data,
        (*claims, *certificate.claims[1:]),
    )


def pocket_error(model: Any, fit: perceptron.Fit, lower: perceptron.Floats) -> Claim:
    """The share of weight on which the pocket does not win clearly, against what it says."""
    by_class = perceptron.class_weights(model, fit.classes, fit.codes, fit.weight)
    weight = fit.weight * by_class[fit.codes]
    won = float(weight[lower > 0].sum() / weight.sum())
    value, said = 1 - won, float(model.pocket_error_)
    # Ties are errors by default and may be right under the other rules: then it may say less.
    exact = model.boundary == "mistake"
    holds = abs(value - said) <= 1e-9 if exact else said <= value + 1e-9
    held_out = bool(model.early_stopping)
    return Claim(
        "pocket error",
        f"{value:.4%} of the weight is not on its own side; the pocket says {said:.4%}",
        value,
        said,
        holds or held_out,
        "checked",
    )


def best_visited(model: Any) -> Claim:
    """That the pocket's record only falls, and ends at its error."""
    errors = [error for _, error in model.pocket_history_]
    falls = all(np.diff(errors) < 0) and errors[-1] == model.pocket_error_
    return Claim(
        "best visited",
        f"of the weights after {model.n_updates_:,} mistakes none did better: the pocket improved "
        f"{len(errors) - 1} times, from {errors[0]:.4%} to {errors[-1]:.4%}",
        errors[-1],
        None,
        bool(falls),
        "observed",
    )
