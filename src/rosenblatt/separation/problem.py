"""The questions asked of a table, in the units of x: what counts as a plane, and how wide it is."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import hypot, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from .homogeneous_rows import HomogeneousRows, Standard, TwoClasses
from .inputs import UNIT, Floats, Table
from .max_margin import DIRECT, newton, slacks, widest_direction
from .nearest_point import bits_of, work_of
from .plane_proofs import exact_scores, integers, middle, score_error, smallest

WIDEN_DIRECTLY = 600  # unknowns up to which the widest plane is found by least squares
CLOSED = 1e-9  # relative distance between margin and bound that counts as none
FOLD = 2  # columns a row from which rows are folded into a square


@dataclass(frozen=True)
class SeparatingPlane:
    """A plane proved to separate, with its margin: ``min y (w.x + b)`` over its length."""

    coef: Floats
    intercept: Floats
    margin: float


@dataclass(frozen=True)
class Hull:
    """Rows in units of x times one power of two: (k, m) Python integers, and each one's group.

    Groups are as in `widen`: -1 is no row. `work` predicts what the nearest point costs.
    """

    rows: NDArray[Any]
    group: NDArray[np.intp]

    @property
    def work(self) -> float:
        n, m = self.rows.shape
        return work_of(n, m, bits_of(self.rows))


class Question(ABC):
    """A set of rows to separate, and the translation of its answers."""

    rows: HomogeneousRows

    @property
    def size(self) -> int:
        """Return the entries of the hull's rows."""
        return self.rows.n * self.rows.m

    @abstractmethod
    def plane(self, v: Floats) -> SeparatingPlane | None:
        """Return v as a plane in the units of x, if it is proved to separate."""

    def shortcut(self) -> SeparatingPlane | None:
        """Return a proved plane if one is quickly found."""
        return None

    @abstractmethod
    def widen(self, plane: SeparatingPlane) -> tuple[SeparatingPlane, bool]:
        """Return the widest plane found, `plane` itself at worst, and if no other is wider."""

    @abstractmethod
    def hull(self) -> Hull:
        """Return the rows as integers, for a decision without rounding."""

    @abstractmethod
    def along(self, v: Floats) -> SeparatingPlane | None:
        """Return the plane along v, a vector as long as the hull's rows, if proved to separate."""

    def normalise(self, p: Floats) -> Floats:
        """Scale weights p > 0 of rows that add up to nothing as their proof is published."""
        return np.asarray(p / p.sum())

    @abstractmethod
    def gap(self, p: Floats) -> float:
        """Return an e that no unit plane's margin exceeds, whatever the normalised weights p."""


