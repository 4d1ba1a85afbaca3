"""What a clustering of a table gives back: labels, sentences, a report, a file."""

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rosenblatt.data import Column, Table, TableError
from rosenblatt.data.files import whole_file
from rosenblatt.workbench.model_file.files import SavedModel, save_model

from .cluster_profiles import ClusterProfile

if TYPE_CHECKING:
    import pandas as pd

CLUSTER = "cluster"  # the column of labels
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
        told.append(self._clear())
        if self.references:
            told.append(self._against_shuffled())
        if self.stability is not None:
            told.append(self._stable(self.stability))
        return told

    def _clear(self) -> str:
        score = self.best.silhouette
        if score >= CLEAR:
            return "The clusters are clearly apart: rows are nearer to their own than to others."
        if score >= SOME:
            return "The clusters touch: many rows lie between two of them."
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


class Clustering:
    """What `cluster_table` found.

    Attributes
    ----------
    labels : array of shape (n,)
        The cluster of each row; 0 is the largest.
    k : int
        How many clusters there are.
    sizes : array of shape (k,)
        How many rows each has.
    model : Pipeline
        Assigns rows of another table.
    findings : ClusterFindings
        All that was found.

    Examples
    --------
    >>> import rosenblatt
    >>> rosenblatt.cluster_table("iris", k=2)
    <Clustering of iris: 2 clusters...>
    """

    def __init__(
        self, findings: ClusterFindings, labels: NDArray[np.intp], table: Table, saved: SavedModel
    ) -> None:
        self.findings, self.labels = findings, labels
        self._table, self._saved = table, saved

    @property
    def k(self) -> int:
        """How many clusters there are."""
        return self.findings.best.k

    @property
    def sizes(self) -> NDArray[np.intp]:
        """How many rows each cluster has."""
        return np.bincount(self.labels, minlength=self.k)

    @property
    def model(self) -> Any:
        """What assigns rows of another table to these clusters."""
        return self._saved.model

    @property
    def summary(self) -> "pd.DataFrame":
        """A line for each cluster: its size, and what makes it different."""
        import pandas as pd

        return pd.DataFrame(
            {"cluster": p.number, "rows": p.size, "share": p.share, "different": p.sentence}
            for p in self.findings.profiles
        )

    @property
    def trials(self) -> "pd.DataFrame":
        """A line for each clustering that was tried, best first."""
        import pandas as pd

        lines = [
            {"family": t.family, "k": t.k, "silhouette": t.silhouette, "smallest": t.sizes[-1]}
            for t in sorted(self.findings.trials, key=lambda t: -t.silhouette)
        ]
        return pd.DataFrame(lines)

    def report(self, path: Any) -> Any:
        """Write the report, one page of HTML, whole or not at all, and return its path."""
        from .report.cluster_page import save

        save(self.findings, path)
        return path

    def save(self, path: Any) -> None:
        """Write the model to a file that `rosenblatt predict` and `load_model` read."""
        save_model(self._saved, path)

    def write_labels(self, path: str | os.PathLike[str]) -> None:
        """Write the table as CSV, with the cluster of each row in a last column."""
        frame = self._table.frame if self._table.cells is None else self._table.cells
        if CLUSTER in frame.columns:
            raise TableError(
                f"{self.findings.source} has a column {CLUSTER!r} already: rename it first."
            )
        with whole_file(path) as draft:
            frame.with_columns(pl.Series(CLUSTER, self.labels)).write_csv(draft)

    def __str__(self) -> str:
        lines = [self.findings.answer, *self.findings.reasons]
        lines += [
            f"cluster {p.number}: {p.size:,} rows ({p.share:.0%}). {p.sentence}"
            for p in self.findings.profiles
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        best = self.findings.best
        return f"<Clustering of {self.findings.source}: {best.k} clusters by {best.family}>"
