"""k-means by parts: a pass sums each cluster; the start is k-means||, in a few passes.

k-means|| (Bahmani et al. 2012) draws many rows a round instead of one, each in proportion to its
squared distance from those drawn before; they are weighed by how many rows are nearest to each, and
clustered in memory.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.base import warn
from rosenblatt.cluster import KMeans
from rosenblatt.cluster.assignment import nearest_centers
from rosenblatt.data import TableError

from .census import Census
from .passes import PartRows, Passes
from .sums import Sample, Sums, lowest

Array = NDArray[np.float64]
ROUNDS = 5  # of drawing rows
DRAWN_PER_CLUSTER = 2  # in each round
FARTHEST = 8  # rows kept for clusters that lose all theirs
FIRST, UNIFORM, DISTANT = 0, 1, 2  # what the random numbers are for


def fit_parts(model: Any, passes: Passes) -> Any:
    """Lloyd's iterations from each start; the end with the lowest loss is kept."""
    seed, census = passes.seed(), Census(passes, by_class=False)
    if census.n_rows < model.n_clusters:
        raise TableError(f"n_samples={census.n_rows} should be >= n_clusters={model.n_clusters}.")
    passes.publish_columns(model)
    tol = model.tol * float(census.variance.mean())
    ends = [
        _run(model, passes, _start(model, passes, seed + k), tol, census.dtype)
        for k in range(_n_starts(model))
    ]
    best = min(ends, key=lambda end: float(end["inertia_"]))
    vars(model).update(best, inertias_=np.array([end["inertia_"] for end in ends]))
    model._n_features_out = model.n_clusters
    if model.stop_reason_ == "max_iter":
        warn(
            f"KMeans stopped after max_iter={model.max_iter} passes while centres still moved. "
            "Raise max_iter or tol.",
            ConvergenceWarning,
        )
    return model


def _n_starts(model: Any) -> int:
    given = not isinstance(model.init, str)
    if given and callable(model.init):
        raise ValueError(
            "init is a function of all rows, and a source has only parts: give init='k-means++', "
            "'random' or the centres."
        )
    several = 1 if given or model.init == "k-means++" else 10
    return several if model.n_init == "auto" or given else int(model.n_init)


def _start(model: Any, passes: Passes, seed: int) -> Array:
    """The centres (K, d) that a start begins with."""
    K = int(model.n_clusters)
    if not isinstance(model.init, str):
        centres = np.asarray(model.init, np.float64)
        if centres.shape != (K, model.n_features_in_):
            raise ValueError(
                f"init must have the shape {(K, model.n_features_in_)}; got {centres.shape}."
            )
        return centres
    if model.init == "random":
        return np.asarray(passes.total(draw, seed, UNIFORM, None, K).X, np.float64)
    return scattered_centres(passes, K, seed)


def scattered_centres(passes: Passes, K: int, seed: int) -> Array:
    """Centres (K, d) by k-means||."""
    drawn = np.asarray(passes.total(draw, seed, FIRST, None, 1).X, np.float64)
    for k in range(ROUNDS):
        more = passes.total(draw, seed, DISTANT + k, drawn, DRAWN_PER_CLUSTER * K).X
        drawn = np.concatenate([drawn, np.asarray(more, np.float64)])
    counts = passes.total(count_nearest, drawn)
    if len(drawn) <= K:  # fewer rows than clusters differ
        return drawn
    model = KMeans(K, n_init=1, random_state=seed)
    return np.asarray(model.fit(drawn, sample_weight=counts).cluster_centers_)


def _run(model: Any, passes: Passes, centres: Array, tol: float, dtype: Any) -> dict[str, Any]:
    """Assign and average, a pass each, until the centres rest."""
    losses: list[float] = []
    reason = "max_iter"
    while len(losses) < model.max_iter:
        total = passes.total(sum_clusters, centres)
        new = moved_centres(centres, total)
        mass, shift = total["mass"], new - centres
        # The mean lowers the loss of a cluster by its weight times the square of its move.
        kept = mass > 0
        losses.append(float(total["loss"] - mass[kept] @ (shift[kept] ** 2).sum(axis=1)))
        centres, moved = new, float((shift**2).sum())
        if moved <= tol:
            reason = "converged"
            break
    published = centres.astype(dtype)
    final = passes.total(sum_clusters, published.astype(np.float64))
    return {
        "cluster_centers_": published,
        "inertia_": float(final["loss"]),
        "n_iter_": len(losses),
        "loss_curve_": np.array(losses),
        "stop_reason_": reason,
    }


def moved_centres(centres: Array, total: Sums) -> Array:
    """The means of all clusters; a cluster without rows gets a row far from its centre."""
    mass = total["mass"]
    new = centres + total["sums"] / np.maximum(mass, 1)[:, None]
    far = iter(np.unique(total["far"].X, axis=0)[::-1])
    for k in np.flatnonzero(mass == 0):
        new[k] = next(far, new[k])
    return np.asarray(new)


def squared_distances(X: Any, centres: Array) -> tuple[NDArray[Any], Array, Array | None]:
    """Nearest centres (n,), squared distances from them, and differences of dense rows."""
    labels = nearest_centers(X, centres)
    if not sp.issparse(X):
        difference = X - centres[labels]  # float64, as the centres are
        return labels, np.einsum("ij,ij->i", difference, difference), difference
    along = np.empty(X.shape[0])
    for k, centre in enumerate(centres):
        own = labels == k
        along[own] = X[own] @ centre
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() + (centres**2).sum(axis=1)[labels]
    return labels, np.maximum(squares - 2 * along, 0.0), None


def sum_clusters(rows: PartRows, centres: Array) -> Any:
    """Rows, sums about the centre and loss of each cluster, and the farthest rows."""

    def measure(X: Any, y: Any) -> Sums:
        labels, far, difference = squared_distances(X, centres)
        n, K = len(labels), len(centres)
        members = sp.csr_matrix((np.ones(n), (labels, np.arange(n))), shape=(K, n))
        mass = np.bincount(labels, minlength=K).astype(np.float64)
        if difference is None:
            sums = np.asarray((members @ X).todense()) - mass[:, None] * centres
        else:
            sums = members @ difference
        return Sums(mass=mass, sums=sums, loss=float(far.sum()), far=_sample(-far, X, FARTHEST))

    return rows.summed(measure)


def count_nearest(rows: PartRows, centres: Array) -> Any:
    """How many rows are nearest to each centre."""

    def measure(X: Any, y: Any) -> Array:
        return np.bincount(nearest_centers(X, centres), minlength=len(centres)).astype(np.float64)

    return rows.summed(measure)


def draw(rows: PartRows, seed: int, purpose: int, centres: Array | None, most: int) -> Any:
    """Rows at random: all alike, or in proportion to their squared distance from centres."""
    rng = rows.rng(seed, purpose)

    def measure(X: Any, y: Any) -> Sample:
        # The lowest of keys Exp(1) / weight are a sample by weight (Efraimidis, Spirakis 2006).
        keys = rng.standard_exponential(X.shape[0])
        if centres is not None:
            _, far, _ = squared_distances(X, centres)
            with np.errstate(divide="ignore"):
                keys = keys / far
            X, keys = X[far > 0], keys[far > 0]
        return _sample(keys, X, most)

    return rows.summed(measure)


def _sample(keys: Array, X: Any, most: int) -> Sample:
    chosen = lowest(keys, most)
    some = X[chosen]
    some = some.toarray() if sp.issparse(some) else some
    return Sample(keys[chosen], some, np.zeros(len(chosen)), most)
