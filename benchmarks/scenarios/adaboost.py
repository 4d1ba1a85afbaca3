"""Boosted stumps."""

from benchmarks.data import dense, kept
from benchmarks.scenario import Quality, Scenario, on_two_threads
from benchmarks.scenarios.trees import ACCURACY, accuracy, contender, read_once

ADABOOST = "ensemble.AdaBoostClassifier"


def scenarios(scale: float) -> list[Scenario]:
    n = int(100_000 * scale)
    large = Scenario(
        name="AdaBoost, 200 stumps, dense 100k x 30",
        job="200 rounds of stumps on 100,000 x 30 float64, two classes.",
        data=lambda: kept(dense, n, 30, 2),
        ours=contender(f"rosenblatt.{ADABOOST}", n_estimators=200),
        peers=(contender(f"sklearn.{ADABOOST}", 35, n_estimators=200),),
        quality=ACCURACY,
        limits=read_once,
        rounds=1,
        memory_wanted=None,
    )
    small = Scenario(
        name="AdaBoost, 50 stumps, small data 1,000 x 20",
        job="50 rounds of stumps on 1,000 x 20 float64, two classes.",
        data=lambda: kept(dense, 1_000, 20, 2),
        ours=contender(f"rosenblatt.{ADABOOST}"),
        peers=(contender(f"sklearn.{ADABOOST}", 1),),
        quality=Quality("accuracy", accuracy, slack=0.05),
        limits=read_once,
        rounds=11,
        memory_wanted=None,
    )
    return [large, on_two_threads(large), small]
