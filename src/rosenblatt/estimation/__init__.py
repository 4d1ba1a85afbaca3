"""Parameters from data: maximum likelihood, MAP, whole posteriors, and how much data is enough.

>>> from rosenblatt import estimation
>>> estimation.binomial_mle(7, 10)
0.7
>>> estimation.BetaBinomial(2, 2).posterior(7, 10).mode
0.6666666666666666
>>> estimation.hoeffding_n(eps=0.1, delta=0.05)
185
"""

from .beta import BetaBinomial, BetaGeometric, BetaNegativeBinomial
from .dirichlet import DirichletMultinomial
from .gamma import GammaExponential, GammaPoisson
from .gaussian import InverseGammaNormal, MeanAndPrecision, NormalGammaNormal, NormalNormal
from .hoeffding import hoeffding_bound, hoeffding_half_width, hoeffding_interval, hoeffding_n
from .likelihood import (
    bernoulli_log_likelihood,
    binomial_log_likelihood,
    gaussian_log_likelihood,
    multinomial_log_likelihood,
)
from .point_estimates import (
    bernoulli_map,
    bernoulli_mle,
    binomial_map,
    binomial_mle,
    gaussian_map,
    gaussian_mle,
    laplace_smoothing,
    multinomial_map,
    multinomial_mle,
)

__all__ = [
    "BetaBinomial",
    "BetaGeometric",
    "BetaNegativeBinomial",
    "DirichletMultinomial",
    "GammaExponential",
    "GammaPoisson",
    "InverseGammaNormal",
    "MeanAndPrecision",
    "NormalGammaNormal",
    "NormalNormal",
    "bernoulli_log_likelihood",
    "bernoulli_map",
    "bernoulli_mle",
    "binomial_log_likelihood",
    "binomial_map",
    "binomial_mle",
    "gaussian_log_likelihood",
    "gaussian_map",
    "gaussian_mle",
    "hoeffding_bound",
    "hoeffding_half_width",
    "hoeffding_interval",
    "hoeffding_n",
    "laplace_smoothing",
    "multinomial_log_likelihood",
    "multinomial_map",
    "multinomial_mle",
]
