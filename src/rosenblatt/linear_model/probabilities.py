"""From scores to classes and probabilities, as logistic models have them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rosenblatt import prediction


class LogisticScores:
    """A classifier whose scores are log-odds, or logarithms of probabilities up to a constant."""

    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of the rows of X: (n,) for two classes, (n, K) for more."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row of X; of equals the first.

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
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probability of each class for the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.

        Returns
        -------
        P : ndarray of shape (n, K)
            Columns in the order of `classes_`; rows sum to one.
        """
        return prediction.probabilities(self._finite_scores(X))

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithm of `predict_proba`, exact where probabilities are tiny.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.

        Returns
        -------
        log_P : ndarray of shape (n, K)
            Columns in the order of `classes_`.
        """
        return prediction.log_probabilities(self._finite_scores(X))

    def _finite_scores(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.decision_function(X)
        if not np.isfinite(scores).all():
            raise ValueError(
                "X holds numbers so large that their scores leave the range of floating point; "
                "rescale the features, before fit and predict alike."
            )
        return scores
