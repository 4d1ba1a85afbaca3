"""Decide a question: a proved plane, a proved combination, or how nearly there is none."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse
from scipy.optimize import linprog, nnls

from rosenblatt.runtime.interrupts import interruptible

from .homogeneous_rows import HomogeneousRows
from .inputs import Floats, Table
from .interior_point import interior_combination
from .max_margin import DIRECT, newton, slacks, widest_direction
from .nearest_point import MOST_UNKNOWNS, WOLFE_WORK, kernel_vector, nearest_point
from .plane_proofs import integers
from .problem import Question, SeparatingPlane

PENALTIES = 12  # each 0.03 times the one before
FRACTION_STEPS = (2, 6, 10)  # penalties at which dear proofs are tried
MOST_WHOLE = 200_000  # entries written as integers for a decision without rounding
ROUNDINGS = 32  # of an exact plane to float64 that are tried
WORKING_ROWS = 3000
PROGRAMME = 2_000_000  # entries of the largest linear programme tried


@dataclass(frozen=True)
class Answer:
    """A plane, or normalised weights p with their grade and the margin e they still allow."""

    plane: SeparatingPlane | None = None
    combination: Floats | None = None
    grade: str = "proved"
    gap: float = 0.0


# Numbers near the limits may overflow in a search: what is not finite proves nothing.
@np.errstate(all="ignore")
def best_answer(question: Question) -> Answer:
    """Return the widest plane found, or the proof that there is none."""
    answer = first_proof(question)
    if answer.plane is None:
        return answer
    plane, is_widest = question.widen(answer.plane)
    other = None if is_widest else without_rounding(question)
    wider = other is not None and other.plane is not None and other.plane.margin > plane.margin
    return other if other is not None and wider else Answer(plane=plane)


@np.errstate(all="ignore")
def first_proof(question: Question) -> Answer:
    """Search with the penalty falling, and stop at the first proof either way."""
    shortcut = question.shortcut()
    if shortcut is not None:
        return Answer(plane=shortcut)
    rows = question.rows
    v, lam, nearest = np.zeros(rows.m), 0.1 * rows.n, _nothing(question)
    for step in range(PENALTIES):
        v = newton(rows, lam, v, v, np.ones(rows.m), lambda margins: margins.min() > 0.0)
        if rows.margins(v).min() > 0.0 and (plane := question.plane(v)) is not None:
            return Answer(plane=plane)
        p = slacks(rows, v)
        if p.any():
            nearest = _nearer(question, p, nearest)
            proof = _combination(rows, p, with_fractions=step in FRACTION_STEPS)
            if proof is not None:
                return Answer(combination=question.normalise(proof))
        lam *= 0.03
    answer = _last_resort(question, v, nearest)
    return answer if answer.grade == "proved" else without_rounding(question) or answer


def without_rounding(question: Question) -> Answer | None:
    """Decide a small question in integers; None if it is large."""
    # Also None where a plane exists but none was found whose coefficients float64 can hold.
    if question.size > MOST_WHOLE:
        return None
    hull = question.hull()
    if hull.work > WOLFE_WORK:
        return None
    nearest = nearest_point(hull.rows, hull.group)
    if not nearest.point.any():
        p = np.array([float(weight) for weight in nearest.weights])
        return Answer(combination=question.normalise(p))
    unit = 2 ** (max(abs(int(value)) for value in nearest.point).bit_length() + 50)
    for nudge in range(ROUNDINGS):  # a hair longer, other digits are rounded
        point = nearest.point * (2**50 + nudge)
        plane = question.along(np.array([float(Fraction(int(v), unit)) for v in point]))
        if plane is not None:
            return Answer(plane=plane)
    return None


def _nothing(question: Question) -> Answer:
    """Return what equal weights say, to begin with."""
    rows = question.rows
    p = np.isfinite(rows.margins(np.zeros(rows.m))).astype(float)
    p = question.normalise(p)
    return Answer(combination=p, grade="checked", gap=question.gap(p))


def _combination(rows: HomogeneousRows, p: Floats, with_fractions: bool) -> Floats | None:
    """Make a proof of weights p by intervals, or by fractions too; None if they are not one."""
    # Intervals are cheap up to DIRECT unknowns; beyond, they wait for the turn of the fractions.
    if not rows.table.exact:
        return None
    with_intervals = with_fractions or rows.m <= DIRECT
    proof = interior_combination(rows, p) if with_intervals else None
    return rational_combination(rows, p) if proof is None and with_fractions else proof


def _nearer(question: Question, p: Floats, nearest: Answer) -> Answer:
    """Return weights p as an answer graded checked, if they allow less than `nearest` does."""
    p = question.normalise(p)
    gap = question.gap(p) if np.isfinite(p).all() else np.inf
    return Answer(combination=p, grade="checked", gap=gap) if gap < nearest.gap else nearest


def _last_resort(question: Question, v: Floats, nearest: Answer) -> Answer:
    """Ask least squares, then a linear programme, about the rows closest to the boundary."""
    rows = question.rows
    margins = rows.margins(v)
    work = np.argsort(margins, kind="stable")[: min(rows.n, PROGRAMME // rows.m)]
    work = work[np.isfinite(margins[work])]
    if len(work) < 2 or rows.m > DIRECT:
        return nearest
    if v.any():
        group = np.where(np.isfinite(margins), 0, -1)
        plane = question.plane(widest_direction(rows.take, rows.margins, group, v)[0])
        if plane is not None:
            return Answer(plane=plane)
    v, p = _programme(rows.take(work))
    if rows.margins(v).min() > 0.0 and (plane := question.plane(v)) is not None:
        return Answer(plane=plane)
    weights = np.zeros(rows.n)
    weights[work] = p
    if weights.any():
        nearest = _nearer(question, weights, nearest)
        proof = rational_combination(rows, weights) if rows.table.exact else None
        if proof is not None:
            return Answer(combination=question.normalise(proof))
    return nearest


def _programme(A: Floats) -> tuple[Floats, Floats]:
    """Maximise t with ``A v >= t``, ``|v| <= 1`` in every coordinate: (v, weights of the rows)."""
    k, m = A.shape
    solved = interruptible(
        lambda: linprog(
            np.append(np.zeros(m), -1.0),
            A_ub=np.column_stack([-A, np.ones(k)]),
            b_ub=np.zeros(k),
            bounds=[(-1.0, 1.0)] * m + [(None, 1.0)],
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
    )
    if solved.x is None:
        return np.zeros(m), np.zeros(k)
    return solved.x[:m], np.maximum(-solved.ineqlin.marginals, 0.0)


def rational_combination(rows: HomogeneousRows, weights: Floats) -> Floats | None:
    """Prove with fractions that some rows among those with weight add up to nothing."""
    # Non-negative least squares reduces them to independent ones, whose weights are then the only
    # solution of their equations, found exactly and looked at for signs.
    index = np.argsort(-weights, kind="stable")[:WORKING_ROWS]
    index = np.sort(index[weights[index] > 1e-9 * weights.max()])
    used = np.zeros(rows.n)
    used[index] = 1.0
    columns = np.flatnonzero(rows.mass(used) > 0.0)
    if len(columns) > MOST_UNKNOWNS:
        return None
    A = rows.take(index, columns)
    try:
        u, residual = nnls(
            np.vstack([A.T, np.ones(len(A))]),
            np.append(np.zeros(len(columns)), 1.0),
            maxiter=10 * len(A),
        )
    except RuntimeError:
        return None
    if residual > 1e-6:
        return None
    tried = set()
    for least in (0.0, 1e-13, 1e-10, 1e-7):
        support = np.flatnonzero(u > least * u.max())
        if len(support) in tried:
            continue
        tried.add(len(support))
        proof = _positive_kernel(A[support])
        if proof is not None:
            p = np.zeros(rows.n)
            p[index[support]] = proof
            return p
    return None


def _positive_kernel(A: Floats) -> Floats | None:
    """Return the weights p > 0, unique up to scale, with ``sum p_i a_i = 0``; None if others."""
    if not A.any():
        return np.full(len(A), 1.0 / len(A))
    M = np.array([integers(column)[0] for column in A.T], dtype=object)
    x = kernel_vector(M)
    if x is None or not (all(value > 0 for value in x) or all(value < 0 for value in x)):
        return None
    total = sum(x)
    return np.array([value / total for value in x])


def contradiction(X: Table, sign: Floats, intercept: bool) -> Floats | None:
    """Return weights on two equal rows of different classes, if there are any."""
    # Without intercept a row of zeros is a contradiction by itself.
    seen: dict[bytes, int] = {}
    zero = b"" if sparse.issparse(X) else bytes(8 * X.shape[1])
    for i in range(X.shape[0]):
        key = _bytes(X, i)
        j = seen.setdefault(key, i)
        if sign[i] != sign[j] or (key == zero and not intercept):
            p = np.zeros(len(sign))
            p[[i, j]] = 1.0
            return p
    return None


def _bytes(X: Table, i: int) -> bytes:
    """Return what two rows have in common if and only if they are equal."""
    if not sparse.issparse(X):
        return bytes(X[i].tobytes())
    part = slice(X.indptr[i], X.indptr[i + 1])
    return bytes(X.indices[part].tobytes() + X.data[part].tobytes())
