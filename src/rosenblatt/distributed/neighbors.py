"""Neighbours in a source: every part is searched for its best, and the best of all are kept."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_array

from rosenblatt.neighbors import NearestNeighbors
from rosenblatt.statistics import ClassCounts

from .census import codes_of
from .passes import PartRows, Passes
from .sums import merged

Array = NDArray[np.float64]
SEARCH = ("metric", "p", "metric_params", "algorithm", "leaf_size", "n_jobs")


def fit_parts(model: Any, passes: Passes) -> "SourceNeighbors":
    """Learn nothing but the classes; return a model that searches the source at each `predict`."""
    if model.weights not in ("uniform", "distance"):
        raise ValueError(
            f"By parts weights must be 'uniform' or 'distance'; got {model.weights!r}."
        )
    return SourceNeighbors(model, passes)


class Nearest:
    """The nearest rows of some queries: distances (q, k) and targets; of two, the nearest of both.

    Of equal distances the rows that were met first stay.
    """

    def __init__(self, distances: Array, targets: NDArray[Any], k: int) -> None:
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        self.distances = np.take_along_axis(distances, order, axis=1)
        self.targets, self.k = np.take_along_axis(targets, order, axis=1), k

    def __add__(self, other: "Nearest") -> "Nearest":
        distances = np.hstack([self.distances, other.distances])
        return Nearest(distances, np.hstack([self.targets, other.targets]), self.k)


class SourceNeighbors:
    """A neighbours model whose rows stay where they are; each answer is one pass over them.

    Attributes
    ----------
    classes_ : the sorted classes; None for numbers.
    """

    def __init__(self, model: Any, passes: Passes) -> None:
        self.model, self.passes = model, passes
        self.search = {name: getattr(model, name) for name in SEARCH if hasattr(model, name)}
        self.classes_ = None
        if is_classifier(model):
            self.classes_ = passes.total(count_classes).classes
        passes.kept = None  # answers depend on the queries, and are in no checkpoint

    def kneighbors(self, X: Any) -> tuple[Array, NDArray[Any]]:
        """Return distances and targets (q, k) of the rows nearest to each row of X."""
        queries = X.select(self.passes.source.columns) if hasattr(X, "select") else X
        queries = check_array(queries, accept_sparse="csr", dtype=np.float64)
        found = self.passes.total(find, queries, int(self.model.n_neighbors), self.search)
        return found.distances, found.targets

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the vote, or the mean, of the nearest rows of each row of X."""
        if self.classes_ is not None:
            return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
        distances, targets = self.kneighbors(X)
        weights = self._weights(distances)
        return np.asarray((weights * targets).sum(axis=1) / weights.sum(axis=1))

    def predict_proba(self, X: Any) -> Array:
        """Return the shares of the classes among the nearest rows of each row of X: (q, K)."""
        if self.classes_ is None:
            raise AttributeError("Numbers have no probabilities: use predict.")
        distances, targets = self.kneighbors(X)
        weights = self._weights(distances)
        codes = codes_of(self.classes_, targets.ravel()).reshape(targets.shape)
        shares = np.stack([(weights * (codes == k)).sum(axis=1) for k in range(len(self.classes_))])
        return np.asarray((shares / shares.sum(axis=0)).T)

    def _weights(self, distances: Array) -> Array:
        if self.model.weights == "uniform":
            return np.ones_like(distances)
        with np.errstate(divide="ignore"):
            inverse = 1 / distances
        equal = np.isinf(inverse).any(axis=1)  # rows that are the query itself decide alone
        inverse[equal] = np.isinf(inverse[equal])
        return inverse


def count_classes(rows: PartRows) -> Any:
    """The counts of the classes of one part."""
    return merged(ClassCounts.of(y) for _, y in rows)


def find(rows: PartRows, queries: Any, k: int, search: dict[str, Any]) -> Any:
    """The nearest rows of one part."""

    def measure(X: Any, y: NDArray[Any]) -> Nearest:
        n = X.shape[0]
        stored = NearestNeighbors(n_neighbors=min(k, n), **search).fit(
            X if sp.issparse(X) else np.asarray(X, np.float64)
        )
        distances, places = stored.kneighbors(queries)
        return Nearest(np.asarray(distances, np.float64), y[places], k)

    return rows.summed(measure)
