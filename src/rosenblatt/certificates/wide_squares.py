"""Least squares and ridge of few rows with many columns: what a pass or the rows' products tell.

No sum of squares is below zero, so that a fit without residuals needs no further proof. And with a
penalty the excess is at most ``|g|^2 / penalty``, for g half the gradient: a good fit is proved by
its own slope. What else there is to know is in the products of the rows, K = X~X~' (n, n).
"""

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .regression import Fit
from .table import UNIT, Floats, Table

MOST_ROWS = 3000  # whose products are taken


class Bound(NamedTuple):
    """How far an objective is from its least value, and how far coefficients are, at most."""

    excess: float
    distance: float
    words: str = ""


def at_most(fit: Fit, penalty: float, r: Floats, noise: float, square: float, cost: float) -> Bound:
    """The nearer of two bounds that one pass gives; `cost` is what the intercept costs.

    Rounding may have moved the residuals by `noise`, of which the columns reach no more than all.
    """
    whole = square + penalty * float(fit.w @ fit.w)
    nothing = Bound(whole, math.inf, "; it is no more than that itself, and none is below zero")
    if not penalty:
        return nothing
    product, allowance = fit.table.transposed(fit.table.share * r)
    slope = float(np.linalg.norm(penalty * fit.w - product)) + float(np.linalg.norm(allowance))
    slope += 4 * UNIT * penalty * float(np.linalg.norm(fit.w))
    sure = slope / math.sqrt(penalty) + noise
    strong = Bound(sure**2 + cost, sure / math.sqrt(penalty))
    return min(strong, nothing, key=lambda bound: bound.excess)


class RowProducts(NamedTuple):
    """The spectrum of ``diag(root) X~ X~' diag(root)``."""

    table: Table
    values: Floats  # (n,), rising
    axes: Floats  # (n, n)

    @classmethod
    def of(cls, table: Table) -> "RowProducts":
        """Of rows with shares; sparse rows stay so."""
        if sp.issparse(table.X):
            along = np.asarray(table.X @ table.level).ravel()
            K = np.asarray((table.X @ table.X.T).toarray()) - along[:, np.newaxis] - along
            K += float(table.level @ table.level)
        else:
            rows = np.vstack([part for _, part in table.blocks()])
            K = rows @ rows.T
        root = np.sqrt(table.share)
        values, axes = np.linalg.eigh(K * np.outer(root, root))
        return cls(table, np.maximum(values, 0.0), axes)

    @property
    def kept(self) -> Floats:
        """Which directions are more than rounding (n,)."""
        return np.asarray(self.values > 64 * UNIT * len(self.values) * self.values.max(initial=0.0))

    @property
    def rank(self) -> int:
        """How many there are."""
        return int(np.count_nonzero(self.kept))

    def condition(self, penalty: float) -> float:
        """Of the rows in the directions kept, the penalty among them."""
        largest = float(self.values.max(initial=0.0))
        least = float(self.values[self.kept].min(initial=largest)) if not penalty else 0.0
        below = least + penalty
        return math.sqrt((largest + penalty) / below) if below > 0 else 1.0

    def idle(self, w: Floats) -> float:
        """Length of the part of w (d,) that no combination of rows makes, at most."""
        kept, root, rest = self.kept, np.sqrt(self.table.share), w
        for _ in range(2):  # the second takes off what rounding left
            along = self.axes[:, kept].T @ (root * self.table.roughly_times(rest))
            parts = self.axes[:, kept] @ (along / self.values[kept])
            rest = rest - self.table.roughly_transposed(root * parts)
        return float(np.linalg.norm(rest))
