"""The visits of a mistake-driven fit: in which order, how many, and what came of each pass.

The weights may be a plane, one row of weights per class, or coefficients of examples: all kinds
have the methods of `Weights`.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt import checks
from rosenblatt.base import Attributes, Passes, read_only
from rosenblatt.loops import random

from .classifier import MistakeDriven, Pick, margins_of, wins_ties
from .examples import Examples, check_finite

UNLIMITED = np.iinfo(np.int64).max


class Weights(Protocol):
    """What a mistake-driven fit changes."""

    examples: Examples
    n_updates: int  # mistakes corrected so far
    n_visits: int  # rows visited so far
    drifts: bool  # whether the published weights change at correct visits, too

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        """Visit rows in order, correct at most so many; (mistakes, loss, visits)."""

    def look(self) -> NDArray[Any]:
        """Scores of all rows: (n,) or (n, K)."""

    def correct(self, row: int, scores: NDArray[Any]) -> None:
        """Correct the weights on one row, given all scores."""

    def score(self, row: int) -> Any:
        """The score of a row at its next visit: a number, or (K,)."""

    def state(self) -> tuple[NDArray[Any], ...]:
        """All that decides the rest of a run in fixed order."""

    def published_scores(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Scores of some rows by the published weights: (m,), (m, 1) or (m, K)."""

    def attributes(self, copy: bool = True) -> Attributes:
        """The fitted attributes, as copies unless learning has ended."""


class Visits:
    """The visits of one fit, and the counts of its latest pass."""

    def __init__(
        self, model: MistakeDriven, weights: Weights, passes: Passes, rng: np.random.RandomState
    ) -> None:
        self.model, self.weights, self.passes, self.rng = model, weights, passes, rng
        self.seed = int(rng.randint(np.iinfo(np.int32).max))
        self.order = weights.examples.rows.copy()
        self.last_update = weights.n_updates + (model.max_updates or UNLIMITED)
        self.mistakes, self.loss = 0, 0.0  # corrected in this pass, and their sum of -y f(x)
        self.finished = True  # whether this pass was not cut short by `max_updates`
        passes.attributes = self.attributes

    @property
    def updates_left(self) -> int:
        """Corrections before `max_updates` is reached."""
        return self.last_update - self.weights.n_updates

    @property
    def loss_per_row(self) -> float:
        """The loss of this pass divided by its rows."""
        return self.loss / max(len(self.order), 1)

    def in_order(self, n_iter: int) -> Iterator[NDArray[np.int32]]:
        """Yield the rows of a pass in pieces, in a new order if shuffled; `count` each piece."""
        # A piece is so short that Ctrl-C works, and a single row if a recorder is attached.
        self.mistakes, self.loss, self.finished = 0, 0.0, True
        if self.model.shuffle:
            random.shuffle(self.order, self.seed + (n_iter << 32))
        order, per_call = read_only(self.order), self.weights.examples.rows_per_call
        if self.passes.recorders:
            yield from self._recorded(order)
        else:
            for start in range(0, len(order), per_call):
                yield order[start : start + per_call]
                if not self.finished:
                    break
        if n_iter == 1 and not self.finished:  # rows that were not reached
            check_finite(self.weights.examples.X, order, type(self.model).__name__)
        self._print(n_iter)

    def count(self, rows: NDArray[np.int32], visited: tuple[int, float, int]) -> None:
        """Add (mistakes, loss, visits) of a piece; refuse a row that is not finite."""
        mistakes, loss, visits = visited
        self.mistakes += mistakes
        self.loss += loss
        self.weights.n_updates += mistakes
        self.weights.n_visits += visits
        if visits < len(rows):
            self.finished = False
            self._refuse_if_not_finite(rows[visits])

    def _recorded(self, order: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
        """Yield single rows, and report each visit to the recorders."""
        for t, row in enumerate(order.tolist()):
            score, before = self.weights.score(row), self.mistakes
            yield order[t : t + 1]
            if not self.finished:
                return
            mistake = self.mistakes > before
            self.passes.record_visit(row, score, mistake, mistake or self.weights.drifts)

    def correct_one(self, pick: Pick, n_iter: int) -> None:
        """Score all rows, pick one mistake and correct it, if a correction is left."""
        weights, examples = self.weights, self.weights.examples
        scores = weights.look()
        weights.n_visits += len(self.order)
        if not np.isfinite(scores).all():
            finite = np.isfinite(scores).reshape(len(scores), -1).all(axis=1)
            self._refuse_if_not_finite(int(np.argmin(finite)))
        margins = margins_of(scores, examples.codes)[self.order]
        wins = wins_ties(scores, examples.codes, examples.ties)[self.order]
        wrong = (margins < 0) | ((margins == 0) & ~wins)
        self.loss, self.mistakes = float(-margins[wrong].sum(dtype=np.float64)), 0
        self.finished = not wrong.any() or self.updates_left > 0
        if wrong.any() and self.updates_left:
            row = int(self.order[_picked(pick, wrong, margins, self.rng)])
            weights.correct(row, scores)
            weights.n_updates += 1
            self.mistakes = 1
            self.passes.record_visit(row, scores[row], mistake=True, changed=True)
        self._print(n_iter)

    def attributes(self) -> Attributes:
        """The fitted attributes as they are now, for callbacks."""
        return {
            **self.weights.attributes(),
            "t_": 1.0 + self.weights.n_visits,
            "classes_": self.weights.examples.classes,
            "n_iter_": self.passes.n_iter,
            "converged_": False,
            "stop_reason_": "callback",
        }

    def _print(self, n_iter: int) -> None:
        if self.model.verbose:
            mistakes, loss = self.mistakes, self.loss_per_row
            print(f"pass {n_iter}: {mistakes} mistakes, loss per row {loss:.6g}")

    def _refuse_if_not_finite(self, row: int) -> None:
        """Raise if a row, or the weights, hold a number that is not finite."""
        X = self.weights.examples.X
        checks.finite(X[[row]], estimator_name=type(self.model).__name__)
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(self.weights.score(row)).all():
                raise ValueError(
                    f"The score of row {row} of X overflowed: the numbers are too large for "
                    f"{X.dtype}. Standardise X, for example with StandardScaler."
                )


def _picked(
    pick: Pick, wrong: NDArray[np.bool_], margins: NDArray[Any], rng: np.random.RandomState
) -> int:
    """The place of one mistake: the first, a random one, or that of the lowest margin."""
    if pick == "first":
        return int(np.argmax(wrong))
    if pick == "random":
        return int(rng.choice(np.flatnonzero(wrong)))
    return int(np.argmin(np.where(wrong, margins, np.inf)))


def most_passes(model: Any) -> int | None:
    """Passes before a fit gives up; None if `max_updates` limits single corrections instead."""
    if model.pick != "cyclic" and model.max_updates is not None:
        return None
    return int(model.max_iter)
