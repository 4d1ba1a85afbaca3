"""What scores mean, in sentences: overfitting by its definition, bias or variance."""

import numpy as np
from numpy.typing import NDArray

from .problem import Problem
from .results import Contestant

Array = NDArray[np.float64]

LARGE_GAP = 0.1  # between training and held-out score, of what the held-out score lacks to one
ALL_RIGHT = 0.001  # what a score may lack to one
FLAT = 0.005  # a gain by the last doubling of rows that is none
ENOUGH_ROWS = 10_000  # to prefer a held-out set to folds


def overfits(model: Contestant, other: Contestant) -> bool:
    """Whether a model beats another on the rows it was fitted to, and loses on others.

    That is the definition, with the development part in the place of all the world.
    """
    return model.dev_train_score > other.dev_train_score and model.dev_score < other.dev_score


def verdicts_of(problem: Problem, contestants: list[Contestant]) -> list[str]:
    """What is to be said of the chosen model, the first of the contestants."""
    chosen = contestants[0]
    better = [other.family for other in contestants[1:] if overfits(chosen, other)]
    said = []
    if better:
        said.append(
            f"By the definition, {chosen.family} overfits beside {', '.join(better[:3])}: better "
            "on the rows it was fitted to, worse on the development rows."
        )
    else:
        said.append(
            f"{chosen.family[:1].upper()}{chosen.family[1:]} does not overfit beside any other: "
            "none fits the training rows worse and the development rows better."
        )
    n = len(problem.train)
    if n >= ENOUGH_ROWS:
        said.append(f"With {n:,} rows a held-out set would do; folds were used, being cheap here.")
    else:
        said.append(f"With {n:,} rows folds are needed: a small held-out set can be overfitted.")
    return said


def verdict_of_curve(rows: NDArray[np.int64], train: Array, dev: Array) -> str:
    """Bias or variance, by how the scores of a learning curve end."""
    gap, room = train[-1] - dev[-1], max(1 - dev[-1], 1e-12)
    if room < ALL_RIGHT:
        return "There is nothing left to gain on the development rows."
    gain = (dev[-1] - dev[-2]) / np.log2(rows[-1] / rows[-2])
    if gap > LARGE_GAP and gap > room / 2:
        return (
            f"Variance: it fits its own rows better by {gap:.3f}. More rows, fewer columns or a "
            "stronger penalty would help."
        )
    if gain > FLAT:
        return f"More rows would help: the last doubling gained {gain:.3f}."
    if gap < room / 4:
        return (
            "Bias: both scores have met, and more rows change nothing. A richer model or better "
            "columns would help."
        )
    return "Neither bias nor variance stands out; more rows change little."
