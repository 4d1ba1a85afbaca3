"""The averaged perceptron."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.base import Attributes, fitting, warn_not_converged
from rosenblatt.mistake_driven.examples import Examples
from rosenblatt.registry.row import Candidate, Contract, Row, Warm, unlike_repeated_rows

from . import averaged_loops
from .perceptron_base import Columns, LinearPerceptron, LinearWeights, Plane, as_columns


class AveragedPerceptron(LinearPerceptron):
    """The mean of a perceptron's weights over every visit: calmer than where it happened to stop.

    The run is the perceptron's: a mistake moves the weights by the example. What is published is
    the mean of the weights after each visit, mistaken or not [1]_, so weights that survived many
    examples count for more. On data that no plane separates, where the last weights depend on the
    last few mistakes, the mean is usually the better classifier.

    The run ends at a clean pass like the perceptron's; its last weights then make no mistake,
    though their mean may still make some.

    Parameters
    ----------
    fit_intercept, max_iter, tol, shuffle, verbose, eta0, random_state, n_iter_no_change
        As for `Perceptron`.
    early_stopping : bool
        Hold out rows and return the mean at the pass that did best on them.
    validation_fraction : float
        Share of rows held out by `early_stopping`.
    class_weight : dict, "balanced" or None
        Multiplies the steps of each class.
    warm_start : bool
        Begin the run where the previous one ended; the mean begins anew.
    boundary : {"mistake", "positive", "negative"}
        What a score of exactly 0, or a tie, is: see `Perceptron`.

    Attributes
    ----------
    coef_, intercept_ : ndarrays of shapes (1, d) and (1,), or (K, d) and (K,)
        The mean weights.
    last_coef_, last_intercept_ : ndarrays of the same shapes
        The plain weights at the end of the run.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    t_ : float
        Rows visited up to this mean, plus one.
    n_iter_, n_updates_, converged_, stop_reason_, cycle_, step_range_, coef_init_, \
    intercept_init_, n_parameters_, n_features_in_, feature_names_in_
        As for `Perceptron`, of the run.
    validation_scores_ : list of float or None
        Accuracy of the mean on the held-out rows after each pass.

    See Also
    --------
    Perceptron : the run alone.

    References
    ----------
    .. [1] Y. Freund, R. Schapire (1999), Large margin classification using the perceptron
       algorithm.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron
    >>> X, y = [[0, 1], [1, 0], [2, 3], [3, 2]], ["ham", "ham", "spam", "spam"]
    >>> AveragedPerceptron(tol=None).fit(X, y).predict([[0, 0], [4, 4]])
    array(['ham', 'spam'], dtype='<U4')
    """

    _published = "mean"

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        boundary: Literal["mistake", "positive", "negative"] = "mistake",
    ) -> None:
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.boundary = boundary

    @fitting
    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn from X (n, d) and labels y (n,), given as to `Perceptron.fit`; return self."""
        begun = self._begin(X, y, coef_init, intercept_init, sample_weight)
        weights, passes, visits, stopping = begun
        for n_iter in passes:
            for rows in visits.in_order(n_iter):
                visits.count(rows, weights.visit(rows, visits.updates_left))
            if reason := stopping.reason():
                passes.stop(reason)

        stopping.publish(self, passes.n_iter, passes.stop_reason)
        if shortfall := stopping.shortfall():
            warn_not_converged(shortfall)
        return self

    def _weights(
        self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]
    ) -> Plane | Columns:
        kind = AveragedPlane if examples.n_outputs == 1 else AveragedColumns
        return kind(examples, coef, intercept)


class Averaged(LinearWeights):
    """Weights whose mean over all visits is published: ``mean = w - u / n_visits``."""

    drifts = True

    def __init__(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        super().__init__(examples, coef, intercept)
        self.u, self.v = np.zeros(self.w.shape), np.zeros(self.b.shape)

    def attributes(self, copy: bool = True) -> Attributes:
        coef, b = self.running()
        seen = max(self.n_visits, 1)
        return {
            "coef_": (coef - np.atleast_2d(self.u.T) / seen).astype(coef.dtype),
            "intercept_": (b - self.v / seen).astype(b.dtype),
            "last_coef_": coef.copy() if copy else coef,
            "last_intercept_": b.copy() if copy else b,
            "n_updates_": self.n_updates,
            "t_": 1.0 + self.n_visits,
        }

    def resume(
        self, n_updates: int, n_visits: int, mean: NDArray[Any], intercept: NDArray[Any]
    ) -> None:
        """Continue the mean over earlier visits."""
        super().resume(n_updates, n_visits, mean, intercept)
        coef, b = self.running()
        self.u = as_columns((coef.astype(np.float64) - mean) * n_visits)
        self.v = (b.astype(np.float64) - intercept) * n_visits


class AveragedPlane(Averaged, Plane):
    """Two classes."""

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        return averaged_loops.averaged_pass(  # type: ignore[no-any-return]
            self.X, self.push, order, self.examples.ties, most, self.bias, self.n_visits,
            self.w, self.b, self.u, self.v,
        )  # fmt: skip


class AveragedColumns(Averaged, Columns):
    """K classes."""

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        return averaged_loops.averaged_multiclass_pass(  # type: ignore[no-any-return]
            self.X, self.codes, self.step, order, self.examples.ties, most, self.bias,
            self.n_visits, self.w, self.b, self.scores, self.u, self.v,
        )  # fmt: skip


ROW = Row(
    "AveragedPerceptron",
    page="perceptron.md",
    certificate="averaged_and_pocket",
    compare=(
        Candidate(
            "averaged perceptron",
            "very many rows or columns, and little time",
            {"max_iter": (2, 5, 20)},
            order=53,
            rank=4,
            text_rank=0,
        ),
    ),
    contract=Contract(
        settings=({}, {"tol": None, "max_iter": 5}, {"early_stopping": True}),
        expected_failures=unlike_repeated_rows(
            "visits row by row: a row of weight two is one visit with a double step, not two"
        ),
    ),
    warm=Warm(({"max_iter": 2},)),
    parts="perceptron",
)
