"""Rosenblatt's perceptron."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt.mistake_driven import Examples, Pick
from rosenblatt.registry.row import VISITS_ROWS, Candidate, Contract, Row, Warm

from .perceptron_base import LinearPerceptron, LinearWeights


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
