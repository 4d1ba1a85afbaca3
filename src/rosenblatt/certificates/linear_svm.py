"""Linear support vector machines: which problem a model's numbers answer, and how well.

Every class against the rest is a problem of its own, and so are two classes and a regression. Rows
have the price ``c_i = C s_i`` times the weight of their class. A penalised intercept is one more
coefficient, of a column with the value `intercept_scaling`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import hinge, joint_hinge
from .binary_logistic import Bracket
from .claims import Certificate, Claim, distance_claim, gap_claim, measured, total_weight, within
from .closed_form import ClassData
from .fitted_attributes import (
    NAMES,
    Scores,
    agreement,
    decision_claims,
    held_to,
    nearness,
    numbers_of,
)
from .hinge import Hinge
from .input_checks import check_columns, check_fitted
from .joint_hinge import JointHinge
from .lasso import Penalty
from .rounded_matrix import UNIT, Floats, RoundedMatrix

ON_MARGIN = 1e-6  # how near to one a margin counts as one


@dataclass(frozen=True)
class Setting:
    """What the parameters of a model say of its objective."""

    C: float
    squared: bool
    l1: bool
    epsilon: float
    column: float | None  # the value of the intercept's column, if it is penalised
    free: bool  # whether there is a free intercept
    together: str  # "ovr", "crammer_singer" or "joint"

    @property
    def penalty(self) -> Penalty:
        """The norm that is penalised."""
        return Penalty(1.0, 0.0, False) if self.l1 else Penalty(0.0, 1.0, False)

    def words(self, c: Floats) -> str:
        """The objective."""
        norm = "|w|_1" if self.l1 else "1/2 |w|^2"
        low, high = float(c.min()), float(c.max())
        span = f"c_i = {low:.6g}" if low == high else f"c_i = {low:.6g} .. {high:.6g}"
        bias = ", b free" if self.free else ", b = 0"
        if self.column is not None:
            bias = f", the intercept penalised like a column of {self.column:g}"
        if np.isinf(self.C):
            return f"{norm}, every margin >= 1{bias}"
        return f"{norm} + sum c_i loss_i, {span}{bias}"


def setting_of(model: Any) -> Setting:
    """Read the parameters."""
    together = getattr(model, "multi_class", "ovr")
    joint = together != "ovr"
    penalised = getattr(model, "penalize_intercept", True) and together != "joint"
    column = float(model.intercept_scaling) if model.fit_intercept and penalised else None
    return Setting(
        C=float(model.C),
        squared=model.loss.startswith("squared") and not joint and not np.isinf(model.C),
        l1=getattr(model, "penalty", "l2") == "l1" and not joint,
        epsilon=float(getattr(model, "epsilon", 0.0)),
        column=column,
        free=bool(model.fit_intercept) and column is None,
        together=together,
    )


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Name the problem, or that of each class against the rest, and hand it to its verifier."""
    check_fitted(model, "coef_")
    check_columns(model, X)
    setting = setting_of(model)
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else np.atleast_2d(model.coef_)
    W = np.asarray(coef, np.float64)
    b = np.broadcast_to(np.ravel(np.asarray(model.intercept_, np.float64)), (len(W),))
    certificate = _classes if hasattr(model, "classes_") else _targets
    return certificate(model, setting, X, y, weight, W, b, tol, effort)


def _targets(
    model: Any, setting: Setting, X: Any, y: NDArray[Any], weight: Floats,
    W: Floats, b: Floats, tol: float, effort: int,
) -> Certificate:  # fmt: skip
    """A regression."""
    kept = np.flatnonzero(weight > 0)
    X, t, weight = X[kept], np.asarray(y, np.float64)[kept], weight[kept]
    everyone = np.ones(len(t), np.bool_)
    c = setting.C * weight
    plane = Plane(model, setting, kept, X, t, c, everyone, everyone, W[0], float(b[0]))
    words = f"the {len(kept):,} rows and {X.shape[1]:,} columns given, {total_weight(weight)}"
    loss = "[|t_i - w.x_i - b| - epsilon]_+"
    loss = f"loss_i = {loss}{'^2' if setting.squared else ''}, epsilon = {setting.epsilon:g}"
    claims = plane.claims(tol, effort, 0)
    return Certificate(
        type(model).__name__, f"{setting.words(plane.c)}, {loss}", words, tuple(claims)
    )


