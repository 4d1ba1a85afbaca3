"""Rosenblatt's perceptron."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt.mistake_driven import Examples, Pick
from rosenblatt.registry.row import VISITS_ROWS, Candidate, Contract, Row, Warm

from .perceptron_base import LinearPerceptron, LinearWeights


class Perceptron(LinearPerceptron):
    """Rosenblatt's perceptron: correct the plane at each mistake, until there is none.

    Two classes: on a mistake, ``y (w.x + b) <= 0``, set ``w += y x`` and ``b += y``; stop after a
    pass without one. If some unit plane keeps every ``(x, 1)`` at least g away on its own side,
    and none is longer than R, there are at most ``(R / g)**2`` mistakes [1]_. If no plane
    separates the classes, the passes never come clean; `separability` tells, with a proof.

    More classes: one row of weights each, the highest score wins; on a mistake the true class
    gains x and its best rival loses it. All classes learn in one joint pass.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None
        Shrinks the weights at every visit. The mistake bound then no longer holds.
    alpha : float
        Strength of the penalty.
    l1_ratio : float
        Share of L1 in ``penalty="elasticnet"``, from 0 to 1.
    fit_intercept : bool
        Whether the plane may leave the origin.
    max_iter : int
        Passes over the data before giving up. With `pick` other than "cyclic", looks through the
        data (one a correction), unless `max_updates` is given.
    tol : float or None
        Give up when the loss, summed as the examples were met and divided by their number, has
        not fallen by more than `tol` below its best for `n_iter_no_change` passes; None goes on
        until a clean pass or `max_iter`.
    shuffle : bool
        Visit the rows in a new random order each pass; False keeps the order of the data.
    verbose : int
        Print a line per pass if not 0.
    eta0 : float
        Length of a step. From a zero start it only scales the weights.
    n_jobs : int or None
        Accepted for scikit-learn's sake; one joint pass has no parts to run side by side.
    random_state : int, RandomState instance or None
        Seed of the orders, of the held-out rows and of ``pick="random"``.
    early_stopping : bool
        Hold out `validation_fraction` of the rows, stop when the accuracy on them has not risen
        by `tol` for `n_iter_no_change` passes, and return the weights of its peak.
    validation_fraction : float
        Share of rows held out by `early_stopping`.
    n_iter_no_change : int
        Passes to wait for progress.
    class_weight : dict, "balanced" or None
        Multiplies the steps of each class; "balanced" by the inverse of its frequency.
    warm_start : bool
        Begin where the previous fit ended.
    boundary : {"mistake", "positive", "negative"}
        What a score of exactly 0 is while learning: a mistake for either class, right for the
        second class, or right for the first. With more classes: a tie is a mistake, goes to the
        higher class, or to the lower. "positive" also predicts that way.
    pick : {"cyclic", "random", "first", "worst"}
        Which mistake to correct next: "cyclic" goes round the rows in passes; the others look at
        all rows and take a random mistake, the first, or the one furthest on the wrong side.
    max_updates : int or None
        Corrections before giving up.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        The weights.
    intercept_ : ndarray of shape (1,) or (K,)
        The biases.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    n_iter_ : int
        Passes made.
    n_updates_ : int
        Mistakes corrected on the way from `coef_init_` to `coef_`.
    t_ : float
        Rows visited, plus one.
    converged_ : bool
        Whether a pass without a mistake ended the fit. Never after `partial_fit`, which sees one
        batch, nor with a penalty, which moves the weights in such a pass, too.
    stop_reason_ : str
        "converged", "max_iter", "no_progress", "early_stopping" or "callback".
    n_parameters_ : int
        Free numbers: d weights, and an intercept if there is one, for each class but one.
    cycle_ : int
        Passes after which a fit in fixed order repeats its weights, for ever; 0 if none was seen.
    coef_init_, intercept_init_ : ndarray or None
        Where the fit began; None is zero.
    step_range_ : tuple of float
        The shortest and the longest step that a mistake could earn: eta0 times the weights.
    validation_scores_ : list of float or None
        Accuracy on the held-out rows after each pass, with `early_stopping`.
    n_features_in_, feature_names_in_ :
        Number of columns of X, and their names if all are strings.

    See Also
    --------
    rosenblatt.separability : a separating plane, or the proof that there is none.
    rosenblatt.certify : what a fit achieved, re-derived from the data.
    rosenblatt.Trace : how it got there, step by step.

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
