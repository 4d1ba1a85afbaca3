"""Boosted trees on histograms: 100 rounds of 31 leaves."""

import numpy as np
import polars as pl

from benchmarks.data import dense, kept
from benchmarks.scenario import Contender, Data, Quality, Scenario, on_two_threads
from benchmarks.scenarios.trees import ACCURACY, accuracy, contender, predicting, read_once
from benchmarks.scenarios.workbench import TABLES

BOOSTING = "ensemble.HistGradientBoosting"
LIGHTGBM = {"n_jobs": "given", "verbose": -1}
XGBOOST = {"n_jobs": "given", "max_depth": 0, "max_leaves": 31, "grow_policy": "lossguide"}


def scenarios(scale: float) -> list[Scenario]:
    def rows(n):
        return int(n * scale)

    two_classes = boosting(
        "histogram boosting, dense 100k x 30",
        "100 rounds of 31 leaves on 100,000 x 30 float64, two classes.",
        lambda: kept(dense, rows(100_000), 30, 2),
        contenders("Classifier", 2.5, 2.5, None),
        Quality("log-loss, negative", log_loss, slack=0.005),
    )
    numbers = boosting(
        "histogram boosting regression, 300k x 20",
        "100 rounds of 31 leaves on 300,000 x 20 float64, squared error.",
        lambda: kept(waves, rows(300_000), 20),
        contenders("Regressor", 2, 2, 2),
        Quality("R2", r2, slack=0.005),
    )
    letters = boosting(
        "histogram boosting, letter, 26 classes",
        "100 rounds of 26 trees of 31 leaves on 16,000 x 16.",
        lambda: kept(letter, rows(16_000)),
        contenders("Classifier", 2, 2, 2),
        ACCURACY,
    )
    small = boosting(
        "histogram boosting, small data 1,000 x 20",
        "100 rounds of 31 leaves on 1,000 x 20 float64, two classes.",
        lambda: kept(dense, 1_000, 20, 2),
        contenders("Classifier", 1, None, None),
        Quality("accuracy", accuracy, slack=0.05),
        n_rounds=11,
    )
    predict = boosting(
        "histogram boosting predict, dense 100k x 30",
        "The classes of 100,000 rows by 100 trees of 31 leaves.",
        two_classes.data,
        [predicting(one) for one in contenders("Classifier", 2, None, 1)],
        two_classes.quality,
    )
    large = [two_classes, numbers, letters, predict]
    return [*large, *map(on_two_threads, large), small]


def contenders(kind: str, *wanted: float | None) -> list[Contender]:
    """Ours, scikit-learn, LightGBM and XGBoost."""
    sklearn, lightgbm, xgboost = wanted
    return [
        contender(f"rosenblatt.{BOOSTING}{kind}", early_stopping=False),
        contender(f"sklearn.{BOOSTING}{kind}", sklearn, early_stopping=False),
        contender(f"lightgbm.LGBM{kind}", lightgbm, **LIGHTGBM),
        contender(f"xgboost.XGB{kind}", xgboost, learning_rate=0.1, **XGBOOST),
    ]


def boosting(
    name: str, job: str, data, contenders: list[Contender], quality: Quality, n_rounds: int = 3
) -> Scenario:
    ours, *peers = contenders
    return Scenario(
        name=name, job=job, data=data, ours=ours, peers=tuple(peers), quality=quality,
        limits=read_once, rounds=n_rounds, memory_wanted=None,
    )  # fmt: skip


def waves(n, d):
    """A sum of waves, products and steps of some columns, and noise."""
    rng = np.random.default_rng([n, d])
    X = rng.standard_normal((n, d))
    t = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.where(X[:, 3] > 0, X[:, 4], -X[:, 5])
    return X, t + 0.5 * X[:, 6:10].sum(axis=1) + rng.standard_normal(n)


def letter(n):
    """The letters of the alphabet, 16 numbers each."""
    table = pl.read_csv(TABLES / "letter" / "letter.csv.gz")[:n]
    y = np.unique(table["letter"].to_numpy(), return_inverse=True)[1]
    return table.drop("letter").to_numpy().astype(np.float64), y


def r2(model, data: Data) -> float:
    return float(model.score(data.X_test, data.y_test))


def log_loss(model, data: Data) -> float:
    p = np.clip(model.predict_proba(data.X_test)[:, 1], 1e-15, 1 - 1e-15)
    return float(np.mean(np.log(np.where(data.y_test == 1, p, 1 - p))))
