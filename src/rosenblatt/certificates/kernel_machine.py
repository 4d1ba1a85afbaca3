"""Support vector machines with kernels: how far from the best, from kernel values alone.

Each machine minimises ``P = 1/2 |w|^2 + sum_i c_i loss_i`` over ``w = sum_i b_i phi(x_i)`` and a
free intercept. Coefficients between their bounds that sum to zero, of both signs alike to the last
bit, give a number that no machine goes below:

    D(a) = sum_i (y_i or t_i) a_i - epsilon sum_i |a_i| - 1/2 a'Ka.

With equal rows merged, as some fits have them: their c add up, and so do their coefficients.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Certificate, Claim, measured, total_weight, within
from .exact_arithmetic import balanced
from .fitted_attributes import labels_of
from .input_checks import check_fitted
from .kernel_scores import scores_claim
from .kernel_supports import Supports, scalar_products
from .kernel_values import KernelOf
from .rounded_matrix import UNIT, Floats

NEAR = 1e-6  # to which published numbers must be what the data give
IN_32_BITS = 1e-3


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Read a fitted SVC or SVR and state what it achieved on the rows given."""
    check_fitted(model, "dual_coef_")
    kernel = KernelOf.of(model, X)
    supports = Supports(model, X, kernel, weight)
    classifies = hasattr(model, "classes_")
    claims = [*scalar_products(kernel, supports), scores_claim(model, X, supports)]
    words = f"the {len(y):,} rows and {X.shape[1]:,} columns given, {total_weight(weight)}"
    if classifies:
        claims += _labels(model, X, y, supports)
    cases = list(
        _classes(model, supports, y, weight) if classifies else _tube(model, supports, y, weight)
    )
    if _a_gap(claims):
        claims.append(_gap(cases, tol))
    claims += [*_feasibility(cases), _conditions(cases), _tolerance(cases, model)]
    claims += _margins(cases, model) if classifies else _hard_tube(cases, model)
    claims += [_slack(cases, classifies), _supports(model, len(y), classifies)]
    claims += _published(model, cases)
    return Certificate(type(model).__name__, _problem(model, kernel, cases), words, tuple(claims))


def _a_gap(claims: list[Claim]) -> bool:
    """Whether there is a gap to speak of: the kernel is one of scalar products."""
    return all(claim.holds and claim.name != "gap" for claim in claims)


