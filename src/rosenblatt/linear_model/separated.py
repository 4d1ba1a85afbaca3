"""Maximum likelihood without a maximum: classes that a plane separates, wholly or in part.

If some direction never lowers the score of a row's own class against another, and raises it for
some rows, the likelihood grows along it for ever (Albert and Anderson 1984). That there is no such
direction is proved by probabilities, all above zero, that balance; the fit has them at hand.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.separation import Separability, separability
from rosenblatt.separation.directions import upheld
from rosenblatt.solvers.logistic import squared_columns
from rosenblatt.solvers.problem import Place, Problem
from rosenblatt.solvers.softmax import SoftmaxProblem

from .separating import proof_by, separating

MOST_CELLS = 5_000_000  # of the linear program that looks for a direction
EASY_CELLS = 20_000  # of one that takes no time even for rows wider than long
NEXT_TO_NOTHING = 1e-6  # a sum of leads, where columns have length one
MOST_NAMES = 5


class SeparationWarning(ConvergenceWarning):  # type: ignore[misc]
    """No finite maximum-likelihood solution exists, because the classes can be separated.

    Attributes
    ----------
    kind : "complete" if a plane has every row strictly on its side, "partial" if some lie on it.
    columns : the features the plane is made of, by name or number.
    direction : ndarray of shape (d + 1,) or (d + 1, K); along it, the bias last, the likelihood
        never falls.
    proof : the `Separability` of the classes, if the separation is complete.

    Examples
    --------
    >>> import warnings
    >>> from rosenblatt import LogisticRegression
    >>> X, y = [[1, 0], [2, 0], [1, 1], [2, 1]], [0, 1, 1, 1]
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     model = LogisticRegression(C=float("inf")).fit(X, y)
    >>> told[0].message.kind
    'complete'
    >>> told[0].message.proof.verify(X, y)
    True
    """

    def __init__(
        self,
        message: str,
        kind: Literal["complete", "partial"] = "complete",
        columns: tuple[Any, ...] = (),
        direction: Any = None,
        proof: Separability | None = None,
    ) -> None:
        super().__init__(message)
        self.kind, self.columns, self.direction, self.proof = kind, columns, direction, proof


@dataclass(frozen=True, eq=False)
class Escape:
    """A direction along which the likelihood never falls."""

    direction: NDArray[np.float64]  # in the shape of the point
    n_ahead: int  # rows whose score it raises against some other class
    complete: bool  # whether it raises all rows against each other class
    at_hand: bool = False  # whether it was there without a search for few columns


def escape(problem: Problem, place: Place) -> Escape | None:
    """A direction that leads to infinity, made of few columns; None if there is none.

    Rows wider than long can be separated whatever their labels, so that the columns tell little,
    and a linear program takes long to find few: a plane that is at hand is taken instead. It is the
    only one, too, where the table is too large for a program.
    """
    if _is_ruled_out(problem, problem.balanced(place)):
        return None
    cells = _n_cells(problem)
    if cells > MOST_CELLS or (cells > EASY_CELLS and problem.d >= problem.n):
        plane = separating(problem, place.point)
        if plane is not None:
            return Escape(plane, int(np.count_nonzero(problem.c)), True, at_hand=True)
    if cells > MOST_CELLS:
        return None
    table, row = _leads(problem)
    scale = np.asarray(abs(table).max(axis=0).todense()).ravel()
    scale = np.where(scale > 0, scale, 1.0)
    leads = (table @ sp.diags(1 / scale)).tocsr()
    for complete in (True, False):
        direction = _least_direction(leads, _free(problem), complete)
        if direction is None:
            continue
        found = upheld(table, direction / scale)
        if found is not None and (found[1].all() or not complete):
            direction, ahead = found[0].reshape(problem.shape), found[1]
            return Escape(direction, len(np.unique(row[ahead])), complete)
    return None


def separation_warning(
    model: Any, problem: Problem, found: Escape, X: Any, y: Any
) -> SeparationWarning:
    """What to tell the user of a direction."""
    moved = np.abs(found.direction[:-1]).reshape(problem.d, -1).max(axis=1)
    columns = np.flatnonzero(moved > 0)
    if found.at_hand:  # of all columns, those with the largest weights first
        columns = columns[np.argsort(-moved[columns], kind="stable")]
    names = getattr(model, "feature_names_in_", None)
    named = tuple(columns.tolist() if names is None else names[columns].tolist())
    proof = _proof(problem, found, X, y) if found.complete else None
    how = "completely" if found.complete else f"in part ({found.n_ahead} of {problem.n} rows)"
    who = "The plane found" if found.at_hand else "separability(X, y)"
    word = f"{who} proves it with a margin of {proof.margin:.3g}. " if proof else ""
    return SeparationWarning(
        f"The classes can be separated {how} by {_listed(named)}, so no finite maximum-likelihood "
        f"solution exists: the weights would grow for ever, and were stopped. {word}Use a penalty, "
        "for example C=1.0, or look at what these columns know of y.",
        "complete" if found.complete else "partial",
        named,
        found.direction,
        proof,
    )


def _proof(problem: Problem, found: Escape, X: Any, y: Any) -> Separability | None:
    """The proof of `separability`, unless the data are not ones it takes."""
    if found.at_hand:
        return proof_by(problem, found.direction, X, y)
    try:
        joint = isinstance(problem, SoftmaxProblem)
        answer = separability(X, y, fit_intercept=problem.fit_intercept, joint=joint)
    except (TypeError, ValueError):
        return None
    return answer if answer.separable else None


def _listed(names: tuple[Any, ...]) -> str:
    shown = ", ".join(repr(name) for name in names[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    if not names:
        return "the bias alone"
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}"


def _is_ruled_out(problem: Problem, P: NDArray[np.float64] | None) -> bool:
    """Whether probabilities that balance leave no room for a direction.

    Let a >= 0 be what each row gives each other class, and the sum of a times the leads be r, zero
    but for rounding. A direction d has leads >= 0, so min(a) times their sum is at most r.d: with
    columns of length one, all its leads together are below |r| / min(a), which is next to nothing.
    """
    if P is None:
        return False
    used = problem.c > 0
    if isinstance(problem, SoftmaxProblem):
        shares = P
        if problem.reference:
            shares = np.hstack([P, 1 - P.sum(axis=1, keepdims=True)])
        other = np.arange(problem.n_classes) != problem.code[:, None]
        least = (problem.c[:, None] * shares)[used[:, None] & other].min()
    else:
        least = (problem.c * P)[used].min()
    lengths = np.sqrt(squared_columns(problem, np.ones((problem.n, 1))))
    lengths = np.vstack([lengths, np.sqrt(problem.n)])
    rest = problem._pull(P, 0, problem.n).reshape(problem.d + 1, -1) / np.maximum(lengths, 1e-300)
    rest = rest if problem.fit_intercept else rest[:-1]
    return bool(np.abs(rest).max(initial=0.0) <= NEXT_TO_NOTHING * least)


def _n_cells(problem: Problem) -> int:
    """How many numbers the linear program would have."""
    stored = problem.X.nnz if sp.issparse(problem.X) else problem.X.size
    others = 2 * (problem.n_classes - 1) if isinstance(problem, SoftmaxProblem) else 1
    return int(others * (stored + problem.n))


def _leads(problem: Problem) -> tuple[Any, NDArray[np.intp]]:
    """A matrix whose product with a flat point is the lead of each row's own class over another.

    And the row that each belongs to. Rows without weight do not count.
    """
    used = np.flatnonzero(problem.c > 0)
    constant = np.full((len(used), 1), float(problem.fit_intercept))
    Z = sp.hstack([sp.csr_matrix(problem.X[used]), constant]).tocsr()
    if not isinstance(problem, SoftmaxProblem):
        return sp.diags(problem.y[used], dtype=np.float64) @ Z, used  # type: ignore[attr-defined]
    code, blocks, rows = problem.code[used], [], []
    for k in range(problem.n_classes):
        others = np.flatnonzero(code != k)
        blocks.append(_against(Z[others], code[others], k, problem.K))
        rows.append(used[others])
    return sp.vstack(blocks).tocsr(), np.concatenate(rows)


def _against(Z: Any, code: NDArray[Any], k: int, K: int) -> Any:
    """Scores of the rows' own classes minus those of class k; a class past K has none."""
    Z = Z.tocoo()
    parts = []
    for kind, sign in ((code[Z.row], 1.0), (np.full(Z.nnz, k), -1.0)):
        has = kind < K
        columns = Z.col[has] * K + kind[has]
        shape = (Z.shape[0], Z.shape[1] * K)
        parts.append(sp.csr_matrix((sign * Z.data[has], (Z.row[has], columns)), shape))
    return parts[0] + parts[1]


