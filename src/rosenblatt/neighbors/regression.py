"""Regression by the mean target of the nearest rows, and the search without targets."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import sklearn.neighbors
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rosenblatt.registry.row import Row

from .base import CONTRACT, METRICS, WARM, WEIGHTS, ExactSearch, candidates, vote_weights
from .search import Points


class KNeighborsRegressor(ExactSearch, sklearn.neighbors.KNeighborsRegressor):  # type: ignore[misc]
    """k-nearest neighbors regressor: the mean target, or weighted mean, of the k nearest rows.

    Parameters and attributes are as in :class:`KNeighborsClassifier`, without classes.

    Examples
    --------
    >>> from rosenblatt import KNeighborsRegressor
    >>> model = KNeighborsRegressor(n_neighbors=2).fit([[0.0], [1.0], [2.0]], [0.0, 10.0, 20.0])
    >>> model.predict([[0.4], [1.9]])
    array([ 5., 15.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **sklearn.neighbors.KNeighborsRegressor._parameter_constraints,
        "weights": WEIGHTS,
        "metric": METRICS,
    }

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the mean target of the nearest rows, (m,) or (m, t)."""
        check_is_fitted(self)
        distances, found = self.kneighbors(X)
        weights = vote_weights(distances, self.weights)
        targets = np.asarray(self._y).reshape(len(self._y), -1)[found]  # (m, k, t)
        if weights is None:
            means = targets.mean(axis=1)
        else:
            shares = weights / weights.sum(axis=1, keepdims=True)
            means = np.einsum("mk,mkt->mt", shares, targets)
        return np.asarray(means.ravel() if np.ndim(self._y) == 1 else means)


class NearestNeighbors(ExactSearch, sklearn.neighbors.NearestNeighbors):  # type: ignore[misc]
    """Search for the nearest stored rows, without labels.

    Parameters and attributes are as in :class:`KNeighborsClassifier`; `radius` is for
    :meth:`radius_neighbors`.

    Examples
    --------
    >>> from rosenblatt import NearestNeighbors
    >>> search = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [3.0]])
    >>> search.kneighbors([[1.2]])
    (array([[0.2, 1.2]]), array([[1, 0]]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **sklearn.neighbors.NearestNeighbors._parameter_constraints,
        "metric": METRICS,
    }

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Return distances and numbers of all stored rows within a radius; as in scikit-learn."""
        check_is_fitted(self)
        reach = self.radius if radius is None else radius
        points = self._search_points()
        if points is not None and points.metric == "euclidean" and not sp.issparse(X):
            return self._within(points, X, reach, return_distance, sort_results)
        if self.metric != "gower":
            return super().radius_neighbors(X, radius, return_distance, sort_results)
        distances, found = self.kneighbors(X, self.n_samples_fit_ - (X is None))
        ends = [int(np.searchsorted(row, reach, side="right")) for row in distances]
        near, rows = np.empty((2, len(ends)), object)
        for i, end in enumerate(ends):
            near[i], rows[i] = distances[i, :end], found[i, :end]
        return (near, rows) if return_distance else rows

    def _within(self, points: Points, X: Any, reach: Any, with_distances: bool, sort: bool) -> Any:
        """Return stored rows within a radius of each row of X; without X, of the stored rows."""
        if sort and not with_distances:
            raise ValueError("return_distance must be True if sort_results is True.")
        Q = self._fit_X if X is None else self._checked(X)
        near, rows = np.empty((2, len(Q)), object)
        squares = self.metric == "sqeuclidean"
        reach = np.sqrt(reach) if squares else reach
        for i, (distances, found) in enumerate(zip(*points.within(Q, reach), strict=True)):
            kept = np.flatnonzero(found != i) if X is None else np.arange(len(found))
            order = kept[np.argsort(distances[kept], kind="stable")] if sort else kept
            near[i], rows[i] = distances[order] ** (2 if squares else 1), found[order]
        return (near, rows) if with_distances else rows


ROWS = (
    Row(
        "KNeighborsRegressor",
        page="neighbors.md",
        certificate="neighbors",
        compare=candidates(" regression", order=32),
        contract=CONTRACT,
        warm=WARM,
        parts="neighbors",
        slow_peer_tests=("neighbors/tests/test_neighbors.py",),
    ),
    Row(
        "NearestNeighbors",
        page="neighbors.md",
        certificate="neighbors",
        contract=None,
        warm=None,
        slow_peer_tests=("neighbors/tests/test_neighbors.py",),
    ),
)
