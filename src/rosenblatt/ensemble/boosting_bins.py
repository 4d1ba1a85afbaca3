"""Columns of gradient boosting as at most 255 levels: quantiles, and categories by their place."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.runtime import threads

from . import boosting_rows_loops

MOST_LEVELS = 255
ROWS_FOR_QUANTILES = 200_000
ALMOST_INFINITY = 1e300


def find_cuts(
    X: NDArray[np.float64],
    n_categories: NDArray[np.int64],
    max_bins: int,
    weight: NDArray[np.float64],
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Where the levels of each column end, shape (d, 255), infinite past the last; their numbers.

    Half-way between values that follow one another if there are few; else quantiles.
    """
    n, d = X.shape
    if n > ROWS_FOR_QUANTILES:
        share = weight / weight.sum() if len(weight) else None
        rng = np.random.RandomState(seed)
        X, weight = X[rng.choice(n, ROWS_FOR_QUANTILES, p=share)], weight[:0]
    cuts, n_levels = np.full((d, MOST_LEVELS), np.inf), np.ones(d, np.int64)

    def find(first: int, last: int) -> None:
        for j in range(first, last):
            if n_categories[j]:
                found = np.arange(n_categories[j] - 1) + 0.5
            else:
                found = cuts_of_column(X[:, j], max_bins, weight)
            cuts[j, : len(found)], n_levels[j] = found, len(found) + 1

    threads.over_chunks(find, d, 20 * X.size)
    return cuts, n_levels


def cuts_of_column(
    values: NDArray[np.float64], max_bins: int, weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The cuts of one column of numbers."""
    if not len(weight):
        values = np.sort(values)  # NaN last
        values = values[: np.searchsorted(values, np.nan)]
    else:
        kept = ~np.isnan(values) & (weight > 0)
        values, weight = values[kept], weight[kept]
        order = np.argsort(values, kind="stable")
        values, weight = values[order], weight[order]
    if not len(values):
        return values
    new = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    if len(new) <= max_bins:
        distinct = values[new]
        with np.errstate(invalid="ignore"):  # between the two infinities
            found = np.nan_to_num(distinct[:-1] / 2 + distinct[1:] / 2, nan=0.0, neginf=-np.inf)
    else:
        shares = np.linspace(0, 1, max_bins + 1)[1:-1]
        found = np.unique(quantiles(values, weight, shares))
    found = np.minimum(found, ALMOST_INFINITY)  # so that the level of infinity is one of its own
    return np.asarray(found[found < values[-1]])


def quantiles(
    ordered: NDArray[np.float64], weight: NDArray[np.float64], shares: Any
) -> NDArray[np.float64]:
    """Quantiles of sorted values, each the mean of its two neighbours where the share is exact."""
    if not len(weight):
        places = np.asarray(shares) * len(ordered)
        above = np.floor(places + 1e-9).astype(np.int64)
        exact = np.abs(places - np.rint(places)) < 1e-9
    else:
        sums = np.cumsum(weight)
        wanted = np.asarray(shares) * sums[-1]
        above = np.searchsorted(sums, wanted * (1 - 1e-12))
        exact = np.abs(sums[np.minimum(above, len(sums) - 1)] - wanted) <= 1e-12 * sums[-1]
        above = above + exact
    below = np.minimum(np.where(exact, np.maximum(above - 1, 0), above), len(ordered) - 1)
    above = np.minimum(above, len(ordered) - 1)
    # Half of each, since their sum may exceed what a float holds.
    middle: NDArray[np.float64] = ordered[below] / 2 + ordered[above] / 2
    return np.where(below == above, ordered[above], middle)


def code(X: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[np.uint64]:
    """The levels of X (n, d), eight columns a word: shape (blocks, n)."""
    n, d = X.shape
    codes = np.zeros((-(-d // 8), n), np.uint64)
    threads.over_chunks(
        lambda first, last: boosting_rows_loops.code_rows(X, cuts, first, last, first, codes),
        n,
        4 * X.size,
    )
    return codes
