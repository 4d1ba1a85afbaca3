"""A least-squares fit reported to callbacks: one step, or each of many where it is iterated."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.base import Passes, StopReason
from rosenblatt.solvers import Iterate, gap_above_zero
from rosenblatt.solvers.least_squares import ROUNDING

from .centred_rows import Centred
from .column_warnings import columns

Array = NDArray[np.float64]


# What columns could still explain of residuals: how far plain least squares is from its best.


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
        """How far ``|r|^2``, r = target - X w, is above its least value, at most; or infinity."""
        # It is ``|Q'r|^2``: what a projection of r would still take off it. If no coefficient may
        # be negative, let ``X'r = v - u`` with v, u >= 0, and q in the span with ``X'q = v``: no
        # column has a positive product with the dual point r - q, whose gap is ``|q|^2 + 2 w.u``.
        # `products` are X'r (d,).
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


class Stopped(Exception):
    """A callback has asked for the end of the fit."""


class Watch:
    """Reports each step to the callbacks; without any it does nothing.

    A step is reported once the next is known, and the last when all is over, since SciPy's
    L-BFGS calls back without marking its last step. Targets are taken one after the other.
    """

    coef: Array  # (d, t), at the step reported last

    def __init__(
        self, model: Any, data: tuple[Any, Any, Any], rows: tuple[Any, Any, Any], narrow: bool
    ) -> None:
        self.model, self.narrow = model, narrow
        self.passes = Passes(model, *data, None)
        if not self.passes.has_callbacks:
            return
        X, y, weights = rows
        self.rows = Centred(X, columns(y), weights, model.fit_intercept)
        self.flat, self.targets = np.ndim(y) == 1, self.rows.targets
        n_targets = self.targets.shape[1]
        self.penalties = model._penalties(n_targets)
        self.coef = np.zeros((X.shape[1], n_targets))
        self.n_iter = np.zeros(n_targets, np.int64)
        self.steps = [self._measured(j) for j in range(n_targets)]
        self.passes.attributes = self._attributes
        self._walk = iter(self.passes)

    def reporter(self, here: NDArray[np.intp]) -> Any:
        """What some targets call with their number and step; None without callbacks."""
        if not self.passes.has_callbacks:
            return None
        return lambda j, step: self._step(int(here[j]), step)

    def _step(self, j: int, step: Iterate) -> None:
        """Note one more step of target j; raise `Stopped` if the one before was to be the last."""
        self._open_pass()
        self.coef[:, j], self.steps[j] = step.point, step
        self.n_iter[j] += 1

    def end(self, reason: StopReason) -> None:
        """Report the last step; the fitted model is it, if there was no other."""
        if not self.passes.has_callbacks:
            return
        if not self.n_iter.any():
            self._open_pass()
            self.coef = np.atleast_2d(self.model.coef_).T.astype(np.float64)
            self.steps = [self._measured(j) for j in range(len(self.steps))]
        self.passes.stop(reason)
        next(self._walk, None)

    def _open_pass(self) -> None:
        if next(self._walk, None) is None:
            raise Stopped

    def _measured(self, j: int) -> Iterate:
        """What the coefficients of target j are worth."""
        w, target, penalty = self.coef[:, j], self.targets[:, j], self.penalties[j]
        positive = self.model.positive
        objective, slope = squared_error(self.rows, target, w, penalty)
        step = worth(w, objective, slope, penalty, positive, float(target @ target))
        if penalty or not self.narrow:
            return step
        r = target - self.rows.product(w)
        known = self.span.excess(w, target, r, -slope / 2, positive)
        return replace(step, gap=min(known, objective)) if np.isfinite(known) else step

    @cached_property
    def span(self) -> Span:
        """The columns, which tell of a fit without a penalty how far it is from the best."""
        return Span.of(self.rows)

    def _attributes(self) -> dict[str, Any]:
        means, X = (self.rows.mean_x, self.rows.mean_y), self.rows.X
        plane = self.model._plane(self.coef, *means, X.dtype, self.flat)
        return {**plane, **said(self.steps)}


def squared_error(rows: Centred, target: Array, w: Array, penalty: float) -> tuple[float, Array]:
    """``|target - X w|^2 + penalty |w|^2``, and its gradient (d,)."""
    residual = target - rows.product(w)
    objective = residual @ residual + penalty * (w @ w)
    return float(objective), 2 * (penalty * w - rows.adjoint(residual))


def worth(
    w: Array, objective: float, slope: Array, penalty: float, positive: bool, whole: float
) -> Iterate:
    """What coefficients w (d,) are worth that have this objective and gradient.

    `whole` is the objective without any.

    Any others v differ by at least ``slope.(v - w) + penalty |v - w|^2``, whose least value, over
    v >= 0 if they must be positive, is known: it is the gap. Nor is any objective below zero.
    """
    free = np.where(w > 0, slope, np.minimum(slope, 0.0)) if positive else slope
    length = float(np.linalg.norm(free))
    if not penalty:
        return Iterate(
            w, objective, length, 0.0 if length == 0 else gap_above_zero(objective, whole)
        )
    way = -slope / (2 * penalty)
    if positive:
        way = np.maximum(w + way, 0.0) - w
    gap = -float(slope @ way + penalty * (way @ way))
    return Iterate(w, objective, length, min(gap, objective))


def said(steps: Any) -> dict[str, Any]:
    """What steps (t,) say of themselves: numbers for one target, lists of them for several."""
    found = {
        "objective_": [step.objective for step in steps],
        "dual_gap_": [step.gap for step in steps],
        "gradient_norm_": [step.gradient_norm for step in steps],
    }
    return {
        name: np.array(values) if len(values) > 1 else float(values[0])
        for name, values in found.items()
    }
