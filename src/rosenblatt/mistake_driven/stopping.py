"""When a mistake-driven fit has gone on for long enough."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from rosenblatt.base import Attributes, StopReason

from .decision import decide
from .examples import Examples, check_finite
from .visits import Weights


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
        self.boundary = model.boundary
        split = StratifiedShuffleSplit(1, test_size=model.validation_fraction, random_state=rng)
        train, held = next(split.split(examples.rows, examples.codes[examples.rows]))
        self.training_rows, self.rows = examples.rows[train], examples.rows[held]
        check_finite(examples.X, self.rows, type(model).__name__)
        self.codes = examples.codes[self.rows]
        weight = None if sample_weight is None else np.asarray(sample_weight)
        self.weight = weight[self.rows] if weight is not None and weight.ndim else None
        self.scores: list[float] = []
        self.peak: Attributes = {}

    def score(self, weights: Weights) -> float:
        """Take in one pass; return its accuracy on the held-out rows."""
        right = decide(weights.published_scores(self.rows), self.boundary) == self.codes
        accuracy = float(np.average(right, weights=self.weight))
        # Of equal passes the later is kept: it has seen more of the training rows.
        if accuracy >= max(self.scores, default=0.0):
            self.peak = weights.attributes()
        self.scores.append(accuracy)
        return accuracy

    @property
    def past_its_peak(self) -> bool:
        """Whether an earlier pass did better than the last."""
        return self.scores[-1] < max(self.scores)


class Stopping:
    """The rules that end a fit before it runs out of passes, in the order they are asked."""

    def __init__(self, model: Any, examples: Examples, held_out: HeldOut | None) -> None:
        self.model, self.examples, self.held_out = model, examples, held_out
        self.patience, self.cycle = Patience(model.tol, model.n_iter_no_change), Cycle()
        self.mistakes = 0  # in the last pass

    def reason(
        self, weights: Weights, mistakes: int, loss_per_row: float, finished: bool
    ) -> StopReason | None:
        """Why to stop after this pass, if there is a reason."""
        self.mistakes = mistakes
        if self.held_out is not None:
            out_of_patience = self.patience.runs_out(-self.held_out.score(weights))
        else:
            # One correction says little of progress, and is no pass.
            cyclic = self.model.pick == "cyclic"
            out_of_patience = cyclic and self.patience.runs_out(loss_per_row)
        if not finished:
            return "max_iter"
        # A penalty moves the weights even in a pass without mistakes, which then proves nothing.
        if mistakes == 0 and self.model.penalty is None:
            return "no_progress" if self.examples.hopeless else "converged"
        if self._order_is_fixed() and self.cycle.closes(weights.state()):
            return "no_progress"
        if out_of_patience:
            return "no_progress" if self.held_out is None else "early_stopping"
        return None

    def _order_is_fixed(self) -> bool:
        """Whether equal weights must lead to equal weights for ever."""
        model = self.model
        fixed = not model.shuffle if model.pick == "cyclic" else model.pick in ("first", "worst")
        return fixed and model.penalty is None

    def shortfall(self) -> str | None:
        """A sentence for a fit that ended before a clean pass, None if there is nothing to say."""
        model, mistakes = self.model, self.mistakes
        # Under a penalty the loss is only asked to stop falling.
        if model.stop_reason_ == "no_progress" and model.penalty is not None:
            return None
        if model.stop_reason_ not in ("max_iter", "no_progress"):
            return None
        if model.stop_reason_ in model._content:
            return None
        ask = f"{model._who_knows} tells whether a pass without mistakes is possible."
        name = type(model).__name__
        stopped = f"{name} stopped with {_count(mistakes, 'mistake')} in its last pass"
        if self.examples.hopeless and mistakes == 0:
            return (
                f"{_count(self.examples.hopeless, 'row')} of X are all zero and "
                "fit_intercept=False: no weights can be right on them; every other row is right. "
                "Use fit_intercept=True, or leave the empty rows out."
            )
        if model.cycle_:
            other = "shuffle=True" if model.pick == "cyclic" else 'pick="random"'
            return (
                f"{stopped}: its weights repeat every {_count(model.cycle_, 'pass', 'es')}, so "
                f"this fixed order goes round for ever. Use {other} to keep moving; {ask}"
            )
        if model.stop_reason_ == "no_progress":
            return (
                f"{stopped}: its loss per row, {self.patience.best:.3g} at best, has not fallen by "
                f"tol={model.tol} for {_count(self.patience.waited, 'pass', 'es')}. "
                f"Use tol=None to go on; {ask}"
            )
        if model.max_updates is not None and model.n_updates_ >= model.max_updates:
            if "max_updates" in model._content:
                return None
            return (
                f"{name} stopped with mistakes left: max_updates={model.max_updates} is reached. "
                f"Raise it to go on; {ask}"
            )
        return f"{stopped}: max_iter={model.max_iter} is reached. Raise it to go on; {ask}"


def _count(n: int, noun: str, plural: str = "s") -> str:
    """A number with its noun."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}{plural}"
