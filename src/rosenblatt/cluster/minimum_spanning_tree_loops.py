# mypy: ignore-errors
"""Prim's minimum spanning tree of points, by Euclidean distance, without a matrix of distances.

A tree grows from one point. All others wait, each with its distance from the tree; the nearest
joins, and those that are nearer to it than to the rest of the tree note so. Waiting points stand in
tiles of 32, column by column, in single precision: this shows which tiles hold a point that may
have come nearer. Its distance is then computed in doubles. The last waiting point takes the place
of the one that joins, so that tiles stay full.

Legend: n points X (n, d); slot: a place of a waiting point; squares of distances.
"""

import numpy as np

from rosenblatt.loops import compiled
from rosenblatt.loops.simd import float32x8

TILE = 4 * float32x8.WIDTH


@compiled
def prim_steps(
    X, tiles, order, near, squares, limits, lowest, tip, scores, scale, slack, first, last,
    edges, lengths,
):  # fmt: skip
    """Let the points join at steps first to last, of n - 1.

    tiles (n / 32, d, 32) holds the waiting points, times a scale; order (n,) their numbers, near
    (n,) the points of the tree nearest to them, squares (n,) how near, limits (n,) the same in
    single precision, not below; lowest (n / 32,) the least square of each tile. tip (d,) is the
    point that joined last, as tiles hold it; order[n - 1] is its number. scores (32,) is scratch
    space. Writes edges (n - 1, 2) and lengths (n - 1,), which are squares.
    """
    n = X.shape[0]
    for step in range(first, last):
        waiting, joined = n - 1 - step, order[n - 1 - step]
        best, place = np.inf, 0
        for t in range((waiting + TILE - 1) // TILE):
            if may_be_nearer(tiles, t, tip, limits, scores):
                measure(X, t, joined, order, near, squares, limits, lowest, scores, scale, slack)
            if lowest[t] < best:
                best, place = lowest[t], t
        slot = place * TILE
        while squares[slot] != best:
            slot += 1
        edges[step, 0], edges[step, 1], lengths[step] = near[slot], order[slot], best
        take_out(tiles, slot, waiting - 1, order, near, squares, limits, lowest, tip)


@compiled
def may_be_nearer(tiles, t, tip, limits, scores):
    """Whether a point of tile t may be nearer to the tip than its limit; scores (32,) if so."""
    d = tiles.shape[1]
    at = t * d * TILE
    a = b = c = e = float32x8.zeros()
    for j in range(d):
        x = float32x8.spread_from(tip, j)
        a = add_square(tiles, at, x, a)
        b = add_square(tiles, at + 8, x, b)
        c = add_square(tiles, at + 16, x, c)
        e = add_square(tiles, at + 24, x, e)
        at += TILE
    k = t * TILE
    if not (
        float32x8.any_below(a, float32x8.load(limits, k))
        or float32x8.any_below(b, float32x8.load(limits, k + 8))
        or float32x8.any_below(c, float32x8.load(limits, k + 16))
        or float32x8.any_below(e, float32x8.load(limits, k + 24))
    ):
        return False
    float32x8.store(scores, 0, a)
    float32x8.store(scores, 8, b)
    float32x8.store(scores, 16, c)
    float32x8.store(scores, 24, e)
    return True


@compiled
def add_square(tiles, at, x, total):
    """The squares of eight differences, added to eight sums."""
    z = float32x8.subtract(float32x8.load(tiles, at), x)
    return float32x8.multiply_add(z, z, total)


@compiled
def measure(X, t, joined, order, near, squares, limits, lowest, scores, scale, slack):
    """Note the points of tile t that are nearer to the one that joined."""
    for k in range(TILE):
        slot = t * TILE + k
        if scores[k] < limits[slot]:
            square = 0.0
            for j in range(X.shape[1]):
                z = X[order[slot], j] - X[joined, j]
                square += z * z
            if square < squares[slot]:
                squares[slot], near[slot] = square, joined
                limits[slot] = single_above(square, scale, slack)
                lowest[t] = min(lowest[t], square)


@compiled
def single_above(square, scale, slack):
    """What a squared distance may at most look like in single precision."""
    length = np.sqrt(square) * scale + slack
    return length * length * (1.0 + slack)


@compiled
def take_out(tiles, slot, last, order, near, squares, limits, lowest, tip):
    """Make the point of a slot the tip, and put the last waiting point into its place."""
    t, k, u, v = slot // TILE, slot % TILE, last // TILE, last % TILE
    joined = order[slot]
    for j in range(tiles.shape[1]):
        tip[j] = tiles[t, j, k]
        tiles[t, j, k] = tiles[u, j, v]
    order[slot], near[slot], squares[slot] = order[last], near[last], squares[last]
    limits[slot] = limits[last]
    order[last], squares[last], limits[last] = joined, np.inf, -1.0
    lowest[t], lowest[u] = lowest_of(squares, t), lowest_of(squares, u)


@compiled
def lowest_of(squares, t):
    """The least square of a tile."""
    best = squares[t * TILE]
    for k in range(1, TILE):
        best = min(best, squares[t * TILE + k])
    return best
