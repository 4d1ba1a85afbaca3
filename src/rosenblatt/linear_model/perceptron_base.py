"""What the linear perceptrons share: the weights, where a fit begins, streams of batches.

Two classes have one `Plane`; more classes have `Columns`, one for each.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from rosenblatt import checks
from rosenblatt.base import Attributes, LinearClassifier, Passes, arrays, fitting, read_only
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.loops import rows as rows_loops
from rosenblatt.mistake_driven.classifier import MistakeDriven
from rosenblatt.mistake_driven.examples import Examples, check_classes, check_examples
from rosenblatt.mistake_driven.scores_loops import best_rival
from rosenblatt.mistake_driven.stopping import Stopping, hold_out
from rosenblatt.mistake_driven.visits import Visits, most_passes
from rosenblatt.runtime import threads

from . import perceptron_loops

# The factor and the amount by which a penalty shrinks each weight at every visit.
Shrinkage = tuple[float, float]


class LinearWeights:
    """Weights of linear scores: w (d,), or (d, K) so that those of a feature are neighbours."""

    drifts = False
    n_updates = 0
    n_visits = 0
    _scored: tuple[Any, Any] = (None, None)

    def __init__(
        self,
        examples: Examples,
        coef: NDArray[Any],
        intercept: NDArray[Any],
        shrinkage: Shrinkage | None = None,
    ) -> None:
        self.examples, self.X = examples, arrays(examples.X)
        self.w, self.b = as_columns(coef), intercept.copy()
        self.bias = self.b.dtype.type(examples.bias)
        self.shrinkage = shrinkage
        if shrinkage is not None:
            self.drifts = True
            self.scale, self.paid = np.array([1.0, 0.0]), np.zeros(self.w.shape)

    def running(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The weights (1, d) or (K, d) and biases for the next visit."""
        W = np.atleast_2d(self.w.T)
        return (W if self.shrinkage is None else (W * self.scale[0]).astype(W.dtype)), self.b

    def resume(
        self, n_updates: int, n_visits: int, coef: NDArray[Any], intercept: NDArray[Any]
    ) -> None:
        """Continue the counts of earlier batches, which published coef and intercept."""
        self.n_updates, self.n_visits = n_updates, n_visits

    def score(self, row: int) -> Any:
        coef, intercept = self.running()
        scores = np.ravel(self.examples.X[[row]] @ coef.T + intercept)
        return scores[0] if len(scores) == 1 else scores

    def fill(self, scores: NDArray[Any], look: Any, w: NDArray[Any]) -> NDArray[Any]:
        """Fill the scores of all rows by a loop, in chunks."""

        def work(start: int, stop: int) -> None:
            look(self.X, start, stop, w, self.b, scores)

        threads.over_chunks(work, len(scores), self.examples.cells)
        return scores

    def state(self) -> tuple[NDArray[Any], ...]:
        return self.running()

    def published_scores(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        if self._scored[0] is not rows:  # the same rows are scored after every pass
            self._scored = (rows, self.examples.X[rows])
        now = self.attributes()
        return np.asarray(self._scored[1] @ now["coef_"].T + now["intercept_"])

    def attributes(self, copy: bool = True) -> Attributes:
        coef, b = self.running()
        if copy:
            coef, b = coef.copy(), b.copy()
        return {"coef_": coef, "intercept_": b, "n_updates_": self.n_updates}


class Plane(LinearWeights):
    """Two classes: a mistake, ``y (w.x + b) <= 0``, adds y x to w and y to b."""

    @cached_property
    def push(self) -> NDArray[Any]:
        """What a mistake on each row (n,) adds x times."""
        step = self.examples.step
        return read_only(np.where(self.examples.codes == 1, step, -step))

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        visits = (self.X, self.push, order, self.examples.ties, most, self.bias)
        if self.shrinkage is None:
            return perceptron_loops.perceptron_pass(*visits, self.w, self.b)  # type: ignore[no-any-return]
        return perceptron_loops.shrinking_pass(  # type: ignore[no-any-return]
            *visits, self.shrinkage, self.w, self.b, self.scale, self.paid
        )

    def look(self) -> NDArray[Any]:
        return self.fill(np.empty(len(self.push), self.w.dtype), perceptron_loops.look, self.w)

    def correct(self, row: int, scores: NDArray[Any]) -> None:
        rows_loops.add(self.X, row, self.push[row], self.w)
        self.b += self.bias * self.push[row]


class Columns(LinearWeights):
    """K classes: a mistake adds x to the true class and takes it from the best rival."""

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """The class (n,) of each row."""
        return read_only(self.examples.codes)

    @cached_property
    def step(self) -> NDArray[Any]:
        """The step (n,) of a mistake on each row."""
        return read_only(self.examples.step)

    @cached_property
    def scores(self) -> NDArray[Any]:
        """Room for the scores (K,) of a row."""
        return np.empty_like(self.b)

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        visits = (self.X, self.codes, self.step, order, self.examples.ties, most, self.bias)
        if self.shrinkage is None:
            return perceptron_loops.multiclass_pass(*visits, self.w, self.b, self.scores)  # type: ignore[no-any-return]
        return perceptron_loops.shrinking_multiclass_pass(  # type: ignore[no-any-return]
            *visits, self.shrinkage, self.w, self.b, self.scores, self.scale, self.paid
        )

    def look(self) -> NDArray[Any]:
        scores = np.empty((len(self.codes), len(self.b)), self.w.dtype)
        return self.fill(scores, perceptron_loops.look_multiclass, self.w)

    def correct(self, row: int, scores: NDArray[Any]) -> None:
        true, step = self.codes[row], self.step[row]
        rival = best_rival(scores[row], true, self.examples.ties)
        rows_loops.move(self.X, row, step, self.w, rival, true)
        self.b[true] += self.bias * step
        self.b[rival] -= self.bias * step


class LinearPerceptron(LinearClassifier, MistakeDriven):
    """A mistake-driven learner of linear scores, of the weights that `_weights` returns."""

    warm_start: bool
    coef_init_: NDArray[Any] | None
    intercept_init_: NDArray[Any] | None
    _published: ClassVar[str | None] = None  # in place of the last weights, which then stand beside

    @fitting
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Update the model by one pass over a batch of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like of shape (K,) or None
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n,) or None
            Multiplies the step of each row; rows of weight 0 are not visited.
        """
        self._check_parameters()
        self._refuse_what_needs_all_rows()
        first = not hasattr(self, "coef_")
        examples = check_examples(self, X, y, sample_weight, classes=check_classes(self, classes))
        start = (None, None) if first else self._last_weights()
        weights = self._weights(examples, *check_start(examples, *start))
        before = getattr(self, "step_range_", (np.inf, 0.0))
        if first:
            self.coef_init_ = self.intercept_init_ = None
        else:
            mean_or_best = self.densify().coef_, self.intercept_
            weights.resume(self.n_updates_, int(self.t_) - 1, *mean_or_best)
        passes = Passes(self, X, y, sample_weight, max_iter=1)
        visits = Visits(self, weights, passes, check_random_state(self.random_state))
        for n_iter in passes:
            for rows in visits.in_order(n_iter):
                visits.count(rows, weights.visit(rows, visits.updates_left))
        # A pass over one batch proves nothing about the others.
        Stopping(self, visits).publish(self, 1, "max_iter")
        low, high = self.step_range_
        self.step_range_ = (min(low, before[0]), max(high, before[1]))
        return self

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: the weights, and those of the run."""
        view = super().trace_view()
        if self._published is not None:
            view |= {"last_weights": self.last_coef_, "last_intercept": self.last_intercept_}
            view["published"] = self._published
        return view

    def path_parameters(self) -> tuple[str, ...]:
        """Return ``("max_iter",)`` where a fit of fewer passes is the beginning of a longer one."""
        repeats = isinstance(self.random_state, int) and not self.warm_start
        plain = self.pick == "cyclic" and not self.early_stopping and not self.verbose
        ours = type(self).__module__.startswith("rosenblatt.")  # others may learn otherwise
        return ("max_iter",) if repeats and plain and ours else ()

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> ModelPath:
        """Fit with several numbers of passes, in one run.

        Data, parameter and path are those of `capabilities.PathModel`; numbers of passes are > 0.
        """
        values = checks.path_values(self, parameter, values)
        models = [clone(self).set_params(max_iter=n) for n in values]
        *others, longest = sorted(models, key=lambda model: model.max_iter)
        X, y, sample_weight = rows_of(data)
        kept = AfterPasses(other.max_iter for other in others)
        given = getattr(longest, "_skl_callbacks", [])
        longest.set_callbacks(*given, kept).fit(X, y, sample_weight=sample_weight)
        longest.set_callbacks(*given)
        for other in others:
            found = _fitted(longest)
            # A run that ended sooner is the same for all.
            if other.max_iter < longest.n_iter_:
                found |= kept.attributes[other.max_iter]
                found |= {"converged_": False, "stop_reason_": "max_iter", "cycle_": 0}
            vars(other).update(deepcopy(found))
        return ModelPath(models)

    def _check_parameters(self) -> None:
        """Raise if a parameter is out of range."""
        self._validate_params()

    def _refuse_what_needs_all_rows(self) -> None:
        """Raise if a parameter has no meaning for a single pass over a batch."""
        for name, value in (
            ("early_stopping", self.early_stopping and True),
            ("class_weight", self.class_weight == "balanced" and "balanced"),
            ("pick", self.pick != "cyclic" and self.pick),
        ):
            if value:
                raise ValueError(
                    f"partial_fit sees one batch, once; {name} should not be {value!r} with it."
                )

    def _begin(
        self, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any
    ) -> tuple[Plane | Columns, Passes, Visits, Stopping]:
        """The weights where a fit begins, its passes, its visits and when it stops."""
        self._check_parameters()
        examples = check_examples(self, X, y, sample_weight)
        start = self._start(examples, coef_init, intercept_init)
        rng = check_random_state(self.random_state)
        examples, held_out = hold_out(self, examples, sample_weight, rng)
        weights = self._weights(examples, *start)
        passes = Passes(self, X, y, sample_weight, most_passes(self))
        visits = Visits(self, weights, passes, rng)
        return weights, passes, visits, Stopping(self, visits, held_out)

    def _start(
        self, examples: Examples, coef_init: Any, intercept_init: Any
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Set where a fit begins: as given, or the last ended if `warm_start`, or at 0."""
        if self.warm_start and hasattr(self, "coef_"):
            coef, intercept = self._last_weights()
            coef_init = coef if coef_init is None else coef_init
            intercept_init = intercept if intercept_init is None else intercept_init
        start = check_start(examples, coef_init, intercept_init)
        zero = not any(part.any() for part in start)
        self.coef_init_, self.intercept_init_ = (None, None) if zero else start
        return start

    def _last_weights(self) -> tuple[Any, NDArray[Any]]:
        """Where the last run ended, if its mean or its best is published: not `coef_`."""
        if hasattr(self, "last_coef_"):
            return self.last_coef_, self.last_intercept_
        return self.densify().coef_, self.intercept_

    @abstractmethod
    def _weights(
        self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]
    ) -> Plane | Columns:
        """The weights to learn, of the kind that the classes and the parameters need."""


class AfterPasses:
    """A callback of scikit-learn's protocol that keeps what a fit has learned after some passes."""

    def __init__(self, wanted: Iterable[int]) -> None:
        self.wanted = set(wanted)
        self.attributes: dict[int, Attributes] = {}  # by the number of passes

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to give back."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing is kept of a pass before its end."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> None:
        """Keep the model, if this is the end of a wanted pass."""
        if fitted_estimator.n_iter_ in self.wanted:
            self.attributes[fitted_estimator.n_iter_] = _fitted(fitted_estimator)


def as_columns(coef: NDArray[Any]) -> NDArray[Any]:
    """Rows of weights coef (1, d) or (K, d) as the loops store them: w (d,) or W (d, K)."""
    return coef[0].copy() if len(coef) == 1 else np.array(coef.T, order="C")


def check_start(
    examples: Examples, coef_init: Any, intercept_init: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first weights (1, d) or (K, d) and biases (1,) or (K,); zeros in place of None."""
    n_outputs, dtype = examples.n_outputs, examples.X.dtype
    shape = (n_outputs, examples.X.shape[1])
    coef, intercept = np.zeros(shape, dtype), np.zeros(n_outputs, dtype)
    for name, given, start in (
        ("coef_init", coef_init, coef),
        ("intercept_init", intercept_init, intercept),
    ):
        if given is None:
            continue
        values = np.asarray(given, dtype=dtype)
        if values.size != start.size or (n_outputs > 1 and values.shape != start.shape):
            raise ValueError(f"{name} must have shape {start.shape}; got {values.shape}.")
        checks.finite(values, name)
        start[...] = values.reshape(start.shape)
    return coef, intercept


def _fitted(model: Any) -> dict[str, Any]:
    """The fitted attributes."""
    return {k: v for k, v in vars(model).items() if k.endswith("_") and not k.startswith("_")}
