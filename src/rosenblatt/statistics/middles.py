"""The middle of each bucket of rows, from a sample of them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt import loops
from rosenblatt.storage import read_only

# How many rows the sample is chosen from: all of a chunk, or else so many, if not more for the
# sake of each bucket.
LOOKED_AT = 32_768
LOOKED_AT_A_BUCKET = 512


class Middles(NamedTuple):
    """Where the rows of each bucket lie."""

    centres: NDArray[np.float64]  # (B, d)
    limits: NDArray[np.float64]  # (B, d): squared distances up to which a row is near; -1 if none

    @staticmethod
    def of(X: Any, buckets: NDArray[np.int64], n_buckets: int, sample: int) -> "Middles":
        """The middles of rows X (n, d), from `sample` of each bucket; few rows have none."""
        step = max(1, len(buckets) // max(LOOKED_AT, LOOKED_AT_A_BUCKET * n_buckets))
        n_rows = np.bincount(buckets[::step] + 1, minlength=n_buckets + 1)[1:]
        chosen = np.zeros((n_buckets, sample), np.int64)
        seen = np.zeros((2, n_buckets), np.int64)
        loops.bucket_centres.choose_rows(buckets, step, n_rows, seen, chosen)
        rows = read_only(X[chosen.ravel()].astype(np.float64, copy=False))
        centres, reach = np.zeros((2, n_buckets, X.shape[1]))
        loops.bucket_centres.find_centres(rows, n_rows, centres, reach, np.empty(sample))
        return Middles(centres, np.where(reach < 0, -1.0, reach * reach))

    def as_pairs(self) -> NDArray[np.float64]:
        """The centres as pairs (2, B, d)."""
        return np.stack([self.centres, np.zeros_like(self.centres)])
