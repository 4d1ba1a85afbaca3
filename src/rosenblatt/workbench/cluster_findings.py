"""What a clustering found: trials, stability, profiles of the clusters, in sentences."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rosenblatt.data import Column

from .column_parts import TRUE
from .findings import rows_counted
from .row_view import dates_in, numbers_in

SMALLEST = 0.03  # share of the rows: fewer are outliers, not a group
CLEAR, SOME = 0.5, 0.25  # silhouettes
SURE, PARTLY = 0.85, 0.6  # agreement of clusterings of parts
MOST_NAMED = 3  # columns in a sentence
LEAST_EFFECT = 0.3  # deviations, or as much of a share: smaller differences are not mentioned


@dataclass(frozen=True, eq=False)
class Trial:
    """One clustering that was tried."""

    family: str
    k: int
    silhouette: float
    sizes: tuple[int, ...]  # largest first
    bic: float | None
    labels: NDArray[np.intp] = field(repr=False)

    @property
    def is_whole(self) -> bool:
        """Whether no cluster is so small that it holds outliers rather than a group."""
        return self.sizes[-1] >= max(2, SMALLEST * sum(self.sizes))

    @property
    def flaw(self) -> str:
        """Why it is not chosen, however large its silhouette; empty if it may be."""
        if self.is_whole:
            return ""
        return f"left aside: a cluster of {rows_counted(self.sizes[-1])}"


@dataclass(frozen=True)
class Stability:
    """How well clusterings of parts of the rows agree with that of all."""

    index: float  # mean adjusted Rand index
    overlaps: list[float]  # of each cluster with the most similar one: common rows of all in either
    n_resamples: int
    share: float


@dataclass(frozen=True, eq=False)
class ClusterFindings:
    """All that was found."""

    source: str
    columns: list[Column]
    hints: list[str]
    trials: list[Trial]
    best: Trial
    profiles: list["ClusterProfile"]
    references: list[float]  # silhouettes of tables with shuffled columns
    stability: Stability | None
    map: dict[str, Any] | None
    n_rows: int
    n_searched: int
    seconds: float
    budget: float | None
    stopped: str
    command: str
    versions: dict[str, str]
    random_state: int

    @property
    def answer(self) -> str:
        """Which clusters, in a sentence."""
        return (
            f"{self.best.k} clusters of {self.n_rows:,} rows by {self.best.family}: "
            f"mean silhouette {self.best.silhouette:.2f}."
        )

    @property
    def reasons(self) -> list[str]:
        """Why this many, how clear they are and how sure, a sentence each."""
        others = [t for t in self.trials if t.k != self.best.k and t.is_whole]
        told = []
        if others:
            second = max(others, key=lambda trial: trial.silhouette)
            told.append(
                f"Of {len(self.trials)} clusterings tried it has the largest mean silhouette of "
                f"those without tiny clusters; the best with another number has {second.k} "
                "clusters "
                f"by {second.family} ({second.silhouette:.2f})."
            )
        if not self.best.is_whole:
            told.append(
                f"Every clustering that was tried has a cluster below {SMALLEST:.0%} of the rows: "
                "the largest mean silhouette of all was taken."
            )
        told.append(self._clear())
        if self.references:
            told.append(self._against_shuffled())
        if self.stability is not None:
            told.append(self._stable(self.stability))
        return told

    @property
    def notes(self) -> list[str]:
        """What to know beside that: about the table, what was not tried, what was sampled."""
        told = list(self.hints)
        if self.stopped:
            why = "The time was over" if self.stopped == "budget" else "It was interrupted"
            told.append(f"{why} before everything was tried: what was found by then is shown.")
        if self.n_searched < self.n_rows:
            told.append(
                f"{self.n_searched:,} rows, drawn at random, were searched; all {self.n_rows:,} "
                "were assigned."
            )
        return told

    def _clear(self) -> str:
        score = self.best.silhouette
        if score >= CLEAR:
            return "The clusters are clearly apart: rows are nearer to their own than to others."
        if score >= SOME:
            return (
                "The clusters are wide beside the gaps between them: rows are nearer to their own, "
                "but not by much. The map shows whether they touch."
            )
        return "The clusters overlap: they divide the rows, and are hardly groups of their own."

    def _against_shuffled(self) -> str:
        most = max(self.references)
        if self.best.silhouette > most + 0.02:
            return (
                f"With each column shuffled by itself the silhouette is {most:.2f} at most: these "
                "clusters come from columns that go together."
            )
        return (
            f"With each column shuffled by itself the silhouette is {most:.2f} as well: nothing "
            "here "
            "shows that columns go together, and the clusters may mean little."
        )

    def _stable(self, stability: Stability) -> str:
        how = "much the same clusters come out"
        if stability.index < SURE:
            how = "clusters come out that partly agree"
        if stability.index < PARTLY:
            how = "other clusters come out: do not rely on them"
        return (
            f"Fitted to {stability.n_resamples} random parts with {stability.share:.0%} of the "
            "rows, "
            f"{how} (adjusted Rand index {stability.index:.2f})."
        )


# Profiles: the differences between clusters, in the units of the columns of the table.


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
