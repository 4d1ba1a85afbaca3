"""The problems of a linear machine, from labels or targets and weights."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.solvers.joint_margin import JointProblem
from rosenblatt.solvers.margin_problem import MarginProblem

Array = NDArray[np.float64]


def two_class_problem(
    X: Any, positive: NDArray[np.bool_], c: Array, squared: bool, bias: float
) -> MarginProblem:
    """Rows of a class against all others, c (n,) what each counts."""
    t = np.where(positive, 1.0, -1.0)
    return MarginProblem(
        X, t, np.where(positive, c, 0.0), np.where(positive, 0.0, c), squared=squared, bias=bias
    )


def weighed(price: Array, weight: Any) -> Array:
    """A price (n,) times weights: nothing where one is nothing, even if the other is infinite."""
    both = (price > 0) & (np.asarray(weight) > 0)
    return np.asarray(np.multiply(price, weight, out=np.zeros(len(price)), where=both))


def class_problems(
    X: Any, codes: NDArray[np.intp], weight: Array, by_class: Array, squared: bool, bias: float
) -> list[MarginProblem]:
    """One problem for two classes, else one for each class against the rest.

    A row counts C times its weight. As in LIBLINEAR the class in question has its own weight and
    all others have one; of two classes each has its own.
    """
    if len(by_class) == 2:
        return [two_class_problem(X, codes == 1, weighed(weight, by_class[codes]), squared, bias)]
    problems = []
    for k, own in enumerate(by_class):
        c = np.where(codes == k, weighed(weight, own), weight)
        problems.append(two_class_problem(X, codes == k, c, squared, bias))
        # The rows are the same: what loops read of them is made once.
        vars(problems[-1]).update(rows=problems[0].rows, lengths=problems[0].lengths)
    return problems


def joint_problem(
    X: Any, codes: NDArray[np.intp], c: Array, n_classes: int, bias: float
) -> list[MarginProblem] | JointProblem:
    """All classes at once; with two classes a problem of one plane, the difference of theirs."""
    # |w_1|^2 / 2 + |w_2|^2 / 2 is least for w_1 = -w_2, where it is |w|^2 / 4 of the difference w.
    if n_classes == 2:
        return [two_class_problem(X, codes == 1, 2 * c, False, bias)]
    return JointProblem(X, codes, n_classes, c, bias)


def with_column(problem: MarginProblem) -> MarginProblem:
    """The intercept as a weight like others, which the penalty |w|_1 is for."""
    if not 0 < problem.bias < np.inf:
        return replace(problem, l1=True)
    column = np.full((problem.X.shape[0], 1), problem.bias, problem.X.dtype)
    X = problem.X
    X = sp.csr_matrix(sp.hstack([X, column])) if sp.issparse(X) else np.hstack([X, column])
    return replace(problem, X=X, bias=0.0, l1=True)
