"""Least squares and ridge: fits, and searches for the penalty."""

from importlib import import_module

import numpy as np

from benchmarks.data import kept
from benchmarks.regression_data import noisy_plane
from benchmarks.scenario import Contender, Data, Quality, Scenario

ALPHAS = np.geomspace(1e-2, 1e6, 100)


def scenarios(scale: float) -> list[Scenario]:
    def rows(n):
        return int(n * scale)

    def table(n, d):
        return lambda: kept(noisy_plane, rows(n), d)

    r2 = Quality("R² on held-out rows", held_out_r2, slack=1e-9)
    return [
        Scenario(
            "LinearRegression fit, 1M x 50",
            "Least squares of 1,000,000 x 50 float64.",
            table(1_000_000, 50),
            fit("rosenblatt", "LinearRegression"),
            (fit("sklearn", "LinearRegression", 5),),
            r2,
            read_once,
            rounds=5,
        ),
        Scenario(
            "ridge, 100 penalties x 5 folds, 100k x 50",
            "The best of 100 penalties by five folds of 100,000 x 50 float64, then a fit to all "
            "rows with it; one of the peers leaves out one row at a time instead.",
            table(100_000, 50),
            choose("rosenblatt", "RidgeCV, 5 folds", cv_class, cv=5),
            (
                choose("sklearn", "GridSearchCV, 5 folds", search_class, 1200),
                choose("sklearn", "RidgeCV, one row at a time", cv_class, 219),
            ),
            # Leaving out rows chooses another penalty than folds do, in the fifth digit of R².
            Quality("R² on held-out rows", held_out_r2, slack=1e-4),
            read_once,
            rounds=3,
            memory_wanted=None,
            tried="Half of the time, 10 of 20 ms, is the product of the columns itself, with their "
            "centring: BLAS takes as long without it. Of the rest, six eigendecompositions take "
            "1.5 ms, all penalties of all folds 3, finding the folds 2, adding their products 1.",
        ),
        Scenario(
            "grid search, Ridge, 100 penalties x 5 folds, 100k x 50",
            "The same by GridSearchCV over alpha.",
            table(100_000, 50),
            choose("rosenblatt", "GridSearchCV, 5 folds", search_class),
            (choose("sklearn", "GridSearchCV, 5 folds", search_class, 250),),
            r2,
            read_once,
            rounds=3,
            memory_wanted=None,
        ),
        Scenario(
            "RidgeCV leaving out one row at a time, 100 penalties, 100k x 50",
            "The best of 100 penalties by rows of 100,000 x 50 float64 left out one at a time.",
            table(100_000, 50),
            choose("rosenblatt", "RidgeCV, one row at a time", cv_class),
            (choose("sklearn", "RidgeCV, one row at a time", cv_class, 20),),
            r2,
            read_once,
            rounds=3,
            memory_wanted=None,
        ),
    ]


def choose(package: str, how: str, run_with, wanted: float | None = None, **settings) -> Contender:
    """A search for the penalty, by one package."""
    name = "scikit-learn" if package == "sklearn" else package
    label = f"{name}, {how}" if wanted is not None else name
    return Contender(
        label, how, name, lambda data, seed: run_with(package, data, **settings), wanted
    )


def cv_class(package: str, data: Data, **settings):
    model = import_module(f"{package}.linear_model").RidgeCV(ALPHAS, **settings)
    return model.fit(data.X, data.y)


def search_class(package: str, data: Data):
    selection = import_module(f"{package}.model_selection")
    model = import_module(f"{package}.linear_model").Ridge()
    return selection.GridSearchCV(model, {"alpha": ALPHAS}).fit(data.X, data.y)


def fit(package: str, model: str, wanted: float | None = None, **settings) -> Contender:
    """One fit of a model of one package."""

    def run(data: Data, seed: int):
        linear_model = import_module(f"{package}.linear_model")
        return getattr(linear_model, model)(**settings).fit(data.X, data.y)

    name = "scikit-learn" if package == "sklearn" else package
    words = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return Contender(name, f"{model}({words}).fit", name, run, wanted)


def held_out_r2(model, data: Data) -> float:
    return float(model.score(data.X_test, data.y_test))


def read_once(data: Data) -> dict[str, float]:
    """The rows are read once to train."""
    return {"read": data.nbytes}
