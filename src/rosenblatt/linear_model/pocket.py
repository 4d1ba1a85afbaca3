"""The pocket algorithm."""

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import loops
from rosenblatt.base import Attributes

from .examples import CELLS_PER_CALL, Examples
from .mistake_driven import MistakeDriven
from .mistakes import Columns, Pick, Plane, Weights


class PocketPerceptron(MistakeDriven):
    """A perceptron that keeps the best weights it ever had in its pocket.

    The run is the perceptron's. After *every* correction the new weights are tried on all training
    rows, and go into the pocket if they are wrong on less than those in it [1]_. On data that no
    plane separates, the plain perceptron ends wherever it happens to be; the pocket can only
    improve. A correction costs up to a pass over the data.

    Parameters
    ----------
    fit_intercept : bool
        Whether the plane may leave the origin.
    max_updates : int
        The horizon: corrections before the end.
    max_iter : int
        Passes over the data before the end.
    tol : float or None
        Also end when the loss per row has not fallen by more than `tol` below its best for
        `n_iter_no_change` passes; None goes on until a clean pass or the horizon.
    shuffle : bool
        Visit the rows in a new random order each pass.
    verbose : int
        Print a line per pass if not 0.
    eta0 : float
        Length of a step. From a zero start it only scales the weights.
    random_state : int, RandomState instance or None
        Seed of the orders and of the held-out rows.
    early_stopping : bool
        Hold out rows and return the pocket of the pass that did best on them.
    validation_fraction : float
        Share of rows held out by `early_stopping`.
    n_iter_no_change : int
        Passes to wait for progress.
    class_weight : dict, "balanced" or None
        Multiplies the steps of each class, and the weight of its errors.
    warm_start : bool
        Begin the run where the previous one ended; the pocket begins anew.
    boundary : {"mistake", "positive", "negative"}
        What a score of exactly 0, or a tie, is: see `Perceptron`.
    pick : {"cyclic", "random", "first", "worst"}
        Which mistake to correct next: see `Perceptron`.

    Attributes
    ----------
    coef_, intercept_ : ndarrays of shapes (1, d) and (1,), or (K, d) and (K,)
        The weights in the pocket.
    last_coef_, last_intercept_ : ndarrays of the same shapes
        The plain weights at the end of the run.
    pocket_error_ : float
        Weighted share of the training rows that the pocket gets wrong, by the rule of `boundary`.
    pocket_history_ : list of (int, float)
        After how many corrections the pocket improved, and to which error; the first is the start.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    n_iter_, n_updates_, t_, converged_, stop_reason_, cycle_, step_range_
        As for `Perceptron`, of the run.
    coef_init_, intercept_init_
        As for `Perceptron`, of the run.
    validation_scores_ : list of float or None
        Accuracy of the pocket on the held-out rows after each pass.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (d,)
        Their names, if all are strings.

    See Also
    --------
    Perceptron : the run alone.

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
        **MistakeDriven._parameter_constraints,
        "max_updates": [Interval(Integral, 1, None, closed="left")],
        "pick": [StrOptions({"cyclic", "random", "first", "worst"})],
    }

    _rehearsals: ClassVar[tuple[dict[str, Any], ...]] = (
        {"max_iter": 2},
        {"pick": "first", "max_updates": 2},
    )

    max_updates: int

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
        self.fit_intercept = fit_intercept
        self.max_updates = max_updates
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
        self.pick = pick

    # The horizon is where a pocket is meant to end: nothing to warn of.
    _content = ("max_iter", "no_progress")

    def _weights(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> Weights:
        kind = PocketPlane if examples.n_outputs == 1 else PocketColumns
        return kind(examples, coef, intercept)

    def _last_weights(self) -> tuple[Any, NDArray[Any]]:
        return self.last_coef_, self.last_intercept_

    def _resume(self, weights: Any) -> None:
        super()._resume(weights)
        weights.pocket(self.densify().coef_, self.intercept_)


class Pocket:
    """The part of a pocket that planes and columns share."""

    drifts = False
    examples: Examples
    b: NDArray[Any]
    n_updates: int

    def empty(self, w: NDArray[Any]) -> None:
        """Begin with the weights as they are, w (d,) or (d, K), in the pocket."""
        self.best_w, self.best_b, self.best = w.copy(), self.b.copy(), np.full(1, np.inf)
        self.hard = self.examples.rows.copy()
        self.weight = float(self.examples.step[self.examples.rows].sum(dtype=np.float64))
        self.best[0] = self.wrong(w, self.b)  # type: ignore[attr-defined]
        self.history = [(self.n_updates, self.error)]
        # A correction is followed by a look at all rows; Ctrl-C is heard between calls.
        self.updates_per_call = max(1, CELLS_PER_CALL // max(self.examples.cells, 1))

    @property
    def error(self) -> float:
        """The weighted share of rows that the pocket gets wrong."""
        return float(self.best[0]) / self.weight if self.weight else 0.0

    def pocket(self, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        """Put weights of an earlier batch into the pocket, as good as they are on this one."""
        w = np.ascontiguousarray(coef[0] if self.best_w.ndim == 1 else coef.T)
        wrong = self.wrong(w, intercept)  # type: ignore[attr-defined]
        if wrong <= self.best[0]:
            self.best_w, self.best_b, self.best[0] = w.copy(), intercept.copy(), wrong
        self.history = [(self.n_updates, self.error)]

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        mistakes, loss, visits = 0, 0.0, 0
        while visits < len(order):
            limit = min(most - mistakes, self.updates_per_call)
            made, lost, seen, improved = self.try_on(order[visits:], limit)  # type: ignore[attr-defined]
            mistakes, loss, visits = mistakes + made, loss + lost, visits + seen
            if improved:
                self.history.append((self.n_updates + mistakes, self.error))
            elif made < limit or mistakes == most:
                break  # through, not finite, or out of corrections
        return mistakes, loss, visits

    def correct(self, row: int, scores: NDArray[Any]) -> None:
        super().correct(row, scores)  # type: ignore[misc]
        coef, b = self.running()  # type: ignore[attr-defined]
        w = coef[0] if self.best_w.ndim == 1 else coef.T
        wrong = self.wrong(w, b)  # type: ignore[attr-defined]
        if wrong < self.best[0]:
            self.best_w, self.best_b, self.best[0] = w.copy(), b.copy(), wrong
            self.history.append((self.n_updates + 1, self.error))

    def attributes(self, copy: bool = True) -> Attributes:
        last, last_b = self.running()  # type: ignore[attr-defined]
        return {
            "coef_": np.array(np.atleast_2d(self.best_w.T), order="C"),
            "intercept_": self.best_b.copy(),
            "last_coef_": last.copy() if copy else last,
            "last_intercept_": last_b.copy() if copy else last_b,
            "n_updates_": self.n_updates,
            "pocket_error_": self.error,
            "pocket_history_": list(self.history),
        }


class PocketPlane(Pocket, Plane):
    """Two classes."""

    def __init__(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        Plane.__init__(self, examples, coef, intercept)
        self.empty(self.w)

    def wrong(self, w: NDArray[Any], b: NDArray[Any]) -> float:
        """The weight of the rows that a plane gets wrong."""
        count = loops.pocket.wrong_weight
        return float(count(self.X, self.push, self.examples.ties, w, b, np.inf, self.hard))

    def try_on(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int, bool]:
        return loops.pocket.pocket_pass(  # type: ignore[no-any-return]
            self.X, self.push, order, self.examples.ties, most, self.bias, self.w, self.b,
            self.best_w, self.best_b, self.best, self.hard,
        )  # fmt: skip


class PocketColumns(Pocket, Columns):
    """K classes."""

    def __init__(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        Columns.__init__(self, examples, coef, intercept)
        self.empty(self.W)

    def wrong(self, w: NDArray[Any], b: NDArray[Any]) -> float:
        """The weight of the rows that the columns get wrong."""
        return float(
            loops.pocket.wrong_multiclass_weight(
                self.X, self.codes, self.step, self.examples.ties, w, b, self.scores, np.inf,
                self.hard,
            )
        )  # fmt: skip

    def try_on(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int, bool]:
        return loops.pocket.pocket_multiclass_pass(  # type: ignore[no-any-return]
            self.X, self.codes, self.step, order, self.examples.ties, most, self.bias, self.W,
            self.b, self.scores, self.best_w, self.best_b, self.best, self.hard,
        )  # fmt: skip
