"""Maximum likelihood and MAP: no neighbour is better, and a flat prior changes nothing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from rosenblatt.estimation import (
    InverseGammaNormal,
    NormalGammaNormal,
    NormalNormal,
    bernoulli_log_likelihood,
    bernoulli_map,
    bernoulli_mle,
    binomial_log_likelihood,
    binomial_map,
    binomial_mle,
    gaussian_log_likelihood,
    gaussian_map,
    gaussian_mle,
    laplace_smoothing,
    multinomial_log_likelihood,
    multinomial_map,
    multinomial_mle,
)

coin_flips = st.lists(st.integers(0, 1), min_size=1, max_size=40)
counts_of_some = arrays(np.int64, st.integers(2, 6), elements=st.integers(0, 100)).filter(np.any)
samples = st.lists(st.floats(-100, 100), min_size=2, max_size=30).filter(lambda x: np.ptp(x) > 1e-3)


@given(coin_flips, st.floats(0, 1))
def test_no_other_coin_makes_the_flips_likelier(x, theta):
    # E2: a coin's bias from its flips
    best = bernoulli_log_likelihood(x, bernoulli_mle(x))
    assert bernoulli_log_likelihood(x, theta) <= best + 1e-12


@given(st.integers(1, 1000), st.data(), st.floats(0, 1))
def test_no_other_probability_makes_the_successes_likelier(n, data, theta):
    k = data.draw(st.integers(0, n))
    best = binomial_log_likelihood(k, n, binomial_mle(k, n))
    assert binomial_log_likelihood(k, n, theta) <= best + 1e-9


@given(counts_of_some, st.integers(0, 2**32 - 1))
def test_no_other_die_makes_the_rolls_likelier(counts, seed):
    # E3: a die's faces from its rolls
    p = multinomial_mle(counts)
    best = multinomial_log_likelihood(counts, p)
    rng = np.random.default_rng(seed)
    for other in rng.dirichlet(np.ones(len(counts)), 10):
        for step in (1, 0.01):
            near = (1 - step) * p + step * other
            assert multinomial_log_likelihood(counts, near) <= best + 1e-9


@given(samples, st.floats(-3, 3), st.floats(-2, 2))
def test_no_other_gaussian_makes_the_numbers_likelier(x, shift, stretch):
    # E4: a Gaussian's mean and variance, biased and unbiased
    mean, variance = gaussian_mle(x)
    best = gaussian_log_likelihood(x, mean, variance)
    spread = math.sqrt(variance)
    other = gaussian_log_likelihood(x, mean + shift * spread, variance * math.exp(stretch))
    assert other <= best + 1e-9


def test_no_other_gaussian_makes_the_vectors_likelier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 3))
    mean, S = gaussian_mle(X)
    best = gaussian_log_likelihood(X, mean, S)
    for _ in range(20):
        A = np.eye(3) + 0.1 * rng.normal(size=(3, 3))
        assert gaussian_log_likelihood(X, mean + 0.1 * rng.normal(size=3), A @ S @ A.T) < best


@given(st.integers(1, 99))
def test_the_derivative_vanishes_at_the_maximum(k):
    theta = binomial_mle(k, 100)
    assert math.isclose(k / theta, (100 - k) / (1 - theta))


@given(coin_flips)
def test_a_flat_prior_leaves_the_coin_alone(x):
    assert bernoulli_map(x) == bernoulli_mle(x)
    assert binomial_map(sum(x), len(x)) == binomial_mle(sum(x), len(x))


@given(counts_of_some)
def test_a_flat_prior_leaves_the_die_alone(counts):
    np.testing.assert_allclose(multinomial_map(counts), multinomial_mle(counts), rtol=1e-12)


@given(samples)
def test_a_nearly_flat_prior_leaves_the_gaussian_alone(x):
    mean, variance = gaussian_mle(x)
    flat = NormalNormal(0, 1e15, known_variance=1)
    assert math.isclose(gaussian_map(x, flat), mean, rel_tol=1e-9, abs_tol=1e-9)
    # density v^(-shape-1) exp(-scale/v), with shape -> -1: here -n/2 is what the data bring
    weak = InverseGammaNormal(1e-9, 1e-9, known_mean=mean)
    n = len(x)
    assert math.isclose(gaussian_map(x, weak), variance * n / (n + 2), rel_tol=1e-4)
    both = gaussian_map(x, NormalGammaNormal(mean, 1e-9, 0.5 + 1e-9, 1e-12))
    assert math.isclose(both.mean, mean, rel_tol=1e-6, abs_tol=1e-6)
    assert math.isclose(1 / both.precision, variance, rel_tol=1e-4)


@given(counts_of_some, st.floats(0.01, 50))
def test_smoothing_is_map_under_a_prior_of_one_more(counts, k):
    # E6: the most probable parameter under a prior
    smooth = laplace_smoothing(counts, k)
    np.testing.assert_allclose(smooth, multinomial_map(counts, k + 1), rtol=1e-9)
    assert math.isclose(smooth.sum(), 1)
    assert (smooth > 0).all()


def test_smoothing_treats_each_condition_on_its_own():
    counts = np.array([[2, 1], [0, 0], [0, 7]])
    rows = [laplace_smoothing(row, 2) for row in counts]
    np.testing.assert_allclose(laplace_smoothing(counts, 2), rows)
    assert laplace_smoothing(counts, 2)[1].tolist() == [0.5, 0.5]


def test_smoothing_runs_from_the_counts_to_all_alike():
    # E5: add-k smoothing, from none to infinite
    counts = [5, 0, 1]
    np.testing.assert_array_equal(laplace_smoothing(counts, 0), multinomial_mle(counts))
    spread = [np.ptp(laplace_smoothing(counts, k)) for k in (0, 0.1, 1, 10, 1e6, math.inf)]
    assert spread == sorted(spread, reverse=True)
    assert spread[-1] == 0


def test_the_prior_fades_as_the_sample_grows():
    # E12: with enough data the prior does not matter
    away = [abs(binomial_map(7 * n, 10 * n, 3, 40) - 0.7) for n in (1, 10, 100, 1000)]
    assert away == sorted(away, reverse=True)
    assert away[-1] < 0.01


@given(samples)
def test_both_divisors_are_numpys(x):
    for ddof in (0, 1):
        mean, variance = gaussian_mle(x, ddof=ddof)
        assert math.isclose(mean, np.mean(x), rel_tol=1e-12, abs_tol=1e-12)
        assert math.isclose(variance, np.var(x, ddof=ddof), rel_tol=1e-9)


def test_the_divisor_n_less_one_is_unbiased():
    rng = np.random.default_rng(0)
    draws = rng.normal(0, 2, size=(20_000, 4))
    biased = np.mean([gaussian_mle(x).variance for x in draws])
    unbiased = np.mean([gaussian_mle(x, ddof=1).variance for x in draws])
    assert abs(unbiased - 4) < 0.15
    assert abs(biased - 3) < 0.15


def test_covariances_are_numpys():
    X = np.random.default_rng(0).normal(size=(20, 3)) + 1e6
    for ddof in (0, 1):
        mean, S = gaussian_mle(X, ddof=ddof)
        np.testing.assert_allclose(mean, X.mean(axis=0))
        np.testing.assert_allclose(S, np.cov(X.T, ddof=ddof), rtol=1e-6, atol=1e-9)


def test_variances_survive_a_mean_far_from_zero():
    x = 1e12 + np.array([1.0, 2, 3, 4])
    assert gaussian_mle(x, ddof=1).variance == 5 / 3


def test_likelihoods_are_scipys():
    # E1: likelihood and its logarithm
    assert math.isclose(
        binomial_log_likelihood([3, 0], [5, 4], 0.3),
        stats.binom.logpmf([3, 0], [5, 4], 0.3).sum(),
    )
    assert math.isclose(
        multinomial_log_likelihood([3, 0, 2], [0.2, 0.5, 0.3]),
        stats.multinomial.logpmf([3, 0, 2], 5, [0.2, 0.5, 0.3]),
    )
    assert math.isclose(
        bernoulli_log_likelihood([1, 0, 1], 0.3), stats.bernoulli.logpmf([1, 0, 1], 0.3).sum()
    )
    x = [1.0, 2.5, -3]
    assert math.isclose(gaussian_log_likelihood(x, 1, 4), stats.norm.logpdf(x, 1, 2).sum())


def test_the_average_does_not_grow_with_the_sample():
    for n in (1, 50):
        assert math.isclose(
            bernoulli_log_likelihood([1, 1, 0] * n, 0.6, average=True),
            (2 * math.log(0.6) + math.log(0.4)) / 3,
        )
        assert math.isclose(
            gaussian_log_likelihood([1, 3] * n, 2, 1, average=True),
            -0.5 * math.log(2 * math.pi) - 0.5,
        )


def test_impossible_data_have_likelihood_zero_and_certain_data_one():
    assert bernoulli_log_likelihood([1, 0], 1.0) == -math.inf
    assert bernoulli_log_likelihood([1, 1], 1.0) == 0
    assert multinomial_log_likelihood([3, 0], [1, 0]) == 0
    assert multinomial_log_likelihood([3, 1], [1, 0]) == -math.inf


def test_huge_counts_keep_their_digits():
    assert binomial_mle(10**15, 4 * 10**15) == 0.25
    assert multinomial_mle([1e149, 1e149]).tolist() == [0.5, 0.5]
    # Stirling: 2n fair flips fall evenly with probability 1 / sqrt(pi n), but for 1 / (8 n)
    for n in (10**9, 10**15):
        ll = binomial_log_likelihood(n, 2 * n, 0.5)
        assert math.isclose(ll, -0.5 * math.log(math.pi * n), rel_tol=1e-9)
    # one standard deviation off, the normal limit: less by a half
    off = binomial_log_likelihood(10**14 + 5 * 10**6, 2 * 10**14, 0.5)
    even = binomial_log_likelihood(10**14, 2 * 10**14, 0.5)
    assert math.isclose(even - off, (5 * 10**6) ** 2 / 10**14, rel_tol=1e-6)


@given(
    arrays(np.int64, 4, elements=st.integers(0, 300)),
    arrays(np.float64, 4, elements=st.floats(0.001, 1)),
)
def test_counts_have_the_probability_exact_factorials_give(counts, weights):
    p = weights / weights.sum()
    ways = math.factorial(sum(counts.tolist()))
    for n in counts.tolist():
        ways //= math.factorial(n)
    exact = math.log(ways) + (counts * np.log(p)).sum()
    assert math.isclose(multinomial_log_likelihood(counts, p), exact, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bernoulli_mle([]), "x must hold at least one number; got none"),
        (lambda: bernoulli_mle([0, 2]), "x must hold 0 and 1 only; got 2 at index 1"),
        (lambda: bernoulli_mle([0, math.nan]), "x must hold no NaN; got nan at index 1"),
        (lambda: bernoulli_map([1], a=0), "a must be a number > 0; got 0"),
        (lambda: binomial_mle(0, 0), "trials must hold a number > 0"),
        (lambda: binomial_mle(3, 2), "got 3 successes in 2 trials"),
        (lambda: binomial_map(0, 0), "no single most probable value"),
        (lambda: multinomial_mle([0, 0]), "only zeros, .* laplace_smoothing with k > 0"),
        (
            lambda: multinomial_mle([1, -1]),
            "counts must hold no negative number; got -1 at index 1",
        ),
        (lambda: multinomial_mle(3), "counts must be an array; got the number 3"),
        (lambda: multinomial_map([1, 2], alpha=0), r"alpha must hold numbers > 0; got 0\."),
        (lambda: multinomial_map([1, 2], alpha=[1, 2, 3]), "alpha one number or one for each"),
        (lambda: laplace_smoothing([1, 2], k=-1), "k must hold no negative number; got -1"),
        (lambda: laplace_smoothing([1, 2], k=math.nan), "k must hold no NaN"),
        (lambda: laplace_smoothing([1, 2], k=[1, 2]), "k must be one number"),
        (
            lambda: laplace_smoothing([1, math.inf]),
            "counts must hold finite numbers up to .*; got inf",
        ),
        (lambda: gaussian_mle([]), "x must hold at least one number"),
        (lambda: gaussian_mle([1.0], ddof=1), "below the number of observations, 1; got 1"),
        (lambda: gaussian_mle([1.0, 2.0], ddof=-1), "ddof must be at least 0"),
        (lambda: gaussian_mle([[[1.0]]]), r"numbers \(n,\) or vectors \(n, d\)"),
        (lambda: gaussian_mle([1e200, 0]), r"finite numbers up to 1e\+150; got 1e\+200 at index 0"),
        (
            lambda: gaussian_mle([1.0, math.inf]),
            "x must hold finite numbers up to .*; got inf at index 1",
        ),
        (lambda: gaussian_map([1.0], (0, 1)), "prior must be a NormalNormal"),
        (lambda: bernoulli_log_likelihood([1], 1.5), "theta must lie between 0 and 1"),
        (lambda: bernoulli_log_likelihood([1], [0.5]), "theta must be one number"),
        (lambda: multinomial_log_likelihood([1, 2], [0.5, 0.4]), "p must sum to one; got 0.9"),
        (lambda: multinomial_log_likelihood([1], [0.5, 0.5]), "lists of the same length"),
        (lambda: gaussian_log_likelihood([1.0], 0, 0), "variance must be a number > 0"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
