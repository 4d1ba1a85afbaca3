"""Trees and forests: grown out, to a depth, on categories, and many of them."""

from importlib import import_module

import numpy as np

from benchmarks.data import dense, kept
from benchmarks.scenario import Contender, Data, Quality, Scenario

THREADS = {"n_jobs": 1}


def scenarios(scale: float) -> list[Scenario]:
    def rows(n):
        return int(n * scale)

    return [
        Scenario(
            name="decision tree, dense 100k x 30, grown out",
            job="One exact tree on 100,000 x 30 float64, two classes, until every leaf is pure.",
            data=lambda: kept(dense, rows(100_000), 30, 2),
            ours=contender("rosenblatt.tree.DecisionTreeClassifier"),
            peers=(contender("sklearn.tree.DecisionTreeClassifier", 12),),
            quality=ACCURACY,
            limits=read_once,
            rounds=5,
            memory_wanted=None,
        ),
        Scenario(
            name="decision tree, dense 1M x 10, depth 8",
            job="One exact tree on 1,000,000 x 10 float64, two classes, to depth 8.",
            data=lambda: kept(dense, rows(1_000_000), 10, 2),
            ours=contender("rosenblatt.tree.DecisionTreeClassifier", max_depth=8),
            peers=(contender("sklearn.tree.DecisionTreeClassifier", 15, max_depth=8),),
            quality=ACCURACY,
            limits=read_once,
            rounds=3,
            memory_wanted=None,
        ),
        Scenario(
            name="categorical tree, 100k x 20",
            job="A tree on 100,000 x 20 columns of ten categories, two classes, grown out: ours "
            "has a branch a category, the peer reads them as numbers.",
            data=lambda: kept(categories, rows(100_000), 20, 2),
            ours=contender(
                "rosenblatt.tree.DecisionTreeClassifier",
                categorical_features=list(range(20)),
                unknown="majority",
            ),
            peers=(contender("sklearn.tree.DecisionTreeClassifier", 36),),
            quality=Quality("accuracy", accuracy, slack=0.05),
            limits=read_once,
            rounds=5,
            memory_wanted=None,
        ),
        Scenario(
            name="random forest, dense 50k x 30, 100 trees",
            job="A forest of 100 trees on 50,000 x 30 float64, two classes, on one thread.",
            data=lambda: kept(dense, rows(50_000), 30, 2),
            ours=contender("rosenblatt.ensemble.RandomForestClassifier", **THREADS),
            peers=(contender("sklearn.ensemble.RandomForestClassifier", 15, **THREADS),),
            quality=ACCURACY,
            limits=read_once,
            rounds=3,
            memory_wanted=None,
        ),
        Scenario(
            name="decision tree, small data 1,000 x 20",
            job="One exact tree on 1,000 x 20 float64, two classes, until every leaf is pure.",
            data=lambda: kept(dense, 1_000, 20, 2),
            ours=contender("rosenblatt.tree.DecisionTreeClassifier"),
            peers=(contender("sklearn.tree.DecisionTreeClassifier", 1),),
            quality=Quality("accuracy", accuracy, slack=0.05),
            limits=read_once,
            rounds=21,
            memory_wanted=None,
        ),
    ]


def categories(n, d, k):
    """Columns of ten categories by number; three of them decide, and a tenth of the labels lie."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (n, d)).astype(np.float64)
    y = ((X[:, 0] % 3 == 0) ^ (X[:, 1] % 2 == 0) ^ (X[:, 2] > 6)).astype(np.int64) % k
    flipped = rng.random(n) < 0.1
    return X, np.where(flipped, (y + 1) % k, y)


def contender(path: str, wanted: float | None = None, **settings) -> Contender:
    """A fit of the class at a dotted path."""
    module, _, name = path.rpartition(".")

    def run(data: Data, seed: int):
        model = getattr(import_module(module), name)(**settings, random_state=seed)
        return model.fit(data.X, data.y)

    package = "scikit-learn" if path.startswith("sklearn") else "rosenblatt"
    words = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return Contender(package, f"{name}({words})", package, run, wanted)


def accuracy(model, data: Data) -> float:
    return float((model.predict(data.X_test) == data.y_test).mean())


def read_once(data: Data) -> dict[str, float]:
    return {"read": data.nbytes}


ACCURACY = Quality("accuracy", accuracy, slack=0.01)
