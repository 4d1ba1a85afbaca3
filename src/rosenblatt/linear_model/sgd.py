"""Linear models fitted by stochastic gradient descent."""

import math
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.callback import CallbackSupportMixin
from sklearn.metrics import r2_score
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from rosenblatt import checks
from rosenblatt.base import (
    LinearClassifier,
    LinearRegressor,
    Passes,
    arrays,
    fitting,
    read_only,
    warn,
    warn_not_converged,
)
from rosenblatt.loops.rows import summed_duplicates
from rosenblatt.mistake_driven import EPOCHS, Patience, class_weights
from rosenblatt.prediction import LogisticScores
from rosenblatt.registry.row import VISITS_ROWS, Contract, Row, Warm
from rosenblatt.runtime import threads

from . import sgd_loops as loops
from .perceptron import as_columns, check_classes, check_start

Floats = NDArray[np.float64]

REGRESSION_LOSSES = {
    "squared_error": (loops.SQUARED_ERROR, 0.0),
    "huber": (loops.HUBER, 0.1),
    "epsilon_insensitive": (loops.EPSILON_INSENSITIVE, 0.1),
    "squared_epsilon_insensitive": (loops.SQUARED_EPSILON_INSENSITIVE, 0.1),
}
LOSSES = {
    "hinge": (loops.HINGE, 1.0),
    "squared_hinge": (loops.SQUARED_HINGE, 1.0),
    "perceptron": (loops.HINGE, 0.0),
    "log_loss": (loops.LOG_LOSS, 0.0),
    "modified_huber": (loops.MODIFIED_HUBER, 1.0),
    **REGRESSION_LOSSES,
}
SCHEDULES = {
    "constant": loops.CONSTANT,
    "adaptive": loops.CONSTANT,  # divided by 5 between epochs
    "optimal": loops.OPTIMAL,
    "invscaling": loops.INVSCALING,
    "pa1": loops.PA1,
    "pa2": loops.PA2,
}
SMALLEST_ADAPTIVE_RATE = 1e-6
# On sparse rows, as in scikit-learn: every row moves the intercept, few rows move a weight.
SPARSE_INTERCEPT_STEP = 0.01
CELLS_PER_CALL = 30_000_000  # one compiled call lasts about a tenth of a second


class Weights(NamedTuple):
    """Weights (K, d) and intercepts (K,)."""

    coef: NDArray[Any]
    intercept: NDArray[Any]


class TrainingData(NamedTuple):
    """Checked rows and targets, and for each output its class and the weights of its rows."""

    X: Any  # (n, d), C-ordered or CSR
    y: Floats  # (n,) targets or class numbers
    weight: Floats | None  # (n,)
    labels: Floats  # (K,)
    positive: Floats  # (K,) weight of the rows of the class
    negative: Floats  # (K,) weight of all other rows

    def start(self, coef: Any, intercept: Any) -> Weights:
        """The first weights; zeros in place of None."""
        return Weights(*check_start(self.X, len(self.labels), coef, intercept))


