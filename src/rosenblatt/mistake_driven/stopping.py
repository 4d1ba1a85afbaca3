"""When a mistake-driven fit stops, and what it publishes."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from rosenblatt.base import Attributes, StopReason

from .classifier import MistakeDriven, decide
from .examples import Examples, check_finite
from .visits import Visits, Weights


class Patience:
    """Runs out after so many values in a row that are not below the best by more than tol."""

    def __init__(self, tol: float | None, n_iter_no_change: int) -> None:
        self.tol, self.n_iter_no_change = tol, n_iter_no_change
        self.best, self.waited = np.inf, 0

    def runs_out(self, value: float) -> bool:
        """Add one more value."""
        if self.tol is not None:
            self.waited = self.waited + 1 if value > self.best - self.tol else 0
        self.best = min(self.best, value)
        return self.waited >= self.n_iter_no_change


class Cycle:
    """Detects that the weights of a fit in fixed order repeat, so that it would never end.

    Brent's method: one stored state, replaced after 1, 2, 4, 8, ... passes. It finds a cycle
    within a few times its length, for one comparison a pass.
    """

    def __init__(self) -> None:
        self.stored: tuple[NDArray[Any], ...] = ()
        self.since, self.until = 0, 1
        self.length = 0  # passes from a state to its return

    def closes(self, now: tuple[NDArray[Any], ...]) -> bool:
        """Add the weights after one more pass."""
        self.since += 1
        if self.stored and all(map(np.array_equal, now, self.stored)):
            self.length = self.since
        if self.since == self.until or not self.stored:
            self.stored = tuple(array.copy() for array in now)
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
        """Add one pass; return its accuracy on the held-out rows."""
        correct = decide(weights.published_scores(self.rows), self.boundary) == self.codes
        accuracy = float(np.average(correct, weights=self.weight))
        # Of equal passes the later is kept: it made more visits.
        if accuracy >= max(self.scores, default=0.0):
            self.peak = weights.attributes()
        self.scores.append(accuracy)
        return accuracy

    @property
    def past_its_peak(self) -> bool:
        """Whether an earlier pass did better than the last."""
        return self.scores[-1] < max(self.scores)


def hold_out(
    model: Any, examples: Examples, sample_weight: Any, rng: np.random.RandomState
) -> tuple[Examples, HeldOut | None]:
    """The examples to train on, and those that `early_stopping` holds out."""
    if not model.early_stopping:
        return examples, None
    held_out = HeldOut(model, examples, sample_weight, rng)
    return replace(examples, rows=held_out.training_rows), held_out


class Stopping:
    """The rules that end a fit before it runs out of passes, in order of precedence."""

    def __init__(self, model: Any, visits: Visits, held_out: HeldOut | None = None) -> None:
        self.model, self.visits, self.held_out = model, visits, held_out
        self.patience, self.cycle = Patience(model.tol, model.n_iter_no_change), Cycle()

    def reason(self) -> StopReason | None:
        """Why to stop after this pass, or None to go on."""
        visits, weights = self.visits, self.visits.weights
        if self.held_out is not None:
            out_of_patience = self.patience.runs_out(-self.held_out.score(weights))
        else:
            # The loss before a single correction is no measure of progress.
            cyclic = self.model.pick == "cyclic"
            out_of_patience = cyclic and self.patience.runs_out(visits.loss_per_row)
        if not visits.finished:
            return "max_iter"
        # A penalty moves the weights even in a pass without mistakes, which then proves nothing.
        if visits.mistakes == 0 and self.model.penalty is None:
            return "no_progress" if weights.examples.n_unlearnable else "converged"
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

    def publish(self, model: MistakeDriven, n_iter: int, reason: StopReason | None) -> None:
        """Set the fitted attributes of a model whose learning has ended."""
        weights, held_out = self.visits.weights, self.held_out
        examples = weights.examples
        rewound = held_out is not None and held_out.past_its_peak
        attributes = weights.attributes(copy=False) if held_out is None else held_out.peak
        arrays = (value for value in attributes.values() if isinstance(value, np.ndarray))
        if not all(np.isfinite(array).all() for array in arrays):
            raise ValueError(
                f"The weights overflowed: X, eta0 or the weights are too large for "
                f"{examples.X.dtype}. Standardise X, for example with StandardScaler."
            )
        model.t_ = 1.0 + weights.n_visits
        for name, value in attributes.items():
            setattr(model, name, value)
        model.classes_ = examples.classes
        model.n_iter_ = n_iter
        model.converged_ = reason == "converged" and not rewound
        model.stop_reason_ = "early_stopping" if rewound else reason
        model.validation_scores_ = None if held_out is None else held_out.scores
        steps = examples.step[examples.rows] if len(examples.rows) else examples.step
        model.step_range_ = (float(steps.min()), float(steps.max()))
        model.cycle_ = self.cycle.length

    def shortfall(self, ask: str = "separability(X, y)") -> str | None:
        """A warning for a fit that ended before a clean pass; `ask` finds if one is possible."""
        model, mistakes, patience = self.model, self.visits.mistakes, self.patience
        if model.stop_reason_ not in ("max_iter", "no_progress"):
            return None
        # Under a penalty the loss is only required to stop falling.
        if model.stop_reason_ == "no_progress" and model.penalty is not None:
            return None
        name, ask = (
            type(model).__name__,
            f"{ask} tells whether a pass without mistakes is possible.",
        )
        stopped = f"{name} stopped with {_count(mistakes, 'mistake')} in its last pass"
        if (empty := self.visits.weights.examples.n_unlearnable) and mistakes == 0:
            return (
                f"{_count(empty, 'row')} of X are all zero and "
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
                f"{stopped}: its loss per row, {patience.best:.3g} at best, has not fallen by "
                f"tol={model.tol} for {_count(patience.waited, 'pass', 'es')}. "
                f"Use tol=None to go on; {ask}"
            )
        if model.max_updates is not None and model.n_updates_ >= model.max_updates:
            return (
                f"{name} stopped with mistakes left: max_updates={model.max_updates} is reached. "
                f"Raise it to go on; {ask}"
            )
        return f"{stopped}: max_iter={model.max_iter} is reached. Raise it to go on; {ask}"


def _count(n: int, noun: str, plural: str = "s") -> str:
    """A number with its noun."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}{plural}"
