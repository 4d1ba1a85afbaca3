"""The first pass of most fits: which classes there are, how many rows, where the columns lie."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data import TableError
from rosenblatt.linear_model.centered_rows import FAR
from rosenblatt.statistics import Moments

from .passes import PartRows, Passes

Array = NDArray[np.float64]


def count_classes(rows: PartRows) -> Any:
    """Moments of each class of one part."""
    return rows.summed(Moments.of)


def moments_of(X: Any, y: Any) -> Moments:
    """Moments of all rows of a batch together."""
    return Moments.of(X)


def count_rows(rows: PartRows) -> Any:
    """Moments of all rows of one part together."""
    return rows.summed(moments_of)


class Census:
    """Counts, means and variances of one pass, by class if there are classes."""

    def __init__(self, passes: Passes, by_class: bool) -> None:
        self.moments: Moments = passes.total(count_classes if by_class else count_rows)
        self.classes, self.counts = self.moments.classes, np.asarray(self.moments.weight)
        self.n_rows, self.dtype = int(self.moments.rows.sum()), self.moments.dtype
        if by_class and len(self.classes) < 2:
            raise TableError(
                "The number of classes has to be greater than one; "
                f"{passes.source.target} has {len(self.classes)}: {self.classes.tolist()}."
            )

    @property
    def mean(self) -> Array:
        """The mean of each column, (d,)."""
        return np.asarray(self.counts @ self.moments.mean / self.counts.sum())

    @property
    def variance(self) -> Array:
        """The variance of each column, (d,)."""
        between = self.counts @ (self.moments.mean - self.mean) ** 2
        return np.asarray((self.moments.scatter.sum(axis=0) + between) / self.counts.sum())

    def offsets(self, sparse: bool) -> Array | None:
        """What to subtract (d,) from columns far from zero, where curvature loses its digits."""
        deviation = np.sqrt(self.variance)
        far = (np.abs(self.mean) > FAR * deviation) & (deviation > 0)
        if sparse or not far.any():
            return None
        return np.where(far, self.mean, 0.0).astype(self.dtype).astype(np.float64)

    def codes(self, y: NDArray[Any]) -> NDArray[np.intp]:
        """The number of each row's class."""
        return codes_of(self.classes, y)


def codes_of(classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.intp]:
    """The number among the sorted classes of each label."""
    seen, places = np.unique(y, return_inverse=True)
    return np.asarray(np.searchsorted(classes, seen)[places], np.intp)
