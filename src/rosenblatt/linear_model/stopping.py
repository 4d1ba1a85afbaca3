"""When a mistake-driven fit has gone on for long enough."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import assert_all_finite

from rosenblatt.base import Attributes

from .decision import decide
from .examples import Examples
from .mistakes import Weights


class Patience:
    """Runs out after so many values in a row that are not below the best by more than tol."""

    def __init__(self, tol: float | None, n_iter_no_change: int) -> None:
        self.tol, self.n_iter_no_change = tol, n_iter_no_change
        self.best, self.waited = np.inf, 0

    def runs_out(self, value: float) -> bool:
        """Take in one more value."""
        if self.tol is not None:
            self.waited = self.waited + 1 if value > self.best - self.tol else 0
        self.best = min(self.best, value)
        return self.waited >= self.n_iter_no_change


class Cycle:
    """Notices when the weights of a fit in fixed order repeat: then it goes round for ever.

    Brent's method: one remembered state, replaced after 1, 2, 4, 8, ... passes; a cycle is seen
    within a few times its length, at the price of one comparison a pass.
    """

    def __init__(self) -> None:
        self.remembered: tuple[NDArray[Any], ...] = ()
        self.since, self.until = 0, 1
        self.length = 0  # passes from a state to its return

    def closes(self, now: tuple[NDArray[Any], ...]) -> bool:
        """Take in the weights after one more pass."""
        self.since += 1
        if self.remembered and all(map(np.array_equal, now, self.remembered)):
            self.length = self.since
        if self.since == self.until or not self.remembered:
            self.remembered = tuple(array.copy() for array in now)
            self.since, self.until = 0, 2 * self.until
        return self.length > 0


class HeldOut:
    """The rows kept out of training by `early_stopping`, and the weights that did best on them."""

    def __init__(
        self, model: Any, examples: Examples, sample_weight: Any, rng: np.random.RandomState
    ) -> None:
        self.examples, self.boundary = examples, model.boundary
        self.training_rows = examples.rows.copy()
        self.scores: list[float] = []
        self.peak: Attributes = {}
        if not model.early_stopping:
            return
        split = StratifiedShuffleSplit(1, test_size=model.validation_fraction, random_state=rng)
        train, held = next(split.split(examples.rows, examples.codes[examples.rows]))
        self.training_rows, rows = examples.rows[train], examples.rows[held]
        self.X, self.codes = examples.X[rows], examples.codes[rows]
        self.weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
        assert_all_finite(self.X, input_name="X", estimator_name=type(model).__name__)

    def score(self, weights: Weights) -> float:
        """Take in one pass; return its accuracy on the held-out rows."""
        now = weights.attributes()
        scores = self.X @ now["coef_"].T + now["intercept_"]
        right = decide(scores, self.boundary) == self.codes
        accuracy = float(np.average(right, weights=self.weight))
        # Of equal passes the later is kept: it has seen more of the training rows.
        if accuracy >= max(self.scores, default=0.0):
            self.peak = now
        self.scores.append(accuracy)
        return accuracy

    def best(self, weights: Weights) -> tuple[Attributes, bool]:
        """The weights to publish, and whether they are of an earlier pass than the last."""
        if not self.scores:
            return weights.attributes(copy=False), False
        return self.peak, self.scores[-1] < max(self.scores)


def why_not_converged(
    model: Any, examples: Examples, mistakes: int, patience: Patience
) -> str | None:
    """A sentence for a fit that ended before a clean pass, None if there is nothing to say."""
    if model.stop_reason_ not in ("max_iter", "no_progress"):
        return None
    ask = "separability(X, y) tells whether any plane separates the classes."
    reached = f"{type(model).__name__} made {mistakes} mistakes in pass {model.n_iter_}, the last"
    if examples.hopeless and mistakes == 0:
        return (
            f"{examples.hopeless} rows of X are all zero and fit_intercept=False: they score 0 "
            "under any weights, so no weights can be right on them. Every other row is right. Use "
            "fit_intercept=True, or leave the empty rows out."
        )
    if model.cycle_:
        return (
            f"{reached}, and its weights are those of {model.cycle_} passes before: in this order "
            "the fit goes round for ever. Use shuffle=True to keep moving, or better features; "
            + ask
        )
    if model.stop_reason_ == "no_progress":
        return (
            f"{reached}; none was wanted. The loss per row has not fallen by more than "
            f"tol={model.tol} below its best, {patience.best:.3g}, for {patience.waited} passes. "
            f"tol=None goes on until a pass has no mistake or max_iter is reached; " + ask
        )
    limit = (
        f"max_updates={model.max_updates}"
        if model.max_updates and model.n_updates_ >= model.max_updates
        else f"max_iter={model.max_iter}"
    )
    return f"{reached}; none was wanted. {limit} is reached: raise it to go on. " + ask