class Descent:
    """The weights of all outputs during the epochs of a fit."""

    def __init__(
        self, model: Any, data: TrainingData, start: Weights, t: float, mean: Weights, n: int
    ) -> None:
        self.X, self.y, self.dtype = arrays(data.X), read_only(data.y), data.X.dtype
        self.weight = read_only(np.ones(1) if data.weight is None else data.weight)
        self.rule = rule = model._rule(sp.issparse(data.X))
        K = len(data.labels)
        self.state = np.zeros((loops.N_STATES, K))
        self.state[loops.LABEL] = data.labels
        self.state[loops.POSITIVE], self.state[loops.NEGATIVE] = data.positive, data.negative
        self.state[loops.INTERCEPT], self.state[loops.SCALE] = start.intercept, 1.0
        self.state[loops.RATE], self.state[loops.T] = model.eta0, t
        # The loops for an L1 penalty work in double precision, as `applied` is.
        self.w = as_columns(start.coef.astype(np.float64) if rule.l1 > 0 else start.coef)
        self.applied = np.zeros(self.w.shape if rule.l1 > 0 else (0, *self.w.shape[1:]))
        self.corrections = np.zeros(self.w.shape if model.average else (0, *self.w.shape[1:]))
        if model.average:  # continue the sums of earlier batches
            self.corrections -= n * as_columns(mean.coef)
            self.state[loops.INTERCEPT_SUM], self.state[loops.N_AVERAGED] = n * mean.intercept, n
        needs_lengths = rule.schedule >= loops.PA1 or (rule.measure and rule.l2 > 0)
        self.lengths = np.empty(len(self.y) if needs_lengths else 0)
        loops.find_lengths(self.X, self.lengths)
        cells = (data.X.nnz if sp.issparse(data.X) else data.X.size) * K
        self.rows_per_call = max(1, CELLS_PER_CALL * len(self.y) // max(cells, 1))
        n_jobs = getattr(model, "n_jobs", None) or 1
        most = min(K, threads.count(), n_jobs if n_jobs > 0 else K)
        self.n_threads = most if cells > threads.CELLS_PER_CHUNK else 1
        self.parts: list[tuple[NDArray[np.intp], list[NDArray[Any]]]] = []
        self.running: NDArray[np.intp] | None = None  # outputs of the parts

    def epoch(self, order: NDArray[np.int32], running: NDArray[np.intp]) -> bool:
        """Visit the rows in order for the running outputs; return whether scores were finite."""
        self.state[loops.OBJECTIVE], self.n_visits = 0.0, len(order)
        if len(running) == self.state.shape[1] and self.n_threads == 1:
            return self._visit(order, self.state, self.w, self.applied, self.corrections)
        if running is not self.running:
            self._split(running)
        states = [np.ascontiguousarray(self.state[:, part]) for part, _ in self.parts]

        def work(start: int, stop: int) -> bool:
            return all(self._visit(order, states[k], *self.parts[k][1]) for k in range(start, stop))

        finite = all(threads.over_chunks(work, len(states), len(states) * threads.CELLS_PER_CHUNK))
        for (part, _), state in zip(self.parts, states, strict=True):
            self.state[:, part] = state
        return finite

    def _split(self, running: NDArray[np.intp]) -> None:
        """Copy the columns of the running outputs, a part of them for each thread.

        Outputs are independent, so the result does not depend on the parts.
        """
        self._join()
        self.running = running
        for part in np.array_split(running, min(self.n_threads, len(running))):
            columns = self.w, self.applied, self.corrections
            self.parts.append((part, [np.ascontiguousarray(array[:, part]) for array in columns]))

    def _join(self) -> None:
        """Store the columns that were copied."""
        for part, columns in self.parts:
            self.w[:, part], self.applied[:, part], self.corrections[:, part] = columns
        self.parts.clear()
        self.running = None

    def _visit(
        self, order: NDArray[np.int32], state: Floats, w: Any, applied: Floats, corrections: Floats
    ) -> bool:
        """Visit the rows in order for the outputs with the weights w (d,) or (d, K)."""
        K = state.shape[1]
        scratch = np.empty(K, w.dtype), np.empty(K, w.dtype), np.empty(K)
        outputs = loops.Outputs(w, state, applied, corrections, *scratch)
        for first in range(0, len(order), self.rows_per_call):
            rows = order[first : first + self.rows_per_call]
            if not loops.visit_rows(
                self.X, self.y, self.weight, self.lengths, rows, self.rule, outputs
            ):
                return False
        return True

    def objectives(self) -> Floats:
        """Mean objective of each output over the visits of the last epoch."""
        return np.asarray(self.state[loops.OBJECTIVE] / max(self.n_visits, 1))

    def lower_rate(self, k: Any, patience: Patience) -> bool:
        """Divide the learning rate of output k by 5, unless it is as small as it may be."""
        if self.state[loops.RATE, k] <= SMALLEST_ADAPTIVE_RATE:
            return False
        self.state[loops.RATE, k] /= 5
        patience.waited = 0
        return True

    def last(self) -> Weights:
        """Copies of the weights after the last visit."""
        self._join()
        return self._weights(self.w * self.state[loops.SCALE], self.state[loops.INTERCEPT])

    def mean(self) -> Weights:
        """Copies of the mean weights; zero before the first visit that counts."""
        self._join()
        n = np.maximum(self.state[loops.N_AVERAGED], 1)
        w = (self.state[loops.SCALE_SUM] * self.w - self.corrections) / n
        return self._weights(w, self.state[loops.INTERCEPT_SUM] / n)

    def _weights(self, w: Floats, intercept: Floats) -> Weights:
        coef = np.array(np.atleast_2d(w.T), self.dtype, order="C")
        return Weights(coef, intercept.astype(self.dtype))


class HeldOut:
    """The rows kept out of training by `early_stopping`."""

    def __init__(self, model: Any, data: TrainingData) -> None:
        split = (StratifiedShuffleSplit if model._classify else ShuffleSplit)(
            1, test_size=model.validation_fraction, random_state=model.random_state
        )
        self.rows, held = next(split.split(np.empty((len(data.y), 1)), data.y))
        weight = None if data.weight is None else data.weight[held]
        if weight is not None and not weight.any():
            raise ValueError(
                "The sample weights for validation set are all zero, consider using a different "
                "random state."
            )
        self.X, self.y, self.weight = data.X[held], data.y[held], weight
        self.labels, self.classify = data.labels, model._classify

    def losses(self, weights: Weights) -> list[float]:
        """Return minus the score of each output: the accuracy for its class, or R^2."""
        scores = self.X @ weights.coef.T + weights.intercept
        if not self.classify:
            return [-float(r2_score(self.y, scores[:, 0], sample_weight=self.weight))]
        correct = (scores > 0) == (self.y[:, None] == self.labels)
        return [-float(loss) for loss in np.average(correct, axis=0, weights=self.weight)]


class StochasticGradient(CallbackSupportMixin):  # type: ignore[misc]
    """Training of linear models by stochastic gradient descent."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **EPOCHS,
        "loss": [StrOptions(set(LOSSES))],
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "learning_rate": [StrOptions(set(SCHEDULES))],
        "power_t": [Interval(Real, None, None, closed="neither")],
        "warm_start": ["boolean"],
        "average": [Interval(Integral, 0, None, closed="neither"), "boolean"],
    }
    loss_functions: ClassVar[dict[str, tuple[int, float]]]
    _classify: ClassVar[bool]
    _pa_loss: ClassVar[str]

    @fitting
    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fit the model to X (n, d) and labels or targets y (n,); return self.

        `coef_init` and `intercept_init` are initial weights in the shapes of `coef_` and
        `intercept_`. `sample_weight` (n,) multiplies the steps of the rows; rows of weight 0 are
        not visited.
        """
        self._check_parameters()
        data = self._training_data(X, y, sample_weight)
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = self.densify().coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        zero = data.start(None, None)
        start = data.start(coef_init, intercept_init)
        descent = Descent(self, data, start, t=1.0, mean=zero, n=0)
        patience = self._descend(data, descent, Passes(self, X, y, sample_weight, self.max_iter))
        if self.power_t < 0:
            warn(
                "Negative values for `power_t` are deprecated in scikit-learn 1.8 and raise an "
                f"error in 1.10; got {self.power_t:g}. Use a value >= 0.",
                FutureWarning,
            )
        if self.stop_reason_ == "max_iter" and self.tol is not None:
            warn_not_converged(self._shortfall(patience))
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """Run one epoch over a batch, starting from the present weights."""
        self._check_parameters(batch=True)
        data = self._training_data(X, y, sample_weight, classes, batch=True)
        start = mean = data.start(None, None)
        t, n = 1.0, 0
        if hasattr(self, "coef_"):
            t, coef, intercept = self.t_, self.densify().coef_, self.intercept_
            if self.average and hasattr(self, "_average_coef"):
                mean = data.start(self._average_coef, self._average_intercept)
                coef, intercept = self._standard_coef, self._standard_intercept
                n = self._n_averaged
            start = data.start(coef, intercept)
        descent = Descent(self, data, start, t, mean, n)
        self._descend(data, descent, Passes(self, X, y, sample_weight, max_iter=1))
        return self

    def _descend(self, data: TrainingData, descent: Descent, passes: Passes) -> list[Patience]:
        """Run epochs until every output stops improving, and set the fitted attributes."""
        rng, largest = check_random_state(self.random_state), np.iinfo(np.int32).max
        if self._classify and len(data.labels) == 1:
            rng.randint(1, largest)  # scikit-learn draws a number that it does not use
        held_out = HeldOut(self, data) if self.early_stopping else None
        seed = int(rng.randint(largest))
        order, visited = np.arange(len(data.y), dtype=np.int32), rows_to_visit(data, held_out)
        patience = [Patience(self.tol, self.n_iter_no_change) for _ in data.labels]
        running = np.arange(len(data.labels))
        passes.attributes = lambda: self._attributes(descent, passes.n_iter)
        for n_iter in passes:
            if self.shuffle:
                loops.shuffle(order, seed)
            rows = order if visited is None else order[visited[order]]
            # At each row: w = (1 - eta l2) w - eta loss'(w.x + b) x,  b = b - eta loss'(w.x + b).
            if not descent.epoch(rows, running):
                raise overflow(n_iter)
            losses = descent.objectives() if held_out is None else held_out.losses(descent.last())
            if self.verbose:
                name = "objective" if held_out is None else "minus validation score"
                print(f"epoch {n_iter}: {name} {', '.join(f'{loss:.6g}' for loss in losses)}")
            done = [k for k in running if patience[k].runs_out(losses[k])]
            if self.learning_rate == "adaptive":
                done = [k for k in done if not descent.lower_rate(k, patience[k])]
            if done:
                running = np.setdiff1d(running, done)
            if not len(running):
                passes.stop("early_stopping" if self.early_stopping else "converged")
        found = self._attributes(descent, passes.n_iter)
        if not (np.isfinite(found["coef_"]).all() and np.isfinite(found["intercept_"]).all()):
            raise overflow(passes.n_iter)
        for name in AVERAGING:
            if hasattr(self, name):
                delattr(self, name)
        for name, value in {**found, "stop_reason_": passes.stop_reason}.items():
            setattr(self, name, value)
        return patience

    def _attributes(self, descent: Descent, n_iter: int) -> dict[str, Any]:
        """The fitted attributes after the last visit."""
        found = weights = descent.last()
        extra: dict[str, Any] = {}
        if self.average:
            mean, n = descent.mean(), int(descent.state[loops.N_AVERAGED].max())
            extra = dict(zip(AVERAGING, (*weights, *mean, n), strict=True))
            found = mean if n else weights
        attributes = {"coef_": found.coef, "intercept_": found.intercept, **extra}
        t = float(descent.state[loops.T].max())
        return attributes | {"t_": t, "n_iter_": n_iter, "stop_reason_": "callback"}

    def _rule(self, sparse: bool) -> loops.Rule:
        """The parameters as the loops read them."""
        kind, width = self.loss_functions[self.loss]
        l1_ratio = {"l1": 1.0, "elasticnet": self.l1_ratio}.get(self.penalty, 0.0)
        alpha = 0.0 if self.penalty is None else float(self.alpha)
        return loops.Rule(
            loss=kind,
            width=float(self.epsilon) if self.loss in REGRESSION_LOSSES else width,
            classify=self._classify,
            l2=alpha * (1 - l1_ratio),
            l1=alpha * l1_ratio,
            schedule=SCHEDULES[self.learning_rate],
            alpha=float(self.alpha),
            t0=self.alpha**-0.75 if self.alpha > 0 else 0.0,  # the first rate is alpha**-0.25
            eta0=float(self.eta0),
            power_t=float(self.power_t),
            bias=float(self.fit_intercept) * (SPARSE_INTERCEPT_STEP if sparse else 1.0),
            average=float(self.average) if self.average else math.inf,
            measure=not self.early_stopping and bool(self.tol is not None or self.verbose),
        )

    def _check_parameters(self, batch: bool = False) -> None:
        """Raise if a parameter, or a combination of parameters, is invalid."""
        self._validate_params()
        if batch and self.early_stopping:
            raise ValueError("early_stopping should be False with partial_fit; got True.")
        if self.learning_rate == "optimal" and self.alpha == 0:
            raise ValueError("alpha must be > 0 with learning_rate='optimal'; got 0.")
        if self.learning_rate in ("pa1", "pa2") and self.loss != self._pa_loss:
            raise ValueError(
                f"learning_rate={self.learning_rate!r} needs loss={self._pa_loss!r}; "
                f"got {self.loss!r}."
            )
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ValueError("l1_ratio must be set when penalty is 'elasticnet'; got None.")

    def _check_X(self, X: Any, first: bool) -> Any:
        """X (n, d) as the loops read it; `first` if there are no columns to compare it with."""
        X = checks.rows(self, X, reset=first, order="C")
        # The length of a row, in the PA rules, is that of its sums.
        return summed_duplicates(X) if self.learning_rate in ("pa1", "pa2") else X

    def _shortfall(self, patience: list[Patience]) -> str:
        """The warning of a fit that reached `max_iter`."""
        slowest = min(patience, key=lambda p: p.waited)
        value = "validation score" if self.early_stopping else "objective"
        best = -slowest.best if self.early_stopping else slowest.best
        return (
            "Maximum number of iteration reached before convergence. Consider increasing max_iter "
            f"to improve the fit. The best {value} after max_iter={self.max_iter} epochs is "
            f"{best:.3g}. A fit converges after n_iter_no_change={self.n_iter_no_change} epochs in "
            f"a row that improve it by less than tol={self.tol:g}; there were {slowest.waited}."
        )


AVERAGING = (
    "_standard_coef", "_standard_intercept", "_average_coef", "_average_intercept", "_n_averaged",
)  # fmt: skip


def rows_to_visit(data: TrainingData, held_out: HeldOut | None) -> NDArray[np.bool_] | None:
    """Mark the training rows of positive weight (n,); None if all are."""
    if held_out is None and (data.weight is None or data.weight.all()):
        return None
    visited = np.zeros(len(data.y), np.bool_)
    visited[slice(None) if held_out is None else held_out.rows] = True
    if data.weight is not None:
        visited &= data.weight > 0
    if not visited.any():
        raise ValueError("sample_weight must give some training row a positive weight; all are 0.")
    return visited


def overflow(n_iter: int) -> ValueError:
    return ValueError(
        f"Floating-point under-/overflow occurred at epoch #{n_iter}. Scaling input data with "
        "StandardScaler or MinMaxScaler might help. A smaller eta0 also helps."
    )


class SGDClassifier(StochasticGradient, LogisticScores, LinearClassifier):
    """Linear classifier fitted by stochastic gradient descent.

    An epoch visits every row once. A visit with score ``p = w.x + b``, label y in {-1, +1} and
    learning rate eta sets ``w = (1 - eta alpha) w - eta loss'(p) x`` and ``b = b - eta loss'(p)``.
    The default loss gives a linear support vector machine. More than two classes are fitted one
    versus the rest. Columns should have similar scales.

    Parameters
    ----------
    loss : {"hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", \
            "squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"}
        Loss function: "hinge" gives a linear SVM, "log_loss" logistic regression. The last four
        are losses for regression, here with targets -1 and +1.
    penalty : {"l2", "l1", "elasticnet"} or None, default="l2"
        Penalty on the weights. "l1" and "elasticnet" set weights to zero.
    alpha : float, default=0.0001
        Factor of the penalty; also sets the "optimal" learning rate.
    l1_ratio : float or None, default=0.15
        Share of L1 in ``penalty="elasticnet"``, from 0 to 1.
    fit_intercept : bool, default=True
        Whether to fit an intercept. On sparse rows its steps are a hundredth of the others.
    max_iter : int, default=1000
        Maximum number of epochs of `fit`.
    tol : float or None, default=1e-3
        Stop after `n_iter_no_change` epochs that do not improve the best objective (with
        `early_stopping`, the best validation score) by more than `tol`. None runs `max_iter`
        epochs.
    shuffle : bool, default=True
        Whether to visit the rows in a new random order in each epoch.
    verbose : int, default=0
        Print the objective after each epoch if not 0.
    epsilon : float, default=0.1
        Width of "huber" and of the epsilon-insensitive losses.
    n_jobs : int or None, default=None
        Number of threads for more than two classes; -1 uses all.
    random_state : int, RandomState instance or None, default=None
        Seed for shuffling and for the validation rows.
    learning_rate : {"constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"}
        Learning rate of visit t (default "optimal"):

        - "constant": eta0
        - "optimal": ``1 / (alpha (t + t0))``, which starts with ``alpha**-0.25``
        - "invscaling": ``eta0 / t**power_t``
        - "adaptive": eta0, divided by 5 whenever `tol` would end the fit, down to 1e-6
        - "pa1", "pa2": passive-aggressive steps ``min(eta0, loss / |x|^2)`` and
          ``loss / (|x|^2 + 1 / (2 eta0))`` [1]_, for ``loss="hinge"``
    eta0 : float, default=0.01
        Initial learning rate; the aggressiveness C of "pa1" and "pa2".
    power_t : float, default=0.5
        Exponent of "invscaling".
    early_stopping : bool, default=False
        Hold out rows and stop when the score on them does not improve.
    validation_fraction : float, default=0.1
        Fraction of the rows held out by `early_stopping`.
    n_iter_no_change : int, default=5
        Number of epochs without improvement before stopping.
    class_weight : dict, "balanced" or None, default=None
        Factors for the steps of each class.
    warm_start : bool, default=False
        Start from the weights of the previous fit.
    average : bool or int, default=False
        Return the mean of the weights over all visits, or from visit number `average` on.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_iter_ : int
        Number of epochs.
    t_ : float
        Number of rows visited, plus one.
    stop_reason_ : str
        "converged", "max_iter", "early_stopping" or "callback".
    n_parameters_ : int
        Number of free parameters.
    n_features_in_, feature_names_in_ :
        Number of columns of X, and their names if all are strings.

    References
    ----------
    .. [1] K. Crammer et al. (2006), Online passive-aggressive algorithms.

    Examples
    --------
    >>> from rosenblatt import SGDClassifier
    >>> X, y = [[-2, -1], [-1, -1], [1, 1], [2, 1]], ["ham", "ham", "spam", "spam"]
    >>> model = SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    >>> model.predict([[-3, -1], [3, 2]])
    array(['ham', 'spam'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StochasticGradient._parameter_constraints,
        "n_jobs": [Integral, None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }
    loss_functions = LOSSES
    _classify, _pa_loss = True, "hinge"

    def __init__(
        self,
        loss: str = "hinge",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average

    @fitting
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Run one epoch over the batch X (n, d), y (n,) from the present weights; return self.

        `classes` are all labels of the stream; the first call needs them.
        """
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit. In order to use "
                "'balanced' weights, use compute_class_weight('balanced', classes=classes, y=y). "
                "In place of y you can use a large enough sample of the full training set target "
                "to properly estimate the class frequency distributions. Pass the resulting "
                "weights as the class_weight parameter."
            )
        return self._partial_fit(X, y, sample_weight, classes)

    def _training_data(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, batch: bool = False
    ) -> TrainingData:
        """The checked input of `fit`, or of `partial_fit` if `batch`."""
        X = self._check_X(X, first=not (batch and hasattr(self, "coef_")))
        if batch:
            known = check_classes(self, classes)
            seen, codes = checks.labels(y, X.shape[0])
            codes = checks.known_classes(seen, known)[codes]
        else:
            known, codes = checks.classes(y, X.shape[0])
        self.classes_ = known
        # With early stopping, `HeldOut` raises an error about weights of zero.
        weight = checks.weights(sample_weight, X.shape[0], all_zero=self.early_stopping)
        by_class = class_weights(self.class_weight, known, codes)
        outputs = np.arange(len(known), dtype=np.float64), by_class, np.ones(len(known))
        if len(known) == 2:
            outputs = np.ones(1), by_class[1:], by_class[:1]
        return TrainingData(X, codes.astype(np.float64), weight, *outputs)

    def _has_probabilities(self) -> bool:
        if self.loss not in ("log_loss", "modified_huber"):
            raise AttributeError(f"probability estimates are not available for loss={self.loss!r}")
        return True

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probability (n, K) of each class for the rows of X.

        With ``loss="log_loss"`` a score s gives ``1 / (1 + exp(-s))``, with "modified_huber"
        ``(clip(s, -1, 1) + 1) / 2``; more than two classes are normalized. Other losses have no
        probabilities.
        """
        scores = self._comparable_scores(X)
        if scores.ndim == 1:
            scores = np.stack([-scores, scores], axis=1)
        P = expit(scores) if self.loss == "log_loss" else (np.clip(scores, -1, 1) + 1) / 2
        if len(self.classes_) > 2:
            P[~P.any(axis=1)] = 1  # no class is likely: all are equally likely
            P /= P.sum(axis=1, keepdims=True)
        return np.asarray(P)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))


class SGDRegressor(StochasticGradient, LinearRegressor):
    """Linear regression fitted by stochastic gradient descent.

    A visit with prediction ``p = w.x + b`` and learning rate eta sets
    ``w = (1 - eta alpha) w - eta loss'(p) x`` and ``b = b - eta loss'(p)``. Columns and targets
    should have similar scales.

    Parameters
    ----------
    loss : {"squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"}
        Loss function. "huber" is linear for errors above `epsilon`; the last two ignore errors
        below it. "pa1" and "pa2" need "epsilon_insensitive".
    penalty, alpha, l1_ratio, fit_intercept, max_iter, tol, shuffle, verbose, epsilon, \
    random_state, learning_rate, eta0, power_t, early_stopping, validation_fraction, \
    n_iter_no_change, warm_start, average
        As for `SGDClassifier`, with the defaults ``learning_rate="invscaling"`` and
        ``power_t=0.25``. The validation score is R^2.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : ndarray of shape (1,)
        Intercept.
    n_iter_, t_, stop_reason_, n_parameters_, n_features_in_, feature_names_in_
        As for `SGDClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import SGDRegressor
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> SGDRegressor(tol=1e-6, random_state=0).fit(X, 3 * X[:, 0] + 1).predict([[0.5]]).round(1)
    array([2.5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StochasticGradient._parameter_constraints,
        "loss": [StrOptions(set(REGRESSION_LOSSES))],
    }
    loss_functions = REGRESSION_LOSSES
    _classify, _pa_loss = False, "epsilon_insensitive"

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        random_state: Any = None,
        learning_rate: str = "invscaling",
        eta0: float = 0.01,
        power_t: float = 0.25,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average

    @fitting
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Run one epoch over the batch X (n, d), y (n,) from the present weights; return self."""
        return self._partial_fit(X, y, sample_weight)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted targets (n,) of the rows of X."""
        return super().predict(X).ravel()  # `sparsify` makes `coef_` a table of one row

    sparsify, densify = LinearClassifier.sparsify, LinearClassifier.densify

    def _training_data(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, batch: bool = False
    ) -> TrainingData:
        """The checked input of `fit`, or of `partial_fit` if `batch`."""
        X = self._check_X(X, first=not (batch and hasattr(self, "coef_")))
        y = column_or_1d(checks.targets(self, y, X.shape[0]), warn=True)
        weight = checks.weights(sample_weight, X.shape[0], all_zero=self.early_stopping)
        return TrainingData(X, y, weight, np.ones(1), np.ones(1), np.ones(1))

    def _attributes(self, descent: Descent, n_iter: int) -> dict[str, Any]:
        found = super()._attributes(descent, n_iter)
        return found | {"coef_": found["coef_"][0]}


# Sparse and dense rows give the same fit without an intercept, see SPARSE_INTERCEPT_STEP.
SEEDED = {"random_state": 0, "fit_intercept": False}
ROWS = (
    Row(
        "SGDClassifier",
        page="sgd.md",
        contract=Contract(
            settings=(
                SEEDED,
                {"loss": "log_loss", "learning_rate": "invscaling", "average": True, **SEEDED},
                {"loss": "modified_huber", "penalty": "elasticnet", **SEEDED}
                | {"learning_rate": "adaptive"},
                {"learning_rate": "pa1", "eta0": 0.1, **SEEDED},
                {"early_stopping": True, **SEEDED},
            ),
            checked=({}, {"loss": "log_loss", "penalty": "elasticnet", "average": True}),
            expected_failures=VISITS_ROWS,
        ),
        warm=Warm(({"max_iter": 2}, {"penalty": "l1", "max_iter": 2})),
        peer_tests=("linear_model/tests/test_sgd.py",),
    ),
    Row(
        "SGDRegressor",
        page="sgd.md",
        contract=Contract(
            settings=(
                SEEDED,
                {"loss": "huber", "average": True, **SEEDED},
                {"loss": "epsilon_insensitive", "learning_rate": "pa2", **SEEDED},
                {"early_stopping": True, **SEEDED},
            ),
            checked=({}, {"average": True}),
            expected_failures=VISITS_ROWS,
        ),
        warm=None,  # the loops of SGDClassifier
        peer_tests=("linear_model/tests/test_sgd.py",),
    ),
)
