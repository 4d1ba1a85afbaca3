"""The centre of a class: medians of dense and sparse rows, and centres shrunk towards all rows.

Legend: K classes, d features, centroids (K, d), centre (d,) the mean of all rows, spread (d,)
within the classes.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.statistics import Labels

Table = NDArray[np.float64]

ROUNDING = 2.0**-36  # a share of the weight that rounding may take or add


def class_medians(X: Any, y: Labels, weight: NDArray[Any] | None) -> Table:
    """The median (k, d) of each feature in each class; classes without weight have no row."""
    kept = np.ones(len(y.codes), bool) if weight is None else weight > 0
    medians = []
    for k in np.unique(y.codes[kept]):
        members = np.flatnonzero(kept & (y.codes == k))
        if weight is None and not sp.issparse(X):
            medians.append(np.median(X[members].astype(np.float64), axis=0))
        else:
            w = np.ones(len(members)) if weight is None else weight[members]
            medians.append(_medians(X[members], w))
    return np.array(medians)


def _medians(rows: Any, weight: Table) -> Table:
    """The weighted median (d,) of each column: half of the weight lies on either side.

    If one value ends where half of the weight is reached, it is the mean of that and the next.
    """
    values, columns, weights = _cells(rows, weight)
    order = np.lexsort((values, columns))
    values, weights = values[order], weights[order]
    ends = np.cumsum(np.bincount(columns, minlength=rows.shape[1]))
    starts = ends - np.bincount(columns, minlength=rows.shape[1])
    reached = np.cumsum(weights)
    half = np.repeat(reached[ends - 1] - weight.sum() / 2, ends - starts)
    near = ROUNDING * weight.sum()
    below = starts + np.add.reduceat(reached < half - near, starts, dtype=np.intp)
    up_to = starts + np.add.reduceat(reached <= half + near, starts, dtype=np.intp)
    return np.asarray((values[below] + values[np.minimum(up_to, ends - 1)]) / 2)


def _cells(rows: Any, weight: Table) -> tuple[Table, NDArray[np.intp], Table]:
    """Values, columns and weights of all cells; the zeros of a sparse column are one cell."""
    n, d = rows.shape
    if not sp.issparse(rows):
        columns = np.repeat(np.arange(d), n)
        return rows.T.ravel().astype(np.float64), columns, np.tile(weight, d)
    stored = rows.tocsr(copy=True)
    stored.sum_duplicates()
    weights = np.repeat(weight, np.diff(stored.indptr))
    columns = np.concatenate([stored.indices, np.arange(d)]).astype(np.intp)
    left = weight.sum() - np.bincount(stored.indices, weights, minlength=d)
    full = np.bincount(stored.indices, minlength=d) == n  # no zero is left, whatever rounding says
    left = np.where(full, 0.0, left.clip(0))
    values = np.concatenate([stored.data.astype(np.float64), np.zeros(d)])
    return values, columns, np.concatenate([weights, left])


# Shrinking: each centroid moves towards the mean of all rows, and stops there.


def unit_of_deviations(spread: Table, weight: Table) -> Table:
    """``m_k (s_j + median(s))``, (K, d), with ``m_k^2 = 1 / n_k - 1 / n`` of weights (K,).

    Times s_j, m_k is how far chance takes the mean of n_k rows from that of all. The median keeps
    features that hardly vary from weighing most.
    """
    seen = weight > 0
    m_squared = 1 / np.where(seen, weight, 1.0) - 1 / weight.sum()
    m = np.sqrt(np.where(seen, m_squared, 0.0).clip(0))
    return np.asarray(m[:, np.newaxis] * (spread + np.median(spread)))


def shrunk(
    centroids: Table, centre: Table, unit: Table, threshold: float | None
) -> tuple[Table, Table]:
    """Centroids and their deviations from the centre, in units, both (K, d), after shrinking.

    Where the unit is zero, a difference is infinitely many units, and nothing shrinks it.
    """
    away = centroids - centre
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.where(away == 0, 0.0, away / unit)
    if threshold is None:
        return centroids, deviations
    size = (np.abs(deviations) - threshold).clip(0)
    deviations = np.sign(deviations) * size + 0.0  # no minus zero
    fixed = np.isinf(deviations)
    moved = centre + np.where(fixed, 0.0, deviations) * unit
    return np.where(fixed, centroids, moved), deviations
