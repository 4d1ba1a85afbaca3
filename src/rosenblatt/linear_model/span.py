"""What columns could still explain of residuals: how far plain least squares is from its best."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.solvers.least_squares import ROUNDING

from .centred import Centred

Array = NDArray[np.float64]

UNSURE = 2.0**-50  # of a residual, as a share of the lengths of its terms: their rounding


@dataclass(frozen=True, eq=False)
class Span:
    """The columns of rows X (n, d), by the part ``s V'`` of the decomposition ``Q s V'`` of them.

    Columns are taken at length one, their lengths being `scale`; directions that do not vary at
    all are left out.
    """

    s: Array  # (r,)
    axes: Array  # V', (r, d)
    scale: Array  # (d,)
    levels: Array  # lengths of the columns before their means were taken off, at most

    @classmethod
    def of(cls, rows: Centred) -> Self:
        """The span of the columns of rows."""
        triangle, _ = rows.condensed()
        lengths = np.linalg.norm(triangle, axis=0)
        scale = np.where(lengths > 0, lengths, 1.0)
        _, s, axes = np.linalg.svd(triangle / scale, full_matrices=False)
        kept = s > ROUNDING * len(scale) * s.max(initial=0.0)
        levels = lengths + np.sqrt(rows.weight) * np.abs(rows.mean_x)
        return cls(s[kept], axes[kept], scale, levels)

    def excess(self, w: Array, target: Array, r: Array, products: Array, positive: bool) -> float:
        """How far ``|r|^2``, r = target - X w, is above its least value, at most; maybe infinity.

        It is ``|Q'r|^2``: what a projection of r would still take off it. If no coefficient may be
        negative, let ``X'r = v - u`` with v, u >= 0, and q in the span with ``X'q = v``: no column
        has a positive product with the dual point r - q, whose gap is ``|q|^2 + 2 w.u``. `products`
        are X'r (d,).
        """
        v = (np.maximum(products, 0.0) if positive else products) / self.scale
        along = self.axes @ v
        if positive and np.linalg.norm(v - along @ self.axes) > 1e-9 * np.linalg.norm(v):
            return np.inf  # there is no such q
        # Of r, of its products and of the span some is rounding, which may be in favour.
        length, terms = float(np.linalg.norm(r)), float(self.levels @ np.abs(w))
        rough = np.abs(self.axes) @ (self.levels / self.scale) / self.s
        off = UNSURE * (float(np.linalg.norm(target)) + terms + length * np.linalg.norm(rough))
        q = float(np.linalg.norm(along / self.s)) * (1 + UNSURE * rough.max(initial=0.0)) + off
        slack = 2 * (float(w @ np.maximum(-products, 0.0)) + UNSURE * length * terms)
        return float(q**2 + (slack if positive else 0.0))