@dataclass(eq=False)
class Case:
    """One machine: groups of equal rows, their targets, bounds, coefficients and scores."""

    t: Floats  # sides y, or targets
    c: Floats  # cost of each group
    b: Floats  # coefficients
    f: Floats  # scores with the intercept
    blur: Floats  # of the scores
    epsilon: float | None  # half the width of the tube; None for margins
    used: NDArray[np.intp]  # groups with coefficients
    among: Any  # a function: coefficients of `used` to their scores and rounding
    count: Floats  # rows in each group
    intercept: float
    rows: NDArray[np.intp]  # that it sees
    group: NDArray[np.intp]  # of each
    paid: NDArray[np.bool_]  # whether its slack costs anything

    @property
    def square(self) -> tuple[float, float]:
        """|w|^2 and its rounding."""
        w = float(self.b @ (self.f - self.intercept))
        return max(w, 0.0), float(np.abs(self.b) @ self.blur) + len(self.b) * UNIT * abs(w)

    @property
    def slack(self) -> Floats:
        """Each group's loss."""
        if self.epsilon is None:
            return np.maximum(1 - self.t * self.f, 0.0)
        return np.maximum(np.abs(self.t - self.f) - self.epsilon, 0.0)

    def primal(self) -> float:
        """P and what rounding may add; infinite for slack without a price."""
        square, rounding = self.square
        slack = self.slack + self.blur
        scale = 1.0
        if self.epsilon is not None and np.isinf(self.c).any():
            return (square + rounding) / 2 + self.outside * float(np.abs(self.b).sum())
        if np.isinf(self.c).any():  # the hard margin: scaled until no row has slack
            least = float((self.t * self.f - self.blur)[np.isinf(self.c)].min())
            if least <= 0:
                return np.inf
            scale = 1 / min(least, 1.0) ** 2
            slack = np.where(np.isinf(self.c), 0.0, slack)
        c = np.where(np.isinf(self.c), 0.0, self.c)
        return scale * (square + rounding) / 2 + float(c @ slack) * (1 + 64 * UNIT)

    def plain(self) -> float:
        """P as it is published: without rounding, and without slack that may not be."""
        c = np.where(np.isinf(self.c), 0.0, self.c)
        return self.square[0] / 2 + float(c @ self.slack)

    def dual_as_it_is(self) -> float:
        """D at the coefficients, without rounding."""
        linear = self.b @ self.t - (self.epsilon or 0.0) * float(np.abs(self.b).sum())
        return float(linear) - float(self.b @ (self.f - self.intercept)) / 2

    @property
    def outside(self) -> float:
        """How far a row that must not leave the tube does: the gap is of one wider by as much."""
        return float(np.where(np.isinf(self.c), self.slack + self.blur, 0.0).max(initial=0.0))

    def dual(self) -> float:
        """D at the coefficients, brought within bounds and into balance, less rounding."""
        b, c = self.b[self.used], self.c[self.used]
        side = np.sign(b)
        a = np.minimum(np.abs(b), c)
        if self.epsilon is None:
            a = np.where(side == self.t[self.used], a, 0.0)
        found = balanced(a, side) if len(a) else None
        if found is None:
            return 0.0
        moved = found * side
        f, blur = self.among(moved)
        linear = moved * self.t[self.used] - (self.epsilon or 0.0) * found
        rounding = float(found @ blur) / 2 + 64 * UNIT * float(
            np.abs(linear).sum() + np.abs(moved @ f)
        )
        return float(linear.sum()) - float(moved @ f) / 2 - rounding

    def at_zero(self) -> float:
        """P of the best constant: the scale of a gap."""
        if self.epsilon is None:
            return 2 * min(float(self.c[self.t > 0].sum()), float(self.c[self.t < 0].sum()))
        middle = float(np.median(self.t))
        return float(self.c @ np.maximum(np.abs(self.t - middle) - self.epsilon, 0.0))

    def rounding(self) -> float:
        """What doubles may add to P: all slack of targets that are far from zero, to 60 units."""
        if self.epsilon is None or not np.isfinite(self.c).all():
            return 0.0
        size = float(np.abs(self.t).max(initial=0.0)) + self.epsilon
        return 64 * UNIT * float(self.c.sum()) * size

    def slopes(self) -> tuple[Floats, Floats]:
        """How the dual falls when a coefficient rises, and when it falls; infinite at a bound."""
        kink = self.epsilon or 0.0
        low = np.where(self.t > 0, 0.0, -self.c) if self.epsilon is None else -self.c
        high = np.where(self.t > 0, self.c, 0.0) if self.epsilon is None else self.c
        g = self.f - self.t
        near = 1e-9 * np.where(np.isfinite(self.c), self.c, 1.0)
        up = np.where(self.b < high - near, g + np.where(self.b >= 0, kink, -kink), np.inf)
        down = np.where(self.b > low + near, g + np.where(self.b > 0, kink, -kink), -np.inf)
        return up, down


def _case(
    supports: Supports, rows: NDArray[np.intp], t: Floats, cost: Floats, coef: Floats,
    intercept: float, epsilon: float | None,
) -> Case:  # fmt: skip
    """Merge equal rows of equal targets; coef (n,) has a number for each row given."""
    _, first, group = np.unique(
        np.stack([supports.keys[rows].astype(np.float64), t]), axis=1, return_index=True,
        return_inverse=True,
    )  # fmt: skip
    group = np.ravel(group)
    c = np.bincount(group, cost, len(first)).astype(np.float64)
    b = np.bincount(group, coef[rows], len(first)).astype(np.float64)
    used = np.flatnonzero(b)
    at, columns = rows[first], rows[first][used]
    f, blur = supports.sums(at, columns, b[used])
    return Case(
        t[first], c, b, f + intercept, blur + UNIT * abs(intercept), epsilon, used,
        lambda moved: supports.sums(columns, columns, moved),
        np.bincount(group).astype(np.float64), intercept, rows, group, cost > 0,
    )  # fmt: skip


