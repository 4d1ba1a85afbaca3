"""Maximum likelihood without a maximum: classes that a plane separates, wholly or in part.

If some direction never lowers the score of a row's own class against another, and raises it for
some rows, the likelihood grows along it for ever (Albert and Anderson 1984). That there is no such
direction is proved by probabilities, all above zero, that balance; the fit has them at hand.
"""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg, lsmr
from sklearn.exceptions import ConvergenceWarning

from rosenblatt.separation import Separability, separability
from rosenblatt.solvers.logistic_gap import balancing_move
from rosenblatt.solvers.logistic_problem import LogisticProblem, Place, squared_columns
from rosenblatt.solvers.softmax import SoftmaxProblem

from .separating_direction import Escape, Leads, by_columns, by_program

MANY_CELLS = 5_000_000  # of a table whose fit may be a plane that separates as well
MOST_STEPS = 4  # of Newton's method, for probabilities that balance
MOST_PRODUCTS = 300  # with the curvature, for one step of many columns
MOST_COLUMNS = 300  # up to which a plane for all rows is looked for before one for some
EASY_CELLS = 20_000  # of one that takes no time even for rows wider than long
NEXT_TO_NOTHING = 1e-6  # a sum of leads, where columns have length one
ROUNDING = 1e-14  # of a sum of weights times numbers, as a share of the lengths of both
STILL_RISING = 0.5  # of a score, by one more step at the end of a fit
MOST_NAMES = 5


class SeparationWarning(ConvergenceWarning):  # type: ignore[misc]
    """No finite maximum-likelihood solution exists, because the classes can be separated.

    Attributes
    ----------
    kind : "complete" if a plane has every row strictly on its side, "partial" if some lie on it.
    columns : the features the plane is made of, by name or number.
    direction : ndarray of shape (d + 1,) or (d + 1, K); along it, the bias last, the likelihood
        never falls.
    proof : the `Separability` of the classes, if the separation is complete; of rows that count.
    grade : "proved", or "checked" if the rows on the plane are there up to rounding only.

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
        grade: Literal["proved", "checked"] = "proved",
    ) -> None:
        super().__init__(message)
        self.kind, self.columns, self.direction, self.proof = kind, columns, direction, proof
        self.grade = grade


def escape(problem: LogisticProblem, place: Place) -> Escape | None:
    """A direction that leads to infinity, made of few columns; None if there is none."""
    # Rows wider than long can be separated whatever their labels, so that the columns tell little,
    # and a linear program takes long to find few: a plane that is at hand is taken instead, as it
    # is where the table is large. Raises `TooMuch` if the search was given up.
    for _ in range(MOST_STEPS):
        move = newton_step(problem, place)
        moved = problem.moved_probabilities(problem.probabilities(place), move, 0, problem.n)
        if _is_ruled_out(problem, moved):
            return None
        further = problem.at(place.point - move)
        if not np.isfinite(further.objective):
            break
        place = further  # nearer to the best, if there is one
    leads, cells = Leads(problem), _n_cells(problem)
    if cells > MANY_CELLS or (cells > EASY_CELLS and problem.d >= problem.n):
        plane = separating(problem, place.point)
        if plane is not None:
            return Escape(plane, int(np.count_nonzero(problem.c)), True, at_hand=True)
    found = None
    if place.point.size <= MOST_COLUMNS:
        found = by_program(leads, place.point, complete=True)
    return found or by_columns(leads) or by_program(leads, place.point, complete=False)


def newton_step(problem: LogisticProblem, place: Place) -> NDArray[np.float64]:
    """What Newton's method takes off the point; by conjugate gradients of many columns."""
    move = balancing_move(problem, place)
    if move is not None:
        return move
    size, shape = place.point.size, problem.shape
    diagonal = np.maximum(problem.diagonal(place).ravel(), 1e-300)
    curvature = LinearOperator(
        (size, size), lambda v: problem.product(place, v.reshape(shape)).ravel(), dtype=np.float64
    )
    scale = LinearOperator((size, size), lambda v: v.ravel() / diagonal, dtype=np.float64)
    flat, _ = cg(curvature, place.gradient.ravel(), rtol=1e-9, maxiter=MOST_PRODUCTS, M=scale)
    return np.asarray(flat).reshape(shape)


