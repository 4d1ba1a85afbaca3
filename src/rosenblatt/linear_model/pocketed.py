"""Weights with a pocket: the best they ever were.

A run does not depend on its pocket. So the weights after some corrections are remembered, and then
looked at all at once: a product of matrices by BLAS instead of one with a vector after every
correction. That first look, in 32 bits, leaves few (see `sieve`); they are then tried one by one,
the hardest rows first, until they are found to be no better.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import loops
from rosenblatt.base import Attributes
from rosenblatt.mistake_driven.decision import margins_of
from rosenblatt.mistake_driven.examples import Examples

from .planes import Columns, LinearWeights, Plane
from .sieve import ROUNDING, Sieve

# How many weights are tried at once, and how many numbers they may have in all.
MOST_TRIED = 256
NUMBERS_TRIED = 1 << 20

# After how many corrections the rows are sorted by hardness; and again whenever there have been
# four times as many.
FIRST_SORTED = 32


class Pocketed(LinearWeights):
    """What planes and columns with a pocket share: weights w (d,) or (d, K), biases b (K,)."""

    w: NDArray[Any]
    b: NDArray[Any]

    def empty(self) -> None:
        """Begin with the weights as they are in the pocket."""
        self.hard = self.examples.rows
        # Added up in the order of the loops, so that all wrong is exactly all.
        steps = self.examples.step[self.hard].astype(np.float64)
        with np.errstate(over="ignore"):  # said below
            self.weight = float(np.add.accumulate(steps)[-1]) if len(steps) else 0.0
        if not np.isfinite(self.weight + self.examples.hopeless_weight):
            raise ValueError(
                "The weights of the rows add up to more than 64 bits hold: eta0, sample_weight and "
                "class_weight multiply to too large numbers. Divide them by their largest."
            )
        self.history: list[tuple[int, float]] = []
        self.keep(self.w, self.b, self.wrong(self.w, self.b), self.n_updates)
        most = np.clip(NUMBERS_TRIED // self.w.size, 1, MOST_TRIED)
        self.past_w = np.empty((most, *self.w.shape), self.w.dtype)
        self.past_b = np.empty((most, len(self.b)), self.b.dtype)
        self.tried, self.next_sorting = 0, FIRST_SORTED
        self.sum_w, self.sum_b = np.zeros(self.w.shape), np.zeros(self.b.shape)

    def keep(self, w: NDArray[Any], b: NDArray[Any], wrong: float, n_updates: int) -> None:
        """Put weights into the pocket, by which rows of that weight are wrong."""
        self.best_w, self.best_b, self.best_wrong = w.copy(), b.copy(), wrong
        hopeless = self.examples.hopeless_weight  # wrong whatever the weights are
        self.history.append((n_updates, (wrong + hopeless) / (self.weight + hopeless)))

    def resume(self, coef: NDArray[Any], b: NDArray[Any]) -> None:
        """Put weights of an earlier batch into the pocket if they are as good on this one."""
        w = np.ascontiguousarray(coef[0] if self.w.ndim == 1 else coef.T)
        wrong = self.wrong(w, b)
        self.history = []
        if wrong > self.best_wrong:
            w, b, wrong = self.best_w, self.best_b, self.best_wrong
        self.keep(w, b, wrong, self.n_updates)

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        mistakes, loss, visits = 0, 0.0, 0
        while visits < len(order):
            # The first corrections improve much; to try many of them at once would be a waste.
            room = min(most - mistakes, len(self.past_w), 1 + self.tried)
            if room == 0:  # any further mistake is one too many
                made, lost, seen = super().visit(order[visits:], 0)  # type: ignore[misc]
                return mistakes, loss, visits + seen
            made, lost, seen = self.record(order[visits:], room)
            self.try_on(made, self.n_updates + mistakes)
            mistakes, loss, visits = mistakes + made, loss + lost, visits + seen
            if made < room:
                break  # through, or not finite
        return mistakes, loss, visits

    def record(self, order: NDArray[np.int32], room: int) -> tuple[int, float, int]:
        """Visit rows in order, and remember the weights after each of so many corrections."""
        raise NotImplementedError

    def correct(self, row: int, scores: NDArray[Any]) -> None:
        super().correct(row, scores)  # type: ignore[misc]
        self.past_w[0], self.past_b[0] = self.w, self.b
        self.try_on(1, self.n_updates)

    def try_on(self, made: int, n_updates: int) -> None:
        """Try the weights after the latest corrections; the first of the best are kept."""
        if self.tried >= self.next_sorting:
            self.sort_rows()
            self.next_sorting *= 4
        for t, at_least in zip(*self.likely(made), strict=True):
            w, b = self.past_w[t], self.past_b[t]
            if at_least < self.best_wrong and self.may_be_better(w, b):
                wrong = self.wrong(w, b)
                if wrong < self.best_wrong * (1 - ROUNDING):
                    self.keep(w, b, wrong, n_updates + int(t) + 1)
        self.tried += made
        self.sum_w += self.past_w[:made].sum(axis=0, dtype=np.float64)
        self.sum_b += self.past_b[:made].sum(axis=0, dtype=np.float64)

    def sort_rows(self) -> None:
        """Look first at the rows that the mean of the weights tried so far finds hardest.

        They are those that most weights get wrong: better than the order by the pocket itself.
        """
        mean_w, mean_b = (self.sum_w / self.tried, self.sum_b / self.tried)
        scores = self.examples.X @ mean_w + mean_b
        margins = margins_of(scores, self.examples.codes)[self.examples.rows]
        self.hard = self.examples.rows[np.argsort(margins)]

    def likely(self, made: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Which of the latest weights may be better than the pocket, and how wrong at least."""
        return np.arange(made), np.zeros(made)

    def may_be_better(self, w: NDArray[Any], b: NDArray[Any]) -> bool:
        """Whether weights do better than the pocket, up to rounding: the hardest rows first."""
        limit = self.best_wrong * (1 + ROUNDING)
        return self.wrong(w, b, limit, self.hard) < limit

    def wrong(
        self, w: NDArray[Any], b: NDArray[Any], limit: float = np.inf, rows: Any = None
    ) -> float:
        """The weight of the rows that weights w, b get wrong, or a part of it that is >= limit.

        Without a limit it is summed in the order of the data, so that equals are equal.
        """
        raise NotImplementedError

    def attributes(self, copy: bool = True) -> Attributes:
        last, last_b = self.running()
        return {
            "coef_": np.array(np.atleast_2d(self.best_w.T), order="C"),
            "intercept_": self.best_b.copy(),
            "last_coef_": last.copy() if copy else last,
            "last_intercept_": last_b.copy() if copy else last_b,
            "n_updates_": self.n_updates,
            "pocket_error_": self.history[-1][1],
            "pocket_history_": list(self.history),
        }


