"""Nearest neighbours: a brute-force search again for some rows, and that answers follow from it.

Queries are rows given, in an order that no one chose. For each, all distances are computed in
doubles; no row may be nearer than the k-th neighbour that the model found, beyond rounding.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .claims import Certificate, Claim, measured, within
from .tree import output_of

Floats = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
MOST_QUERIES = (50, 500)  # at effort 0 and 1
MOST_CELLS = 200_000_000
MOST_OF_SEARCHES = 10_000_000_000  # differences, if the model searches for all rows
LENGTHS = ("euclidean", "cityblock", "chebyshev", "minkowski")  # twice as long of rows times two
LARGEST_POWER = 100  # of two, of numbers that are read as they are
ALLOWANCE = 1e-7  # of a distance: scikit-learn takes squares apart, and loses half of the digits
SCIPY = {
    "l2": "euclidean", "manhattan": "cityblock", "l1": "cityblock", "infinity": "chebyshev",
    "p": "minkowski",
}  # fmt: skip


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Search again for some rows, vote again, and leave each of them out."""
    n, d = X.shape
    stored = int(model.n_samples_fit_)
    if stored != n:
        raise ValueError(
            f"The model stores {stored:,} rows, and {n:,} were given. Pass the rows that it was "
            "fitted to."
        )
    if model.metric == "precomputed":
        raise ValueError("Distances that were given cannot be computed again: no certificate.")
    k = int(model.n_neighbors)
    most = max(1, min(MOST_QUERIES[effort > 0], MOST_CELLS // max(n * d, 1), n))
    asked = np.sort(np.random.default_rng(0).permutation(n)[:most])
    distances = all_distances(model, X, asked)
    said, found = kneighbors(model, X[asked], k)
    kth = np.partition(distances, k - 1, axis=1)[:, k - 1]
    allowed = allowances(model, X[asked], kth)
    claims = [
        *stored_claims(model, X, y),
        *search_claims(said, found, distances, kth, allowed),
        *radius_claims(model, X[asked], distances, ALLOWANCE * distances + allowed),
        *answer_claims(model, X[asked], y, said, found),
        *training_error(model, X, y, asked),
        left_out_claim(model, y, asked, distances, k),
    ]
    problem = f"the {k} nearest of {n:,} stored rows by the {name_of(model.metric)} distance"
    data = f"the {n:,} rows and {d:,} columns given; {len(asked):,} of {n:,} rows checked"
    return Certificate(type(model).__name__, problem, data, tuple(claims))


def stored_claims(model: Any, X: Any, y: NDArray[Any]) -> list[Claim]:
    """That the rows and labels which the model stores are those given."""
    stored, rows = model._fit_X, X
    if model.effective_metric_ == "gower":
        rows = model._columns.encode(X)
    if sp.issparse(stored) or sp.issparse(rows):
        apart = sp.csr_matrix(stored) != sp.csr_matrix(rows)
        changed = int(np.count_nonzero(np.diff(apart.tocsr().indptr)))
    else:
        same = (stored == rows) | ((stored != stored) & (rows != rows))
        changed = int(np.count_nonzero(~same.all(axis=1)))
    claims = [within("stored rows", f"{changed:,} stored rows are not those given", changed, 0)]
    if y.ndim == 1 and hasattr(model, "predict"):
        labels = np.asarray(model._y).ravel()
        if hasattr(model, "classes_"):
            labels = np.asarray(model.classes_)[labels]
        changed = int(np.count_nonzero(labels != y))
        claims.append(within("stored y", f"{changed:,} stored y are not those given", changed, 0))
    return claims


def kneighbors(model: Any, Q: Any, k: int) -> tuple[Floats, NDArray[np.intp]]:
    """The neighbours that a model finds."""
    distances, found = model.kneighbors(Q, k)
    return np.asarray(distances, np.float64), found


def name_of(metric: Any) -> str:
    """The name of a metric, or of the function that it is."""
    return metric if isinstance(metric, str) else getattr(metric, "__name__", "given")


def all_distances(model: Any, X: Any, asked: NDArray[np.intp]) -> Floats:
    """The distances (m, n) of the rows asked for from all rows, in doubles."""
    metric, more = model.effective_metric_, dict(model.effective_metric_params_ or {})
    rows = X.toarray() if sp.issparse(X) else X
    if callable(metric):
        distance: Callable[..., float] = metric
        return np.array([[distance(a, b, **more) for b in rows] for a in rows[asked]])
    if metric == "gower":
        return gower_distances(X, asked, [known is not None for known in model.categories_])
    if metric == "cosine":  # a row of zeros is at right angles to every other
        largest = np.abs(rows).max(axis=1)
        rows = rows / np.where(largest > 0, largest, 1.0)[:, np.newaxis]
        lengths = np.linalg.norm(rows, axis=1)
        unit = rows / np.where(lengths > 0, lengths, 1.0)[:, np.newaxis]
        return np.asarray(1.0 - unit[asked] @ unit.T)
    name = SCIPY.get(metric, metric)
    power = power_out_of_range(rows) if name in LENGTHS else 0
    if power:
        rows = np.ldexp(rows, -power)
    return np.asarray(np.ldexp(cdist(rows[asked], rows, name, **more), power))


def power_out_of_range(rows: Floats) -> int:
    """The power of two of the largest number, if powers of it are hardly numbers; else 0."""
    power = int(np.frexp(np.abs(rows).max(initial=0.0))[1])
    return power if abs(power) > LARGEST_POWER else 0


def gower_distances(X: Any, asked: NDArray[np.intp], categorical: list[bool]) -> Floats:
    """The mean over columns, known of both rows, of their differences: numbers over their range."""
    total, known = np.zeros((2, len(asked), len(X)))
    for column, words in zip(X.T, categorical, strict=True):
        there = np.array([value is not None and value == value for value in column], bool)
        both = there[asked][:, np.newaxis] & there
        if words:
            apart = (column[asked][:, np.newaxis] != column).astype(np.float64)
        else:
            numbers = np.where(there, column, 0.0).astype(np.float64)
            spread = np.ptp(numbers[there]) if there.any() else 0.0
            apart = np.abs(numbers[asked][:, np.newaxis] - numbers) / (spread or 1.0)
        total += np.where(both, apart, 0.0)
        known += both
    return np.where(known > 0, total / np.maximum(known, 1.0), 1.0)


def allowances(model: Any, Q: Any, kth: Floats) -> Floats:
    """What rounding may do (m, 1) to distances of the rows Q up to their k-th neighbour's."""
    d, metric = Q.shape[1], model.effective_metric_
    allowed = ALLOWANCE * kth
    if metric == "cosine":  # one less a sum that rounds
        allowed += (d + 8) * EPS
    elif metric in ("euclidean", "l2", "sqeuclidean"):  # squares of rows, taken apart
        squares = np.asarray((Q.multiply(Q) if sp.issparse(Q) else Q * Q).sum(axis=1)).ravel()
        squared = metric == "sqeuclidean"
        allowed += 8 * d * EPS * squares if squared else ALLOWANCE * np.sqrt(squares)
    return np.maximum(allowed, np.finfo(float).tiny)[:, np.newaxis]


def search_claims(
    said: Floats, found: NDArray[np.intp], distances: Floats, kth: Floats, allowed: Floats
) -> list[Claim]:
    """That the distances (m, k) of the neighbours are right, and that no other row is nearer."""
    true = np.take_along_axis(distances, found, axis=1)
    off, most = worst(np.abs(true - said).max(axis=1), allowed)
    repeated = float(sum(len(row) - len(set(row)) for row in found.tolist()))
    late, latest = worst(np.maximum(true.max(axis=1) - kth, 0.0), allowed)
    return [
        within("distances", f"the neighbours' distances are right to {off:.1e}", off, most),
        within("neighbours", f"{repeated:.0f} neighbours are named twice", repeated, 0.0),
        within(
            "nearest",
            f"no row is nearer than the k-th neighbour by more than {late:.1e}",
            late,
            latest,
        ),
    ]


def worst(off: Floats, allowed: Floats) -> tuple[float, float]:
    """What is off (m,) by the largest share of what is allowed (m, 1), and that."""
    if np.isnan(off).any():
        return np.nan, 0.0
    i = int(np.argmax(off / allowed[:, 0]))
    return float(off[i]), float(allowed[i, 0])


def radius_claims(model: Any, Q: Any, distances: Floats, allowed: Floats) -> list[Claim]:
    """That a search by radius finds the rows within it, but for those at its edge."""
    if not hasattr(model, "radius_neighbors"):
        return []
    found = model.radius_neighbors(Q, return_distance=False)
    inside = np.zeros(distances.shape, bool)
    for row, places in zip(inside, found, strict=True):
        row[places] = True
    clear = np.abs(distances - model.radius) > allowed
    wrong = int(np.count_nonzero(clear & (inside != (distances <= model.radius))))
    statement = f"{wrong:,} rows are missing or too many within radius={model.radius:g}"
    return [within("radius", statement, wrong, 0)]


def answer_claims(
    model: Any, Q: Any, y: NDArray[Any], said: Floats, found: NDArray[np.intp]
) -> list[Claim]:
    """That predictions are the votes, or means, of the neighbours that were found."""
    if not hasattr(model, "predict") or y.ndim != 1:
        return []
    own = output_of(model, Q)
    shares = vote_shares(model, said)
    if not hasattr(model, "classes_"):
        derived = (shares * y[found].astype(np.float64)).sum(axis=1)
        off = float(np.abs(derived - own).max(initial=0.0))
        allowed = 1e-9 * float(np.abs(y.astype(np.float64)).max(initial=0.0))
        return [
            within("means", f"predictions are the neighbours' means to {off:.1e}", off, allowed)
        ]
    return vote_claims(model, own, shares, y[found])


def training_error(model: Any, X: Any, y: NDArray[Any], asked: NDArray[np.intp]) -> list[Claim]:
    """How many rows get another class than their own, themselves among the neighbours."""
    if not hasattr(model, "classes_") or y.ndim != 1:
        return []
    if len(y) * X.shape[0] * X.shape[1] > MOST_OF_SEARCHES:
        X, y = X[asked], y[asked]
    wrong = int(np.count_nonzero(output_of(model, X) != y))
    return [measured("training error", f"{wrong:,} of {len(y):,} rows are wrong", wrong)]


def vote_claims(model: Any, own: NDArray[Any], shares: Floats, labels: NDArray[Any]) -> list[Claim]:
    """That no class has more votes than the one that is predicted."""
    votes = class_votes(model, shares, labels)
    chosen = np.where(own[:, np.newaxis] == np.asarray(model.classes_), votes, -1.0)
    lost = votes.max(axis=1) - chosen.max(axis=1)
    wrong = float(np.count_nonzero(lost > 1e-9))
    return [within("votes", f"{wrong:.0f} predictions have fewer votes than another", wrong, 0.0)]


def vote_shares(model: Any, distances: Floats) -> Floats:
    """The share (m, k) of each neighbour in the vote."""
    weights = np.ones_like(distances)
    if callable(model.weights):
        weights = np.asarray(model.weights(distances), np.float64)
    elif model.weights == "kernel":
        farthest = np.maximum(distances[:, -1:], np.finfo(float).tiny)
        weights = np.exp(-0.5 * (distances / farthest) ** 2)
    elif model.weights == "distance":
        equal = distances == 0
        nearest = distances.min(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.where(equal.any(axis=1, keepdims=True), equal, nearest / distances)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def class_votes(model: Any, shares: Floats, labels: NDArray[Any]) -> Floats:
    """The share (m, K) of the votes for each class, from the labels (m, k) of the neighbours."""
    return np.stack([(shares * (labels == c)).sum(axis=1) for c in model.classes_], axis=1)


def nearest_of(distances: Floats, k: int) -> NDArray[np.intp]:
    """The numbers of the k nearest rows; of rows as far as each other, the first."""
    near = np.flatnonzero(distances <= np.partition(distances, k - 1)[k - 1])
    order = np.argsort(distances[near], kind="stable")
    return near[order[:k]]


def left_out_claim(
    model: Any, y: NDArray[Any], asked: NDArray[np.intp], distances: Floats, k: int
) -> Claim:
    """The error of each checked row if it were not stored."""
    if y.ndim != 1 or not hasattr(model, "predict") or distances.shape[1] < k + 1:
        return measured("left out", "no row was left out", 0.0)
    others = distances.copy()
    others[np.arange(len(asked)), asked] = np.inf
    found = np.array([nearest_of(row, k) for row in others])
    shares = vote_shares(model, np.take_along_axis(others, found, axis=1))
    if hasattr(model, "classes_"):
        votes = class_votes(model, shares, y[found])
        error = float(np.mean(model.classes_[votes.argmax(axis=1)] != y[asked]))
        return measured("left out", f"{error:.2%} of the rows are wrong when left out", error)
    guess = (shares * y[found].astype(np.float64)).sum(axis=1)
    error = float(np.mean((guess - y[asked]) ** 2))
    return measured("left out", f"the mean squared error of rows left out is {error:.4g}", error)
