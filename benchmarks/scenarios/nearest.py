"""Nearest neighbours: searches by several distances, the choice of k, and small data."""

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np

from benchmarks.data import dense, kept
from benchmarks.scenario import Contender, Data, Quality, Scenario, on_two_threads
from benchmarks.scenarios.trees import PACKAGES, accuracy, read_once

KNN = "neighbors.KNeighborsClassifier"
WANTED = {"manhattan": 8, "minkowski": 50, "hamming": 20}
FAISS = {"euclidean": "METRIC_L2", "manhattan": "METRIC_L1", "minkowski": "METRIC_Lp"}
TRIED = {
    16: "Single precision in registers, with the limit tested there, gave 2.0x faiss; BLAS and a "
    "selection 1.8x. Bytes took its place: 4.3x to 6.6x from run to run. With chunks of 128 to "
    "2,048 queries and rows fetched ahead it is the same.",
    128: "Single precision, at the rate of sgemm, gave 1.3x faiss, which multiplies at that rate "
    "too. Products of bytes took its place. With chunks of 128 to 2,048 queries and rows fetched "
    "ahead it is the same; steps of 3 in place of 5 deviations took 13% to 25% off in two noisy "
    "runs.",
}


def scenarios(scale: float) -> list[Scenario]:
    n = int(100_000 * scale)
    products = [search(n, 16, "euclidean", 10_000, 5), search(n, 128, "euclidean", 10_000, 2.5)]
    others = [
        search(n, d, metric, queries_of(metric, d), WANTED[metric])
        for d in (16, 128)
        for metric in WANTED
    ]
    searches = [*products, *others]
    return [*searches, *map(on_two_threads, searches), choice_of_k(), small()]


def queries_of(metric: str, d: int) -> int:
    """Few, for the peers take minutes for 10,000; ours codes the stored rows within the time."""
    return 100 if metric == "minkowski" and d > 16 else 500


def search(n: int, d: int, metric: str, m: int, wanted: float) -> Scenario:
    """The five nearest of n stored rows for each of m queries."""
    how = {"metric": metric, **({"p": 3} if metric == "minkowski" else {})}
    queries = "10k queries" if m == 10_000 else f"{m} queries"
    words = "" if metric == "euclidean" else f", {'L3' if metric == 'minkowski' else metric}"
    kind = "zeros and ones" if metric == "hamming" else "float64"
    peers = [answers(f"sklearn.{KNN}", m, wanted, algorithm="brute", **how)]
    if metric in FAISS:
        peers.append(faiss(FAISS[metric], m, wanted))
    return Scenario(
        name=f"nearest neighbours, 100k stored, {queries}, {d} columns{words}",
        job=f"The 5 nearest of 100,000 rows of {d} {kind} for each of {m:,}, on one thread.",
        data=lambda: kept(signs if metric == "hamming" else dense, n, d, 2),
        ours=answers(f"rosenblatt.{KNN}", m, None, **how),
        peers=tuple(peers),
        # Rows of zeros and ones have many neighbours at one distance, of which any five will do.
        quality=Quality("accuracy", few_accurate, slack=0.1 if metric == "hamming" else 0.01),
        limits=read_once,
        rounds=3,
        memory_wanted=None,
        tried=TRIED[d] if metric == "euclidean" else "",
    )


def signs(n, d, k):
    """Whether the numbers of `dense` are above zero, as zeros and ones."""
    X, y = dense(n, d, k)
    return (X > 0).astype(np.float64), y


def choice_of_k() -> Scenario:
    return Scenario(
        name="nearest neighbours, k from 1 to 50 by five folds, 5,000 x 20",
        job="GridSearchCV over n_neighbors from 1 to 50 on 5,000 x 20 float64, one thread.",
        data=lambda: kept(dense, 5_000, 20, 2),
        ours=chosen_by("rosenblatt", None),
        peers=(chosen_by("sklearn", 20),),
        quality=Quality("accuracy", accuracy, slack=0.0),
        limits=read_once,
        rounds=3,
        memory_wanted=None,
    )


def chosen_by(package: str, wanted: float | None) -> Contender:
    """The number of neighbours that a package's search chooses for its classifier."""

    def run(data: Data, seed: int):
        search = import_module(f"{package}.model_selection").GridSearchCV
        model = import_module(f"{package}.neighbors").KNeighborsClassifier()
        return search(model, {"n_neighbors": range(1, 51)}, cv=5).fit(data.X, data.y)

    distribution = PACKAGES.get(package, package)
    settings = "GridSearchCV(KNeighborsClassifier(), n_neighbors=1 to 50, cv=5)"
    return Contender(distribution, settings, distribution, run, wanted)


def small() -> Scenario:
    return Scenario(
        name="nearest neighbours, small data 1,000 x 20",
        job="Fit to 1,000 x 20 float64 and the classes of the same rows.",
        data=lambda: kept(dense, 1_000, 20, 2),
        ours=answers(f"rosenblatt.{KNN}", 1_000, None, refit=True),
        peers=(answers(f"sklearn.{KNN}", 1_000, 1, refit=True),),
        quality=Quality("accuracy", accuracy, slack=0.0),
        limits=read_once,
        rounds=21,
        memory_wanted=None,
    )


def few_accurate(model, data: Data) -> float:
    return float((model.predict(data.X_test[:200]) == data.y_test[:200]).mean())


def answers(path: str, m: int, wanted: float | None, refit: bool = False, **settings) -> Contender:
    """The neighbours of m rows, by a model that is fitted beforehand unless `refit`."""
    module, _, name = path.rpartition(".")
    package = PACKAGES.get(module.partition(".")[0], module.partition(".")[0])

    def fitted(data: Data):
        return getattr(import_module(module), name)(**settings).fit(data.X, data.y)

    def prepare(data: Data):
        return fitted(data), data

    def run(prepared, seed: int):
        model, data = prepared
        model = fitted(data) if refit else model
        model.predict(data.X[:m])
        return model

    words = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    found = Contender(package, f"{name}({words})", package, run, wanted)
    return replace(found, prepare=prepare)


def faiss(metric: str, m: int, wanted: float) -> Contender:
    """The neighbours of m rows by faiss's exact index, in single precision."""

    def prepare(data: Data):
        import faiss

        X = data.X.astype(np.float32)
        index = faiss.IndexFlat(X.shape[1], getattr(faiss, metric))
        index.metric_arg = 3
        index.add(X)
        return index, X[:m], data.y

    def run(prepared, seed: int):
        index, queries, y = prepared
        index.search(queries, 5)

        def predict(rows):
            votes = y[index.search(rows.astype(np.float32), 5)[1]]
            return np.array([np.bincount(of_row).argmax() for of_row in votes])

        return SimpleNamespace(predict=predict)

    return Contender("faiss", f"IndexFlat({metric})", "faiss-cpu", run, wanted, prepare)
