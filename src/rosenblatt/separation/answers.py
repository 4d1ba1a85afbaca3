"""Decide a question: a proved plane, a proved combination, or how nearly there is none."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linprog, nnls

from .inputs import Floats, Table
from .interior import interior_combination
from .planes import integers
from .questions import Plane, Question
from .rational import LARGEST, kernel_vector
from .rows import Rows
from .search import DIRECT, newton, slacks
from .widen import widest_direction

ROUNDS = 12
WORKING_ROWS = 3000
PROGRAMME = 2_000_000  # entries of the largest linear programme tried


@dataclass(frozen=True)
class Answer:
    """A plane, or normalised weights p with their grade and the margin e they still allow."""

    plane: Plane | None = None
    combination: Floats | None = None
    grade: str = "proved"
    gap: float = 0.0


# Numbers near the limits may overflow in a search: what is not finite proves nothing.
@np.errstate(all="ignore")
def decide(question: Question) -> Answer:
    """Return the widest plane found, or the proof that there is none."""
    answer = first_proof(question)
    return answer if answer.plane is None else Answer(plane=question.widen(answer.plane))


@np.errstate(all="ignore")
def first_proof(question: Question) -> Answer:
    """Search with the penalty falling, and stop at the first proof either way."""
    rows = question.rows
    v, lam, nearest = np.zeros(rows.m), 0.1 * rows.n, Answer(gap=np.inf)
    for step in range(ROUNDS):
        v = newton(rows, lam, v, v, np.ones(rows.m), lambda margins: margins.min() > 0.0)
        if rows.margins(v).min() > 0.0 and (plane := question.plane(v)) is not None:
            return Answer(plane=plane)
        p = slacks(rows, v)
        if p.any():
            nearest = _nearer(question, p, nearest)
            proof = _combination(rows, p, thorough=step % 4 == 2)
            if proof is not None:
                return Answer(combination=question.normalise(proof))
        lam *= 0.03
    return _last_resort(question, v, nearest)


def _combination(rows: Rows, p: Floats, thorough: bool) -> Floats | None:
    """Make a proof of weights p, cheaply or with fractions too; None if they are not one."""
    if not rows.table.exact:
        return None
    proof = interior_combination(rows, p) if thorough or rows.m <= DIRECT else None
    return rational_combination(rows, p) if proof is None and thorough else proof


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
        plane = question.plane(widest_direction(rows.take, rows.margins, group, v))
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
    solved = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.column_stack([-A, np.ones(k)]),
        b_ub=np.zeros(k),
        bounds=[(-1.0, 1.0)] * m + [(None, 1.0)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solved.x is None:
        return np.zeros(m), np.zeros(k)
    return solved.x[:m], np.maximum(-solved.ineqlin.marginals, 0.0)


def rational_combination(rows: Rows, weights: Floats) -> Floats | None:
    """Prove with fractions that some rows among those with weight add up to nothing.

    Non-negative least squares reduces them to independent ones, whose weights are then the only
    solution of their equations, found exactly and looked at for signs.
    """
    index = np.argsort(-weights, kind="stable")[:WORKING_ROWS]
    index = np.sort(index[weights[index] > 1e-9 * weights.max()])
    used = np.zeros(rows.n)
    used[index] = 1.0
    columns = np.flatnonzero(rows.mass(used) > 0.0)
    if len(columns) > LARGEST:
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
    """Return weights on two equal rows of different classes, if there are any.

    Without intercept a row of zeros is a contradiction by itself.
    """
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
