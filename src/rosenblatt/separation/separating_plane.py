"""Search for a separating plane or a proof that none exists.

The rows to keep positive are ``sign_i (x_i, 1)``, and for K classes with one score each
``(e_y - e_k) (x) (x_i, 1)`` (Kesler). Either some v has ``a.v > 0`` for all rows a, or weights
p >= 0 exist with ``sum p_i a_i = 0``: the point of their hull nearest to the origin decides.
`exact` proves every result of floating point, and decides small tables by itself.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import hypot, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import lsmr

from .exact import (
    TINY,
    independent_columns,
    integers,
    least_margin,
    middle,
    nearest_point,
    shares_of_one,
    weights_by_elimination,
    weights_by_intervals,
)
from .homogeneous_rows import dense, homogeneous_rows, needed_columns, standardize
from .inputs import UNIT, Floats, Table, check_labels, check_table
from .margin import HullPoint, nearest_points, nearest_weights, widest_direction
from .result import Separability, Widest, summary

DIRECT = 700  # rows or columns up to which least squares finds the nearest point
MOST_CELLS = 20_000_000  # of a working set
MOST_WHOLE = 200_000  # entries up to which a table is decided in integers
NEARLY_ZERO = 1e-9  # relative length below which a nearest point may be zero
CLOSED = 1e-9  # relative gap between margin and bound that counts as zero
ROUNDINGS = 32  # attempts to round an exact plane to float64
SPREAD = 20  # additional rows per column in the second search for weights
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
        Training rows. Numbers that float64 cannot represent exactly raise an error.
    y : array-like of shape (n,)
        Labels of two or more classes; with more than two, each pair is decided.
    fit_intercept : bool, default=True
        False searches for planes through the origin only.
    joint : bool, default=False
        Search for one linear score per class such that each row's own score is the largest.

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
        return _multiclass(table, classes, code, fit_intercept)
    if len(classes) == 2:
        return _binary(table, classes, code, fit_intercept)
    pairs = {}
    for low, high in combinations(range(len(classes)), 2):
        mine = np.isin(code, (low, high))
        pair = _binary(table[mine], classes[[low, high]], 1 * (code[mine] == high), fit_intercept)
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
        The constant coordinate; None or 0 for no such coordinate.

    Returns
    -------
    Widest
        `direction` and `margin`, or the `combination` that proves that none exists.

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
    answer = _answer(Problem(table, 1 * (side > 0), constant=bias or 0.0))
    if answer.coef is None:
        return Widest(False, None, None, answer.combination, answer.grade, answer.gap)
    direction = np.append(answer.coef[0], answer.intercept) if bias else answer.coef[0]
    return Widest(True, direction, answer.margin, None, "proved", None)


def _binary(table: Table, classes: Any, code: NDArray[Any], fit_intercept: bool) -> Separability:
    """Return the answer for two classes."""
    problem = Problem(table, code, constant=float(fit_intercept), free=fit_intercept)
    return _result(_answer(problem), classes, fit_intercept, joint=False)


def _multiclass(table: Table, classes: Any, code: Any, fit_intercept: bool) -> Separability:
    """Return the answer for one score per class; one inseparable pair of classes decides."""
    K = len(classes)
    for low, high in combinations(range(K), 2):
        mine = np.flatnonzero(np.isin(code, (low, high)))
        pair = _binary(table[mine], classes[[low, high]], 1 * (code[mine] == high), fit_intercept)
        if not pair.separable and pair.grade == "proved":
            C = np.zeros((len(code), K))
            C[mine, low + high - code[mine]] = pair.combination
            return _result(Answer(combination=C / C.sum()), classes, fit_intercept, joint=True)
    answer = _answer(Problem(table, code, constant=float(fit_intercept), n_scores=K))
    if answer.combination is not None:
        C = np.zeros((len(code), K))
        C[np.arange(K) != code[:, None]] = answer.combination
        answer = replace(answer, combination=C)
    return _result(answer, classes, fit_intercept, joint=True)


def _result(answer: "Answer", classes: Any, fit_intercept: bool, joint: bool) -> Separability:
    """Return the public form of an answer."""
    about: Any = {"fit_intercept": fit_intercept, "joint": joint}
    if answer.coef is None:
        p, gap = answer.combination, answer.gap
        return Separability(False, classes, answer.grade, combination=p, gap=gap, **about)
    coef = answer.coef if joint else answer.coef[0]
    intercept = answer.intercept if joint else answer.intercept.item()
    return Separability(
        True, classes, coef=coef, margin=answer.margin, intercept=intercept, **about
    )


@dataclass(frozen=True)
class Answer:
    """A plane that is proved to separate, or normalized weights and a bound on the margin."""

    coef: Any = None  # (K, d), or (1, d) of two classes
    intercept: Any = None
    margin: float = 0.0
    combination: Any = None
    grade: str = "proved"
    gap: float = 0.0


class Problem:
    """Rows A to separate from the origin; `free` if the constant is not part of the length."""

    def __init__(
        self, X: Table, code: Any, *, constant: float, free: bool = False, n_scores: int = 1
    ):
        # Columns of zeros are left out. Small tables are dense, so their columns can be shifted.
        filled = np.unique(X.indices) if sp.issparse(X) else X.any(axis=0).nonzero()[0]
        self.used = filled if len(filled) else np.zeros(1, np.intp)
        self.n_columns = X.shape[1]
        X = X if len(self.used) == X.shape[1] else X[:, self.used]
        self.X = X.toarray() if sp.issparse(X) and np.prod(X.shape) <= MOST_WHOLE else X
        self.code, self.constant, self.free = code, constant, free
        self.n_scores = n_scores
        self.A = homogeneous_rows(self.X, code, constant, n_scores)
        Z, self.center, self.unit = standardize(self.X, bool(constant))
        self.standard = homogeneous_rows(Z, code, float(bool(constant)), n_scores)

    @property
    def is_direct(self) -> bool:
        """True if least squares can find the nearest point of the rows."""
        n, m = self.A.shape
        return bool(min(n, m) <= DIRECT and min(n, 2 * m + 20) * m <= MOST_CELLS)

    def plane(self, v: Floats) -> Answer | None:
        """Return v, which separates the standardized rows, if it is proved to separate."""
        V, d = v.reshape(self.n_scores, -1), self.X.shape[1]
        W = V[:, :d] / self.unit
        if self.free:
            return self.prove(W[0]) or self.prove(W[0], rounded=False)
        if self.constant:
            b = V[:, d] - W @ self.center
            W = np.column_stack([W, b / self.constant])
        if self.n_scores > 1:  # one vector added to every class changes nothing
            W = W - W.mean(axis=0)
        return self.prove(W.ravel())

    def prove(self, u: Floats, rounded: bool = True) -> Answer | None:
        """Return u, in units of x, with its exact margin; None unless it is proved to separate."""
        # With a free intercept, u are the coefficients, and the best intercept is computed: a float
        # or, if not `rounded`, a fraction.
        size = float(np.abs(u).max())
        if not 0.0 < size < np.inf:
            return None
        u = u / np.ldexp(1.0, np.frexp(size)[1] - 1)  # norm then neither overflows nor underflows
        u = u / np.linalg.norm(u)
        b = None
        if self.free:
            b = middle(self.X, u, 2.0 * self.code - 1.0)
            b = Fraction(float(b)) if rounded else b
        least = least_margin(self.A, u, b)
        margin = 0.0 if least is None else float(least) / length_of(u)
        if not margin > 0.0:  # also if it underflows
            return None
        U, d = u.reshape(self.n_scores, -1), self.X.shape[1]
        intercept: Any
        if b is not None:
            intercept = np.array(float(b) if rounded else b)
        else:
            intercept = U[:, d] if self.constant else np.zeros(self.n_scores)
        coef = np.zeros((self.n_scores, self.n_columns))
        coef[:, self.used] = U[:, :d]
        return Answer(coef, intercept, margin)

    def widen(self, plane: Answer) -> tuple[Answer, bool]:
        """Return the widest plane found, or `plane`, and whether no other plane is wider."""
        if not self.is_direct:
            return plane, False
        start = plane.coef[:, self.used]
        if self.free:  # the nearest points of the two classes
            unit = sp.diags_array(self.unit) if sp.issparse(self.X) else np.diag(self.unit)
            u, bound = widest_direction(self.standard[:, :-1] @ unit, self.code, start[0])
        else:
            if self.constant:
                start = np.column_stack([start, plane.intercept])
            u, bound = widest_direction(self.A, np.zeros(self.A.shape[0], int), start.ravel())
        return wider(plane, self.prove(u), bound)

    def normalize(self, p: Floats) -> Floats:
        """Scale weights p to sum to one, in each class if free."""
        if not self.free:
            return np.asarray(p / p.sum())
        total = np.bincount(self.code, p, 2)[self.code]
        return np.asarray(np.divide(p, total, out=np.full(len(p), np.inf), where=total > 0))

    def weights_of_all(self, index: NDArray[np.intp], weights: Floats) -> Floats:
        """Return normalized weights of all rows from the weights of some."""
        p = np.zeros(self.A.shape[0])
        p[index] = weights
        return self.normalize(p)

    def gap(self, p: Floats) -> float:
        """Return an upper bound on the margin of any unit plane, by normalized weights p."""
        rest, sizes = self.A.T @ p, abs(self.A).T @ p
        rounding = (self.A.shape[0] + 3) * UNIT * sizes
        if self.free:  # for a unit plane with margin g the class averages are at least 2g apart
            rest, rounding = rest[:-1] / 2.0, rounding[:-1]
        return 1.01 * hypot(*rounding) + hypot(*rest)  # hypot, unlike norm, never underflows


# Numbers near the limits may overflow in a search; results that are not finite prove nothing.
@np.errstate(all="ignore")
def _answer(problem: Problem) -> Answer:
    """Return the widest plane found, or the proof that none exists."""
    p = contradiction(problem.A)
    if p is not None:
        return Answer(combination=problem.normalize(p))
    answer = _search(problem)
    if answer.grade == "checked":
        answer = _without_rounding(problem) or answer
    if answer.coef is None:
        return answer
    answer, is_widest = problem.widen(answer)
    return answer if is_widest else wider(answer, _without_rounding(problem), np.inf)[0]


def _search(problem: Problem) -> Answer:
    """Search in floating point for a plane or for weights that can be proved."""
    A, last, is_zero = problem.standard, None, False
    v = _least_squares(A)
    if (A @ v).min() > 0.0 and (plane := problem.plane(v)) is not None:
        return plane
    if problem.is_direct:
        for last in nearest_points(A, np.zeros(A.shape[0], int), v):
            if last.margin > 0.0 and (plane := problem.plane(last.direction)) is not None:
                return plane
            if is_zero := last.bound <= NEARLY_ZERO * np.abs(last.rows).max():
                p = weights_by_intervals(needed_columns(last.rows, problem.n_scores))
                if p is not None:
                    return Answer(combination=problem.weights_of_all(last.index, p))
        if is_zero and last is not None:
            found = _canceling_weights(needed_columns(A, problem.n_scores), last)
            if found is not None:
                return Answer(combination=problem.weights_of_all(*found))
    else:
        # Lower ``sum [1 - a.v]_+^2`` by Newton steps, damped so that their equations are regular.
        # S. S. Keerthi, D. DeCoste (2005), A modified finite Newton method for fast solution of
        # large scale linear SVMs.
        for _ in range(HINGE_STEPS):
            margins = A @ v
            if margins.min() > 0.0:
                break
            active = A[margins < 1.0]
            v = lsmr(active, np.ones(active.shape[0]), damp=HINGE_PENALTY, x0=v, maxiter=100)[0]
        if (A @ v).min() > 0.0 and (plane := problem.plane(v)) is not None:
            return plane
    ones = np.ones(A.shape[0])
    tried = [problem.normalize(np.maximum(1.0 - A @ v, 0.0)), problem.normalize(ones)]
    if last is not None:
        tried[0] = problem.weights_of_all(last.index, last.weights)
    gaps = [problem.gap(p) if np.isfinite(p).all() else np.inf for p in tried]
    best = int(np.argmin(gaps))
    return Answer(combination=tried[best], grade="checked", gap=gaps[best])


def _canceling_weights(A: Table, point: HullPoint) -> tuple[NDArray[np.intp], Floats] | None:
    """Return rows and weights, rounded from exact ones that cancel them; None if unproved."""
    # Dependent columns leave too few rows: their differences need more.
    spread = np.arange(0, A.shape[0], max(1, A.shape[0] // (SPREAD * A.shape[1])))
    index = np.union1d(point.index, spread)
    rows = dense(A[index])
    B = independent_columns(rows[:, rows.any(axis=0)])
    carrying = nearest_weights(B, np.zeros(len(B), np.intp), 1) > 0
    p = weights_by_intervals(B[carrying])
    if p is not None:
        return index[carrying], p
    p = weights_by_elimination(dense(A[point.index]), point.weights)
    return None if p is None else (point.index, p)


def _least_squares(A: Table) -> Floats:
    """Return the v whose products with all rows are nearest to one."""
    ones, m = np.ones(A.shape[0]), A.shape[1]
    v = np.zeros(m)
    if m <= 2 * DIRECT:
        gram = dense(A.T @ A)
        gram += (1e-12 * np.trace(gram) + TINY) * np.eye(m)
        try:
            v = linalg.solve(gram, A.T @ ones, assume_a="pos")
        except (linalg.LinAlgError, ValueError):
            v = np.zeros(m)
    else:
        v = lsmr(A, ones, maxiter=200)[0]
    return v if np.isfinite(v).all() and v.any() else np.ones(m)


def _without_rounding(problem: Problem) -> Answer | None:
    """Decide a small problem in integers; return None for large problems."""
    # Also None where a plane exists but none was found whose coefficients float64 can hold.
    if np.prod(problem.standard.shape) > MOST_WHOLE:
        return None
    found = nearest_point(integers(dense(problem.standard))[0])
    if found is None:
        return None
    z, parts = found
    if not z.any():
        p = shares_of_one(parts.tolist())
        return None if p is None else Answer(combination=problem.normalize(p))
    unit = 2 ** (max(abs(int(value)) for value in z).bit_length() + 50)
    for nudge in range(ROUNDINGS):  # slightly other lengths round other digits
        v = np.array([float(Fraction(int(value) * (2**50 + nudge), unit)) for value in z])
        plane = problem.plane(v)
        if plane is not None:
            return plane
    return None


def contradiction(A: Table) -> Floats | None:
    """Return weights on two rows with ``a = -b``, or on a row of zeros; None without such rows."""
    seen: dict[bytes, int] = {}
    for i in range(A.shape[0]):
        part = slice(A.indptr[i], A.indptr[i + 1]) if sp.issparse(A) else i
        place = A.indices[part].tobytes() if sp.issparse(A) else b""
        values = A.data[part] if sp.issparse(A) else A[i]
        seen.setdefault(place + values.tobytes(), i)
        j = seen.get(place + (0.0 - values).tobytes())
        if j is not None:
            p = np.zeros(A.shape[0])
            p[[i, j]] = 1.0
            return p
    return None


def wider(plane: Answer, other: Answer | None, bound: float) -> tuple[Answer, bool]:
    """Return the wider of two planes, and whether its margin is the bound of all margins."""
    if other is not None and other.margin > plane.margin:
        plane = other
    return plane, plane.margin >= bound * (1.0 - CLOSED)


def length_of(w: Floats) -> float:
    """Return |w|, accurate to about one rounding."""
    whole, power = integers(w)
    return sqrt(int(whole @ whole) * Fraction(4) ** power)
