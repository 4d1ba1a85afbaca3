"""Rosenblatt's perceptron, and the base class of the linear perceptrons."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks
from rosenblatt.base import Attributes, LinearClassifier, arrays, fitting, read_only
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.mistake_driven import Examples, MistakeDriven, Pick, Training, check_examples
from rosenblatt.registry.row import VISITS_ROWS, Candidate, Contract, Row, Warm
from rosenblatt.runtime import threads

from . import perceptron_loops


class LinearWeights:
    """Weights of linear scores: w (d,) for two classes, (d, K) for more; biases b (1,) or (K,).

    On a mistake, ``y (w.x + b) <= 0``: w += y x and b += y. With K classes the true class gains x
    and its best rival loses it.
    """

    drifts = False
    n_updates = 0
    n_visits = 0
    _scored: tuple[Any, Any] = (None, None)

    def __init__(
        self,
        examples: Examples,
        coef: NDArray[Any],
        intercept: NDArray[Any],
        shrinkage: tuple[float, float] | None = None,
    ) -> None:
        """Start at coef and intercept; `shrinkage` is the factor and amount at each visit."""
        self.examples, self.X = examples, arrays(examples.X)
        self.w, self.b = as_columns(coef), intercept.copy()
        self.bias = self.b.dtype.type(examples.bias)
        self.labels: tuple[NDArray[Any], ...]
        if examples.n_outputs == 1:
            push = np.where(examples.codes == 1, examples.step, -examples.step)
            self.labels = (read_only(push),)
        else:
            self.labels = (
                read_only(examples.codes), read_only(examples.step), np.empty_like(self.b)
            )  # fmt: skip
        self.shrink: tuple[Any, ...] | None = None
        if shrinkage is not None:
            self.drifts = True
            self.shrink = (*shrinkage, np.array([1.0, 0.0]), np.zeros(self.w.shape))

    def visit(self, order: NDArray[np.int32], most: int, mean: Any = None) -> Any:
        """Visit rows in order, correct at most `most` mistakes; return (mistakes, loss, visits)."""
        return perceptron_loops.perceptron_pass(
            self.X, self.labels, order, self.examples.ties, most, self.bias, self.w, self.b,
            self.shrink, mean,
        )  # fmt: skip

    def state(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the weights (1, d) or (K, d) and biases for the next visit."""
        W = np.atleast_2d(self.w.T)
        return (W if self.shrink is None else (W * self.shrink[2][0]).astype(W.dtype)), self.b

    def score(self, row: int) -> Any:
        """Return the score of a row, or its scores (K,)."""
        coef, intercept = self.state()
        scores = np.ravel(self.examples.X[[row]] @ coef.T + intercept)
        return scores[0] if len(scores) == 1 else scores

    def all_scores(self) -> NDArray[Any]:
        """Return the scores (n,) or (n, K) of all rows."""
        scores = np.empty((len(self.examples.codes), *self.w.shape[1:]), self.w.dtype)

        def fill(start: int, stop: int) -> None:
            perceptron_loops.fill_scores(self.X, start, stop, self.w, self.b, scores)

        threads.over_chunks(fill, len(scores), self.examples.cells)
        return scores

    def published_scores(self, rows: NDArray[np.int32]) -> NDArray[Any]:
        """Return the scores (m, 1) or (m, K) of some rows by the fitted attributes."""
        if self._scored[0] is not rows:  # the same rows are scored after every epoch
            self._scored = (rows, self.examples.X[rows])
        now = self.attributes()
        return np.asarray(self._scored[1] @ now["coef_"].T + now["intercept_"])

    def attributes(self, copy: bool = True) -> Attributes:
        """Return the fitted attributes, as copies unless the fit has ended."""
        coef, b = self.state()
        if copy:
            coef, b = coef.copy(), b.copy()
        return {"coef_": coef, "intercept_": b, "n_updates_": self.n_updates}

    def resume(self, model: Any) -> None:
        """Continue the counts of the earlier batches of a model."""
        self.n_updates, self.n_visits = model.n_updates_, int(model.t_) - 1


