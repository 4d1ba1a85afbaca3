"""GC19: how many weights a line and a parabola have."""

import numpy as np
import pytest

from rosenblatt import BasisExpansion


@pytest.mark.parametrize(("degree", "weights"), [(1, 2), (2, 3)])
def test_columns_of_the_design_matrix(degree, weights):
    expansion = BasisExpansion(degree=degree, include_bias=True)
    H = expansion.fit_transform(np.arange(7.0)[:, None])
    assert H.shape == (7, weights)
    assert expansion.count(1) == expansion.n_output_features_ == weights
    assert (H[:, 0] == 1).all()
