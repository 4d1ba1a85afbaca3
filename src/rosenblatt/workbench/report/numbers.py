"""Numbers, names and settings as people read them; what is not a number is a dash."""

import html
import math
from collections.abc import Iterable, Mapping
from typing import Any

from rosenblatt.plot.drawing import clipped as clipped
from rosenblatt.workbench.protocol.results import Contestant, is_small

DASH = "\u2013"
MINUS = "\u2212"
THIN = "\u202f"  # between a number and its unit

RAISED = str.maketrans("-0123456789", "\u207b\u2070¹²³\u2074\u2075\u2076\u2077\u2078\u2079")

METRICS = {"r2": "R²", "roc_auc": "area under the ROC curve", "neg_log_loss": "negative log loss"}


def score(value: float) -> str:
    """Three decimals, or four digits of what is large; more where it would be rounded to one.

    Of what is so small that three decimals say little, two digits.
    """
    return plain(float(f"{value:.2g}")) if is_small(value) else difference(value)


def difference(value: float) -> str:
    """The same for what one score is better than another: the smallest are no matter."""
    if not math.isfinite(value):
        return DASH
    text = f"{value:.3f}" if abs(value) < 10 else plain(value)
    if text == "1.000" and value < 1:
        text = f"{math.floor(value * 1e4) / 1e4:.4f}"
    return _signed("0.000" if text == "-0.000" else text)


def deviation(value: float, of: float) -> str:
    """A deviation, with as many decimals as the score that it is of; more if they are zeros."""
    if not math.isfinite(value) or abs(of) >= 1e15 or is_small(of):
        return score(value)
    decimals = len(score(of).partition(".")[2])
    lost = is_small(value) and not round(value, decimals)
    return score(value) if lost else f"{value:,.{decimals}f}"


def plain(value: float) -> str:
    """Four digits, without an exponent where there need be none."""
    if not math.isfinite(value):
        return DASH
    if value == int(value) and abs(value) < 1e15:
        return count(int(value)) if abs(value) >= 1e4 else _signed(str(int(value)))  # a year, say
    if 1e4 <= abs(value) < 1e15:
        return count(round(value))
    digits, _, power = f"{value:.4g}".partition("e")
    if not power:
        return _signed(digits)
    raised = str(int(power)).translate(RAISED)
    return f"10{raised}" if digits == "1" else f"{_signed(digits)}·10{raised}"


def weight(value: float) -> str:
    """Three digits or all before the point, zeros at the end too: those below it compare."""
    if abs(value) >= 1000:
        return plain(float(round(value)))
    if abs(value) < 0.001:
        return plain(float(f"{value:.3g}"))
    return _signed(f"{value:#.3g}".rstrip("."))


def count(value: int) -> str:
    """A whole number, its thousands apart as in the sentences that others wrote."""
    return _signed(f"{value:,}")


def share(value: float) -> str:
    """Percent with one decimal; all is all, and none is none."""
    if not math.isfinite(value):
        return DASH
    if value in (0, 1):
        return f"{value:.0%}"
    if 0 < value < 0.0005:
        return "<" + THIN + "0.1%"
    if -0.0005 < value < 0:
        return "0.0%"
    if 0.9995 <= value < 1:
        return f"{math.floor(value * 1e4) / 100:.2f}%"
    return f"{100 * value:.1f}%"


def seconds(value: float) -> str:
    """A time, in the unit that suits it."""
    if not math.isfinite(value):
        return DASH
    for unit, length in (("s", 1.0), ("ms", 1e-3)):
        if value >= length:
            return _few(value / length) + THIN + unit
    return _few(value / 1e-6) + THIN + "µs"


def size(n_bytes: int) -> str:
    """Bytes, kilobytes or megabytes."""
    for unit, length in (("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= length:
            return _few(n_bytes / length) + THIN + unit
    return f"{n_bytes}{THIN}B"


def p_value(value: float) -> str:
    """Two digits; very small ones are all alike."""
    if not math.isfinite(value):
        return DASH
    if value < 0.001:
        return "<" + THIN + "0.001"
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def metric(name: str) -> str:
    """What a score is called."""
    return METRICS.get(name, name.replace("neg_", "negative ").replace("_", " "))


def title(text: str) -> str:
    """With a capital at the start; the rest as it is."""
    return text[:1].upper() + text[1:]


def value_of(value: Any, most: int = 40) -> str:
    """A parameter's value."""
    return f"{value:.4g}" if isinstance(value, float) else clipped(value, most)


def settings(parameters: Mapping[str, Any], most: int = 40) -> str:
    """Parameters and their values."""
    pairs = [f"{short(name)} = {value_of(value, most)}" for name, value in parameters.items()]
    return ", ".join(pairs) if pairs else "as they come"


def short(name: str) -> str:
    """A parameter's name without the steps of the pipeline that it is in."""
    return clipped(name.rsplit("__", 1)[-1], 40)


def named(contestant: Contestant, most: int = 40) -> str:
    """A family by its name, and its package if that is not this one."""
    name = clipped(contestant.family, most)
    ours = contestant.package in ("", "rosenblatt")
    return name if ours else f"{name} ({clipped(contestant.package, most)})"


def plural(n: int, one: str, many: str = "") -> str:
    """The number and its noun."""
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def _few(value: float) -> str:
    """Two digits or more."""
    return f"{value:.1f}" if value < 10 else count(round(value))


def _signed(text: str) -> str:
    return text.replace("-", MINUS)


# HTML and SVG made of tags: whatever is not markup already is escaped, so that no name can be.


EMPTY = frozenset({"br", "hr", "meta", "link"})  # tags of HTML that are never closed
SIGNS = {c: "\ufffd" for c in range(32) if c not in (9, 10)} | {
    ord(c): html.escape(c) for c in "&<>\"'"
}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """One element; ``class_`` is ``class``, and other underscores are hyphens.

    >>> print(tag("p", "a < b", tag("b", "!"), class_="note", hidden=None))
    <p class="note">a &lt; b<b>!</b></p>
    """
    opening = name + "".join(map(_attribute, attributes.items()))
    if name in EMPTY:
        return Markup(f"<{opening}>")
    return Markup(f"<{opening}>{joined(*children)}</{name}>")


def joined(*children: object) -> Markup:
    """Elements and texts one after the other; None is nothing."""
    return Markup(
        "".join([c if isinstance(c, Markup) else _text(c) for c in children if c is not None])
    )


def table(heads: Iterable[str], rows: Iterable[Markup], class_: str) -> Markup:
    """A table whose columns have names; one of pictures has an empty name."""
    cells = (tag("th", head, scope="col") if head else tag("td") for head in heads)
    return tag("table", tag("thead", tag("tr", *cells)), tag("tbody", *rows), class_=class_)


def warnings(title: str, sentences: Iterable[str]) -> Markup | None:
    """A box that lists sentences under a title; None if there are none."""
    lines = [tag("li", sentence) for sentence in sentences]
    box = tag("aside", tag("h3", title), tag("ul", *lines), class_="warnings")
    return box if lines else None


def _text(value: object) -> str:
    """Text as HTML, with a sign in the place of characters that are for machines."""
    text = str(value)
    return text if text.isalnum() else text.translate(SIGNS)


def _attribute(pair: tuple[str, object]) -> str:
    name, value = pair
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_text(value)}"'