class PocketedPlane(Pocketed, Plane):
    """Two classes."""

    def __init__(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        Plane.__init__(self, examples, coef, intercept)
        self.sieve: Sieve | None = None
        self.empty()

    def record(self, order: NDArray[np.int32], room: int) -> tuple[int, float, int]:
        return loops.pocket.recorded_pass(  # type: ignore[no-any-return]
            self.X, self.push, order, self.examples.ties, self.bias, self.w, self.b,
            self.past_w[:room], self.past_b[:room],
        )  # fmt: skip

    def may_be_better(self, w: NDArray[Any], b: NDArray[Any]) -> bool:
        # What the sieve lets pass is likely to be better: no need to look twice.
        return self.sieve is not None or super().may_be_better(w, b)

    def wrong(
        self, w: NDArray[Any], b: NDArray[Any], limit: float = np.inf, rows: Any = None
    ) -> float:
        rows = self.examples.rows if rows is None else rows
        count = loops.pocket.wrong_weight
        return float(count(self.X, self.push, self.examples.ties, w, b, limit, rows))

    def sort_rows(self) -> None:
        super().sort_rows()
        self.sieve = Sieve(self.examples, self.hard)

    def likely(self, made: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        if self.sieve is None:
            return super().likely(made)
        return self.sieve.pass_through(self.past_w[:made], self.past_b[:made], self.best_wrong)


class PocketedColumns(Pocketed, Columns):
    """K classes."""

    def __init__(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        Columns.__init__(self, examples, coef, intercept)
        self.w = self.W
        self.empty()

    def record(self, order: NDArray[np.int32], room: int) -> tuple[int, float, int]:
        return loops.pocket.recorded_multiclass_pass(  # type: ignore[no-any-return]
            self.X, self.codes, self.step, order, self.examples.ties, self.bias, self.W, self.b,
            self.scores, self.past_w[:room], self.past_b[:room],
        )  # fmt: skip

    def wrong(
        self, w: NDArray[Any], b: NDArray[Any], limit: float = np.inf, rows: Any = None
    ) -> float:
        rows = self.examples.rows if rows is None else rows
        count = loops.pocket.wrong_multiclass_weight
        return float(
            count(self.X, self.codes, self.step, self.examples.ties, w, b, self.scores, limit,
                  rows)
        )  # fmt: skip
