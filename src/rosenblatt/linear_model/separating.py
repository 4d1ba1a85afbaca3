"""Planes between classes that need no search: that of the fit itself, or of least squares.

Rows wider than long have, if none depends on the others, weights that give each any score one
likes: whatever the labels, some plane separates them, and least squares finds it.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, lsmr

from rosenblatt.separation import Separability
from rosenblatt.solvers.problem import Problem
from rosenblatt.solvers.softmax import SoftmaxProblem

from .leads import Leads

Array = NDArray[np.float64]


def separating(problem: Problem, point: Array) -> Array | None:
    """A direction, in the shape of the point, that raises each row against each other class.

    The point itself if it does, or else least squares of the labels if rows are wider than long.
    """
    if _separates(problem, point):
        return point.copy()
    if problem.d < problem.n:
        return None
    fitted = _least_squares(problem)
    return fitted if _separates(problem, fitted) else None


def proof_by(problem: Problem, direction: Array, X: Any, y: Any) -> Separability | None:
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


def _separates(problem: Problem, direction: Array) -> bool:
    leads = Leads(problem)
    ahead = leads.along(direction)
    return bool(np.isfinite(direction).all() and (ahead > leads.rounding(direction)).all())


def _least_squares(problem: Problem) -> Array:
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