def _free(problem: Problem) -> NDArray[np.bool_]:
    """Which entries of the flat point are biases."""
    free = np.zeros(problem.shape, bool)
    free[-1] = True
    return free.ravel()


def _least_direction(
    leads: Any, bias: NDArray[np.bool_], complete: bool
) -> NDArray[np.float64] | None:
    """The direction with the least sum of weights among those with all leads at least one.

    Or, unless the separation is to be complete, among those with no lead below zero and their mean
    one. None if there is no such direction.
    """
    m, p = leads.shape
    # u - v is the direction; biases cost next to nothing, so that weights are used sparingly.
    cost = np.tile(np.where(bias, 1e-6, 1.0), 2)
    both = sp.hstack([leads, -leads]).tocsr()
    mean = None if complete else sp.csr_matrix(np.asarray(both.mean(axis=0)).reshape(1, 2 * p))
    solved = linprog(
        cost,
        A_ub=-both,
        b_ub=np.full(m, -1.0 if complete else 0.0),
        A_eq=mean,
        b_eq=None if complete else [1.0],
        bounds=(0, None),
        method="highs",
    )
    if solved.x is None or solved.status != 0:
        return None
    direction = solved.x[:p] - solved.x[p:]
    direction[np.abs(direction) < 1e-9 * np.abs(direction).max()] = 0.0
    return np.asarray(direction)