def _classes(
    model: Any, setting: Setting, X: Any, y: NDArray[Any], weight: Floats,
    W: Floats, b: Floats, tol: float, effort: int,
) -> Certificate:  # fmt: skip
    """Two classes, one against the rest, or all in one problem."""
    data, given = ClassData(model, X, y, weight), np.flatnonzero(weight > 0)
    K = len(data.classes)
    by_class = class_weights(data, model.class_weight)
    values = np.asarray(data.X @ W.T) + b
    sizes = np.asarray(abs(data.X) @ np.abs(W).T) + np.abs(b)
    if len(W) == 1:
        values, sizes = (np.column_stack([np.zeros(len(v)), v]) for v in (values, sizes))
    scores = Scores.of(model, values, sizes, data.X.shape[1], model.coef_)
    claims = decision_claims(model, data, scores)
    price = data.weight * by_class[data.codes] * setting.C
    joint = setting.together != "ovr"
    if joint and K > 2:
        factor = 2.0 if setting.together == "joint" else 1.0
        planes = JointPlanes(model, setting, data, given, price / factor, W, b, factor)
        claims += planes.claims(tol, effort)
        loss = "loss_i = max_k [f_k - f_y + 1]_+ over other classes k"
        norm = "sum_k |w_k|^2" if setting.together == "joint" else "1/2 sum_k |w_k|^2"
        problem = setting.words(price).replace("1/2 |w|^2", norm)
        return Certificate(type(model).__name__, f"{problem}, {loss}", data.words, tuple(claims))
    wrong = int(claims[0].value)
    for k in range(len(W)):
        own = data.codes == (1 if K == 2 else k)
        c = price if K == 2 else data.weight * np.where(own, by_class[k], 1.0) * setting.C
        # All classes in one problem, of two classes, is that of their difference.
        factor = {"crammer_singer": 0.5, "joint": 1.0}.get(setting.together, 1.0)
        t = np.where(own, 1.0, -1.0)
        plane = Plane(
            model, setting, given, data.X, t, c / factor, own, ~own, W[k], float(b[k]), factor
        )
        found = plane.claims(tol, effort, k, wrong if K == 2 else None)
        of = f", {data.classes[k]}" if K > 2 else ""
        claims += [replace(claim, name=claim.name + of) for claim in found]
    loss = f"loss_i = [1 - y_i (w.x_i + b)]_+{'^2' if setting.squared else ''}"
    return Certificate(
        type(model).__name__, f"{setting.words(c)}, {loss}", data.words, tuple(claims)
    )


def class_weights(data: ClassData, given: Any) -> Floats:
    """The weight of each class (K,); "balanced" counts rows by their weights."""
    if given is None:
        return np.ones(len(data.classes))
    if given == "balanced":
        counts = data.counts
        return np.asarray(counts.sum() / (len(counts) * np.where(counts > 0, counts, 1.0)))
    return np.array([float(given.get(label, 1.0)) for label in data.classes.tolist()])


def with_column(X: Any, value: float | None) -> Any:
    """Rows with the column of a penalised intercept, if there is one."""
    if value is None:
        return X
    column = np.full((X.shape[0], 1), value)
    return sp.csr_matrix(sp.hstack([X, column])) if sp.issparse(X) else np.hstack([X, column])


