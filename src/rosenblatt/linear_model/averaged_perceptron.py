"""The averaged perceptron."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.base import Attributes
from rosenblatt.mistake_driven import Examples
from rosenblatt.registry.row import VISITS_ROWS, Candidate, Contract, Row, Warm

from .perceptron_base import LinearPerceptron, LinearWeights, as_columns


class AveragedPerceptron(LinearPerceptron):
    """The mean of a perceptron's weights over every visit: calmer than where it happened to stop.

    The run is the perceptron's: a mistake moves the weights by the example. What is published is
    the mean of the weights after each visit, mistaken or not [1]_, so weights that survived many
    examples count for more. On data that no plane separates, where the last weights depend on the
    last few mistakes, the mean is usually the better classifier.

    The run ends at a clean pass like the perceptron's; its last weights then make no mistake,
    though their mean may still make some.

    Parameters
    ----------
    fit_intercept, max_iter, tol, shuffle, verbose, eta0, random_state, n_iter_no_change
        As for `Perceptron`.
    early_stopping : bool
        Hold out rows and return the mean at the pass that did best on them.
    validation_fraction : float
        Share of rows held out by `early_stopping`.
    class_weight : dict, "balanced" or None
        Multiplies the steps of each class.
    warm_start : bool
        Begin the run where the previous one ended; the mean begins anew.
    boundary : {"mistake", "positive", "negative"}
        What a score of exactly 0, or a tie, is: see `Perceptron`.

    Attributes
    ----------
    coef_, intercept_ : ndarrays of shapes (1, d) and (1,), or (K, d) and (K,)
        The mean weights.
    last_coef_, last_intercept_ : ndarrays of the same shapes
        The plain weights at the end of the run.
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    t_ : float
        Rows visited up to this mean, plus one.
    n_iter_, n_updates_, converged_, stop_reason_, cycle_, step_range_, coef_init_, \
    intercept_init_, n_parameters_, n_features_in_, feature_names_in_
        As for `Perceptron`, of the run.
    validation_scores_ : list of float or None
        Accuracy of the mean on the held-out rows after each pass.

    See Also
    --------
    Perceptron : the run alone.

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
