"""GC19, C8: how many weights a line and a parabola have."""

import numpy as np
import pytest

from rosenblatt import BasisExpansion, LinearRegression


@pytest.mark.parametrize(("degree", "weights"), [(1, 2), (2, 3)])
def test_columns_of_the_design_matrix(degree, weights):
    expansion = BasisExpansion(degree=degree, include_bias=True)
    H = expansion.fit_transform(np.arange(7.0)[:, None])
    assert H.shape == (7, weights)
    assert expansion.count(1) == expansion.n_output_features_ == weights
    assert (H[:, 0] == 1).all()


@pytest.mark.parametrize(("degree", "weights"), [(1, 2), (2, 3)])
def test_a_fit_has_so_many_free_numbers(degree, weights):
    """H3: the basis functions, and one for the bias."""
    x = np.arange(7.0)[:, None]
    H = BasisExpansion("powers", degree=degree).fit_transform(x)
    model = LinearRegression().fit(H, 2 + 3 * x[:, 0] ** 2)
    assert model.n_parameters_ == weights