class LinearPerceptron(LinearClassifier, MistakeDriven):
    """Base class of the linear perceptrons: initial weights, batches, paths of `max_iter`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MistakeDriven._parameter_constraints,
        "warm_start": ["boolean"],
    }

    coef_init_: NDArray[Any] | None
    intercept_init_: NDArray[Any] | None
    # Weights used for prediction if not the last; `last_coef_` are then the last.
    _published: ClassVar[str | None] = None
    _warns_of_mistakes = True  # that are left at the end of a fit

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
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        coef_init : array-like of shape (1, d) or (K, d), or None
            Weights to begin from.
        intercept_init : array-like of shape (1,) or (K,), or None
            Biases to begin from.
        sample_weight : array-like of shape (n,) or None
            Multiplies the step of each row; rows of weight 0 are not visited.
        """
        rng = check_random_state(self.random_state)
        examples = check_examples(self, X, y, sample_weight, rng=rng)
        weights = self._weights(examples, *self._start(examples, coef_init, intercept_init))

        training = Training(self, weights, X, y, sample_weight, rng)
        for rows in training:
            # On a mistake, y (w.x + b) <= 0: w += y x and b += y.
            training.count(rows, weights.visit(rows, training.updates_left))

        training.set_attributes()
        if self._warns_of_mistakes:
            training.warn_if_not_converged()
        return self

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
        is_first = not hasattr(self, "coef_")
        classes = check_classes(self, classes)
        examples = check_examples(self, X, y, sample_weight, classes=classes)
        self._check_batch_settings()
        start = (None, None) if is_first else self._last_weights()
        start = check_start(examples.X, examples.n_outputs, *start)
        weights = self._weights(examples, *start)
        low, high = getattr(self, "step_range_", (np.inf, 0.0))
        if is_first:
            self.coef_init_ = self.intercept_init_ = None
        else:
            weights.resume(self.densify())

        rng = check_random_state(self.random_state)
        training = Training(self, weights, X, y, sample_weight, rng, max_iter=1)
        for rows in training:
            training.count(rows, weights.visit(rows, training.updates_left))

        training.set_attributes("max_iter")  # an epoch over one batch proves nothing
        self.step_range_ = (min(low, self.step_range_[0]), max(high, self.step_range_[1]))
        return self

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: weights, and the states of the run."""
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
        snapshots = EpochSnapshots(other.max_iter for other in others)
        given = getattr(longest, "_skl_callbacks", [])
        longest.set_callbacks(*given, snapshots).fit(X, y, sample_weight=sample_weight)
        longest.set_callbacks(*given)
        for other in others:
            fitted = _fitted(longest)
            if other.max_iter < longest.n_iter_:  # else the runs are equal
                fitted |= snapshots.attributes[other.max_iter]
                fitted |= {"converged_": False, "stop_reason_": "max_iter", "cycle_": 0}
            vars(other).update(deepcopy(fitted))
        return ModelPath(models)

    def _check_batch_settings(self) -> None:
        """Raise if a parameter does not apply to a single epoch over a batch."""
        for name, value in (
            ("early_stopping", self.early_stopping and True),
            ("class_weight", self.class_weight == "balanced" and "balanced"),
            ("pick", self.pick != "cyclic" and self.pick),
        ):
            if value:
                raise ValueError(
                    f"partial_fit sees one batch, once; {name} should not be {value!r} with it."
                )

    def _start(
        self, examples: Examples, coef_init: Any, intercept_init: Any
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the initial weights: as given, or the last if `warm_start`, or 0."""
        if self.warm_start and hasattr(self, "coef_"):
            coef, intercept = self._last_weights()
            coef_init = coef if coef_init is None else coef_init
            intercept_init = intercept if intercept_init is None else intercept_init
        start = check_start(examples.X, examples.n_outputs, coef_init, intercept_init)
        zero = not any(part.any() for part in start)
        self.coef_init_, self.intercept_init_ = (None, None) if zero else start
        return start

    def _last_weights(self) -> tuple[Any, NDArray[Any]]:
        """Return the weights of the last visit, which may differ from `coef_`."""
        if hasattr(self, "last_coef_"):
            return self.last_coef_, self.last_intercept_
        return self.densify().coef_, self.intercept_

    def _weights(
        self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]
    ) -> LinearWeights:
        """Return the state of the fit, starting at coef and intercept."""
        return LinearWeights(examples, coef, intercept)


