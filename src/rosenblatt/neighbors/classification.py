"""Classification by the votes of the nearest rows."""

from typing import Any, ClassVar

import numpy as np
import sklearn.neighbors
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rosenblatt.registry.row import Row

from .base import CONTRACT, METRICS, WARM, WEIGHTS, ExactSearch, candidates, vote_weights


class KNeighborsClassifier(ExactSearch, sklearn.neighbors.KNeighborsClassifier):  # type: ignore[misc]
    """k-nearest neighbors classifier: the majority class of the k nearest stored rows.

    The parameters are scikit-learn's. The search of dense rows is exact: quantized, in single
    precision, by columns or in a k-d tree, depending on the data; `algorithm` and `leaf_size` do
    not change the result. Of rows at equal distances, the first stored count; of classes with equal
    votes, the first in `classes_`.

    Parameters
    ----------
    n_neighbors : number of neighbors that vote, k.
    weights : {"uniform", "distance", "kernel"}, a function of distances, or None
        A neighbor's vote: 1; the inverse of its distance, where equal rows decide alone; or
        ``exp(-(r / s)^2 / 2)``, r its distance and s the distance of the k-th neighbor.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}
        Accepted as in scikit-learn.
    leaf_size : accepted as in scikit-learn.
    p : the exponent of the Minkowski distance.
    metric : {"minkowski", "euclidean", "manhattan", "chebyshev", "cosine", "hamming", "gower",
        "precomputed"}, another metric of scikit-learn, or a function of two rows. "gower" is for
        tables of numbers and categories.
    metric_params : further arguments of the metric. For "gower", `categorical` lists the columns of
        categories (by default the columns of strings), and ``unknown="differs"`` treats categories
        that are not stored as different from all others instead of raising an error.
    n_jobs : accepted as in scikit-learn; ``rosenblatt.threads`` sets the number of threads.

    Attributes
    ----------
    classes_, effective_metric_, effective_metric_params_, n_features_in_, feature_names_in_,
    n_samples_fit_, outputs_2d_ : as in scikit-learn.

    Examples
    --------
    >>> from rosenblatt import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [4.0], [5.0], [6.0]], ["ham", "ham", "spam", "spam", "spam"]
    >>> model = KNeighborsClassifier(n_neighbors=3).fit(X, y)
    >>> model.predict([[1.4], [4.2]])
    array(['ham', 'spam'], dtype='<U4')
    >>> model.forget([[5.0]], ["spam"]).kneighbors([[4.2]], return_distance=False)
    array([[2, 3, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **sklearn.neighbors.KNeighborsClassifier._parameter_constraints,
        "weights": WEIGHTS,
        "metric": METRICS,
    }

    score = ClassifierMixin.score  # with the result of scikit-learn's, but faster

    def predict_proba(self, X: Any) -> Any:
        """Return the share of the votes for each class, (m, K), or a list for several outputs."""
        shares = [votes / votes.sum(axis=1, keepdims=True) for votes in self._votes(X)]
        return shares if self.outputs_2d_ else shares[0]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with most votes for each row of X."""
        chosen = [votes.argmax(axis=1) for votes in self._votes(X)]
        if not self.outputs_2d_:
            return np.asarray(self.classes_[chosen[0]])
        return np.stack([c[k] for c, k in zip(self.classes_, chosen, strict=True)], axis=1)

    def _votes(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the weight of the votes for each class, (m, K), of each output."""
        check_is_fitted(self)
        distances, found = self.kneighbors(X)
        weights = vote_weights(distances, self.weights)
        weights = None if weights is None else weights.ravel()
        outputs = self._y.reshape(len(self._y), -1)
        classes = self.classes_ if self.outputs_2d_ else [self.classes_]
        m, votes = len(found), []
        for labels, known in zip(outputs.T, classes, strict=True):
            K = len(known)
            cells = labels[found] + K * np.arange(m)[:, np.newaxis]
            counts = np.bincount(cells.ravel(), weights, m * K)
            votes.append(counts.astype(np.float64, copy=False).reshape(m, K))
        return votes


ROW = Row(
    "KNeighborsClassifier",
    page="neighbors.md",
    certificate="neighbors",
    compare=candidates("", order=30),
    contract=CONTRACT,
    warm=WARM,
    parts="neighbors",
    file_types=("neighbors.gower.MixedColumns",),  # for all models of this package
    slow_peer_tests=("neighbors/tests/test_neighbors.py",),
)
