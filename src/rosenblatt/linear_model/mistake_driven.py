"""The passes that all mistake-driven learners make, and what they publish of them."""

from abc import abstractmethod
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import loops
from rosenblatt.base import Passes, fitting, read_only, warn_not_converged

from .decision import TIES, BoundaryClassifier
from .examples import Examples, check_classes, check_examples, check_finite, check_start
from .mistakes import UNLIMITED, Pick, Weights, pick_one, visit_in_order
from .stopping import HeldOut, Stopping


class MistakeDriven(BoundaryClassifier):
    """Visits examples and corrects its weights at each mistake; `_weights` says how.

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

    n_updates_: int
    t_: float
    step_range_: tuple[float, float]
    stop_reason_: str | None

    @fitting
    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn from X (n, d) and labels y (n,); return self.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The examples.
        y : array-like of shape (n,)
            Their labels, of two classes or more.
        coef_init : array-like of shape (1, d) or (K, d), or None
            Weights to begin from.
        intercept_init : array-like of shape (1,) or (K,), or None
            Biases to begin from.
        sample_weight : array-like of shape (n,) or None
            Multiplies the step of each row; rows of weight 0 are not visited.
        """
        self._check_parameters()
        if self.warm_start and hasattr(self, "coef_"):
            coef, intercept = self._last_weights()
            coef_init = coef if coef_init is None else coef_init
            intercept_init = intercept if intercept_init is None else intercept_init
        examples = check_examples(self, X, y, sample_weight)
        start = check_start(examples, coef_init, intercept_init)
        one_at_a_time = self.pick != "cyclic" and self.max_updates is not None
        max_iter = None if one_at_a_time else self.max_iter
        rng = check_random_state(self.random_state)
        held_out = HeldOut(self, examples, sample_weight, rng) if self.early_stopping else None
        if held_out is not None:
            examples = replace(examples, rows=held_out.training_rows)
        weights = self._weights(examples, *start)
        passes = Passes(self, X, y, sample_weight, max_iter)
        shortfall = self._learn(passes, examples, weights, rng, held_out)
        if shortfall:
            warn_not_converged(shortfall)
        zero = not (start[0].any() or start[1].any())
        self.coef_init_: Any = None if zero else start[0]
        self.intercept_init_: Any = None if zero else start[1]
        return self

    @fitting
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make one pass over a batch, going on from the weights as they are; return self.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The examples.
        y : array-like of shape (n,)
            Their labels.
        classes : array-like of shape (K,) or None
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n,) or None
            Multiplies the step of each row; rows of weight 0 are not visited.
        """
        self._check_parameters()
        for name, value in (
            ("early_stopping", self.early_stopping and True),
            ("class_weight", self.class_weight == "balanced" and "balanced"),
            ("pick", self.pick != "cyclic" and self.pick),
        ):
            if value:
                raise ValueError(
                    f"partial_fit sees one batch, once; {name} should not be {value!r} with it."
                )
        first = not hasattr(self, "coef_")
        examples = check_examples(self, X, y, sample_weight, classes=check_classes(self, classes))
        start = (None, None) if first else self._last_weights()
        weights = self._weights(examples, *check_start(examples, *start))
        before = getattr(self, "step_range_", (np.inf, 0.0))
        if first:
            self.coef_init_ = self.intercept_init_ = None
        else:
            self._resume(weights)
        passes = Passes(self, X, y, sample_weight, max_iter=1)
        self._learn(passes, examples, weights, check_random_state(self.random_state))
        # One batch, once: nothing is known of a pass over all the data.
        self.converged_, self.stop_reason_ = False, "max_iter"
        low, high = self.step_range_
        self.step_range_ = (min(low, before[0]), max(high, before[1]))
        return self

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
                    loops.order.shuffle(order, seed + (n_iter << 32))
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

        self._publish(passes, examples, weights, held_out)
        self.cycle_ = stopping.cycle.length
        return stopping.shortfall()

    def _publish(
        self, passes: Passes, examples: Examples, weights: Weights, held_out: HeldOut | None
    ) -> None:
        """Set the fitted attributes."""
        rewound = held_out is not None and held_out.past_its_peak
        attributes = weights.attributes(copy=False) if held_out is None else held_out.peak
        if not all(np.isfinite(attributes[name]).all() for name in ("coef_", "intercept_")):
            raise ValueError(
                f"The weights overflowed: X, eta0 or the weights are too large for "
                f"{examples.X.dtype}. Standardise X, for example with StandardScaler."
            )
        for name, value in attributes.items():
            setattr(self, name, value)
        self.classes_ = examples.classes
        self.n_iter_ = passes.n_iter
        self.t_ = 1.0 + weights.n_visits
        self.converged_ = passes.stop_reason == "converged" and not rewound
        self.stop_reason_ = "early_stopping" if rewound else passes.stop_reason
        self.validation_scores_ = None if held_out is None else held_out.scores
        steps = examples.step[examples.rows] if len(examples.rows) else examples.step
        self.step_range_ = (float(steps.min()), float(steps.max()))

    def _last_weights(self) -> tuple[Any, NDArray[Any]]:
        """Where the last fit left its weights, for the next to go on from."""
        return self.densify().coef_, self.intercept_

    def _resume(self, weights: Weights) -> None:
        """Give weights that go on from the last batch whatever else they need to know of it."""
        weights.n_updates, weights.n_visits = self.n_updates_, int(self.t_) - 1

    def _check_parameters(self) -> None:
        self._validate_params()

    @abstractmethod
    def _weights(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> Weights:
        """The weights to learn, of the kind that the classes and the parameters ask for."""
