"""Which solver a name stands for, and which one suits a problem."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from rosenblatt.solvers.gradient import gradient
from rosenblatt.solvers.lbfgs import lbfgs
from rosenblatt.solvers.logistic_coordinate import coordinate
from rosenblatt.solvers.newton import newton, newton_cg
from rosenblatt.solvers.problem import Place, Problem
from rosenblatt.solvers.row_space import is_wide, row_space_newton
from rosenblatt.solvers.sampled import begun, has_many_rows, sampled_newton
from rosenblatt.solvers.stochastic import sgd

OURS = frozenset({"auto", "newton", "lbfgs", "gradient", "sgd", "coordinate"})
# The names of scikit-learn's solvers, without and with an L1 penalty.
THEIRS = {
    "lbfgs": ("lbfgs", None),
    "liblinear": ("newton", "coordinate"),
    "newton-cg": ("newton-cg", None),
    "newton-cholesky": ("newton-cholesky", None),
    "sag": ("lbfgs", None),
    "saga": ("lbfgs", "coordinate"),
}
WITH_L1 = ("coordinate", "gradient")

FEW_PARAMETERS = 60  # whose second derivative takes no time
LARGEST_MATRIX = 1500  # parameters whose second derivative is formed
WORK_OF_MATRIX = 3e8  # multiplications that forming it may take


def steps_of(model: Any, problem: Problem, place: Place) -> Iterator[Place]:
    """The steps of the solver that a model's parameters name, from a place on."""
    name = resolved(model.solver, problem)
    if name == "gradient":
        # The step of the notes is one up the log-posterior, which C multiplies in the objective.
        C = 1.0 if not problem.penalised else model.C
        yield from gradient(problem, place, None if model.eta0 is None else model.eta0 / C)
    elif name == "sgd":
        seed = int(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))
        yield from sgd(problem, place, seed, model.eta0)
    else:
        solvers = {
            "coordinate": coordinate,
            "lbfgs": lbfgs,
            "newton-cg": newton_cg,
            "newton-cholesky": newton,
            "newton-rows": row_space_newton,
            "newton-sampled": sampled_newton,
        }
        yield from solvers[name](problem, place)


def first_place(model: Any, problem: Problem, point: Any) -> Place:
    """The place that the solver of a model begins at."""
    sampled = not problem.l1 and resolved(model.solver, problem) == "newton-sampled"
    return begun(problem, point) if sampled else problem.at(point)


def resolved(solver: str, problem: Problem) -> str:
    """The solver that is run for a name; refuses one that cannot leave weights at zero."""
    name = solver
    if solver == "auto":
        name = "coordinate" if problem.l1 else "newton"
    elif solver in THEIRS:
        name = THEIRS[solver][bool(problem.l1)] or solver
    if problem.l1 and name not in WITH_L1:
        raise ValueError(
            f"solver={solver!r} supports only L2 or no penalty, for it never leaves a weight at "
            'exactly 0. Use solver="auto", "coordinate", "saga" or "gradient", or l1_ratio=0.'
        )
    return newton_for(problem) if name == "newton" else name


def newton_for(problem: Problem) -> str:
    """Which kind of Newton's method suits the shape of a problem."""
    p = int(np.prod(problem.shape))
    # Of many classes the curvature of each is made sooner, and needs to be made less often.
    by_class = p > FEW_PARAMETERS and problem.penalised and problem.has_curvature_by_class
    small = p <= LARGEST_MATRIX and problem.n * float(p) ** 2 <= WORK_OF_MATRIX
    if small and not by_class:
        return "newton-cholesky"
    if is_wide(problem):
        return "newton-rows"
    if not sp.issparse(problem.X) and problem.penalised and has_many_rows(problem):
        return "newton-sampled"
    return "newton-cg"
