"""The visits of mistake-driven learning: look at an example, and correct what is wrong with it.

What learns may be a plane, one row of weights per class, or coefficients of examples: all kinds
answer to the verbs of `Weights`.
"""

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite

from rosenblatt.base import Attributes, Passes

from .decision import margins_of, wins_ties
from .examples import Examples

Pick = Literal["cyclic", "random", "first", "worst"]

UNLIMITED = np.iinfo(np.int64).max


class Weights(Protocol):
    """What learns: see the module's first lines."""

    n_updates: int  # mistakes corrected so far
    n_visits: int  # rows looked at so far
    drifts: bool  # whether what is published changes at right visits, too

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        """Visit rows in order, correct at most so many; (mistakes, loss, visits)."""

    def look(self) -> NDArray[Any]:
        """Scores of all rows: (n,) or (n, K)."""

    def correct(self, row: int, scores: NDArray[Any]) -> None:
        """Correct the weights on one row, given all scores."""

    def score(self, row: int) -> Any:
        """The score that the next visit of a row will see: a number, or (K,)."""

    def state(self) -> tuple[NDArray[Any], ...]:
        """All that decides the rest of a run in fixed order."""

    def published_scores(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Scores of some rows by what would be published now: (m,), (m, 1) or (m, K)."""

    def attributes(self, copy: bool = True) -> Attributes:
        """What to publish, as copies unless nothing will be learned any more."""


def visit_in_order(
    weights: Weights, examples: Examples, order: NDArray[np.int32], most: int, passes: Passes
) -> tuple[int, float, bool]:
    """One pass that corrects at most so many; (mistakes, loss, whether every row was visited)."""
    mistakes, loss = 0, 0.0
    # With a recorder, the same loop is called with one row at a time.
    per_call = 1 if passes.recorders else examples.rows_per_call
    for start in range(0, len(order), per_call):
        rows = order[start : start + per_call]
        if passes.recorders:
            score = weights.score(int(rows[0]))
        made, lost, visits = weights.visit(rows, most - mistakes)
        mistakes, loss = mistakes + made, loss + lost
        weights.n_updates += made
        weights.n_visits += visits
        if visits < len(rows):
            refuse_if_not_finite(examples.X, rows[visits], weights, type(passes.estimator).__name__)
            return mistakes, loss, False
        if passes.recorders:
            passes.record_visit(int(rows[0]), score, made > 0, made > 0 or weights.drifts)
    return mistakes, loss, True


def pick_one(
    weights: Weights,
    examples: Examples,
    order: NDArray[np.int32],
    most: int,
    passes: Passes,
    pick: Pick,
    rng: np.random.RandomState,
) -> tuple[int, float, bool]:
    """Look at the rows in `order`, pick one mistake and correct it, unless `most` is 0.

    Return (mistakes corrected, loss, whether all that was to be done was done).
    """
    scores = weights.look()
    weights.n_visits += len(order)
    if not np.isfinite(scores).all():
        row = int(np.argmax(~np.isfinite(scores).reshape(len(scores), -1).all(axis=1)))
        refuse_if_not_finite(examples.X, row, weights, type(passes.estimator).__name__)
    margins = margins_of(scores, examples.codes)[order]
    tied_wrong = ~wins_ties(scores, examples.codes, examples.ties)[order]
    wrong = (margins < 0) | ((margins == 0) & tied_wrong)
    loss = float(-margins[wrong].sum(dtype=np.float64))
    if most == 0 or not wrong.any():
        return 0, loss, not wrong.any()
    if pick == "first":
        place = int(np.argmax(wrong))
    elif pick == "random":
        place = int(rng.choice(np.flatnonzero(wrong)))
    else:  # the worst
        place = int(np.argmin(np.where(wrong, margins, np.inf)))
    row = int(order[place])
    weights.correct(row, scores)
    weights.n_updates += 1
    passes.record_visit(row, scores[row], mistake=True, changed=True)
    return 1, loss, True


def refuse_if_not_finite(X: Any, row: int, weights: Weights, name: str) -> None:
    """Raise if a row, or the weights, hold a number that is not finite."""
    assert_all_finite(X[[row]], input_name="X", estimator_name=name)
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(weights.score(row)).all():
            raise ValueError(
                f"The score of row {row} of X overflowed: the numbers are too large for {X.dtype}. "
                "Standardise X, for example with StandardScaler."
            )