class Plane:
    """One plane, and the rows that it was made for."""

    def __init__(
        self, model: Any, setting: Setting, given: NDArray[np.intp], X: Any, t: Floats, c: Floats,
        up: NDArray[np.bool_], down: NDArray[np.bool_], w: Floats, b: float, factor: float = 1.0,
    ) -> None:  # fmt: skip
        self.model, self.setting, self.factor = model, setting, factor
        kept = np.flatnonzero(c > 0)
        self.given, self.t, self.c = given[kept], t[kept], c[kept]
        self.up, self.down = up[kept], down[kept]
        self.n = len(t)
        rows, column = X[kept], setting.column
        self.w = w if column is None else np.append(w, b / column)
        share = np.full(len(kept), 1 / len(kept))
        self.table = RoundedMatrix(with_column(rows, column), share, setting.free)
        centre, off = self.table.centre(w, b) if setting.free else (0.0, 0.0)
        self.b, self.off = float(centre), float(off)
        z, rounding = self.table.times(self.w)
        self.margins = np.where(self.up, 1.0, -1.0) * (z + self.b)  # of classes
        self.z, self.rounding = z + self.b, rounding + self.off + 4 * UNIT * abs(self.b)
        self.norm = float(np.linalg.norm(w))

    def problem(self, c: Floats) -> Hinge:
        """What the plane is to minimise, with the prices c."""
        setting = self.setting
        return Hinge(
            self.table, self.t, c, self.up, self.down, setting.epsilon, setting.squared,
            setting.penalty,
        )  # fmt: skip

    def claims(self, tol: float, effort: int, number: int, wrong: int | None = None) -> list[Claim]:
        """What can be said of it; `wrong` is how many rows two classes get wrong."""
        if np.isinf(self.setting.C):
            return self._hard(tol, effort, number)
        problem, factor = self.problem(self.c), self.factor
        scale = problem.scale
        tol = held_to(self.model, tol)
        said = numbers_of(self.model, number)
        promised = max(said.get("dual_gap_", np.inf), 0.0) / (factor * scale)
        enough = min(tol, promised + nearness(self.model)) if promised == promised else tol
        found = hinge.bracket(problem, self.w, self.b, enough, effort, self.off)
        ends = found.bracket
        claims = [gap_of(ends, factor, scale, tol)]
        if not self.setting.l1:
            claims.append(distance_claim(float(np.sqrt(2 * ends.most)), self.w))
        claims.append(tolerance_claim(ends.most / scale))
        claims += self._conditions(problem, found.beta)
        if self.norm > 0 and not self.setting.epsilon and (~self.up).any():
            claims.append(margin_claim(self.norm))
            claims += self._supports(ends.most, wrong)
        claims += self._published_supports(ends.most)
        value = problem.value(self.w, self.z, self.rounding)
        derived = {"objective_": factor * value, "dual_gap_": factor * ends.least}
        sizes = dict.fromkeys(NAMES, factor * scale)
        return claims + agreement(said, derived, sizes, nearness(self.model))

    def _hard(self, tol: float, effort: int, number: int) -> list[Claim]:
        """A plane that no row may come nearer to than its margin."""
        least = float((self.margins - self.rounding).min())
        blur = 1e-6 if self.model.coef_.dtype == np.float32 else 1e-9
        blur = max(blur, float(self.rounding.max()))
        statement = f"the smallest functional margin is {least:.9g}, one but for rounding"
        if not least >= 1 - 2 * blur:
            statement = f"the smallest functional margin is {least:.6g}, not one"
        claims = [within("functional margins", statement, max(1 - least, 0.0), 2 * blur)]
        if not least > 0:
            worst = Bracket(np.inf, np.inf)
            return [*claims, gap_of(worst, self.factor, 0.5 * float(self.w @ self.w), tol)]
        # Scaled to a least margin of one it is feasible. No multiplier of the best plane is above
        # |w|^2, the sum of all, so that prices above it change nothing.
        w, b = self.w / least, self.b / least
        square = float(w @ w)
        problem = self.problem(np.full(len(self.t), 2 * square))
        scale = 0.5 * square
        found = hinge.bracket(problem, w, b, 1e-3 * tol * scale / problem.scale, effort, self.off)
        # The objective is the square alone: no row is inside the margin, but for rounding.
        rounding = 4 * UNIT * (len(w) + 4) * scale
        primal = scale + rounding
        loose = problem.value(w, self.z / least, self.rounding / least) - primal
        ends = Bracket(found.bracket.least, max(found.bracket.most - loose, 0.0) + rounding)
        claims += [gap_of(ends, self.factor, scale, tol), margin_claim(self.norm)]
        claims.append(distance_claim(float(np.sqrt(2 * ends.most)), self.w))
        claims += self._conditions(problem, found.beta) + self._supports(ends.most, None)
        claims += self._published_supports(ends.most)
        said = numbers_of(self.model, number)
        derived = {"objective_": self.factor * scale, "dual_gap_": self.factor * ends.least}
        sizes = dict.fromkeys(NAMES, self.factor * scale)
        return claims + agreement(said, derived, sizes, nearness(self.model))

    @property
    def excess(self) -> Floats:
        """How far each row is inside its margin, or beyond its tube; negative outside (n,)."""
        if self.up.all() and self.down.all():
            return np.asarray(np.abs(self.t - self.z) - self.setting.epsilon)
        return np.asarray(1 - self.margins)

    def _conditions(self, problem: Hinge, beta: Floats) -> list[Claim]:
        """The optimality conditions of the rows, by where their multiplier is."""
        excess, share = self.excess, np.abs(beta) / problem.c
        if self.setting.squared:  # the multiplier is 2 c times the excess
            off = np.abs(share / 2 - np.maximum(excess, 0.0))
            n_zero = int(np.count_nonzero(excess <= 0))
            kinds = f"{n_zero:,} multipliers are zero and {len(share) - n_zero:,} positive"
        else:
            # Outside the margin it is zero, inside it is at its limit; what is left is on it.
            zero, full = share < -excess, 1 - share < excess
            off = np.where(excess < 0, np.minimum(share, -excess), np.minimum(1 - share, excess))
            counts = [np.count_nonzero(kind) for kind in (zero, ~zero & ~full, full)]
            kinds = "{:,} multipliers are zero, {:,} free and {:,} at their limit".format(*counts)
        worst = float(np.abs(off).max(initial=0.0))
        statement = f"{kinds}; the worst row violates its condition by {worst:.2g}"
        return [measured("optimality conditions", statement, worst)]

    def _supports(self, gap: float, wrong: int | None) -> list[Claim]:
        """Slacks beside mistakes, and what the rows on the margin say of rows left out."""
        slack = np.maximum(1 - self.margins, 0.0)
        claims = []
        if wrong is not None and len(slack) == self.n:
            whole = float(slack.sum()) + float(self.rounding.sum())
            statement = f"the slacks add up to {whole:.6g}, no less than the {wrong:,} mistakes"
            claims.append(within("slack", statement, wrong, whole))
        # A row beyond its line at the best plane may be left out: nothing changes, and the row is
        # predicted right. Coefficients are within sqrt(2 gap) of the best.
        reach = np.zeros(len(slack))
        if not self.setting.free and not self.setting.l1:
            lengths = np.sqrt(
                np.asarray(self.table.X.power(2).sum(axis=1)).ravel()
                if sp.issparse(self.table.X)
                else (self.table.X**2).sum(axis=1)
            )
            reach = np.sqrt(2 * gap) * lengths
        n_near = int(np.count_nonzero(self.margins - self.rounding - reach <= 1 + ON_MARGIN))
        share = n_near / max(self.n, 1)
        where = "" if not self.setting.free else ", at the best plane"
        statement = (
            f"at most {n_near:,} of {self.n:,} rows ({share:.1%}) would be predicted wrongly if "
            f"left out one at a time{where}"
        )
        return [*claims, measured("leave one out", statement, share)]

    def _published_supports(self, gap: float) -> list[Claim]:
        """That rows outside `support_` are not inside their margin."""
        # By more than coefficients within sqrt(2 gap) of the best ones explain.
        largest = float(np.abs(self.t).max(initial=0.0))
        reach = 0.01 * largest + np.sqrt(2 * gap) * row_lengths(self.table.X)
        excess, alone = self.excess, len(np.atleast_2d(self.model.coef_)) == 1
        outside = -excess - self.rounding - reach if alone else None
        return supports_claim(self.model, self.given, excess - self.rounding - reach, outside)


