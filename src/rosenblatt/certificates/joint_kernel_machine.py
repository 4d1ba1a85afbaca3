"""All classes in one kernel machine: how far from the best, from kernel values alone.

    P = 1/2 sum_k |w_k|^2 + sum_i c_i xi_i,   w_k = sum_i a_ik phi(x_i),

half of what is published, xi_i being what the own score of row i lacks of leading every other by
one. Masses ``m_ik >= 0`` of wrong classes with ``sum_k m_ik <= c_i``, as much into each class as
out of it to the last bit, give ``D = sum m - 1/2 sum_k a_k'K a_k``, which no machine goes below;
``a_ik = -m_ik``, and the own class has what the others give.
"""

from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Claim, measured, within
from .exact_arithmetic import flows, transported
from .kernel_supports import Supports
from .rounded_matrix import UNIT, Floats

NEAR = 1e-6  # to which published numbers must be what the data give
IN_32_BITS = 1e-3


def joint_claims(
    model: Any, supports: Supports, codes: NDArray[np.intp], c: Floats, tol: float, has_gap: bool
) -> list[Claim]:
    """What can be said of the machine; c (n,) is half of what the slack of a row costs."""
    case = JointCase(supports, codes, c, len(model.classes_))
    claims = [case.gap(tol)] if has_gap else []
    claims += [case.feasibility(), case.conditions(), case.tolerance(model)]
    claims += case.margins(model)
    claims += [case.slack_claim(), case.leave_one_out(model)]
    return claims + case.published(model)


