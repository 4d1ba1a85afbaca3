"""Candidates along a path: those that differ in one parameter of their model share its work.

A model with the path capability fits all values of a parameter at about the price of one: see
`rosenblatt.capabilities`. The steps of a pipeline before the model are fitted once for each split.
"""

import pickle
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.validation import _check_method_params

from rosenblatt.capabilities import path_parameters

from .additive_pipelines import is_additive, plain_steps
from .scoring import Rows


def has_path(estimator: Any) -> bool:
    """Whether the model of an estimator has a path, alone or after other steps."""
    steps = plain_steps(estimator)
    return bool(steps) and bool(path_parameters(steps[-1]))


@dataclass(eq=False)
class PathGroup:
    """Candidates, by their number, that differ in one parameter of their model alone."""

    parameter: str
    front: bytes  # what tells the steps before the model from those of other groups
    trials: dict[int, Any] = field(default_factory=dict)  # not fitted

    @property
    def first(self) -> int:
        """The number of the first of them."""
        return min(self.trials)

    @property
    def values(self) -> list[Any]:
        """The values of the parameter."""
        return [getattr(last_step(trial), self.parameter) for trial in self.trials.values()]

    @property
    def is_additive(self) -> bool:
        """Whether each follows from a statistic by itself."""
        return is_additive(self.trials[self.first])


def path_groups(
    trials: Sequence[Any],
    candidates: Sequence[Mapping[str, Any] | None],
    fit_params: Mapping[str, Any],
) -> list[PathGroup]:
    """The candidates that have a path, in groups; those whose parameters are wrong have none."""
    groups: dict[Any, PathGroup] = {}
    for c, (trial, given) in enumerate(zip(trials, candidates, strict=True)):
        try:
            if not has_path(trial) or not set(fit_params) <= {prefix_of(trial) + "sample_weight"}:
                continue
            model, given, prefix = last_step(trial), dict(given or {}), prefix_of(trial)
            names = path_parameters(model)
            varied = next((name for name in names if prefix + name in given), names[0])
            given.pop(prefix + varied, None)
            own = {name for name in given if prefix and name.startswith(prefix)}
            front, others = _key(given, given.keys() - own), _key(given, own if prefix else given)
            _validate(model, varied if (front, varied, others) in groups else None)
        except Exception:  # the fit of this candidate raises the same, or its key has no bytes
            continue
        group = groups.setdefault((front, varied, others), PathGroup(varied, front))
        group.trials[c] = trial
    return sorted(groups.values(), key=lambda group: group.front)


def _validate(model: Any, parameter: str | None) -> None:
    """Refuse bad parameters: one of them, if all others were validated before, or all."""
    if parameter is None:
        model._validate_params()
    else:
        validate_parameter_constraints(
            {parameter: model._parameter_constraints[parameter]},
            {parameter: getattr(model, parameter)},
            caller_name=type(model).__name__,
        )


def _key(given: Mapping[str, Any], names: Iterable[str]) -> bytes:
    """Some parameters as bytes, which are equal for equal values."""
    return pickle.dumps([(name, given[name]) for name in sorted(names)])


def fitted_along(group: PathGroup, rows: Rows) -> dict[int, Any]:
    """The candidates of a group by number, fitted to the training rows of a split."""
    first = group.trials[group.first]
    X, y, _ = rows.train
    given = rows.scoring.fit_params
    given = _check_method_params(rows.scoring.X, params=given, indices=rows.split.train)
    front: list[Any] = []
    if isinstance(first, Pipeline) and len(first.steps) > 1:
        if rows.front is None or rows.front[0] != group.front:
            steps = clone(first[:-1])
            rows.front = group.front, steps.steps, steps.fit_transform(X, y)
        _, front, X = rows.front
    data = (X, y, given.get(prefix_of(first) + "sample_weight"))
    path = last_step(first).fit_path(data, group.parameter, group.values)
    return {c: behind(front, trial, path[i]) for i, (c, trial) in enumerate(group.trials.items())}


def last_step(estimator: Any) -> Any:
    """What does the learning: the last step of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def behind(front: list[Any], trial: Any, model: Any) -> Any:
    """A fitted model as the last step of its pipeline, if it has one."""
    if not isinstance(trial, Pipeline):
        return model
    pipeline = copy(trial)
    pipeline.steps = [*front, (trial.steps[-1][0], model)]
    return pipeline


def prefix_of(estimator: Any) -> str:
    """What stands before the names of the model's parameters."""
    return f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
