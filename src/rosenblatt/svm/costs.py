"""Prices of rows: C times their weights, within the range of numbers."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import checks

Array = NDArray[np.float64]

MOST_COST = 1e100  # of a row, whose squares and sums stay in range
LEAST_SHARE = 1e-30  # of the largest cost


def product(weight: Array, price: Any) -> Array:
    """Weights (n,) times prices: 0 where one is 0, even if the other is infinite."""
    both = (weight > 0) & (np.asarray(price) > 0)
    return np.asarray(np.multiply(weight, price, out=np.zeros(len(weight)), where=both))


def costs(weight: Array, C: float) -> Array:
    """Return C times each weight (n,); raise if one leaves the range of numbers."""
    with np.errstate(over="ignore"):
        cost = product(weight, C)
    if np.isfinite(C) and len(cost) and not cost.max() <= MOST_COST:
        i = int(cost.argmax())
        raise ValueError(
            f"C={C:g} times the weight {weight[i]:g} of row {i} is above {MOST_COST:g}. Choose a "
            "smaller C or smaller weights."
        )
    return cost


def refuse_tiny_shares(cost: Array) -> None:
    """Raise if the cost of a row is so small a share of the largest that no digit of it counts."""
    finite = np.flatnonzero((cost > 0) & (cost < np.inf))
    if not len(finite):
        return
    i, most = finite[cost[finite].argmin()], float(cost[finite].max())
    if cost[i] < LEAST_SHARE * most:
        raise ValueError(
            f"The weight of row {i} times C is {cost[i]:.3g}, less than {LEAST_SHARE:g} of the "
            f"largest, {most:.3g}. Give the row a larger weight, or 0 to leave it out."
        )


def refuse_vast_rows(X: Any) -> None:
    """Raise if squares of X leave the range of numbers."""
    values = np.ravel(X.data if sp.issparse(X) else X)
    with np.errstate(over="ignore"):
        # Not by BLAS, which would wake its threads for it.
        square = 0.0 if values.dtype == np.float32 else np.einsum("i,i", values, values)
    if not np.isfinite(square):
        largest = values[np.abs(values).argmax()]
        advice = "rescale the columns, for example with StandardScaler"
        raise checks.too_large(f"X holds {largest:.3g}, and the squares of X are", advice)
