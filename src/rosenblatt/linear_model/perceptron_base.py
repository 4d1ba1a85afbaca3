"""What the linear perceptrons share: fits that begin from given weights, and streams of batches."""

from abc import abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from rosenblatt.base import LinearClassifier, Passes, fitting, warn_not_converged
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.mistake_driven.examples import Examples, check_classes, check_examples, check_start
from rosenblatt.mistake_driven.learner import MistakeDriven
from rosenblatt.mistake_driven.visits import Weights


class LinearLearner(LinearClassifier, MistakeDriven):
    """A mistake-driven learner of linear scores; `_weights` says what it learns."""

    warm_start: bool

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
        shortfall = self._run(
            X, y, sample_weight, examples, lambda examples: self._weights(examples, *start)
        )
        if shortfall:
            warn_not_converged(shortfall)
        zero = not (start[0].any() or start[1].any())
        self.coef_init_: Any = None if zero else start[0]
        self.intercept_init_: Any = None if zero else start[1]
        return self

    def path_parameters(self) -> tuple[str, ...]:
        """Return ``("max_iter",)`` where a fit of fewer passes is the beginning of a longer one."""
        repeats = isinstance(self.random_state, int) and not self.warm_start
        plain = self.pick == "cyclic" and not self.early_stopping and not self.verbose
        ours = type(self).__module__.startswith("rosenblatt.")  # others may learn otherwise
        return ("max_iter",) if repeats and plain and ours else ()

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> ModelPath:
        """Fit with several numbers of passes, in one run.

        Parameters
        ----------
        data : tuple ``(X, y)`` or ``(X, y, sample_weight)``.
        parameter : "max_iter".
        values : sequence of int
            Most passes, > 0.

        Returns
        -------
        path : `path[i]` is the fitted model, `path.predict(X)` has the predictions of all.
        """
        models = [clone(self).set_params(max_iter=n) for n in values]
        *others, longest = sorted(models, key=lambda model: model.max_iter)
        longest._fit_with(others, *rows_of(data))
        return ModelPath(models)

    def _fit_with(self, others: list[Any], X: Any, y: Any, sample_weight: Any = None) -> None:
        """Fit, and on the way models that are alike but for a smaller `max_iter`."""
        self._ends_at = ends = {other.max_iter: other for other in others}
        try:
            self.fit(X, y, sample_weight=sample_weight)
        finally:
            del self._ends_at
        for other in others:
            seen = ends[other.max_iter]
            # A run that ended sooner is the same for all; what was checked is known of this alone.
            found = _fitted(self) | (_fitted(seen) if hasattr(seen, "coef_") else {})
            vars(other).update(deepcopy(found))

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


def _fitted(model: Any) -> dict[str, Any]:
    """The fitted attributes."""
    return {k: v for k, v in vars(model).items() if k.endswith("_") and not k.startswith("_")}
