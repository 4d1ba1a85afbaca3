"""Trees of clusters, against the best peers."""

from importlib import import_module

import numpy as np

from benchmarks.data import kept
from benchmarks.scenario import Contender, Data, Quality, Scenario, on_two_threads
from benchmarks.scenarios.trees import read_once

MATRIX_TRIED = (
    "A float32 matrix of all points: 1.7x fastcluster on 20,000 rows. The first rounds from "
    "centroids, whose distance is a lower bound, and a matrix in doubles of the clusters left: "
    "3.3x fastcluster, kept. That matrix from 50, 40, 30, 20 or 15% of the clusters on, 20,000 "
    "rows: 6.8, 4.7, 4.1, 2.7 and 2.6 s on a busy machine; 10,000 rows: the same from 15% to 30%. "
    "With 50 columns and no clusters in the data the bounds spare too little: 1.0 s in place "
    "of 0.6 for 6,000 x 50, so that wide rows keep the matrix of all points. In the matrix, rounds "
    "that join all pairs at once, with rows that are updated when they are read, took as long as a "
    "chain of nearest neighbors with 16 columns, and 0.8 of its time with 50 and 64."
)
WARD_TRIED = (
    "Of 11 ms half was the price of 27 rounds, 0.25 ms each. A chain for the last 100 clusters "
    "instead of rounds, and increases in partial sums: a third less time, kept (60 to 400: no "
    "difference)."
)


def scenarios(scale: float) -> list[Scenario]:
    large = [
        linkage(method, n, int(n * scale), 16, wanted)
        for method, wanted in (("Ward", 4), ("single", 5), ("complete", 2), ("average", 2))
        for n in (10_000, 20_000)
    ]
    return [
        *large,
        *map(on_two_threads, large),
        linkage("Ward", 1_000, 1_000, 20, 1, rounds=21),
    ]


def linkage(method: str, full: int, n: int, d: int, wanted: float, rounds: int = 3) -> Scenario:
    """The whole tree of blobs, one thread."""
    name = method.lower()
    peers = [
        tree_by("fastcluster", "fastcluster", "linkage", name, wanted),
        tree_by("scipy", "scipy.cluster.hierarchy", "linkage", name, wanted),
        scikit_learns(name, None),
    ]
    if name in ("single", "ward"):
        peers.insert(1, tree_by("fastcluster", "fastcluster", "linkage_vector", name, None))
    if name == "single":
        peers.append(genie())
    return Scenario(
        name=f"linkage, {method}, {full:,} x {d}",
        job=f"The tree of {full:,} x {d} float64 by {method} linkage, Euclidean, one thread.",
        data=lambda: kept(blobs, n, d),
        ours=ours(name),
        peers=tuple(peers),
        quality=Quality("minus the sum of heights", minus_heights, slack=1e-6),
        limits=read_once,
        rounds=rounds,
        memory_wanted=None,
        tried={"ward": WARD_TRIED if full < 10_000 else "", "single": ""}.get(name, MATRIX_TRIED),
    )


def blobs(n: int, d: int):
    """Rows about ten centres, and labels that nobody reads."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + (3 * rng.normal(size=(10, d)))[rng.integers(0, 10, n)]
    return X, np.zeros(n)


def ours(name: str) -> Contender:
    """The fit of our class, cut into ten."""

    def run(data: Data, seed: int):
        from rosenblatt import AgglomerativeClustering

        return AgglomerativeClustering(10, linkage=name).fit(data.X).linkage_matrix_

    words = f"AgglomerativeClustering(linkage={name!r})"
    return Contender("rosenblatt", words, "rosenblatt", run, None)


def tree_by(package: str, module: str, function: str, name: str, wanted: float | None) -> Contender:
    """A function that returns SciPy's matrix."""

    def run(data: Data, seed: int):
        return getattr(import_module(module), function)(data.X, name)

    how = "" if function == "linkage" else ", from vectors"
    return Contender(f"{package}{how}", f"{function}({name!r})", package, run, wanted)


def scikit_learns(name: str, wanted: float | None) -> Contender:
    """The fit of scikit-learn's class."""

    def run(data: Data, seed: int):
        from sklearn.cluster import AgglomerativeClustering

        model = AgglomerativeClustering(10, linkage=name, compute_distances=True).fit(data.X)
        return np.stack([model.distances_] * 3, axis=1)

    words = f"AgglomerativeClustering(linkage={name!r})"
    return Contender("scikit-learn", words, "scikit-learn", run, wanted)


def genie() -> Contender:
    """genieclust's spanning tree: what single linkage is, with Gini threshold 1."""

    def run(data: Data, seed: int):
        from genieclust import Genie

        model = Genie(n_clusters=10, gini_threshold=1.0).fit(data.X)
        return np.stack([model.distances_] * 3, axis=1)

    return Contender("genieclust", "Genie(gini_threshold=1)", "genieclust", run, None)


def minus_heights(Z, data: Data) -> float:
    """Minus the sum of heights: the same tree has the same."""
    return -float(Z[:, 2].sum())
