"""Kernel density of one feature in each class: a small Gaussian at each value that was seen.

f_k(x) = sum_i w_ki N(x; v_i, h_k^2) / sum_i w_ki. Legend: v (m,) the points, all values that occur,
w (K, m) their weights in each class, h (K,) the bandwidths.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Table = NDArray[np.float64]

# What the spread s of n values is multiplied with for a bandwidth, as in scipy.stats.gaussian_kde.
RULES = {"scott": lambda n: n**-0.2, "silverman": lambda n: (n * 0.75) ** -0.2}

CELLS_AT_ONCE = 1_000_000  # distances held at a time


def bandwidths(points: Table, weight: Table, rule: Any) -> Table:
    """The bandwidth (K,) of each class: given, or by a rule from the spread of its values.

    A class whose values do not vary takes the bandwidth of all classes together; and where these
    do not vary either, it is 1.
    """
    if not isinstance(rule, str):
        return np.full(len(weight), float(rule))
    everyone = _by_rule(points, weight.sum(axis=0, keepdims=True), rule)[0] or 1.0
    own = _by_rule(points, weight, rule)
    return np.where(own > 0, own, everyone)


def _by_rule(points: Table, weight: Table, rule: str) -> Table:
    """The rule's bandwidth (K,); zero where it has nothing to go by."""
    n = weight.sum(axis=1)
    mean = weight @ points / np.where(n > 0, n, 1.0)
    scatter = (weight * (points - mean[:, None]) ** 2).sum(axis=1)
    more = n > 1  # a weight counts as so many rows: with one there is no spread
    spread = np.sqrt(scatter / np.where(more, n - 1, 1.0))
    return np.where(more, spread * RULES[rule](np.where(more, n, 1.0)), 0.0)


def log_density(x: Table, points: Table, weight: Table, h: Table) -> Table:
    """log f_k(x) (n, K) for values x (n,); 0 where x is NaN, and where there are no points."""
    scores = np.zeros((len(x), len(weight)))
    if not len(points):
        return scores
    step = max(1, CELLS_AT_ONCE // len(points))
    for start in range(0, len(x), step):
        far = x[start : start + step, None] - points
        for k, width in enumerate(h):
            at = -0.5 * (far / width) ** 2
            scores[start : start + step, k] = logsumexp(at, b=weight[k], axis=1)
    scores -= np.log(weight.sum(axis=1) * h * np.sqrt(2 * np.pi))
    return np.where(np.isnan(x)[:, None], 0.0, scores)