def separation_warning(
    model: Any, problem: LogisticProblem, found: Escape, X: Any, y: Any
) -> SeparationWarning:
    """What to tell the user of a direction."""
    moved = np.abs(found.direction[:-1]).reshape(problem.d, -1).max(axis=1)
    columns = np.flatnonzero(moved > 0)
    if found.at_hand:  # of all columns, those with the largest weights first
        columns = columns[np.argsort(-moved[columns], kind="stable")]
    names = getattr(model, "feature_names_in_", None)
    named = tuple(columns.tolist() if names is None else names[columns].tolist())
    leads = Leads(problem)
    n_rows = len(leads.used)
    if n_rows < problem.n:
        X, y = problem.X[leads.used], np.asarray(y)[leads.used]
    proof = _proof(problem, found, X, y) if found.complete else None
    exact = found.complete or found.of_ranges or leads.exactly(found.direction)
    how = "completely" if found.complete else f"in part ({found.n_ahead} of {n_rows} rows)"
    nearly = "" if exact else " up to rounding"
    who = "The plane found" if _is_proof_itself(problem, found) else "separability(X, y)"
    who += " of the rows with a weight" if n_rows < problem.n else ""
    word = f"{who} proves it with a margin of {proof.margin:.3g}. " if proof else ""
    return SeparationWarning(
        f"The classes can be separated {how} by {_listed(named)}{nearly}, so no finite "
        "maximum-likelihood solution exists: the weights would grow for ever, and were stopped. "
        f"{word}Use a penalty, for example C=1.0, or look at what these columns know of y.",
        "complete" if found.complete else "partial",
        named,
        found.direction,
        proof,
        "proved" if exact else "checked",
    )


def of_no_search(problem: LogisticProblem, place: Place) -> str | None:
    """A sentence on a search that was given up, if weights look as if they grew for ever."""
    # Newton's step raises the scores of rows that are separated by about one, however far it is on
    # its way, and those of others by next to nothing at the end.
    leads = Leads(problem)
    rising = -leads.along(newton_step(problem, place))
    signs = ((rising > STILL_RISING) & ~leads.own).any()
    if not signs:
        return None
    return (
        "Some weights still grow as if the classes could be separated, in which case no finite "
        "maximum-likelihood solution exists. Whether they can was not checked to the end, because "
        f"{problem.n} rows of {problem.d} columns are too much for the search. Use a penalty, for "
        "example C=1.0, or look at the columns with the largest weights."
    )


def _proof(problem: LogisticProblem, found: Escape, X: Any, y: Any) -> Separability | None:
    """The proof of `separability`, unless the data are not ones it takes."""
    if _is_proof_itself(problem, found):
        return proof_by(problem, found.direction, X, y)
    try:
        joint = isinstance(problem, SoftmaxProblem)
        answer = separability(X, y, fit_intercept=problem.fit_intercept, joint=joint)
    except (TypeError, ValueError):
        return None
    return answer if answer.separable else None


def _is_proof_itself(problem: LogisticProblem, found: Escape) -> bool:
    """Whether the plane found is to do, because the widest would take a while."""
    return found.at_hand or _n_cells(problem) > MANY_CELLS


