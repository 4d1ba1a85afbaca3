"""Maximum likelihood without a maximum: classes that a plane separates, completely or in part.

If some direction never lowers the score of a row's own class against another, and raises it for
some rows, the likelihood grows along it forever (Albert and Anderson 1984). There is no such
direction if probabilities, all positive, balance; near a maximum those of the fit nearly do.
"""

from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.runtime.threads import interruptible
from rosenblatt.separation import Separability, separability
from rosenblatt.separation.exact import exact_scores
from rosenblatt.separation.homogeneous_rows import homogeneous_rows, needed_columns
from rosenblatt.solvers.logistic import balancing_move
from rosenblatt.solvers.logistic_problem import Iterate, LogisticProblem
from rosenblatt.solvers.newton import conjugate_gradients, inverse_diagonal

from .centered_rows import shift_intercept

Array = NDArray[np.float64]
Grade = Literal["proved", "checked"]

MAX_NEWTON_STEPS = 4  # until probabilities balance
SMALL_CHANGE = 0.5  # of a score, by Newton's step; of separated classes it raises some by one
NEGLIGIBLE = 1e-6  # a sum of leads, where columns have length one
ROUNDING = 1e-14  # of a sum of weights times numbers, as a share of the lengths of both
MOST_CELLS = 20_000_000  # numbers among which a plane is looked for
MAX_CELLS = 300_000  # numbers that the linear program may have
MAX_SECONDS = 20.0  # of the linear program
NEARLY_TIED = 1e-6  # a lead, as a share of its terms: the tolerance of the program
AHEAD = 1e-15  # relative: that rounding of the direction leaves no tied lead below zero
MAX_DENOMINATOR = 1000  # of simple proportions
MAX_EXACT_TERMS = 200_000  # of sums in fractions
MAX_NAMES = 5
NO_WEIGHT = 1e-9  # relative: rounding
UNIT = 2.0**-53

NOT_SEARCHED = (
    "Some weights still grow as if the classes could be separated, in which case no finite "
    "maximum-likelihood solution exists. The columns were not searched for a separation, because "
    "{} rows of {} columns are too many. Use a penalty, for example C=1.0, or look at the columns "
    "with the largest weights."
)


class SeparationWarning(ConvergenceWarning):  # type: ignore[misc]
    """No finite maximum-likelihood solution exists, because the classes can be separated.

    Attributes
    ----------
    kind : "complete" if a plane has every row strictly on its side, "partial" if some lie on it.
    columns : the features with a weight in the plane, by name or number.
    direction : ndarray of shape (d + 1,) or (d + 1, K); along it, the bias last, the likelihood
        never falls.
    proof : the `Separability` of the classes, if the separation is complete; of rows that count.
    grade : "proved", or "checked" if the rows on the plane are there up to rounding only.

    Examples
    --------
    >>> import warnings
    >>> from rosenblatt import LogisticRegression
    >>> X, y = [[1, 0], [2, 0], [1, 1], [2, 1]], [0, 1, 1, 1]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = LogisticRegression(C=float("inf")).fit(X, y)
    >>> caught[0].message.kind
    'complete'
    >>> caught[0].message.proof.verify(X, y)
    True
    """

    def __init__(
        self,
        message: str,
        kind: Literal["complete", "partial"] = "complete",
        columns: tuple[Any, ...] = (),
        direction: Any = None,
        proof: Separability | None = None,
        grade: Grade = "proved",
    ) -> None:
        super().__init__(message)
        self.kind, self.columns, self.direction, self.proof = kind, columns, direction, proof
        self.grade = grade


