"""Joins of clusters by their centroids, without a distance matrix.

Ward's linkage uses centroids alone. Average and complete linkage use them in the first rounds: the
distance of two centroids is a lower bound of both distances.

Reciprocal nearest neighbors may be joined in any order, since a union is never nearer to a third
cluster than both of its parts were. A round joins all such pairs; then only clusters whose nearest
cluster was joined are searched again.

Legend: n points X (n, d), m clusters left.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.loops import tiles
from rosenblatt.runtime import threads

from . import centroid_linkage_loops, linkage_loops
from .distances import Euclidean, mirror

Table = NDArray[np.float64]
Places = NDArray[np.intp]
Joins = tuple[Places, Table]

STEPS = 100_000_000  # numbers read by one compiled call, so that interrupts work
FEW = 32  # rounds stop if they join fewer than one in so many of the searched clusters
CHAIN = 100  # clusters up to which a chain is faster than rounds
QUERIES = 256
PROBES = 64  # clusters searched first, to estimate the time of a round
MEASURED = 0.25  # most pairs of points measured by each, as a share of all points
ROWS = 16  # clusters per block of the distance matrix


class Centroids:
    """Clusters by Ward's linkage, as centroids C (m, d) and inverse sizes (m,)."""

    def __init__(self, X: Table) -> None:
        n = len(X)
        self.C, self.shares = X.copy(), np.ones(n)
        self.points = np.arange(n)  # one of each cluster
        self.near, self.least = np.full(n, -1), np.full(n, np.inf)
        self.queries = np.arange(n)  # with unknown nearest cluster: `near` is a guess, or -1
        self._pairs = [np.empty((0, 2), np.intp)]
        self._heights = [np.empty(0)]

    def __len__(self) -> int:
        return len(self.C)

    def joins(self) -> Joins:
        """Return all joins: a point of each of the two clusters, and their distances."""
        return np.concatenate(self._pairs), np.concatenate(self._heights)

    def record(self, pairs: Places, heights: Table) -> None:
        """Store joins of clusters by a point of each."""
        self._pairs.append(self.points[pairs])
        self._heights.append(heights)

    def members(self) -> Any:
        """Return the points of each cluster if distances depend on them, else None."""
        return None

    def half_variances(self) -> Table:
        """Return half of the part of each cluster's variance in distances."""
        return np.zeros(len(self))

    def find_nearest(self, queries: Places) -> float:
        """Find the nearest of some clusters; return the mean number of measured pairs of points."""
        (m, d), q = self.C.shape, len(queries)
        center, scale = about(self.C)
        rounding = (d + 16) * 2.0**-23
        panels = np.zeros((-(-m // tiles.POINTS), d, tiles.POINTS), np.float32)
        halves = np.full(len(panels) * tiles.POINTS, np.inf)
        tiles.put_about(self.C, center, scale, tiles.POINTS, rounding, panels, halves)
        quads = np.zeros((-(-q // tiles.QUERIES), d, tiles.QUERIES), np.float32)
        sizes = np.zeros(q)
        tiles.put_about(self.C[queries], center, scale, tiles.QUERIES, rounding, quads, sizes)
        spreads = (scale**2 * (1 - 8 * rounding)) * self.half_variances()
        halves[:m] += spreads
        sizes += spreads[queries]
        halves = halves.astype(np.float32) - np.float32(1e-30)
        thirds = np.zeros(len(halves), np.float32)
        thirds[:m] = self.shares
        limits, factors = np.empty((2, 4 * len(quads)), np.float32)
        members = self.members()
        centroid_linkage_loops.guess_nearest(
            self.C, self.shares, members, queries, self.near, self.least
        )

        def work(first: int, last: int) -> int:
            return centroid_linkage_loops.nearest_clusters(  # type: ignore[no-any-return]
                self.C, self.shares, members, panels, halves, thirds, queries, quads, sizes, scale,
                4 * first, min(4 * last, q), self.near, self.least, limits, factors,
                np.empty(tiles.POINTS, np.float32),
            )  # fmt: skip

        cells = -(-q // QUERIES) * threads.CELLS_PER_CHUNK
        return sum(threads.over_chunks(work, len(quads), cells)) / max(q, 1)

    def join(self, pairs: Places) -> tuple[Places, Table]:
        """Join pairs of clusters; return the new places, and the increase of squares by pair."""
        self.record(pairs, self.least[pairs[:, 0]])
        added = np.empty(len(pairs))
        centroid_linkage_loops.join_pairs(self.C, self.shares, pairs, added)
        left, changed = np.ones(len(self), bool), np.zeros(len(self), bool)
        left[pairs[:, 1]], changed[pairs.ravel()] = False, True
        place = np.cumsum(left) - 1
        place[pairs[:, 1]] = place[pairs[:, 0]]
        followers = np.flatnonzero(~changed & changed[self.near])
        near = place[self.near]
        near[pairs[:, 0]] = -1
        near, unknown = near[left], (changed | changed[self.near])[left]
        near[place[self.near[followers]]] = place[followers]  # a guess for the union
        self.near, self.queries = near, np.flatnonzero(unknown)
        self.C, self.shares = self.C[left], self.shares[left]
        self.points, self.least = self.points[left], self.least[left]
        return place, added


class Members(Centroids):
    """Clusters by average or complete linkage (of squared distances), with their points."""

    def __init__(self, X: Table, average: bool) -> None:
        super().__init__(X)
        self.X, self.average = X, average
        self.codes = np.arange(len(X))  # the cluster of each point
        self.squares = np.zeros(len(X))  # the sum of squares about each centroid

    def order(self) -> tuple[Places, Places]:
        """Return the points in the order of clusters, and the start of each cluster."""
        order = np.argsort(self.codes, kind="stable")
        sizes = np.bincount(self.codes, minlength=len(self))
        return order, np.append(0, np.cumsum(sizes))

    def members(self) -> Any:
        order, bounds = self.order()
        return self.X[order], bounds, self.average

    def half_variances(self) -> Table:
        return np.zeros(len(self)) if self.average else 0.5 * self.squares * self.shares

    def join(self, pairs: Places) -> tuple[Places, Table]:
        squares = self.squares
        place, added = super().join(pairs)
        squares[pairs[:, 0]] += squares[pairs[:, 1]] + added
        squares = np.delete(squares, pairs[:, 1])
        self.codes, self.squares = place[self.codes], squares
        return place, added

    def join_rounds(self, left: float) -> None:
        """Join reciprocal pairs until so many clusters are left, or the search is too slow."""
        while len(self) > left:
            probes = self.queries[:: len(self.queries) // PROBES + 1]
            if self.find_nearest(probes) > MEASURED * len(self.X):
                return
            self.find_nearest(self.queries)
            pairs = reciprocal(self.near)
            if len(pairs) * FEW < len(self):
                return
            self.join(pairs)

    def matrix(self) -> Table:
        """Return the distances of all clusters (m, m), with infinity on the diagonal."""
        order, bounds = self.order()
        points = Euclidean(self.X[order])
        m, strip = len(self), linkage_loops.BLOCK * linkage_loops.STRIP
        D, codes = np.empty((m, m)), self.codes[order]

        def work(first: int, last: int) -> None:
            centroid_linkage_loops.write_member_distances(
                points.blocks, points.X, bounds, codes, ROWS * first, min(ROWS * last, m),
                self.average, D, np.empty((1, strip)), np.empty(strip),
            )  # fmt: skip

        n_parts = -(-m // ROWS)
        threads.over_chunks(work, n_parts, n_parts * threads.CELLS_PER_CHUNK)
        mirror(D)
        return D


def ward_joins(X: Table) -> Joins:
    """Return the joins of Ward's linkage."""
    clusters = Centroids(X)
    while len(clusters) > CHAIN:
        clusters.find_nearest(clusters.queries)
        pairs = reciprocal(clusters.near)
        if len(pairs) * FEW < len(clusters.queries):
            break
        clusters.join(pairs)
    C, shares, m = clusters.C, clusters.shares, len(clusters)
    alive, chain = np.arange(m + 1), np.empty(m, np.intp)  # alive[m] is the number of clusters
    pairs, increases = np.empty((m - 1, 2), np.intp), np.empty(m - 1)
    done, length = 0, 0
    while done < m - 1:
        more, length = centroid_linkage_loops.ward_chain(
            C, shares, alive, chain, length, STEPS // C.shape[1], pairs[done:], increases[done:]
        )
        done += more
    clusters.record(pairs, increases)
    pairs, increases = clusters.joins()
    return pairs, monotone_heights(pairs, np.sqrt(2.0 * increases))


def reciprocal(near: Places) -> Places:
    """Return pairs (p, 2) of reciprocal nearest clusters, the smaller number first."""
    a = np.arange(len(near))
    first = np.flatnonzero((near[near] == a) & (a < near))
    return np.stack([first, near[first]], axis=1)


def monotone_heights(pairs: Places, heights: Table) -> Table:
    """Return heights raised to the heights of their parts, where rounding put them below."""
    heights = heights.astype(np.float64)
    linkage_loops.lift(pairs, heights, np.full(2 * len(pairs) + 1, -1), np.zeros(len(pairs) + 1))
    return heights


def about(X: Table) -> tuple[Table, float]:
    """Return the middle of the rows, and a scale that maps them into the unit ball."""
    low, high = X.min(axis=0), X.max(axis=0)
    reach = float((high - low).max()) / 2
    return low + (high - low) / 2, 1.0 / (reach * np.sqrt(X.shape[1])) if reach > 0 else 1.0
