"""The loop for quadratic forms equals its reference, for any number of features and rows."""

import numpy as np
import pytest

from rosenblatt import loops
from rosenblatt.storage import read_only
from tests.reference import gaussians as reference


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (70, 2, 3), (64, 4, 1), (130, 7, 2)])
def test_quadratic_scores(n, d, k, dtype):
    rng = np.random.default_rng([n, d, k])
    X, p = rng.normal(size=(n, d)).astype(dtype), d + -d % 4
    linear, upper = np.zeros((k, p)), np.zeros((k, p, p))
    linear[:, :d] = rng.normal(size=(k, d))
    upper[:, :d, :d] = np.triu(rng.normal(size=(k, d, d)))
    centre, constant = rng.normal(size=d), rng.normal(size=k)
    panel, sums = np.zeros((p, loops.quadratic.PANEL)), np.empty((3, loops.quadratic.PANEL))
    scores = np.full((k, n), np.nan)
    forms = (centre, linear, upper, constant)
    loops.quadratic.quadratic_scores(read_only(X), *forms, scores, panel, sums)
    np.testing.assert_allclose(
        scores, reference.quadratic_scores(X, *forms), rtol=1e-12, atol=1e-12
    )
