"""Least squares: regression, and classification by the fit of class codes."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from rosenblatt.additive_classifier import AdditiveClassifier
from rosenblatt.prediction import PlaneScores
from rosenblatt.registry.row import Candidate, Contract, Row
from rosenblatt.runtime.interrupts import MANY_UNKNOWNS, interruptible
from rosenblatt.solvers.least_squares import Solution, solve
from rosenblatt.statistics import Moments
from rosenblatt.statistics.sums import relative_noise

from .gram_regression import GramRegressor

Array = NDArray[np.float64]


LEAST_SPREAD = 1e-15  # of a column, as a share of its mean: less is no more than rounding


class LinearRegression(GramRegressor):
    """Least squares: the coefficients w and intercept b of least ``sum (y - w.x - b)^2``.

    What is left over has mean zero and no product with any column. It all follows from the products
    of the columns, the `Gram` statistic, so a model streams, merges and forgets. Columns are scaled
    to length one first, so that their units do not matter. Where the products have lost too many
    digits `fit` goes back to the rows, by an orthogonal factorisation. Where the columns are
    dependent, the shortest of all best coefficients are taken, with a warning that names the
    columns.

    Parameters
    ----------
    fit_intercept : bool
        Whether b is fitted; it is zero otherwise.
    copy_X : bool
        Accepted for scikit-learn's sake: X is never changed.
    tol : float
        Directions in which the columns, scaled to length one, vary less than this times the
        largest variation are taken for dependence. Where there is no closed form (sparse rows with
        very many columns), the gradient at which to stop, relative to the first.
    n_jobs : int or None
        Accepted for scikit-learn's sake: one product of matrices does the work.
    positive : bool
        Whether coefficients below zero are forbidden.

    Attributes
    ----------
    coef_ : the coefficients, (d,), or (t, d) for targets in columns.
    intercept_ : a number, or (t,).
    rank_ : independent directions among the columns.
    singular_ : singular values of the centred, weighted rows, largest first.
    solution_ : "unique", or "minimum norm" where others fit equally well.
    solver_ : "cholesky" or "eigen" of the products, "svd" of the rows, "nnls" for positive ones,
        "sparse_cg" or "lbfgs" where there is no closed form.
    stop_reason_ : "converged", a closed form always; or "max_iter", "no_progress", "callback".
    objective_, dual_gap_, gradient_norm_ : where there is no closed form, the sum of squares, how
        far it is from its least value at most (nothing is known of that without a penalty, so
        infinity), and the length of its gradient; for several targets of each.
    condition_ : reciprocal of the condition of the normal equations, columns scaled to one.
    n_parameters_ : free numbers of the model.
    statistics_ : the `Gram` it follows from; none is kept of more than 2048 columns, unless there
        are as many rows.

    Examples
    --------
    >>> from rosenblatt import LinearRegression
    >>> model = LinearRegression().fit([[0], [1], [2], [3]], [1, 2, 2, 4])
    >>> model.coef_, model.intercept_.round(12)
    (array([0.9]), np.float64(0.9))
    >>> model.partial_fit([[4]], [5]).coef_
    array([1.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "n_jobs": [None, Integral],
        "positive": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    singular_: NDArray[Any]

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    def _penalties(self, n_targets: int) -> Array:
        return np.zeros(n_targets)

    def _least_share(self) -> float:
        return float(self.tol)

    def _limits(self, d: int) -> tuple[float, int]:
        return self.tol, 2 * d

    def _set(
        self, solution: Solution, mean_x: Array, mean_y: Array, dtype: Any, flat_y: bool
    ) -> None:
        super()._set(solution, mean_x, mean_y, dtype, flat_y)
        if "statistics_" in vars(self):
            gram, _, _ = self.statistics_.about(self.fit_intercept)
            many = len(gram) >= MANY_UNKNOWNS
            squares = interruptible(lambda: np.linalg.eigvalsh(gram), many)[::-1]
            singular = np.sqrt(np.maximum(squares, 0.0))[: self.statistics_.rows]
            self.singular_ = singular.astype(dtype)


class LeastSquaresClassifier(PlaneScores, AdditiveClassifier):
    """The least-squares fit of class codes, cut at zero.

    For two classes the codes are -1 and +1, and a row is of the second class where ``w.x + b > 0``.
    For more, each class has a plane fitted to 1 on its rows and 0 on the others, and the highest
    wins. The planes follow from the weight, mean and scatter of each class, so a model streams,
    merges and forgets. Rows far out on their right side pull the plane as much as wrong ones.

    Parameters
    ----------
    fit_intercept : bool
        Whether b is fitted; it is zero otherwise.

    Attributes
    ----------
    coef_, intercept_ : the planes, shapes (K, d) and (K,), for two classes (1, d) and (1,).
    solution_ : "unique", or "minimum norm" where several planes fit equally well and the one with
        the shortest coefficients is taken.
    rank_ : independent directions among the features.
    condition_ : reciprocal of the condition of the normal equations, features scaled to one: near
        1 is good, 0.0 is singular.
    n_parameters_ : free numbers of the model.
    classes_ : the labels, sorted.
    statistics_ : the moments it all follows from.

    Examples
    --------
    >>> from rosenblatt import LeastSquaresClassifier
    >>> X = [[1, 2], [2, 3], [3, 3], [6, 5], [7, 8], [8, 7]]
    >>> model = LeastSquaresClassifier().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.coef_, model.intercept_
    (array([[0.34285714, 0.02337662]]), array([-1.65194805]))
    >>> model.predict([[4, 4], [6, 6]])
    array([1, 2])
    """

    measured_by = ()
    # By class, though the equations want the sum only: classes seen later then fit in.
    statistic_type = (Moments, {"full": True, "missing": "refuse"})

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"fit_intercept": ["boolean"]}

    statistics_: Moments

    def __init__(self, *, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    def _middle(self) -> Array:
        return np.asarray(self.statistics_.total().mean[0])

    def _stores_single_rows(self) -> bool:
        return True

    def _forget_bound(self, before: Any, left: Any) -> float:
        return relative_noise(before.total(), left.total())

    def _conclude(self) -> None:
        statistic = self.statistics_
        total = statistic.total()
        weight, mean, gram = total.weight[0], total.mean[0], total.scatter[0]
        shares = self._by_class(statistic.weight) / weight
        # sum over rows of (x - mean) t, for the codes t = 1 in a class and 0 elsewhere
        products = ((statistic.mean - mean) * statistic.weight[:, None]).T
        products = self._by_class(np.ascontiguousarray(products.T)).T
        if len(self.classes_) == 2:  # t = 2 [second] - 1
            products, shares = 2 * products[:, 1:], 2 * shares[1:] - 1
        if self.fit_intercept:  # a column that varies by the rounding of its mean alone does not
            varies = np.sqrt(np.diag(gram) / weight) > LEAST_SPREAD * np.abs(mean)
            gram, products = gram * np.outer(varies, varies), products * varies[:, None]
        else:  # about the origin instead of the mean
            gram = gram + weight * np.outer(mean, mean)
            products = products + weight * np.outer(mean, shares)
        solution = solve(gram, products)
        self.condition_, self.rank_ = solution.condition, solution.rank
        self.solution_ = "unique" if solution.rank == len(gram) else "minimum norm"
        coef = solution.coef.T
        intercept = shares - coef @ mean if self.fit_intercept else np.zeros(len(coef))
        self.coef_ = coef.astype(statistic.dtype)
        self.intercept_ = intercept.astype(statistic.dtype)
        self.n_parameters_ = self.coef_.size + (len(coef) if self.fit_intercept else 0)


ROWS = (
    Row(
        "LeastSquaresClassifier",
        page="discriminants.md",
        certificate="discriminants",
        compare=(
            Candidate(
                "least squares classifier",
                "a linear answer in one pass, to compare others with",
                limits=("few columns",),
                order=51,
            ),
        ),
        contract=Contract(
            settings=({}, {"fit_intercept": False}), checked=({}, {"fit_intercept": False})
        ),
    ),
    Row(
        "LinearRegression",
        page="regression.md",
        certificate="linear_regression",
        compare=(
            Candidate(
                "least squares",
                "few columns beside the rows; coefficients to be read",
                short_names=("ols",),
                order=80,
            ),
        ),
        contract=Contract(
            settings=({}, {"fit_intercept": False, "tol": 0}, {"positive": True}),
            checked=({}, {"fit_intercept": False}, {"positive": True}),
        ),
        peer_tests=("linear_model/tests/test_base.py",),
    ),
)
