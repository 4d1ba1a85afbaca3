"""Trees and forests: grown out, to a depth, on categories, and many of them."""

import os
from dataclasses import replace
from importlib import import_module

import numpy as np

from benchmarks import by_hand
from benchmarks.data import dense, kept
from benchmarks.scenario import Contender, Data, Quality, Scenario, on_two_threads

FORESTS = "ensemble.RandomForestClassifier"
TREES = "tree.DecisionTreeClassifier"
ONE_ROUND = {"n_estimators": 1, "learning_rate": 1.0, "n_jobs": "given"}
PURE = {"min_child_samples": 1, "min_child_weight": 0.0, "verbose": -1}
# LightGBM reserves histograms for every leaf that is allowed: as many as these trees need.


def scenarios(scale: float) -> list[Scenario]:
    def rows(n):
        return int(n * scale)

    grown_out = Scenario(
        name="decision tree, dense 100k x 30, grown out",
        job="One exact tree on 100,000 x 30 float64, two classes, until every leaf is pure.",
        data=lambda: kept(dense, rows(100_000), 30, 2),
        ours=contender(f"rosenblatt.{TREES}"),
        peers=(
            contender(f"sklearn.{TREES}", 12),
            contender("lightgbm.LGBMClassifier", num_leaves=2**13, **ONE_ROUND, **PURE),
            contender("xgboost.XGBClassifier", max_depth=0, **ONE_ROUND),
        ),
        quality=ACCURACY,
        limits=read_once,
        rounds=5,
        memory_wanted=None,
    )
    to_depth = Scenario(
        name="decision tree, dense 1M x 10, depth 8",
        job="One exact tree on 1,000,000 x 10 float64, two classes, to depth 8.",
        data=lambda: kept(dense, rows(1_000_000), 10, 2),
        ours=contender(f"rosenblatt.{TREES}", max_depth=8),
        peers=(
            contender(f"sklearn.{TREES}", 15, max_depth=8),
            contender(
                "lightgbm.LGBMClassifier", 1.5, max_depth=8, num_leaves=2**8, **ONE_ROUND, **PURE
            ),
            contender("xgboost.XGBClassifier", max_depth=8, **ONE_ROUND),
        ),
        quality=ACCURACY,
        limits=read_once,
        rounds=3,
        memory_wanted=None,
    )
    by_category = Scenario(
        name="categorical tree, 100k x 20",
        job="A tree on 100,000 x 20 columns of ten categories, two classes, grown out: ours "
        "has a branch a category, the peer reads them as columns of zeros and ones, or as numbers.",
        data=lambda: kept(categories, rows(100_000), 20, 2),
        ours=contender(
            f"rosenblatt.{TREES}", categorical_features=list(range(20)), unknown="majority"
        ),
        peers=(one_hot_tree(50), contender(f"sklearn.{TREES}", 36)),
        quality=Quality("accuracy", accuracy, slack=0.05),
        limits=read_once,
        rounds=3,
        memory_wanted=None,
    )
    small = Scenario(
        name="decision tree, small data 1,000 x 20",
        job="One exact tree on 1,000 x 20 float64, two classes, until every leaf is pure.",
        data=lambda: kept(dense, 1_000, 20, 2),
        ours=contender(f"rosenblatt.{TREES}"),
        peers=(contender(f"sklearn.{TREES}", 1),),
        quality=Quality("accuracy", accuracy, slack=0.05),
        limits=read_once,
        rounds=21,
        memory_wanted=None,
    )
    best_of_depth_two = Scenario(
        name="best tree of depth two, dense 10k x 10",
        job="The tree of depth two with the fewest mistakes on 10,000 x 10 float64, two classes.",
        data=lambda: kept(dense, rows(10_000), 10, 2),
        ours=contender(f"rosenblatt.{TREES}", search="optimal", max_depth=2),
        peers=(by_hand.best_tree_of_depth_two(20),),
        quality=ACCURACY,
        limits=read_once,
        rounds=5,
        memory_wanted=None,
    )
    large = [
        grown_out,
        to_depth,
        by_category,
        forest(rows(50_000)),
        predictions(rows(50_000)),
    ]
    return [*large, *map(on_two_threads, large), small, one_row(), best_of_depth_two]


