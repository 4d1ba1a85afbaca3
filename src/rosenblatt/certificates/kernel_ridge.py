"""Kernel ridge regression: the residual of its equations, and what it bounds.

``P(f) = sum_i s_i (t_i - f(x_i))^2 + alpha |f|^2`` for ``f = sum_i c_i K(x_i, .)``. Every c gives a
bound that no f goes below, ``D(c) = alpha (2 c.t - c'Kc - alpha sum c_i^2 / s_i)``, and

    P(f) - D(c) = sum_i s_i r_i^2,   r = t - K c - alpha c / s,

so that the residual r of the linear equations is the gap: f is within ``sqrt(gap / alpha)`` of the
best one in its space, and ``|f(x) - best(x)| <= sqrt(K(x, x) gap / alpha)`` everywhere.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Certificate, Claim, measured, total_weight, within
from .input_checks import check_fitted
from .kernel_values import KernelOf, wide
from .rounded_matrix import UNIT, Floats

MOST_ROWS_OF_EIGENVALUES = 3_000


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Read a fitted kernel ridge regression and state what it achieved on the rows given."""
    check_fitted(model, "dual_coef_")
    t = np.asarray(y, np.float64).reshape(len(y), -1)
    c = np.asarray(model.dual_coef_, np.float64).reshape(len(model.dual_coef_), -1)
    if c.shape != t.shape:
        raise ValueError(
            f"dual_coef_ has {c.shape[0]:,} rows and {c.shape[1]} targets, and the data given "
            f"{t.shape[0]:,} and {t.shape[1]}. Pass the rows that it was fitted to."
        )
    if not (np.isfinite(c).all() and np.isfinite(t).all()):
        raise ValueError("dual_coef_ and y must be finite to be certified.")
    kernel = KernelOf.of(model, X)
    rows = _training_rows(model, X)
    K = np.asarray(X, np.float64) if kernel.name == "precomputed" else kernel(rows, rows)
    off = 0.0 if kernel.name == "precomputed" else kernel.allowance(rows, rows)
    alphas = np.broadcast_to(np.asarray(model.alpha, np.float64), (t.shape[1],))
    claims: list[Claim] = []
    if not kernel.semidefinite_by_theorem and len(K) <= MOST_ROWS_OF_EIGENVALUES:
        claims.append(_scalar_products(K, off))
    unit = 2.0**-24 if model.dual_coef_.dtype == np.float32 else UNIT
    for j in range(t.shape[1]):
        system = RidgeSystem(K, off, t[:, j], weight, float(alphas[j]), unit)
        found = system.claims(c[:, j], tol)
        suffix = f" (target {j})" if t.shape[1] > 1 else ""
        claims += [replace(claim, name=claim.name + suffix) for claim in found]
    problem = (
        f"minimise sum s_i (t_i - f(x_i))^2 + {alphas[0]:g} |f|^2, f = sum c_i K(x_i, .), kernel "
        f"{kernel.name}"
    )
    data = f"the {len(t):,} rows and {X.shape[1]:,} columns given, {total_weight(weight)}"
    return Certificate(type(model).__name__, problem, data, tuple(claims))


def _training_rows(model: Any, X: Any) -> Any:
    """The rows given, which must be those that the model predicts from."""
    fitted = wide(model.X_fit_)
    apart = X - fitted if X.shape == fitted.shape else None
    # Rows kept in 32 bits are those given, rounded.
    near = 1e-6 if model.X_fit_.dtype == np.float32 else 0.0
    if apart is None or abs(apart).max() > near * abs(X).max():
        raise ValueError("X_fit_ are not the rows given. Pass the rows that it was fitted to.")
    return fitted


def _scalar_products(K: Floats, off: float) -> Claim:
    """Whether the kernel is one of scalar products: without that there is no bound."""
    symmetric = (K + K.T) / 2
    least = float(np.linalg.eigvalsh(symmetric)[0])
    allowed = len(K) * off + 8 * len(K) * UNIT * float(np.abs(K).sum(axis=1).max(initial=0.0))
    statement = f"the least eigenvalue of the kernel matrix is {least:.3g}"
    return within("scalar products", statement, max(-least, 0.0), allowed)


class RidgeSystem:
    """``(K + alpha / s) c = t`` of one target: K (n, n), each value off by at most `off`."""

    def __init__(
        self, K: Floats, off: float, t: Floats, s: Floats, alpha: float, unit: float
    ) -> None:
        self.K, self.off, self.t, self.s, self.alpha, self.unit = K, off, t, s, alpha, unit

    def claims(self, c: Floats, tol: float) -> list[Claim]:
        """The gap, the distance from the best, and how good the fit is."""
        f, blur = self._values(c)
        counted = self.s > 0
        r = self.t - f - self.alpha * c / np.where(counted, self.s, 1.0)
        noise = blur + 4 * UNIT * (np.abs(self.t) + np.abs(f))
        # A row of no weight has no part in the best f; what it has here is part of the distance.
        stray = float(np.abs(c[~counted]).max(initial=0.0))
        gap = float(np.sum(self.s * (np.abs(r) + noise) ** 2)) if stray == 0 else np.inf
        size = float(np.sum(self.s * self.t**2))  # P at f = 0
        # A solution in 32 bits has coefficients that are off by a share of their own size.
        rounded = 16 * self.unit * (np.abs(self.K) @ np.abs(c) + self.alpha * np.abs(c))
        bound = max(tol * size, float(np.sum(self.s * rounded**2)))
        claims = [self._gap(gap, bound, size)]
        if self.alpha > 0 and np.isfinite(gap):
            claims.append(self._distance(gap))
        squares = float(np.sum(self.s * (self.t - f) ** 2))
        statement = f"the weighted sum of squared errors is {squares:.6g}, of {size:.6g} without f"
        return [*claims, measured("training error", statement, squares)]

    def _values(self, c: Floats) -> tuple[Floats, Floats]:
        """``K c`` and its rounding."""
        sizes = np.abs(self.K) @ np.abs(c)
        return self.K @ c, (len(c) + 4) * UNIT * sizes + self.off * float(np.abs(c).sum())

    def _gap(self, gap: float, bound: float, size: float) -> Claim:
        share = gap / size if size > 0 else gap
        statement = (
            f"the objective is within {gap:.3g} of the best possible, {share:.2g} of what it is "
            "at zero (squared residual of the equations)"
        )
        return within("gap", statement, gap, bound)

    def _distance(self, gap: float) -> Claim:
        distance = float(np.sqrt(gap / self.alpha))
        longest = float(np.sqrt(max(float(np.diag(self.K).max(initial=0.0)), 0.0)))
        statement = (
            f"f is within {distance:.3g} of the best one in its space, and no prediction for a "
            f"training row is off by more than {distance * longest:.3g}"
        )
        return measured("distance", statement, distance)
