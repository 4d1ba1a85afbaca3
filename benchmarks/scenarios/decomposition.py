"""Principal components: a long table of few columns, and small data."""

import numpy as np

from benchmarks.data import dense, kept
from benchmarks.scenario import Data, Quality, Scenario, on_two_threads
from benchmarks.scenarios.discriminants import fit, read_and_multiply
from benchmarks.scenarios.trees import read_once

HOME = "decomposition"


def scenarios(scale: float) -> list[Scenario]:
    large = Scenario(
        name="PCA, 1M x 50",
        job="All axes of 1,000,000 x 50 float64, from the covariance, one thread.",
        data=lambda: kept(dense, int(1_000_000 * scale), 50, 2),
        ours=fit("rosenblatt", "PCA", None, HOME),
        peers=(fit("sklearn", "PCA", 3, HOME, svd_solver="covariance_eigh"),),
        quality=Quality("captured", captured, slack=1e-9),
        limits=read_and_multiply,
        rounds=7,
        memory_wanted=0.05,
        tried="Half of a symmetric product at this machine's dgemm rate takes two thirds of our "
        "time, and half of what is wanted; the peer's product is the same half at the same "
        "rate. Saved are its further reads, for NaN and for the mean; the tiles above the "
        "diagonal; and the wait for memory, as the next rows are fetched during the products.",
    )
    return [
        large,
        on_two_threads(large),
        Scenario(
            name="PCA, small data 1,000 x 20",
            job="All axes of 1,000 x 20 float64.",
            data=lambda: kept(dense, 1_000, 20, 2),
            ours=fit("rosenblatt", "PCA", None, HOME),
            peers=(fit("sklearn", "PCA", 1, HOME),),
            quality=Quality("captured", captured, slack=1e-9),
            limits=read_once,
            rounds=21,
            memory_wanted=None,
        ),
    ]


def captured(fitted, data: Data) -> float:
    """The share of the variance of some rows that lies in the first ten axes."""
    rows = data.X_test - data.X_test.mean(axis=0)
    return float(np.sum((rows @ fitted.components_[:10].T) ** 2) / np.sum(rows**2))