class Perceptron(LinearPerceptron):
    """Perceptron classifier: corrects its weights after every mistake until there is none.

    Two classes: on a mistake, ``y (w.x + b) <= 0``, set ``w += y x`` and ``b += y``; stop after a
    pass without a mistake. If a unit plane keeps every ``(x, 1)`` at least g away on the correct
    side, and no ``(x, 1)`` is longer than R, at most ``(R / g)**2`` mistakes are made [1]_. If no
    plane separates the classes, mistakes never end; `separability` proves it.

    More classes: each has a row of weights, and the highest score wins. On a mistake the true class
    gains x and its best rival loses it.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None
        Penalty that shrinks the weights at every visit; the mistake bound does not hold then.
    alpha : float
        Strength of the penalty.
    l1_ratio : float
        Share of L1 in ``penalty="elasticnet"``, from 0 to 1.
    fit_intercept : bool
        Whether to fit an intercept.
    max_iter : int
        Maximum number of passes over the data; with `pick` other than "cyclic" of searches for a
        mistake, unless `max_updates` is given.
    tol : float or None
        Stop when the loss per row has not fallen by more than `tol` below its best for
        `n_iter_no_change` passes. None stops at a pass without a mistake, or at `max_iter`.
    shuffle : bool
        Whether to visit the rows in a new random order in each pass.
    verbose : int
        Print a line per pass if not 0.
    eta0 : float
        Length of a step. If the initial weights are zero, it only scales the weights.
    n_jobs : int or None
        Accepted for compatibility.
    random_state : int, RandomState instance or None
        Seed for shuffling, for the held-out rows and for ``pick="random"``.
    early_stopping : bool
        Hold out rows, stop when the accuracy on them has not risen by `tol` for `n_iter_no_change`
        passes, and return the weights with the best accuracy.
    validation_fraction : float
        Share of rows held out by `early_stopping`.
    n_iter_no_change : int
        Number of passes without progress before stopping.
    class_weight : dict, "balanced" or None
        Factors for the steps of each class; "balanced" is the inverse of its frequency.
    warm_start : bool
        Whether to start from the weights of the previous fit.
    boundary : {"mistake", "positive", "negative"}
        Class of a score of exactly 0 during training: a mistake for both classes, the second class,
        or the first. With more classes, whether a tie is a mistake, or goes to the higher or the
        lower class. `predict` follows "positive" as well.
    pick : {"cyclic", "random", "first", "worst"}
        Mistake to correct next: the next in a pass over the rows, or, after scoring all rows, a
        random one, the first, or the one furthest on the wrong side.
    max_updates : int or None
        Maximum number of corrections.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        Weights.
    intercept_ : ndarray of shape (1,) or (K,)
        Intercepts.
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    n_iter_ : int
        Number of passes.
    n_updates_ : int
        Number of mistakes corrected between `coef_init_` and `coef_`.
    t_ : float
        Number of rows visited, plus one.
    converged_ : bool
        Whether the fit ended with a pass without a mistake. False after `partial_fit`, which visits
        one batch, and with a penalty, which changes the weights in such a pass.
    stop_reason_ : str
        "converged", "max_iter", "no_progress", "early_stopping" or "callback".
    n_parameters_ : int
        Number of free parameters.
    cycle_ : int
        Number of passes after which the weights of a fit in fixed order repeat; 0 if they do not.
    coef_init_, intercept_init_ : ndarray or None
        Initial weights; None is zero.
    step_range_ : tuple of float
        Shortest and longest step of a row: eta0 times its weights.
    validation_scores_ : list of float or None
        Accuracy on the held-out rows after each pass, with `early_stopping`.
    n_features_in_, feature_names_in_ :
        Number of columns of X, and their names if all are strings.

    See Also
    --------
    rosenblatt.separability : finds a separating plane, or proves that none exists.
    rosenblatt.certify : checks a fitted model against the data.
    rosenblatt.Trace : records the fit step by step.

    References
    ----------
    .. [1] A. Novikoff (1962), On convergence proofs on perceptrons.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[0, 1], [1, 0], [2, 3], [3, 2]], ["ham", "ham", "spam", "spam"]
    >>> model = Perceptron().fit(X, y)
    >>> model.predict([[0, 0], [4, 4]])
    array(['ham', 'spam'], dtype='<U4')
    >>> model.stop_reason_, model.converged_
    ('converged', True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearPerceptron._parameter_constraints,
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "n_jobs": [None, Integral],
        "pick": [StrOptions({"cyclic", "random", "first", "worst"})],
        "max_updates": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        boundary: Literal["mistake", "positive", "negative"] = "mistake",
        pick: Pick = "cyclic",
        max_updates: int | None = None,
    ) -> None:
        super().__init__(
            fit_intercept=fit_intercept, max_iter=max_iter, tol=tol, shuffle=shuffle,
            verbose=verbose, eta0=eta0, random_state=random_state, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change,
            class_weight=class_weight, warm_start=warm_start, boundary=boundary,
        )  # fmt: skip
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.n_jobs = n_jobs
        self.pick = pick
        self.max_updates = max_updates

    def _weights(
        self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]
    ) -> LinearWeights:
        if self.penalty is None:
            return super()._weights(examples, coef, intercept)
        l1_ratio = {"l1": 1.0, "l2": 0.0}.get(self.penalty, self.l1_ratio)
        rate = self.eta0 * self.alpha
        # A penalty so strong that it would change the sign of the weights sets them to zero.
        shrinkage = (max(0.0, 1 - (1 - l1_ratio) * rate), l1_ratio * rate)
        return LinearWeights(examples, coef, intercept, shrinkage)


class EpochSnapshots:
    """A callback of scikit-learn's protocol that keeps the fitted attributes after some epochs."""

    def __init__(self, wanted: Iterable[int]) -> None:
        self.wanted = set(wanted)
        self.attributes: dict[int, Attributes] = {}  # by the number of epochs

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to release."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing is kept before the end of an epoch."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> None:
        """Keep the attributes at the end of a wanted epoch."""
        if fitted_estimator.n_iter_ in self.wanted:
            self.attributes[fitted_estimator.n_iter_] = _fitted(fitted_estimator)


