"""Lower bounds on the loss that any K centres can have.

Each is valid for every table; which is best depends on it.

- *spectral*: the sum of the eigenvalues of the scatter but the K - 1 largest.
- *axes*: along each principal axis the loss is at least that of the best clustering of the
  projections, which is found exactly.
- *semidefinite*: with z the roots of the weights, e = z / |z| and ``A = z_i z_j d_ij^2 / 2 - N``,
  any N >= 0: ``e'Ae`` plus the K - 1 smallest eigenvalues of A on the complement of e. Steps along
  ``-(ee' + UU')``, U their eigenvectors, raise it; every N on the way gives a valid bound.
- *blocks*: rows in several parts have at least the sum of the parts' best losses.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

Floats = NDArray[np.float64]

MOST_CELLS = 20_000_000  # of a sparse table that is made dense for its scatter
MOST_COLUMNS = 2_000
AXIS_ROWS, MOST_AXIS_BLOCKS, MOST_AXES = 500, 20, 6
BLOCK_ROWS, MOST_BLOCKS, STEPS = 150, 12, 150  # of the semidefinite bound
PATIENCE = 8  # steps without gain after which less is aimed at
UNIT = 2.0**-52
LARGEST_POWER = 200  # of two, of numbers that are read as they are


def best_bound(X: Any, weight: Floats, K: int, loss: float, effort: int) -> tuple[float, str]:
    """The largest of the bounds, and its name; 0 if none says anything."""
    n, d = X.shape
    if loss <= 0 or d > MOST_COLUMNS or (sp.issparse(X) and n * d > MOST_CELLS):
        return 0.0, ""
    rows = X.toarray() if sp.issparse(X) else X
    power = int(np.frexp(np.abs(rows).max())[1])
    if abs(power) > LARGEST_POWER:  # fourth powers of such numbers are out of range
        rows, loss = np.ldexp(rows, -power), float(np.ldexp(loss, -2 * power))
        bound, how = best_bound(rows, weight, K, loss, effort)
        return float(np.ldexp(bound, 2 * power)), how
    rows, weight = rows[weight > 0], weight[weight > 0]
    far = float(weight @ (rows**2).sum(axis=1))  # subtracting a mean rounds by that much
    rows = rows - np.average(rows, axis=0, weights=weight)
    root = rows * np.sqrt(weight)[:, None]
    values, axes = np.linalg.eigh(root.T @ root)
    values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
    scatter = float(values.sum())
    allowance = 8 * (len(rows) + d) * UNIT * scatter
    allowance += 8 * UNIT * np.sqrt(scatter * far) + 8 * UNIT**2 * far
    if K == 1:
        return scatter - allowance, "one cluster: exact"
    found = [(float(values[K - 1 :].sum()) - allowance, "spectral")]
    if effort > 0:
        found.append((axes_bound(rows @ axes, weight, values, K) - allowance, "by axes"))
        bound, how = in_blocks(rows, weight, K, loss, effort)
        found.append((bound - allowance, how))
    return max(found)


def axes_bound(projected: Floats, weight: Floats, values: Floats, K: int) -> float:
    """The best over m of exact optima along m axes and the spectral bound of the others."""
    n, d = projected.shape
    parts = np.array_split(np.random.default_rng(0).permutation(n), -(-n // AXIS_ROWS))
    best = total = 0.0
    for j in range(min(d, MOST_AXES)):
        for part in parts[:MOST_AXIS_BLOCKS]:
            total += best_on_a_line(projected[part, j], weight[part], K)
        best = max(best, total + float(values[j + K :].sum()))
    return best


def best_on_a_line(x: Floats, weight: Floats, K: int) -> float:
    """The least loss of K clusters of numbers x (n,): they are intervals, found one by one."""
    order = np.argsort(x, kind="stable")
    x, w = x[order], weight[order]
    n = len(x)
    if n <= K:
        return 0.0
    W, S, Q = (np.concatenate([[0.0], np.cumsum(a)]) for a in (w, w * x, w * x * x))
    ahead = np.arange(n)[:, None] <= np.arange(n)
    mass = np.where(ahead, W[None, 1:] - W[:-1, None], 1.0)
    cost = Q[None, 1:] - Q[:-1, None] - (S[None, 1:] - S[:-1, None]) ** 2 / mass
    cost = np.where(ahead, np.maximum(cost, 0.0), np.inf)
    least = cost[0].copy()  # of the first numbers in one interval; cost[i, j]: numbers i to j
    for _ in range(K - 1):
        before = np.concatenate([[0.0], least[:-1]])
        least = np.minimum(least, (before[:, None] + cost).min(axis=0))
    # Differences of running sums round by shares of the whole sums, in each of the intervals.
    reach = float(np.abs(x).max())
    whole = reach**2 * float(W[-1]) + 2 * reach * float(w @ np.abs(x)) + float(Q[-1])
    return float(least[-1]) - 4 * K * n * UNIT * whole


def in_blocks(rows: Floats, weight: Floats, K: int, loss: float, effort: int) -> tuple[float, str]:
    """The semidefinite bound, summed over random blocks of the rows, unless they are very many."""
    n = len(rows)
    parts = np.array_split(np.random.default_rng(0).permutation(n), max(1, n // BLOCK_ROWS))
    if len(parts) > MOST_BLOCKS**effort or min(map(len, parts)) < K:
        return 0.0, ""
    total = 0.0
    for part in parts:
        total += semidefinite(rows[part], weight[part], K, loss / len(parts))
    return total, "semidefinite" if len(parts) == 1 else "semidefinite, in blocks"


def semidefinite(rows: Floats, weight: Floats, K: int, loss: float) -> float:
    """The semidefinite bound of a block; `loss` is about what it can reach."""
    z = np.sqrt(weight)
    e = z / np.linalg.norm(z)
    distances = 0.5 * np.outer(z, z) * np.asarray(cdist(rows, rows, "sqeuclidean"))
    N, move, best, idle = np.zeros_like(distances), np.zeros_like(distances), 0.0, 0
    for _ in range(STEPS):
        A = distances - N
        Ae = A @ e
        start = float(e @ Ae)
        inner = A - np.outer(e, Ae) - np.outer(Ae, e) + start * np.outer(e, e)
        size = float(np.linalg.norm(A))
        if size == 0:
            break
        inner += 3 * size * np.outer(e, e)  # so that e is not among the smallest
        values, U = eigh(inner, subset_by_index=[0, K - 2])
        value = start + float(values.sum()) - (K + 2) * len(z) * UNIT * 8 * size
        idle = 0 if value > best else idle + 1
        best = max(best, value)
        if idle == PATIENCE:
            loss, idle = 0.5 * (loss + best), 0
        step = np.outer(e, e) + U @ U.T
        step[(N <= 0) & (step > 0)] = 0.0  # N cannot go below zero
        square = float((step**2).sum())
        if square <= UNIT:  # there is no way up
            break
        move = 0.5 * move + max(loss - value, 0.0) / square * step
        N = np.maximum(N - move, 0.0)
    return best
