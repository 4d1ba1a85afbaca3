"""What `cluster_table` returns: labels, sentences, a report, a file."""

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rosenblatt.data import Table
from rosenblatt.data.files import whole_file

from .cluster_findings import ClusterFindings
from .model_file import SavedModel, save_model

if TYPE_CHECKING:
    import pandas as pd


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

    def write_labels(self, path: str | os.PathLike[str]) -> str:
        """Write the table as CSV, with the cluster of each row in a last column; return its name.

        It is "cluster", or "cluster_2" and so on if the table has such a column.
        """
        frame = self._table.frame if self._table.cells is None else self._table.cells
        column = self._saved.target
        with whole_file(path) as draft:
            frame.with_columns(pl.Series(column, self.labels)).write_csv(draft)
        return column

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
