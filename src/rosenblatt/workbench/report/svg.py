"""SVG figures: axes with lines, marks, bars and point clouds; bars and keys for tables."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import ArrayLike, NDArray

from rosenblatt.workbench.significance import ends_of

from .format import plain

WIDE = 20  # values that span more than this factor get a logarithmic axis
COLORS = 7  # of the style sheet: class_="c0" to "c6"
DASHES = (None, "7 4", "2 3", "9 3 2 3", "12 5")  # lines differ in dashes and not only in color
# Paths relative to the center: disc, triangles, square, diamond, plus and cross.
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
MANY_STEPS = 1000  # points of a line from which on it is thinned
NEAR = 1.5  # pixels between the points of a thinned line


CONTROL = {c: "\ufffd" for c in range(32) if c not in (9, 10)}  # not allowed in HTML


def printable(value: object) -> object:
    """Replace control characters in text; None becomes nothing."""
    if value is None:
        return ""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return value.translate(CONTROL)


def element(name: str, *children: object, **attributes: object) -> Markup:
    """Return one SVG element; `class_` becomes `class`, other underscores become hyphens.

    >>> print(element("text", "a < b", class_="name", text_anchor=None))
    <text class="name">a &lt; b</text>
    """
    pairs = [
        f' {key.rstrip("_").replace("_", "-")}="{escape(printable(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inside = "".join(escape(printable(child)) for child in children)
    return Markup(f"<{name}{''.join(pairs)}>{inside}</{name}>")


@dataclass(frozen=True)
class Axis:
    """A range of values with a label; `places` are tick values other than round numbers."""

    low: float
    high: float
    label: str
    log: bool = False
    places: tuple[tuple[float, str], ...] = ()

    @staticmethod
    def around(values: ArrayLike, label: str, *, log: bool = False, margin: float = 0.05) -> "Axis":
        """Return an axis that covers all finite values."""
        known = np.asarray(values, np.float64).ravel()
        known = known[np.isfinite(known)]
        if not len(known):
            return Axis(0, 1, label)
        low, high = float(known.min()), float(known.max())
        if log:
            factor = (high / low) ** margin if high > low else 2.0
            return Axis(low / factor, high * factor, label, log=True)
        padding = margin * (high - low) if high > low else abs(high) * 0.1 or 0.5
        return Axis(low - padding, high + padding, label)

    @staticmethod
    def of_scores(values: ArrayLike, metric: str, label: str, *, margin: float = 0.05) -> "Axis":
        """Return an axis for scores that does not exceed the range of the metric."""
        axis, (least, most) = Axis.around(values, label, margin=margin), ends_of(metric)
        return Axis(max(axis.low, least), min(axis.high, most), label)

    @staticmethod
    def along(values: Sequence[float], label: str) -> "Axis":
        """Return an axis for parameter values, logarithmic if they span orders of magnitude."""
        low, high = min(values), max(values)
        return Axis.around(values, label, log=low > 0 and high > WIDE * low)

    def share(self, values: ArrayLike) -> NDArray[Any]:
        """Return the positions of values along the axis, from 0 to 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self._scaled(values) - self._scaled(self.low)) / self._length)

    def ticks(self) -> list[tuple[float, str]]:
        """Return tick values and their labels."""
        if self.places:
            return list(self.places)
        values = _decades(self.low, self.high) if self.log else round_numbers(self.low, self.high)
        return [(value, plain(value)) for value in values]

    def label_width(self) -> int:
        """Return the width in pixels of the labels beside a vertical axis."""
        return 18 + 8 * max((len(text) for _, text in self.ticks()), default=3)

    @property
    def _length(self) -> float:
        return float(self._scaled(self.high) - self._scaled(self.low)) or 1.0

    def _scaled(self, values: ArrayLike) -> NDArray[Any]:
        numbers = np.asarray(values, np.float64)
        return np.log(numbers) if self.log else numbers


def round_numbers(low: float, high: float, wanted: int = 5) -> list[float]:
    """Return about `wanted` round numbers between low and high."""
    if not high > low:
        return [low]
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) if abs(step) > 1e-9 else i * step for i in range(first, last + 1)]


