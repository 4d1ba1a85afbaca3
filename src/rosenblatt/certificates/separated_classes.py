"""Logistic regression without a penalty on classes that planes separate in part.

Some direction raises the score of some rows' own class against another, and lowers it for none:
their loss falls towards 0 along it for ever, and that of the others does not change. So no finite
coefficients are best, and the objective can come as near as one likes to the least value that it
has on the others alone, which no coefficients reach (Albert and Anderson 1984).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

from rosenblatt.runtime.threads import interruptible
from rosenblatt.separation import Separability, separability

from .claims import Claim, Grade, share_at_zero
from .exact_arithmetic import rows_ahead, simple_proportions, stands
from .rounded_matrix import UNIT, Floats

FEW_CELLS = 100_000
MOST_CELLS = 1_000_000  # of the linear program
MOST_SECONDS = 20.0
CERTAIN = 7.0  # a lead at which a row's probability is within a thousandth of one
MOST_NAMES = 5
THRIFT = 1e-6  # what a coefficient costs, against a lead: few are used
NEARLY_TIED = 1e-6  # a lead, as a share of its own products
MOST_TIED_CELLS = 2_000_000  # of ties closed by least squares
LEAST = 1e-300  # more than underflow can add up to


@dataclass(frozen=True, eq=False)
class Direction:
    """Coefficients along which no row's own class falls behind another, and some get ahead."""

    ahead: NDArray[np.bool_]  # (n, K): rows that get ahead of which class
    columns: NDArray[np.intp]  # that it is made of
    grade: Grade

    @property
    def rows(self) -> NDArray[np.bool_]:
        """The rows (n,) that get ahead of some class."""
        return np.asarray(self.ahead.any(axis=1))


def direction(X: Any, codes: NDArray[Any], fit_intercept: bool) -> Direction | None:
    """The direction that most rows get ahead by; None if there is none, or too much to look at."""
    # Single columns that are one need no program: they come first in a large table, and last where
    # the program found nothing that is upheld.
    K = len(np.unique(codes))
    stored = X.nnz if sp.issparse(X) else X.size
    cells = 2 * (K - 1) * (stored + len(codes))
    if cells <= FEW_CELLS:
        found = _by_program(X, codes, K, fit_intercept)
        return found or of_columns(X, codes, K, fit_intercept)
    found = of_columns(X, codes, K, fit_intercept)
    if found is None and cells <= MOST_CELLS:
        found = _by_program(X, codes, K, fit_intercept)
    return found


def _by_program(X: Any, codes: NDArray[Any], K: int, fit_intercept: bool) -> Direction | None:
    """The direction that a linear program finds, if it is upheld."""
    leads, row, other = _leads(X, codes, K, fit_intercept)
    sizes = np.asarray(abs(leads).max(axis=0).todense()).ravel()
    sizes[sizes == 0] = 1.0
    v = _furthest(leads @ sp.diags(1 / sizes))
    if v is None:
        return None
    v = np.where(np.abs(v) > 1e-9 * np.abs(v).max(), v, 0.0) / sizes
    W = v.reshape(K, -1)[:, :-1]
    columns = np.flatnonzero(W.any(axis=0))
    # Simple fractions in its place may be a direction exactly.
    exact = rows_ahead(X, codes, simple_proportions(W), fit_intercept) if len(columns) else None
    if exact is not None:
        return Direction(exact, columns, "proved")
    raised = _raised(leads, v)
    if raised is None:
        return None
    ahead = np.zeros((len(codes), K), np.bool_)
    ahead[row, other] = raised
    return Direction(ahead, columns, "checked")


def _raised(leads: Any, v: Floats) -> NDArray[np.bool_] | None:
    """Which leads (m,) rise along v, or a direction near it that lowers none; None without one."""
    # A program is right up to a share of its largest number, so each lead is measured against the
    # rounding of its own products; also with simple proportions for v, or near ties made ties.
    if not v.any():
        return None
    once = _tied(leads, v)
    simple = simple_proportions(v).astype(np.float64)
    for near in (v, simple, once, _tied(leads, once)):  # twice, for what rounding left
        gained = leads @ near
        rounding = 1.01 * (np.count_nonzero(near) + 3) * UNIT * (abs(leads) @ np.abs(near))
        rounding += LEAST
        if (gained >= -rounding).all() and (gained > rounding).any():
            return np.asarray(gained > rounding)
    return None


