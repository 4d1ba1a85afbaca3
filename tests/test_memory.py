"""What a fit was given is let go of with the fit, without waiting for the collector of circles."""

import gc
import warnings
import weakref

import numpy as np
import pytest

from rosenblatt.workbench.families import FAMILIES

OF_NUMBERS = {f.name: f for f in FAMILIES if f.takes == "numbers" and f.before is None}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_rows_are_freed_when_a_fit_is_over(name):
    family = OF_NUMBERS[name]
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    y = rows[:, 0] + rng.normal(size=60)
    known, model = weakref.ref(rows), family.make()
    gc.collect()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(rows, y if family.task == "regression" else (y > 0).astype(int))
        model.predict(rows)
        del rows, model
        assert known() is None
    finally:
        gc.enable()
