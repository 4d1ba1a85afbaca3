"""Nearest neighbours: searches by several distances, and small data."""

from dataclasses import replace
from importlib import import_module

from benchmarks.data import dense, kept
from benchmarks.scenario import Contender, Data, Quality, Scenario
from benchmarks.scenarios.trees import PACKAGES, accuracy, read_once

KNN = "neighbors.KNeighborsClassifier"
WANTED = {(16, "euclidean"): 5, (128, "euclidean"): 2.5}
WANTED |= {(16, "manhattan"): 8, (16, "minkowski"): 50, (16, "hamming"): 20}


def scenarios(scale: float) -> list[Scenario]:
    n = int(100_000 * scale)
    shapes = [(16, "euclidean", 10_000), (128, "euclidean", 10_000)]
    shapes += [(16, metric, 500) for metric in ("manhattan", "minkowski", "hamming")]
    return [*(search(n, d, metric, m) for d, metric, m in shapes), small()]


def search(n: int, d: int, metric: str, m: int) -> Scenario:
    """The five nearest of n stored rows for each of m queries."""
    how = {"metric": metric, **({"p": 3} if metric == "minkowski" else {})}
    queries = "10k queries" if m == 10_000 else f"{m} queries"
    words = "" if metric == "euclidean" else f", {'L3' if metric == 'minkowski' else metric}"
    return Scenario(
        name=f"nearest neighbours, 100k stored, {queries}, {d} columns{words}",
        job=f"The 5 nearest of 100,000 rows of {d} float64 for each of {m:,}, on one thread.",
        data=lambda: kept(dense, n, d, 2),
        ours=answers(f"rosenblatt.{KNN}", m, None, **how),
        peers=(answers(f"sklearn.{KNN}", m, WANTED[d, metric], algorithm="brute", **how),),
        quality=Quality("accuracy", few_accurate, slack=0.0),
        limits=read_once,
        rounds=3,
        memory_wanted=None,
    )


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
