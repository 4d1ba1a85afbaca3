"""DC05, E6, E7, W8: three heads and two tails under four priors."""

import numpy as np
import pytest

from rosenblatt.estimation import (
    BetaBinomial,
    bernoulli_map,
    binomial_map,
    binomial_mle,
    laplace_smoothing,
)


@pytest.mark.parametrize(
    ("prior", "mode"),
    [
        ((1, 1), 3 / 5),  # flat: the maximum likelihood
        ((2, 2), 4 / 7),  # (3 + 2 - 1) / (5 + 4 - 2)
        ((5, 1), 7 / 9),
        ((101, 101), 103 / 205),
    ],
)
def test_the_prior_adds_its_flips(prior, mode):
    assert binomial_map(3, 5, *prior) == pytest.approx(mode, rel=1e-15)
    assert bernoulli_map([1, 0, 1, 1, 0], *prior) == pytest.approx(mode, rel=1e-15)
    assert BetaBinomial(*prior).posterior(3, 5).mode == pytest.approx(mode, rel=1e-15)


def test_flat_is_maximum_likelihood_and_the_mean_is_another_number():
    assert binomial_map(3, 5) == binomial_mle(3, 5) == 0.6
    assert BetaBinomial(2, 2).posterior(3, 5).mean == pytest.approx(5 / 9)


@pytest.mark.parametrize("k", [0, 1, 100])
def test_smoothing_by_k_is_a_beta_prior_of_one_more(k):
    theta = binomial_map(2, 3, k + 1, k + 1)
    np.testing.assert_allclose(laplace_smoothing([2, 1], k), [theta, 1 - theta])