def as_columns(coef: NDArray[Any]) -> NDArray[Any]:
    """Return coef (1, d) or (K, d) as the loops store it: w (d,) or (d, K)."""
    return coef[0].copy() if len(coef) == 1 else np.array(coef.T, order="C")


def check_start(
    X: Any, n_outputs: int, coef_init: Any, intercept_init: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the initial weights (1, d) or (K, d) and biases (1,) or (K,); zeros for None."""
    coef = np.zeros((n_outputs, X.shape[1]), X.dtype)
    intercept = np.zeros(n_outputs, X.dtype)
    for name, given, start in (
        ("coef_init", coef_init, coef),
        ("intercept_init", intercept_init, intercept),
    ):
        if given is None:
            continue
        values = np.asarray(given, dtype=X.dtype)
        if values.size != start.size or (n_outputs > 1 and values.shape != start.shape):
            raise ValueError(
                f"Provided {name} does not match dataset: {name} must have shape {start.shape}; "
                f"got {values.shape}."
            )
        checks.finite(values, name)
        start[...] = values.reshape(start.shape)
    return coef, intercept


def _fitted(model: Any) -> dict[str, Any]:
    """Return the fitted attributes."""
    return {k: v for k, v in vars(model).items() if k.endswith("_") and not k.startswith("_")}


def check_classes(model: Any, classes: Any) -> NDArray[Any]:
    """Return the classes of all batches; the first `partial_fit` needs them as an argument."""
    known = getattr(model, "classes_", None)
    if classes is None:
        if known is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return known  # type: ignore[no-any-return]
    given = np.unique(np.asarray(classes))
    if known is not None and not np.array_equal(given, known):
        raise ValueError(
            f"`classes={given.tolist()!r}` is not the same as on last call to partial_fit, "
            f"was: {known.tolist()!r}"
        )
    checks.several_classes(given, "classes")
    return given


ROW = Row(
    "Perceptron",
    page="perceptron.md",
    certificate="perceptron",
    compare=(
        Candidate(
            "perceptron",
            "teaching; the averaged perceptron is more accurate",
            {"max_iter": (2, 5, 20)},
            order=52,
            rank=4,
        ),
    ),
    contract=Contract(
        settings=(
            {},
            {"tol": None, "max_iter": 5},
            {"penalty": "elasticnet", "max_iter": 5},
            {"pick": "worst", "max_updates": 20},
            {"pick": "random", "max_updates": 20},
            {"early_stopping": True},
        ),
        checked=({}, {"tol": None, "max_iter": 5}, {"penalty": "elasticnet"}),
        expected_failures=VISITS_ROWS,
    ),
    warm=Warm(
        (
            {"max_iter": 2},
            {"fit_intercept": False, "max_iter": 1},
            {"penalty": "l2", "max_iter": 2},
            {"pick": "first", "max_updates": 2},
        )
    ),
    parts="perceptron",
    peer_tests=("linear_model/tests/test_perceptron.py",),
)