def forest(n: int) -> Scenario:
    """The fit of a forest."""
    each = {"n_jobs": "given"}
    bagged = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.632}
    return Scenario(
        name="random forest, dense 50k x 30, 100 trees",
        job="A forest of 100 trees on 50,000 x 30 float64, two classes, on one thread.",
        data=lambda: kept(dense, n, 30, 2),
        ours=contender(f"rosenblatt.{FORESTS}", **each),
        peers=(
            contender(f"sklearn.{FORESTS}", 15, **each),
            contender(f"sklearnex.{FORESTS}", 3, **each),
            contender(
                "lightgbm.LGBMClassifier",
                feature_fraction_bynode=5 / 30,
                **each,
                num_leaves=2**12,
                **bagged,
                **PURE,
            ),
            contender("xgboost.XGBRFClassifier", max_depth=0, colsample_bynode=5 / 30, **each),
        ),
        quality=ACCURACY,
        limits=read_once,
        rounds=3,
        memory_wanted=None,
    )


def predictions(n: int) -> Scenario:
    """The predictions of a forest for as many rows as it was fitted to."""

    def answers(path: str, wanted: float | None = None) -> Contender:
        return predicting(contender(path, wanted, n_jobs="given"))

    return Scenario(
        name="random forest predict, dense 50k x 30, 100 trees",
        job="The classes of 50,000 rows by a forest of 100 trees, on one thread.",
        data=lambda: kept(dense, n, 30, 2),
        ours=answers(f"rosenblatt.{FORESTS}"),
        peers=(answers(f"sklearn.{FORESTS}", 2), answers(f"sklearnex.{FORESTS}", 1)),
        quality=ACCURACY,
        limits=read_once,
        rounds=5,
        memory_wanted=None,
    )


def one_row() -> Scenario:
    """The class of a single row."""
    return Scenario(
        name="decision tree predict, one row",
        job="The class of one row by a tree that was fitted to 1,000 x 20 float64, two classes.",
        data=lambda: kept(dense, 1_000, 20, 2),
        ours=predicting(contender(f"rosenblatt.{TREES}"), 1),
        peers=(predicting(contender(f"sklearn.{TREES}", 1), 1),),
        quality=Quality("accuracy", accuracy, slack=0.05),
        limits=lambda data: {},
        rounds=21,
        memory_wanted=None,
    )


def predicting(fit: Contender, n: int | None = None) -> Contender:
    """The predictions, of the first n rows or all, of a model that is fitted before the clock."""

    def run(fitted, seed: int):
        model, rows = fitted
        model.predict(rows)
        return model

    return replace(fit, prepare=lambda data: (fit.run(data, 0), data.X[:n]), run=run)


def one_hot_tree(wanted: float) -> Contender:
    """scikit-learn's tree on a column of zeros and ones for each category."""

    def run(data: Data, seed: int):
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder
        from sklearn.tree import DecisionTreeClassifier

        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)
        return make_pipeline(encoder, DecisionTreeClassifier(random_state=seed)).fit(data.X, data.y)

    settings = "OneHotEncoder, DecisionTreeClassifier()"
    return Contender("scikit-learn, one-hot", settings, "scikit-learn", run, wanted)


def categories(n, d, k):
    """Columns of ten categories by number; three of them decide, and a tenth of the labels lie."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (n, d)).astype(np.float64)
    y = ((X[:, 0] % 3 == 0) ^ (X[:, 1] % 2 == 0) ^ (X[:, 2] > 6)).astype(np.int64) % k
    flipped = rng.random(n) < 0.1
    return X, np.where(flipped, (y + 1) % k, y)


PACKAGES = {"sklearn": "scikit-learn", "sklearnex": "scikit-learn-intelex"}


def contender(path: str, wanted: float | None = None, **settings) -> Contender:
    """A fit of the class at a dotted path; n_jobs="given" is the scenario's number of threads."""
    module, _, name = path.rpartition(".")

    def run(data: Data, seed: int):
        given = dict(settings)
        if settings.get("n_jobs") == "given":
            given["n_jobs"] = int(os.environ["OMP_NUM_THREADS"])
        model = getattr(import_module(module), name)(**given, random_state=seed)
        return model.fit(data.X, data.y)

    package = PACKAGES.get(module.partition(".")[0], module.partition(".")[0])
    words = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return Contender(package, f"{name}({words})", package, run, wanted)


def accuracy(model, data: Data) -> float:
    return float((model.predict(data.X_test) == data.y_test).mean())


def read_once(data: Data) -> dict[str, float]:
    return {"read": data.nbytes}


ACCURACY = Quality("accuracy", accuracy, slack=0.01)
