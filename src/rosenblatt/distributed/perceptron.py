"""Perceptrons by parts: iterative parameter mixing (McDonald, Hall and Mann 2010).

In each pass every part makes one pass of the perceptron over its own rows, from the same weights;
the next weights are the mean of theirs, each part counting by its mistakes k. If some unit plane
keeps every row g away on its own side, and none is longer than R, then the sum over all passes of
``sum k^2 / sum k``, the mistakes of the mixture, is at most ``(R / g)^2``. `n_updates_` is that
sum, and `n_mistakes_` counts those of all parts.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rosenblatt import checks
from rosenblatt.base import warn_not_converged
from rosenblatt.linear_model.averaged_perceptron import AveragedPerceptron

from .census import Census
from .passes import PartRows, Passes
from .sums import Sums

Array = NDArray[np.float64]


def fit_parts(model: Any, passes: Passes) -> Any:
    """Passes of all parts from the same weights, mixed, until one is without a mistake."""
    refuse_settings(model)
    seed, census = passes.seed(), Census(passes, by_class=True)
    passes.publish_columns(model)
    learner = clone(model).set_params(class_weight=_class_weights(model, census))
    averages = isinstance(model, AveragedPerceptron)
    outputs = 1 if len(census.classes) == 2 else len(census.classes)
    coef, intercept = np.zeros((outputs, model.n_features_in_)), np.zeros(outputs)
    mean, visits, mixed, mistakes, reason = Sums(), 0.0, 0.0, 0, "max_iter"
    rates: list[float] = []
    while len(rates) < model.max_iter:
        total = passes.total(
            learn, learner, census.classes, coef, intercept, seed, len(rates), averages
        )
        if averages:
            mean = total["mean"] if not mean else mean + total["mean"]
        visits += float(total["visits"])
        rates.append(float(total["mistakes"]) / float(total["visits"]))
        if not total["mistakes"]:
            reason = "converged"
            break
        weight = float(total["mistakes"])
        coef, intercept = total["coef"] / weight, total["intercept"] / weight
        mixed, mistakes = mixed + float(total["squares"]) / weight, mistakes + int(weight)
        if no_progress(rates, model):
            reason = "no_progress"
            break
    last = coef.astype(census.dtype), intercept.astype(census.dtype)
    published = last
    if averages:
        model.last_coef_, model.last_intercept_ = last
        published = tuple((mean[name] / visits).astype(census.dtype) for name in mean)
    model.coef_, model.intercept_ = published
    model.classes_, model.n_iter_, model.t_ = census.classes, len(rates), 1.0 + visits
    model.n_updates_, model.n_mistakes_ = int(mixed), mistakes
    model.converged_, model.stop_reason_ = reason == "converged", reason
    model.coef_init_ = model.intercept_init_ = model.validation_scores_ = None
    model.step_range_, model.cycle_ = _steps(learner), 0
    if reason != "converged":
        warn_not_converged(
            f"{type(model).__name__} by parts stopped with mistakes on {rates[-1]:.3g} of the rows "
            f"in its last pass. Raise max_iter, or set tol=None to go on until max_iter."
        )
    return model


def refuse_settings(model: Any) -> None:
    """Refuse what looks at all rows between two corrections."""
    for name, allowed in (
        ("pick", "cyclic"), ("early_stopping", False), ("max_updates", None), ("penalty", None),
    ):  # fmt: skip
        value = getattr(model, name, allowed)
        if value != allowed:
            raise ValueError(
                f"By parts {name} must be {allowed!r}: each part learns alone; got {value!r}."
            )


def _class_weights(model: Any, census: Census) -> Any:
    if model.class_weight is None:
        return None
    codes = np.arange(len(census.classes))
    totals = checks.row_weights(census.classes, codes, census.counts, model.class_weight)
    return dict(zip(census.classes.tolist(), (totals / census.counts).tolist(), strict=True))


def _steps(learner: Any) -> tuple[float, float]:
    factors = list((learner.class_weight or {None: 1.0}).values())
    return float(learner.eta0 * min(factors)), float(learner.eta0 * max(factors))


def no_progress(rates: list[float], model: Any) -> bool:
    """Whether the share of mistakes has not fallen by tol for some passes."""
    if model.tol is None:
        return False
    patience = model.n_iter_no_change
    before = rates[:-patience]
    return bool(before) and min(rates[-patience:]) > min(before) - model.tol


def learn(
    rows: PartRows,
    learner: Any,
    classes: NDArray[Any],
    coef: Array,
    intercept: Array,
    seed: int,
    n_pass: int,
    averages: bool,
) -> Any:
    """One pass of the perceptron over a part: its weights, as often as it made mistakes."""
    model = clone(learner)
    model.random_state = int(rows.rng(seed, n_pass).integers(2**31 - 1))
    model.classes_, model.n_features_in_ = classes, coef.shape[1]
    model.n_updates_, model.t_, model.step_range_ = 0, 1.0, (np.inf, 0.0)
    model.coef_init_ = model.intercept_init_ = None
    visited = 0
    for X, y in rows.tables():
        if not visited:
            model.coef_, model.intercept_ = coef.astype(X.dtype), intercept.astype(X.dtype)
            if averages:
                model.last_coef_, model.last_intercept_ = model.coef_, model.intercept_
        model.partial_fit(X, y)
        visited += X.shape[0]
    if not visited:
        return None
    k = int(model.n_updates_)
    last = (
        (model.last_coef_, model.last_intercept_) if averages else (model.coef_, model.intercept_)
    )
    found = Sums(
        coef=k * last[0].astype(np.float64), intercept=k * last[1].astype(np.float64),
        mistakes=k, squares=k * k, visits=model.t_ - 1.0,
    )  # fmt: skip
    if averages:
        seen = model.t_ - 1.0
        found["mean"] = Sums(coef=seen * model.coef_, intercept=seen * model.intercept_)
    return found
