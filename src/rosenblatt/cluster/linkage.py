"""Trees of clusters: which two are joined, and at what height, until one is left.

Each method returns pairs (n - 1, 2), a point of each of the two clusters, and heights (n - 1,), in
an order in which the parts of a cluster come before it. `linkage_matrix` makes SciPy's matrix of
them.

Single linkage is the minimum spanning tree. For the others, any two clusters that are nearest to
each other may be joined at once, since a union is never nearer to a third than both of its parts
were: a round joins all such pairs, about one in ten of the clusters. Where a round finds few pairs,
a chain of nearest neighbours goes on. Up to 4,000 points, complete and average linkage follow such
a chain from the start, as SciPy does, so that ties have the same end. Above, Euclidean distances
need no matrix of all points: the first rounds find pairs from centroids (`centroid_linkage`), until
one cluster in five is left.

Legend: n points X (n, d), m clusters left.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops.tiles import put_about
from rosenblatt.runtime import threads

from . import linkage_loops, minimum_spanning_tree_loops
from .centroid_linkage import FEW, STEPS, Joins, Members, Places, Table, about, reciprocal, rising
from .distances import ENDLESS, Distances, Euclidean

SINGLES = 4_000  # rows from which a matrix is kept in single precision
SMALL = 1e-20  # a largest distance that single precision is too coarse for
LEFT = 0.2  # of all points, as clusters: from there on a matrix is kept
MOST_LEFT = 10_000  # clusters: a matrix of 800 MB
WIDE = 32  # columns above which bounds by centroids would spare too little
SHRINK = 0.7  # a matrix moves together when so few of its columns are left


def linkage_matrix(pairs: Places, heights: Table) -> Table:
    """SciPy's linkage matrix (n - 1, 4): two clusters, the height, the size of the union."""
    n = len(pairs) + 1
    order = np.argsort(heights, kind="stable")
    parent, sizes = np.full(2 * n - 1, -1, np.intp), np.ones(2 * n - 1, np.intp)
    Z = np.empty((n - 1, 4))
    linkage_loops.number_clusters(pairs, order, heights, parent, sizes, Z)
    return Z


# Single linkage.