def _classes(model: Any, supports: Supports, y: NDArray[Any], weight: Floats) -> Iterator[Case]:
    """The machines of a classifier."""
    codes, cost = _costs(model, y, weight)
    for rows, side, coef, intercept in _machines(model, supports, codes):
        yield _case(supports, rows, side, cost[rows], coef, intercept, None)


def _costs(model: Any, y: NDArray[Any], weight: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The class (n,) of each row, and what its slack costs."""
    place = {label: k for k, label in enumerate(np.asarray(model.classes_).tolist())}
    unknown = [label for label in y[weight > 0].tolist() if label not in place]
    if unknown:  # of another type too, which could not be sorted
        raise ValueError(f"y has a label {unknown[0]!r}, which is none of classes_: {list(place)}.")
    codes = np.array([place.get(label, 0) for label in y.tolist()], np.intp)
    cost = weight * np.asarray(model.class_weight_, np.float64)[codes]
    return codes, _priced(cost, float(model.C))


def _priced(weight: Floats, C: float) -> Floats:
    """What slack costs; nothing without a weight, even at an infinite price."""
    return np.multiply(weight, C, out=np.zeros(len(weight)), where=weight > 0)


def _machines(model: Any, supports: Supports, codes: NDArray[np.intp]) -> Iterator[Any]:
    """Rows, sides, coefficients (n,) and intercept of each two-class machine."""
    K, n = len(model.classes_), len(codes)
    rest = K > 2 and getattr(model, "multi_class", "ovo") == "ovr"
    if K == 2 or rest:
        for k in range(len(supports.coef)):
            coef = np.zeros(n)
            coef[supports.places] = supports.coef[k]
            side = np.where(codes == (k if rest else 1), 1.0, -1.0)
            yield np.arange(n), side, coef, float(supports.intercept[k])
        return
    of_supports = codes[supports.places]
    for p, (i, j) in enumerate(combinations(range(K), 2)):
        coef = np.zeros(n)
        own = np.where(of_supports == i, supports.coef[j - 1], supports.coef[i])
        both = (of_supports == i) | (of_supports == j)
        coef[supports.places] = np.where(both, own, 0.0)
        rows = np.flatnonzero((codes == i) | (codes == j))
        side = np.where(codes[rows] == i, 1.0, -1.0)
        yield rows, side, coef, float(supports.intercept[p])


def _tube(model: Any, supports: Supports, y: NDArray[Any], weight: Floats) -> Iterator[Case]:
    """The one problem of a regression."""
    coef = np.zeros(len(y))
    coef[supports.places] = supports.coef[0]
    rows, t = np.arange(len(y)), np.asarray(y, np.float64)
    yield _case(
        supports, rows, t, _priced(weight, float(model.C)), coef, float(supports.intercept[0]),
        float(model.epsilon),
    )  # fmt: skip


# The claims.


def _gap(cases: list[Case], tol: float) -> Claim:
    """How far the objectives are from the best, in all machines together."""
    gaps, scales, rounding = [], [], []
    for case in cases:
        primal, dual = case.primal(), max(case.dual(), 0.0)
        gaps.append(max(primal - dual, 0.0))
        scales.append(max(abs(dual), case.at_zero() if np.isfinite(case.c).all() else 0.0))
        rounding.append(case.rounding())
    gap, bound = float(np.sum(gaps)), tol * float(np.sum(scales)) + float(np.sum(rounding))
    share = gap / max(float(np.sum(scales)), 1e-300)
    machines = f" of {len(cases)} machines together" if len(cases) > 1 else ""
    statement = (
        f"the objective{machines} is within {gap:.3g} of the best possible, {share:.2g} of its "
        "scale (duality gap)"
    )
    return within("gap", statement, gap, bound)


def _feasibility(cases: list[Case]) -> list[Claim]:
    """That coefficients are within their bounds, on their own side, and sum to zero."""
    over, sums, size = 0.0, 0.0, 1e-300
    for case in cases:
        signed = case.t * case.b if case.epsilon is None else np.abs(case.b)
        over = max(over, float(np.max(np.maximum(signed - case.c, -signed), initial=0.0)))
        sums = max(sums, abs(float(case.b.sum())))
        size = max(size, float(np.abs(case.b).sum()))
    statement = (
        f"coefficients leave their bounds by {over:.2g}, and their sums are {sums:.2g} from zero"
    )
    return [within("dual feasibility", statement, max(over, sums), NEAR * size)]


def _conditions(cases: list[Case]) -> Claim:
    """Rows by the kind of their coefficient, and how many of each are off by more than 0.001."""
    counts, off = dict.fromkeys(("zero", "free", "bounded"), 0), 0
    for case in cases:
        size = np.abs(case.b)
        bounded = size >= case.c * (1 - 1e-9)
        kinds = {
            "zero": (size == 0),
            "free": (size > 0) & ~bounded,
            "bounded": (size > 0) & bounded,
        }
        for kind, here in kinds.items():
            counts[kind] += int(case.count[here].sum())
        up, down = case.slopes()
        # With the published intercept, slopes up should not be negative, nor slopes down positive.
        off += int(case.count[(up < -1e-3) | (down > 1e-3)].sum())
    words = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    statement = (
        f"coefficients are {words}; {off:,} break the optimality conditions by 0.001 or more"
    )
    return measured("conditions", statement, off)


def _tolerance(cases: list[Case], model: Any) -> Claim:
    """The stopping tolerance that this solution meets."""
    met = 0.0
    for case in cases:
        up, down = case.slopes()
        met = max(met, float(down.max(initial=-np.inf) - up.min(initial=np.inf)))
    met = max(met, 0.0)
    statement = (
        f"tol={met:.2g} would have been enough to stop here; tol={model.tol:g} was asked for"
    )
    return measured("tolerance", statement, met)


def _margins(cases: list[Case], model: Any) -> list[Claim]:
    """The narrowest margin, and whether all rows keep it."""
    squares = [case.square[0] for case in cases]
    narrowest = 1 / np.sqrt(max(squares)) if max(squares) > 0 else np.inf
    least = min(float((case.t * case.f).min()) for case in cases)
    if np.isfinite(narrowest):
        statement = f"the narrowest margin 1 / |w| is {narrowest:.6g}"
    elif any(case.b.any() for case in cases):
        statement = "there is no margin: by this kernel, which is indefinite, |w|^2 is not positive"
    else:
        statement = "there is no margin: w is zero"
    found = [measured("margin", statement, narrowest)]
    if np.isinf(model.C):
        statement = f"every functional margin is at least {least:.6g}: no row has slack"
        found.append(within("hard margin", statement, 1 - least, max(2 * float(model.tol), 1e-9)))
    return found


def _hard_tube(cases: list[Case], model: Any) -> list[Claim]:
    """How far rows leave a tube that none should; the gap is that of one as much wider."""
    if not np.isinf(model.C):
        return []
    outside = max(case.outside for case in cases)
    statement = (
        f"no row is outside of the tube by more than {outside:.3g}; the gap is of a tube wider by "
        "as much"
    )
    return [within("hard tube", statement, outside, max(2 * float(model.tol), 1e-9))]


def _slack(cases: list[Case], classifies: bool) -> Claim:
    """The sum of slacks, which is never below the number of errors."""
    total = sum(float(case.count @ case.slack) for case in cases)
    if not classifies:
        return measured("slack", f"rows are outside of the tube by {total:.6g} in all", total)
    wrong = sum(float(case.count[case.t * case.f < 0].sum()) for case in cases)
    statement = (
        f"the slacks sum to {total:.6g}, not below the machines' {wrong:,.0f} training errors"
    )
    return within("slack", statement, wrong, total + NEAR)


def _supports(model: Any, n: int, classifies: bool) -> Claim:
    count = len(model.support_)
    left_out = "is wrong when left out" if classifies else "changes the function when left out"
    statement = (
        f"{count:,} of {n:,} rows are supports: at the exact optimum at most that share, "
        f"{count / n:.2%}, {left_out}"
    )
    return measured("leave one out", statement, count / n)


def _labels(model: Any, X: Any, y: NDArray[Any], supports: Supports) -> list[Claim]:
    """The training error, and that labels follow from the published numbers."""
    labels = labels_of(model, X)
    wrong = int(np.count_nonzero(labels != y))
    return [measured("training error", f"{wrong:,} of {len(y):,} rows are wrong", wrong)]


def _published(model: Any, cases: list[Case]) -> list[Claim]:
    """That objectives, margins and gaps are what the data give."""
    if not hasattr(model, "objective_"):
        return []
    near = IN_32_BITS if model.dual_coef_.dtype == np.float32 else NEAR
    said = np.ravel(np.asarray(model.objective_, np.float64))
    plain = [case.plain() for case in cases]
    sizes = np.maximum(np.abs(plain), [max(abs(case.dual()), 1e-300) for case in cases])
    off = float(np.max(np.abs(said - plain) / sizes)) if len(said) == len(plain) else np.inf
    if hasattr(model, "margin_"):
        squares = np.array([case.square[0] for case in cases])
        margins = np.ravel(np.asarray(model.margin_, np.float64))
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = np.where(np.isfinite(margins), 1 / margins**2, 0.0)
        size = np.maximum(squares, sizes)
        off = max(
            off,
            float(np.max(np.abs(lengths - squares) / size))
            if len(margins) == len(squares)
            else np.inf,
        )
    off = max(off, _off_slack(model, cases), _off_gap(model, cases, sizes))
    statement = f"objective_, dual_gap_, slack_ and margins are what the data give, to {off:.2g}"
    return [within("published numbers", statement, off, near)]


def _off_slack(model: Any, cases: list[Case]) -> float:
    """By how much slack_ is off, of the size of the scores."""
    said = np.asarray(model.slack_, np.float64)
    pairs, worst = list(combinations(range(len(getattr(model, "classes_", ()))), 2)), 0.0
    for p, case in enumerate(cases):
        column: Any = np.full(len(case.rows), p)
        if getattr(model, "multi_class", "ovr") == "ovo" and len(cases) > 1:
            i, j = pairs[p]
            column = np.where(case.t[case.group] > 0, j - 1, i)
        own = said[case.rows] if said.ndim == 1 else said[case.rows, column]
        size = 1 + np.abs(case.f).max(initial=0.0)
        apart = np.abs(own - case.slack[case.group])[case.paid]
        worst = max(worst, float(np.where(np.isnan(apart), np.inf, apart).max(initial=0.0) / size))
    return worst


def _off_gap(model: Any, cases: list[Case], sizes: Floats) -> float:
    """By how much dual_gap_ is below the excess that is certain: a larger one is true, too."""
    said = np.ravel(np.asarray(model.dual_gap_, np.float64))
    if len(said) != len(cases):
        return np.inf
    plain = np.array([case.plain() for case in cases])
    best = np.array([case.dual_as_it_is() for case in cases])
    return float(np.max(np.where(np.isnan(said), np.inf, plain - best - said) / sizes))


def _problem(model: Any, kernel: KernelOf, cases: list[Case]) -> str:
    loss = (
        "[1 - y_i f(x_i)]_+"
        if cases[0].epsilon is None
        else f"[|t_i - f(x_i)| - {model.epsilon:g}]_+"
    )
    machines = f", {len(cases)} machines" if len(cases) > 1 else ""
    return (
        f"minimise 1/2 |w|^2 + {model.C:g} sum s_i {loss}, b free, kernel {kernel.name}{machines}"
    )
