"""Cuts of a column of numbers with the largest information about the classes (C7)."""

import heapq
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .inputs import Floats

NO_GAIN = 1e-12  # bits a row: what rounding may leave of a gain of zero


def information_cuts(
    x: ArrayLike,
    y: ArrayLike,
    *,
    max_cuts: int | None = None,
    stop: str | None = "mdl",
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Return cuts of a column of numbers, rising, half-way between values, by entropy.

    The cut that lowers the entropy of the classes most comes first, then the best cut of either
    part, and so on. With ``stop="mdl"`` a part is cut only if that shortens the description of
    its classes [1]_; None cuts as long as anything is gained.

    Parameters
    ----------
    x : numbers, shape (n,).
    y : classes, shape (n,).
    max_cuts : the most cuts; None for no limit.
    stop : "mdl" or None.
    sample_weight : weights of the rows, shape (n,), or None.

    Examples
    --------
    >>> from rosenblatt.information import information_cuts
    >>> information_cuts([1, 2, 3, 7, 8, 9] * 2, list("aaabbb") * 2)
    array([5.])

    References
    ----------
    .. [1] U. Fayyad, K. Irani (1993), Multi-interval discretization of continuous-valued
       attributes for classification learning. *IJCAI*.
    """
    if stop not in ("mdl", None):
        raise ValueError(f"stop must be 'mdl' or None; got {stop!r}.")
    if max_cuts is not None and max_cuts < 0:
        raise ValueError(f"max_cuts must be an integer >= 0 or None; got {max_cuts!r}.")
    values, below = _cumulative(np.asarray(x, np.float64), np.asarray(y), sample_weight)
    cuts: list[float] = []
    waiting = [found for found in [_best_cut(below, 0, len(values))] if found is not None]
    while waiting and (max_cuts is None or len(cuts) < max_cuts):
        _, first, middle, last, enough = heapq.heappop(waiting)
        if stop == "mdl" and not enough:
            continue
        low, high = values[middle - 1], values[middle]
        between = low / 2 + high / 2  # low + high may overflow, and a middle may round to an end
        cuts.append(between if low <= between < high else low)
        for part in ((first, middle), (middle, last)):
            found = _best_cut(below, *part)
            if found is not None:
                heapq.heappush(waiting, found)
    return np.sort(np.array(cuts, np.float64))


def _cumulative(
    x: NDArray[np.float64], y: NDArray[Any], sample_weight: Any
) -> tuple[Floats, Floats]:
    """Return the distinct values (v,), and the class weights below each and in all (v + 1, K)."""
    if x.ndim != 1 or y.shape != x.shape:
        raise ValueError(f"x and y must have one shape (n,); got {x.shape} and {y.shape}.")
    if not np.isfinite(x).all():
        raise ValueError("x must be finite; it contains NaN or infinity.")
    weight = np.ones(len(x)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    values, place = np.unique(x[weight > 0], return_inverse=True)
    classes, codes = np.unique(y[weight > 0], return_inverse=True)
    sums = np.bincount(
        place * len(classes) + codes, weight[weight > 0], len(values) * len(classes)
    ).reshape(len(values), len(classes))
    return values, np.vstack([np.zeros(len(classes)), np.cumsum(sums, axis=0)])


def _best_cut(below: Floats, first: int, last: int) -> tuple[float, int, int, int, bool] | None:
    """Return the best cut of the values first..last; None if no cut gains information.

    That is: minus its gain in bits times the weight of the part, the part with the cut in it, and
    whether the cut shortens the description.
    """
    if last - first < 2:
        return None
    whole = below[last] - below[first]
    left = below[first + 1 : last] - below[first]
    right = whole - left
    bits = _bits(left) + _bits(right)
    best = int(bits.argmin())
    total, N = float(_bits(whole)), float(whole.sum())
    gain = total - float(bits[best])
    if gain <= NO_GAIN * N:
        return None
    # log2(3^k - 2) - k H + k1 H1 + k2 H2, by Fayyad and Irani
    sides = whole, left[best], right[best]
    kinds = [int(np.count_nonzero(side > 0)) for side in sides]
    entropies = [float(_bits(side)) / float(side.sum()) for side in sides]
    delta = np.log2(3.0 ** kinds[0] - 2) - kinds[0] * entropies[0]
    delta += kinds[1] * entropies[1] + kinds[2] * entropies[2]
    enough = gain > np.log2(max(N - 1, 1.0)) + delta
    return -gain, first, first + 1 + best, last, bool(enough)


def _bits(counts: Floats) -> Any:
    """Return the entropy of class weights (..., K) in bits, times their sum."""
    counts = np.maximum(counts, 0.0)
    total = counts.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(counts > 0, counts * np.log2(counts), 0.0).sum(axis=-1)
        whole = np.where(total > 0, total * np.log2(np.where(total > 0, total, 1.0)), 0.0)
    return whole - parts
