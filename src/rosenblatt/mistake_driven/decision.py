"""From scores to classes: who wins, and by how much."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin

from rosenblatt import losses

# To whom a score of zero, or a tie, goes: nobody, the second (higher) class, or the first.
TIES = {"mistake": 0, "positive": 1, "negative": -1}


class BoundaryClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier by scores with a say on ties: it has a parameter `boundary`, a key of TIES."""

    boundary: str
    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of the rows of X: (n,) for two classes, (n, K) for more."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row of X: that of the highest score.

        A score of 0 is ``classes_[0]``, and a tie the lower class; with ``boundary="positive"``
        the second class, and the higher.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows to classify.

        Returns
        -------
        y : ndarray of shape (n,)
            Their labels.
        """
        scores = self.decision_function(X)
        labels: NDArray[Any] = self.classes_[decide(scores, self.boundary)]
        return labels

    def objective(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the perceptron criterion: the sum of -y (w.x + b) over the misclassified rows.

        It is 0 when none is misclassified. With more than two classes a row counts by how far the
        best rival is above the true class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The examples.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,) or None
            Weights of the rows.

        Returns
        -------
        criterion : float
            At least 0.
        """
        scores = self.decision_function(X)
        seen, codes = np.unique(np.asarray(y), return_inverse=True)
        margins = margins_of(scores, codes_among(self.classes_, seen)[codes])
        weight = np.ones(len(margins)) if sample_weight is None else np.asarray(sample_weight)
        return float(weight @ losses.perceptron(margins))


def codes_among(classes: NDArray[Any], seen: NDArray[Any]) -> NDArray[np.intp]:
    """The number among the sorted `classes` of each label seen."""
    unknown = np.setdiff1d(seen, classes)
    if len(unknown):
        raise ValueError(
            f"y has labels {unknown.tolist()} that are not among the classes {classes.tolist()}."
        )
    return np.searchsorted(classes, seen)


def decide(scores: NDArray[Any], boundary: str) -> NDArray[np.intp]:
    """The winning class (n,) by scores (n,), (n, 1) or (n, K); nobody's ties go to the lower."""
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
    """The scores (n, K) with the true class out of the contest."""
    rivals = scores.copy()
    rivals[np.arange(len(scores)), codes] = -np.inf
    return rivals
