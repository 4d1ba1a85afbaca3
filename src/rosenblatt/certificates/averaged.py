"""Averaged perceptrons: the errors of the mean, and what can be said of the run behind it."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from numpy.typing import NDArray

from . import perceptron
from .claims import Certificate
from .exact_arithmetic import leads_of


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: perceptron.Floats, *, tol: float, effort: int
) -> Certificate:
    """The training error of the published mean, then the perceptron's claims for the run.

    A clean pass says nothing of the mean, and Novikoff's bound speaks of the run: its claims are
    re-derived from the plain weights that ended it.
    """
    mean = perceptron.read(model, X, y, weight)
    leads = leads_of(mean.X, mean.codes, *perceptron.score_rows(mean), mean.ties_go_up)
    error = perceptron.training_error(mean, leads, said_to_be_clean=False)
    last = {"coef_": model.last_coef_, "intercept_": model.last_intercept_}
    view = SimpleNamespace(**{**model.get_params(), "penalty": None, **vars(model), **last})
    run = perceptron.certify_model(view, X, y, weight, tol=tol, effort=effort)
    claims = [
        replace(
            claim,
            name=f"run: {claim.name}",
            statement=claim.statement.replace("the published weights", "the last weights"),
        )
        for claim in run
    ]
    return Certificate(type(model).__name__, run.problem, run.data, (error, *claims))
