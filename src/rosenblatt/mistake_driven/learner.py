"""The passes that all mistake-driven learners make, and what they publish of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from rosenblatt import loops
from rosenblatt.base import FLOATS, Passes, StopReason, read_only

from .decision import TIES, BoundaryClassifier
from .examples import Examples, check_finite, find_empty
from .stopping import HeldOut, Stopping
from .visits import UNLIMITED, Pick, Weights, pick_one, visit_in_order


class MistakeDriven(BoundaryClassifier):
    """Visits examples and corrects its weights at each mistake.

    The names are those of the parameters, which the learner's constructor documents; the values
    are for learners without them.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
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
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "warm_start": ["boolean"],
        "boundary": [StrOptions(set(TIES))],
    }

    penalty: str | None = None
    pick: Pick = "cyclic"
    max_updates: int | None = None

    # Ends that are as good as a clean pass, and need no warning.
    _content: tuple[str, ...] = ()

    # Models that would be alike but for fewer passes, by how many: they are fitted on the way.
    _ends_at: Mapping[int, Any] = {}

    # What to call to find out whether a clean pass is possible.
    _who_knows = "separability(X, y)"

    n_updates_: int
    t_: float
    step_range_: tuple[float, float]
    stop_reason_: str | None

    def _run(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        examples: Examples,
        weights_for: Callable[[Examples], Weights],
    ) -> str | None:
        """Learn from checked examples; return a warning if the fit fell short."""
        rng = check_random_state(self.random_state)
        held_out = HeldOut(self, examples, sample_weight, rng) if self.early_stopping else None
        if held_out is not None:
            examples = replace(examples, rows=held_out.training_rows)
        one_at_a_time = self.pick != "cyclic" and self.max_updates is not None
        passes = Passes(self, X, y, sample_weight, None if one_at_a_time else self.max_iter)
        return self._learn(passes, examples, weights_for(examples), rng, held_out)

    def _learn(
        self,
        passes: Passes,
        examples: Examples,
        weights: Weights,
        rng: np.random.RandomState,
        held_out: HeldOut | None = None,
    ) -> str | None:
        """Make the passes and publish what came of them; return a warning if it fell short."""
        seed = int(rng.randint(np.iinfo(np.int32).max))
        order = examples.rows.copy()
        rows = read_only(order)
        assert np.shares_memory(rows, order) or not len(order)  # shuffling one shuffles the other
        stopping = Stopping(self, examples, held_out)
        last_update = weights.n_updates + (self.max_updates or UNLIMITED)
        passes.attributes = lambda: {
            **weights.attributes(),
            "classes_": examples.classes,
            "n_iter_": passes.n_iter,
            "converged_": False,
            "stop_reason_": "callback",
        }

        for n_iter in passes:
            most = last_update - weights.n_updates
            if self.pick == "cyclic":
                if self.shuffle:
                    loops.perceptron.shuffle(order, seed + (n_iter << 32))
                mistakes, loss, finished = visit_in_order(weights, examples, rows, most, passes)
                if n_iter == 1 and not finished:  # rows that were not reached
                    check_finite(examples.X, order, type(self).__name__)
            else:
                mistakes, loss, finished = pick_one(
                    weights, examples, rows, most, passes, self.pick, rng
                )
            loss_per_row = loss / max(len(order), 1)
            if self.verbose:
                print(f"pass {n_iter}: {mistakes} mistakes, loss per row {loss_per_row:.6g}")
            if reason := stopping.reason(weights, mistakes, loss_per_row, finished):
                passes.stop(reason)
            elif n_iter in self._ends_at:
                other = self._ends_at[n_iter]
                other._publish(n_iter, "max_iter", examples, weights, held_out, copy=True)
                other.cycle_ = stopping.cycle.length

        self._publish(passes.n_iter, passes.stop_reason, examples, weights, held_out)
        self.cycle_ = stopping.cycle.length
        return stopping.shortfall()

    def _publish(
        self,
        n_iter: int,
        reason: StopReason | None,
        examples: Examples,
        weights: Weights,
        held_out: HeldOut | None,
        copy: bool = False,
    ) -> None:
        """Set the fitted attributes, as copies if learning goes on."""
        rewound = held_out is not None and held_out.past_its_peak
        attributes = weights.attributes(copy) if held_out is None else held_out.peak
        arrays = (value for value in attributes.values() if isinstance(value, np.ndarray))
        if not all(np.isfinite(array).all() for array in arrays):
            raise ValueError(
                f"The weights overflowed: X, eta0 or the weights are too large for "
                f"{examples.X.dtype}. Standardise X, for example with StandardScaler."
            )
        self.t_ = 1.0 + weights.n_visits
        for name, value in attributes.items():
            setattr(self, name, value)
        self.classes_ = examples.classes
        self.n_iter_ = n_iter
        self.converged_ = reason == "converged" and not rewound
        self.stop_reason_ = "early_stopping" if rewound else reason
        self.validation_scores_ = None if held_out is None else held_out.scores
        steps = examples.step[examples.rows] if len(examples.rows) else examples.step
        self.step_range_ = (float(steps.min()), float(steps.max()))

    def _check_X(self, X: Any, first: bool) -> Any:
        """X (n, d) as the loops read it; `first` if nothing is known of its columns yet.

        That X is finite is not checked here: a pass would see it at the first visit of the row,
        and another trip through memory costs as much as the pass. Rows that are not visited are
        checked.
        """
        return validate_data(
            self, X, reset=first, accept_sparse="csr", dtype=FLOATS, order="C",
            ensure_all_finite=False,
        )  # fmt: skip

    def _always_zero(self, X: Any) -> NDArray[np.bool_]:
        """Which rows (n,) score 0 whatever is learned, without an intercept."""
        return find_empty(X)
