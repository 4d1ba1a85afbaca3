"""The penalty that keeps about so many features: down the path, then between two penalties."""

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .paths import follow
from .squares import Descent

Array = NDArray[np.float64]

STEP = 0.8  # from one penalty to the next, on the way down
SMALLEST = 1e-6  # of the largest penalty: below it fits are least squares in all but name
MOST_HALVINGS = 40


def alpha_for(n_features: int, descent: Descent, positive: bool, tol: float) -> tuple[float, Array]:
    """The penalty whose lasso keeps the number of features nearest to `n_features`; its weights.

    Weights come and go along the path, mostly come: the penalty is lowered until there are enough,
    then halved between the last two, on a logarithmic scale, until the number is met or can be met
    no better.
    """
    found: dict[float, tuple[int, Array]] = {}

    def count(alpha: float, start: Array) -> int:
        weights = start.copy()
        follow(descent, np.array([alpha]), 1.0, positive=positive, tol=tol, start=weights)
        found[alpha] = int(np.count_nonzero(weights)), weights
        return found[alpha][0]

    left = descent.correlations()
    high = largest = max(float(left.max() if positive else np.abs(left).max()), 1e-300)
    low = high * STEP
    count(high, np.zeros(descent.n_weights))
    while count(low, found[high][1]) < n_features and low > SMALLEST * largest:
        high, low = low, low * STEP
    for _ in range(MOST_HALVINGS):
        if found[low][0] <= n_features or high / low < 1 + 1e-9:
            break
        middle = float(np.sqrt(high * low))
        if count(middle, found[high][1]) >= n_features:
            low = middle
        else:
            high = middle
    best = min(found, key=lambda alpha: (abs(found[alpha][0] - n_features), -alpha))
    if abs(found[best][0] - n_features) > max(1, n_features // 10):
        warnings.warn(
            f"n_features={n_features} cannot be had; {found[best][0]} is the nearest. In general a "
            "lasso keeps at most as many features as there are rows.",
            ConvergenceWarning,
            stacklevel=7,
        )
    return best, found[best][1]