def _tied(leads: Any, v: Floats) -> Floats:
    """The nearest to v, of the same columns, whose nearly tied leads are ties."""
    used, sizes = np.flatnonzero(v), abs(leads) @ np.abs(v)
    close = np.flatnonzero((np.abs(leads @ v) <= NEARLY_TIED * sizes) & (sizes > 0))
    if not len(close) or len(close) * len(used) > MOST_TIED_CELLS:
        return v
    # Coefficients are moved by a share of themselves, so that small ones stay small.
    A = leads[close][:, used].multiply(v[used]).multiply(1 / sizes[close, None]).toarray()
    moved = v.copy()
    moved[used] -= v[used] * np.linalg.lstsq(A, A.sum(axis=1), rcond=1e-9)[0]
    return moved


def of_columns(X: Any, codes: NDArray[Any], K: int, fit_intercept: bool) -> Direction | None:
    """All columns with no value of one class below, or none above, any value of the others."""
    # Each is a direction alone, proved by comparisons, which do not round; and so is their sum.
    low, high = (
        np.array([_ends(X[codes == k], end) for k in range(K)]) for end in ("min", "max")
    )  # (K, d)
    ahead, columns = np.zeros((len(codes), K), np.bool_), set()
    varies = low.min(axis=0) < high.max(axis=0)
    for k in range(K):
        own, others = codes == k, np.arange(K) != k
        for side, least, most in (
            (1.0, low[k], high[others].max(axis=0)),
            (-1.0, -high[k], -low[others].min(axis=0)),
        ):
            parts = most <= least if fit_intercept else (most <= 0) & (least >= 0)
            for j in np.flatnonzero(parts & varies):
                x = X[:, [j]].toarray()[:, 0] if sp.issparse(X) else X[:, j]
                beyond = side * x != (least[j] if fit_intercept else 0.0)
                ahead[beyond & own] |= others  # of all other classes
                ahead[beyond & ~own, k] = True
                columns.add(int(j))
    return Direction(ahead, np.array(sorted(columns)), "proved") if columns else None


def _ends(part: Any, end: str) -> Floats:
    """The least or the largest value of each column."""
    found = getattr(part, end)(axis=0)
    return np.asarray(found.toarray()[0] if sp.issparse(part) else found, np.float64)


def with_direction(
    claims: list[Claim],
    model: Any,
    X: Any,
    codes: NDArray[Any],
    fit_intercept: bool,
    ahead: float,
    scale: float,
    value: float = np.inf,
    lowest: Callable[[NDArray[np.bool_]], float] | None = None,
) -> list[Claim]:
    """A gap with the claim that some rows can be got ahead of others for ever, if they can."""
    # `ahead` is the furthest that a score is ahead of another, `value` the objective, `scale` what
    # it is at zero; `lowest` bounds the objective on some rows alone from below.
    (gap,) = claims
    if gap.name != "gap" or (gap.holds and ahead < CERTAIN):  # all rows are still in play
        return claims
    found = direction(X, codes, fit_intercept)
    if found is None:
        return claims
    if lowest is not None and not found.rows.all():
        gap = _nearer(gap, scale, value - lowest(~found.rows))
    return [gap, _claim(found, model, gap)]


def _nearer(gap: Claim, scale: float, most: float) -> Claim:
    """The gap from the least value on rows that no direction raises, if that is nearer."""
    if gap.value is None or not 0 <= most < gap.value:
        return gap
    statement = (
        f"the objective is within {most:.3g}{share_at_zero(most, scale)} of what it comes near to "
        "and no coefficients reach, the least value on the rows that the direction leaves (duality "
        "gap)"
    )
    holds = bool(gap.bound is not None and most <= gap.bound)
    return replace(gap, statement=statement, value=most, holds=holds)


