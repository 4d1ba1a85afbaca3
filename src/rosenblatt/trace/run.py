"""What a trace keeps of one fit: its steps, and the data they were made on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rosenblatt.capabilities import trace_view

from .plot_columns import Data, Ground, chosen_ground

if TYPE_CHECKING:
    from .frame import Measures, Ruler


class RunKey(NamedTuple):
    """Where a run stands: the number of its fit in the trace, and its path in the task tree."""

    fit: int
    path: tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One recorded moment of a fit.

    Attributes
    ----------
    run : name of the fit it belongs to, as listed in ``trace.runs``.
    step : its number; step 0 is the start, before anything was learnt.
    epoch : the pass it belongs to, from 1; 0 for the start.
    estimator : the model as it was after this step; None where the model does not tell.
    row : the example visited, as an index into the training data (single visits only).
    score : what the model gave that example before the visit: a number, or one per class.
    mistake : whether the visit changed the model.
    n_updates : mistakes corrected so far; None for models that do not count them.

    Examples
    --------
    >>> from rosenblatt import Perceptron, Trace
    >>> trace = Trace()
    >>> model = Perceptron().set_callbacks(trace).fit([[-1.0], [1.0]], [0, 1])
    >>> trace[1].epoch, trace[1].estimator.coef_.tolist()
    (1, [[2.0]])
    """

    run: str
    step: int
    epoch: int
    estimator: Any
    row: int | None = None
    score: float | np.ndarray | None = None
    mistake: bool | None = None
    n_updates: int | None = None


@dataclass
class Run:
    """The steps of one fit, with what they measure on its data, worked out when asked."""

    key: RunKey
    label: str
    name: str
    data: Data
    steps: list[Step] = field(default_factory=list)
    n_visits: int = 0
    origin: Ground | None = None  # of the rows, where a pipeline made them
    kept: bool = True  # False for a start whose end another one beat
    _measures: dict[int, Measures] = field(default_factory=dict, repr=False)
    _ruler: Ruler | None = field(default=None, repr=False)

    def start(self, estimator: Any) -> None:
        """Keep the model as it was before the first step."""
        self.steps.append(Step(self.label, 0, 0, estimator, n_updates=_n_updates(estimator)))

    def add_pass(self, epoch: int, estimator: Any) -> None:
        """Keep the model after one more pass."""
        if not self.steps:
            self.start(None)
        n_updates = _n_updates(estimator)
        step = Step(self.label, len(self.steps), epoch, estimator, n_updates=n_updates)
        self.steps.append(step)

    def add_visit(
        self, epoch: int, estimator: Any, row: int, score: float | np.ndarray, mistake: bool
    ) -> None:
        """Keep the model after one more visit, and count its mistake here, where it happens."""
        if not self.steps:
            self.start(None)
        n_updates = (self.steps[-1].n_updates or 0) + mistake
        self.steps.append(
            Step(self.label, len(self.steps), epoch, estimator, row, score, mistake, n_updates)
        )

    def mistakes(self, step: Step) -> int | None:
        """The mistakes corrected in `step` itself; None for the start, and for who counts none."""
        if step.step == 0 or step.n_updates is None:
            return None
        return step.n_updates - (self.steps[step.step - 1].n_updates or 0)

    def measures(self, step: Step) -> Measures:
        """Objective and error after `step`; steps that share a model share them."""
        key = id(step.estimator)  # the run keeps the model alive, so its id stays its own
        if key not in self._measures:
            self._measures[key] = self.ruler.measure(step.estimator)
        return self._measures[key]

    @property
    def ruler(self) -> Ruler:
        """What measures models on the data of this run."""
        from .frame import Ruler  # here: it brings the models, and Numba

        if self._ruler is None or self._ruler.data is not self.data:
            self._ruler = Ruler(self.data)
        return self._ruler

    @property
    def ground(self) -> Ground:
        """The columns that it is drawn in."""
        return chosen_ground(self.data, self.origin, self.last)

    @property
    def last(self) -> Any:
        """The model as the run left it."""
        return self.steps[-1].estimator

    @property
    def single(self) -> bool:
        """Whether the steps are single visits rather than passes."""
        return self.steps[-1].row is not None

    def unit(self, every: str) -> str:
        """What a step is: as asked for, or what the model calls it; a pass if it has no name."""
        if every != "pass" and self.n_visits:
            return every
        return str(trace_view(self.last).get("unit", "pass"))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_measures": {}, "_ruler": None}  # ids mean nothing elsewhere


def _n_updates(estimator: Any) -> int | None:
    """The mistakes a model says it has corrected."""
    count = getattr(estimator, "n_updates_", None)
    return None if count is None else int(count)


# Choosing some of many: steps in even strides, points at random with a fixed seed.


def strided(n: int, most: int) -> list[int]:
    """At most `most` of the numbers below n, evenly spread, the first and the last among them."""
    if n <= most:
        return list(range(n))
    return [int(i) for i in np.linspace(0, n - 1, most).round()]


def sampled(n: int, most: int) -> list[int]:
    """At most `most` of the numbers below n, drawn once and for all, in order."""
    if n <= most:
        return list(range(n))
    return sorted(int(i) for i in np.random.default_rng(0).choice(n, most, replace=False))
