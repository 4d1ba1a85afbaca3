"""Additive models say which parameters their statistic depends on, and keep their word.

Model selection measures rows once for all candidates that agree in these.
"""

import numpy as np
import pytest

from rosenblatt.additive import Additive
from tests.contract.estimators import instances, name_of
from tests.model_selection.additive_models import NearestMean, WordCounts

MODELS = [
    *[model for model in instances() if isinstance(model, Additive)],
    NearestMean(),
    NearestMean(full=True),
    WordCounts(),
    WordCounts(binarize=1.0),
]


def parameters_read(model):
    """The parameters that are looked at while rows are measured."""
    names, read = set(model.get_params(deep=False)), set()

    class Watched(type(model)):
        def __getattribute__(self, name):
            if name in names:
                read.add(name)
            return super().__getattribute__(name)

    watched = Watched(**model.get_params(deep=False))
    read.clear()
    rows = np.random.default_rng(0).integers(0, 5, size=(40, 3)).astype(float)
    watched._statistic(rows, np.arange(40) % 2, None, first=True)
    return read


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_what_is_measured_depends_on_declared_parameters_only(model):
    declared, read = type(model).measured_by, tuple(sorted(parameters_read(model)))
    assert declared is not None, f"say in the class: measured_by = {read}"
    assert set(read) <= set(declared), f"say in the class: measured_by = {read}"
    assert set(declared) <= set(model.get_params(deep=False))


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_what_is_called_simpler_is_a_parameter(model):
    assert set(type(model).simpler_when_larger) <= set(model.get_params(deep=False))


def test_a_parameter_that_is_read_in_silence_is_noticed():
    class Silent(NearestMean):
        measured_by = ()

    with pytest.raises(AssertionError, match=r"measured_by = \('full',\)"):
        test_what_is_measured_depends_on_declared_parameters_only(Silent())
