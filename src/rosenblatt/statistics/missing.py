"""Values that are missing: numbers and gaps apart, so that loops over numbers see only numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rosenblatt.runtime.storage import read_only

from .batch import Batch, Result

Change = Callable[[NDArray[Any]], NDArray[Any]]


def check_missing(missing: str) -> None:
    """Raise if it is not said whether missing values are refused or ignored."""
    if missing not in ("refuse", "ignore"):
        raise ValueError(f"missing must be 'refuse' or 'ignore'; got {missing!r}.")


def filled(numbers: NDArray[Any]) -> NDArray[Any]:
    """Numbers with zeros in the place of NaN."""
    return np.where(np.isnan(numbers), numbers.dtype.type(0), numbers)


def gaps(numbers: NDArray[Any]) -> NDArray[Any]:
    """Ones where numbers are NaN, zeros elsewhere."""
    return np.asarray(np.isnan(numbers), np.float32)


class Changed(Batch):
    """A batch whose numbers are changed on their way to the loops, chunk by chunk."""

    def __init__(self, batch: Batch, change: Change) -> None:
        vars(self).update(vars(batch))
        self.change = change

    def over_chunks(
        self,
        work: Callable[[Any, NDArray[np.int64], Any], Result],
        table_cells: int,
        dtypes: tuple[DTypeLike, ...] = (np.float64, np.float32),
    ) -> list[Result]:
        """As `Batch.over_chunks`."""

        def work_on(X: Any, buckets: NDArray[np.int64], weights: Any) -> Result:
            return work(self._changed(X), buckets, weights)

        return super().over_chunks(work_on, table_cells, dtypes)

    def _changed(self, X: Any) -> Any:
        if not isinstance(X, tuple):
            return read_only(self.change(X))
        data, indices, indptr = X
        here = slice(int(indptr[0]), int(indptr[-1]))  # the data may be of more rows than these
        data = read_only(self.change(data[here]))
        return data, read_only(indices[here]), read_only(indptr - indptr[0])
