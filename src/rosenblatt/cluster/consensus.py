"""Consensus clustering: clusters on which many clusterings of the same rows agree.

Legend: n rows, R runs; the vote of two rows: the share of runs that put them into one cluster.
"""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_array, check_is_fitted

from rosenblatt import checks
from rosenblatt.base import all_or_nothing
from rosenblatt.registry.row import Contract, Row, Warm

from .agglomerative import labels_of_tree
from .distances import Precomputed
from .linkage import linkage_matrix, matrix_joins

Labels = NDArray[np.intp]
Weights = NDArray[np.float64]

MOST_FOR_MATRIX = 10_000  # groups of rows in a matrix of votes
SMALL_CUT, TWO_WAY_CUT = 10, 300  # groups with an exact cut, into any number and into two
PAIRS = 1_000_000  # of groups compared at once


class ConsensusClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Consensus of many runs of a clusterer.

    The vote of a pair of rows is the share of runs that put them into one cluster. Without
    `n_clusters`, rows with votes above the threshold are linked, and clusters are the connected
    components. With it, the graph of votes is cut into so many pieces with the smallest sum of
    votes across: exactly for few different rows, by average linkage of ``1 - votes`` for many.

    Rows with the same label in every run are one group, and only groups are compared.

    Parameters
    ----------
    estimator : clusterer or None
        Clusterer, run with a new `random_state` each time; `KMeans` with 8 clusters if None.
    n_clusters : int or None
        Number of pieces; None for the connected components.
    n_runs : int, default=20
        Number of runs.
    threshold : float, default=0.5
        Vote above which two rows are linked.
    max_samples : float, default=1.0
        Share of the rows in each run. Other rows get the label of `predict`, or the label of the
        nearest row in the run.
    random_state : int, RandomState instance or None
        Seeds the runs.

    Attributes
    ----------
    labels_ : shape (n,); clusters are numbered by size, the largest first.
    n_clusters_ : number of clusters.
    runs_ : the labels of each run, shape (n, R).
    groups_ : the group of each row, shape (n,).
    stability_ : mean vote of each row with the other rows of its cluster, shape (n,); 1 if alone.
    cluster_stability_ : its mean over each cluster, shape ``(n_clusters_,)``.
    cut_ : a description of the method that found the clusters.
    cut_votes_ : the sum of votes (in runs) of pairs in different clusters.
    n_features_in_, feature_names_in_ : of the data.

    Examples
    --------
    >>> from rosenblatt import ConsensusClustering
    >>> runs = [[0, 1, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 1]]  # four rows, four runs
    >>> model = ConsensusClustering().fit_labels(runs)
    >>> model.labels_, model.votes()[0]
    (array([0, 0, 1, 1]), array([1.  , 1.  , 0.25, 0.  ]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit_predict"]), None],
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "n_runs": [Interval(Integral, 1, None, closed="left")],
        "threshold": [Interval(Real, 0, 1, closed="left")],
        "max_samples": [Interval(Real, 0, 1, closed="right")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_clusters: int | None = None,
        n_runs: int = 20,
        threshold: float = 0.5,
        max_samples: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_clusters = n_clusters
        self.n_runs = n_runs
        self.threshold = threshold
        self.max_samples = max_samples
        self.random_state = random_state

    @property
    def set_callbacks(self) -> Any:
        """Not supported: the runs are fits of another model."""
        raise AttributeError(
            "ConsensusClustering does not report steps to callbacks and traces: runs_ holds the "
            "labels of each run. Draw the votes with plot.vote_map, or trace the clusterer."
        )

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Run the clusterer on X (n, d), and cut the graph of votes; return self."""
        self._validate_params()
        X = checks.validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        rng = check_random_state(self.random_state)
        runs = np.stack([self._run(X, rng) for _ in range(self.n_runs)], axis=1)
        self._conclude(runs)
        return self

    def fit_labels(self, runs: Any) -> Self:
        """Find the consensus of given labels (n, R) of runs; return self."""
        self._validate_params()
        if isinstance(runs, list | tuple) and len({np.size(row) for row in runs}) > 1:
            sizes = sorted({np.size(row) for row in runs})
            raise ValueError(
                "Labels must be a table (n, R), with one label of each run in every row; there are "
                f"rows with {sizes[0]} and with {sizes[-1]} labels."
            )
        runs = check_array(runs, dtype=None, ensure_min_samples=2)
        self._conclude(runs)
        return self

    def _run(self, X: NDArray[Any], rng: Any) -> Labels:
        """Return the labels of one run."""
        from .kmeans import KMeans

        model = KMeans() if self.estimator is None else clone(self.estimator)
        if "random_state" in model.get_params():
            model.set_params(random_state=int(rng.randint(2**31 - 1)))
        n = len(X)
        drawn = n if self.max_samples == 1 else max(2, round(self.max_samples * n))
        if drawn == n:
            return np.asarray(model.fit_predict(X), np.intp)
        rows = np.sort(rng.choice(n, drawn, replace=False))
        labels = np.asarray(model.fit_predict(X[rows]), np.intp)
        if hasattr(model, "predict"):
            return np.asarray(model.predict(X), np.intp)
        found, others = np.empty(n, np.intp), np.setdiff1d(np.arange(n), rows)
        found[rows], found[others] = labels, labels[KDTree(X[rows]).query(X[others])[1]]
        return found

    def _conclude(self, runs: Any) -> None:
        codes = np.stack([np.unique(run, return_inverse=True)[1] for run in runs.T], axis=1)
        different, groups = np.unique(codes, axis=0, return_inverse=True)
        table = np.ascontiguousarray(different, np.int32)
        sizes = np.bincount(groups).astype(np.float64)
        if self.n_clusters is None:
            found, how = _components(table, self.threshold), "components above the threshold"
        else:
            if self.n_clusters > len(sizes):
                raise ValueError(
                    f"n_clusters={self.n_clusters} must be at most {len(sizes)}, the number of "
                    "groups of rows that the runs distinguish."
                )
            found, how = _cut(table, sizes, int(self.n_clusters))
        labels = _by_size(found[groups])
        self.labels_, self.groups_, self.cut_ = labels, groups, how
        self.runs_ = codes
        self.n_clusters_ = int(labels.max()) + 1
        self.stability_, self.cut_votes_ = _agreement(codes, labels)
        self.cluster_stability_ = np.bincount(labels, self.stability_) / np.bincount(labels)

    def votes(self, rows: Any = None) -> NDArray[np.float64]:
        """Return the votes (m, m) of some rows, or of all: symmetric, with ones on the diagonal."""
        check_is_fitted(self)
        codes = self.runs_ if rows is None else self.runs_[np.asarray(rows)]
        return _votes(np.ascontiguousarray(codes, np.int32))


def _votes(codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the share of runs that put two rows together, (n, n)."""
    return np.asarray(_runs_together(codes, codes) / codes.shape[1])


def _runs_together(some: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """Return the number of runs that put two rows together, (m, n)."""
    together = np.zeros((len(some), len(codes)), np.min_scalar_type(codes.shape[1]))
    for one, run in zip(some.T, codes.T.copy(), strict=True):
        together += one[:, np.newaxis] == run
    return together


def _components(codes: NDArray[np.int32], threshold: float) -> Labels:
    """Return the component of each group in the graph of votes above the threshold."""
    n, R = codes.shape
    needed = int(np.floor(threshold * R + 1e-9)) + 1
    codes = codes.astype(np.min_scalar_type(codes.max()))  # small numbers are compared faster
    found, step = np.arange(n), max(1, PAIRS // n)
    for start in range(0, n, step):
        i, j = np.nonzero(_runs_together(codes[start : start + step], codes) >= needed)
        edges = sp.coo_array((np.ones(len(i)), (found[start + i], found[j])), shape=(n, n))
        found = connected_components(edges, directed=False)[1][found]
    return np.asarray(found)


def _cut(codes: NDArray[np.int32], sizes: NDArray[np.float64], k: int) -> tuple[Labels, str]:
    """Return the piece of each group, and the method."""
    n = len(codes)
    if k in (1, n):
        return (np.zeros(n, np.intp) if k == 1 else np.arange(n)), "the only cut"
    if n > MOST_FOR_MATRIX:
        raise ValueError(
            f"The runs distinguish {n:,} groups of rows; at most {MOST_FOR_MATRIX:,} can be cut. "
            "Use fewer runs or clusters, or n_clusters=None for components above the threshold."
        )
    votes = _votes(codes)
    weights = votes * sizes[:, np.newaxis] * sizes
    if n <= SMALL_CUT:
        return exact_cut(weights, k), "minimum cut, exact"
    if k == 2 and n <= TWO_WAY_CUT:
        return two_way_cut(weights), "minimum cut, exact"
    Z = linkage_matrix(*matrix_joins(Precomputed(1.0 - votes), "average", sizes))
    return labels_of_tree(Z[:, :2].astype(np.intp), k), "average linkage of 1 - votes"


def _by_size(labels: Labels) -> Labels:
    """Return labels numbered by decreasing size; of equal sizes the first in the rows first."""
    _, first, codes, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(sizes), np.intp)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[codes]


def _agreement(codes: NDArray[Any], labels: Labels) -> tuple[NDArray[np.float64], float]:
    """Return each row's mean vote with its cluster, and the votes across clusters, in runs."""
    n, R = codes.shape
    sizes = np.bincount(labels)
    inside, across = np.zeros(n), 0.0
    for run in codes.T:
        counts = np.zeros((len(sizes), run.max() + 1))
        np.add.at(counts, (labels, run), 1)
        inside += counts[labels, run] - 1
        across += float((counts.sum(axis=0) ** 2).sum() - (counts**2).sum()) / 2
    others = R * (sizes[labels] - 1)
    return np.where(others > 0, inside / np.maximum(others, 1), 1.0), across


def exact_cut(W: Weights, k: int) -> Labels:
    """Return the pieces (n,) of the minimum cut of a graph W (n, n) into k, by trying all cuts.

    >>> exact_cut(np.array([[0, 4, 1], [4, 0, 1], [1, 1, 0.0]]), 2)
    array([0, 0, 1])
    """
    best, least = None, np.inf
    for labels in partitions(len(W), k):
        across = float(W[labels[:, np.newaxis] != labels].sum())
        if across < least:
            best, least = labels, across
    assert best is not None
    return best


def partitions(n: int, k: int) -> Iterator[Labels]:
    """Return all partitions of n items into k nonempty sets, each once, as labels (n,).

    >>> len(list(partitions(5, 2)))
    15
    """

    def grow(labels: list[int], used: int) -> Iterator[Labels]:
        if len(labels) == n:
            if used == k:
                yield np.array(labels, np.intp)
            return
        if k - used > n - len(labels):  # too few items are left
            return
        for box in range(min(used + 1, k)):
            yield from grow([*labels, box], max(used, box + 1))

    return grow([0], 1)


def two_way_cut(W: Weights) -> Labels:
    """Return the pieces (n,) of the minimum cut of a graph W (n, n) into two (Stoer, Wagner 1997).

    Vertices are added one by one, always the vertex with the largest weight to the vertices before.
    The last one alone is the minimum cut between it and the one before; then both are merged.

    >>> two_way_cut(np.array([[0, 4, 1], [4, 0, 1], [1, 1, 0.0]]))
    array([0, 0, 1])
    """
    n = len(W)
    W = W.copy()
    np.fill_diagonal(W, 0.0)
    members = [[i] for i in range(n)]
    left = np.ones(n, bool)
    best, least = [0], np.inf
    for _ in range(n - 1):
        order: list[int] = []
        ties, waiting = np.zeros(n), left.copy()
        while waiting.any():
            vertex = int(np.where(waiting, ties, -np.inf).argmax())
            waiting[vertex] = False
            order.append(vertex)
            weight = float(ties[vertex])
            ties += W[vertex]
        before, last = order[-2:]
        if weight < least:
            best, least = list(members[last]), weight
        members[before] += members[last]
        W[before] += W[last]
        W[:, before] = W[before]
        W[before, before] = 0.0
        left[last] = False
    labels = np.zeros(n, np.intp)
    labels[best] = 1
    return labels if labels[0] == 0 else 1 - labels


ROW = Row(
    "ConsensusClustering",
    page="consensus.md",
    certificate="consensus",
    contract=Contract(
        settings=(
            {"n_runs": 3, "random_state": 0},
            {"n_runs": 3, "n_clusters": 2, "max_samples": 0.8, "random_state": 0},
        ),
        checked=({"n_runs": 3, "random_state": 0},),
    ),
    warm=Warm(({"n_runs": 2},), sparse=False),
)
