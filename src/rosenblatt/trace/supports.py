"""The supports of a kernel model: the examples it consists of, and how much each counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def has_supports(estimator: Any) -> bool:
    """Whether the model is a weighted sum over examples."""
    return hasattr(estimator, "dual_coef_") and hasattr(estimator, "support_")


def coefficients(estimator: Any, rows: Sequence[int]) -> NDArray[np.float64]:
    """How much some rows of X count: (1, m) or (K, m), 0 for those that are no supports."""
    dual = np.atleast_2d(np.asarray(estimator.dual_coef_, dtype=np.float64))
    place = {int(row): i for i, row in enumerate(estimator.support_)}
    values = np.zeros((len(dual), len(rows)))
    for j, row in enumerate(rows):
        if row in place:
            values[:, j] = dual[:, place[row]]
    return values


def heaviest(estimator: Any, most: int) -> list[int]:
    """The rows of at most so many supports, those that count most, in order."""
    dual = np.atleast_2d(np.asarray(estimator.dual_coef_, dtype=np.float64))
    first = np.argsort(-np.abs(dual).max(axis=0), kind="stable")[:most]
    return sorted(int(row) for row in np.asarray(estimator.support_)[first])
