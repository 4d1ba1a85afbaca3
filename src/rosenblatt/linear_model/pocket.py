"""The pocket algorithm."""

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import row_norms

from rosenblatt import loops
from rosenblatt.base import Attributes
from rosenblatt.mistake_driven.decision import margins_of
from rosenblatt.mistake_driven.examples import Examples
from rosenblatt.mistake_driven.visits import Pick, Weights

from .perceptron_base import LinearLearner
from .perceptron_weights import Columns, LinearWeights, Plane


class PocketPerceptron(LinearLearner):
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
        Weighted share of the training rows that the pocket gets wrong, by the rule of `boundary`;
        after `partial_fit`, of the last batch.
    pocket_history_ : list of (int, float)
        After how many corrections the pocket improved, and to which error; the first is the start.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    n_iter_, n_updates_, t_, converged_, stop_reason_, cycle_, step_range_
        As for `Perceptron`, of the run.
    coef_init_, intercept_init_, n_parameters_
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
        **LinearLearner._parameter_constraints,
        "max_updates": [Interval(Integral, 1, None, closed="left")],
        "pick": [StrOptions({"cyclic", "random", "first", "worst"})],
    }

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
        kind = PocketedPlane if examples.n_outputs == 1 else PocketedColumns
        return kind(examples, coef, intercept)

    def path_parameters(self) -> tuple[str, ...]:
        """Return no parameter: the pocket of a shorter run is not kept on the way."""
        return ()

    def _last_weights(self) -> tuple[Any, NDArray[Any]]:
        return self.last_coef_, self.last_intercept_

    def _resume(self, weights: Any) -> None:
        super()._resume(weights)
        weights.resume(self.densify().coef_, self.intercept_)


# Weights with a pocket: the best they ever were.
#
# A run does not depend on its pocket. So the weights after some corrections are remembered, and
# then
# looked at all at once: a product of matrices by BLAS instead of one with a vector after every
# correction. That first look, in 32 bits, leaves few (see `sieve`); they are then tried one by one,
# the hardest rows first, until they are found to be no better.


# How many weights are tried at once, and how many numbers they may have in all.
MOST_TRIED = 256
NUMBERS_TRIED = 1 << 20

# After how many corrections the rows are sorted by hardness; and again whenever there have been
# four times as many.
FIRST_SORTED = 32