class Affine(Question):
    """Two classes and a plane ``w.x + b`` with |w| = 1; b is free, or zero without intercept."""

    def __init__(self, X: Table, sign: Floats, intercept: bool):
        self.X, self.sign, self.intercept = X, sign, intercept
        self.table = Standard(X, intercept)
        self.rows = TwoClasses(self.table, sign)

    def plane(self, v: Floats) -> SeparatingPlane | None:
        return self.prove(self.table.plane(v)[0])

    def prove(self, w: Floats, rounded: bool = True) -> SeparatingPlane | None:
        """Return the best plane along w, its intercept a float or a fraction, if proved."""
        w = unit_vector(w)
        if not w.any():
            return None
        best = middle(self.X, w, self.sign) if self.intercept else Fraction(0)
        b = float(best)
        true_b = Fraction(b) if rounded else best

        def exact(index: NDArray[np.intp]) -> list[Fraction]:
            scores = exact_scores(self.X[index], w)
            pairs = zip(scores, self.sign[index], strict=True)
            return [int(side) * (score + true_b) for score, side in pairs]

        scores = self.sign * (self.X @ w + b)
        least = smallest(scores, score_error(self.X, w, b), exact, len(w))
        if least is None:
            return None
        return SeparatingPlane(w, np.array(b if rounded else best), float(least) / length_of(w))

    @property
    def group(self) -> NDArray[np.intp]:
        """The hulls whose distance is the margin: two classes, or one hull and the origin."""
        return np.where((self.sign > 0) & self.intercept, 1, 0)

    def hull(self) -> Hull:
        return Hull(_whole(self.sign) * integers(dense_table(self.X))[0], self.group)

    def along(self, v: Floats) -> SeparatingPlane | None:
        return self.prove(v) or self.prove(v, rounded=False)

    @cached_property
    def folded(self) -> "tuple[Affine, Floats] | None":
        """The rows in as many columns as rows, L with ``L L' = X X'``; None if not fewer."""
        # A little is added to the diagonal, for searching only: what is found is proved on X.
        n, d = self.X.shape
        if d <= FOLD * n or n >= DIRECT:
            return None
        gram = dense_table(self.X @ self.X.T)
        gram += 1e-10 * np.trace(gram) / n * np.eye(n)
        if not np.isfinite(gram).all():
            return None
        try:
            L = np.asarray(linalg.cholesky(gram, lower=True))
        except linalg.LinAlgError:
            return None
        return Affine(L, self.sign, self.intercept), L

    def unfold(self, L: Floats, w: Floats) -> Floats:
        """Return as a combination of the rows X what w is of the rows L."""
        return np.asarray(self.X.T @ linalg.solve_triangular(L, w, lower=True, trans=1))

    def shortcut(self) -> SeparatingPlane | None:
        if self.folded is None:
            return None
        question, L = self.folded
        v, weight = np.zeros(question.rows.m), np.ones(question.rows.m)
        v = newton(question.rows, 0.01, v, v, weight, lambda margins: margins.min() > 0.0)
        return self.prove(self.unfold(L, question.table.plane(v)[0]))

    def widen(self, plane: SeparatingPlane) -> tuple[SeparatingPlane, bool]:
        bound = np.inf
        if self.table.m <= WIDEN_DIRECTLY:
            w, bound = self._widest(plane.coef)
        elif self.folded is not None:
            question, L = self.folded
            w = self.unfold(L, question._path(np.zeros(len(L))))
        else:
            w = self._path(plane.coef)
        return wider(plane, self.prove(w), bound)

    def _widest(self, start: Floats) -> tuple[Floats, float]:
        unit, d = self.table.unit, self.table.d
        return widest_direction(
            lambda index: self.sign[index, None] * (self.table.take(index)[:, :d] * unit),
            lambda w: self.sign * np.asarray(self.table.Z @ (unit * w)),
            self.group,
            start,
        )

    def _path(self, w: Floats) -> Floats:
        """Follow the soft-margin planes to the hard one as the penalty falls."""
        unit = self.table.unit
        weight = (unit.min() / unit) ** 2
        weight = np.append(weight, 0.0) if self.intercept else weight
        v = np.append(w * unit, 0.0) if self.intercept else w * unit
        best, widest = w, 0.0
        for lam in len(self.sign) * 10.0 ** -np.arange(2.0, 12.0):
            v = newton(self.rows, lam, v, np.zeros(len(v)), weight, lambda margins: False)
            w = v[: self.table.d] / unit
            margin, bound = self._bracket(w, slacks(self.rows, v))
            if margin > widest:
                best, widest = w, margin
            if margin >= 0.99 * bound:
                break
        return best

    def _bracket(self, w: Floats, p: Floats) -> tuple[float, float]:
        """Return the margin of w and the largest margin that weights p allow."""
        scores = self.sign * (self.X @ w) / np.linalg.norm(w)
        if not self.intercept:
            return float(scores.min()), self.gap(p / p.sum()) if p.any() else np.inf
        sides = [self.sign > 0, self.sign < 0]
        margin = sum(float(scores[side].min()) for side in sides) / 2
        return margin, self.gap(self.normalise(p)) if all(p[s].any() for s in sides) else np.inf

    def normalise(self, p: Floats) -> Floats:
        if not self.intercept:
            return super().normalise(p)
        side = self.sign > 0
        total = np.where(side, p[side].sum(), p[~side].sum())
        return np.asarray(np.divide(p, total, out=np.full(len(p), np.inf), where=total > 0))

    def gap(self, p: Floats) -> float:
        # For a unit plane with margin g the class averages are at least 2g apart.
        length = average_length(self.X, self.sign * p)
        return length / 2 if self.intercept else length


