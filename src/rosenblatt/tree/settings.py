"""What is asked of a tree, and what it learns from, in numbers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CRITERIA = {
    "gini": 0, "entropy": 1, "log_loss": 1, "squared_error": 2, "friedman_mse": 2, "poisson": 3,
    "absolute_error": 4,
}  # fmt: skip
MISSING = {"best": 0, "majority": 1, "branch": 2}
NO_DEPTH = np.iinfo(np.int32).max


def x_log_x_table(n: int) -> NDArray[np.float64]:
    """``x ln x`` of the counts from 0 to n, which entropies are sums of."""
    counts = np.arange(n + 1, dtype=np.float64)
    return np.asarray(counts * np.log(np.maximum(counts, 1.0)))


@dataclass(frozen=True)
class Settings:
    """What a tree may do, in numbers of rows and columns."""

    criterion: str
    max_depth: int = NO_DEPTH
    max_leaf_nodes: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_features: int | None = None
    random_thresholds: bool = False
    missing: str = "best"
    monotonic_cst: NDArray[np.int8] | None = None
    seed: int = 0


@dataclass(frozen=True)
class Targets:
    """What is learned: classes by number, or numbers."""

    classes: NDArray[np.int32] | None  # (n, o)
    numbers: NDArray[np.float64] | None  # (n, o)
    n_classes: tuple[int, ...]  # of each output; ones for numbers

    @property
    def n_outputs(self) -> int:
        return len(self.n_classes)
