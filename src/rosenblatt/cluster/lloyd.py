"""Lloyd's iterations from one start: assign every row, average every cluster, repeat."""

from typing import Any

import numpy as np

from rosenblatt import loops

from .assignment import Rows, Table


class Lloyd:
    """The state of one start: centres, labels, and the weight and sum of each cluster, additive."""

    def __init__(self, rows: Rows, squares: Table, centres: Any) -> None:
        self.rows, self.squares = rows, squares
        self.centres = np.array(centres, np.float64, order="C")
        rows.forget_labels()
        K, d = self.centres.shape
        self.mass, self.sums = np.zeros((2, K)), np.zeros((2, K, d))
        self.losses: list[float] = []  # after each iteration
        self.n_changed, self.moved = rows.n, np.inf

    def step(self) -> None:
        """Assign and average once."""
        self.assign()
        self._fill_empty_clusters()
        new = self.centres.copy()
        loops.kmeans.find_means(self.mass, self.sums, new)
        self.rows.drifted(self.centres, new)
        self.moved = float(((new - self.centres) ** 2).sum())
        self.centres = new
        self.losses.append(self.loss())

    def assign(self) -> None:
        """Give each row its nearest centre, and move it from sum to sum."""
        places = self.rows.assign(self.centres)
        self.n_changed = self.rows.moved(places, self.mass, self.sums)

    def loss(self) -> float:
        """The sum of squared distances of rows from their centres, from the sums alone."""
        return float(loops.kmeans.loss_of(self.squares, self.mass, self.sums, self.centres))

    def conclude(self, dtype: Any) -> None:
        """Round centres to a precision, and assign rows to what is published."""
        rounded = self.centres.astype(dtype).astype(np.float64)
        if not np.array_equal(rounded, self.centres):
            self.centres = rounded
            self.rows.forget_bounds()
            self.assign()
        elif self.n_changed:
            self.assign()

    def _fill_empty_clusters(self) -> None:
        """Give each empty cluster the row that is farthest from its centre."""
        empty = np.flatnonzero(self.mass[0] <= 0)
        if not len(empty):
            return
        rows, weight = self.rows, self.rows.weights
        far = rows.distances(self.centres)
        counts = np.ones(rows.n, bool) if weight is None else weight > 0
        members = np.bincount(rows.labels[counts], minlength=len(self.centres))
        for cluster in empty:
            candidates = np.where(counts & (members[rows.labels] > 1), far, 0.0)
            row = int(candidates.argmax())
            if candidates[row] <= 0:
                break  # there are fewer different rows than clusters
            members[rows.labels[row]] -= 1
            rows.move(row, int(cluster), self.mass, self.sums)
            members[cluster], far[row] = 1, 0.0
            self.n_changed += 1
