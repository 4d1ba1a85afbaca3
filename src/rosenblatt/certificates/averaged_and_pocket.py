"""Averaged and pocket perceptrons: the errors of what is published, and the run behind it."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import perceptron
from .claims import Certificate, Claim
from .exact_arithmetic import leads_of, rounded_leads


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: perceptron.Floats, *, tol: float, effort: int
) -> Certificate:
    """The claims of an averaged perceptron; of a pocket, its error recounted as well."""
    certificate = averaged_claims(model, X, y, weight, tol=tol, effort=effort)
    if not hasattr(model, "pocket_error_"):
        return certificate
    fit = perceptron.read(model, X, y, weight)
    error, *run = certificate.claims
    return replace(certificate, claims=(error, pocket_error(model, fit), best_visited(model), *run))


def averaged_claims(
    model: Any, X: Any, y: NDArray[Any], weight: perceptron.Floats, *, tol: float, effort: int
) -> Certificate:
    """The training error of the published mean, then the perceptron's claims for the run."""
    # A clean pass says nothing of the mean, and Novikoff's bound speaks of the run: its claims are
    # re-derived from the plain weights that ended it.
    mean = perceptron.read(model, X, y, weight)
    leads = leads_of(mean.X, mean.codes, *perceptron.score_rows(mean), mean.ties_go_up)
    error = perceptron.training_error(mean, leads, said_to_be_clean=False)
    last = {"coef_": model.last_coef_, "intercept_": model.last_intercept_}
    view = SimpleNamespace(**{**model.get_params(), "penalty": None, **vars(model), **last})
    run = perceptron.certify_model(view, X, y, weight, tol=tol, effort=effort)
    clean = perceptron.says_it_is_clean(model)
    claims = [
        replace(
            claim if clean or claim.name != "training error" else _only_measured(claim),
            name=f"run: {claim.name}",
            statement=claim.statement.replace("the published weights", "the last weights"),
        )
        for claim in run
    ]
    return Certificate(type(model).__name__, run.problem, run.data, (error, *claims))


def _only_measured(claim: Claim) -> Claim:
    """The same number, of weights that predict nothing: how good they are is nobody's claim."""
    statement = claim.statement.partition("; one answer")[0]
    return replace(claim, statement=statement, bound=None, holds=True)


def pocket_error(model: Any, fit: perceptron.PerceptronFit) -> Claim:
    """The share of weight on which the pocket does not win, against what it says."""
    # A row within rounding of the boundary may have been seen on either side of it. A tie is an
    # error unless the rule says otherwise, also where prediction gives it to the right class.
    lead, allowance = rounded_leads(fit.X, fit.codes, *perceptron.score_rows(fit))
    by_class = perceptron.class_weights(model, fit.classes, fit.codes, fit.weight)
    weight = fit.weight * by_class[fit.codes] / (fit.weight * by_class[fit.codes]).sum()
    least, most = (float(weight[lead <= bound].sum()) for bound in (-allowance, allowance))
    said = float(model.pocket_error_)
    between = f"{most:.4%}" if most - least < 1e-9 else f"{least:.4%} to {most:.4%}"
    statement = f"{between} of the weight is on the boundary or beyond; the pocket says {said:.4%}"
    if model.early_stopping:
        statement += ", of the rows that were not held out"
        return Claim("pocket error", statement, most, None, True, "observed")
    # In 32 bits each weight was rounded before they were added up.
    rounding = max(1e-9, 8 * float(np.finfo(model.coef_.dtype).eps))
    holds = least - rounding <= said <= most + rounding
    return Claim("pocket error", statement, most, said, holds, "checked")


def best_visited(model: Any) -> Claim:
    """That the pocket's record only falls, and ends at its error."""
    errors = [error for _, error in model.pocket_history_]
    falls = all(np.diff(errors) < 0) and errors[-1] == model.pocket_error_
    statement = (
        f"of the weights after {model.n_updates_:,} mistakes none did better: the pocket improved "
        f"{len(errors) - 1} times, from {errors[0]:.4%} to {errors[-1]:.4%}"
    )
    return Claim("best visited", statement, errors[-1], None, bool(falls), "observed")
