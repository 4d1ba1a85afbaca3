"""The points a page draws: a sample of the data, and every example visited."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.trace.data import Data
from rosenblatt.trace.measure import Ruler
from rosenblatt.trace.run import Run
from rosenblatt.trace.thinning import sampled

MOST_POINTS = 2000


@dataclass(frozen=True, eq=False)
class Points:
    """Rows (m,) of the data that are drawn, with their places (m, 1 or 2) and labels (m,)."""

    rows: list[int]
    at: NDArray[Any]
    labels: NDArray[Any]
    classes: NDArray[Any]
    n: int
    sampled: list[int]
    ruler: Ruler

    @classmethod
    def of(cls, run: Run, data: Data, visited: Sequence[int]) -> Points | None:
        """The points `data` of a run; None unless it classifies by one or two columns."""
        drawable = data.n_features in (1, 2) and hasattr(run.last, "classes_")
        if not drawable or data.y is None:
            return None
        X, y = data.points(), data.labels()
        drawn = sampled(len(X), MOST_POINTS)
        rows = sorted({*drawn, *visited})
        return cls(rows, X[rows], y[rows], run.last.classes_, len(X), drawn, run.ruler)

    def judged(self, estimator: Any) -> dict[str, str]:
        """Which of the points the model gets ``wrong``, and which it has ``tied``, if any.

        A bit each, four to a hexadecimal digit.
        """
        wrong, tied = self.ruler.wrong(estimator), self.ruler.tied(estimator)
        told = {} if wrong is None else {"wrong": bits(wrong[self.rows])}
        return told | ({"tied": bits(tied[self.rows])} if tied[self.rows].any() else {})

    def turned(self, before: Any, after: Any) -> list[int]:
        """The points that are supports of one model and not of the other, by their places."""
        of = [np.isin(self.rows, getattr(model, "support_", ())) for model in (before, after)]
        return [int(i) for i in np.flatnonzero(of[0] != of[1])]

    def payload(self) -> dict[str, Any]:
        """The points as plain JSON types."""
        code = {name: k for k, name in enumerate(self.classes.tolist())}
        return {
            "n": self.n,
            "sampled": len(self.sampled),
            "row": self.rows,
            "at": numbers(np.column_stack([self.at, np.zeros((len(self.at), 2))])[:, :2]),
            "class": [code.get(name, -1) for name in self.labels.tolist()],
            "faint": sorted(set(self.rows).difference(self.sampled)),  # drawn while visited
        }


def bits(flags: NDArray[np.bool_]) -> str:
    """Flags as hexadecimal digits, four in each."""
    return np.packbits(flags).tobytes().hex()


def numbers(values: Any) -> Any:
    """Nested lists of floats, with null for what JSON cannot say."""
    values = values.tolist() if isinstance(values, np.ndarray) else values
    if isinstance(values, list):
        return [numbers(value) for value in values]
    return float(values) if math.isfinite(values) else None
