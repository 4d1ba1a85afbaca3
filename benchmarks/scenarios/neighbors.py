"""Nearest centroid: fit and predict, two classes."""

from benchmarks.data import dense, kept
from benchmarks.scenario import Scenario
from benchmarks.scenarios.discriminants import ACCURACY, AGREEMENT, fit, predict, read_once

CENTROID, HOME = "NearestCentroid", "neighbors"
ROWS, FEATURES = 1_000_000, 50


def scenarios(scale: float) -> list[Scenario]:
    def table():
        return kept(dense, int(ROWS * scale), FEATURES, 2)

    return [
        Scenario(
            name="nearest centroid fit, dense 1M x 50",
            job="Means and spread of 1,000,000 x 50 float64, two classes.",
            data=table,
            ours=fit("rosenblatt", CENTROID, None, HOME),
            peers=(fit("sklearn", CENTROID, 10, HOME),),
            quality=ACCURACY,
            limits=read_once,
            rounds=7,
            memory_wanted=0.05,
        ),
        Scenario(
            name="nearest centroid predict, dense 1M x 50",
            job="The classes of 1,000,000 x 50 float64, two classes.",
            data=table,
            ours=predict("rosenblatt", CENTROID, None, HOME),
            peers=(predict("sklearn", CENTROID, 4, HOME),),
            quality=AGREEMENT,
            limits=read_once,
            rounds=7,
            memory_wanted=0.05,
        ),
    ]