def _listed(names: tuple[Any, ...]) -> str:
    shown = ", ".join(repr(name) for name in names[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    if not names:
        return "the bias alone"
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}"


def _is_ruled_out(problem: LogisticProblem, P: NDArray[np.float64]) -> bool:
    """Whether probabilities that balance leave no room for a direction."""
    # Let a > 0 be what each row gives each other class, and the sum of a times the leads be r, zero
    # but for rounding. A direction d has leads >= 0, so min(a) times their sum is at most r.d: with
    # columns of length one, all its leads together are below |r| / min(a): next to nothing. An r
    # of more than rounding is the rest of a step that took nearly dependent columns for one.
    if not np.isfinite(P).all() or P.min(initial=0.0) < 0:
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
    rest = problem.pull(P, 0, problem.n).reshape(problem.d + 1, -1) / np.maximum(lengths, 1e-300)
    rest = rest if problem.fit_intercept else rest[:-1]
    allowed = min(NEXT_TO_NOTHING * least, ROUNDING * float(np.linalg.norm(problem.c)))
    return bool(least > 0 and np.abs(rest).max(initial=0.0) <= allowed)


def _n_cells(problem: LogisticProblem) -> int:
    """How many numbers the linear program would have."""
    stored = problem.X.nnz if sp.issparse(problem.X) else problem.X.size
    others = 2 * (problem.n_classes - 1) if isinstance(problem, SoftmaxProblem) else 1
    return int(others * (stored + problem.n))


# Planes between classes that need no search: that of the fit itself, or of least squares.
#
# Rows wider than long have, if none depends on the others, weights that give each any score one
# likes: whatever the labels, some plane separates them, and least squares finds it.


Array = NDArray[np.float64]


def separating(problem: LogisticProblem, point: Array) -> Array | None:
    """A direction, in the shape of the point, that raises each row against each other class."""
    if _separates(problem, point):
        return point.copy()
    if problem.d < problem.n:
        return None
    fitted = _least_squares(problem)
    return fitted if _separates(problem, fitted) else None


def proof_by(problem: LogisticProblem, direction: Array, X: Any, y: Any) -> Separability | None:
    """The proof that a direction is, checked exactly; None if it is none for all rows."""
    classes = np.unique(y)
    table = direction.reshape(problem.d + 1, -1).T
    joint = isinstance(problem, SoftmaxProblem)
    if joint and len(table) < len(classes):  # the last class is the reference
        table = np.vstack([table, np.zeros((1, problem.d + 1))])
    table = table / np.linalg.norm(table if joint else table[:, :-1])
    coef, intercept = table[:, :-1], table[:, -1]
    if not problem.fit_intercept:
        intercept = np.zeros(len(table))
    published = np.vstack([coef.T, intercept])
    margin = float(Leads(problem).along(published).min())
    try:
        proof = Separability(
            True, classes, coef=coef if joint else coef[0], margin=margin, joint=joint,
            intercept=intercept if joint else float(intercept[0]),
            fit_intercept=problem.fit_intercept,
        )  # fmt: skip
        return proof if proof.verify(X, y) else None
    except (TypeError, ValueError):  # data that are not ones for exact arithmetic
        return None


def _separates(problem: LogisticProblem, direction: Array) -> bool:
    leads = Leads(problem)
    ahead = leads.along(direction)
    return bool(np.isfinite(direction).all() and (ahead > leads.rounding(direction)).all())


def _least_squares(problem: LogisticProblem) -> Array:
    """The shortest point whose scores are nearest to the labels: 1 and -1, or 1 and 0 by class."""
    X = problem.X if sp.issparse(problem.X) else np.asarray(problem.X)
    n, d, bias = problem.n, problem.d, float(problem.fit_intercept)
    rows = LinearOperator(
        (n, d + 1),
        matvec=lambda w: X @ w.ravel()[:-1] + bias * w.ravel()[-1],
        rmatvec=lambda r: np.append(X.T @ r.ravel(), bias * r.sum()),
        dtype=np.float64,
    )
    if isinstance(problem, SoftmaxProblem):
        targets = np.eye(problem.n_classes)[problem.code]
    else:
        targets = problem.y[:, None]  # type: ignore[attr-defined]
    found = np.column_stack([lsmr(rows, target)[0] for target in targets.T])
    if isinstance(problem, SoftmaxProblem) and problem.reference:
        found = found[:, :-1] - found[:, -1:]
    return found.reshape(problem.shape)
