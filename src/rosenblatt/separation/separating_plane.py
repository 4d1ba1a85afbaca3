"""The search for a plane or for its impossibility, and the proof of what was found.

The rows to keep positive are ``sign_i (x_i, 1)``, and for K classes with one score each
``(e_y - e_k) (x) (x_i, 1)`` (Kesler). Either some v has ``a.v > 0`` for all rows a, or weights
p >= 0 exist with ``sum p_i a_i = 0``: the nearest point of their hull to the origin decides it.
Nothing that floating point finds is trusted; `exact` proves it, or decides small tables by itself.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import hypot, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, lsmr

from .exact import (
    TINY,
    first_dependence,
    independent_columns,
    integers,
    middle,
    nearest_point,
    shares_of_one,
    smallest,
    weights_by_elimination,
    weights_by_intervals,
)
from .homogeneous_rows import HomogeneousRows, standardize
from .inputs import UNIT, Floats, Table, check_labels, check_table
from .margin import HullPoint, nearest_points, nearest_weights, widest_direction
from .result import Separability, Widest, summary

DIRECT = 700  # rows or columns up to which the nearest point is found by least squares
MOST_CELLS = 20_000_000  # of a working set
MOST_WHOLE = 200_000  # numbers written as integers for a decision without rounding
NEARLY_ZERO = 1e-9  # length of a nearest point, of rows of length one, that may be zero
CLOSED = 1e-9  # relative distance between margin and bound that counts as none
ROUNDINGS = 32  # of an exact plane to float64 that are tried
SPREAD = 20  # rows per column among which weights are looked for once more
HINGE_STEPS = 60
HINGE_PENALTY = 1e-2


def separability(
    X: Any, y: Any, *, fit_intercept: bool = True, joint: bool = False
) -> Separability:
    """Find a plane that separates the classes, or prove that none exists.

    Two classes are separable if some plane has ``w.x + b > 0`` on all rows of one and ``< 0`` on
    all rows of the other. The plane returned is proved to separate in exact arithmetic. If the
    table has at most 700 columns or rows, its margin is the largest up to rounding. If no plane
    exists, the weights returned are a rounding of exact ones, whose existence is proved by exact or
    interval arithmetic (`grade` "proved"). If neither proof succeeds, the answer is False with the
    largest margin that a plane could have (`grade` "checked", `gap`).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Training rows. Numbers that float64 cannot hold exactly are refused.
    y : array-like of shape (n,)
        Labels of two classes or more; with more, each pair of classes is answered.
    fit_intercept : bool, default=True
        False searches for planes through the origin only.
    joint : bool, default=False
        Search for one linear score per class instead, such that each row's own is the largest.

    Returns
    -------
    Separability
        `separable`, the plane or the `combination`, and `verify(X, y)`.

    Examples
    --------
    >>> separability([[1, 1], [3, 2], [2, 4], [3, 4], [2, 3]], [0, 1, 1, 1, 0])
    A plane separates 0 and 1: the margin is 0.223607 (proved).
    >>> xor = separability([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"])
    >>> xor
    No plane separates 'no' and 'yes': 4 weighted rows have the same average (proved).
    >>> xor.combination
    array([0.5, 0.5, 0.5, 0.5])

    References
    ----------
    .. [1] P. Gordan (1873), Ueber die Auflösung linearer Gleichungen mit reellen Coefficienten.
    """
    table = check_table(X)
    classes, code = check_labels(y, table.shape[0])
    if joint:
        return _jointly(table, classes, code, fit_intercept)
    if len(classes) == 2:
        return _two(table, classes, code, fit_intercept)
    pairs = {}
    for low, high in _pairs(len(classes)):
        mine = np.isin(code, (low, high))
        pair = _two(table[mine], classes[[low, high]], 1 * (code[mine] == high), fit_intercept)
        if pair.combination is not None:
            p = np.zeros(len(code))
            p[mine] = pair.combination
            pair = replace(pair, combination=p)
        pairs[tuple(classes[[low, high]].tolist())] = pair
    return Separability(classes=classes, fit_intercept=fit_intercept, pairs=pairs, **summary(pairs))


def widest(X: Any, sign: Any, *, bias: float | None = 1.0) -> Widest:
    """Find the unit vector u with the largest ``min sign_i u.(x_i, bias)``, or prove it negative.

    This margin is the one in Novikoff's bound: a perceptron that adds `bias` to each row as one
    more coordinate makes at most ``max |(x, bias)|^2 / margin^2`` mistakes.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Training rows.
    sign : array-like of shape (n,)
        -1 or +1 for each row.
    bias : float or None, default=1.0
        The constant coordinate; None or 0 for none.

    Returns
    -------
    Widest
        `direction` and `margin`, or the `combination` that proves there is none.

    Examples
    --------
    >>> found = widest([[3, 2], [-2, 2], [-2, -3]], [1, -1, 1], bias=None)
    >>> found.direction.round(6), round(found.margin, 6)
    (array([ 0.707107, -0.707107]), 0.707107)
    """
    table = check_table(X)
    side = np.asarray(sign, dtype=np.float64)
    if side.shape != (table.shape[0],):
        raise ValueError(
            f"X and sign must have the same length; got {table.shape[0]} rows in X "
            f"and shape {side.shape} in sign."
        )
    if not np.isin(side, (-1.0, 1.0)).all():
        raise ValueError(f"sign must hold -1 and +1 only; got {sign!r}.")
    if bias is not None and not np.isfinite(bias):
        raise ValueError(f"bias must be a finite number or None; got {bias!r}.")
    answer = _answer(Question(table, 1 * (side > 0), constant=bias or 0.0))
    if answer.plane is None:
        return Widest(False, None, None, answer.combination, answer.grade, answer.gap)
    plane = answer.plane
    direction = np.append(plane.coef[0], plane.intercept) if bias else plane.coef[0]
    return Widest(True, direction, plane.margin, None, "proved", None)


def _pairs(K: int) -> list[tuple[int, int]]:
    return [(low, high) for low in range(K) for high in range(low + 1, K)]


def _two(table: Table, classes: Any, code: NDArray[Any], fit_intercept: bool) -> Separability:
    """Answer for two classes."""
    answer = _answer(Question(table, code, constant=float(fit_intercept), free=fit_intercept))
    return _published(answer, classes, fit_intercept, joint=False)


def _jointly(table: Table, classes: Any, code: Any, fit_intercept: bool) -> Separability:
    """Answer for one score per class; a pair of classes without a plane settles it."""
    K = len(classes)
    for low, high in _pairs(K):
        mine = np.flatnonzero(np.isin(code, (low, high)))
        pair = _two(table[mine], classes[[low, high]], 1 * (code[mine] == high), fit_intercept)
        if not pair.separable and pair.grade == "proved":
            C = np.zeros((len(code), K))
            C[mine, low + high - code[mine]] = pair.combination
            return _published(Answer(combination=C / C.sum()), classes, fit_intercept, joint=True)
    answer = _answer(Question(table, code, constant=float(fit_intercept), n_classes=K))
    return _published(answer, classes, fit_intercept, joint=True)


def _published(answer: "Answer", classes: Any, fit_intercept: bool, joint: bool) -> Separability:
    """Return an answer with the attributes of the public class."""
    plane, p = answer.plane, answer.combination
    if plane is None:
        return Separability(
            False, classes, answer.grade, combination=p.reshape(-1, len(classes)) if joint else p,
            gap=answer.gap, fit_intercept=fit_intercept, joint=joint,
        )  # fmt: skip
    return Separability(
        True, classes, coef=plane.coef if joint else plane.coef[0], margin=plane.margin,
        intercept=plane.intercept if joint else plane.intercept.item(),
        fit_intercept=fit_intercept, joint=joint,
    )  # fmt: skip


# The question, and its answer


@dataclass(frozen=True)
class SeparatingPlane:
    """A plane proved to separate: coef (K, d), or (1, d) of two classes, intercept and margin."""

    coef: Floats
    intercept: Any
    margin: float


@dataclass(frozen=True)
class Answer:
    """A plane, or normalised weights p with their grade and the margin they still allow."""

    plane: SeparatingPlane | None = None
    combination: Any = None
    grade: str = "proved"
    gap: float = 0.0


class Question:
    """Whether a vector separates the rows; `free` if the constant is not part of its length."""

    def __init__(
        self, X: Table, code: NDArray[Any], *, constant: float, free: bool = False,
        n_classes: int = 0,
    ):  # fmt: skip
        # Columns of zeros are left out. Small tables are dense, whose columns can be shifted.
        filled = np.unique(X.indices) if sp.issparse(X) else X.any(axis=0).nonzero()[0]
        self.used = filled if len(filled) else np.zeros(1, np.intp)
        self.n_columns = X.shape[1]
        X = X if len(self.used) == X.shape[1] else X[:, self.used]
        X = X.toarray() if sp.issparse(X) and np.prod(X.shape) <= MOST_WHOLE else X
        self.rows = HomogeneousRows(X, code, constant, n_classes)
        Z, self.centre, self.unit = standardize(X, bool(constant))
        self.standard = HomogeneousRows(Z, code, float(bool(constant)), n_classes)
        self.free = free

    @property
    def is_direct(self) -> bool:
        """Whether the nearest point of the rows can be found by least squares."""
        n, m = self.rows.shape
        return bool(min(n, m) <= DIRECT and min(n, 2 * m + 20) * m <= MOST_CELLS)

    def plane(self, v: Floats) -> SeparatingPlane | None:
        """Return v, which separates the standardized rows, if it is proved to separate."""
        W, b = self.standard.split(v)
        W = W / self.unit[:, None]
        b = b - self.centre @ W
        if self.free:
            return self.prove(W[:, 0]) or self.prove(W[:, 0], rounded=False)
        V = np.vstack([W, b / self.rows.constant]) if self.rows.constant else W
        if self.rows.n_classes:  # one vector added to every class changes nothing
            V = V - V.mean(axis=1, keepdims=True)
        return self.prove(V.T.ravel())

    def prove(self, u: Floats, rounded: bool = True) -> SeparatingPlane | None:
        """Return u, in units of x, with its exact margin; None unless it is proved to separate."""
        # With a free intercept u are the coefficients, and the best intercept is found: a float, or
        # if not `rounded` a fraction.
        u, rows = unit_vector(u), self.rows
        if not u.any():
            return None
        best, v = Fraction(0), u
        if self.free:
            best = middle(rows.X, u, rows.sign)
            best = Fraction(float(best)) if rounded else best
            v = np.append(u, float(best))

        least = smallest(
            rows.margins(v), rows.rounding(v), lambda at: rows.exact_margins(at, u, best), len(u)
        )
        if least is None:
            return None
        W, b = rows.split(v)
        b = np.array(float(best) if rounded else best) if self.free else b / (rows.constant or 1.0)
        return SeparatingPlane(W.T, b, float(least) / length_of(u))

    def widen(self, plane: SeparatingPlane) -> tuple[SeparatingPlane, bool]:
        """Return the widest plane found, `plane` itself at worst, and whether no other is wider."""
        if not self.is_direct:
            return plane, False
        if self.free:
            u, bound = self._widest_free(plane.coef[0])
            return wider(plane, self.prove(u), bound)
        rows = self.rows
        if rows.constant and not rows.n_classes and np.ptp(rows.sign) > 0:
            # The widest plane with a free intercept is the better one far from the origin.
            free = Question(rows.X, rows.code, constant=1.0, free=True)
            w = free._widest_free(plane.coef[0])[0]
            if w.any():
                b = float(middle(rows.X, w, rows.sign)) / rows.constant
                plane = wider(plane, self.prove(np.append(w, b)), np.inf)[0]
        start = plane.coef
        if rows.constant:
            start = np.column_stack([plane.coef, plane.intercept])
        u, bound = widest_direction(rows.take, rows.margins, rows.group, start.ravel())
        return wider(plane, self.prove(u), bound)

    def _widest_free(self, start: Floats) -> tuple[Floats, float]:
        """Return the direction along which the classes are farthest apart, and a bound."""
        Z, sign = self.standard.X, self.rows.sign
        plain = HomogeneousRows(Z, self.rows.code, 0.0)
        return widest_direction(
            lambda index: plain.take(index) * self.unit,
            lambda w: sign * np.asarray(Z @ (self.unit * w)),
            np.where(sign > 0, 1, 0),
            start,
        )

    def normalise(self, p: Floats) -> Floats:
        """Scale weights p as their proof is published: to sum to one, in each class if free."""
        if not self.free:
            return np.asarray(p / p.sum())
        total = np.bincount(self.rows.code, p, 2)[self.rows.code]
        return np.asarray(np.divide(p, total, out=np.full(len(p), np.inf), where=total > 0))

    def gap(self, p: Floats) -> float:
        """Return an e that no unit plane's margin exceeds, whatever the normalised weights p."""
        rest, sizes = self.rows.combine(p), self.rows.combine(p, sizes=True)
        rounding = (self.rows.n + 3) * UNIT * sizes
        if self.free:  # for a unit plane with margin g the class averages are at least 2g apart
            rest, rounding = rest[:-1] / 2.0, rounding[:-1]
        return 1.01 * hypot(*rounding) + hypot(*rest)  # hypot, unlike norm, never underflows


# Numbers near the limits may overflow in a search: what is not finite proves nothing.
@np.errstate(all="ignore")
def _answer(question: Question) -> Answer:
    """Return the widest plane found, or the proof that there is none."""
    p = None if question.rows.n_classes else contradiction(question)
    if p is not None:
        return Answer(combination=question.normalise(p))
    answer, last = _search(question)
    if answer.plane is None and answer.grade == "checked":
        answer = _without_rounding(question, last) or answer
    if answer.plane is None:
        return answer
    plane, is_widest = question.widen(answer.plane)
    if not is_widest:
        other = _without_rounding(question, None)
        plane = wider(plane, other.plane, np.inf)[0] if other is not None else plane
    coef = np.zeros((len(plane.coef), question.n_columns))
    coef[:, question.used] = plane.coef
    return Answer(plane=replace(plane, coef=coef))


def _search(question: Question) -> tuple[Answer, HullPoint | None]:
    """Search in floating point for the first proof either way; also return the last hull point."""
    rows, last = question.standard, None
    v = _least_squares(rows)
    if rows.margins(v).min() > 0.0 and (plane := question.plane(v)) is not None:
        return Answer(plane=plane), None
    if question.is_direct:
        for point in nearest_points(rows.take, rows.margins, rows.group, v):
            last = point
            if point.margin > 0.0 and (plane := question.plane(point.direction)) is not None:
                return Answer(plane=plane), point
            if is_zero := point.bound <= NEARLY_ZERO * np.abs(point.rows).max():
                p = weights_by_intervals(point.rows[:, : rows.n_needed])
                if p is not None:
                    return _proof(question, point.index, p), point
        if last is not None and is_zero and (found := _cancelling_weights(rows, last)) is not None:
            return _proof(question, *found), last
    else:
        v = _hinge_direction(rows, v)
        if rows.margins(v).min() > 0.0 and (plane := question.plane(v)) is not None:
            return Answer(plane=plane), None
    equal = np.where(rows.group < 0, 0.0, 1.0)
    slack = np.maximum(1.0 - rows.margins(v), 0.0)
    if last is not None:
        slack = np.zeros(len(equal))
        slack[last.index] = last.weights
    tried = [question.normalise(p) for p in (slack, equal)]
    gaps = [question.gap(p) if np.isfinite(p).all() else np.inf for p in tried]
    best = int(np.argmin(gaps))
    return Answer(combination=tried[best], grade="checked", gap=gaps[best]), last


def _proof(question: Question, index: NDArray[np.intp], weights: Floats) -> Answer:
    """Return proved weights of some rows as an answer."""
    p = np.zeros(question.rows.shape[0])
    p[index] = weights
    return Answer(combination=question.normalise(p))


def _cancelling_weights(
    rows: HomogeneousRows, point: HullPoint
) -> tuple[NDArray[np.intp], Floats] | None:
    """Return rows and weights, rounded from exact ones that cancel them; None if unproved."""
    # Columns that depend on each other leave too few rows: their differences ask for more.
    spread = np.flatnonzero(rows.group == 0)
    spread = spread[:: max(1, len(spread) // (SPREAD * rows.shape[1]))]
    index = np.union1d(point.index, spread)
    A = rows.take(index)[:, : rows.n_needed]
    B = independent_columns(A[:, A.any(axis=0)])
    carrying = nearest_weights(B, np.zeros(len(B), np.intp), 1) > 0
    p = weights_by_intervals(B[carrying])
    if p is not None:
        return index[carrying], p
    p = weights_by_elimination(point.rows[:, : rows.n_needed], point.weights)
    return None if p is None else (point.index, p)


def _least_squares(rows: HomogeneousRows) -> Floats:
    """Return the v whose scores are nearest to the signs, or to one for a row's own class."""
    target = 1.0 * rows.own if rows.n_classes else rows.sign[:, None]
    X = rows.X
    if rows.constant:
        ones = np.ones((rows.n, 1))
        X = sp.hstack([X, ones], format="csr") if sp.issparse(X) else np.hstack([X, ones])
    if rows.m <= 2 * DIRECT:
        gram = X.T @ X
        gram = gram.toarray() if sp.issparse(gram) else gram
        gram += (1e-12 * np.trace(gram) + TINY) * np.eye(len(gram))
        try:
            V = linalg.cho_solve(linalg.cho_factor(gram), np.asarray(X.T @ target))
        except (linalg.LinAlgError, ValueError):
            V = np.zeros((rows.m, rows.n_scores))
    else:
        V = np.column_stack([lsmr(X, column, maxiter=200)[0] for column in target.T])
    V = V if np.isfinite(V).all() and V.any() else np.ones_like(V)
    return np.asarray(V.T).ravel()


def _hinge_direction(rows: HomogeneousRows, v: Floats) -> Floats:
    """Lower ``sum [1 - a.v]_+^2`` until all margins are positive: Newton steps, nearly solved."""
    # S. S. Keerthi, D. DeCoste (2005), A modified finite Newton method for fast solution of large
    # scale linear SVMs. The step stays near the last v, which makes its equations regular.
    for _ in range(HINGE_STEPS):
        margins = rows.margins(v)
        active = margins < 1.0
        if margins.min() > 0.0:
            break

        def combine(p: Floats, active: NDArray[np.bool_] = active) -> Floats:
            whole = np.zeros(len(active))
            whole[active] = p
            return rows.combine(whole)

        def dot(v: Floats, active: NDArray[np.bool_] = active) -> Floats:
            return rows.margins(v)[active]

        A = LinearOperator((int(active.sum()), len(v)), matvec=dot, rmatvec=combine, dtype=float)
        v = lsmr(A, np.ones(A.shape[0]), damp=HINGE_PENALTY, x0=v, maxiter=100)[0]
    return np.asarray(v)


def _without_rounding(question: Question, point: HullPoint | None) -> Answer | None:
    """Decide a small question in integers; None if it is large."""
    # Also None where a plane exists but none was found whose coefficients float64 can hold.
    rows = question.standard
    if rows.shape[0] * rows.shape[1] > MOST_WHOLE:
        return None
    index = np.flatnonzero(rows.group >= 0)
    A = integers(rows.take(index))[0]
    corral, weights = [0], [Fraction(1)]
    if point is not None:
        order = np.argsort(-point.weights, kind="stable")
        S = A[np.searchsorted(index, point.index[order])]
        dependence = first_dependence(S.T.copy())
        n_independent = len(order) if dependence is None else len(dependence) - 1
        corral = np.searchsorted(index, point.index[order[:n_independent]]).tolist()
        shares = [Fraction(float(u)) for u in point.weights[order[:n_independent]]]
        weights = [share / sum(shares) for share in shares]
    found = nearest_point(A, corral, weights)
    if found is None:
        return None
    z, parts = found
    if not z.any():
        p = shares_of_one(parts.tolist())
        return None if p is None else _proof(question, index, p)
    unit = 2 ** (max(abs(int(value)) for value in z).bit_length() + 50)
    for nudge in range(ROUNDINGS):  # a hair longer, other digits are rounded
        v = np.array([float(Fraction(int(value) * (2**50 + nudge), unit)) for value in z])
        plane = question.plane(v)
        if plane is not None:
            return Answer(plane=plane)
    return None


def contradiction(question: Question) -> Floats | None:
    """Return weights on two equal rows of different classes, if there are any."""
    # Without intercept a row of zeros is a contradiction by itself.
    X, sign = question.rows.X, question.rows.sign
    seen: dict[bytes, int] = {}
    zero = b"" if sp.issparse(X) else bytes(8 * X.shape[1])
    for i in range(X.shape[0]):
        if sp.issparse(X):
            part = slice(X.indptr[i], X.indptr[i + 1])
            key = bytes(X.indices[part].tobytes() + X.data[part].tobytes())
        else:
            key = bytes(X[i].tobytes())
        j = seen.setdefault(key, i)
        if sign[i] != sign[j] or (key == zero and not question.rows.constant):
            p = np.zeros(len(sign))
            p[[i, j]] = 1.0
            return p
    return None


def wider(
    plane: SeparatingPlane, other: SeparatingPlane | None, bound: float
) -> tuple[SeparatingPlane, bool]:
    """Return the wider of two planes, and whether its margin is the bound of all margins."""
    if other is not None and other.margin > plane.margin:
        plane = other
    return plane, plane.margin >= bound * (1.0 - CLOSED)


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
