"""Quality of a clustering: squares within clusters, distances between them, silhouettes.

Legend: n rows X (n, d), K clusters with centroids c (K, d) and sizes (K,).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from rosenblatt import checks
from rosenblatt.runtime import threads

from . import linkage_loops
from .assignment import checked_assignment

Table = NDArray[np.float64]

MOST_ROWS = 100_000  # up to which the silhouette uses all rows
SAMPLE = 10_000


@dataclass(frozen=True)
class ClusterQuality:
    """Scores of a clustering, in the units of the columns; `within` and its sum in their squares.

    Examples
    --------
    >>> from rosenblatt import cluster_quality
    >>> quality = cluster_quality([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> quality.sizes, quality.within
    (array([2, 1]), array([0.5, 0. ]))
    """

    labels: NDArray[Any]  # of the clusters, sorted, (K,)
    sizes: NDArray[np.intp]  # (K,)
    within: Table  # sum of squared distances from the centroid, (K,)
    centroid_distances: Table  # between centroids, (K, K)
    nearest_pairs: Table  # distance of the nearest two rows of two clusters, (K, K)
    silhouettes: Table  # of all rows or a sample: -1 to 1, (m,)
    n_rows: int

    @property
    def total_within(self) -> float:
        """The sum of squared distances of all rows from their centroids."""
        return float(self.within.sum())

    @property
    def closest_pair(self) -> float:
        """The distance of the two nearest rows of different clusters."""
        return float(self.nearest_pairs[np.triu_indices(len(self.labels), 1)].min())

    @property
    def spread_between(self) -> float:
        """The standard deviation of the distances between centroids."""
        return float(self.centroid_distances[np.triu_indices(len(self.labels), 1)].std())

    @property
    def silhouette(self) -> float:
        """The mean silhouette: near 1 for clusters far apart, near 0 for clusters that touch."""
        return float(self.silhouettes.mean())

    @property
    def ratio(self) -> float:
        """Mean squared distance between centroids over the mean square within: larger is better."""
        between = (self.centroid_distances[np.triu_indices(len(self.labels), 1)] ** 2).mean()
        within = self.total_within / self.n_rows
        return float(between / within) if within > 0 else np.inf

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and lists."""
        return {
            "n_clusters": len(self.labels), "sizes": self.sizes.tolist(),
            "within": self.within.tolist(), "total_within": self.total_within,
            "closest_pair": self.closest_pair, "spread_between": self.spread_between,
            "ratio": self.ratio, "silhouette": self.silhouette,
        }  # fmt: skip

    def __str__(self) -> str:
        return (
            f"{len(self.labels)} clusters of {self.n_rows} rows\n"
            f"within, sum of squares   {self.total_within:.6g}\n"
            f"closest pair across      {self.closest_pair:.6g}\n"
            f"between / within         {self.ratio:.6g}\n"
            f"silhouette               {self.silhouette:.4f}"
        )


def cluster_quality(X: Any, labels: Any, *, random_state: Any = 0) -> ClusterQuality:
    """Score a clustering: within clusters, between them, and the silhouette.

    Parameters
    ----------
    X : array-like of shape (n, d)
    labels : array-like of shape (n,)
        The cluster of each row; at least two different ones. Rows labeled -1 also form a cluster:
        leave out noise first.
    random_state : seed of the sample of 10,000 rows whose silhouettes are computed if there are
        more than 100,000 rows.

    Returns
    -------
    quality : ClusterQuality

    Examples
    --------
    >>> from rosenblatt import cluster_quality
    >>> quality = cluster_quality([[0.0], [1.0], [3.0], [7.0]], [0, 0, 0, 1])
    >>> round(quality.total_within, 4), quality.closest_pair, round(quality.silhouette, 4)
    (4.6667, 4.0, 0.4598)
    """
    with checks.naming_columns(X):
        X = check_array(X, dtype=np.float64, order="C", input_name="X")
    checked_assignment(X)
    labels = column_or_1d(labels)
    check_consistent_length(X, labels)
    names, codes = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"labels must have at least two clusters; got one: {names[0]}.")
    order = np.argsort(codes, kind="stable")  # by cluster
    X, codes, sizes = X[order], codes[order], np.bincount(codes)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    centroids = np.add.reduceat(X, starts, axis=0) / sizes[:, np.newaxis]
    within = np.add.reduceat(((X - centroids[codes]) ** 2).sum(axis=1), starts)
    apart = np.sqrt(((centroids[:, np.newaxis] - centroids) ** 2).sum(axis=2))
    rows = np.arange(len(X))
    if len(X) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(random_state).choice(len(X), SAMPLE, replace=False))
    silhouettes, nearest = _silhouettes(X, codes, sizes, starts, rows)
    silhouettes = silhouettes[np.argsort(order[rows])]  # in the order of the rows given
    return ClusterQuality(names, sizes, within, apart, nearest, silhouettes, len(X))


def _silhouettes(X: Table, codes: Any, sizes: Any, starts: Any, rows: Any) -> tuple[Table, Table]:
    """Return the silhouettes of rows (m,), and the nearest pairs (K, K) of clusters."""
    from .distances import Euclidean

    K = len(sizes)
    distances, bounds = Euclidean(X), np.append(starts, len(X))

    def work(start: int, stop: int) -> tuple[Table, Table]:
        silhouettes, nearest = np.empty(stop - start), np.full((K, K), np.inf)
        step = max(1, 200_000 // len(X))
        for first in range(start, stop, step):
            last = min(first + step, stop)
            apart = distances.of(X[rows[first:last]])
            linkage_loops.compare_rows(
                apart, apart.view(np.int64), codes[rows[first:last]], bounds,
                silhouettes[first - start : last - start], nearest.view(np.int64),
            )  # fmt: skip
        return silhouettes, nearest

    found = threads.over_chunks(work, len(rows), len(rows) * len(X))
    nearest = np.minimum.reduce([one for _, one in found])
    np.fill_diagonal(nearest, 0.0)
    return np.concatenate([one for one, _ in found]), np.minimum(nearest, nearest.T)
