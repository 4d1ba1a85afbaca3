"""What makes each cluster different, in the units of the table's own columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rosenblatt.workbench.preparation.column_parts import TRUE
from rosenblatt.workbench.preparation.row_view import dates_in, numbers_in

MOST_NAMED = 3  # columns in a sentence
LEAST_EFFECT = 0.3  # deviations, or as much of a share: smaller differences are not mentioned


@dataclass(frozen=True)
class Difference:
    """How one column differs in one cluster from all rows."""

    column: str
    kind: str  # "numeric", "date" or "categorical"
    value: Any  # the mean, or the category that is most in excess
    inside: float  # the mean, or the category's share, in the cluster
    overall: float
    effect: float  # in deviations of the column; of a share, of a coin with that share
    common: str = ""  # the commonest category in the cluster; of truth values the true one
    common_inside: float = 0.0  # its share in the cluster
    common_overall: float = 0.0


@dataclass(frozen=True)
class ClusterProfile:
    """A cluster: how many rows it has, and how its columns differ, most first."""

    number: int
    size: int
    share: float
    differences: tuple[Difference, ...]

    @property
    def sentence(self) -> str:
        """What makes it different."""
        told = [d for d in self.differences if abs(d.effect) >= LEAST_EFFECT][:MOST_NAMED]
        if not told:
            return "Much like all rows: no column stands out."
        return f"{'; '.join(map(in_words, told))}."


def in_words(difference: Difference) -> str:
    """One difference in the column's own units."""
    d = difference
    if d.kind == "categorical":
        return f"{d.column} is {d.value} in {percent(d.inside)} (all rows: {percent(d.overall)})"
    more = "higher" if d.inside > d.overall else "lower"
    if d.kind == "date":
        more = "later" if d.inside > d.overall else "earlier"
        return f"{d.column} {more}, {day(d.inside)} on average (all rows: {day(d.overall)})"
    return f"{d.column} {more}, {figure(d.inside)} on average (all rows: {figure(d.overall)})"


def percent(share: float) -> str:
    """A share in whole percent, all and none only if that is so.

    >>> percent(0.254), percent(0.996), percent(1.0), percent(0.001)
    ('25%', 'over 99%', '100%', 'under 1%')
    """
    if 0.995 <= share < 1:
        return "over 99%"
    return "under 1%" if 0 < share < 0.005 else f"{share:.0%}"


def day(value: float) -> str:
    """A number of days since 1970 as a date.

    >>> day(18329.4)
    '2020-03-08'
    """
    return str(np.datetime64(round(value), "D"))


def figure(value: float) -> str:
    """Three digits or all before the point.

    >>> figure(1234.56), figure(0.012345), figure(5.006)
    ('1,235', '0.0123', '5.01')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def profiles_of(
    frame: pl.DataFrame, kinds: dict[str, str], labels: NDArray[np.intp]
) -> list[ClusterProfile]:
    """The profile of each cluster, 0 first."""
    n, K = len(labels), int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=K)
    found: list[list[Difference]] = [[] for _ in range(K)]
    for name, kind in kinds.items():
        column = frame[name]
        if kind in ("numeric", "date"):
            differences = _of_numbers(name, kind, column, labels, K)
        else:
            differences = _of_categories(name, kind, column, labels, K)
        for k, difference in enumerate(differences):
            if difference is not None:
                found[k].append(difference)
    return [
        ClusterProfile(
            k, int(sizes[k]), float(sizes[k] / n),
            tuple(sorted(found[k], key=lambda d: -abs(d.effect))),
        )
        for k in range(K)
    ]  # fmt: skip


def _of_numbers(
    name: str, kind: str, column: pl.Series, labels: NDArray[np.intp], K: int
) -> list[Difference | None]:
    values = np.asarray((dates_in if kind == "date" else numbers_in)(column), np.float64)
    known = np.isfinite(values)
    deviation = float(values[known].std()) if known.any() else 0.0
    if deviation == 0:
        return [None] * K
    overall = float(values[known].mean())
    differences: list[Difference | None] = []
    for k in range(K):
        inside = values[known & (labels == k)]
        if not len(inside):
            differences.append(None)
            continue
        mean = float(inside.mean())
        effect = (mean - overall) / deviation
        differences.append(Difference(name, kind, mean, mean, overall, effect))
    return differences


def _of_categories(
    name: str, kind: str, column: pl.Series, labels: NDArray[np.intp], K: int
) -> list[Difference | None]:
    words = column.cast(pl.String).fill_null("missing").to_numpy()
    names, codes = np.unique(words.astype(str), return_inverse=True)
    counts = np.zeros((K, len(names)))
    np.add.at(counts, (labels, codes), 1)
    overall = counts.sum(axis=0) / len(labels)
    shares = counts / np.maximum(counts.sum(axis=1), 1)[:, None]
    spread = np.sqrt(np.maximum(overall * (1 - overall), 1e-12))
    effects = (shares - overall) / spread
    common = shares.argmax(axis=1)
    true = np.flatnonzero([str(word).lower().removesuffix(".0") in TRUE for word in names])
    if kind == "boolean" and len(true):
        common = np.full(K, true[overall[true].argmax()])
    return [
        Difference(name, "categorical", str(names[j]), float(shares[k, j]), float(overall[j]),
                   float(effects[k, j]), str(names[c]), float(shares[k, c]), float(overall[c]))
        for k, (j, c) in enumerate(zip(effects.argmax(axis=1), common, strict=True))
    ]  # fmt: skip