def spanning_tree(X: Table) -> Joins:
    """The edges and lengths of the minimum spanning tree of points."""
    n, d = X.shape
    width = minimum_spanning_tree_loops.TILE
    centre, scale = about(X)
    tiles = np.zeros((-(-n // width), d, width), np.float32)
    places = len(tiles) * width
    put_about(X[:-1], centre, scale, width, 0.0, tiles, np.empty(n))
    tip = ((X[-1] - centre) * scale).astype(np.float32)
    order, near = np.arange(places), np.zeros(places, np.intp)
    squares, limits = np.full(places, np.inf), np.full(places, -1, np.float32)
    limits[: n - 1] = np.inf
    lowest = np.full(len(tiles), np.inf)
    scores = np.empty(width, np.float32)
    edges, lengths = np.empty((n - 1, 2), np.intp), np.empty(n - 1)
    slack = (d + 16) * 2.0**-22
    steps = max(1, STEPS // (n * d))
    for first in range(0, n - 1, steps):
        minimum_spanning_tree_loops.prim_steps(
            X, tiles, order, near, squares, limits, lowest, tip, scores, scale, slack,
            first, min(first + steps, n - 1), edges, lengths,
        )  # fmt: skip
    return edges, np.sqrt(lengths)


def spanning_tree_of(distances: Distances) -> Joins:
    """The same by any metric: the distances of one point from all others at a time."""
    n = distances.n
    waiting, near = np.arange(n - 1), np.zeros(n - 1, np.intp)
    least = np.full(n - 1, np.inf)
    edges, lengths, joined = np.empty((n - 1, 2), np.intp), np.empty(n - 1), n - 1
    for step in range(n - 1):
        found = distances.rows(joined, joined + 1)[0][waiting]
        if not np.isfinite(found).all():
            raise ValueError(ENDLESS)
        nearer = found < least
        least[nearer], near[nearer] = found[nearer], joined
        k = int(least.argmin())
        joined = int(waiting[k])
        edges[step], lengths[step] = (near[k], joined), least[k]
        waiting[k], near[k], least[k] = waiting[-1], near[-1], least[-1]
        waiting, near, least = waiting[:-1], near[:-1], least[:-1]
    return edges, lengths


# Complete and average linkage.


def matrix_joins(distances: Distances, linkage: str, sizes: Table | None = None) -> Joins:
    """Join the two clusters whose farthest points, or points on average, are nearest.

    Points may stand for groups of some sizes (n,), whose distances count so often in averages.
    """
    average = linkage == "average"
    if distances.n < SINGLES:
        joined, least = _of_points(distances, average, sizes).chain(distances.n - 1)
        return joined, rising(joined, least)
    if isinstance(distances, Euclidean) and distances.X.shape[1] <= WIDE:
        clusters = Members(distances.X, average)
        clusters.join_rounds(min(LEFT * distances.n, MOST_LEFT))
        if len(clusters) < SHRINK * distances.n:  # in doubles, no larger than that of all points
            joined, heights = _join_all(ClusterDistances.of(clusters))
            joined = np.concatenate([clusters.joins()[0], joined])
            return joined, rising(joined, np.concatenate([clusters.joins()[1], heights]))
    joined, heights = _join_all(_of_points(distances, average, sizes))
    if sizes is None:
        heights = exact_heights(distances, joined, average)
    return joined, rising(joined, heights)


def _of_points(distances: Distances, average: bool, sizes: Table | None) -> "ClusterDistances":
    """The distances of points, as clusters of one, or of some sizes."""
    n = distances.n
    D = distances.matrix(np.dtype(np.float64 if n < SINGLES else np.float32))
    if n >= SINGLES and D[0, 1:].max() < SMALL:  # single precision would call many equal
        D = distances.matrix(np.dtype(np.float64))
    return ClusterDistances(D, average, np.ones(n) if sizes is None else sizes.copy(), np.arange(n))


def _join_all(matrix: "ClusterDistances") -> tuple[Places, NDArray[Any]]:
    """Join clusters until one is left, in rounds while these find many pairs."""
    pairs, heights = [], []
    matrix.find_nearest()
    while len(matrix) > 1:
        found = reciprocal(matrix.near)
        if len(found) * FEW >= len(matrix):
            joined, least = matrix.join_round(found)
        else:
            joined, least = matrix.join_chain(len(matrix) // 2)
        pairs.append(joined)
        heights.append(least)
    return np.concatenate(pairs), np.concatenate(heights)


class Steps(NamedTuple):
    """What happened to the columns of a matrix, in order; see `linkage_loops.catch_up`."""

    pairs: Places
    parts: Table
    columns: NDArray[np.uint32]
    ends: Places

    @staticmethod
    def none(n: int) -> "Steps":
        """None so far, of n columns."""
        ends = np.array([[0, 0, n]])
        return Steps(np.empty((0, 2), np.intp), np.empty(0), np.empty(0, np.uint32), ends)

    def and_joins(self, pairs: Places, parts: Table) -> "Steps":
        """One more step: columns are joined in pairs."""
        pairs, parts = np.concatenate([self.pairs, pairs]), np.concatenate([self.parts, parts])
        ends = np.append(self.ends, [[len(pairs), *self.ends[-1, 1:]]], axis=0)
        return Steps(pairs, parts, self.columns, ends)

    def and_move(self, left: Places) -> "Steps":
        """One more step: these columns are left, and move together."""
        columns = np.append(self.columns, left.astype(np.uint32))
        ends = np.append(self.ends, [[len(self.pairs), len(columns), len(left)]], axis=0)
        return Steps(self.pairs, self.parts, columns, ends)


class ClusterDistances:
    """The distances of clusters, in a square matrix that shrinks with their number.

    Rows are up to date when they are read: `steps` says what their columns have yet to go through.
    """

    def __init__(self, D: NDArray[Any], average: bool, sizes: Table, points: Places) -> None:
        n = len(D)
        self.D, self.average, self.sizes, self.points = D, average, sizes, points
        self.bits = D.view(f"i{D.itemsize}")
        self.infinity = self.bits[0, 0]  # nothing is nearest to itself
        self.rows, self.alive = np.arange(n), np.ones(n, bool)
        self.near, self.least = np.full(n, -1), np.zeros(n, self.bits.dtype)
        self.steps = Steps.none(n)
        self.seen = np.zeros(n, np.intp)  # how many steps each row has taken

    @staticmethod
    def of(clusters: Members) -> "ClusterDistances":
        """Those of clusters that points have been joined to."""
        sizes = np.bincount(clusters.codes).astype(np.float64)
        matrix = ClusterDistances(clusters.matrix(), clusters.average, sizes, clusters.points)
        matrix.near = clusters.near.copy()
        matrix.near[clusters.queries] = -1
        matrix.least = matrix.bits[matrix.rows, matrix.near]
        return matrix

    def __len__(self) -> int:
        return int(np.count_nonzero(self.alive))

    def _over_rows(self, work: Callable[[int, int], None], n_rows: int) -> None:
        threads.over_chunks(work, n_rows, n_rows * len(self.rows))

    def join_round(self, pairs: Places) -> tuple[Places, NDArray[Any]]:
        """Join pairs of clusters; the closest, where rounding has left no pair."""
        if not len(pairs):
            a = np.flatnonzero(self.alive)[self.least[self.alive].argmin()]
            pairs = np.sort([[a, self.near[a]]])
        least, points = self.least[pairs[:, 0]].view(self.D.dtype), self.points[pairs]
        own, other = self.sizes[pairs].T
        parts = other / (own + other)

        def work(first: int, last: int) -> None:
            linkage_loops.join_rows(
                self.bits, self.rows, self.seen, self.steps, pairs, parts, self.average,
                self.infinity, first, last, self.D, *self._scratch(2),
            )  # fmt: skip

        self._over_rows(work, len(pairs))
        self.steps = self.steps.and_joins(pairs, parts)
        self.sizes[pairs[:, 0]] += self.sizes[pairs[:, 1]]
        self._bury(pairs)
        self._shrink()
        self.find_nearest()
        return points, least

    def _bury(self, pairs: Places) -> None:
        """Mark the second of each pair as dead; nobody's nearest is one of a pair any more."""
        self.alive[pairs[:, 1]] = False
        changed = np.zeros(len(self.rows), bool)
        changed[pairs.ravel()] = True
        self.near[changed | changed[self.near]] = -1
        self.near[~self.alive] = np.flatnonzero(~self.alive)  # no pair with anyone

    def find_nearest(self) -> None:
        """Find the nearest of all whose nearest is unknown."""

        def work(first: int, last: int) -> None:
            (x,), (u,) = self._scratch(1)
            linkage_loops.find_nearest(
                self.bits, self.rows, self.seen, self.steps, self.average, self.infinity,
                first, last, self.near, self.least, x, u,
            )  # fmt: skip

        self._over_rows(work, len(self.rows))

    def _scratch(self, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Space for copies of rows, as numbers and as integers."""
        x = np.empty((n_rows, len(self.D)), self.D.dtype)
        return x, x.view(self.bits.dtype)

    def _shrink(self) -> None:
        """Leave dead rows and columns behind, if they are many."""
        if len(self) > SHRINK * len(self.rows):
            return
        left = np.flatnonzero(self.alive)
        place = np.append(np.cumsum(self.alive) - 1, -1)  # the last: that of an unknown nearest
        self.rows, self.points = self.rows[left], self.points[left]
        self.alive, self.sizes = self.alive[left], self.sizes[left]
        self.near, self.least, self.seen = place[self.near[left]], self.least[left], self.seen[left]
        self.steps = self.steps.and_move(left)

    def join_chain(self, wanted: int) -> tuple[Places, NDArray[Any]]:
        """Join as many pairs of clusters as wanted, one after the other."""
        self.near[self.alive] = -1
        self.find_nearest()  # of all, so that every row has taken all steps
        self._over_rows(
            lambda a, b: linkage_loops.make_symmetric(self.D, self.rows, self.alive, a, b),
            len(self.rows),
        )
        pairs, least = self.chain(wanted)
        self._bury(pairs)
        points = self.points[pairs]
        self._shrink()
        self.find_nearest()
        return points, least

    def chain(self, wanted: int) -> tuple[Places, NDArray[Any]]:
        """Join pairs in a symmetric matrix, along a chain of nearest neighbours."""
        chain = np.zeros(len(self.rows) + 1, np.intp)
        pairs, least = np.empty((wanted, 2), np.intp), np.empty(wanted, self.bits.dtype)
        done, length = 0, 0
        while done < wanted:
            more, length = linkage_loops.chain_steps(
                self.D, self.bits, self.rows, self.sizes, self.alive, self.average, chain, length,
                STEPS, self.infinity, pairs[done:], least[done:],
            )  # fmt: skip
            done += more
        return pairs, least.view(self.D.dtype)


def exact_heights(distances: Distances, pairs: Places, average: bool) -> Table:
    """The heights of joins in doubles: the mean or the greatest distance of pairs across."""
    n = len(pairs) + 1
    order = np.arange(float(n - 1))  # as heights: the numbers of the joins
    Z = linkage_matrix(pairs, order)
    children, sizes = Z[:, :2].astype(np.intp), np.append(np.ones(n), Z[:, 3]).astype(np.intp)
    parent = np.full(2 * n - 1, -1)
    parent[children.ravel()] = np.repeat(np.arange(n, 2 * n - 1), 2)
    first, leaves = sizes.copy(), np.empty(n, np.intp)
    linkage_loops.order_leaves(children, first, leaves)
    inside = distances.take(leaves)
    roots_last = False
    if isinstance(inside, Euclidean) and not (average or inside.squared):
        inside.squared = roots_last = True  # the greatest distance has the greatest square
    totals = inside.cross(parent, first + sizes, leaves, average)
    if not average:
        return np.sqrt(totals[n:]) if roots_last else totals[n:]
    return totals[n:] / (sizes[children[:, 0]] * sizes[children[:, 1]])
