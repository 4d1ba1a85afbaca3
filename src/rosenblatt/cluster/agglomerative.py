"""Agglomerative clustering: join the two closest clusters until one is left."""

from heapq import heappush, heappushpop
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn import cluster
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import all_or_nothing
from rosenblatt.registry.row import Candidate, Contract, Row, Warm

from . import linkage_loops
from .centroid_linkage import ward_joins
from .distances import NOT_FINITE, Distances, Precomputed
from .linkage import (
    linkage_matrix,
    many_point_joins,
    matrix_joins,
    spanning_tree,
    spanning_tree_of,
)

EUCLIDEAN = ("euclidean", "l2")
MANY_POINTS = 4_000  # from which complete and average linkage start with centroids


class AgglomerativeClustering(cluster.AgglomerativeClustering):  # type: ignore[misc]
    """Agglomerative clustering: joins the two closest clusters, starting from single rows.

    The linkage defines the distance of two clusters: the distance of their nearest rows ("single"),
    of their farthest rows ("complete"), the mean distance of all pairs ("average"), or, for "ward",
    the square root of twice the increase of the sum of squares about centroids. Heights increase
    towards the root. The tree contains a clustering for every number of clusters and every height.

    Single linkage (Prim's spanning tree [1]_) and Ward's (from centroids) do not use a distance
    matrix. Complete and average linkage do; with Euclidean distances and at least 4,000 rows of at
    most 32 columns, only for the last fifth of the clusters. Ward, complete and average linkage
    join reciprocal nearest neighbors in any order [2]_, which gives the same tree.

    Parameters
    ----------
    n_clusters : int or None
        Where to cut the tree; None if `distance_threshold` does.
    metric : str, callable or "precomputed"
        The distance; a callable maps rows (n, d) to the matrix (n, n). Ward requires Euclidean.
    memory, connectivity, compute_full_tree
        As in scikit-learn, which builds the tree if `memory` or `connectivity` is given.
    linkage : {"ward", "complete", "average", "single"}
    distance_threshold : float or None
        The height at or above which clusters are not joined; None if `n_clusters` is given.
    compute_distances : whether to set `distances_` even without a threshold.

    Attributes
    ----------
    labels_ : the cluster of each row, shape (n,).
    n_clusters_, n_leaves_, n_connected_components_ : clusters, rows, parts of the connectivity
        graph.
    children_ : the two clusters that each step joins, shape (n - 1, 2); step i makes cluster n + i.
    distances_ : the heights, shape (n - 1,), with a threshold or `compute_distances`.
    linkage_matrix_ : SciPy's matrix (n - 1, 4): two clusters, height, size. Not available with
        `connectivity` or `memory`.
    n_features_in_, feature_names_in_ : of the data.

    Examples
    --------
    >>> from rosenblatt import AgglomerativeClustering
    >>> X = [[0.0], [1.0], [3.0], [7.0]]
    >>> model = AgglomerativeClustering(n_clusters=2, linkage="average").fit(X)
    >>> model.labels_
    array([0, 0, 0, 1])
    >>> model.linkage_matrix_[:, 2].round(4)
    array([1.    , 2.5   , 5.6667])
    >>> model.cut(height=2.0)
    array([0, 0, 2, 1])

    References
    ----------
    .. [1] R. C. Prim (1957), Shortest connection networks and some generalizations.
    .. [2] F. Murtagh (1983), A survey of recent advances in hierarchical clustering algorithms.
    """

    @property
    def set_callbacks(self) -> Any:
        """Not supported: the fitted tree contains every join."""
        raise AttributeError(
            "AgglomerativeClustering does not report steps to callbacks and traces: its tree holds "
            "every join, in children_ and linkage_matrix_. Draw it with plot.dendrogram."
        )

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the tree of X (n, d), or of distances (n, n) if precomputed; return self."""
        self._validate_params()
        rows = checks.validate_data(self, X, ensure_min_samples=2)
        self.__dict__.pop("linkage_matrix_", None)
        self._check_settings(len(rows))
        if self.connectivity is not None or self.memory is not None:
            self._fit(rows)
            return self
        joins = _joins(rows, self.metric, self.linkage)
        if not np.isfinite(joins[1]).all():
            raise ValueError(NOT_FINITE)
        self.linkage_matrix_ = Z = linkage_matrix(*joins)
        self.children_ = Z[:, :2].astype(np.intp)
        self.n_leaves_, self.n_connected_components_ = len(Z) + 1, 1
        self.__dict__.pop("distances_", None)
        if self.distance_threshold is not None or self.compute_distances:
            self.distances_ = Z[:, 2].copy()
        if self.distance_threshold is None:
            self.n_clusters_ = self.n_clusters
        else:
            self.n_clusters_ = 1 + int(np.count_nonzero(Z[:, 2] >= self.distance_threshold))
        self.labels_ = self.cut(self.n_clusters_)
        return self

    def _check_settings(self, n: int) -> None:
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                "Exactly one of n_clusters and distance_threshold has to be set, and the other "
                "needs to be None."
            )
        if self.distance_threshold is not None and not self.compute_full_tree:
            raise ValueError("compute_full_tree must be True if distance_threshold is set.")
        if self.linkage == "ward" and self.metric not in EUCLIDEAN:
            raise ValueError(
                f"{self.metric} was provided as metric. Ward can only work with euclidean "
                "distances (i.e. 'euclidean' and 'l2')."
            )
        if self.n_clusters is not None and self.n_clusters > n:
            raise ValueError(
                f"Cannot extract more clusters than samples: {self.n_clusters} clusters were given "
                f"for a tree with {n} leaves."
            )

    def cut(self, n_clusters: int | None = None, *, height: float | None = None) -> Any:
        """Return the labels (n,) of another cut, by the number of clusters or by a height."""
        check_is_fitted(self, "linkage_matrix_")
        Z = self.linkage_matrix_
        if (n_clusters is None) == (height is None):
            raise ValueError("Give exactly one of n_clusters and height.")
        if height is not None:
            n_clusters = 1 + int(np.count_nonzero(Z[:, 2] >= height))
        k = int(n_clusters or 0)
        if not 1 <= k <= self.n_leaves_:
            raise ValueError(f"n_clusters must be between 1 and {self.n_leaves_}; got {k}.")
        return labels_of_tree(self.children_, k)


def labels_of_tree(children: NDArray[np.intp], k: int) -> NDArray[np.intp]:
    """Return the labels (n,) of a tree (n - 1, 2) that is cut into k clusters."""
    # Undo the last k - 1 joins; the order of clusters is scikit-learn's.
    n = len(children) + 1
    heads = [-(2 * n - 2)]  # a heap whose first entry is the last cluster
    for _ in range(k - 1):
        first, second = children[-heads[0] - n]
        heappush(heads, -first)
        heappushpop(heads, -second)
    labels = np.empty(2 * n - 1, np.intp)
    linkage_loops.label_leaves(children, -np.array(heads, np.intp), labels)
    return labels[:n].copy()


def _joins(X: Any, metric: Any, linkage: str) -> Any:
    """Return the pairs of clusters that are joined, and their heights."""
    if linkage == "ward":
        with np.errstate(over="ignore"):
            square = float(((X.max(axis=0) / 2 - X.min(axis=0) / 2) ** 2).sum()) * 4 * len(X)
        if not np.isfinite(square):
            raise ValueError(NOT_FINITE)
        return ward_joins(np.ascontiguousarray(X, np.float64))
    if metric in EUCLIDEAN and (linkage == "single" or len(X) >= MANY_POINTS):
        points = np.ascontiguousarray(X, np.float64)
        return spanning_tree(points) if linkage == "single" else many_point_joins(points, linkage)
    distances = _distances(X, metric)
    return spanning_tree_of(distances) if linkage == "single" else matrix_joins(distances, linkage)


def _distances(X: Any, metric: Any) -> Distances:
    if metric == "precomputed":
        return Precomputed(checked_distances(X))
    if callable(metric):
        return Precomputed(checked_distances(np.asarray(metric(X))))
    if metric == "cosine" and not X.any(axis=1).all():
        raise ValueError("Cosine affinity cannot be used when X contains zero vectors")
    if metric in ("seuclidean", "mahalanobis"):  # they depend on all rows
        return Precomputed(squareform(pdist(X, metric)))
    return Distances(X, "euclidean" if metric == "l2" else metric)


def checked_distances(D: NDArray[Any]) -> NDArray[Any]:
    """Return a matrix (n, n); raise unless it can be a distance matrix."""
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise ValueError(f"Distance matrix should be square, got matrix of shape {D.shape}")
    largest = np.abs(D).max()
    if not largest < np.inf:  # or NaN
        raise ValueError(NOT_FINITE)
    if (D < 0).any():
        i, j = np.argwhere(D < 0)[0]
        raise ValueError(f"Distances must not be negative; rows {i} and {j} have {D[i, j]:.6g}.")
    if np.abs(D.diagonal()).max() > 1e-6 * largest:
        i = int(np.argmax(D.diagonal()))
        raise ValueError(
            f"The distance of a row from itself must be 0; row {i} has {D[i, i]:.6g}. Convert "
            "similarities to distances, such as 1 - similarity."
        )
    checks.symmetric(D, "Distances", 1e-6 * largest)
    return D


ROW = Row(
    "AgglomerativeClustering",
    page="linkage.md",
    certificate="agglomerative",
    compare=(
        Candidate("Ward's linkage", "groups within groups", settings={"linkage": "ward"}, order=3),
        Candidate(
            "average linkage",
            "groups within groups, with single rows far from the rest",
            settings={"linkage": "average"},
            order=4,
        ),
    ),
    contract=Contract(
        settings=(
            {},
            {"linkage": "single", "n_clusters": 3},
            {"linkage": "average", "metric": "manhattan"},
            {"linkage": "complete", "n_clusters": None, "distance_threshold": 1.0},
        ),
        checked=(
            {},
            {"linkage": "single", "n_clusters": 3},
            {"linkage": "average", "metric": "manhattan"},
        ),
        most_rows=2000,
    ),
    warm=Warm(
        (
            {"linkage": "single"},
            {"linkage": "complete"},
            {"linkage": "average"},
            {"linkage": "ward"},
        ),
        sparse=False,
    ),
    peer_tests=("cluster/tests/test_hierarchical.py",),
)