class JointCase:
    """Groups of equal rows of a class: their price, multipliers (g, K) and scores (g, K)."""

    def __init__(
        self, supports: Supports, codes: NDArray[np.intp], c: Floats, n_classes: int
    ) -> None:
        self.supports, self.K = supports, n_classes
        given = np.flatnonzero(c > 0)
        _, first, group = np.unique(
            np.stack([supports.keys[given], codes[given]]), axis=1, return_index=True,
            return_inverse=True,
        )  # fmt: skip
        group, self.at = np.ravel(group), given[first]
        self.given, self.group = given, group
        self.codes, self.own = codes[self.at], (np.arange(len(first)), codes[self.at])
        self.c = np.asarray(np.bincount(group, c[given], len(first)), np.float64)
        self.count = np.bincount(group).astype(np.float64)
        of_rows = np.zeros((len(codes), n_classes))
        of_rows[supports.places] = supports.coef.T
        self.a = np.zeros((len(first), n_classes))
        np.add.at(self.a, group, of_rows[given])
        # Coefficients of rows without a price would be missing here: none may be.
        self.lost = float(np.abs(of_rows).sum() - np.abs(of_rows[given]).sum())
        f, self.blur = self.scores(self.a)
        self.plain, self.intercept = f, supports.intercept
        self.f = f + self.intercept
        self.blur = self.blur + UNIT * np.abs(self.intercept)

    def scores(self, a: Floats) -> tuple[Floats, Floats]:
        """``K a`` (g, K), and its rounding."""
        used = np.flatnonzero(a.any(axis=1))
        parts = [self.supports.sums(self.at, self.at[used], a[used, k]) for k in range(self.K)]
        return np.stack([f for f, _ in parts], 1), np.stack([blur for _, blur in parts], 1)

    @cached_property
    def leads(self) -> Floats:
        """By how much the own score leads each other (g, K), infinite for itself."""
        leads = self.f[self.own][:, np.newaxis] - self.f
        leads[self.own] = np.inf
        return np.asarray(leads)

    @property
    def slack(self) -> Floats:
        """What each group lacks of a lead of one."""
        return np.asarray(np.maximum(1 - self.leads.min(axis=1), 0.0))

    @property
    def square(self) -> tuple[float, float]:
        """``sum_k |w_k|^2`` and its rounding."""
        value = float(np.vdot(self.a, self.plain))
        return max(value, 0.0), float(np.vdot(np.abs(self.a), self.blur)) + len(
            self.a
        ) * UNIT * abs(value)

    def primal(self) -> float:
        """P and what rounding may add; infinite for slack without a price."""
        square, rounding = self.square
        blur = 2 * self.blur.max(axis=1)
        slack, scale, hard = self.slack + blur, 1.0, np.isinf(self.c)
        if hard.any():  # scaled until every lead is one
            least = float((self.leads.min(axis=1) - blur)[hard].min())
            if least <= 0:
                return np.inf
            scale = 1 / min(least, 1.0) ** 2
        c = np.where(hard, 0.0, self.c)
        return scale * (square + rounding) / 2 + float(c @ slack) * (1 + 64 * UNIT)

    def dual(self) -> float:
        """D at the multipliers, brought within bounds and into balance, less rounding."""
        masses = np.maximum(-self.a, 0.0)
        masses[self.own] = 0.0
        given = masses.sum(axis=1)
        c = np.where(np.isinf(self.c), 2 * given.max(initial=0.0) + 1e-300, self.c)
        masses *= np.minimum(1.0, c / np.where(given > 0, given, 1.0))[:, np.newaxis]
        p = masses / c[:, np.newaxis]
        p[self.own] = np.maximum(1 - p.sum(axis=1), 0.0)
        found = flows(transported(p, self.codes, c), self.codes, c)
        # Rounding may have put a row's masses above its price: less of all is feasible.
        share = float(np.min(c / np.maximum(found.sum(axis=1), c))) * (1 - 8 * UNIT)
        signed = -found
        signed[self.own] = found.sum(axis=1)
        f, blur = self.scores(signed)
        bend = float(np.vdot(signed, f)) + float(np.vdot(np.abs(signed), blur))
        bend += 64 * UNIT * float(np.vdot(np.abs(signed), np.abs(f)))
        gain = float(found.sum()) * (1 - 64 * UNIT)
        share = min(max(gain / bend, 0.0), share) if bend > 0 else share
        return share * gain - share**2 * bend / 2

    def gap(self, tol: float) -> Claim:
        """How far the objective is from the best possible; twice that of P."""
        primal, dual = self.primal(), max(self.dual(), 0.0)
        gap = 2 * max(primal - dual, 0.0)
        finite = float(self.c.sum()) if np.isfinite(self.c).all() else 0.0
        scale = 2 * max(abs(dual), finite)
        statement = (
            f"the objective is within {gap:.3g} of the best possible, "
            f"{gap / max(scale, 1e-300):.2g} of its scale (duality gap)"
        )
        return within("gap", statement, gap, tol * scale)

    def feasibility(self) -> Claim:
        """That multipliers are within their bounds, and sum to zero by row and by class."""
        others = self.a.copy()
        others[self.own] = 0.0
        over = max(
            float(others.max(initial=0.0)), float(np.max(self.a[self.own] - self.c, initial=0.0)),
            self.lost,
        )  # fmt: skip
        sums = max(float(np.abs(self.a.sum(axis=1)).max()), float(np.abs(self.a.sum(axis=0)).max()))
        size = max(float(np.abs(self.a).sum()), 1e-300)
        statement = (
            f"coefficients leave their bounds by {over:.2g}, and their sums by row and by class "
            f"are {sums:.2g} from zero"
        )
        # Sums by class are brought to zero up to the tolerance of the fit, as in its stopping rule.
        return within("dual feasibility", statement, max(over, sums), 1e-4 * size)

    @property
    def violations(self) -> Floats:
        """By how much some other class's slope is above that of one that could give (g,)."""
        slopes = self.f + 1.0
        slopes[self.own] -= 1.0
        movable = self.a < -1e-9 * np.where(np.isfinite(self.c), self.c, 1.0)[:, np.newaxis]
        movable[self.own] = self.a[self.own] < self.c * (1 - 1e-9)
        least = np.where(movable, slopes, np.inf).min(axis=1)
        return np.asarray(np.maximum(slopes.max(axis=1) - least, 0.0))

    def conditions(self) -> Claim:
        """Rows by the kind of their multiplier, and how many of each are off by 0.001 or more."""
        size = self.a[self.own]
        bounded = (size > 0) & (size >= self.c * (1 - 1e-9))
        counts = [
            float(self.count[kind].sum()) for kind in (size <= 0, (size > 0) & ~bounded, bounded)
        ]
        off = float(self.count[self.violations > 1e-3].sum())
        words = "coefficients are {:,.0f} zero, {:,.0f} free, {:,.0f} bounded".format(*counts)
        statement = f"{words}; {off:,.0f} break the optimality conditions by 0.001 or more"
        return measured("conditions", statement, off)

    def tolerance(self, model: Any) -> Claim:
        """The stopping tolerance that this solution meets."""
        met = float(self.violations.max(initial=0.0))
        statement = (
            f"tol={met:.2g} would have been enough to stop here; tol={model.tol:g} was asked for"
        )
        return measured("tolerance", statement, met)

    def squares(self) -> Floats:
        """``|w_k - w_l|^2`` of each pair of classes."""
        products = self.a.T @ self.plain
        own = np.diag(products)
        pairs = combinations(range(self.K), 2)
        return np.array([max(own[k] + own[j] - 2 * products[k, j], 0.0) for k, j in pairs])

    def margins(self, model: Any) -> list[Claim]:
        """The narrowest margin between two classes, and whether all rows keep it."""
        longest = float(self.squares().max())
        narrowest = 1 / np.sqrt(longest) if longest > 0 else np.inf
        statement = margin_statement("1 / |w_k - w_l|", narrowest, bool(self.a.any()))
        found = [measured("margin", statement, narrowest)]
        if np.isinf(model.C):
            least = float(self.leads.min())
            words = f"every row's own score leads by at least {least:.6g}: no row has slack"
            found.append(within("hard margin", words, 1 - least, max(2 * float(model.tol), 1e-9)))
        return found

    def slack_claim(self) -> Claim:
        """The sum of slacks, which is never below the number of errors."""
        whole = float(self.count @ self.slack)
        wrong = float(self.count[self.leads.min(axis=1) < 0].sum())
        statement = f"the slacks sum to {whole:.6g}, not below the {wrong:,.0f} training errors"
        return within("slack", statement, wrong, whole + NEAR)

    def leave_one_out(self, model: Any) -> Claim:
        """The share of rows that may be wrong when left out."""
        count, n = len(model.support_), float(self.count.sum())
        statement = (
            f"{count:,} of {n:,.0f} rows are supports: at the exact optimum at most that share, "
            f"{count / n:.2%}, is wrong when left out"
        )
        return measured("leave one out", statement, count / n)

    def published(self, model: Any) -> list[Claim]:
        """That the objective and margins are what the data give."""
        near = IN_32_BITS if self.supports.single else NEAR
        c = np.where(np.isinf(self.c), 0.0, self.c)
        plain = self.square[0] + 2 * float(c @ self.slack)
        size = max(abs(plain), 1e-300)
        off = float(np.abs(np.asarray(model.objective_, np.float64) - plain).max()) / size
        squares, margins = self.squares(), np.asarray(model.margin_, np.float64)
        with np.errstate(divide="ignore"):
            lengths = np.where(np.isfinite(margins), 1 / margins**2, 0.0)
        fits = lengths.shape == squares.shape
        off = max(off, float(np.abs(lengths - squares).max()) / size if fits else np.inf)
        said, rows = np.asarray(model.slack_, np.float64), self.given
        apart = (
            np.abs(said[rows] - self.slack[self.group]) if said.ndim == 1 else np.array([np.inf])
        )
        size = 1 + float(np.abs(self.f).max(initial=0.0))
        off = max(off, float(np.where(np.isnan(apart), np.inf, apart).max()) / size)
        statement = f"objective_, slack_ and margins are what the data give, to {off:.2g}"
        return [within("published numbers", statement, off, near)]


def margin_statement(formula: str, narrowest: float, any_support: bool) -> str:
    """The narrowest margin in words, or why there is none."""
    if np.isfinite(narrowest):
        return f"the narrowest margin {formula} is {narrowest:.6g}"
    if any_support:
        return "there is no margin: by this kernel, which is indefinite, |w|^2 is not positive"
    return "there is no margin: w is zero"
