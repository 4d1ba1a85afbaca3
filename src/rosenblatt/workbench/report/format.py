"""Format numbers, names and settings for reports; NaN and infinity become a dash."""

import math
from collections.abc import Mapping
from typing import Any

from rosenblatt.plot.drawing import clipped as clipped
from rosenblatt.workbench.findings import Contestant, is_small

DASH = "\u2013"
MINUS = "\u2212"
THIN = "\u202f"  # between a number and its unit

RAISED = str.maketrans("-0123456789", "\u207b\u2070¹²³\u2074\u2075\u2076\u2077\u2078\u2079")

METRICS = {"r2": "R²", "roc_auc": "area under the ROC curve", "neg_log_loss": "negative log loss"}


def score(value: float) -> str:
    """Format a score: three decimals, four digits of large ones, two digits of small ones."""
    return plain(float(f"{value:.2g}")) if is_small(value) else difference(value)


def difference(value: float) -> str:
    """Format a difference of scores; a score below 1 is never rounded to 1."""
    if not math.isfinite(value):
        return DASH
    text = f"{value:.3f}" if abs(value) < 10 else plain(value)
    if text == "1.000" and value < 1:
        text = f"{math.floor(value * 1e4) / 1e4:.4f}"
    return _signed("0.000" if text == "-0.000" else text)


def deviation(value: float, of: float) -> str:
    """Format a deviation with the decimals of its score, more if they would all be zero."""
    if not math.isfinite(value) or abs(of) >= 1e15 or is_small(of):
        return score(value)
    decimals = len(score(of).partition(".")[2])
    lost = is_small(value) and not round(value, decimals)
    return score(value) if lost else f"{value:,.{decimals}f}"


def plain(value: float) -> str:
    """Format a number with four digits and, if possible, without an exponent."""
    if not math.isfinite(value):
        return DASH
    if value == int(value) and abs(value) < 1e15:
        return count(int(value)) if abs(value) >= 1e4 else _signed(str(int(value)))  # e.g. a year
    if 1e4 <= abs(value) < 1e15:
        return count(round(value))
    digits, _, power = f"{value:.4g}".partition("e")
    if not power:
        return _signed(digits)
    raised = str(int(power)).translate(RAISED)
    return f"10{raised}" if digits == "1" else f"{_signed(digits)}·10{raised}"


def weight(value: float) -> str:
    """Format a weight with three digits, trailing zeros included, so that columns align."""
    if abs(value) >= 1000:
        return plain(float(round(value)))
    if abs(value) < 0.001:
        return plain(float(f"{value:.3g}"))
    return _signed(f"{value:#.3g}".rstrip("."))


def count(value: int) -> str:
    """Format a whole number with thousands separators."""
    return _signed(f"{value:,}")


def share(value: float) -> str:
    """Format a fraction as a percentage; only 0 and 1 become 0% and 100%."""
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
    """Format a duration in s, ms or µs."""
    if not math.isfinite(value):
        return DASH
    for unit, length in (("s", 1.0), ("ms", 1e-3)):
        if value >= length:
            return _few(value / length) + THIN + unit
    return _few(value / 1e-6) + THIN + "µs"


def size(n_bytes: int) -> str:
    """Format a number of bytes."""
    for unit, length in (("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= length:
            return _few(n_bytes / length) + THIN + unit
    return f"{n_bytes}{THIN}B"


def p_value(value: float) -> str:
    """Format a p-value with two digits."""
    if not math.isfinite(value):
        return DASH
    if value < 0.001:
        return "<" + THIN + "0.001"
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def metric(name: str) -> str:
    """Return the name of a metric in words."""
    return METRICS.get(name, name.replace("neg_", "negative ").replace("_", " "))


def title(text: str) -> str:
    """Capitalize the first letter only."""
    return text[:1].upper() + text[1:]


def value_of(value: Any, most: int = 40) -> str:
    """Format the value of a parameter."""
    return f"{value:.4g}" if isinstance(value, float) else clipped(value, most)


def settings(parameters: Mapping[str, Any], most: int = 40) -> str:
    """Format parameters and their values."""
    pairs = [f"{short(name)} = {value_of(value, most)}" for name, value in parameters.items()]
    return ", ".join(pairs) if pairs else "default settings"


def short(name: str) -> str:
    """Return a parameter name without the steps of its pipeline."""
    return clipped(name.rsplit("__", 1)[-1], 40)


def named(contestant: Contestant, most: int = 40) -> str:
    """Return the name of a family, with its package if it is not rosenblatt."""
    name = clipped(contestant.family, most)
    ours = contestant.package in ("", "rosenblatt")
    return name if ours else f"{name} ({clipped(contestant.package, most)})"


def plural(n: int, one: str, many: str = "") -> str:
    """Return a count with its noun."""
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def _few(value: float) -> str:
    """Format with at least two digits."""
    return f"{value:.1f}" if value < 10 else count(round(value))


def _signed(text: str) -> str:
    return text.replace("-", MINUS)
