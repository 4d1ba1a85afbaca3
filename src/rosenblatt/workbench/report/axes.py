"""Axes of a picture: where a value goes, and which values are written beside them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.workbench.significance import ends_of

from .numbers import plain

WIDE = 20  # values that span more than this factor get a logarithmic axis


@dataclass(frozen=True)
class Axis:
    """A range of values with a name; `places` are the values to write, if not round numbers."""

    low: float
    high: float
    label: str
    log: bool = False
    places: tuple[tuple[float, str], ...] = ()

    @staticmethod
    def around(values: ArrayLike, label: str, *, log: bool = False, margin: float = 0.05) -> "Axis":
        """An axis with room for all values that are numbers."""
        known = np.asarray(values, np.float64).ravel()
        known = known[np.isfinite(known)]
        if not len(known):
            return Axis(0, 1, label)
        low, high = float(known.min()), float(known.max())
        if log:
            stretch = (high / low) ** margin if high > low else 2.0
            return Axis(low / stretch, high * stretch, label, log=True)
        room = margin * (high - low) if high > low else abs(high) * 0.1 or 0.5
        return Axis(low - room, high + room, label)

    @staticmethod
    def of_scores(values: ArrayLike, metric: str, label: str, *, margin: float = 0.05) -> "Axis":
        """An axis with room for scores, which ends where a score can be no better or worse."""
        axis, (least, most) = Axis.around(values, label, margin=margin), ends_of(metric)
        return Axis(max(axis.low, least), min(axis.high, most), label)

    @staticmethod
    def along(values: Sequence[float], label: str) -> "Axis":
        """An axis for values in order: logarithmic where they span orders of magnitude."""
        low, high = min(values), max(values)
        return Axis.around(values, label, log=low > 0 and high > WIDE * low)

    def share(self, values: ArrayLike) -> NDArray[Any]:
        """How far along the axis values are, from 0 to 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self._scaled(values) - self._scaled(self.low)) / self._length)

    def ticks(self) -> list[tuple[float, str]]:
        """Values to write, with their text."""
        if self.places:
            return list(self.places)
        values = _decades(self.low, self.high) if self.log else round_numbers(self.low, self.high)
        return [(value, plain(value)) for value in values]

    def room(self) -> int:
        """Pixels for the texts beside an upright axis."""
        return 18 + 8 * max((len(text) for _, text in self.ticks()), default=3)

    @property
    def _length(self) -> float:
        return float(self._scaled(self.high) - self._scaled(self.low)) or 1.0

    def _scaled(self, values: ArrayLike) -> NDArray[Any]:
        numbers = np.asarray(values, np.float64)
        return np.log(numbers) if self.log else numbers


def round_numbers(low: float, high: float, wanted: int = 5) -> list[float]:
    """About as many round numbers as wanted, between two."""
    if not high > low:
        return [low]
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) if abs(step) > 1e-9 else i * step for i in range(first, last + 1)]


def histogram(values: NDArray[Any], most: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Heights and edges of at most so many bars; values that hardly differ share one."""
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        return np.array([len(values)]), np.array([low - 0.5, low + 0.5])
    heights, edges = np.histogram(values, bins=min(most, max(5, int(math.sqrt(len(values))))))
    return heights, edges


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten between two numbers, every so many; more of each where there are few."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    powers = list(range(first, last + 1))
    if len(powers) >= 3:
        stride = math.ceil(len(powers) / 6)
        return [10.0**power for power in powers[::stride]]
    values = [m * 10.0**p for p in range(first - 1, last + 1) for m in (1, 2, 5)]
    return [value for value in values if low <= value <= high]
