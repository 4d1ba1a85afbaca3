"""The base class of mistake-driven learners, and how scores become classes."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt import checks, losses
from rosenblatt.base import arrays
from rosenblatt.loops import rows as rows_loops

Pick = Literal["cyclic", "random", "first", "worst"]

# Which class a score of zero, or a tie, goes to: none, the second (higher), or the first.
TIES = {"mistake": 0, "positive": 1, "negative": -1}


class MistakeDriven(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that visits examples and corrects its weights at each mistake.

    A learner writes its own `fit` from `check_examples`, `Passes`, `Visits` and `Stopping`. The
    constructors document the parameters; the values here are for learners without them.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "shuffle": ["boolean"],
        "verbose": ["verbose"],
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "warm_start": ["boolean"],
        "boundary": [StrOptions(set(TIES))],
    }

    boundary: str
    penalty: str | None = None
    pick: Pick = "cyclic"
    max_updates: int | None = None

    classes_: NDArray[Any]
    n_updates_: int
    t_: float
    step_range_: tuple[float, float]
    stop_reason_: str | None

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of the rows of X: (n,) for two classes, (n, K) for more."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row of X: that of the highest score.

        A score of 0 is ``classes_[0]``, and a tie the lower class; with ``boundary="positive"``
        the second class, and the higher.
        """
        scores = self.decision_function(X)
        labels: NDArray[Any] = self.classes_[decide(scores, self.boundary)]
        return labels

    def objective(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the perceptron criterion: the sum of -y (w.x + b) over the misclassified rows.

        It is 0 when none is misclassified. With more than two classes a row counts by how far the
        best rival is above the true class.

        X (n, d) are the rows, y (n,) their labels.
        """
        scores = self.decision_function(X)
        seen, codes = np.unique(np.asarray(y), return_inverse=True)
        margins = margins_of(scores, checks.known_classes(seen, self.classes_)[codes])
        weight = np.ones(len(margins)) if sample_weight is None else np.asarray(sample_weight)
        return float(weight @ losses.perceptron(margins))

    def trace_view(self) -> dict[str, Any]:
        """Return how scores decide, for traces that keep scores."""
        kind = type(self)
        if not (
            kind.predict is MistakeDriven.predict and kind.objective is MistakeDriven.objective
        ):
            return {}
        return {
            "ties": self.boundary,
            "decide": lambda scores: decide(scores, self.boundary),
            "margins": margins_of,
        }

    def _check_X(self, X: Any, first: bool) -> Any:
        """X (n, d) as the loops read it; `first` if the model has no columns to compare it with."""
        # Whether X is finite is not checked here: another read of X costs as much as a pass. The
        # pass stops at the first row that is not finite; rows it does not visit are checked apart.
        return checks.rows(self, X, reset=first, order="C", finite=False)

    def _always_zero(self, X: Any) -> NDArray[np.bool_]:
        """Which rows (n,) score 0 whatever the weights, without an intercept."""
        empty = np.empty(X.shape[0], np.bool_)
        rows_loops.find_empty(arrays(X), empty)
        return empty


def decide(scores: NDArray[Any], boundary: str) -> NDArray[np.intp]:
    """The winning class (n,) by scores (n,), (n, 1) or (n, K); "mistake" predicts the lower."""
    if scores.ndim == 1 or scores.shape[1] == 1:
        scores = scores.reshape(-1)
        return (scores >= 0 if boundary == "positive" else scores > 0).astype(np.intp)
    return best(scores, TIES[boundary])


def best(scores: NDArray[Any], ties: int) -> NDArray[np.intp]:
    """The column of the highest score in each row (n, K): among equals the last if ties > 0."""
    if ties > 0:
        return np.asarray(scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1))
    return np.asarray(scores.argmax(axis=1))


def margins_of(scores: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """By how much the true class wins in each row (n,): y f(x), or the lead over the best rival."""
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores)
    everyone = np.arange(len(scores))
    margins: NDArray[Any] = scores[everyone, codes] - _rivals(scores, codes).max(axis=1)
    return margins


def wins_ties(scores: NDArray[Any], codes: NDArray[Any], ties: int) -> NDArray[np.bool_]:
    """Whether the true class would win a tie against its best rival, each row (n,)."""
    if scores.ndim == 1:
        return (2 * codes - 1) * ties > 0
    return (codes - best(_rivals(scores, codes), ties)) * ties > 0


def _rivals(scores: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """The scores (n, K), with minus infinity for the true class."""
    rivals = scores.copy()
    rivals[np.arange(len(scores)), codes] = -np.inf
    return rivals
