"""Kernel machines: penalties of kernel ridge regression, and support vector machines."""

from importlib import import_module

import numpy as np

from benchmarks.data import kept
from benchmarks.regression_data import noisy_plane
from benchmarks.scenario import Contender, Data, Quality, Scenario
from benchmarks.scenarios.trees import PACKAGES, read_once

PENALTIES = np.logspace(-3, 3, 20)


def scenarios(scale: float) -> list[Scenario]:
    return [penalties(int(5_000 * scale))]


def penalties(n: int) -> Scenario:
    return Scenario(
        name="kernel ridge, 20 penalties x 5 folds, 5,000 x 20",
        job="GridSearchCV over 20 penalties of a Gaussian kernel in five folds of 5,000 x 20, on "
        "one thread.",
        data=lambda: kept(noisy_plane, n, 20),
        ours=searched("rosenblatt", "rosenblatt.model_selection", None),
        peers=(searched("sklearn", "sklearn.model_selection", 20),),
        quality=Quality("R2", lambda search, data: float(search.best_score_), slack=1e-6),
        limits=read_once,
        rounds=1,
        memory_wanted=None,
        tried="an eigendecomposition for each fold (2x); a band in float64 (6x)",
    )


def searched(package: str, selection: str, wanted: float | None) -> Contender:
    def run(data: Data, seed: int):
        model = import_module(f"{package}.kernel_ridge").KernelRidge(kernel="rbf", gamma=0.05)
        search = import_module(selection).GridSearchCV
        return search(model, {"alpha": PENALTIES}, cv=5).fit(data.X, data.y)

    name = PACKAGES.get(package, package)
    settings = 'GridSearchCV(KernelRidge(kernel="rbf", gamma=0.05))'
    return Contender(name, settings, name, run, wanted)
