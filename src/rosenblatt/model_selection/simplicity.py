"""Which of several models is the simplest."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline


def simplest(estimators: Sequence[Any]) -> int:
    """The place of the simplest of some estimators; the first if it cannot be said.

    It is the one with the fewest parameters, ``n_parameters_``, where all say how many they have;
    then the one with the largest of the parameters that its class calls smoothing or shrinkage.
    Models of different classes are compared by the number of their parameters alone.
    """
    models = [_model(estimator) for estimator in estimators]
    left = _least(range(len(models)), [getattr(m, "n_parameters_", None) for m in models])
    if len({type(models[i]) for i in left}) == 1:
        for name in getattr(models[0], "_simpler_when_larger", ()):
            left = _least(left, [_strength(getattr(m, name, None)) for m in models])
    return left[0]


def _model(estimator: Any) -> Any:
    """What does the learning: the last step of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _strength(value: Any) -> float | None:
    """Minus the value of a smoothing parameter, no value being zero; None if it is no number."""
    if value is None:
        return 0.0
    return -float(value) if isinstance(value, Real) and not np.isnan(float(value)) else None


def _least(places: Sequence[int], values: Sequence[Any]) -> Sequence[int]:
    """Those of the places that have the least value; all, if one has none."""
    if any(values[i] is None for i in places):
        return places
    least = min(values[i] for i in places)
    return [i for i in places if values[i] == least]
