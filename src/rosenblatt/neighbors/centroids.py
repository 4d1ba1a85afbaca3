"""The centre of a class: medians of dense and sparse rows, and centres shrunk towards all rows.

Legend: K classes, d features, centroids (K, d), centre (d,) the mean of all rows, spread (d,)
within the classes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

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
    """The weighted median (d,) of each column: half of the weight lies on either side."""
    # If one value ends where half of the weight is reached, it is the mean of that and the next.
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
    """``m_k (s_j + median(s))``, (K, d), with ``m_k^2 = 1 / n_k - 1 / n`` of weights (K,)."""
    # Times s_j, m_k is how far chance takes the mean of n_k rows from that of all. The median keeps
    # features that hardly vary from weighing most.
    seen = weight > 0
    m_squared = 1 / np.where(seen, weight, 1.0) - 1 / weight.sum()
    m = np.sqrt(np.where(seen, m_squared, 0.0).clip(0))
    return np.asarray(m[:, np.newaxis] * (spread + np.median(spread)))


def shrunk(
    centroids: Table, centre: Table, unit: Table, threshold: float | None
) -> tuple[Table, Table]:
    """Centroids and their deviations from the centre, in units, both (K, d), after shrinking."""
    # Where the unit is zero, a difference is infinitely many units, and nothing shrinks it.
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


# Distances of rows from a few centroids, without making sparse rows dense.
#
# Legend: b rows, d features, centroids (K, d), scale (d,) that differences are divided by.


def about(centroids: Table, scale: Table, start: Table) -> tuple[Table, Table]:
    """Planes (K, d) and intercepts (K,) of ``start_k - |(x - c_k) / scale|^2``, up to one."""
    # About the mean o of the centroids, with z = (x - o) / scale, the square is ``|z|^2 - 2 z.z_k +
    # |z_k|^2``, and |z|^2 is the same for all. Two classes have one plane, their difference.
    origin = centroids.mean(axis=0)
    away = (centroids - origin) / scale
    coef = 2 * away / scale
    intercept = start - (away**2).sum(axis=1) - coef @ origin
    if len(centroids) == 2:
        return coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    return coef, intercept


def squares_about(centroids: Table, scale: Table) -> Callable[[Any], Table]:
    """The function that gives the common part, |z|^2, of some rows: (b,)."""
    origin, weight = centroids.mean(axis=0), 1 / scale**2

    def squares(rows: Any) -> Table:
        if not sp.issparse(rows):
            return np.asarray((rows - origin) ** 2 @ weight)
        linear = rows @ (-2 * weight * origin)
        return np.asarray(rows.multiply(rows) @ weight + linear + weight @ origin**2)

    return squares


def manhattan_squares(rows: Any, centroids: Table, scale: Table) -> Table:
    """``(sum_j |x_j - c_kj| / scale_j)^2``, (K, b)."""
    if not sp.issparse(rows):
        return np.asarray(cdist(centroids / scale, rows / scale, "cityblock") ** 2)
    if not rows.has_canonical_format:  # a place stored twice has the sum of both
        rows = rows.copy()
        rows.sum_duplicates()
    columns, values = rows.indices, rows.data.astype(np.float64)
    sums = np.empty((len(centroids), rows.shape[0]))
    for k, c in enumerate(centroids):
        # Where a row is zero, its distance is |c|: what is stored differs from that.
        excess = (np.abs(values - c[columns]) - np.abs(c[columns])) / scale[columns]
        stored = sp.csr_matrix((excess, columns, rows.indptr), shape=rows.shape)
        sums[k] = np.asarray(stored.sum(axis=1)).ravel() + (np.abs(c) / scale).sum()
    return sums.clip(0) ** 2