class Augmented(Question):
    """Two classes and a unit vector u, ``u.(x, bias)``: the intercept is one more coordinate."""

    def __init__(self, X: Table, sign: Floats, bias: float):
        self.X, self.sign, self.bias = X, sign, bias
        self.one_sided = bool((sign == sign[0]).all())
        self.affine = Affine(X, sign, intercept=True)
        self.rows = self.affine.rows

    def plane(self, v: Floats) -> SeparatingPlane | None:
        if self.one_sided:
            return self.prove(np.append(np.zeros(self.X.shape[1]), self.sign[0] * self.bias))
        found = self.affine.plane(v)
        if found is None:
            return None
        return self._augment(found)

    def hull(self) -> Hull:
        x = np.column_stack([dense_table(self.X), np.full(len(self.sign), self.bias)])
        return Hull(_whole(self.sign) * integers(x)[0], np.zeros(len(x), np.intp))

    def along(self, v: Floats) -> SeparatingPlane | None:
        return self.prove(v)

    def prove(self, u: Floats) -> SeparatingPlane | None:
        """Return u as a unit vector, if it is proved to separate."""
        u = unit_vector(u)
        w, b = u[:-1], Fraction(u[-1]) * Fraction(self.bias)

        def exact(index: NDArray[np.intp]) -> list[Fraction]:
            scores = exact_scores(self.X[index], w)
            pairs = zip(scores, self.sign[index], strict=True)
            return [int(side) * (score + b) for score, side in pairs]

        scores = self.sign * (self.X @ w + float(b))
        least = smallest(scores, score_error(self.X, w, float(b)), exact, len(w))
        return None if least is None else SeparatingPlane(w, u[-1:], float(least) / length_of(u))

    def shortcut(self) -> SeparatingPlane | None:
        found = None if self.one_sided else self.affine.shortcut()
        return None if found is None else self._augment(found)

    def _augment(self, plane: SeparatingPlane) -> SeparatingPlane | None:
        return self.prove(np.append(plane.coef, float(plane.intercept) / self.bias))

    def widen(self, plane: SeparatingPlane) -> tuple[SeparatingPlane, bool]:
        plane = self._widen_affine(plane)
        if self.rows.m > WIDEN_DIRECTLY:
            return plane, False
        table = self.affine.table
        unit, centre, d = table.unit, table.centre, table.d

        def take(index: NDArray[np.intp]) -> Floats:
            x = table.take(index)[:, :d] * unit + centre
            rows = np.column_stack([x, np.full(len(x), self.bias)])
            return np.asarray(self.sign[index, None] * rows)

        u, bound = widest_direction(
            take,
            lambda u: self.sign * np.asarray(self.X @ u[:-1] + self.bias * u[-1]),
            np.zeros(len(self.sign), np.intp),
            np.append(plane.coef, plane.intercept),
        )
        return wider(plane, self.prove(u), bound)

    def _widen_affine(self, plane: SeparatingPlane) -> SeparatingPlane:
        """Try the widest plane with a free intercept: the better one far from the origin."""
        affine = self.affine.prove(plane.coef)
        if affine is None or self.one_sided:
            return plane
        affine = self.affine.widen(affine)[0]
        return wider(plane, self._augment(affine), np.inf)[0]

    def gap(self, p: Floats) -> float:
        q = self.sign * p
        return hypot(average_length(self.X, q), self.bias * sum_of(q))


def wider(
    plane: SeparatingPlane, other: SeparatingPlane | None, bound: float
) -> tuple[SeparatingPlane, bool]:
    """Return the wider of two planes, and whether its margin is the bound of all margins."""
    if other is not None and other.margin > plane.margin:
        plane = other
    return plane, plane.margin >= bound * (1.0 - CLOSED)


def dense_table(X: Table) -> Floats:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _whole(sign: Floats) -> NDArray[Any]:
    """Return signs (n, 1) as Python integers."""
    return sign.astype(np.int64).astype(object)[:, None]


def unit_vector(w: Floats) -> Floats:
    """Return w at length one, however long it was; zeros and infinities give zeros."""
    size = float(np.abs(w).max())
    if not 0.0 < size < np.inf:
        return np.zeros(w.shape)
    w = w / np.ldexp(1.0, np.frexp(size)[1] - 1)
    return np.asarray(w / np.linalg.norm(w))


def length_of(w: Floats) -> float:
    """Return |w|, rounded hardly more than once."""
    whole, power = integers(w)
    return sqrt(int(whole @ whole) * Fraction(4) ** power)


def sum_of(q: Floats) -> float:
    """Return ``|sum q_i|`` with its rounding allowance added."""
    return float(abs(q.sum()) + (len(q) + 3) * UNIT * abs(q).sum())


def average_length(X: Table, q: Floats) -> float:
    """Return ``|sum q_i x_i|`` with its rounding allowance added."""
    rounding = (X.shape[0] + 3) * UNIT * (abs(X).T @ abs(q))
    return 1.01 * hypot(*rounding) + hypot(*(X.T @ q))  # hypot, unlike norm, never underflows
