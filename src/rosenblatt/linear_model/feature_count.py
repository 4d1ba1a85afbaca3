"""The penalty that keeps about so many features: down the path, then between two penalties."""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.base import callers_level

from .following import follow
from .squares import Descent

Array = NDArray[np.float64]

STEP = 0.8  # from one penalty to the next, on the way down
LONGEST_STEP = 0.1  # where nothing comes in
SMALLEST = 1e-6  # of the penalty that keeps out a column: below it there is as good as none
MOST_HALVINGS = 40


class Enough(Exception):
    """Raised by who hears of a try, to have no more."""


def alpha_for(
    n_features: int,
    descent: Descent,
    variances: Array,
    positive: bool,
    tol: float,
    tried: Callable[[float, Array], None] | None = None,
) -> tuple[float, Array]:
    """The penalty whose lasso keeps the number of features nearest to `n_features`; its weights.

    Weights come and go along the path, mostly come: the penalty is lowered until there are enough,
    then halved between the last two, on a logarithmic scale, until the number is met or can be met
    no better. Columns in small units, of small `variances` (d,), come in at small penalties. Each
    penalty and its weights are given to `tried`, which may raise `Enough`: then the best so far
    is taken.
    """
    found: dict[float, tuple[int, Array]] = {}

    def count(alpha: float, start: Array) -> int:
        weights = start.copy()
        alphas = np.array([alpha])
        follow(descent, alphas, 1.0, positive=positive, tol=tol, start=weights, finish=True)
        found[alpha] = int(np.count_nonzero(weights)), weights
        if tried is not None:
            tried(alpha, weights)
        return found[alpha][0]

    def best() -> float:
        return min(found, key=lambda alpha: (abs(found[alpha][0] - n_features), -alpha))

    try:
        _look_for(n_features, descent, variances, positive, found, count)
    except Enough:
        return best(), found[best()][1]
    if found[best()][0] != n_features:
        warnings.warn(
            f"n_features={n_features} cannot be had; {found[best()][0]} is the nearest, at alpha="
            f"{best():.3g}. A penalty may let in several columns at once, or never one that adds "
            "nothing to the others; and a lasso keeps at most as many features as there are rows.",
            ConvergenceWarning,
            stacklevel=callers_level(),
        )
    return best(), found[best()][1]


def _look_for(
    n_features: int,
    descent: Descent,
    variances: Array,
    positive: bool,
    found: dict[float, tuple[int, Array]],
    count: Callable[[float, Array], int],
) -> None:
    """Try penalties, largest first, until the number is met or can be met no better."""
    left = descent.correlations()
    high = largest = max(float(left.max() if positive else np.abs(left).max()), 1e-300)
    varying = variances[variances > 0]
    smallest = SMALLEST * np.sqrt(varying.min() * descent.yy) if len(varying) else largest
    low, step = high * STEP, STEP
    before = count(high, np.zeros(descent.n_weights))
    while (now := count(low, found[high][1])) < n_features and low > min(smallest, largest):
        step = STEP if now > before else max(step**2, LONGEST_STEP)
        before, high, low = now, low, low * step
    for _ in range(MOST_HALVINGS):
        if found[low][0] <= n_features or high / low < 1 + 1e-9:
            break
        middle = float(np.sqrt(high * low))
        if count(middle, found[high][1]) >= n_features:
            low = middle
        else:
            high = middle
