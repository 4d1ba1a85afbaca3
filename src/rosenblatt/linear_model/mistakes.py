"""Mistake-driven learning: the weights, and the visits that correct them.

Two classes share one plane, more have a row of weights each; with a penalty the weights also
shrink. All kinds of weights answer to the same verbs: `visit` rows in an order, `look` at all of
them, `correct` one, and give their `attributes`.
"""

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite

from rosenblatt import loops, threads
from rosenblatt.base import Attributes, Passes, arrays, read_only

from .decision import margins_of, wins_ties
from .examples import Examples

Pick = Literal["cyclic", "random", "first", "worst"]

# By what factor a penalty multiplies the weights at each visit, and what it takes off their size.
Pull = tuple[float, float]

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

    def running(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The weights (1, d) or (K, d) and biases that the next example will meet."""

    def attributes(self, copy: bool = True) -> Attributes:
        """What to publish, as copies unless nothing will be learned any more."""


class Plane:
    """Two classes: ``y (w.x + b) <= 0`` is a mistake, and adds y x to w and y to b."""

    drifts = False

    def __init__(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        self.w, self.b = coef[0].copy(), intercept.copy()
        self.n_updates = self.n_visits = 0
        self.examples = examples
        self.X = arrays(examples.X)
        self.push = read_only(np.where(examples.codes == 1, examples.step, -examples.step))
        self.bias = self.b.dtype.type(examples.bias)

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        ties = self.examples.ties
        pass_over = loops.perceptron.perceptron_pass
        return pass_over(self.X, self.push, order, ties, most, self.bias, self.w, self.b)  # type: ignore[no-any-return]

    def look(self) -> NDArray[Any]:
        scores = np.empty(len(self.push), self.w.dtype)
        look = loops.perceptron.look
        threads.over_chunks(
            lambda start, stop: look(self.X, start, stop, self.w, self.b, scores),
            len(self.push),
            self.examples.cells,
        )
        return scores

    def correct(self, row: int, scores: NDArray[Any]) -> None:
        loops.rows.add(self.X, row, self.push[row], self.w)
        self.b += self.bias * self.push[row]

    def running(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.w[np.newaxis], self.b

    def attributes(self, copy: bool = True) -> Attributes:
        return publish(*self.running(), self.n_updates, copy)


class Columns:
    """K classes: on a mistake the true class gains x and the best rival loses it.

    Kept as columns W (d, K), so that one feature's weights for all classes lie side by side.
    """

    drifts = False

    def __init__(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        self.W, self.b = np.array(coef.T, order="C"), intercept.copy()
        self.n_updates = self.n_visits = 0
        self.examples = examples
        self.X = arrays(examples.X)
        self.codes, self.step = read_only(examples.codes), read_only(examples.step)
        self.bias = self.b.dtype.type(examples.bias)
        self.scores = np.empty_like(self.b)

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        ties = self.examples.ties
        pass_over = loops.perceptron.multiclass_pass
        return pass_over(  # type: ignore[no-any-return]
            self.X, self.codes, self.step, order, ties, most, self.bias, self.W, self.b, self.scores
        )

    def look(self) -> NDArray[Any]:
        scores = np.empty((len(self.codes), len(self.b)), self.W.dtype)
        look = loops.perceptron.look_multiclass
        threads.over_chunks(
            lambda start, stop: look(self.X, start, stop, self.W, self.b, scores),
            len(self.codes),
            self.examples.cells,
        )
        return scores

    def correct(self, row: int, scores: NDArray[Any]) -> None:
        true, step = self.codes[row], self.step[row]
        rival = loops.perceptron.best_rival(scores[row], true, self.examples.ties)
        loops.rows.move(self.X, row, step, self.W, rival, true)
        self.b[true] += self.bias * step
        self.b[rival] -= self.bias * step

    def running(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.W.T, self.b

    def attributes(self, copy: bool = True) -> Attributes:
        return publish(*self.running(), self.n_updates, copy)


class ShrinkingPlane(Plane):
    """A plane under an L1 or L2 penalty, which pulls all weights a little at every visit."""

    drifts = True

    def __init__(
        self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any], pull: Pull
    ) -> None:
        super().__init__(examples, coef, intercept)
        self.pull, self.state, self.paid = pull, np.array([1.0, 0.0]), np.zeros(self.w.shape)

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        return loops.perceptron.shrinking_pass(  # type: ignore[no-any-return]
            self.X, self.push, order, self.examples.ties, most, self.bias, self.pull,
            self.w, self.b, self.state, self.paid,
        )  # fmt: skip

    def running(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return (self.w * self.state[0]).astype(self.w.dtype)[np.newaxis], self.b


class ShrinkingColumns(Columns):
    """Columns under a penalty."""

    drifts = True

    def __init__(
        self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any], pull: Pull
    ) -> None:
        super().__init__(examples, coef, intercept)
        self.pull, self.state, self.paid = pull, np.array([1.0, 0.0]), np.zeros(self.W.shape)

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        return loops.perceptron.shrinking_multiclass_pass(  # type: ignore[no-any-return]
            self.X, self.codes, self.step, order, self.examples.ties, most, self.bias, self.pull,
            self.W, self.b, self.scores, self.state, self.paid,
        )  # fmt: skip

    def running(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return (self.W.T * self.state[0]).astype(self.W.dtype), self.b


def publish(coef: NDArray[Any], b: NDArray[Any], n_updates: int, copy: bool) -> Attributes:
    """Weights under the names users know."""
    if copy:
        coef, b = coef.copy(), b.copy()
    return {"coef_": coef, "intercept_": b, "n_updates_": n_updates}


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
            score = score_of_row(weights, examples.X, rows[0])
        made, lost, visits = weights.visit(rows, most - mistakes)
        mistakes, loss = mistakes + made, loss + lost
        weights.n_updates += made
        weights.n_visits += visits
        if visits < len(rows):
            refuse_if_not_finite(examples.X, rows[visits], weights)
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
        refuse_if_not_finite(examples.X, row, weights)
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


def score_of_row(weights: Weights, X: Any, row: int) -> Any:
    """The score of one row by the weights as they are: a number, or (K,)."""
    coef, intercept = weights.running()
    scores = np.ravel(X[[row]] @ coef.T + intercept)
    return scores[0] if len(scores) == 1 else scores


def refuse_if_not_finite(X: Any, row: int, weights: Weights) -> None:
    """Raise if a row, or the weights, hold a number that is not finite."""
    assert_all_finite(X[[row]], input_name="X", estimator_name="Perceptron")
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(score_of_row(weights, X, row)).all():
            raise ValueError(
                f"The score of row {row} of X overflowed: the numbers are too large for {X.dtype}. "
                "Standardise X, for example with StandardScaler."
            )
