"""Logarithms of the likelihood: how probable the data are under given parameters.

A function of the parameters, which need not integrate to one over them. Impossible data have
minus infinity.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlog1py, xlogy

from rosenblatt.information import Gaussian
from rosenblatt.information.inputs import (
    Floats,
    distribution,
    each_probability,
    nonnegative,
    numbers,
)

from .belief import flips, successes_and_trials


def bernoulli_log_likelihood(x: ArrayLike, theta: float, *, average: bool = False) -> float:
    """``ln prod theta^x (1 - theta)^(1 - x)`` of flips in the order they fell.

    Parameters
    ----------
    x : zeros and ones.
    theta : probability of a one.
    average : divide by the number of flips, an estimate of the expected logarithm of one.

    Examples
    --------
    >>> from rosenblatt.estimation import bernoulli_log_likelihood
    >>> round(bernoulli_log_likelihood([1, 1, 0], 2 / 3), 6)
    -1.909543
    """
    ones, p = flips(x), _probability(theta)
    k, n = ones.sum(), len(ones)
    total = float(xlogy(k, p) + xlog1py(n - k, -p))  # 0 ln 0 = 0
    return total / n if average else total


def binomial_log_likelihood(successes: ArrayLike, trials: ArrayLike, theta: float) -> float:
    """``ln C(n, k) theta^k (1 - theta)^(n - k)`` of k successes in n trials, in any order.

    Parameters
    ----------
    successes, trials : k and n, or lists of them, whose logarithms are summed.
    theta : probability of success.

    Examples
    --------
    >>> import math
    >>> from rosenblatt.estimation import binomial_log_likelihood
    >>> round(math.exp(binomial_log_likelihood(2, 3, 2 / 3)), 6)
    0.444444
    """
    k, n = successes_and_trials(successes, trials)
    p = _probability(theta)
    both = np.column_stack([k, n - k])
    return float(log_counts_probability(both, np.array([p, 1 - p])).sum())


def multinomial_log_likelihood(counts: ArrayLike, p: ArrayLike) -> float:
    """``ln (N! prod p_k^n_k / prod n_k!)`` of how often each of K outcomes occurred.

    Parameters
    ----------
    counts : n_1 .. n_K.
    p : probabilities (K,) that sum to one.

    Examples
    --------
    >>> import math
    >>> from rosenblatt.estimation import multinomial_log_likelihood
    >>> round(math.exp(multinomial_log_likelihood([2, 1, 0], [0.5, 0.3, 0.2])), 6)
    0.225
    """
    n, probability = nonnegative(counts, "counts"), distribution(p, "p")
    if n.ndim != 1 or n.shape != probability.shape:
        raise ValueError(
            f"counts and p must be lists of the same length; got shapes {n.shape} "
            f"and {probability.shape}."
        )
    return float(log_counts_probability(n, probability))


def gaussian_log_likelihood(
    x: ArrayLike, mean: ArrayLike, variance: ArrayLike, *, average: bool = False
) -> float:
    """``sum_i ln N(x_i; mean, variance)`` of independent observations.

    Parameters
    ----------
    x : numbers (n,), or vectors (n, d).
    mean : a number, or a vector (d,).
    variance : a number > 0, or a covariance matrix (d, d).
    average : divide by the number of observations.

    Examples
    --------
    >>> from rosenblatt.estimation import gaussian_log_likelihood
    >>> round(gaussian_log_likelihood([1, 2, 3], 2, 2 / 3), 6)
    -3.648618
    """
    values = np.atleast_1d(numbers(x, "x"))
    logs = np.atleast_1d(Gaussian(mean, variance).log_density(values))
    return float(logs.mean() if average else logs.sum())


def _probability(theta: float) -> float:
    array = each_probability(theta, "theta")
    if array.ndim:
        raise ValueError(f"theta must be one number; got {theta!r}.")
    return array.item()


# The probability of counts, to full precision at any size.
#
# ``ln N! - sum ln n_k! + sum n_k ln p_k`` is a small difference of huge numbers. Loader's form has
# none: with ``n! = sqrt(2 pi n) (n/e)^n exp(d(n))`` and the deviance
# ``D(n, m) = n ln(n/m) - n + m >= 0`` from the expected count m = N p, it is
#
# d(N) - sum d(n_k) + (ln 2 pi N - sum ln 2 pi n_k) / 2 - sum D(n_k, N p_k)
#
# C. Loader (2000), Fast and accurate computation of binomial probabilities.


SERIES_FROM = 20.0  # from here on four terms of the series are exact to rounding


def log_counts_probability(counts: Floats, p: Floats) -> Floats:
    """Return the logarithms of the multinomial probabilities of counts (..., K) under p (K,)."""
    N = counts.sum(axis=-1)
    deviance = _deviance(counts, N[..., None] * p).sum(axis=-1)
    return np.asarray(_factorial_rest(N) - _factorial_rest(counts).sum(axis=-1) - deviance)


def _factorial_rest(n: Floats) -> Floats:
    """Return ``ln n! - (n ln n - n)``, which is ``d(n) + ln(2 pi n) / 2``."""
    large = np.maximum(n, SERIES_FROM)
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / large**2) / large**2) / large**2) / large
    small = np.minimum(n, SERIES_FROM)
    plain = gammaln(small + 1) - (xlogy(small, small) - small)
    return np.asarray(np.where(n >= SERIES_FROM, series + 0.5 * np.log(2 * np.pi * large), plain))


def _deviance(n: Floats, m: Floats) -> Floats:
    """Return ``n ln(n/m) - n + m``, without cancellation where n is near m; infinite at m = 0."""
    near = np.abs(n - m) < 0.5 * m
    close = np.divide(n - m, m, out=np.zeros_like(m), where=near)
    around = m * ((1 + close) * np.log1p(close) - close)
    away = xlogy(n, n) - xlogy(n, m) - n + m  # two logarithms, for n/m may overflow
    return np.asarray(np.where(near, around, away))
