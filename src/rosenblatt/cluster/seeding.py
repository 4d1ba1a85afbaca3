"""The start of k-means: rows far from each other, random rows, or given centers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.cluster
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state

from rosenblatt import checks
from rosenblatt.loops.tiles import put_about
from rosenblatt.runtime import threads

from . import kmeans_loops
from .assignment import DenseAssignment, RowAssignment, Table, checked_assignment

BLOCK = 1024  # rows whose squares are summed at once
FEW_CHUNKS = 16  # ratio of the work per cell to other passes over the rows


def given_centers(X: Any, init: Any, n_clusters: int) -> NDArray[Any]:
    """Return checked centers (K, d) of the user."""
    centers: NDArray[Any] = check_array(init, dtype=X.dtype, order="C")
    if len(centers) != n_clusters:
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match the number of "
            f"clusters {n_clusters}."
        )
    if centers.shape[1] != X.shape[1]:
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match the number of "
            f"features of the data {X.shape[1]}."
        )
    return centers


def kmeans_plusplus(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    x_squared_norms: Any = None,
    random_state: Any = None,
    n_local_trials: int | None = None,
) -> tuple[Any, NDArray[np.intp]]:
    """Draw rows that are far from each other; return centers (K, d) and their indices (K,).

    Each is drawn in proportion to its squared distance from the nearest center so far; of several
    candidates, the one that lowers the sum of these squares most is chosen. The expected loss is
    within a factor of ``8 (ln K + 2)`` of the best. The draws are scikit-learn's.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    n_clusters : number of rows to draw.
    sample_weight : multiplicity of each row, shape (n,); None for 1.
    x_squared_norms : accepted as in scikit-learn; not used.
    random_state : int, RandomState instance or None.
    n_local_trials : number of candidates; ``2 + ln K`` if None.

    Examples
    --------
    >>> from rosenblatt import kmeans_plusplus
    >>> centers, places = kmeans_plusplus([[0.0], [1.0], [90.0]], 2, random_state=0)
    >>> sorted(places.tolist())[-1]
    2
    """
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    if not 1 <= n_clusters <= X.shape[0]:
        raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={n_clusters} >= 1.")
    sample_weight = checks.weights(sample_weight, X.shape[0])
    rng = check_random_state(random_state)
    rows = checked_assignment(X, sample_weight)
    places = distant_rows(rows, n_clusters, rng, n_local_trials)
    centers = X[places]
    return (centers.toarray() if sp.issparse(X) else centers), places


def start(rows: RowAssignment, init: Any, n_clusters: int, random_state: Any) -> NDArray[Any]:
    """Return the centers (K, d) of one start."""
    if isinstance(init, np.ndarray):
        return init
    if callable(init):
        return given_centers(
            rows.X, init(rows.X, n_clusters, random_state=random_state), n_clusters
        )
    if init == "random":
        chosen = random_rows(rows, n_clusters, random_state)
    else:
        chosen = distant_rows(rows, n_clusters, random_state)
    centers = rows.X[chosen]
    return np.asarray(centers.toarray() if sp.issparse(centers) else centers)


def random_rows(rows: RowAssignment, n_clusters: int, random_state: Any) -> NDArray[np.intp]:
    """Draw different rows in proportion to their weights."""
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    if np.count_nonzero(weights) < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} should be <= {np.count_nonzero(weights)}, the number of rows "
            "with a positive weight."
        )
    chosen = random_state.choice(rows.n, n_clusters, replace=False, p=weights / weights.sum())
    return np.asarray(chosen)


def distant_rows(
    rows: RowAssignment, n_clusters: int, random_state: Any, n_trials: int | None = None
) -> NDArray[np.intp]:
    """Draw rows by k-means++; see `kmeans_plusplus`."""
    if not isinstance(rows, DenseAssignment):
        _, places = sklearn.cluster.kmeans_plusplus(
            rows.X, n_clusters, sample_weight=rows.weights, random_state=random_state,
            n_local_trials=n_trials,
        )  # fmt: skip
        return np.asarray(places)
    rows.check_small_squares()
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    chosen = np.empty(n_clusters, np.intp)
    chosen[0] = random_state.choice(rows.n, p=weights / weights.sum())
    n_trials = 2 + int(np.log(n_clusters)) if n_trials is None else n_trials
    squares = ClosestSquares(rows, int(chosen[0]))
    for c in range(1, n_clusters):
        candidates = squares.draw(random_state.uniform(size=n_trials))
        chosen[c] = candidates[squares.take_best(candidates)]
    return chosen


class ClosestSquares:
    """The squared distance of each row from the nearest center drawn so far."""

    def __init__(self, rows: DenseAssignment, first: int) -> None:
        self.rows, self.largest = rows, float(rows.sizes.max())
        self.closest = np.zeros(-(-rows.n // BLOCK) * BLOCK)
        self.limits = np.full(rows.n_panels * kmeans_loops.ROWS, -np.inf, np.float32)
        self.shares = np.zeros(len(self.limits), np.float32)
        heaviest = 1.0 if rows.weights is None else rows.weights.max()
        self.shares[: rows.n] = 1.0 if rows.weights is None else rows.weights / heaviest
        # A score has d products and two halves, each at most twice the largest row's.
        self.slack = np.array([-4 * self.largest * (rows.d + 16) * 2.0**-22], np.float32)
        center = rows.X[first].astype(np.float64)

        def work(start: int, stop: int) -> None:
            kmeans_loops.start_from(
                rows.stored, center, rows.sizes, rows.scale, start, stop, self.closest, self.limits
            )

        threads.over_chunks(work, rows.n, rows.n * rows.d)

    def draw(self, uniform: Table) -> NDArray[np.intp]:
        """Return rows where the cumulative sum of weighted squares passes these shares."""
        parts = self.closest
        if self.rows.weights is not None:
            parts = parts.copy()
            parts[: self.rows.n] *= self.rows.weights
        blocks = parts.reshape(-1, BLOCK)
        ends = blocks.sum(axis=1).cumsum()
        drawn = []
        for value in uniform * ends[-1]:
            block = min(int(ends.searchsorted(value)), len(ends) - 1)
            before = ends[block - 1] if block else 0.0
            inside = int((before + blocks[block].cumsum()).searchsorted(value))
            drawn.append(min(block * BLOCK + inside, self.rows.n - 1))
        return np.array(drawn)

    def take_best(self, candidates: NDArray[np.intp]) -> int:
        """Add the candidate that lowers the sum of squares most as a center; return its index."""
        rows, L, width = self.rows, len(candidates), kmeans_loops.CENTERS
        C = rows.X[candidates].astype(np.float64)
        quads, halves = np.zeros((-(-L // width), rows.d, width), np.float32), np.empty(L)
        put_about(C, rows.center, rows.scale, width, 0.0, quads, halves)
        padded = np.full(len(quads) * width, np.inf, np.float32)
        padded[:L] = halves
        nearer = np.empty((len(padded), rows.n_panels), np.int32)

        def estimate(first: int, last: int) -> Table:
            gains, partial = np.zeros(len(padded)), np.empty((len(padded), 8), np.float32)
            kmeans_loops.estimate_gains(
                rows.panels, self.shares, quads, padded, self.limits, self.slack, first, last,
                nearer, partial, gains,
            )  # fmt: skip
            return gains

        def measured(c: int, take: bool) -> float:
            def work(first: int, last: int) -> float:
                found: float = kmeans_loops.measure_gain(
                    rows.stored, rows.weights, C[c], rows.sizes, rows.scale, nearer[c], first, last,
                    take, self.closest, self.limits,
                )  # fmt: skip
                return found

            return float(sum(self._over_panels(work)))

        gains = np.sum(self._over_panels(estimate), axis=0)[:L]
        error = 2.0**-20 * (gains.max() + self.largest * self.shares.sum(dtype=np.float64))
        likely = np.flatnonzero(gains >= gains.max() - error)
        best = int(likely[0])
        if len(likely) > 1:  # rounding might decide
            best = int(likely[np.argmax([measured(int(c), take=False) for c in likely])])
        measured(best, take=True)
        return best

    def _over_panels(self, work: Callable[[int, int], Any]) -> list[Any]:
        rows = self.rows
        return threads.over_chunks(work, rows.n_panels, rows.n * rows.d // FEW_CHUNKS)
