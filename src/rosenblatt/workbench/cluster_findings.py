"""What was found in a clustering of a table, and what it says in words."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data import Column

from .cluster_profiles import ClusterProfile

SMALLEST = 0.03  # share of the rows: fewer are outliers, not a group
CLEAR, SOME = 0.5, 0.25  # silhouettes
SURE, PARTLY = 0.85, 0.6  # agreement of clusterings of parts


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
        rows = "1 row" if self.sizes[-1] == 1 else f"{self.sizes[-1]:,} rows"
        return f"left aside: a cluster of {rows}"


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
    profiles: list[ClusterProfile]
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
