"""Clustering: k-means and mixtures from the same start, run to the same end; k-means++."""

import warnings
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np

from benchmarks.data import dense, kept
from benchmarks.scenario import Contender, Data, Quality, Scenario, on_two_threads
from benchmarks.scenarios.trees import PACKAGES, read_once

KMEANS = "cluster.KMeans"
MIXTURE_TRIED = (
    "Scratch space kept between chunks of rows: 6% faster. Half and a quarter of the products at "
    "a time, so that they stay in the nearest cache: no gain. Products of the next columns asked "
    "from memory ahead: slower. Of 190 ns a row scores take 64 and sums 79, where 57 each is the "
    "most that this processor multiplies; products take 25, exponentials 22. One BLAS thread "
    "costs 5 microseconds an iteration."
)

KMEANS_TRIED = (
    "Bounds by panel spare nothing here: some row of nearly every 24 is near a border. Rows beyond "
    "their own bound measured against their own centre first, and the rest packed into panels: "
    "about 15% faster, kept for 64 centres or more; with 20 it was slower. Packed from the panels "
    "instead of the rows: no gain. By calculation, triangle inequalities between centres would "
    "spare 1% of the pairs; bounds by groups of four centres 90% for single rows, but hardly any "
    "for a panel of 24."
)
PLUSPLUS_TRIED = (
    "Rows called from memory 12 panels ahead instead of 4: no gain. Gains summed over 128 panels "
    "instead of 32: slower. Of a run 36% are products with candidates, 20% distances in doubles of "
    "rows that come nearer, 20% the panels and the check of squares."
)


def scenarios(scale: float) -> list[Scenario]:
    large = [
        kmeans("k-means, 1M x 16, 20 clusters", int(1_000_000 * scale), 16, 20, 3),
        kmeans("k-means, 100k x 64, 100 clusters", int(100_000 * scale), 64, 100, 3),
        plusplus("k-means++, 1M x 16, 20 centres", int(1_000_000 * scale), 16, 20, 3),
        plusplus("k-means++, 100k x 64, 100 centres", int(100_000 * scale), 64, 100, 3),
        mixture("Gaussian mixture, 200k x 16, 10 full components, 50 iterations", scale, 12),
    ]
    return [
        *large,
        *map(on_two_threads, large),
        kmeans("k-means, small data 1,000 x 20", 1_000, 20, 8, 1, rounds=21),
        mixture("Gaussian mixture, small data 1,000 x 20", None, 1, rounds=11),
    ]


def kmeans(name: str, n: int, d: int, k: int, wanted: float, rounds: int = 3) -> Scenario:
    """At most 100 iterations from given centres, until no row changes sides."""
    how = {"n_clusters": k, "n_init": 1, "tol": 0.0, "max_iter": 100}
    peers = [from_given(f"sklearn.{KMEANS}", how, wanted)]
    if n > 1_000:
        peers.append(from_given(f"sklearn.{KMEANS}", {**how, "algorithm": "elkan"}, wanted))
        peers.append(from_given(f"sklearnex.{KMEANS}", how, wanted))
        peers.append(faiss(k, wanted))
    return Scenario(
        name=name,
        job=f"k-means of {n:,} x {d} float64 into {k} clusters from the same centres, one thread.",
        data=lambda: kept(dense, n, d, k),
        ours=from_given(f"rosenblatt.{KMEANS}", how, None),
        peers=tuple(peers),
        quality=Quality("minus loss per row", minus_loss, slack=1e-3),
        limits=read_once,
        rounds=rounds,
        memory_wanted=None,
        tried=KMEANS_TRIED if k > 64 else "",
    )


def plusplus(name: str, n: int, d: int, k: int, wanted: float) -> Scenario:
    """Rows drawn far from each other, with the same draws."""
    return Scenario(
        name=name,
        job=f"k-means++: {k} of {n:,} x {d} float64 drawn as centres, one thread.",
        data=lambda: kept(dense, n, d, k),
        ours=drawn_by("rosenblatt.cluster", None),
        peers=(drawn_by("sklearn.cluster", wanted),),
        quality=Quality("minus loss per row", minus_loss, slack=1e-9),
        limits=read_once,
        rounds=5,
        memory_wanted=None,
        tried=PLUSPLUS_TRIED if k < 64 else "",
    )


