"""How many principal components are likely: Minka's approximation of the evidence.

Legend: d columns, n rows, k components, variance (d,) along the axes, largest first; v the mean
variance along the axes left out.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Numbers = NDArray[np.float64]

LEAST = 1e-15  # a variance below this is no axis


def likely_dimension(variance: Numbers, n: int) -> int:
    """The number of components, from 1 to d - 1, under which n rows are most probable.

    References
    ----------
    .. [1] T. P. Minka (2000), Automatic choice of dimensionality for PCA, equation 76.
    """
    evidence = [log_evidence(variance, k, n) for k in range(1, len(variance))]
    return 1 + int(np.argmax(evidence)) if evidence else 0


def log_evidence(variance: Numbers, k: int, n: int) -> float:
    """The logarithm of the probability of n rows under k components, up to a constant."""
    d = len(variance)
    if variance[k - 1] < LEAST:
        return -np.inf
    i = np.arange(1, k + 1)
    prior = -k * np.log(2) + (gammaln((d - i + 1) / 2) - np.log(np.pi) * (d - i + 1) / 2).sum()
    v = max(LEAST, variance[k:].sum() / (d - k))
    likelihood = -n / 2 * (np.log(variance[:k]).sum() + (d - k) * np.log(v))
    free = d * k - k * (k + 1) / 2
    volume = (free + k) / 2 * np.log(2 * np.pi)
    return float(
        prior + likelihood + volume - _curvature(variance, v, k, n) / 2 - k / 2 * np.log(n)
    )


def _curvature(variance: Numbers, v: float, k: int, n: int) -> float:
    """log |A|: the sum over pairs i < j, i <= k, of log((l_i - l_j)(1 / w_j - 1 / w_i) n)."""
    w = np.append(variance[:k], np.full(len(variance) - k, v))
    i, j = np.triu_indices(k, 1, len(variance))
    apart = (variance[i] - variance[j]) * (1 / w[j] - 1 / w[i])
    return float((np.log(np.maximum(apart, LEAST)) + np.log(n)).sum())
