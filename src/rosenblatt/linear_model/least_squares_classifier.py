"""Classification by the least-squares fit of class codes."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.additive import AdditiveClassifier, Rows
from rosenblatt.prediction import PlaneScores
from rosenblatt.registry.row import Candidate, Contract, Row
from rosenblatt.statistics import Moments

from .least_squares import solve

Array = NDArray[np.float64]

LEAST_SPREAD = 1e-15  # of a column, as a share of its mean: less is no more than rounding


class LeastSquaresClassifier(PlaneScores, AdditiveClassifier):
    """Classifier by a least-squares fit of class codes.

    For two classes the codes are -1 and +1, and a row is of the second class where ``w.x + b > 0``.
    For more, each class has a linear function fitted to 1 on its rows and 0 on the others, and the
    largest value decides. The fit follows from the weight, mean and scatter of each class, so that
    `partial_fit`, `merge` and `forget` are exact. Rows that are far out on the correct side have as
    much influence as misclassified rows.

    Parameters
    ----------
    fit_intercept : bool
        Whether to fit b; it is zero otherwise.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (K, d) and (K,), for two classes (1, d) and (1,)
        Coefficients and intercepts.
    solution_ : str
        "unique", or "minimum norm" if other coefficients fit equally well.
    rank_ : int
        Number of independent directions among the features.
    condition_ : float
        Reciprocal condition of the normal equations, features scaled to length one: near 1 is good,
        0.0 is singular.
    n_parameters_ : int
        Number of parameters.
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    statistics_ : Moments
        Weight, mean and scatter of each class.

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
    # By class, though the equations need the sum only: classes seen later can then be added.
    statistic_type = (Moments, {"full": True, "missing": "refuse"})

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"fit_intercept": ["boolean"]}

    statistics_: Moments

    def __init__(self, *, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    def _middle(self) -> Array:
        return np.asarray(self.statistics_.total().mean[0])

    def _stores_single_rows(self) -> bool:
        return True

    def _forget_bound(self, left: Any) -> float:
        return float(left.total().relative_noise())

    def _conclude(self, rows: Rows | None, final: bool) -> None:
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


ROW = Row(
    "LeastSquaresClassifier",
    page="discriminants.md",
    certificate="discriminants",
    compare=(
        Candidate(
            "least squares classifier",
            "a linear reference model in one pass",
            limits=("few columns",),
            order=51,
        ),
    ),
    contract=Contract(
        settings=({}, {"fit_intercept": False}), checked=({}, {"fit_intercept": False})
    ),
)
