"""What a linear perceptron learns: one plane for two classes, a row of weights for each of more.

With a penalty the weights also shrink.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import loops
from rosenblatt.base import Attributes, arrays, read_only
from rosenblatt.mistake_driven.examples import Examples
from rosenblatt.runtime import threads

# By what factor a penalty multiplies the weights at each visit, and what it takes off their size.
Pull = tuple[float, float]


class LinearWeights:
    """What all kinds of linear weights share."""

    drifts = False
    examples: Examples
    n_updates: int
    n_visits: int
    _asked: NDArray[np.intp] | None = None
    _asked_X: Any = None

    def running(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The weights (1, d) or (K, d) and biases that the next example will meet."""
        raise NotImplementedError

    def score(self, row: int) -> Any:
        coef, intercept = self.running()
        scores = np.ravel(self.examples.X[[row]] @ coef.T + intercept)
        return scores[0] if len(scores) == 1 else scores

    def state(self) -> tuple[NDArray[Any], ...]:
        return self.running()

    def published_scores(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        if self._asked is not rows:  # the same rows are asked for after every pass
            self._asked, self._asked_X = rows, self.examples.X[rows]
        now = self.attributes()
        return np.asarray(self._asked_X @ now["coef_"].T + now["intercept_"])

    def attributes(self, copy: bool = True) -> Attributes:
        coef, b = self.running()
        if copy:
            coef, b = coef.copy(), b.copy()
        return {"coef_": coef, "intercept_": b, "n_updates_": self.n_updates}


class Plane(LinearWeights):
    """Two classes: ``y (w.x + b) <= 0`` is a mistake, and adds y x to w and y to b."""

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


class Columns(LinearWeights):
    """K classes: on a mistake the true class gains x and the best rival loses it.

    Kept as columns W (d, K), so that one feature's weights for all classes lie side by side.
    """

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


class ShrinkingPlane(Plane):
    """A plane under an L1 or L2 penalty, which pulls all weights a little at every visit."""

    drifts = True

    def __init__(
        self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any], pull: Pull
    ) -> None:
        super().__init__(examples, coef, intercept)
        self.pull, self.scale, self.paid = pull, np.array([1.0, 0.0]), np.zeros(self.w.shape)

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        return loops.perceptron.shrinking_pass(  # type: ignore[no-any-return]
            self.X, self.push, order, self.examples.ties, most, self.bias, self.pull,
            self.w, self.b, self.scale, self.paid,
        )  # fmt: skip

    def running(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return (self.w * self.scale[0]).astype(self.w.dtype)[np.newaxis], self.b


class ShrinkingColumns(Columns):
    """Columns under a penalty."""

    drifts = True

    def __init__(
        self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any], pull: Pull
    ) -> None:
        super().__init__(examples, coef, intercept)
        self.pull, self.scale, self.paid = pull, np.array([1.0, 0.0]), np.zeros(self.W.shape)

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        return loops.perceptron.shrinking_multiclass_pass(  # type: ignore[no-any-return]
            self.X, self.codes, self.step, order, self.examples.ties, most, self.bias, self.pull,
            self.W, self.b, self.scores, self.scale, self.paid,
        )  # fmt: skip

    def running(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return (self.W.T * self.scale[0]).astype(self.W.dtype), self.b
