"""Conjugate priors: each posterior against Bayes' rule done by numbers, and the laws all obey."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from rosenblatt.estimation import (
    BetaBinomial,
    BetaGeometric,
    BetaNegativeBinomial,
    DirichletMultinomial,
    GammaExponential,
    GammaPoisson,
    InverseGammaNormal,
    NormalGammaNormal,
    NormalNormal,
)

# Each family with a prior, some data for posterior(), and the likelihood of one observation.
ONE_NUMBER = {
    "beta-binomial": (
        BetaBinomial(2.5, 1.5),
        ([3, 1, 4], [5, 2, 4]),
        lambda theta: stats.binom.pmf([3, 1, 4], [5, 2, 4], theta),
    ),
    "beta-negative binomial": (
        BetaNegativeBinomial(2, 3, successes=2),
        ([4, 0, 3],),
        lambda theta: stats.nbinom.pmf([4, 0, 3], 2, theta),
    ),
    "beta-geometric": (
        BetaGeometric(1.5, 2),
        ([4, 1, 3],),
        lambda theta: stats.geom.pmf([4, 1, 3], theta),
    ),
    "gamma-Poisson": (
        GammaPoisson(2, 0.5),
        ([3, 0, 5], [1, 2, 0.5]),
        lambda rate: stats.poisson.pmf([3, 0, 5], rate * np.array([1, 2, 0.5])),
    ),
    "gamma-exponential": (
        GammaExponential(1.5, 2),
        ([0.3, 2.0, 1.1],),
        lambda rate: stats.expon.pdf([0.3, 2.0, 1.1], scale=1 / rate),
    ),
    "normal-normal": (
        NormalNormal(1, 4, known_variance=2),
        ([0.5, -1, 3],),
        lambda mu: stats.norm.pdf([0.5, -1, 3], mu, math.sqrt(2)),
    ),
    "inverse gamma-normal": (
        InverseGammaNormal(2.5, 3, known_mean=1),
        ([0.5, -1, 3],),
        lambda v: stats.norm.pdf([0.5, -1, 3], 1, math.sqrt(v)),
    ),
}
one_number = pytest.mark.parametrize("case", ONE_NUMBER)

BATCHES = {
    "beta-binomial": (BetaBinomial(0.5, 2), [1, 0, 0, 1, 1]),
    "beta-negative binomial": (BetaNegativeBinomial(successes=3), [4, 0, 2, 1, 7]),
    "beta-geometric": (BetaGeometric(3, 2), [1, 5, 2, 2, 1]),
    "gamma-Poisson": (GammaPoisson(2, 3), [0, 5, 2, 2, 1]),
    "gamma-exponential": (GammaExponential(2, 3), [0.1, 5.5, 2, 2.5, 1]),
    "normal-normal": (NormalNormal(-3, 2, known_variance=0.5), [0.1, 5.5, -2, 2.5, 1]),
    "inverse gamma-normal": (InverseGammaNormal(2, 3, known_mean=1), [0.1, 5.5, -2, 2.5, 1]),
    "normal-gamma": (NormalGammaNormal(-3, 2, 1.5, 0.5), [0.1, 5.5, -2, 2.5, 1]),
    "Dirichlet": (
        DirichletMultinomial([0.5, 1, 2]),
        [[1, 0, 0], [0, 2, 1], [0, 0, 3], [1, 1, 1], [0, 0, 4]],
    ),
}


def parameters(belief):
    return np.concatenate([np.ravel(value) for value in vars(belief).values()])


@one_number
def test_the_posterior_is_prior_times_likelihood(case):
    # E7, E8: every conjugate pair, the coin among them
    prior, data, likelihood = ONE_NUMBER[case]
    posterior = prior.posterior(*data)
    low, high = posterior.credible_interval(0.999)
    at = np.linspace(low, high, 7)
    product = [prior.distribution.logpdf(t) + np.log(likelihood(t)).sum() for t in at]
    constant = posterior.distribution.logpdf(at) - product  # the same everywhere: -ln P(data)
    np.testing.assert_allclose(constant, constant[0], rtol=1e-9)


def test_the_joint_posterior_is_prior_times_likelihood():
    # E9: priors for a Gaussian's parameters
    prior, x = NormalGammaNormal(-1, 2, 1.5, 3), [0.5, -1.0, 3.0]
    posterior = prior.posterior(x)
    constant = [
        posterior.distribution.logpdf(mu, v)
        - prior.distribution.logpdf(mu, v)
        - stats.norm.logpdf(x, mu, math.sqrt(v)).sum()
        for mu in (-2.0, 0.0, 1.5)
        for v in (0.3, 1.0, 8.0)
    ]
    np.testing.assert_allclose(constant, constant[0], rtol=1e-9)


def test_the_posterior_of_a_die_is_prior_times_likelihood():
    prior, counts = DirichletMultinomial([0.5, 2, 3]), [3, 0, 4]
    posterior = prior.posterior(counts)
    constant = [
        posterior.distribution.logpdf(p)
        - prior.distribution.logpdf(p)
        - stats.multinomial.logpmf(counts, 7, p)
        for p in ([0.2, 0.3, 0.5], [0.6, 0.1, 0.3], [0.05, 0.05, 0.9])
    ]
    np.testing.assert_allclose(constant, constant[0], rtol=1e-9)


@pytest.mark.parametrize("case", BATCHES)
@pytest.mark.parametrize("cut", [1, 2, 4])
def test_two_batches_teach_what_both_together_do(case, cut):
    prior, data = BATCHES[case]
    at_once = prior.posterior(data)
    in_turn = prior.posterior(data[:cut]).posterior(data[cut:])
    assert type(at_once) is type(in_turn) is type(prior)
    np.testing.assert_allclose(parameters(in_turn), parameters(at_once), rtol=1e-12)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20), st.data())
def test_any_cut_of_any_numbers_teaches_the_same(x, data):
    cut = data.draw(st.integers(1, len(x) - 1))
    for prior in (
        NormalNormal(5, 3, known_variance=2),
        InverseGammaNormal(1, 2, known_mean=-1),
        NormalGammaNormal(1, 2, 3, 4),
    ):
        at_once, in_turn = prior.posterior(x), prior.posterior(x[:cut]).posterior(x[cut:])
        np.testing.assert_allclose(parameters(in_turn), parameters(at_once), rtol=1e-9, atol=1e-9)


def test_batches_agree_far_from_the_origin():
    x = 1e9 + np.arange(6.0)
    prior = NormalGammaNormal(1e9, 1, 1, 1)
    at_once, in_turn = prior.posterior(x), prior.posterior(x[:2]).posterior(x[2:])
    assert math.isclose(at_once.rate, 1 + 17.5 / 2 + 6 / 7 * 2.5**2 / 2, rel_tol=1e-9)
    assert math.isclose(in_turn.rate, at_once.rate, rel_tol=1e-7)


@one_number
def test_mean_variance_and_mode_are_those_of_the_distribution(case):
    prior, data, _ = ONE_NUMBER[case]
    for belief in (prior, prior.posterior(*data)):
        density = belief.distribution
        assert math.isclose(belief.mean, density.mean(), rel_tol=1e-12)
        assert math.isclose(belief.variance, density.var(), rel_tol=1e-9)
        low, high = belief.credible_interval(0.9999)
        around = np.linspace(max(low, belief.mode - 0.5), min(high, belief.mode + 0.5), 1001)
        assert density.pdf(belief.mode) >= density.pdf(around).max() * (1 - 1e-12)


@one_number
@given(mass=st.floats(0.01, 0.999))
def test_a_credible_interval_has_the_mass_it_says_and_equal_tails(case, mass):
    prior, data, _ = ONE_NUMBER[case]
    belief = prior.posterior(*data)
    low, high = belief.credible_interval(mass)
    density = belief.distribution
    assert math.isclose(density.cdf(high) - density.cdf(low), mass, rel_tol=1e-9)
    assert math.isclose(density.cdf(low), density.sf(high), rel_tol=1e-9)
    inside = integrate.quad(density.pdf, low, high)[0]
    assert math.isclose(inside, mass, rel_tol=1e-6)


def test_intervals_of_mean_and_precision_have_their_mass():
    belief = NormalGammaNormal(1, 2, 3, 4)
    draws = belief.distribution.rvs(size=100_000, random_state=np.random.default_rng(0))
    for drawn, (low, high) in zip(
        (draws[0], 1 / draws[1]), belief.credible_interval(0.9), strict=True
    ):
        assert abs(np.mean((low < drawn) & (drawn < high)) - 0.9) < 0.005
    assert abs(draws[0].var() / belief.variance.mean - 1) < 0.05
    assert abs((1 / draws[1]).mean() / belief.mean.precision - 1) < 0.01
    assert abs((1 / draws[1]).var() / belief.variance.precision - 1) < 0.05


def test_intervals_of_a_dirichlet_are_those_of_its_parts():
    belief = DirichletMultinomial([2, 3, 5])
    for (low, high), a in zip(belief.credible_interval(0.8), (2, 3, 5), strict=True):
        part = stats.beta(a, 10 - a)
        assert math.isclose(part.cdf(low), 0.1, rel_tol=1e-9)
        assert math.isclose(part.sf(high), 0.1, rel_tol=1e-9)
    np.testing.assert_allclose(belief.mean, belief.distribution.mean())
    np.testing.assert_allclose(belief.variance, belief.distribution.var())


@given(st.lists(st.floats(1.01, 50), min_size=2, max_size=6), st.integers(0, 2**32 - 1))
def test_no_probabilities_are_denser_than_a_dirichlets_mode(alpha, seed):
    belief = DirichletMultinomial(alpha)
    others = np.random.default_rng(seed).dirichlet(alpha, 50)
    logs = (np.log(np.maximum(others, 1e-300)) * (np.array(alpha) - 1)).sum(axis=1)
    best = (np.log(belief.mode) * (np.array(alpha) - 1)).sum()
    assert (logs <= best + 1e-9).all()
    assert math.isclose(belief.mode.sum(), 1)


def test_the_mode_of_mean_and_precision_is_the_highest_point():
    belief = NormalGammaNormal(1, 2, 3, 4)

    def log_density(mean, precision):
        # of (mean, precision): that of (mean, variance) times |dv / d precision| = v^2
        v = 1 / precision
        return belief.distribution.logpdf(mean, v) + 2 * math.log(v)

    top = log_density(*belief.mode)
    for mean in (0.9, 1.0, 1.1):
        for factor in (0.9, 1.0, 1.1):
            assert log_density(mean, factor * belief.mode.precision) <= top + 1e-12


@one_number
def test_the_predictive_is_the_likelihood_averaged_over_the_belief(case):
    prior, data, _ = ONE_NUMBER[case]
    belief = prior.posterior(*data)
    density = belief.distribution
    one = {
        "beta-binomial": lambda t: stats.binom.pmf(2, 4, t),
        "beta-negative binomial": lambda t: stats.nbinom.pmf(2, 2, t),
        "beta-geometric": lambda t: stats.geom.pmf(2, t),
        "gamma-Poisson": lambda t: stats.poisson.pmf(2, 1.5 * t),
        "gamma-exponential": lambda t: stats.expon.pdf(2, scale=1 / t),
        "normal-normal": lambda t: stats.norm.pdf(2, t, math.sqrt(2)),
        "inverse gamma-normal": lambda t: stats.norm.pdf(2, 1, math.sqrt(t)),
    }[case]
    predictive = {
        "beta-binomial": lambda: belief.predictive(4),
        "gamma-Poisson": lambda: belief.predictive(1.5),
    }.get(case, belief.predictive)()
    low, high = belief.credible_interval(1 - 1e-9)
    averaged = integrate.quad(lambda t: one(t) * density.pdf(t), low, high, limit=200)[0]
    discrete = hasattr(predictive, "pmf") and hasattr(predictive.dist, "pmf")
    said = predictive.pmf(2) if discrete else predictive.pdf(2)
    assert math.isclose(averaged, said, rel_tol=1e-5)


def test_the_predictive_of_mean_and_precision_has_its_variance():
    belief = NormalGammaNormal(1, 2, 3, 4)
    rng = np.random.default_rng(0)
    mean, variance = belief.distribution.rvs(size=200_000, random_state=rng)
    draws = rng.normal(mean, np.sqrt(variance))
    assert stats.kstest(draws, belief.predictive().cdf).pvalue > 1e-3


def test_the_next_outcome_of_a_die_has_the_expected_probabilities():
    belief = DirichletMultinomial([2, 3, 5])
    for k in range(3):
        assert math.isclose(belief.predictive().pmf(np.eye(3, dtype=int)[k]), belief.mean[k])


@given(st.floats(0.1, 50), st.floats(0.1, 50), st.integers(0, 30), st.integers(0, 30))
def test_a_dirichlet_of_two_is_a_beta(a, b, heads, tails):
    two = DirichletMultinomial([a, b]).posterior([heads, tails])
    one = BetaBinomial(a, b).posterior(heads, heads + tails)
    np.testing.assert_allclose(two.alpha, (one.a, one.b))
    assert math.isclose(two.mean[0], one.mean)
    assert math.isclose(two.variance[0], one.variance)
    np.testing.assert_allclose(two.credible_interval()[0], one.credible_interval())


def test_a_geometric_run_is_a_negative_binomial_one_counted_with_its_success():
    geometric = BetaGeometric(2, 3).posterior([1, 4])
    negative = BetaNegativeBinomial(2, 3, successes=1).posterior([0, 3])
    assert (geometric.a, geometric.b) == (negative.a, negative.b)
    assert geometric.predictive().pmf(3) == negative.predictive().pmf(2)


@pytest.mark.parametrize(
    ("a", "b", "mode"),
    [
        (3, 2, 2 / 3),
        (1, 2, 0),
        (0.5, 2, 0),
        (0.5, 1, 0),
        (2, 1, 1),
        (2, 0.5, 1),
        (1, 0.5, 1),
    ],
)
def test_a_beta_without_an_inner_mode_has_it_at_an_end(a, b, mode):
    assert math.isclose(BetaBinomial(a, b).mode, mode)


@pytest.mark.parametrize("prior", [(1, 1), (0.5, 0.5), (0.2, 0.7)])
def test_a_belief_without_a_single_mode_says_so(prior):
    with pytest.raises(ValueError, match="has no single most probable value; take the mean"):
        _ = BetaBinomial(*prior).mode


def test_a_dirichlet_drops_what_has_its_mode_at_zero():
    np.testing.assert_allclose(DirichletMultinomial([0.5, 3, 2]).mode, [0, 2 / 3, 1 / 3])
    assert DirichletMultinomial([0.5, 0.1, 3]).mode.tolist() == [0, 0, 1]
    assert DirichletMultinomial([1, 1, 3]).mode.tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match="no single most probable"):
        _ = DirichletMultinomial([0.5, 1, 1]).mode


def test_wide_beliefs_have_infinite_moments_not_nan():
    wide = InverseGammaNormal(1, 1, known_mean=0)
    assert wide.mean == wide.variance == math.inf
    assert InverseGammaNormal(1.5, 1, known_mean=0).variance == math.inf
    assert NormalGammaNormal(0, 1, 1, 1).variance.mean == math.inf
    assert GammaPoisson(0.5, 1).mode == 0
    with pytest.raises(ValueError, match=r"shape must be a number > 0\.5"):
        _ = NormalGammaNormal(0, 1, 0.5, 1).mode


@pytest.mark.parametrize("case", BATCHES)
def test_beliefs_narrow_as_data_arrive_and_the_prior_fades(case):
    # E10: keeping the whole posterior
    prior, data = BATCHES[case]
    much = prior.posterior(data * 2000)
    little = prior.posterior(data)
    assert (np.ravel(much.variance) < np.ravel(little.variance)).all()
    # mode and mean tend to the same point
    np.testing.assert_allclose(np.ravel(much.mode), np.ravel(much.mean), rtol=2e-3, atol=2e-3)


def test_beliefs_are_values():
    assert BetaBinomial(2, 2).posterior(1, 2) == BetaBinomial(3, 3)
    assert len({DirichletMultinomial([1, 2]), DirichletMultinomial(np.array([1.0, 2.0]))}) == 1
    with pytest.raises(AttributeError):
        BetaBinomial(1, 1).a = 5


def test_extreme_parameters_give_infinity_or_an_error_but_never_nan():
    assert InverseGammaNormal(1e-3, 1, known_mean=0).credible_interval()[1] == math.inf
    assert GammaPoisson(1, 1e-149).variance > 1e290
    assert InverseGammaNormal(3, 1e150, known_mean=0).variance < math.inf
    for a in (1e-149, 1e-5, 1e15, 1e149):
        low, high = BetaBinomial(a, a).credible_interval()
        assert 0 <= low <= high <= 1
    with pytest.raises(ValueError, match="a must be a number > 0, not below 1e-150; got 1e-200"):
        BetaBinomial(1e-200, 1)


def test_millions_of_counts_stay_finite():
    belief = BetaBinomial().posterior(10**12, 3 * 10**12)
    low, high = belief.credible_interval()
    assert low < 1 / 3 < high
    assert high - low < 1e-5
    assert math.isclose(belief.mode, 1 / 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BetaBinomial(0, 1), "a must be a number > 0; got 0"),
        (lambda: BetaBinomial(1, -2), "b must be a number > 0; got -2"),
        (lambda: BetaBinomial(math.nan, 1), "a must hold no NaN"),
        (lambda: BetaBinomial(math.inf, 1), "a must hold finite numbers"),
        (lambda: BetaBinomial([1, 2], 1), "a must be one number"),
        (lambda: BetaBinomial("one", 1), "a must hold real numbers"),
        (lambda: BetaBinomial().posterior(3, 2), "got 3 successes in 2 trials"),
        (lambda: BetaBinomial().posterior(-1, 2), "successes must hold no negative number; got -1"),
        (lambda: BetaBinomial().posterior([1, 0], [1, 1, 1]), "the same shape"),
        (lambda: BetaBinomial().posterior([]), "successes must hold at least one number"),
        (lambda: BetaBinomial().predictive(0), "trials must hold whole numbers >= 1; got 0"),
        (lambda: BetaBinomial().credible_interval(1), "mass must be a number strictly between"),
        (lambda: BetaBinomial().credible_interval(95), "got 95"),
        (lambda: BetaNegativeBinomial(successes=0), "successes must hold whole numbers >= 1"),
        (lambda: BetaNegativeBinomial(successes=2).posterior([0.5]), "failures must hold whole"),
        (lambda: BetaGeometric().posterior([0]), "trials must hold whole numbers >= 1; got 0"),
        (lambda: GammaPoisson(0, 1), "shape must be a number > 0; got 0"),
        (lambda: GammaPoisson().posterior([1.5]), "counts must hold whole numbers >= 0; got 1.5"),
        (lambda: GammaPoisson().posterior([1, 2], [1, 0]), "exposure must hold numbers > 0; got 0"),
        (lambda: GammaPoisson().posterior([1, 2], [1, 2, 3]), "exposure must be one number, or"),
        (lambda: GammaPoisson().predictive(-1), "exposure must be a number > 0; got -1"),
        (lambda: GammaExponential().posterior([-1.0]), "x must hold no negative number; got -1"),
        (lambda: NormalNormal(0, 0, known_variance=1), "variance must be a number > 0; got 0"),
        (lambda: NormalNormal(known_variance=-1), "known_variance must be a number > 0; got -1"),
        (lambda: NormalNormal(known_variance=1).posterior([]), "x must hold at least one number"),
        (lambda: NormalNormal(known_variance=1).posterior([[1]]), r"x must be a list of numbers"),
        (lambda: NormalNormal(known_variance=1).posterior([math.nan]), "x must hold no NaN"),
        (
            lambda: InverseGammaNormal(known_mean=0).posterior([1e200]),
            r"x must hold finite numbers up to 1e\+150; got 1e\+200 at index 0: drop or rescale it",
        ),
        (lambda: NormalGammaNormal(0, 0, 1, 1), "strength must be a number > 0; got 0"),
        (lambda: NormalGammaNormal(0, 1, 1, -3), "rate must be a number > 0; got -3"),
        (lambda: DirichletMultinomial([1, 0]), "alpha must hold numbers > 0; got 0 at index 1"),
        (lambda: DirichletMultinomial([1]), "alpha must be a list of two numbers or more"),
        (lambda: DirichletMultinomial([1, 1]).posterior([1, 2, 3]), "counts must have 2 columns"),
        (lambda: DirichletMultinomial([1, 1]).posterior([1, -2]), "got -2 at index 1"),
        (lambda: DirichletMultinomial([1, 1]).credible_interval(0), "mass must be a number"),
        (lambda: DirichletMultinomial([1, 1]).predictive(1.5), "trials must hold whole numbers"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