def row_lengths(X: Any) -> Floats:
    """The length of each row (n,)."""
    squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else (X**2).sum(axis=1)
    return np.asarray(np.sqrt(np.ravel(np.asarray(squares))))


def supports_claim(
    model: Any, given: NDArray[np.intp], inside: Floats, outside: Floats | None = None
) -> list[Claim]:
    """That no row outside `support_` has a positive number in `inside` (n,).

    `given` (n,) are the numbers of these rows among all that were given. Of a plane alone, no row
    in `support_` has a positive number in `outside` (n,).
    """
    if not hasattr(model, "support_"):
        return []
    listed = np.isin(given, model.support_)
    n_wrong = int(np.count_nonzero(~listed & (inside > 0)))
    statement = f"{n_wrong:,} rows that are not in support_ lie inside their margin"
    if outside is not None:
        n_outside = int(np.count_nonzero(listed & (outside > 0)))
        statement += f", and {n_outside:,} that are in it outside"
        n_wrong += n_outside
    strange = len(model.support_) - len(np.unique(model.support_))
    if strange:
        statement += f"; {strange:,} of support_ are given twice"
    return [within("supports", statement, n_wrong + strange, 0.0)]


def gap_of(ends: Bracket, factor: float, scale: float, tol: float) -> Claim:
    """The gap of an objective that is `factor` times the one bracketed."""
    bound = tol * scale
    nearer = f", and not nearer than {factor * ends.least:.3g}" if ends.least > 1e-9 * bound else ""
    return gap_claim(factor * ends.most, factor * scale, factor * bound, f" (duality gap){nearer}")