@np.errstate(over="ignore", invalid="ignore")
def separation_warning(
    model: Any, problem: LogisticProblem, iterate: Iterate, X: Any, y: Any, shift: Array | None
) -> ConvergenceWarning | None:
    """Return a warning if classes can be separated, or if this was not searched; else None.

    The problem has no penalty; its columns are those of X less `shift`.
    """
    leads = ClassMargins(problem)
    for _ in range(MAX_NEWTON_STEPS):
        move = newton_step(problem, iterate)
        if has_maximum(leads, iterate, move):
            return None
        further = problem.at(iterate.point - move)
        if not np.isfinite(further.objective):
            break
        iterate = further  # nearer to the maximum, if there is one
    not_searched = None
    if leads.along(move).min() < -SMALL_CHANGE:
        not_searched = ConvergenceWarning(NOT_SEARCHED.format(len(leads.code), problem.d))
    if leads.n_cells > MOST_CELLS:
        return not_searched
    X, y = (X, y) if len(leads.used) == problem.n else (X[leads.used], y[leads.used])
    try:
        proof = separability(X, y, fit_intercept=problem.fit_intercept, joint=leads.K > 2)
    except (TypeError, ValueError):  # numbers that exact arithmetic does not take
        return None
    if proof.coef is not None:
        coef, intercept = np.atleast_2d(proof.coef), np.atleast_1d(proof.intercept)
        ahead = leads.as_point(np.vstack([coef.T, intercept.astype(np.float64)]))
        return _warning(model, problem, ahead, "completely", proof, "proved")
    if leads.n_cells > MAX_CELLS:
        return not_searched
    direction, grade = partial_direction(leads, X)
    if direction is None:
        return None
    how = f"in part ({leads.n_ahead(direction)} of {len(leads.used)} rows)"
    return _warning(model, problem, shift_intercept(direction, shift, -1), how, None, grade)


def _warning(
    model: Any, problem: LogisticProblem, direction: Array, how: str,
    proof: Separability | None, grade: Literal["proved", "checked"],
) -> SeparationWarning:  # fmt: skip
    weights = np.abs(direction[:-1]).reshape(problem.d, -1).max(axis=1)
    order = np.argsort(-weights, kind="stable") if proof else np.arange(problem.d)
    columns = order[weights[order] > NO_WEIGHT * weights.max()]
    names = getattr(model, "feature_names_in_", None)
    named = tuple(columns.tolist() if names is None else names[columns].tolist())
    some = " of the rows with a weight" if problem.c.min() == 0 else ""
    proved = (
        f"separability(X, y){some} proves it with a margin of {proof.margin:.3g}. " if proof else ""
    )
    nearly = "" if grade == "proved" else " up to rounding"
    return SeparationWarning(
        f"The classes can be separated {how} by {_listed(named)}{nearly}, so no finite "
        "maximum-likelihood solution exists: the weights would grow forever, and were stopped. "
        f"{proved}Use a penalty, for example C=1.0, or look at what these columns know of y.",
        "complete" if proof else "partial", named, direction, proof, grade,
    )  # fmt: skip


def _listed(names: tuple[Any, ...]) -> str:
    shown = ", ".join(repr(name) for name in names[:MAX_NAMES])
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}" if names else "the bias alone"


