"""Features of all folds at once, where what is learned of columns is their mean and deviation.

The features of a fold are then an affine map of those of the whole training part, column by column,
and what a model of sums knows of the one follows from what it knows of the other: rows are read
once for all folds.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.preprocessing import Standardizer

from .features import TableFeatures

NO_DEVIATION = 1e-12  # of columns whose deviation is about 1: the rest is rounding


class Rescaler(Standardizer):
    """Centres and scales some of the columns, those of a mask (d,); others stay as they are."""

    def __init__(self, columns: Any = None) -> None:
        super().__init__("z-score", ddof=0)
        self.columns = columns

    def _conclude(self) -> None:
        super()._conclude()
        assert self.mean_ is not None  # as the method says
        assert self.scale_ is not None
        self.mean_ = np.where(self.columns, self.mean_, 0.0)
        varies = self.columns & (self.scale_ > NO_DEVIATION)
        self.scale_ = np.where(varies, self.scale_, 1.0)


def scaled_alike(
    whole: TableFeatures, others: TableFeatures, of_folds: list[TableFeatures]
) -> NDArray[np.bool_] | None:
    """Which columns (d,) folds only centre and scale in another way; None if they differ by more.

    They do if a category is not met in all folds, or numbers are missing. `others` are the columns
    that are no numbers: of all rows, and of each fold.
    """
    parts = [part.scaled() for part in whole.parts_]
    names = others.get_feature_names_out().tolist()
    if None in parts or any(f.get_feature_names_out().tolist() != names for f in of_folds):
        return None
    return np.array([scaled for part in parts for scaled in part or []], bool)
