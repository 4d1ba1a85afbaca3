"""The duality gap of a logistic regression: how far a point is from the best, at most.

Any dual point bounds the best objective from below. The probabilities of a point are a dual point
once they balance in each direction that is not penalised.
"""

import numpy as np

from .curvature_factors import factored
from .logistic_problem import ROUNDING, Array, LogisticProblem, Place

MOST_FREE = 1500  # parameters without a penalty up to which a gap is worked out


def duality_gap(problem: LogisticProblem, place: Place) -> float:
    """How far the objective of a place is above the best possible, at most."""
    # The probabilities are balanced to first order, by the move that Newton's step on the free
    # directions would make. Where that does not give probabilities, or where without a penalty
    # there are too many directions, the bound is zero: no objective is negative.
    place = problem.exactly(place)
    move = balancing_move(problem, place)
    dual = None if move is None else problem.dual_at(place, move)
    if move is None or dual is None:
        return place.objective
    pull, entropy = dual
    if not problem.fit_intercept:
        pull[-1] = 0.0
    allowance = ROUNDING * (abs(place.objective) + float(np.abs(problem.c).sum()))
    cost, kept = 0.0, 1.0
    if problem.penalised:
        cost, kept = _conjugate(problem, pull[:-1])
    else:
        # The balance holds up to rounding: stated for points up to 100 times as far out.
        residual = float(np.linalg.norm(pull))
        allowance += 100.0 * residual * float(np.linalg.norm(place.point))
    if kept != 1.0:
        entropy = problem.entropy_at(place, move, kept)
    bound = entropy - cost - allowance
    return place.objective - min(max(bound, 0.0), place.objective)


def balancing_move(problem: LogisticProblem, place: Place) -> Array | None:
    """Newton's step over the free parameters alone; None if there are too many."""
    move = np.zeros(problem.shape)
    if problem.penalised:
        if problem.fit_intercept:
            free = np.arange(move.size - move[-1].size, move.size)
            move.flat[free] = factored(problem.hessian(place, free))(place.gradient.flat[free])
        return move
    if move.size > MOST_FREE:
        return None
    return factored(problem.hessian(place))(place.gradient.ravel()).reshape(problem.shape)


def _conjugate(problem: LogisticProblem, v: Array) -> tuple[float, float]:
    """The penalty's share of the dual, and what the dual point must be multiplied with."""
    over = np.maximum(np.abs(v) - problem.l1, 0.0)
    if problem.l2:
        return float(np.vdot(over, over)) / (2 * problem.l2), 1.0
    most = float(np.abs(v).max(initial=0.0))
    return 0.0, 1.0 if most <= problem.l1 else problem.l1 / most
