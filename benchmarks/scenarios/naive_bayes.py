"""Naive Bayes: fit and predict in large, and row by row."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.data import dense, iris, kept
from benchmarks.scenario import Contender, Data, Quality, Scenario


def scenarios(scale: float) -> list[Scenario]:
    def rows(n):
        return int(n * scale)

    return [
        *(
            Scenario(
                name=f"GaussianNB fit and predict, dense 1M x 50, {k} classes",
                job=f"Fit on 1,000,000 x 50 float64 with {k} classes, then predict the same rows.",
                data=lambda k=k: kept(dense, rows(1_000_000), 50, k),
                ours=fit_and_predict("rosenblatt.naive_bayes.GaussianNB"),
                peers=(fit_and_predict("sklearn.naive_bayes.GaussianNB", wanted),),
                quality=ACCURACY,
                limits=read_twice,
                rounds=7,
                memory_wanted=0.07,  # 0.02 of it are the labels returned
                tried=TRIED,
            )
            for k, wanted in ((2, 15), (10, 20))
        ),
        Scenario(
            name="GaussianNB, 10,000 single rows",
            job="partial_fit on each of 10,000 rows of 50 float64 alone, two classes, and then a "
            "look at the means.",
            data=lambda: kept(dense, rows(10_000), 50, 2),
            ours=row_by_row("rosenblatt.naive_bayes.GaussianNB"),
            peers=(row_by_row("sklearn.naive_bayes.GaussianNB", 1), river_row_by_row(1)),
            quality=ACCURACY,
            limits=read_once,
            rounds=5,
            memory_wanted=None,
        ),
        Scenario(
            name="GaussianNB predict, single rows",
            job="predict on each of iris' 150 rows alone, three classes.",
            data=iris,
            ours=one_by_one("rosenblatt.naive_bayes.GaussianNB"),
            peers=(one_by_one("sklearn.naive_bayes.GaussianNB", 1),),
            quality=Quality("accuracy on the rows", right, slack=0.0),
            limits=read_once,
            rounds=11,
            memory_wanted=None,
        ),
    ]


TRIED = (
    "The fit sums units of 256 rows in plain doubles about the middle of each class, and only the "
    "units in pairs of doubles; rows are asked from memory 1,200 numbers ahead: 22 ms, 19 being "
    "the time of reading alone; 25 without asking, 52 with every number summed in pairs. "
    "Prediction by the difference of two classes' parabolas takes 25 ms, asked for ahead as well; "
    "by two distances 30. With ten classes two parabolas at a time take 63 ms, one at a time 80, "
    "vectors along the classes instead of the features 67."
)


def fit_and_predict(path: str, wanted: float | None = None) -> Contender:
    """The class at a dotted path, with its defaults."""
    module, _, name = path.rpartition(".")

    def run(data: Data, seed: int):
        model = getattr(import_module(module), name)().fit(data.X, data.y)
        model.predict(data.X)
        return model

    return Contender(
        package_of(path), f"{name}().fit(X, y).predict(X)", package_of(path), run, wanted
    )


def row_by_row(path: str, wanted: float | None = None) -> Contender:
    """`partial_fit` on one row after the other."""
    module, _, name = path.rpartition(".")

    def run(data: Data, seed: int):
        model = getattr(import_module(module), name)()
        model.partial_fit(data.X[:1], data.y[:1], classes=[0, 1])
        for i in range(1, len(data.X)):
            model.partial_fit(data.X[i : i + 1], data.y[i : i + 1])
        model.theta_.sum()
        return model

    settings = f"{name}().partial_fit(X[i:i+1], y[i:i+1]) for each i"
    return Contender(package_of(path), settings, package_of(path), run, wanted)


def one_by_one(path: str, wanted: float | None = None) -> Contender:
    """A fitted model that predicts one row after the other."""
    module, _, name = path.rpartition(".")

    def prepare(data: Data):
        return getattr(import_module(module), name)().fit(data.X, data.y), data.X

    def run(prepared, seed: int):
        model, X = prepared
        return np.array([model.predict(X[i : i + 1])[0] for i in range(len(X))])

    settings = f"{name}().predict(X[i:i+1]) for each i"
    return Contender(package_of(path), settings, package_of(path), run, wanted, prepare)


def river_row_by_row(wanted: float) -> Contender:
    """`learn_one` on one row after the other, as dicts made before."""

    def prepare(data: Data):
        return [(dict(enumerate(x.tolist())), int(y)) for x, y in zip(data.X, data.y, strict=True)]

    def run(rows: Any, seed: int):
        from river.naive_bayes import GaussianNB

        model = GaussianNB()
        for x, y in rows:
            model.learn_one(x, y)
        return Streamed(model)

    settings = "naive_bayes.GaussianNB().learn_one over dicts made before"
    return Contender("River", settings, "river", run, wanted, prepare)


@dataclass
class Streamed:
    """A model of River's that predicts arrays."""

    model: Any

    def predict(self, X):
        return np.array([self.model.predict_one(dict(enumerate(x.tolist()))) for x in X])


def package_of(path: str) -> str:
    return "scikit-learn" if path.startswith("sklearn") else "rosenblatt"


def accuracy(model, data: Data) -> float:
    return float((model.predict(data.X_test) == data.y_test).mean())


def right(labels, data: Data) -> float:
    return float(np.mean(labels == data.y))


ACCURACY = Quality("held-out accuracy", accuracy, slack=0.0005)


def read_once(data: Data) -> dict[str, float]:
    """Learning reads every value once."""
    return {"read": data.nbytes}


def read_twice(data: Data) -> dict[str, float]:
    """Learning and predicting read every value once each."""
    return {"read": 2 * data.nbytes}
