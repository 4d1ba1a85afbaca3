"""Which solver a name stands for, and which one suits a problem."""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from rosenblatt.solvers.gradient_descent import gradient, sgd
from rosenblatt.solvers.lbfgs import lbfgs
from rosenblatt.solvers.logistic_coordinate import coordinate
from rosenblatt.solvers.logistic_objective import Place, Problem
from rosenblatt.solvers.newton import is_wide, newton, newton_cg, row_space_newton
from rosenblatt.solvers.sampled_newton import begun, has_many_rows, sampled_newton

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


# What scikit-learn's C, l1_ratio and penalty ask for.


class Strengths(NamedTuple):
    """``l1 |w|_1 + l2/2 |w|^2 + C times the loss``; without a penalty C is 1."""

    l1: float
    l2: float
    C: float


def strengths(model: Any) -> Strengths:
    """The penalty of a model, from the parameters of today or from the deprecated one."""
    kind = model.penalty
    if kind == "deprecated":
        if model.l1_ratio is None:
            _deprecated("l1_ratio=None", "Use a number from 0 to 1.")
        kind = {0: "l2", 1: "l1"}.get(model.l1_ratio or 0, "elasticnet")
        kind = None if np.isinf(model.C) else kind
    else:
        _deprecated(
            f"penalty={kind!r}",
            "Leave it out, and use l1_ratio=0 for L2, l1_ratio=1 for L1, a number between for "
            "both, and C=np.inf for no penalty.",
        )
        _warn_of_contradictions(model, kind)
    if kind is None or np.isinf(model.C):
        return Strengths(0.0, 0.0, 1.0)
    if kind == "elasticnet" and model.l1_ratio is None:
        raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
    l1 = {"l1": 1.0, "l2": 0.0}.get(kind)
    l1 = float(model.l1_ratio) if l1 is None else l1
    return Strengths(l1, 1.0 - l1, float(model.C))


def _warn_of_contradictions(model: Any, kind: str | None) -> None:
    """scikit-learn's warnings about parameters that do not go together."""
    ratio = model.l1_ratio
    if kind != "elasticnet" and ratio is not None and 0 < ratio < 1:
        warnings.warn(
            f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={kind})",
            stacklevel=5,
        )
    if (kind == "l2" and ratio != 0) or (kind == "l1" and ratio != 1):
        warnings.warn(
            f"Inconsistent values: penalty={kind} with l1_ratio={ratio}. penalty is deprecated. "
            "Please use l1_ratio only.",
            stacklevel=5,
        )
    if kind is None and model.C != 1.0:
        warnings.warn(
            "Setting penalty=None will ignore the C and l1_ratio parameters", stacklevel=5
        )


def _deprecated(what: str, instead: str) -> None:
    warnings.warn(
        f"{what} was deprecated in scikit-learn 1.8 and goes away in 1.10. {instead}",
        FutureWarning,
        stacklevel=6,
    )


# What each row of a classification counts.


def row_weights(
    classes: NDArray[Any], codes: NDArray[np.intp], sample_weight: Any, class_weight: Any
) -> NDArray[np.float64]:
    """Sample weight times class weight, each row (n,)."""
    weight = _check_sample_weight(
        sample_weight, np.empty((len(codes), 0)), dtype=np.float64, ensure_non_negative=True
    )
    if class_weight is not None:
        by_class = compute_class_weight(
            class_weight, classes=classes, y=classes[codes], sample_weight=weight
        )
        if by_class.min() < 0:
            k = int(by_class.argmin())
            raise ValueError(
                f"class_weight must not be negative; class {classes.tolist()[k]!r} has "
                f"{by_class[k]:g}."
            )
        weight = weight * by_class[codes]
    if not weight.sum() > 0:
        raise ValueError(
            "sample_weight and class_weight must give some row a positive weight; all are 0."
        )
    return np.asarray(weight)
