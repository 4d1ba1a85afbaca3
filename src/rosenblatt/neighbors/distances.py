"""Distances of rows from a few centroids, without making sparse rows dense.

Legend: b rows, d features, centroids (K, d), scale (d,) that differences are divided by.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Table = NDArray[np.float64]


def about(centroids: Table, scale: Table, start: Table) -> tuple[Table, Table]:
    """Planes (K, d) and intercepts (K,) of ``start_k - |(x - c_k) / scale|^2``, less a common part.

    About the mean o of the centroids, with z = (x - o) / scale, the square is
    ``|z|^2 - 2 z.z_k + |z_k|^2``, and |z|^2 is the same for all. Two classes have one plane, the
    second less the first.
    """
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
