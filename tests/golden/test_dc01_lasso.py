"""DC01, H5: the lasso of x = 0, 1, 2, 3; t = 1, 2, 2, 4; RSS + lambda |w|, the bias free.

By hand: the means are 1.5 and 2.25, the centred products x.t = 4.5 and x.x = 5, so that
w = (4.5 - lambda / 2) / 5 while that is positive: 0.8 for lambda = 1, 0.5 for 4, 0 from 9 on.
In scikit-learn's terms alpha = lambda / (2 n) = lambda / 8, and the objective RSS / 8 + alpha |w|.
"""

import numpy as np
import pytest

from rosenblatt import ElasticNet, Lasso

X, T = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 2.0, 4.0])


@pytest.mark.parametrize(
    ("lam", "bias", "weight", "objective"),
    [(1, 1.05, 0.8, 1.55), (4, 1.5, 0.5, 3.5), (9, 2.25, 0.0, 4.75), (20, 2.25, 0.0, 4.75)],
)
@pytest.mark.parametrize("Model", [Lasso, lambda alpha: ElasticNet(alpha, l1_ratio=1.0)])
def test_the_lasso_of_four_points(Model, lam, bias, weight, objective):
    model = Model(alpha=lam / 8).fit(X, T)
    assert model.intercept_ == pytest.approx(bias)
    assert model.coef_ == pytest.approx([weight])
    assert 8 * model.objective_ == pytest.approx(objective)
    rss = np.sum((T - model.predict(X)) ** 2)
    assert rss + lam * np.abs(model.coef_).sum() == pytest.approx(objective)
    assert model.dual_gap_ == pytest.approx(0, abs=1e-12)


def test_the_largest_useful_penalty_is_twice_the_largest_product():
    """lambda_max = 2 max |x.t| = 9, on centred data."""
    assert Lasso(alpha=9 / 8).fit(X, T).coef_ == 0
    assert Lasso(alpha=8.99 / 8).fit(X, T).coef_ > 0
