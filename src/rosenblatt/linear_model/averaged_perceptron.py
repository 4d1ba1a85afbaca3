"""The averaged perceptron."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.base import Attributes
from rosenblatt.mistake_driven import Examples
from rosenblatt.registry.row import VISITS_ROWS, Candidate, Contract, Row, Warm

from .perceptron import LinearPerceptron, LinearWeights, as_columns


class AveragedPerceptron(LinearPerceptron):
    """Averaged perceptron: the mean of a perceptron's weights over all visits.

    The weights change as those of `Perceptron`. `coef_` is their mean after each visit, with or
    without a mistake [1]_, so that weights that survived many examples count for more. If no plane
    separates the classes, the last weights depend on the last few mistakes, and their mean usually
    predicts better. The fit also ends after a pass without a mistake, though the mean may still
    misclassify some rows.

    Parameters
    ----------
    fit_intercept, max_iter, tol, shuffle, verbose, eta0, random_state, validation_fraction, \
    n_iter_no_change, class_weight, boundary
        As for `Perceptron`.
    early_stopping : bool
        Hold out rows and return the mean with the best accuracy on them.
    warm_start : bool
        Whether to start from the last weights of the previous fit; the mean starts anew.

    Attributes
    ----------
    coef_, intercept_ : ndarrays of shapes (1, d) and (1,), or (K, d) and (K,)
        Mean weights.
    last_coef_, last_intercept_ : ndarrays of the same shapes
        Weights after the last visit.
    t_ : float
        Number of rows visited until this mean, plus one.
    validation_scores_ : list of float or None
        Accuracy of the mean on the held-out rows after each pass.
    classes_, n_iter_, n_updates_, converged_, stop_reason_, cycle_, step_range_, coef_init_, \
    intercept_init_, n_parameters_, n_features_in_, feature_names_in_
        As for `Perceptron`.

    See Also
    --------
    Perceptron : with the last weights.

    References
    ----------
    .. [1] Y. Freund, R. Schapire (1999), Large margin classification using the perceptron
       algorithm.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron
    >>> X, y = [[0, 1], [1, 0], [2, 3], [3, 2]], ["ham", "ham", "spam", "spam"]
    >>> AveragedPerceptron(tol=None).fit(X, y).predict([[0, 0], [4, 4]])
    array(['ham', 'spam'], dtype='<U4')
    """

    _published = "mean"

    def _weights(
        self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]
    ) -> LinearWeights:
        return MeanWeights(examples, coef, intercept)


class MeanWeights(LinearWeights):
    """Weights and their mean over all visits, ``w - u / n_visits``."""

    drifts = True

    def __init__(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        super().__init__(examples, coef, intercept)
        self.u, self.v = np.zeros(self.w.shape), np.zeros(self.b.shape)

    def visit(self, order: NDArray[np.int32], most: int, mean: Any = None) -> Any:
        """Visit rows in order, correct at most `most` mistakes; return (mistakes, loss, visits)."""
        return super().visit(order, most, mean=(self.u, self.v, self.n_visits))

    def attributes(self, copy: bool = True) -> Attributes:
        """Return the fitted attributes."""
        coef, b = self.state()
        n_visits = max(self.n_visits, 1)
        return {
            "coef_": (coef - np.atleast_2d(self.u.T) / n_visits).astype(coef.dtype),
            "intercept_": (b - self.v / n_visits).astype(b.dtype),
            "last_coef_": coef.copy() if copy else coef,
            "last_intercept_": b.copy() if copy else b,
            "n_updates_": self.n_updates,
            "t_": 1.0 + self.n_visits,
        }

    def resume(self, model: Any) -> None:
        """Continue the counts and the mean of earlier batches."""
        super().resume(model)
        last_coef, last_intercept = self.state()
        self.u = as_columns((last_coef.astype(np.float64) - model.coef_) * self.n_visits)
        self.v = (last_intercept.astype(np.float64) - model.intercept_) * self.n_visits


ROW = Row(
    "AveragedPerceptron",
    page="perceptron.md",
    certificate="averaged_and_pocket",
    compare=(
        Candidate(
            "averaged perceptron",
            "very many rows or columns and little time",
            {"max_iter": (2, 5, 20)},
            order=53,
            rank=4,
            text_rank=0,
        ),
    ),
    contract=Contract(
        settings=({}, {"tol": None, "max_iter": 5}, {"early_stopping": True}),
        expected_failures=VISITS_ROWS,
    ),
    warm=Warm(({"max_iter": 2},)),
    parts="perceptron",
)