class ClassMargins:
    """Margins ("leads") of the class of each row over the other classes, along a direction.

    Rows of weight zero do not count. Directions have the shape of the problem's points.
    """

    def __init__(self, problem: LogisticProblem) -> None:
        self.problem, self.used = problem, np.flatnonzero(problem.c > 0)
        self.X = problem.X if len(self.used) == problem.n else problem.X[self.used]
        self.K = getattr(problem, "n_classes", 2)
        labels = problem.labels[self.used]
        self.code = (labels > 0).astype(np.intp) if self.K == 2 else labels
        self.own = np.arange(self.K) == self.code[:, None]
        stored = self.X.nnz if sp.issparse(self.X) else self.X.size
        self.n_cells = (self.K - 1) * min(self.K - 1, 2) * (stored + len(self.used))

    def by_class(self, direction: Array) -> Array:
        """Return weights and intercepts (d + 1, K) of all classes."""
        table = direction.reshape(self.problem.d + 1, -1)
        if table.shape[1] < self.K:  # the first of two classes, or the reference, scores zero
            table = np.hstack([0 * table, table] if self.K == 2 else [table, 0 * table[:, :1]])
        return table

    def as_point(self, table: Array) -> Array:
        """Return the direction of a table (d + 1, K), or (d + 1, 1) of two classes."""
        if table.size > np.prod(self.problem.shape):
            table = (table - table[:, -1:])[:, :-1]
        return table.reshape(self.problem.shape)

    def along(self, direction: Array) -> Array:
        """Return the leads (n, K); infinity in the place of own classes."""
        table = self.by_class(direction)
        scores = np.asarray(self.X @ table[:-1]) + table[-1]
        return np.where(self.own, np.inf, scores[self.own][:, None] - scores)

    def n_ahead(self, direction: Array) -> int:
        """Return the number of rows with a lead above zero; 0 if some lead is below."""
        A, v = self.matrix(), direction.reshape(self.problem.d + 1, -1).T.ravel()
        leads = A @ v
        rounding = 1.01 * (np.count_nonzero(v) + 4) * UNIT * (abs(A) @ abs(v)) + 1e-300
        ahead = (leads > rounding).reshape(len(self.used), -1)
        return int(ahead.any(axis=1).sum()) if (leads >= -rounding).all() else 0

    def matrix(self) -> Any:
        """Return the CSR matrix whose products with ``direction.T`` are the finite leads."""
        ones = np.full((len(self.used), 1), float(self.problem.fit_intercept))
        Z = sp.hstack([sp.csr_array(self.X, dtype=np.float64), ones], format="csr")
        A = homogeneous_rows(Z, self.code, 0.0, 1 if self.K == 2 else self.K)
        return A if A.shape[1] == np.prod(self.problem.shape) else needed_columns(A, self.K)


def newton_step(problem: LogisticProblem, iterate: Iterate) -> Array:
    """Return what Newton's method subtracts from the point."""
    move = balancing_move(problem, iterate)
    if move is not None:
        return move
    return -conjugate_gradients(problem, iterate, 1e-9, inverse_diagonal(problem, iterate))[0]


def has_maximum(leads: ClassMargins, iterate: Iterate, move: Array) -> bool:
    """Whether the probabilities after Newton's step prove that there is no direction."""
    # Let a > 0 be the probability that each row gives each other class, and the sum of a times the
    # leads be r, zero but for rounding. A direction v has leads >= 0, so min(a) times their sum is
    # at most r.v: with columns of length one, all its leads together are below |r| / min(a).
    problem = leads.problem
    if not np.abs(leads.along(move)[~leads.own]).max() <= SMALL_CHANGE:
        return False  # a smaller step halves no probability
    dual = problem.dual_at(iterate, move)
    if dual is None:
        return False
    P = problem.probabilities(iterate)
    if P.ndim > 1:
        P = P if P.shape[1] == leads.K else np.column_stack([P, 1 - P.sum(axis=1)])
        P = np.where(leads.own, 1.0, P[leads.used])
    else:
        P = P[leads.used, None]
    least = 0.5 * float((problem.c[leads.used, None] * P).min())
    X = leads.X
    squares = X.multiply(X).sum(axis=0) if sp.issparse(X) else np.einsum("ij,ij->j", X, X)
    lengths = np.sqrt(np.append(np.asarray(squares, np.float64), len(leads.used)))
    rest = dual[0].reshape(problem.d + 1, -1) / np.maximum(lengths, 1e-300)[:, None]
    rest = rest if problem.fit_intercept else rest[:-1]
    allowed = min(NEGLIGIBLE * least, ROUNDING * float(np.linalg.norm(problem.c)))
    return bool(least > 0 and np.abs(rest).max(initial=0.0) <= allowed)


# Partial separation: a linear program finds the direction of least weights.


