"""The probability of counts, to full precision at any size.

``ln N! - sum ln n_k! + sum n_k ln p_k`` is a small difference of huge numbers. Loader's form has
none: with ``n! = sqrt(2 pi n) (n/e)^n exp(d(n))`` and the deviance
``D(n, m) = n ln(n/m) - n + m >= 0`` from the expected count m = N p, it is

    d(N) - sum d(n_k) + (ln 2 pi N - sum ln 2 pi n_k) / 2 - sum D(n_k, N p_k)

C. Loader (2000), Fast and accurate computation of binomial probabilities.
"""

import numpy as np
from scipy.special import gammaln, xlogy

from rosenblatt.information.inputs import Floats

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
