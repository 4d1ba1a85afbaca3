"""The loop for quadratic forms equals its reference, for any number of features and rows."""

import numpy as np
import pytest

from rosenblatt.discriminant_analysis import quadratic_loops
from rosenblatt.loops import tiles
from rosenblatt.loops.rows import read_only
from tests.reference import gaussians as reference


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("n", "d", "k"), [(1, 1, 1), (70, 2, 3), (64, 4, 1), (130, 7, 2), (33, 26, 2)]
)
def test_quadratic_scores(n, d, k, dtype):
    rng = np.random.default_rng([n, d, k])
    X, tile = rng.normal(size=(n, d)).astype(dtype), tiles.TILE
    pad = -d % tile
    q = pad + d
    linear, upper = np.zeros((k, q)), np.zeros((k, q, q))
    linear[:, pad:] = rng.normal(size=(k, d))
    upper[:, pad:, pad:] = np.triu(rng.normal(size=(k, d, d)))
    by_tile = np.ascontiguousarray(upper.reshape(k, q, q // tile, tile).transpose(0, 2, 1, 3))
    centre, constant = rng.normal(size=d), rng.normal(size=k)
    scores, z, sums = np.full((k, n), np.nan), np.zeros((8, q)), np.empty((8, 4))
    form = (centre, linear, by_tile, constant)
    quadratic_loops.quadratic_scores(read_only(X), *form, scores, z, sums)
    forms = (centre, linear[:, pad:], upper[:, pad:, pad:], constant)
    np.testing.assert_allclose(
        scores, reference.quadratic_scores(X, *forms), rtol=1e-12, atol=1e-12
    )
