"""Fits that are stations of one way.

Of logistic regressions that differ in C alone each begins where that of the next smaller C ended;
perceptrons that differ in `max_iter` alone are one run, seen after so many passes. The rows of a
training set are cut out once for all of them, and the steps of a pipeline before the model are
fitted once.
"""

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from rosenblatt.linear_model.averaged import AveragedPerceptron
from rosenblatt.linear_model.logistic import LogisticRegression
from rosenblatt.linear_model.perceptron import Perceptron
from rosenblatt.linear_model.perceptron_base import LinearLearner

# What these return depends on where they begin, for they stop short or go their own random way.
AS_FAR_AS_THEY_GET = ("gradient", "sgd")
# By what the fits along a way differ.
STATIONS = {LogisticRegression: "C", Perceptron: "max_iter", AveragedPerceptron: "max_iter"}


def has_stations(estimator: Any, fit_params: Mapping[str, Any] | None = None) -> bool:
    """Whether fits of an estimator at several C, or after several passes, are one way."""
    if type(estimator) is Pipeline:
        model = estimator.steps[-1][1]
        plain = estimator.memory is None and not estimator.verbose
        plain = plain and estimator.transform_input is None and not _heard(estimator)
    else:
        model, plain = estimator, True
    weight = _weight_name(estimator)
    return (
        plain
        and _station(model) is not None
        and type(model).fit in (LogisticRegression.fit, LinearLearner.fit)
        and not _heard(model)
        and set(fit_params or {}) <= {weight}
    )


def fitted_along(
    estimator: Any, candidates: Sequence[Any], X: Any, y: Any, fit_params: Mapping[str, Any]
) -> dict[int, Any]:
    """The fitted candidates by their number, without those that have to be fitted by themselves.

    Candidates are the parameters to set; X, y and fit_params are of the training rows.
    """
    groups: dict[bytes, dict[int, Any]] = {}
    for c, parameters in enumerate(candidates):
        try:
            trial = clone(estimator).set_params(**clone(dict(parameters or {}), safe=False))
            model = _model(trial)
            if not has_stations(trial) or not _is_station(model):
                continue
            model._validate_params()
            groups.setdefault(_all_but_station(trial), {})[c] = trial
        except Exception:  # scikit-learn says what is wrong, or scores it as an error
            continue
    weight = fit_params.get(_weight_name(estimator))
    found: dict[int, Any] = {}
    for group in groups.values():
        try:
            _fit_group(list(group.values()), X, y, weight)
        except Exception:  # the same is said when each is fitted
            continue
        found |= group
    return found


def _fit_group(trials: list[Any], X: Any, y: Any, weight: Any) -> None:
    """Fit pipelines or models that are alike but for C, or for `max_iter`."""
    trials = sorted(trials, key=lambda trial: getattr(_model(trial), _station(_model(trial)) or ""))
    if isinstance(trials[0], Pipeline) and len(trials[0].steps) > 1:
        before = trials[0][:-1]
        X = before.fit_transform(X, y)
        for trial in trials[1:]:
            trial.steps[:-1] = before.steps
    if isinstance(_model(trials[-1]), LinearLearner):
        *others, longest = map(_model, trials)
        longest._fit_with(others, X, y, weight)
        return
    last = None
    for trial in trials:
        model = _model(trial)
        fit_from(last, model, X, y, weight)
        last = model


def fit_from(before: Any, model: Any, X: Any, y: Any, weight: Any = None) -> None:
    """Fit a model, beginning where another ended, which may be None."""
    if before is not None:
        model.coef_, model.intercept_ = before.coef_, before.intercept_
    asked, model.warm_start = model.warm_start, True
    model.fit(X, y, weight)
    model.warm_start = asked


def may_begin_at(before: Any, model: Any, X: Any, y: Any) -> bool:
    """Whether a model finds the same wherever it begins, and another has weights to begin at."""
    return (
        all(isinstance(one, LogisticRegression) and has_stations(one) for one in (model, before))
        and _is_station(model)
        and before.coef_.shape[1] == X.shape[1]
        and np.array_equal(before.classes_, np.unique(y))
    )


def _station(model: Any) -> str | None:
    """The parameter by which fits along a way differ."""
    return next((name for kind, name in STATIONS.items() if isinstance(model, kind)), None)


def _is_station(model: Any) -> bool:
    """Whether the fit is the same by itself and along the way."""
    if isinstance(model, LogisticRegression):  # one best answer, which it reaches from anywhere
        return model.solver not in AS_FAR_AS_THEY_GET and bool(np.isfinite(model.C))
    known = type(model) in STATIONS  # what another class would do on the way is not known
    repeats = known and isinstance(model.random_state, int) and not model.warm_start
    return repeats and model.pick == "cyclic" and not model.early_stopping and not model.verbose


def _all_but_station(trial: Any) -> bytes:
    """A key that candidates share if nothing but their station tells them apart."""
    if not isinstance(trial, Pipeline):
        others = {k: v for k, v in trial.get_params(deep=False).items() if k != _station(trial)}
        return pickle.dumps(others)
    model = _model(trial)
    return pickle.dumps((trial.steps[:-1], trial.steps[-1][0])) + _all_but_station(model)


def _model(estimator: Any) -> Any:
    """What does the learning: the last step of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _weight_name(estimator: Any) -> str:
    """What the weights of the model's rows are called in `fit`."""
    before = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    return f"{before}sample_weight"


def _heard(estimator: Any) -> bool:
    """Whether somebody listens to its fits."""
    return bool(getattr(estimator, "_skl_callbacks", None))
