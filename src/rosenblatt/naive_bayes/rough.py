"""Decisions from weights in 32 bits, where these are enough to tell.

Weights are gathered from a table that no near cache holds: half its size is half the time. How far
a score can be off is known, so that a decision is either that of all bits, or left open.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import loops

from .scores import score

LARGEST = 1e30  # sums of weights that are larger might not fit
# A score is off by at most 2**-24 of its terms, and the two that are compared by twice that; as
# much again is more than rounding in 64 bits can add.
ROUNDING = 2.0**-22

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rough:
    """Weights and starts of scores, of which a row's largest, or its sign, decides."""

    weights: NDArray[np.float32]  # (d, K); (d,) for the difference of two classes
    start: Any  # (K,) or a number
    threshold: float | None

    @classmethod
    def of(cls, model: Any) -> Self | None:
        """The weights of a fitted model; None if it reads gaps, or has infinite or huge ones."""
        if model.missing == "ignore":
            return None
        two = len(model.classes_) == 2
        weights, start, threshold = model._weights(np.float64 if two else np.float32)
        start = start + model._log_prior().astype(np.float64)
        if two:
            with np.errstate(invalid="ignore"):
                weights = (weights[:, 1] - weights[:, 0]).astype(np.float32)
                start = start[1] - start[0]
        rough = cls(weights, start, threshold)
        return rough if rough.unit < ROUNDING * LARGEST and np.isfinite(start).all() else None

    @cached_property
    def unit(self) -> float:
        """How far two scores can be off for each that a row counts."""
        return ROUNDING * float(max(self.weights.max(), -self.weights.min()))

    def decide(self, X: Any, order: Codes) -> Codes:
        """The places of the classes of rows `order` (m,) of CSR X; -1 where all bits must tell."""
        scores, sizes = score(X, order, self.weights, self.start, self.threshold)
        if scores.ndim == 1:
            return signs(scores, self.unit * sizes)
        codes = np.empty(len(order), np.intp)
        loops.sparse_scores.choose(scores, sizes, self.unit, codes)
        return codes


def signs(scores: NDArray[np.float64], slack: NDArray[np.float64]) -> Codes:
    """1 for scores above zero, 0 for others, -1 for those nearer to it than the slack."""
    codes = (scores > 0).astype(np.intp)
    codes[np.abs(scores) < slack] = -1
    return codes


def decide_together(several: list[Rough], X: Any, order: Codes) -> list[Codes]:
    """What each of several decides, all in one read of the rows if they are planes."""
    if len(several) == 1 or any(rough.weights.ndim == 2 for rough in several):
        return [rough.decide(X, order) for rough in several]
    weights = np.column_stack([rough.weights for rough in several])
    start = np.array([rough.start for rough in several])
    scores, sizes = score(X, order, weights, start, several[0].threshold)
    return [signs(scores[:, c], rough.unit * sizes) for c, rough in enumerate(several)]
