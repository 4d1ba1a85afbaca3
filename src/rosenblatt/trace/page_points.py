"""The scores of a model that is not linear, on a grid over the box that a page shows.

A page draws curves and regions from them (view/contours.js). What matters is where the best class
changes, so scores are kept relative to the best, as logarithms in eight bits; which class is best
at a node, and whether alone, is exact.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.capabilities import trace_view
from rosenblatt.plot.regions import class_scores, mark_scales
from rosenblatt.trace.run import Run

from .frame import Ruler
from .model_views import SupportScores, nameless, sums_over_supports
from .plot_columns import Data
from .run import sampled

ASPECT = 1.25  # of a box with one unit for both axes
FEWEST, MOST = 240, 2500  # nodes of a grid
ROOM = 4_700_000  # characters of a page for all steps
OTHERWISE = 320  # characters of a step besides
OCTAVE = 4  # units of a score's logarithm in a factor of two


@dataclass(frozen=True, eq=False)
class Grid:
    """Nodes in a box ([x0, x1], [y0, y1]): so many across, so many up (one, for one feature)."""

    box: NDArray[np.float64]
    shape: tuple[int, int]
    n_classes: int
    seen: Callable[[NDArray[np.float64]], Any]

    @classmethod
    def around(
        cls,
        points: NDArray[np.float64],
        n_classes: int,
        n_states: int,
        seen: Callable[[NDArray[np.float64]], Any] = np.asarray,
    ) -> Grid:
        """A grid around points (m, 1 or 2), so fine that one per state fits on a page.

        What a model sees of places (m, 1 or 2) is ``seen`` of them.
        """
        layers = 1 if n_classes == 2 else n_classes
        room = ROOM / n_states - len(points) / 4 - OTHERWISE  # four points to a digit
        nodes = int(np.clip(0.75 * room / layers, FEWEST, MOST))  # three bytes in four letters
        if points.shape[1] == 1:
            return cls(box_around(points), (nodes // 4, 1), n_classes, seen)
        across = int(np.sqrt(nodes * ASPECT))
        return cls(box_around(points), (across, nodes // across), n_classes, seen)

    def encoded(self, estimator: Any) -> str | None:
        """The scores as signed bytes in base64, a layer per class (one layer for two classes).

        A layer goes row by row from the box's lower left corner, and says by how much its class
        is behind the best; with two classes, by how much the second leads. None unless finite.
        """
        scores = self._scores(estimator)
        if not np.isfinite(scores).all():
            return None
        behind = scores.max(axis=1, keepdims=True) - scores
        behind = quantised(behind.reshape(self.shape[1], self.shape[0], -1)).transpose(2, 0, 1)
        layers = behind[0] - behind[1] if self.n_classes == 2 else -behind
        return b64encode(layers.astype(np.int8).tobytes()).decode("ascii")

    def payload(self) -> dict[str, Any]:
        """The grid as plain JSON types."""
        return {"box": self.box.tolist(), "shape": list(self.shape)}

    def _scores(self, estimator: Any) -> NDArray[np.float64]:
        """A score per node and class."""
        if not sums_over_supports(estimator):
            return class_scores(nameless(estimator, self._rows), self._rows)
        scores = self._supports.of(estimator)
        return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores

    @cached_property
    def _supports(self) -> SupportScores:
        return SupportScores(self._rows)

    @cached_property
    def _rows(self) -> Any:
        """The nodes as a model sees them."""
        (left, right), (low, high) = self.box
        across = np.linspace(left, right, self.shape[0])
        if self.shape[1] == 1:
            return self.seen(across[:, np.newaxis])
        grid = np.meshgrid(across, np.linspace(low, high, self.shape[1]))
        return self.seen(np.column_stack([axis.ravel() for axis in grid]))


def box_around(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Limits with room around the points, one unit for both axes where that is sensible."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0) * 1.24
    if len(span) == 1:
        middle, span = np.array([low[0] + high[0], 0.0]) / 2, np.array([span[0], 2.0])
    else:
        middle = (low + high) / 2
        if 1 / 3 <= span[0] / span[1] <= 3:
            up = max(span[1], span[0] / ASPECT)
            span = np.array([ASPECT * up, up])
    return np.column_stack([middle - span / 2, middle + span / 2])


def quantised(behind: NDArray[np.float64]) -> NDArray[np.int64]:
    """How far each class is behind the best (up, across, K), in quarters of octaves.

    127 is the largest, each unit less a factor ``2 ** (1 / 4)``, and 0 is 0. So a boundary is
    placed as well where scores are small as where they are large: within 1/40 of a cell.
    """
    largest = float(behind.max()) or 1.0
    octaves = np.log2(np.where(behind > 0, behind, largest)) - np.log2(largest)
    units = np.clip(np.rint(127 + OCTAVE * octaves), 1, 127).astype(np.int64)
    return np.where(behind > 0, units, 0)


# The points a page draws: a sample of the data, and every example visited.


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

        A bit each, four to a hexadecimal digit. Where rows have weights, the ``sizes`` of marks.
        """
        wrong, tied = self.ruler.wrong(estimator), self.ruler.tied(estimator)
        told = {} if wrong is None else {"wrong": bits(wrong[self.rows])}
        weights = trace_view(estimator).get("row_weights")
        if weights is not None:
            told["sizes"] = digits(mark_scales(weights)[self.rows])
        return told | ({"tied": bits(tied[self.rows])} if tied[self.rows].any() else {})

    def turned(self, before: Any, after: Any) -> list[int]:
        """The points that are supports of one model and not of the other, by their places."""
        views = trace_view(before), trace_view(after)
        of = [np.isin(self.rows, view.get("supports", ())) for view in views]
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


def digits(scales: NDArray[np.float64]) -> str:
    """Scales of marks from 0.4 to 3 as hexadecimal digits, one for each."""
    return "".join(f"{round(15 * (scale - 0.4) / 2.6):x}" for scale in np.clip(scales, 0.4, 3.0))


def bits(flags: NDArray[np.bool_]) -> str:
    """Flags as hexadecimal digits, four in each."""
    return np.packbits(flags).tobytes().hex()


def numbers(values: Any) -> Any:
    """Nested lists of floats, with null for what JSON cannot say."""
    values = values.tolist() if isinstance(values, np.ndarray) else values
    if isinstance(values, list):
        return [numbers(value) for value in values]
    return float(values) if math.isfinite(values) else None