def tolerance_claim(share: float) -> Claim:
    """Which tolerance a fit has met."""
    statement = f"a tolerance of {share:.2g} or more is met by these coefficients"
    return measured("tolerance", statement, share)


def margin_claim(norm: float) -> Claim:
    """How far the canonical lines are from the plane."""
    statement = f"the lines f = -1 and f = 1 are {1 / norm:.6g} = 1 / |w| away from the plane"
    return measured("margin", statement, 1 / norm)


class JointPlanes:
    """The planes of all classes in one problem."""

    def __init__(
        self, model: Any, setting: Setting, data: ClassData, given: NDArray[np.intp], c: Floats,
        W: Floats, b: Floats, factor: float,
    ) -> None:  # fmt: skip
        self.model, self.setting, self.factor = model, setting, factor
        kept = np.flatnonzero(c > 0)
        self.given = given[kept]
        self.codes, self.c, self.K = data.codes[kept], c[kept], len(data.classes)
        self.X = with_column(data.X[kept], setting.column)
        self.W = W if setting.column is None else np.column_stack([W, b / setting.column])
        self.table = RoundedMatrix(self.X, np.full(len(kept), 1 / len(kept)), setting.free)
        # What all scores have in common changes no lead, and may be large.
        centre, off = self.table.centre(self.W, b) if setting.free else (0 * b, 0 * b)
        self.b, self.off = np.asarray(centre - np.mean(centre)), float(np.max(off))

    def claims(self, tol: float, effort: int) -> list[Claim]:
        """What can be said of them."""
        claims, W, b, c = [], self.W, self.b, self.c
        near, said = nearness(self.model), numbers_of(self.model)
        scale = float(c.sum())
        if np.isinf(self.setting.C):
            problem = JointHinge(self.table, self.codes, self.K, np.ones(len(c)))
            least = float(problem.least_lead(W, b, self.off))
            statement = f"the smallest lead of a row's own class is {least:.9g}"
            claims.append(within("leads", statement, max(1 - least, 0.0), 1e-6))
            if not least > 0:
                return [*claims, gap_of(Bracket(np.inf, np.inf), self.factor, 1.0, tol)]
            W, b = W / least, b / least
            scale = 0.5 * float(np.vdot(W, W))
            c = np.full(len(c), 4 * scale)
        problem = JointHinge(self.table, self.codes, self.K, c)
        tol = held_to(self.model, tol)
        promised = max(said.get("dual_gap_", np.inf), 0.0) / (self.factor * scale)
        enough = min(tol, promised + near) if promised == promised else tol
        ends = joint_hinge.bracket(problem, W, b, enough * scale, effort, self.off)
        claims += [gap_of(ends, self.factor, scale, tol), tolerance_claim(ends.most / scale)]
        claims.append(distance_claim(float(np.sqrt(2 * ends.most)), self.W))
        slack = problem.slack(W, b)
        lengths = np.linalg.norm(W[:, np.newaxis] - W[np.newaxis], axis=2)
        if np.max(lengths) > 0:
            widest = 1 / float(np.max(lengths))
            statement = f"the narrowest street between two classes is {2 * widest:.6g} wide"
            claims.append(measured("margin", statement, widest))
        n_sure = int(np.count_nonzero(slack > 0))
        statement = f"the slacks of {n_sure:,} rows add up to {float(slack.sum()):.6g}"
        claims.append(measured("slack", statement, float(slack.sum())))
        reach = 0.01 + 2 * np.sqrt(2 * ends.most) * row_lengths(self.X)
        claims += supports_claim(self.model, self.given, slack - reach)
        value = problem.value(W, b, self.off)
        derived = {"objective_": self.factor * value, "dual_gap_": self.factor * ends.least}
        return claims + agreement(said, derived, dict.fromkeys(NAMES, self.factor * scale), near)
