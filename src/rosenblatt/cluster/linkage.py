"""Trees of clusters: the pairs that are joined, and their heights, until one cluster is left.

Each method returns pairs (n - 1, 2), a point of each of the two clusters, and heights (n - 1,), in
an order in which the parts of a cluster come before it. `linkage_matrix` converts them to SciPy's
matrix.

Single linkage is the minimum spanning tree. For the others, reciprocal nearest neighbors may be
joined in any order, since a union is never nearer to a third cluster than both of its parts were.
Complete and average linkage follow a chain of nearest neighbors to such a pair in a distance
matrix, with SciPy's order of ties. For many points with Euclidean distances, the first pairs are
found by centroids (`centroid_linkage`) until one cluster in five is left.

Legend: n points X (n, d), m clusters left.
"""

import numpy as np

from rosenblatt.loops.tiles import put_about

from . import linkage_loops
from .centroid_linkage import STEPS, Joins, Members, Places, Table, about, monotone_heights
from .distances import NOT_FINITE, Distances, Euclidean

LEFT = 0.2  # clusters per point from which a matrix is used
MOST_LEFT = 10_000  # clusters: a matrix of 800 MB
WIDE = 32  # columns above which bounds by centroids save too little


def linkage_matrix(pairs: Places, heights: Table) -> Table:
    """Return SciPy's linkage matrix (n - 1, 4): two clusters, the height, the size of the union."""
    n = len(pairs) + 1
    order = np.argsort(heights, kind="stable")
    parent, sizes = np.full(2 * n - 1, -1, np.intp), np.ones(2 * n - 1, np.intp)
    Z = np.empty((n - 1, 4))
    linkage_loops.number_clusters(pairs, order, heights, parent, sizes, Z)
    return Z


def spanning_tree(X: Table) -> Joins:
    """Return the edges and lengths of the minimum spanning tree of points (Prim's algorithm)."""
    # The tree starts at the last point; tiles hold all others. See `prim_steps` for the arrays.
    n, d = X.shape
    width = linkage_loops.TILE
    center, scale = about(X)
    tiles = np.zeros((-(-n // width), d, width), np.float32)
    places = len(tiles) * width
    put_about(X[:-1], center, scale, width, 0.0, tiles, np.empty(n))
    tip = ((X[-1] - center) * scale).astype(np.float32)
    order, near = np.arange(places), np.zeros(places, np.intp)
    squares, limits = np.full(places, np.inf), np.full(places, -1, np.float32)
    limits[: n - 1] = np.inf
    lowest = np.full(len(tiles), np.inf)
    scores = np.empty(width, np.float32)
    edges, lengths = np.empty((n - 1, 2), np.intp), np.empty(n - 1)
    slack = (d + 16) * 2.0**-22
    steps = max(1, STEPS // (n * d))
    for first in range(0, n - 1, steps):
        linkage_loops.prim_steps(
            X, tiles, order, near, squares, limits, lowest, tip, scores, scale, slack,
            first, min(first + steps, n - 1), edges, lengths,
        )  # fmt: skip
    return edges, np.sqrt(lengths)


def spanning_tree_of(distances: Distances) -> Joins:
    """Return the minimum spanning tree by any metric, one point at a time."""
    # `outside` are points not in the tree, `near` their nearest points in the tree.
    n = distances.n
    outside, near = np.arange(n - 1), np.zeros(n - 1, np.intp)
    least = np.full(n - 1, np.inf)
    edges, lengths, joined = np.empty((n - 1, 2), np.intp), np.empty(n - 1), n - 1
    for step in range(n - 1):
        found = distances.rows(joined, joined + 1)[0][outside]
        if not np.isfinite(found).all():
            raise ValueError(NOT_FINITE)
        nearer = found < least
        least[nearer], near[nearer] = found[nearer], joined
        k = int(least.argmin())
        joined = int(outside[k])
        edges[step], lengths[step] = (near[k], joined), least[k]
        outside[k], near[k], least[k] = outside[-1], near[-1], least[-1]
        outside, near, least = outside[:-1], near[:-1], least[:-1]
    return edges, lengths


def matrix_joins(distances: Distances, linkage: str, sizes: Table | None = None) -> Joins:
    """Return the joins of complete or average linkage by a distance matrix.

    Points may represent groups of some sizes (n,), the weights of their distances in averages.
    """
    sizes = np.ones(distances.n) if sizes is None else sizes
    pairs, heights = _join_all(distances.matrix(), linkage == "average", sizes)
    return pairs, monotone_heights(pairs, heights)


def many_point_joins(X: Table, linkage: str) -> Joins:
    """Return the joins of many points by Euclidean distance: by centroids, then in a matrix."""
    power = int(np.frexp(np.ptp(X, axis=0).max())[1])  # of two: squares are in range
    X, average = np.ldexp(X, -power), linkage == "average"
    clusters = Members(X, average)
    if X.shape[1] <= WIDE:
        clusters.join_rounds(min(LEFT * len(X), MOST_LEFT))
    sizes = np.bincount(clusters.codes).astype(np.float64)
    D = clusters.matrix() if len(clusters) < len(X) else Euclidean(X, not average).matrix()
    clusters.record(*_join_all(D, average, sizes))
    pairs, heights = clusters.joins()  # of complete linkage, squares
    return pairs, np.ldexp(monotone_heights(pairs, heights if average else np.sqrt(heights)), power)


def _join_all(D: Table, average: bool, sizes: Table) -> Joins:
    """Join clusters of sizes (m,) along a chain of nearest neighbors; change their distances D.

    A union has the number of one of its parts.
    """
    # After half of the clusters are joined, D is reduced to the rows and columns of the others.
    rows = np.arange(len(D))
    chain, length = np.zeros(len(D) + 1, np.intp), 0
    pairs, heights, sizes = [], [], sizes.copy()
    while len(rows) > 1:
        clusters = D, D.view(np.int64), rows, sizes, np.ones(len(rows), bool)
        joined, done = np.empty((len(rows) // 2, 2), np.intp), 0
        least = np.empty(len(joined))
        while done < len(joined):
            more, length = linkage_loops.chain_steps(
                clusters, average, chain, length, STEPS, joined[done:], least[done:]
            )
            done += more
        pairs.append(rows[joined])
        heights.append(least)
        left = np.flatnonzero(clusters[-1])
        linkage_loops.keep_columns(D, rows[left], left)
        chain[:length] = np.searchsorted(left, chain[:length])
        rows, sizes = rows[left], sizes[left]
    return np.concatenate(pairs), np.concatenate(heights)
