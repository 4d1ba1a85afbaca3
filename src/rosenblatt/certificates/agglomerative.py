"""Agglomerative clustering: the joins are made again, and each must be of the closest pair.

Up to 5,000 rows all distances of clusters are kept and every join is replayed. Beyond, some joins
are drawn, and for each some clusters that existed then are compared with all others.

Legend: n rows, joins k = 0 .. n - 2 of two nodes; node n + k is the union made by join k.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .claims import Certificate, Claim, within

Floats = NDArray[np.float64]
Nodes = NDArray[np.intp]

MOST_ROWS = (1_000, 5_000)  # that are replayed whole, at effort 0 and 1
MOST_JOINS, MOST_COMPARED = 20, 4  # of larger trees: joins, and clusters at each
NEAR, FAR = 2e-6, 1e-9  # allowances: of a height (searches in single precision), of the greatest
SCIPYS = {"l1": "cityblock", "manhattan": "cityblock", "l2": "euclidean"}


def certify_model(
    model: Any, X: Any, y: NDArray[Any] | None, weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Replay the joins of a fitted tree."""
    n = X.shape[0]
    _refuse(model, n)
    children, heights = np.asarray(model.children_), published_heights(model)
    rows = Rows(model, np.asarray(X, np.float64))
    whole = n <= MOST_ROWS[effort > 0]
    if whole:
        found, closest = replayed(rows, children)
        looked = f"all {n - 1:,} joins replayed"
    else:
        found, closest = sampled(rows, children, heights)
        looked = f"{np.count_nonzero(np.isfinite(found)):,} of {n - 1:,} joins replayed"
    claims = [
        *height_claims(found, closest, heights),
        *matrix_claims(model, children, heights),
        label_claim(model, children, heights),
        *([spanning_tree_claim(rows, found)] if rows.linkage == "single" and whole else []),
    ]
    problem = f"a tree by {rows.linkage} linkage, by the {rows.metric} distance"
    data = f"the {n:,} rows given; {looked}"
    return Certificate(type(model).__name__, problem, data, tuple(claims))


def _refuse(model: Any, n: int) -> None:
    if model.connectivity is not None:
        raise ValueError("Joins were limited by connectivity: no pair need be the closest.")
    if len(model.children_) != n - 1:
        raise ValueError(
            f"The tree is of {len(model.children_) + 1:,} rows, and {n:,} were given. Pass the "
            "rows that it was fitted to."
        )


def published_heights(model: Any) -> Floats | None:
    """The heights (n - 1,) of the joins; None if they are not published."""
    if hasattr(model, "linkage_matrix_"):
        return np.asarray(model.linkage_matrix_[:, 2])
    return getattr(model, "distances_", None)


