"""Logistic regression without a penalty on classes that planes separate: there is no best.

Twice as long a separating plane has a lower loss, so the objective comes as near to 0 as one likes
and never reaches it. The plane is its own proof.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.separation import Separability, separability

from .claims import Claim, Grade

MOST_COLUMNS = 1500  # beyond, the search for a plane may take minutes


def claims_if_separable(
    X: Any, labels: NDArray[Any], fit_intercept: bool, objective: float, bound: float, lead: float
) -> list[Claim]:
    """Claims that take the place of a gap, if a plane or scores separate all rows; else none.

    `objective` is not below the true one, `bound` what an excess may be, `lead` the least that the
    published scores of a row's own class are ahead, less rounding: above 0, they separate as well.
    """
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
    within = f"the objective is within {objective:.3g} of 0, which no coefficients reach"
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
        return separability(X, labels, fit_intercept=fit_intercept, joint=joint)
    except (TypeError, ValueError):
        return None
