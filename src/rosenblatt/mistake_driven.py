"""Fits of the linear and kernel perceptrons: examples, order of visits, stopping rules."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks, losses, mistake_driven_loops
from rosenblatt.base import Attributes, Passes, StopReason, arrays, read_only, warn_not_converged
from rosenblatt.loops import random

Pick = Literal["cyclic", "random", "first", "worst"]

# The class that wins a score of zero or a tie: none, the second (higher), or the first (lower).
TIES = {"mistake": 0, "positive": 1, "negative": -1}

UNLIMITED = np.iinfo(np.int64).max

# One compiled call lasts about a tenth of a second, so that Ctrl-C works.
CELLS_PER_CALL = 30_000_000
ROWS_PER_BLOCK = 4096


# Parameters of all models that are fitted in epochs.
EPOCHS: dict[str, list[Any]] = {
    "fit_intercept": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left"), None],
    "shuffle": ["boolean"],
    "verbose": ["verbose"],
    "eta0": [Interval(Real, 0, None, closed="neither")],
    "random_state": ["random_state"],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
}


class MistakeDriven(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that visits examples and corrects its weights at each mistake.

    `fit` uses `check_examples` and `Training`. The constructors of the subclasses document the
    parameters; the class attributes are the values of classifiers that lack a parameter.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EPOCHS,
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "boundary": [StrOptions(set(TIES))],
    }

    boundary: str
    penalty: str | None = None
    pick: Pick = "cyclic"
    max_updates: int | None = None

    classes_: NDArray[Any]
    n_updates_: int
    t_: float
    step_range_: tuple[float, float]
    stop_reason_: str | None

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of the rows of X: (n,) for two classes, (n, K) for more."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the highest score for each row of X.

        A score of 0 is ``classes_[0]``, and a tie the lower class; with ``boundary="positive"``
        the second class, and the higher.
        """
        scores = self.decision_function(X)
        labels: NDArray[Any] = self.classes_[decide(scores, self.boundary)]
        return labels

    def objective(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the perceptron criterion: the sum of -y (w.x + b) over the misclassified rows.

        It is 0 if all rows are right. With more than two classes a misclassified row adds the
        lead of the best rival over the true class.

        X (n, d) are the rows, y (n,) their labels.
        """
        scores = self.decision_function(X)
        seen, codes = np.unique(np.asarray(y), return_inverse=True)
        margins = margins_of(scores, checks.known_classes(seen, self.classes_)[codes])
        weight = np.ones(len(margins)) if sample_weight is None else np.asarray(sample_weight)
        return float(weight @ losses.perceptron(margins))

    def trace_view(self) -> dict[str, Any]:
        """Return how scores decide, for traces that keep scores."""
        kind = type(self)
        if not (
            kind.predict is MistakeDriven.predict and kind.objective is MistakeDriven.objective
        ):
            return {}
        return {
            "ties": self.boundary,
            "decide": lambda scores: decide(scores, self.boundary),
            "margins": margins_of,
        }

    def _check_X(self, X: Any, first: bool) -> Any:
        """Return X (n, d) as the loops read it; `first` if there are no earlier columns."""
        # Finiteness is not checked here: another read of X costs as much as a pass. The pass
        # stops at the first row that is not finite; rows it does not visit are checked apart.
        return checks.rows(self, X, reset=first, order="C", finite=False)

    def _always_zero(self, X: Any) -> NDArray[np.bool_]:
        """Return for each row (n,) whether it scores 0 for all weights, without an intercept."""
        empty = np.empty(X.shape[0], np.bool_)
        mistake_driven_loops.find_empty(arrays(X), empty)
        return empty


def decide(scores: NDArray[Any], boundary: str) -> NDArray[np.intp]:
    """Return the predicted class (n,) by scores (n,), (n, 1) or (n, K).

    Of equal scores the highest class wins with ``boundary="positive"``, else the lowest.
    """
    if scores.ndim == 1 or scores.shape[1] == 1:
        scores = scores.reshape(-1)
        return (scores >= 0 if boundary == "positive" else scores > 0).astype(np.intp)
    if boundary == "positive":
        return np.asarray(scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1))
    return np.asarray(scores.argmax(axis=1))


def margins_of(scores: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """Return the margin (n,) of each row: y f(x), or the lead over the best rival."""
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores)
    everyone, rivals = np.arange(len(scores)), scores.copy()
    rivals[everyone, codes] = -np.inf
    margins: NDArray[Any] = scores[everyone, codes] - rivals.max(axis=1)
    return margins


@dataclass(frozen=True)
class Examples:
    """Validated training rows, and the length of the step that corrects a mistake on each."""

    X: Any  # (n, d), C-ordered or CSR
    classes: NDArray[Any]  # (K,) sorted labels
    codes: NDArray[np.int32]  # (n,) class of each row as an integer
    step: NDArray[Any]  # (n,) eta0 times the weights of the row and of its class
    rows: NDArray[np.int32]  # the rows to visit
    ties: int  # a value of TIES
    bias: int  # change of the intercept by a step of 1: 1, or 0 without an intercept
    n_unlearnable: int  # rows that all weights misclassify; they are not visited
    unlearnable_weight: float  # the sum of their steps
    held_out: NDArray[np.int32] | None = None  # rows for early stopping

    @property
    def n_outputs(self) -> int:
        """Number of rows of `coef_`: 1 for two classes, else one for each class."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    @property
    def cells(self) -> int:
        """Number of products in the scores of all rows."""
        return int(self.X.nnz if sp.issparse(self.X) else self.X.size) * self.n_outputs


def check_examples(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    rng: np.random.RandomState | None = None,
    classes: Any = None,
) -> Examples:
    """Validate the parameters and the input of `fit`, or with `classes` of `partial_fit`.

    `rng` draws the rows that early stopping holds out.
    """
    model._validate_params()
    if model.pick != "cyclic" and model.penalty is not None:
        raise ValueError(
            f"pick={model.pick!r} corrects one example at a time and takes no penalty; got "
            f'penalty={model.penalty!r}. Use pick="cyclic" or penalty=None.'
        )
    X = model._check_X(X, first=classes is None or not hasattr(model, "classes_"))
    if classes is None:
        classes, codes = checks.classes(y, X.shape[0])
    else:
        seen, codes = checks.labels(y, X.shape[0])
        codes = checks.known_classes(seen, classes)[codes]
    step = _steps(model, X.dtype, classes, codes, sample_weight)
    rows, unlearnable = _rows_to_visit(model, X, step, codes, len(classes))
    examples = Examples(
        X=X,
        classes=classes,
        codes=codes.astype(np.int32),
        step=step,
        rows=rows,
        ties=TIES[model.boundary],
        bias=int(model.fit_intercept),
        n_unlearnable=int(np.count_nonzero(unlearnable)),
        unlearnable_weight=float(step[unlearnable].sum(dtype=np.float64)),
    )
    if rng is None or not model.early_stopping:
        return examples
    split = StratifiedShuffleSplit(1, test_size=model.validation_fraction, random_state=rng)
    train, held_out = next(split.split(rows, examples.codes[rows]))
    _check_finite(X, rows[held_out], type(model).__name__)
    return replace(examples, rows=rows[train], held_out=rows[held_out])


def _steps(
    model: Any, dtype: Any, classes: NDArray[Any], codes: NDArray[np.intp], sample_weight: Any
) -> NDArray[Any]:
    """Return eta0 times class weight times sample weight for each row (n,)."""
    n = len(codes)
    if model.class_weight is None and sample_weight is None:
        return np.broadcast_to(dtype.type(model.eta0), n)
    weight: NDArray[Any] = np.ones(n, dtype)
    if sample_weight is not None:
        weight = checks.weights(sample_weight, n, dtype=dtype)
    by_class = class_weights(model.class_weight, classes, codes[weight > 0])
    return np.asarray((model.eta0 * by_class).astype(dtype)[codes] * weight)


def class_weights(class_weight: Any, classes: NDArray[Any], codes: NDArray[np.intp]) -> Any:
    """Return the weight (K,) of each class; "balanced" by the numbers of its rows in codes (m,)."""
    if isinstance(class_weight, str):
        counts = np.bincount(codes, minlength=len(classes))
        found = counts.sum() / (len(classes) * np.maximum(counts, 1.0))
    else:
        found = compute_class_weight(class_weight, classes=classes, y=classes)
    if not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError(f"class_weight must give finite weights >= 0; got {class_weight!r}.")
    return found


def _rows_to_visit(
    model: Any, X: Any, step: NDArray[Any], codes: NDArray[np.intp], n_classes: int
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the rows to visit, and for each row (n,) whether all weights misclassify it."""
    visited, unlearnable = step > 0, np.zeros(len(codes), np.bool_)
    if not visited.any():
        raise ValueError(
            f"No row has a positive step: eta0={model.eta0}, sample_weight and class_weight "
            f"multiply to 0 in {X.dtype}. Give some rows a weight, or use larger numbers."
        )
    if not model.fit_intercept:
        unlearnable = model._always_zero(X) & visited
        if model.boundary != "mistake":  # then a score of 0 is right for one class
            unlearnable &= codes != (n_classes - 1 if model.boundary == "positive" else 0)
        visited &= ~unlearnable
    if visited.all():
        return np.arange(len(codes), dtype=np.int32), unlearnable
    _check_finite(X, np.flatnonzero(~visited), type(model).__name__)
    return np.flatnonzero(visited).astype(np.int32), unlearnable


def _check_finite(X: Any, rows: NDArray[Any], name: str) -> None:
    """Raise if rows hold NaN or infinity, a block at a time: a copy of all would be large."""
    for start in range(0, len(rows), ROWS_PER_BLOCK):
        block = X[rows[start : start + ROWS_PER_BLOCK]]
        checks.finite(block, estimator_name=name)


class Training:
    """The epochs of a fit: order of the visits, counts, stopping rules, fitted attributes.

    Iterate over it to get the rows to visit, and pass the result of each visit to `count`.

    The weights have the counts `n_updates` and `n_visits`; `drifts`, True if their attributes also
    change at visits without a mistake; `score` of a row at its next visit and `all_scores`;
    `published_scores` by their fitted `attributes`; and `state`, the arrays that determine the rest
    of a run in fixed order.
    """

    def __init__(
        self,
        model: Any,
        weights: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        rng: np.random.RandomState,
        max_iter: int | None = None,
    ) -> None:
        self.model, self.weights, self.examples = model, weights, weights.examples
        if max_iter is None and (model.pick == "cyclic" or model.max_updates is None):
            max_iter = int(model.max_iter)  # else `max_updates` limits the corrections
        self.passes = Passes(model, X, y, sample_weight, max_iter)
        self.passes.attributes = self._attributes
        self.rng, self.seed = rng, int(rng.randint(np.iinfo(np.int32).max))
        self.order = self.examples.rows.copy()
        self.last_update = weights.n_updates + (model.max_updates or UNLIMITED)
        self.mistakes, self.loss = 0, 0.0  # of this epoch; the loss is the sum of -y f(x)
        self.is_complete = True  # False if `max_updates` ended this epoch
        self.patience = Patience(model.tol, model.n_iter_no_change)
        self.cycle = CycleDetector()
        self.held_out = None
        if self.examples.held_out is not None:
            self.held_out = HeldOutScore(self.examples, sample_weight, model.boundary)

    @property
    def updates_left(self) -> int:
        """Number of corrections before `max_updates` is reached."""
        return int(self.last_update - self.weights.n_updates)

    @property
    def loss_per_row(self) -> float:
        """Loss of this epoch divided by its number of rows."""
        return self.loss / max(len(self.order), 1)

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        """Yield the rows of each epoch in pieces, until the fit stops."""
        for n_iter in self.passes:
            self.mistakes, self.loss, self.is_complete = 0, 0.0, True
            yield from self._in_order(n_iter) if self.model.pick == "cyclic" else self._picked()
            if self.model.verbose:
                print(
                    f"pass {n_iter}: {self.mistakes} mistakes, loss per row {self.loss_per_row:.6g}"
                )
            if reason := self._stop_reason():
                self.passes.stop(reason)

    def count(self, rows: NDArray[np.int32], visited: tuple[int, float, int]) -> None:
        """Add (mistakes, loss, visits) of the rows yielded last; raise if a row is not finite."""
        mistakes, loss, visits = visited
        self.weights.n_updates += mistakes
        self.mistakes += mistakes
        if self.model.pick == "cyclic":  # else `_picked` has counted all rows
            self.loss += loss
            self.weights.n_visits += visits
        if visits < len(rows):
            self.is_complete = False
            self._raise_if_not_finite(rows[visits])

    def _in_order(self, n_iter: int) -> Iterator[NDArray[np.int32]]:
        """Yield the rows of an epoch in order, shuffled or not; single rows for recorders."""
        if self.model.shuffle:
            random.shuffle(self.order, self.seed + (n_iter << 32))
        order = read_only(self.order)
        if self.passes.recorders:
            yield from self._recorded(order)
        else:
            n_rows = max(
                1, CELLS_PER_CALL * len(self.examples.codes) // max(self.examples.cells, 1)
            )
            for start in range(0, len(order), n_rows):
                yield order[start : start + n_rows]
                if not self.is_complete:
                    break
        if n_iter == 1 and not self.is_complete:  # rows that were not reached
            _check_finite(self.examples.X, order, type(self.model).__name__)

    def _recorded(self, order: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
        """Yield single rows, and report each visit to the recorders."""
        for t, row in enumerate(order.tolist()):
            score, before = self.weights.score(row), self.mistakes
            yield order[t : t + 1]
            if not self.is_complete:
                return
            mistake = self.mistakes > before
            self.passes.record_visit(row, score, mistake, mistake or self.weights.drifts)

    def _picked(self) -> Iterator[NDArray[np.int32]]:
        """Score all rows and yield one mistake, if there is one and a correction is left."""
        examples, scores = self.examples, self.weights.all_scores()
        self.weights.n_visits += len(self.order)
        if not np.isfinite(scores).all():
            finite = np.isfinite(scores).reshape(len(scores), -1).all(axis=1)
            self._raise_if_not_finite(int(np.argmin(finite)))
        margins = margins_of(scores, examples.codes)[self.order]
        wrong = margins <= 0
        if self.model.boundary != "mistake":  # a tie is a mistake of one class only
            wrong = (decide(scores, self.model.boundary) != examples.codes)[self.order]
        self.loss = float(-margins[wrong].sum(dtype=np.float64))
        if not wrong.any():
            return
        if not self.updates_left:
            self.is_complete = False
            return
        if self.model.pick == "first":
            place = int(np.argmax(wrong))
        elif self.model.pick == "random":
            place = int(self.rng.choice(np.flatnonzero(wrong)))
        else:
            place = int(np.argmin(np.where(wrong, margins, np.inf)))
        yield read_only(self.order[place : place + 1])
        row = int(self.order[place])
        self.passes.record_visit(row, scores[row], mistake=True, changed=True)

    def _raise_if_not_finite(self, row: int) -> None:
        """Raise if a row, or its score, is not finite."""
        X = self.examples.X
        checks.finite(X[[row]], estimator_name=type(self.model).__name__)
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(self.weights.score(row)).all():
                raise ValueError(
                    f"The score of row {row} of X overflowed: the numbers are too large for "
                    f"{X.dtype}. Standardise X, for example with StandardScaler."
                )

    def _stop_reason(self) -> StopReason | None:
        """Return why to stop after this epoch, or None to go on."""
        model, no_progress = self.model, False
        if self.held_out is not None:
            no_progress = self.patience.runs_out(-self.held_out.add(self.weights))
        elif model.pick == "cyclic":  # the loss before a single correction is not a measure
            no_progress = self.patience.runs_out(self.loss_per_row)
        if not self.is_complete:
            return "max_iter"
        # A penalty changes the weights even in an epoch without mistakes, which proves nothing.
        if self.mistakes == 0 and model.penalty is None:
            return "no_progress" if self.examples.n_unlearnable else "converged"
        fixed = not model.shuffle if model.pick == "cyclic" else model.pick in ("first", "worst")
        if fixed and model.penalty is None and self.cycle.closes(self.weights.state()):
            return "no_progress"
        if no_progress:
            return "no_progress" if self.held_out is None else "early_stopping"
        return None

    def _attributes(self) -> Attributes:
        """Return the fitted attributes during the fit, for callbacks."""
        return {
            **self.weights.attributes(),
            "t_": 1.0 + self.weights.n_visits,
            "classes_": self.examples.classes,
            "n_iter_": self.passes.n_iter,
            "converged_": False,
            "stop_reason_": "callback",
        }

    def set_attributes(self, stop_reason: StopReason | None = None) -> None:
        """Set the fitted attributes of the model."""
        model, examples, held_out = self.model, self.examples, self.held_out
        stop_reason = stop_reason or self.passes.stop_reason
        if held_out is None:
            attributes = self.weights.attributes(copy=False)
        else:
            attributes = held_out.best_attributes
            if held_out.scores[-1] < max(held_out.scores):
                stop_reason = "early_stopping"
        values = (value for value in attributes.values() if isinstance(value, np.ndarray))
        if not all(np.isfinite(array).all() for array in values):
            raise ValueError(
                f"The weights overflowed: X, eta0 or the weights are too large for "
                f"{examples.X.dtype}. Standardise X, for example with StandardScaler."
            )
        model.t_ = 1.0 + self.weights.n_visits
        for name, value in attributes.items():
            setattr(model, name, value)
        model.classes_ = examples.classes
        model.n_iter_ = self.passes.n_iter
        model.converged_ = stop_reason == "converged"
        model.stop_reason_ = stop_reason
        model.validation_scores_ = None if held_out is None else held_out.scores
        steps = examples.step[examples.rows] if len(examples.rows) else examples.step
        model.step_range_ = (float(steps.min()), float(steps.max()))
        model.cycle_ = self.cycle.length

    def warn_if_not_converged(self, check: str = "separability(X, y)") -> None:
        """Warn if the fit ended with mistakes that it was asked to correct.

        `check` is the call that finds out whether an epoch without mistakes is possible.
        """
        model, empty = self.model, self.examples.n_unlearnable
        no_progress = model.stop_reason_ == "no_progress"
        # With a penalty the loss is only required to stop falling.
        if not (no_progress and model.penalty is None) and model.stop_reason_ != "max_iter":
            return
        if empty and self.mistakes == 0:
            warn_not_converged(
                f"{_count(empty, 'row')} of X {'is' if empty == 1 else 'are'} all zero and "
                "fit_intercept=False: no weights can be right on them. Use fit_intercept=True, or "
                "leave the empty rows out."
            )
            return
        left = f"{_count(self.mistakes, 'mistake')} in its last pass"
        if model.cycle_:
            other = "shuffle=True" if model.pick == "cyclic" else 'pick="random"'
            reason = (
                f"its weights repeat every {_count(model.cycle_, 'pass', 'es')}, so this fixed "
                f"order goes round for ever. Use {other} to keep moving"
            )
        elif no_progress:
            reason = (
                f"its loss per row, {self.patience.best:.3g} at best, has not fallen by "
                f"tol={model.tol} for {_count(self.patience.waited, 'pass', 'es')}. Use tol=None "
                "to go on"
            )
        else:
            limit = "max_iter"
            if model.max_updates is not None and model.n_updates_ >= model.max_updates:
                limit, left = "max_updates", "mistakes left"
            reason = f"{limit}={getattr(model, limit)} is reached. Raise it to go on"
        warn_not_converged(
            f"{type(model).__name__} stopped with {left}: {reason}; {check} tells whether a pass "
            "without mistakes is possible."
        )


def _count(n: int, noun: str, plural: str = "s") -> str:
    """Return a number with its noun."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}{plural}"


class Patience:
    """Counts the epochs that do not improve the best loss by more than `tol`."""

    def __init__(self, tol: float | None, n_iter_no_change: int) -> None:
        self.tol, self.n_iter_no_change = tol, n_iter_no_change
        self.best, self.waited = np.inf, 0

    def runs_out(self, loss: float) -> bool:
        """Add an epoch; return whether there were `n_iter_no_change` in a row."""
        if self.tol is not None:
            self.waited = self.waited + 1 if loss > self.best - self.tol else 0
        self.best = min(self.best, loss)
        return self.waited >= self.n_iter_no_change


class CycleDetector:
    """Detects that the weights of a fit in fixed order repeat, so that it would never end.

    Brent's method: one stored state, replaced after 1, 2, 4, 8, ... epochs. It finds a cycle
    within a few times its length, for one comparison per epoch.
    """

    def __init__(self) -> None:
        self.stored: tuple[NDArray[Any], ...] = ()
        self.since, self.until = 0, 1
        self.length = 0  # epochs from a state to its return

    def closes(self, now: tuple[NDArray[Any], ...]) -> bool:
        """Add the weights after one more epoch."""
        self.since += 1
        if self.stored and all(map(np.array_equal, now, self.stored)):
            self.length = self.since
        if self.since == self.until or not self.stored:
            self.stored = tuple(array.copy() for array in now)
            self.since, self.until = 0, 2 * self.until
        return self.length > 0


class HeldOutScore:
    """Accuracy on the rows held out by `early_stopping`, and the best attributes by it."""

    def __init__(self, examples: Examples, sample_weight: Any, boundary: str) -> None:
        self.rows, self.boundary = examples.held_out, boundary
        self.codes = examples.codes[self.rows]
        weight = None if sample_weight is None else np.asarray(sample_weight)
        self.weight = weight[self.rows] if weight is not None and weight.ndim else None
        self.scores: list[float] = []
        self.best_attributes: Attributes = {}

    def add(self, weights: Any) -> float:
        """Add one epoch; return its accuracy."""
        correct = decide(weights.published_scores(self.rows), self.boundary) == self.codes
        accuracy = float(np.average(correct, weights=self.weight))
        # Of equal epochs the later is kept: it made more visits.
        if accuracy >= max(self.scores, default=0.0):
            self.best_attributes = weights.attributes()
        self.scores.append(accuracy)
        return accuracy