class Rows:
    """The rows, and how far clusters of them are apart."""

    def __init__(self, model: Any, X: Floats) -> None:
        self.X, self.linkage = X, model.linkage
        metric = model.metric
        self.given = X if isinstance(metric, str) and metric == "precomputed" else None
        if callable(metric):
            self.given, metric = np.asarray(metric(X), np.float64), "given"
        self.metric = SCIPYS.get(metric, metric)

    def distances(self, some: Nodes) -> Floats:
        """The distances (m, n) of some rows from all."""
        if self.given is not None:
            return np.asarray(self.given[some], np.float64)
        more = {}
        if self.metric == "seuclidean":
            more = {"V": self.X.var(axis=0, ddof=1)}
        elif self.metric == "mahalanobis":
            more = {"VI": np.linalg.inv(np.atleast_2d(np.cov(self.X.T)))}
        return np.asarray(cdist(self.X[some], self.X, self.metric, **more))

    def from_clusters(self, inside: Nodes, codes: Nodes, sizes: Floats) -> Floats:
        """The linkage distances (K,) of the rows of one cluster from all clusters (codes)."""
        if self.linkage == "ward":
            sums = np.zeros((len(sizes), self.X.shape[1]))
            np.add.at(sums, codes, self.X)
            apart = ((sums / sizes[:, None] - self.X[inside].mean(axis=0)) ** 2).sum(axis=1)
            return np.asarray(np.sqrt(2 * apart / (1 / sizes + 1 / len(inside))))
        reduce = {"single": np.minimum, "complete": np.maximum, "average": np.add}[self.linkage]
        start = np.inf if self.linkage == "single" else 0.0
        found = np.full(len(sizes), start)
        for part in np.array_split(inside, 1 + len(inside) * len(codes) // 20_000_000):
            across = reduce.reduce(self.distances(part), axis=0)
            reduce.at(found, codes, across)
        return found / (sizes * len(inside)) if self.linkage == "average" else found


def replayed(rows: Rows, children: Nodes) -> tuple[Floats, Floats]:
    """The distance of each pair that was joined, and that of the closest pair at its step."""
    n = len(rows.X)
    D = rows.distances(np.arange(n)).copy()
    np.fill_diagonal(D, np.inf)
    place = np.concatenate([np.arange(n), np.zeros(n - 1, np.intp)])  # row of D of each node
    sizes, centres = np.ones(n), rows.X.copy()
    nearest, least = D.argmin(axis=1), D.min(axis=1)
    found, closest = np.empty(n - 1), np.empty(n - 1)
    for k, (one, two) in enumerate(children):
        a, b = place[one], place[two]
        found[k], closest[k] = D[a, b], least.min()
        _join(D, rows.linkage, sizes, centres, a, b)
        least[b] = np.inf
        stale = np.flatnonzero((nearest == a) | (nearest == b) | (np.arange(n) == a))
        stale = stale[np.isfinite(least[stale])]
        nearest[stale], least[stale] = D[stale].argmin(axis=1), D[stale].min(axis=1)
        nearer = D[a] < least
        nearest[nearer], least[nearer] = a, D[a][nearer]
        place[n + k] = a
    return found, closest


def _join(D: Floats, linkage: str, sizes: Floats, centres: Floats, a: int, b: int) -> None:
    """Put the union of two clusters into the place of a."""
    part = sizes[b] / (sizes[a] + sizes[b])
    if linkage == "ward":
        centres[a] += part * (centres[b] - centres[a])
        apart = ((centres - centres[a]) ** 2).sum(axis=1)
        row = np.sqrt(2 * apart / (1 / sizes + 1 / (sizes[a] + sizes[b])))
        row[~np.isfinite(D[a])] = np.inf
    elif linkage == "average":
        row = (1 - part) * D[a] + part * D[b]
    else:
        row = np.minimum(D[a], D[b]) if linkage == "single" else np.maximum(D[a], D[b])
    row[[a, b]] = np.inf
    D[a], D[:, a] = row, row
    D[b], D[:, b] = np.inf, np.inf
    sizes[a] += sizes[b]


def sampled(rows: Rows, children: Nodes, heights: Floats | None) -> tuple[Floats, Floats]:
    """The same of some joins, the closest among some clusters; NaN for the others."""
    n = len(rows.X)
    rng = np.random.default_rng(0)
    found, closest = np.full((2, n - 1), np.nan)
    for k in np.sort(rng.choice(n - 1, MOST_JOINS, replace=False)):
        codes, nodes = clusters_before(children, k)
        sizes = np.bincount(codes).astype(np.float64)
        ends = np.searchsorted(nodes, np.sort(children[k]))
        small = ends[np.argmin(sizes[ends])]
        compared = {int(small), *rng.choice(len(nodes), min(MOST_COMPARED, len(nodes)), False)}
        for one in compared:
            apart = rows.from_clusters(np.flatnonzero(codes == one), codes, sizes)
            if one == small:
                found[k] = apart[ends[ends != small][0]]
            apart[one] = np.inf
            closest[k] = np.fmin(closest[k], apart.min())
    return found, closest


def clusters_before(children: Nodes, k: int) -> tuple[Nodes, Nodes]:
    """The cluster of each row before join k, as a place (n,) in the sorted nodes that exist."""
    n = len(children) + 1
    top = np.arange(n + k)
    for j in range(k - 1, -1, -1):
        top[children[j]] = top[n + j]
    nodes, codes = np.unique(top[:n], return_inverse=True)
    return codes, nodes


def height_claims(found: Floats, closest: Floats, heights: Floats | None) -> list[Claim]:
    """That heights are right, never fall, and are those of the closest pairs."""
    seen = np.isfinite(found)
    found, closest = found[seen], closest[seen]
    shown = found if heights is None else np.asarray(heights, np.float64)
    scale = float(np.abs(shown).max(initial=0.0))
    late = _beyond(found - closest, closest, scale)
    fall = _beyond(-np.diff(shown), shown[1:], scale)
    claims = [
        within(
            "closest",
            f"each pair that was joined is the closest to {max((found - closest).max(), 0):.1e}",
            late,
            0.0,
        ),
        within("monotone", "heights never fall, beyond rounding", fall, 0.0),
    ]
    if heights is not None:
        off = np.abs(shown[seen] - found)
        claims.append(
            within(
                "heights",
                f"heights are the distances of the pairs to {float(off.max(initial=0)):.1e}",
                _beyond(off, found, scale),
                0.0,
            )
        )
    return claims


def matrix_claims(model: Any, children: Nodes, heights: Floats | None) -> list[Claim]:
    """That the linkage matrix and the heights published beside it are of the same tree."""
    if not hasattr(model, "linkage_matrix_"):
        return []
    n, matrix = len(children) + 1, np.asarray(model.linkage_matrix_)
    sizes = np.ones(2 * n - 1)
    for k, pair in enumerate(children):
        sizes[n + k] = sizes[pair].sum()
    wrong = np.count_nonzero(np.sort(matrix[:, :2], axis=1) != np.sort(children, axis=1))
    wrong += np.count_nonzero(matrix[:, 3] != sizes[n:])
    beside = getattr(model, "distances_", None)
    if beside is not None and heights is not None:
        wrong += np.count_nonzero(~np.isclose(beside, heights, rtol=1e-12, atol=0.0))
    statement = f"{wrong:,} numbers of linkage_matrix_ differ from children_ and distances_"
    return [within("linkage matrix", statement, float(wrong), 0.0)]


def _beyond(differences: Floats, heights: Floats, scale: float) -> float:
    """How far the worst of some differences is beyond what is allowed for rounding."""
    allowed = NEAR * np.abs(heights) + FAR * scale
    return max(float((differences - allowed).max(initial=0.0)), 0.0)


def label_claim(model: Any, children: Nodes, heights: Floats | None) -> Claim:
    """That the labels are the clusters left without the last joins, as many as asked for."""
    labels, n = np.asarray(model.labels_), len(children) + 1
    k = model.n_clusters
    if k is None and heights is not None:
        k = 1 + int(np.count_nonzero(heights >= model.distance_threshold))
    elif k is None:
        k = model.n_clusters_
    statement = f"the {k:,} clusters are the tree without its last joins"
    if labels.shape != (n,) or model.n_clusters_ != k or model.n_leaves_ != n:
        return within("labels", statement, 1.0, 0.0)
    codes, _ = clusters_before(children, n - k)
    pairs = np.unique(np.stack([labels, codes], axis=1), axis=0)
    wrong = abs(len(pairs) - k) + abs(len(np.unique(labels)) - k)
    return within("labels", statement, float(wrong), 0.0)


def spanning_tree_claim(rows: Rows, found: Floats) -> Claim:
    """That sorted heights are the edges of a minimum spanning tree, which all such trees share."""
    n = len(rows.X)
    D = rows.distances(np.arange(n))
    edges, least, waiting = [], np.full(n, np.inf), np.ones(n, bool)
    point = 0
    for _ in range(n - 1):
        waiting[point] = False
        least = np.minimum(least, D[point])
        point = int(np.where(waiting, least, np.inf).argmin())
        edges.append(least[point])
    off = float(np.abs(np.sort(edges) - np.sort(found)).max(initial=0.0))
    allowed = 1e-12 * float(np.max(edges, initial=0.0))
    return within(
        "spanning tree",
        f"heights are the edges of a minimum spanning tree to {off:.1e}",
        off,
        allowed,
    )