class Pocketed(LinearWeights):
    """What planes and columns with a pocket share: weights w (d,) or (d, K), biases b (K,)."""

    w: NDArray[Any]
    b: NDArray[Any]

    def empty(self) -> None:
        """Begin with the weights as they are in the pocket."""
        self.hard = self.examples.rows
        # Added up in the order of the loops, so that all wrong is exactly all.
        steps = self.examples.step[self.hard].astype(np.float64)
        with np.errstate(over="ignore"):  # said below
            self.weight = float(np.add.accumulate(steps)[-1]) if len(steps) else 0.0
        if not np.isfinite(self.weight + self.examples.hopeless_weight):
            raise ValueError(
                "The weights of the rows add up to more than 64 bits hold: eta0, sample_weight and "
                "class_weight multiply to too large numbers. Divide them by their largest."
            )
        self.history: list[tuple[int, float]] = []
        self.keep(self.w, self.b, self.wrong(self.w, self.b), self.n_updates)
        most = np.clip(NUMBERS_TRIED // self.w.size, 1, MOST_TRIED)
        self.past_w = np.empty((most, *self.w.shape), self.w.dtype)
        self.past_b = np.empty((most, len(self.b)), self.b.dtype)
        self.tried, self.next_sorting = 0, FIRST_SORTED
        self.sum_w, self.sum_b = np.zeros(self.w.shape), np.zeros(self.b.shape)

    def keep(self, w: NDArray[Any], b: NDArray[Any], wrong: float, n_updates: int) -> None:
        """Put weights into the pocket, by which rows of that weight are wrong."""
        self.best_w, self.best_b, self.best_wrong = w.copy(), b.copy(), wrong
        hopeless = self.examples.hopeless_weight  # wrong whatever the weights are
        self.history.append((n_updates, (wrong + hopeless) / (self.weight + hopeless)))

    def resume(self, coef: NDArray[Any], b: NDArray[Any]) -> None:
        """Put weights of an earlier batch into the pocket if they are as good on this one."""
        w = np.ascontiguousarray(coef[0] if self.w.ndim == 1 else coef.T)
        wrong = self.wrong(w, b)
        self.history = []
        if wrong > self.best_wrong:
            w, b, wrong = self.best_w, self.best_b, self.best_wrong
        self.keep(w, b, wrong, self.n_updates)

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        mistakes, loss, visits = 0, 0.0, 0
        while visits < len(order):
            # The first corrections improve much; to try many of them at once would be a waste.
            room = min(most - mistakes, len(self.past_w), 1 + self.tried)
            if room == 0:  # any further mistake is one too many
                made, lost, seen = super().visit(order[visits:], 0)  # type: ignore[misc]
                return mistakes, loss, visits + seen
            made, lost, seen = self.record(order[visits:], room)
            self.try_on(made, self.n_updates + mistakes)
            mistakes, loss, visits = mistakes + made, loss + lost, visits + seen
            if made < room:
                break  # through, or not finite
        return mistakes, loss, visits

    def record(self, order: NDArray[np.int32], room: int) -> tuple[int, float, int]:
        """Visit rows in order, and remember the weights after each of so many corrections."""
        raise NotImplementedError

    def correct(self, row: int, scores: NDArray[Any]) -> None:
        super().correct(row, scores)  # type: ignore[misc]
        self.past_w[0], self.past_b[0] = self.w, self.b
        self.try_on(1, self.n_updates)

    def try_on(self, made: int, n_updates: int) -> None:
        """Try the weights after the latest corrections; the first of the best are kept."""
        if self.tried >= self.next_sorting:
            self.sort_rows()
            self.next_sorting *= 4
        for t, at_least in zip(*self.likely(made), strict=True):
            w, b = self.past_w[t], self.past_b[t]
            if at_least < self.best_wrong and self.may_be_better(w, b):
                wrong = self.wrong(w, b)
                if wrong < self.best_wrong * (1 - ROUNDING):
                    self.keep(w, b, wrong, n_updates + int(t) + 1)
        self.tried += made
        self.sum_w += self.past_w[:made].sum(axis=0, dtype=np.float64)
        self.sum_b += self.past_b[:made].sum(axis=0, dtype=np.float64)

    def sort_rows(self) -> None:
        """Look first at the rows that the mean of the weights tried so far finds hardest.

        They are those that most weights get wrong: better than the order by the pocket itself.
        """
        mean_w, mean_b = (self.sum_w / self.tried, self.sum_b / self.tried)
        scores = self.examples.X @ mean_w + mean_b
        margins = margins_of(scores, self.examples.codes)[self.examples.rows]
        self.hard = self.examples.rows[np.argsort(margins)]

    def likely(self, made: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Which of the latest weights may be better than the pocket, and how wrong at least."""
        return np.arange(made), np.zeros(made)

    def may_be_better(self, w: NDArray[Any], b: NDArray[Any]) -> bool:
        """Whether weights do better than the pocket, up to rounding: the hardest rows first."""
        limit = self.best_wrong * (1 + ROUNDING)
        return self.wrong(w, b, limit, self.hard) < limit

    def wrong(
        self, w: NDArray[Any], b: NDArray[Any], limit: float = np.inf, rows: Any = None
    ) -> float:
        """The weight of the rows that weights w, b get wrong, or a part of it that is >= limit.

        Without a limit it is summed in the order of the data, so that equals are equal.
        """
        raise NotImplementedError

    def attributes(self, copy: bool = True) -> Attributes:
        last, last_b = self.running()
        return {
            "coef_": np.array(np.atleast_2d(self.best_w.T), order="C"),
            "intercept_": self.best_b.copy(),
            "last_coef_": last.copy() if copy else last,
            "last_intercept_": last_b.copy() if copy else last_b,
            "n_updates_": self.n_updates,
            "pocket_error_": self.history[-1][1],
            "pocket_history_": list(self.history),
        }


class PocketedPlane(Pocketed, Plane):
    """Two classes."""

    def __init__(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        Plane.__init__(self, examples, coef, intercept)
        self.sieve: Sieve | None = None
        self.empty()

    def record(self, order: NDArray[np.int32], room: int) -> tuple[int, float, int]:
        return loops.pocket.recorded_pass(  # type: ignore[no-any-return]
            self.X, self.push, order, self.examples.ties, self.bias, self.w, self.b,
            self.past_w[:room], self.past_b[:room],
        )  # fmt: skip

    def may_be_better(self, w: NDArray[Any], b: NDArray[Any]) -> bool:
        # What the sieve lets pass is likely to be better: no need to look twice.
        return self.sieve is not None or super().may_be_better(w, b)

    def wrong(
        self, w: NDArray[Any], b: NDArray[Any], limit: float = np.inf, rows: Any = None
    ) -> float:
        rows = self.examples.rows if rows is None else rows
        count = loops.pocket.wrong_weight
        return float(count(self.X, self.push, self.examples.ties, w, b, limit, rows))

    def sort_rows(self) -> None:
        super().sort_rows()
        self.sieve = Sieve(self.examples, self.hard)

    def likely(self, made: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        if self.sieve is None:
            return super().likely(made)
        return self.sieve.pass_through(self.past_w[:made], self.past_b[:made], self.best_wrong)


class PocketedColumns(Pocketed, Columns):
    """K classes."""

    def __init__(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        Columns.__init__(self, examples, coef, intercept)
        self.w = self.W
        self.empty()

    def record(self, order: NDArray[np.int32], room: int) -> tuple[int, float, int]:
        return loops.pocket.recorded_multiclass_pass(  # type: ignore[no-any-return]
            self.X, self.codes, self.step, order, self.examples.ties, self.bias, self.W, self.b,
            self.scores, self.past_w[:room], self.past_b[:room],
        )  # fmt: skip

    def wrong(
        self, w: NDArray[Any], b: NDArray[Any], limit: float = np.inf, rows: Any = None
    ) -> float:
        rows = self.examples.rows if rows is None else rows
        count = loops.pocket.wrong_multiclass_weight
        return float(
            count(self.X, self.codes, self.step, self.examples.ties, w, b, self.scores, limit,
                  rows)
        )  # fmt: skip


# A quick look at many planes: which can be better than the best so far?


ROWS_AT_A_TIME = 512
MOST_BYTES = 1 << 25

ROUNDING = 1e-12  # of a sum of weights: equal ones may be added in another order


class Sieve:
    """Lets pass the planes that may be wrong on less than a given weight of the rows.

    It looks at the hardest rows first, in 32 bits, and counts a row as wrong when it is so beyond
    rounding: a plane that it holds back is no better for certain. Rows and planes are of length 1
    here, which makes the allowance for rounding one number: the sum of d + 1 products of them is
    off by at most about ``(d + 4) eps``.
    """

    def __init__(self, examples: Examples, hard: NDArray[Any]) -> None:
        X = examples.X
        n_products = int(np.diff(X.indptr).max(initial=0)) if sp.issparse(X) else X.shape[1]
        rows = hard[: MOST_BYTES // (4 * (n_products + 1))]
        X, self.weight = X[rows], examples.step[rows].astype(np.float64)
        sign = np.where(examples.codes[rows] == 1, 1.0, -1.0)
        with np.errstate(all="ignore"):  # rows of zeros or out of range become zero: below nothing
            squares = row_norms(X, squared=True).astype(np.float64)
            # The bias counts as a column as long as a row, so that it does not drown the others.
            self.bias = float(np.sqrt(squares.mean())) if examples.bias else 0.0
            factor = finite(sign / np.sqrt(squares + self.bias**2))
            self.Z = signed_rows(X, factor, self.bias)
        self.scratch = np.empty(0, np.float32)
        self.allowance = np.float32(2 * (n_products + 8) * np.finfo(np.float32).eps)

    def pass_through(
        self, w: NDArray[Any], b: NDArray[Any], limit: float
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Which of the planes w (m, d), b (m, 1) may be wrong on less weight than the limit.

        Also on how much each of these is wrong at least.
        """
        with np.errstate(all="ignore"):  # a plane of zeros stays so, and is below nothing
            biases = b / self.bias if self.bias else 0 * b
            planes = np.hstack([w, biases]).astype(np.float64)
            planes /= np.linalg.norm(planes, axis=1)[:, np.newaxis]
            V, wrong = finite(planes.astype(np.float32)), np.zeros(len(w))
        left = np.arange(len(w))
        for start in range(0, len(self.weight), ROWS_AT_A_TIME):
            weight = self.weight[start : start + ROWS_AT_A_TIME]
            scores = self._scores(V, self.Z[start : start + ROWS_AT_A_TIME])
            loops.pocket.weigh_below(scores, -self.allowance, weight, wrong)
            kept = wrong < limit * (1 + ROUNDING)
            left, V, wrong = left[kept], V[kept], wrong[kept]
            if not len(left):
                break
        return left, wrong * (1 - ROUNDING)

    def _scores(self, V: NDArray[np.float32], Z: Any) -> NDArray[np.float32]:
        """V Z' (m, r), of planes and rows."""
        if sp.issparse(Z):
            return np.ascontiguousarray((Z @ np.ascontiguousarray(V.T)).T)
        m, r = len(V), len(Z)
        if len(self.scratch) < m * r:  # fresh memory would take longer than the product
            self.scratch = np.empty(m * r, np.float32)
        return np.matmul(V, Z.T, out=self.scratch[: m * r].reshape(m, r))


def signed_rows(X: Any, factor: NDArray[np.float64], bias: float) -> Any:
    """Each row (x, bias) of X times its factor, in 32 bits."""
    if sp.issparse(X):
        scaled = sp.diags(factor) @ X
        return sp.hstack([scaled, bias * factor[:, np.newaxis]], format="csr", dtype=np.float32)
    Z = np.empty((len(X), X.shape[1] + 1), np.float32)
    np.multiply(X, factor[:, np.newaxis], out=Z[:, :-1], casting="same_kind")
    Z[:, -1] = bias * factor
    return Z


def finite(numbers: NDArray[Any]) -> NDArray[Any]:
    """Zero in place of what is not a finite number."""
    return np.asarray(np.nan_to_num(numbers, copy=False, nan=0.0, posinf=0.0, neginf=0.0))
