"""The pocket algorithm."""

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks
from rosenblatt.base import Attributes
from rosenblatt.mistake_driven import CELLS_PER_CALL, Examples, Pick, margins_of
from rosenblatt.registry.row import VISITS_ROWS, Candidate, Contract, Row, Warm

from . import perceptron_loops
from .perceptron import LinearPerceptron, LinearWeights, as_columns

# Corrections before the rows are sorted by hardness: 32, 128, 512, ...
FIRST_SORTED = 32

ROUNDING = 1e-12  # of a sum of weights: equal sums may be added in another order


class PocketPerceptron(LinearPerceptron):
    """Pocket algorithm: a perceptron that returns the best weights of its run.

    The weights change as those of `Perceptron`. After every correction the new weights are tried
    on all training rows, and stored (in the "pocket") if they misclassify less than the best so
    far [1]_. If no plane separates the classes, the training error of the pocket can only fall. A
    correction costs up to a pass over the data.

    Parameters
    ----------
    fit_intercept, shuffle, verbose, eta0, random_state, validation_fraction, n_iter_no_change, \
    boundary, pick
        As for `Perceptron`.
    max_updates : int
        Maximum number of corrections.
    max_iter : int
        Maximum number of passes over the data.
    tol : float or None
        Stop when the loss per row has not fallen by more than `tol` below its best for
        `n_iter_no_change` passes; None is without this rule.
    early_stopping : bool
        Hold out rows and return the pocket with the best accuracy on them.
    class_weight : dict, "balanced" or None
        Factors for the steps of each class, and for the weights of its errors.
    warm_start : bool
        Whether to start from the last weights of the previous fit; the pocket starts anew.

    Attributes
    ----------
    coef_, intercept_ : ndarrays of shapes (1, d) and (1,), or (K, d) and (K,)
        Best weights.
    last_coef_, last_intercept_ : ndarrays of the same shapes
        Weights after the last visit.
    pocket_error_ : float
        Weighted share of the training rows that the best weights misclassify, by the rule of
        `boundary`; after `partial_fit`, of the last batch.
    pocket_history_ : list of (int, float)
        Number of corrections and error of the initial weights and of each improvement.
    validation_scores_ : list of float or None
        Accuracy of the best weights on the held-out rows after each pass.
    classes_, n_iter_, n_updates_, t_, converged_, stop_reason_, cycle_, step_range_, coef_init_, \
    intercept_init_, n_parameters_, n_features_in_, feature_names_in_
        As for `Perceptron`.

    See Also
    --------
    Perceptron : with the last weights.

    References
    ----------
    .. [1] S. Gallant (1990), Perceptron-based learning algorithms.

    Examples
    --------
    >>> from rosenblatt import PocketPerceptron
    >>> X, y = [[1, 1], [-1, 1], [-1, -1], [1, -1]], [1, -1, 1, -1]
    >>> model = PocketPerceptron(shuffle=False).fit(X, y)
    >>> model.pocket_error_            # no plane does better than one in four on XOR
    0.25
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearPerceptron._parameter_constraints,
        "max_updates": [Interval(Integral, 1, None, closed="left")],
        "pick": [StrOptions({"cyclic", "random", "first", "worst"})],
    }

    max_updates: int
    _published = "pocket"
    _warns_of_mistakes = False  # a pocket is meant to end at `max_updates`

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        max_updates: int = 10_000,
        max_iter: int = 1000,
        tol: float | None = None,
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
        pick: Pick = "cyclic",
    ) -> None:
        super().__init__(
            fit_intercept=fit_intercept, max_iter=max_iter, tol=tol, shuffle=shuffle,
            verbose=verbose, eta0=eta0, random_state=random_state, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change,
            class_weight=class_weight, warm_start=warm_start, boundary=boundary,
        )  # fmt: skip
        self.max_updates = max_updates
        self.pick = pick

    def _weights(
        self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]
    ) -> LinearWeights:
        return PocketWeights(examples, coef, intercept)

    def path_parameters(self) -> tuple[str, ...]:
        """Return no parameter: a run publishes its pocket at its end only."""
        return ()


class PocketWeights(LinearWeights):
    """Weights w (d,) or (d, K), biases b (1,) or (K,), and the best of them so far."""

    def __init__(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        super().__init__(examples, coef, intercept)
        # Summed in the order of the loops: if all rows are wrong, the error is exactly 1.
        steps = examples.step[examples.rows].astype(np.float64)
        with np.errstate(over="ignore"):  # raised below
            self.total = float(np.add.accumulate(steps)[-1]) if len(steps) else 0.0
        total = self.total + examples.unlearnable_weight
        checks.in_range(total, "The sum of the weights is", "divide eta0 or the weights")
        self.history: list[tuple[int, float]] = []
        self.keep(self.w, self.b, self.error(self.w, self.b), self.n_updates)
        self.hardest = examples.rows
        self.n_tried, self.next_sorting = 0, FIRST_SORTED
        self.sums = np.zeros(self.w.shape), np.zeros(self.b.shape)  # of the weights tried

    def keep(self, w: NDArray[Any], b: NDArray[Any], error: float, n_updates: int) -> None:
        """Put weights into the pocket; `error` is the weight of their misclassified rows."""
        self.best_w, self.best_b, self.best_error = w.copy(), b.copy(), error
        always = self.examples.unlearnable_weight  # wrong for all weights
        self.history.append((n_updates, (error + always) / (self.total + always)))

    def error(self, w: NDArray[Any], b: NDArray[Any]) -> float:
        """Return the weight of the misclassified rows, summed in the order of the data."""
        labels, examples = self.labels, self.examples
        count = perceptron_loops.error_weight
        return float(count(self.X, labels, examples.ties, w, b, np.inf, examples.rows))

    def visit(self, order: NDArray[np.int32], most: int, mean: Any = None) -> Any:
        """Visit rows in order, correct at most `most` mistakes; return (mistakes, loss, visits).

        The weights after each correction are tried on the hardest rows first, until their error
        reaches that of the pocket. Of equal weights the first are kept.
        """
        mistakes, loss, visits = 0, 0.0, 0
        per_call = max(1, CELLS_PER_CALL // max(self.examples.cells, 1))
        while visits < len(order):
            limit = min(most - mistakes, self.next_sorting - self.n_tried, per_call)
            made, lost, seen, is_better = perceptron_loops.pocket_pass(
                self.X, self.labels, order[visits:], self.examples.ties, limit, self.bias, self.w,
                self.b, self.best_error * (1 + ROUNDING), self.hardest, self.sums,
            )  # fmt: skip
            mistakes, loss, visits = mistakes + made, loss + lost, visits + seen
            self.n_tried += made
            if is_better:
                error = self.error(self.w, self.b)
                if error < self.best_error * (1 - ROUNDING):
                    self.keep(self.w, self.b, error, self.n_updates + mistakes)
            if self.n_tried >= self.next_sorting:
                self.sort_rows()
                self.next_sorting *= 4
            if not is_better and (made < limit or mistakes == most):
                break  # all rows are visited, the next is not finite, or a mistake too many
        return mistakes, loss, visits

    def sort_rows(self) -> None:
        """Sort the rows by their margin under the mean of the weights tried so far."""
        # Most weights misclassify the first of them; sorting by the pocket's margins is worse.
        mean_w, mean_b = (total / self.n_tried for total in self.sums)
        margins = margins_of(self.examples.X @ mean_w + mean_b, self.examples.codes)
        rows = self.examples.rows
        self.hardest = rows[np.argsort(margins[rows])]

    def attributes(self, copy: bool = True) -> Attributes:
        """Return the fitted attributes."""
        last, last_b = self.state()
        return {
            "coef_": np.array(np.atleast_2d(self.best_w.T), order="C"),
            "intercept_": self.best_b.copy(),
            "last_coef_": last.copy() if copy else last,
            "last_intercept_": last_b.copy() if copy else last_b,
            "n_updates_": self.n_updates,
            "pocket_error_": self.history[-1][1],
            "pocket_history_": list(self.history),
        }

    def resume(self, model: Any) -> None:
        """Continue the counts; keep the pocket of earlier batches if it is as good on this one."""
        super().resume(model)
        w, b = as_columns(model.coef_), model.intercept_
        error = self.error(w, b)
        self.history = []
        if error > self.best_error:
            w, b, error = self.best_w, self.best_b, self.best_error
        self.keep(w, b, error, self.n_updates)


ROW = Row(
    "PocketPerceptron",
    page="perceptron.md",
    certificate="averaged_and_pocket",
    compare=(
        Candidate(
            "pocket perceptron",
            "a line with few training errors, on small tables",
            {"max_updates": (2000,)},
            limits=("few rows for each mistake",),
            order=54,
            rank=4,
            slow_on_text=True,
        ),
    ),
    contract=Contract(
        settings=({"max_iter": 6}, {"pick": "worst", "max_updates": 20}),
        checked=({"max_updates": 1000},),
        expected_failures=VISITS_ROWS,
        most_rows=3000,
    ),
    warm=Warm(({"max_iter": 20}, {"pick": "first", "max_updates": 2})),
)