def histogram(values: NDArray[Any], most: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return heights and edges of at most `most` bars; nearly equal values get one bar."""
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        return np.array([len(values)]), np.array([low - 0.5, low + 0.5])
    heights, edges = np.histogram(values, bins=min(most, max(5, int(math.sqrt(len(values))))))
    return heights, edges


def _decades(low: float, high: float) -> list[float]:
    """Return powers of ten between two numbers, or 1, 2 and 5 times them if there are few."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    powers = list(range(first, last + 1))
    if len(powers) >= 3:
        stride = math.ceil(len(powers) / 6)
        return [10.0**power for power in powers[::stride]]
    values = [m * 10.0**p for p in range(first - 1, last + 1) for m in (1, 2, 5)]
    return [value for value in values if low <= value <= high]


def color(k: int) -> str:
    """Return the CSS class of color k."""
    return f"c{k % COLORS}"


def dash(k: int) -> str | None:
    """Return the dashes of line k; lines of the same color have different dashes."""
    return DASHES[(k % COLORS + k // COLORS) % len(DASHES)]


class Plot:
    """A figure with two axes; shapes are drawn in the order of the calls."""

    def __init__(self, x: Axis, y: Axis, width: int = 380, height: int = 300) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height
        self.left, self.right, self.top = y.label_width(), width - 12, 28
        self.bottom = height - (44 if x.label else 26)
        self._shapes: list[Markup] = []

    def line(
        self, xs: ArrayLike, ys: ArrayLike, k: int = 0, *, dashes: str | None = None,
        steps: bool = False, class_: str = "line",
    ) -> None:  # fmt: skip
        """Draw a line through points."""
        across, up = self._places(xs, ys)
        seen = np.isfinite(across) & np.isfinite(up)
        across, up = _thinned(across[seen], up[seen])
        if len(across):
            path = _steps(across, up) if steps else "M" + "L".join(_pairs(across, up))
            self._add("path", d=path, class_=f"{class_} {color(k)}", stroke_dasharray=dashes)

    def band(self, xs: ArrayLike, low: ArrayLike, high: ArrayLike, k: int = 0) -> None:
        """Fill the area between two lines."""
        across, below = self._places(xs, low)
        _, above = self._places(xs, high)
        seen = np.isfinite(across) & np.isfinite(below) & np.isfinite(above)
        there, back = _pairs(across[seen], below[seen]), _pairs(across[seen], above[seen])[::-1]
        if there:
            self._add("path", d="M" + "L".join([*there, *back]) + "z", class_=f"band {color(k)}")

    def marks(
        self, xs: ArrayLike, ys: ArrayLike, k: int = 0, *, titles: Iterable[str] = (),
        class_: str = "mark",
    ) -> None:  # fmt: skip
        """Draw the mark of class k at each point, with a tooltip."""
        across, up = self._places(xs, ys)
        tooltips = list(titles) or [""] * len(across)
        for place, a, b, text in zip(_pairs(across, up), across, up, tooltips, strict=True):
            if np.isfinite(a) and np.isfinite(b):
                title = element("title", text) if text else None
                self._add("path", title, d=f"M{place}{shape(k)}", class_=f"{class_} {color(k)}")

    def cloud(self, xs: ArrayLike, ys: ArrayLike, k: int = 0) -> None:
        """Draw many points as one path of zero-length lines with round ends."""
        places = dict.fromkeys(_pairs(*self._places(xs, ys)))
        path = "".join(f"M{place}h0" for place in places)
        dense = " dense" if len(places) > MANY else ""
        self._add("path", d=path, class_=f"cloud{dense} {color(k)}")

    def points(self, xs: ArrayLike, ys: ArrayLike, k: int = 0, *, dense: bool = False) -> None:
        """Draw many small marks of class k as one path."""
        size = 0.7 if dense else 0.9
        across, up = self._places(xs, ys)
        places = dict.fromkeys(_pairs(across / size, up / size))
        path = "".join(f"M{place}{shape(k)}" for place in places)
        self._add("path", d=path, class_=f"points {color(k)}", transform=f"scale({size})")

    def bars(self, edges: ArrayLike, heights: ArrayLike, k: int = 0) -> None:
        """Draw a histogram."""
        across, tops = np.asarray(edges), np.asarray(heights)
        corners = zip(across[:-1], across[1:], tops, strict=True)
        for low, high, top in corners:
            if top > 0:
                (a, b), (c, d) = self._places([low, high], [top, self.y.low])
                width = max(b - a - 1, 0.6)
                self._add(
                    "rect", x=_short(a), y=_short(c), width=_short(width), height=_short(d - c),
                    class_=f"bar {color(k)}",
                )  # fmt: skip

    def whiskers(self, xs: ArrayLike, low: ArrayLike, high: ArrayLike, k: int = 0) -> None:
        """Draw vertical lines from low to high."""
        across, below = self._places(xs, low)
        _, above = self._places(xs, high)
        ends = zip(_pairs(across, below), (_short(v) for v in above), strict=True)
        path = "".join(f"M{place}V{up}" for place, up in ends if "nan" not in place + up)
        if path:
            self._add("path", d=path, class_=f"whisker {color(k)}")

    def rule(self, xs: ArrayLike, ys: ArrayLike) -> None:
        """Draw a thin dotted reference line."""
        self.line(xs, ys, class_="rule")

    def draw(self, description: str) -> Markup:
        """Return the figure; `description` is its text for screen readers."""
        return element(
            "svg", self._grid(), element("g", *self._shapes),
            viewBox=f"0 0 {self.width} {self.height}", class_="plot", role="img",
            aria_label=description,
        )  # fmt: skip

    def _add(self, name: str, *children: object, **attributes: object) -> None:
        self._shapes.append(element(name, *children, **attributes))

    def _places(self, xs: ArrayLike, ys: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return x and y in pixels."""
        across = self.left + (self.right - self.left) * self.x.share(xs)
        down = self.bottom - (self.bottom - self.top) * self.y.share(ys)
        return across, down

    def _grid(self) -> Markup:
        """Return axes, ticks and labels."""
        parts = []
        for value, text in self.y.ticks():
            _, (up,) = self._places([self.x.low], [value])
            line = f"M{self.left} {_short(up)}H{self.right}"
            parts.append(element("path", d=line, class_="grid"))
            parts.append(_text(text, self.left - 7, up + 4, "end"))
        for value, text in self.x.ticks():
            (across,), _ = self._places([value], [self.y.low])
            parts.append(element("path", d=f"M{_short(across)} {self.bottom}v5", class_="tick"))
            parts.append(_text(text, across, self.bottom + 19, "middle"))
        parts.append(element("path", d=f"M{self.left} {self.bottom}H{self.right}", class_="axis"))
        parts.append(_text(self.y.label, 2, 14, "start", class_="name"))
        middle = (self.left + self.right) / 2
        parts.append(_text(self.x.label, middle, self.height - 6, "middle", class_="name"))
        return element("g", *parts, class_="axes")


def shape(k: int) -> str:
    """Return the path of the mark of class k; marks of the same color have different shapes."""
    return SHAPES[(k % COLORS + k // COLORS) % len(SHAPES)]


def line_key(k: int, *, dashes: str | None = None, marked: bool = False) -> Markup:
    """Return a legend key for line k."""
    line = element("path", d="M1 7H29", class_=f"line {color(k)}", stroke_dasharray=dashes)
    mark = element("path", d=f"M15 7{shape(k)}", class_=f"mark {color(k)}") if marked else None
    return element("svg", line, mark, width=30, height=14, viewBox="0 0 30 14", aria_hidden="true")


def bar(value: float, most: float, label: str, k: int = 0, *, both: bool = False) -> Markup:
    """Return a horizontal bar of length value / most, from the center if `both` signs occur."""
    length = 0.0 if not most or not np.isfinite(value) else 100 * abs(value) / most
    length = length / 2 if both else length
    start = (50 - length if value < 0 else 50) if both else 0
    middle = element("path", d="M50 0V10", class_="zero") if both else None
    filled = element(
        "rect", x=_short(start), y=1, width=_short(max(length, 0.3)), height=8,
        class_=f"bar {color(k)}",
    )  # fmt: skip
    return element(
        "svg", filled, middle, class_="strip", viewBox="0 0 100 10", preserveAspectRatio="none",
        role="img", aria_label=label,
    )  # fmt: skip


def mark_key(k: int) -> Markup:
    """Return a legend key for mark k."""
    mark = element("path", d=f"M7 7{shape(k)}", class_=f"mark {color(k)}")
    return element("svg", mark, width=14, height=14, viewBox="0 0 14 14", aria_hidden="true")


def _text(text: str, x: float, y: float, anchor: str, class_: str | None = None) -> Markup:
    return element("text", text, x=_short(x), y=_short(y), text_anchor=anchor, class_=class_)


def _thinned(across: NDArray[Any], up: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Drop points of a line that are less than NEAR pixels apart; keep the last."""
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
    """Return the path of a step function."""
    path = f"M{_short(across[0])} {_short(up[0])}"
    return path + "".join(
        f"H{_short(a)}V{_short(b)}" for a, b in zip(across[1:], up[1:], strict=True)
    )


def _short(value: float) -> str:
    """Format with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")