def partial_direction(leads: ClassMargins, X: Any) -> tuple[Array | None, Grade]:
    """Return the direction of least weights with leads >= 0 and mean one, or None; and its grade.

    It is "proved" if no lead on the rows as given, X, is below zero in exact arithmetic.
    """
    given, d = leads.matrix(), leads.problem.d
    n_blocks = given.shape[1] // (d + 1)
    sizes = abs(leads.X).max(axis=0)
    sizes = np.append(sizes.toarray() if sp.issparse(sizes) else sizes, 1.0)
    scale = np.tile(np.where(sizes > 0, sizes, 1.0), n_blocks)
    A = (given @ sp.diags_array(1 / scale)).tocsr()
    m, p = A.shape
    cost = np.tile(np.append(np.ones(d), 1e-6), n_blocks)  # of weights and intercepts
    mean = np.asarray(A.mean(axis=0)).reshape(1, p)
    solved = interruptible(
        lambda: linprog(
            np.append(cost, cost), A_ub=sp.hstack([-A, A]).tocsr(), b_ub=np.zeros(m),
            A_eq=np.hstack([mean, -mean]), b_eq=[1.0], bounds=(0, None), method="highs",
            options={"time_limit": MAX_SECONDS, "primal_feasibility_tolerance": 1e-9},
        )
    )  # fmt: skip
    if solved.x is None:
        return None, "checked"
    v = solved.x[:p] - solved.x[p:]
    v[np.abs(v) < 1e-9 * np.abs(v).max()] = 0.0
    v = v / scale
    tied = close_ties(given, v)
    flat = (v, simple_proportions(v), tied, close_ties(given, tied, AHEAD))
    candidates = [w.reshape(n_blocks, d + 1).T.reshape(leads.problem.shape) for w in flat]
    valid = [w for w in candidates if leads.n_ahead(w)]
    for w in valid:
        if holds_exactly(leads, w, X):
            return w, "proved"
    return (valid[0] if valid else None), "checked"


def simple_proportions(v: Array) -> Array:
    """Return whole numbers in about the proportions of v."""
    smallest = np.abs(v[v != 0]).min()
    near = [Fraction(x / smallest).limit_denominator(MAX_DENOMINATOR) for x in v.ravel()]
    factor = lcm(*(fraction.denominator for fraction in near))
    return np.array([float(fraction * factor) for fraction in near]).reshape(v.shape)


def close_ties(A: Any, v: Array, ahead: float = 0.0) -> Array:
    """Return the direction near v that makes leads zero, or `ahead`, which are nearly zero."""
    used, gained, sizes = np.flatnonzero(v), A @ v, abs(A) @ np.abs(v)
    tied = np.flatnonzero((np.abs(gained) <= NEARLY_TIED * sizes) & (sizes > 0))
    if not len(tied):
        return v
    # In proportion to v, so that small weights are moved by a share of themselves.
    B = A[tied][:, used].toarray() * v[used] / sizes[tied, None]
    closed = v.copy()
    closed[used] *= 1 - np.linalg.lstsq(B, B.sum(axis=1) - ahead, rcond=1e-9)[0]
    return closed


def holds_exactly(leads: ClassMargins, direction: Array, X: Any) -> bool:
    """Whether no lead on rows X is below zero in exact arithmetic, with the best intercepts."""
    W, K = leads.by_class(direction)[:-1], leads.K
    used = np.flatnonzero(W.any(axis=1))
    rows = X[:, used]
    rows = np.asarray(rows.toarray() if sp.issparse(X) else rows, np.float64)
    rows = np.unique(np.column_stack([leads.code, rows]), axis=0)
    if rows.size * K > MAX_EXACT_TERMS:
        return False
    scores = zip(*(exact_scores(rows[:, 1:], w) for w in W[used].T), strict=True)
    least = [[Fraction(10) ** 400 * (y != k) for k in range(K)] for y in range(K)]
    for y, of_row in zip(rows[:, 0].astype(int), scores, strict=True):
        least[y] = list(map(min, least[y], [of_row[y] - score for score in of_row]))
    if not leads.problem.fit_intercept:
        return all(lead >= 0 for of_class in least for lead in of_class)
    # Intercepts b with b_k - b_y <= least[y][k] exist if no cycle of classes has a negative sum.
    for middle, y, k in product(range(K), repeat=3):
        least[y][k] = min(least[y][k], least[y][middle] + least[middle][k])
    return all(least[y][y] >= 0 for y in range(K))
