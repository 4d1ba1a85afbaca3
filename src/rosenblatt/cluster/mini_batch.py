"""k-means by small batches of rows."""

from typing import Any, ClassVar, Self

import numpy as np
import sklearn.cluster
from sklearn.utils import check_random_state

from rosenblatt import checks
from rosenblatt.base import all_or_nothing
from rosenblatt.registry.row import Row
from rosenblatt.statistics import Moments

from .assignment import DenseAssignment, RowAssignment, Table, assignment_of
from .kmeans import Lloyd, NearestCenters, checked_weights, warn_of_missing_clusters

FAR = 1e3  # times the reach of the rows


class MiniBatchKMeans(NearestCenters, sklearn.cluster.MiniBatchKMeans):  # type: ignore[misc]
    """k-means by small batches: moves each center towards the mean of its rows in a batch.

    A center is the mean of all rows assigned to it so far, so its moves become smaller. The fit,
    the parameters and the attributes are scikit-learn's; predictions are as exact as by `KMeans`.
    For tables that do not fit into memory, and streams (`partial_fit`).

    Parameters
    ----------
    n_clusters, init, max_iter, batch_size, verbose, compute_labels, random_state, tol,
    max_no_improvement, init_size, n_init, reassignment_ratio : as in scikit-learn.

    Attributes
    ----------
    cluster_centers_, labels_, inertia_, n_iter_, n_steps_, n_features_in_, feature_names_in_ : as
        in scikit-learn.
    stop_reason_ : {"converged", "max_iter"}
        Why the fit ended. `partial_fit` removes it and `n_iter_`; its `labels_` and `inertia_` are
        for its batch.

    Examples
    --------
    >>> from rosenblatt import MiniBatchKMeans
    >>> X = [[0.0], [1.0], [10.0], [11.0], [12.0]]
    >>> model = MiniBatchKMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.predict([[2.0], [9.0]]) == model.labels_[[0, 4]]
    array([ True,  True])
    """

    init: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **sklearn.cluster.MiniBatchKMeans._parameter_constraints
    }

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the centers to X (n, d), batch by batch; return self."""
        rows = self._rows(X, sample_weight, reset=True)
        rows.check_small_squares()
        self._learn(super().fit, X, rows, y, sample_weight, far_center(rows))
        n, size = rows.n, self._batch_size
        self.stop_reason_ = "converged" if self.n_steps_ < self.max_iter * n // size else "max_iter"
        if self.compute_labels:
            warn_of_missing_clusters(self)
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Move the centers by one batch X (n, d); return self."""
        is_first = not hasattr(self, "cluster_centers_")
        rows = self._rows(X, sample_weight, reset=is_first)
        far = far_center(rows)
        if far is not None and not is_first:
            self.cluster_centers_ = self.cluster_centers_ - far
        self._learn(super().partial_fit, X, rows, y, sample_weight, far)
        for name in ("n_iter_", "stop_reason_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        return self

    def _rows(self, X: Any, sample_weight: Any, reset: bool) -> RowAssignment:
        """Return the assignment of checked rows; raise if squares overflow."""
        X = checks.rows(self, X, reset=reset, order="C")
        rows = assignment_of(X, checked_weights(X, sample_weight))
        rows.squares()
        return rows

    def _learn(
        self, fit: Any, X: Any, rows: RowAssignment, y: Any, sample_weight: Any, far: Table | None
    ) -> None:
        """Update the centers by scikit-learn's method, and label the rows."""
        if far is None:
            fit(X, y, sample_weight)
        else:  # it expands squares, which loses digits far from the origin
            init, names = self.init, vars(self).get("feature_names_in_")
            self.init = init if isinstance(init, str) or callable(init) else np.subtract(init, far)
            fit((rows.X - far).astype(rows.X.dtype), y, sample_weight)
            self.init, self.cluster_centers_ = init, self.cluster_centers_ + far
            if names is not None:
                self.feature_names_in_ = names
        if self.compute_labels:
            run = Lloyd(rows, rows.squares(), self.cluster_centers_)
            run.assign()
            self.labels_, self.inertia_ = rows.labels, run.loss()

    @classmethod
    def from_statistics(cls, statistics: Moments, **parameters: Any) -> Self:
        """Return the model whose centers are the means of a statistic; see `KMeans`.

        The centers have the weight of the rows of the statistic, so `partial_fit` can continue.
        """
        model = super().from_statistics(statistics, **parameters)
        model._counts = np.array(statistics.weight, statistics.dtype)
        model.n_steps_, model._batch_size, model._n_threads = 0, model.batch_size, 1
        model._n_since_last_reassign = 0
        model._random_state = check_random_state(model.random_state)
        return model


def far_center(rows: RowAssignment) -> Table | None:
    """Return the mean of dense rows much farther from the origin than from each other."""
    if not isinstance(rows, DenseAssignment):
        return None
    return rows.center if np.abs(rows.center).max() > FAR * rows.reach else None


ROW = Row(
    "MiniBatchKMeans",
    page="kmeans.md",
    certificate="kmeans",
    contract=None,
    warm=None,
    slow_peer_tests=("cluster/tests/test_k_means.py",),
)