def drawn_by(module: str, wanted: float | None) -> Contender:
    """The function `kmeans_plusplus` of a module; the number of centres is that of the classes."""

    def run(data: Data, seed: int):
        K = int(data.y.max()) + 1
        centres, _ = import_module(module).kmeans_plusplus(data.X, K, random_state=seed)
        return SimpleNamespace(cluster_centers_=centres)

    package = PACKAGES.get(module.partition(".")[0], module.partition(".")[0])
    return Contender(package, "kmeans_plusplus()", package, run, wanted)


def mixture(name: str, scale: float | None, wanted: float, rounds: int = 3) -> Scenario:
    """EM from given means, for so many iterations."""
    n, d, k = (1_000, 20, 3) if scale is None else (int(200_000 * scale), 16, 10)
    how = {"n_components": k, "tol": 0.0, "max_iter": 50, "init_params": "random_from_data"}
    return Scenario(
        name=name,
        job=f"50 iterations of EM on {n:,} x {d} float64, {k} full components, one thread.",
        data=lambda: kept(dense, n, d, k),
        ours=by_em("rosenblatt.mixture.GaussianMixture", how, None),
        peers=(by_em("sklearn.mixture.GaussianMixture", how, wanted),),
        quality=Quality("log-likelihood", lambda model, data: model.lower_bound_, slack=1e-6),
        limits=read_once,
        rounds=rounds,
        memory_wanted=None,
        tried=MIXTURE_TRIED if scale is not None else "",
    )


def by_em(path: str, settings: dict, wanted: float | None) -> Contender:
    """A mixture at a dotted path, from the means and covariance of all rows."""
    module, _, name = path.rpartition(".")

    def run(data: Data, seed: int):
        k = settings["n_components"]
        spread = np.linalg.inv(np.cov(data.X[:10_000].T))
        how = {"means_init": given(data, k), "precisions_init": np.stack([spread] * k)}
        how |= {"weights_init": np.full(k, 1 / k), "random_state": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(import_module(module), name)(**settings, **how).fit(data.X)

    package = PACKAGES.get(module.partition(".")[0], module.partition(".")[0])
    words = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    how = f", {settings['algorithm']}" if "algorithm" in settings else ""
    return Contender(f"{package}{how}", f"{name}({words})", package, run, wanted)


def given(data: Data, k: int):
    """The centres that all start from: rows drawn once."""
    return data.X[np.random.default_rng(0).choice(len(data.X), k, replace=False)]


def from_given(path: str, settings: dict, wanted: float | None) -> Contender:
    """A fit of the class at a dotted path, from given centres."""
    module, _, name = path.rpartition(".")

    def run(data: Data, seed: int):
        init = given(data, settings["n_clusters"])
        return getattr(import_module(module), name)(**settings, init=init).fit(data.X)

    package = PACKAGES.get(module.partition(".")[0], module.partition(".")[0])
    words = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    how = f", {settings['algorithm']}" if "algorithm" in settings else ""
    return Contender(f"{package}{how}", f"{name}({words})", package, run, wanted)


def faiss(k: int, wanted: float | None) -> Contender:
    """faiss's k-means: single precision, always all 100 iterations."""

    def prepare(data: Data):
        return data, data.X.astype(np.float32)

    def run(prepared, seed: int):
        import faiss

        data, X = prepared
        model = faiss.Kmeans(X.shape[1], k, niter=100, max_points_per_centroid=len(X))
        model.train(X, init_centroids=given(data, k).astype(np.float32))
        return model

    settings = "Kmeans(niter=100), float32 rows made beforehand; it never stops early"
    return replace(Contender("faiss", settings, "faiss-cpu", run, wanted), prepare=prepare)


def minus_loss(model, data: Data) -> float:
    """Minus the mean squared distance of rows from the nearest centre."""
    centres = getattr(model, "cluster_centers_", None)
    centres = model.centroids if centres is None else centres
    X, C = data.X[:20_000], np.asarray(centres, np.float64)
    squares = (X**2).sum(axis=1)[:, None] - 2 * X @ C.T + (C**2).sum(axis=1)
    return -float(squares.min(axis=1).mean())
