"""The pocket algorithm."""

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt.base import fitting
from rosenblatt.mistake_driven.classifier import Pick
from rosenblatt.mistake_driven.examples import Examples
from rosenblatt.registry.row import Candidate, Contract, Row, Warm, unlike_repeated_rows

from .perceptron_base import Columns, LinearPerceptron, Plane
from .pocket_weights import PocketColumns, PocketPlane


class PocketPerceptron(LinearPerceptron):
    """A perceptron that keeps the best weights it ever had in its pocket.

    The run is the perceptron's. After *every* correction the new weights are tried on all training
    rows, and go into the pocket if they are wrong on less than those in it [1]_. On data that no
    plane separates, the plain perceptron ends wherever it happens to be; the pocket can only
    improve. A correction costs up to a pass over the data.

    Parameters
    ----------
    fit_intercept, shuffle, verbose, eta0, random_state, n_iter_no_change
        As for `Perceptron`.
    max_updates : int
        The horizon: corrections before the end.
    max_iter : int
        Passes over the data before the end.
    tol : float or None
        Also end when the loss per row has not fallen by more than `tol` below its best for
        `n_iter_no_change` passes; None goes on until a clean pass or the horizon.
    early_stopping : bool
        Hold out rows and return the pocket of the pass that did best on them.
    validation_fraction : float
        Share of rows held out by `early_stopping`.
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
        Weighted share of the training rows that the pocket gets wrong, by the rule of `boundary`;
        after `partial_fit`, of the last batch.
    pocket_history_ : list of (int, float)
        After how many corrections the pocket improved, and to which error; the first is the start.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    n_iter_, n_updates_, t_, converged_, stop_reason_, cycle_, step_range_, coef_init_, \
    intercept_init_, n_parameters_, n_features_in_, feature_names_in_
        As for `Perceptron`, of the run.
    validation_scores_ : list of float or None
        Accuracy of the pocket on the held-out rows after each pass.

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
        **LinearPerceptron._parameter_constraints,
        "max_updates": [Interval(Integral, 1, None, closed="left")],
        "pick": [StrOptions({"cyclic", "random", "first", "worst"})],
    }

    max_updates: int
    _published = "pocket"

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
            if self.pick == "cyclic":
                for rows in visits.in_order(n_iter):
                    # The perceptron's rule; each correction is then tried on all rows.
                    visits.count(rows, weights.visit(rows, visits.updates_left))
            else:
                visits.correct_one(self.pick, n_iter)
            if reason := stopping.reason():
                passes.stop(reason)

        stopping.publish(self, passes.n_iter, passes.stop_reason)
        return self  # without a warning: a pocket is meant to end at its horizon

    def _weights(
        self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]
    ) -> Plane | Columns:
        kind = PocketPlane if examples.n_outputs == 1 else PocketColumns
        return kind(examples, coef, intercept)

    def path_parameters(self) -> tuple[str, ...]:
        """Return no parameter: a run publishes its pocket at its end only."""
        return ()


ROW = Row(
    "PocketPerceptron",
    page="perceptron.md",
    certificate="averaged_and_pocket",
    compare=(
        Candidate(
            "pocket perceptron",
            "the fewest mistakes a line can make, on few rows",
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
        expected_failures=unlike_repeated_rows(
            "visits row by row: a row of weight two is one visit with a double step, not two"
        ),
        most_rows=3000,
    ),
    warm=Warm(({"max_iter": 20}, {"pick": "first", "max_updates": 2})),
)
