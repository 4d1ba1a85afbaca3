"""Pictures as SVG: two axes, and lines, marks, bars and clouds of points between them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.workbench.protocol.significance import ends_of

from .numbers import Markup, joined, plain, tag

# Axes of a picture: where a value goes, and which values are written beside them.


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


COLOURS = 7  # of the style sheet: class_="c0" to "c6"
DASHES = (None, "7 4", "2 3", "9 3 2 3", "12 5")  # line styles, so that colour is never alone
# Around the middle: a disc, triangles, a square, a diamond, a plus and a cross.
SHAPES = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "m0-4.8l4.6 8.2h-9.2z",
    "m-3.6-3.6h7.2v7.2h-7.2z",
    "m0-5l5 5l-5 5l-5-5z",
    "m0 4.8l4.6-8.2h-9.2z",
    "m-1.6-4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z",
    "m0-2.2l2.8-2.8l2.2 2.2l-2.8 2.8l2.8 2.8l-2.2 2.2l-2.8-2.8l-2.8 2.8l-2.2-2.2l2.8-2.8l-2.8-2.8"
    "l2.2-2.2z",
)
MANY = 400  # points from which on they are drawn smaller
MANY_STEPS = 1000  # of a line, from which on those that cannot be told apart are left out
NEAR = 1.5  # points of a line that are no farther apart, in pixels, are one


def colour(k: int) -> str:
    """The class of colour k."""
    return f"c{k % COLOURS}"


def dash(k: int) -> str | None:
    """The dashes of line k: another for each turn of the colours, so that pairs differ."""
    return DASHES[(k % COLOURS + k // COLOURS) % len(DASHES)]


class Plot:
    """A picture with two axes; shapes are drawn in the order they are asked for."""

    def __init__(self, x: Axis, y: Axis, width: int = 380, height: int = 300) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height
        self.left, self.right, self.top = y.room(), width - 12, 28
        self.bottom = height - (44 if x.label else 26)
        self._shapes: list[Markup] = []

    def line(
        self, xs: ArrayLike, ys: ArrayLike, k: int = 0, *, dashes: str | None = None,
        steps: bool = False, class_: str = "line",
    ) -> None:  # fmt: skip
        """A line through points, those aside that are too near to see."""
        across, up = self._places(xs, ys)
        seen = np.isfinite(across) & np.isfinite(up)
        across, up = _thinned(across[seen], up[seen])
        if len(across):
            path = _steps(across, up) if steps else "M" + "L".join(_pairs(across, up))
            self._add("path", d=path, class_=f"{class_} {colour(k)}", stroke_dasharray=dashes)

    def band(self, xs: ArrayLike, low: ArrayLike, high: ArrayLike, k: int = 0) -> None:
        """The space between two lines."""
        across, below = self._places(xs, low)
        _, above = self._places(xs, high)
        seen = np.isfinite(across) & np.isfinite(below) & np.isfinite(above)
        there, back = _pairs(across[seen], below[seen]), _pairs(across[seen], above[seen])[::-1]
        if there:
            self._add("path", d="M" + "L".join([*there, *back]) + "z", class_=f"band {colour(k)}")

    def marks(
        self, xs: ArrayLike, ys: ArrayLike, k: int = 0, *, words: Iterable[str] = (),
        class_: str = "mark",
    ) -> None:  # fmt: skip
        """Shapes of class k at points, each with words that show when it is pointed at."""
        across, up = self._places(xs, ys)
        said = list(words) or [""] * len(across)
        for place, a, b in zip(_pairs(across, up), across, up, strict=True):
            word = said.pop(0)
            if np.isfinite(a) and np.isfinite(b):
                title = tag("title", word) if word else None
                self._add("path", title, d=f"M{place}{shape(k)}", class_=f"{class_} {colour(k)}")

    def cloud(self, xs: ArrayLike, ys: ArrayLike, k: int = 0) -> None:
        """Many points in one path: a line of no length with round ends."""
        places = dict.fromkeys(_pairs(*self._places(xs, ys)))
        path = "".join(f"M{place}h0" for place in places)
        dense = " dense" if len(places) > MANY else ""
        self._add("path", d=path, class_=f"cloud{dense} {colour(k)}")

    def points(self, xs: ArrayLike, ys: ArrayLike, k: int = 0, *, dense: bool = False) -> None:
        """Many small shapes of class k in one path."""
        size = 0.7 if dense else 0.9
        across, up = self._places(xs, ys)
        places = dict.fromkeys(_pairs(across / size, up / size))
        path = "".join(f"M{place}{shape(k)}" for place in places)
        self._add("path", d=path, class_=f"points {colour(k)}", transform=f"scale({size})")

    def bars(self, edges: ArrayLike, heights: ArrayLike, k: int = 0) -> None:
        """A histogram."""
        across, tops = np.asarray(edges), np.asarray(heights)
        corners = zip(across[:-1], across[1:], tops, strict=True)
        for low, high, top in corners:
            if top > 0:
                (a, b), (c, d) = self._places([low, high], [top, self.y.low])
                width = max(b - a - 1, 0.6)
                self._add(
                    "rect", x=_short(a), y=_short(c), width=_short(width), height=_short(d - c),
                    class_=f"bar {colour(k)}",
                )  # fmt: skip

    def whiskers(self, xs: ArrayLike, low: ArrayLike, high: ArrayLike, k: int = 0) -> None:
        """Upright lines from low to high."""
        across, below = self._places(xs, low)
        _, above = self._places(xs, high)
        ends = zip(_pairs(across, below), (_short(v) for v in above), strict=True)
        path = "".join(f"M{place}V{up}" for place, up in ends if "nan" not in place + up)
        if path:
            self._add("path", d=path, class_=f"whisker {colour(k)}")

    def rule(self, xs: ArrayLike, ys: ArrayLike) -> None:
        """A thin dotted line to compare with."""
        self.line(xs, ys, class_="rule")

    def draw(self, description: str) -> Markup:
        """The picture, with its description for those who cannot see it."""
        return tag(
            "svg", self._grid(), tag("g", *self._shapes),
            viewBox=f"0 0 {self.width} {self.height}", class_="plot", role="img",
            aria_label=description,
        )  # fmt: skip

    def _add(self, name: str, *children: object, **attributes: object) -> None:
        self._shapes.append(tag(name, *children, **attributes))

    def _places(self, xs: ArrayLike, ys: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        """Pixels across and down."""
        across = self.left + (self.right - self.left) * self.x.share(xs)
        down = self.bottom - (self.bottom - self.top) * self.y.share(ys)
        return across, down

    def _grid(self) -> Markup:
        """The axes, their ticks and their names."""
        parts = []
        for value, text in self.y.ticks():
            _, (up,) = self._places([self.x.low], [value])
            parts.append(tag("path", d=f"M{self.left} {_short(up)}H{self.right}", class_="grid"))
            parts.append(_text(text, self.left - 7, up + 4, "end"))
        for value, text in self.x.ticks():
            (across,), _ = self._places([value], [self.y.low])
            parts.append(tag("path", d=f"M{_short(across)} {self.bottom}v5", class_="tick"))
            parts.append(_text(text, across, self.bottom + 19, "middle"))
        parts.append(tag("path", d=f"M{self.left} {self.bottom}H{self.right}", class_="axis"))
        parts.append(_text(self.y.label, 2, 14, "start", class_="name"))
        middle = (self.left + self.right) / 2
        parts.append(_text(self.x.label, middle, self.height - 6, "middle", class_="name"))
        return tag("g", *parts, class_="axes")


def shape(k: int) -> str:
    """The shape of class k, to be drawn from its middle: another for each turn of the colours."""
    return SHAPES[(k % COLOURS + k // COLOURS) % len(SHAPES)]


def swatch(k: int, *, dashes: str | None = None, marked: bool = False) -> Markup:
    """A piece of line k, for a legend."""
    line = tag("path", d="M1 7H29", class_=f"line {colour(k)}", stroke_dasharray=dashes)
    mark = tag("path", d=f"M15 7{shape(k)}", class_=f"mark {colour(k)}") if marked else None
    return tag("svg", line, mark, width=30, height=14, viewBox="0 0 30 14", aria_hidden="true")


def bar(value: float, most: float, words: str, k: int = 0, *, both: bool = False) -> Markup:
    """A horizontal bar as long as its share of the most; from the middle, if it may be negative."""
    length = 0.0 if not most or not np.isfinite(value) else 100 * abs(value) / most
    length = length / 2 if both else length
    start = (50 - length if value < 0 else 50) if both else 0
    middle = tag("path", d="M50 0V10", class_="zero") if both else None
    filled = tag(
        "rect", x=_short(start), y=1, width=_short(max(length, 0.3)), height=8,
        class_=f"bar {colour(k)}",
    )  # fmt: skip
    return tag(
        "svg", filled, middle, class_="strip", viewBox="0 0 100 10", preserveAspectRatio="none",
        role="img", aria_label=words,
    )  # fmt: skip


def figure(title: str, picture: Markup, *words: object, legend: Sequence[Markup] = ()) -> Markup:
    """A picture under its title, with a legend and a word on what it says."""
    key = tag("ul", *(tag("li", entry) for entry in legend), class_="legend") if legend else None
    caption = tag("figcaption", *words) if any(words) else None
    return tag("figure", tag("h3", title), picture, key, caption)


def entry(name: object, k: int, *, dashes: str | None = None, marked: bool = False) -> Markup:
    """One line of a legend."""
    return joined(swatch(k, dashes=dashes, marked=marked), tag("span", name))


def mark_entry(name: object, k: int) -> Markup:
    """One shape of a legend, and what it stands for."""
    mark = tag("path", d=f"M7 7{shape(k)}", class_=f"mark {colour(k)}")
    picture = tag("svg", mark, width=14, height=14, viewBox="0 0 14 14", aria_hidden="true")
    return joined(picture, tag("span", name))


def _text(text: str, x: float, y: float, anchor: str, class_: str | None = None) -> Markup:
    return tag("text", text, x=_short(x), y=_short(y), text_anchor=anchor, class_=class_)


def _thinned(across: NDArray[Any], up: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Points of a line that are at least NEAR apart along it, and the last."""
    if len(across) <= MANY_STEPS:
        return across, up
    length = np.cumsum(
        np.abs(np.diff(across, prepend=across[0])) + np.abs(np.diff(up, prepend=up[0]))
    )
    run = (length // NEAR).astype(np.int64)
    kept = np.flatnonzero(np.diff(run, prepend=-1))
    kept = np.union1d(kept, [len(across) - 1])
    return across[kept], up[kept]


def _pairs(across: NDArray[Any], up: NDArray[Any]) -> list[str]:
    return [f"{_short(a)} {_short(b)}" for a, b in zip(across, up, strict=True)]


def _steps(across: NDArray[Any], up: NDArray[Any]) -> str:
    """A line that goes along first and then up or down."""
    path = f"M{_short(across[0])} {_short(up[0])}"
    return path + "".join(
        f"H{_short(a)}V{_short(b)}" for a, b in zip(across[1:], up[1:], strict=True)
    )


def _short(value: float) -> str:
    """One decimal of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