def _claim(found: Direction, model: Any, gap: Claim) -> Claim:
    """That some rows can be got ahead for ever; it holds as far as the gap does."""
    n, all_rows, columns = int(found.rows.sum()), len(found.rows), found.columns
    names = getattr(model, "feature_names_in_", None)
    shown = ", ".join(str(j if names is None else names[j]) for j in columns[:MOST_NAMES])
    more = f" and {len(columns) - MOST_NAMES} more" if len(columns) > MOST_NAMES else ""
    by = f"of column{'s' if len(columns) > 1 else ''} {shown}{more}" if shown else "of biases"
    nearly = "" if found.grade == "proved" else " by more than the rounding of its products"
    statement = (
        f"a direction {by} raises the own class of {n:,} of {all_rows:,} rows against another and "
        f"lowers none{nearly}, so no finite best exists: coefficients grow along it for ever "
        "(quasi-complete separation)"
    )
    return Claim("separability", statement, n, None, gap.holds, found.grade)


def _leads(X: Any, codes: NDArray[Any], K: int, fit_intercept: bool) -> tuple[Any, Any, Any]:
    """A matrix whose product with (W, b), flat, are leads of own classes; their rows and others."""
    n, p = X.shape[0], X.shape[1] + 1
    Z = sp.hstack([sp.csr_matrix(X), np.full((n, 1), float(fit_intercept))]).tocsr()
    row, other = np.nonzero(codes[:, None] != np.arange(K))
    Z = Z[row].tocoo()
    own = codes[row][Z.row] * p + Z.col
    rival = other[Z.row] * p + Z.col
    both = np.concatenate([Z.data, -Z.data]), (np.tile(Z.row, 2), np.concatenate([own, rival]))
    return sp.csr_matrix(both, (len(row), K * p)), row, other


def _furthest(leads: Any) -> Floats | None:
    """Coefficients of non-negative leads that are 1 or more for as many as can be."""
    m, p = leads.shape
    cost = np.concatenate([np.full(2 * p, THRIFT), np.full(m, -1.0)])
    solved = interruptible(
        lambda: linprog(
            cost,
            A_ub=sp.hstack([-leads, leads, sp.eye(m)]).tocsr(),
            b_ub=np.zeros(m),
            bounds=[(0, None)] * (2 * p) + [(0, 1)] * m,
            method="highs",
            options={"time_limit": MOST_SECONDS, "primal_feasibility_tolerance": 1e-9},
        )
    )
    if solved.x is None or solved.status != 0:
        return None
    return np.asarray(solved.x[:p] - solved.x[p : 2 * p])


# Classes that a plane separates completely: there is no best either.
#
# Twice as long a separating plane has a lower loss, so the objective comes as near to 0 as one
# likes and never reaches it. The plane is its own proof.

MOST_COLUMNS = 1500  # beyond, the search for a plane may take minutes


def claims_if_separable(
    X: Any,
    labels: NDArray[Any],
    fit_intercept: bool,
    objective: float,
    scale: float,
    bound: float,
    lead: float,
) -> list[Claim]:
    """Claims that take the place of a gap, if a plane or scores separate all rows; else none."""
    # `objective` is not below the true one, `scale` what it is at zero, `bound` what an excess may
    # be, `lead` the least that published scores of own classes are ahead, less rounding: above 0,
    # they separate as well.
    answer = _separability(X, labels, fit_intercept) if X.shape[1] <= MOST_COLUMNS else None
    grade: Grade = "checked"
    if answer is not None and answer.separable and answer.margin is not None:
        kind = "scores separate" if answer.joint else "a plane separates"
        how, value, grade = f"with a margin of {answer.margin:.3g}", answer.margin, "proved"
    elif lead > 0:
        kind, how, value = "the published coefficients separate", f"by {lead:.3g} or more", lead
    else:
        return []
    near = bool(objective <= bound)
    within = (
        f"the objective is within {objective:.3g}{share_at_zero(objective, scale)} of 0, "
        "which no coefficients reach"
    )
    statement = (
        f"{kind} all rows {how}, so no finite best exists: the objective falls towards 0 for ever "
        "as coefficients grow"
    )
    return [
        Claim("gap", within, objective, bound, near, "checked"),
        Claim("separability", statement, value, None, near, grade),
    ]


def _separability(X: Any, labels: NDArray[Any], fit_intercept: bool) -> Separability | None:
    """Whether the classes can be separated; None for rows that it does not take."""
    joint = len(np.unique(labels)) > 2
    try:
        answer = separability(X, labels, fit_intercept=fit_intercept, joint=joint)
    except (TypeError, ValueError):
        return None
    return answer if stands(answer, X, labels) else None
