"""k-means: assign each row to the nearest center, average, repeat."""

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
import sklearn.cluster
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.base import Passes, StopReason, fitting, warn, warn_not_converged
from rosenblatt.registry.row import Candidate, Contract, Row, unlike_repeated_rows
from rosenblatt.statistics import Moments

from . import kmeans_loops
from .assignment import RowAssignment, Table, assignment_of, nearest_centers
from .seeding import given_centers, start


class Lloyd:
    """Lloyd's iterations from one start: centers, and the weight and sum of each cluster."""

    def __init__(self, rows: RowAssignment, squares: Table, centers: Any) -> None:
        self.rows, self.squares = rows, squares
        self.centers = np.array(centers, np.float64, order="C")
        rows.forget_labels()
        K, d = self.centers.shape
        self.mass, self.sums = np.zeros((2, K)), np.zeros((2, K, d))
        self.losses: list[float] = []  # after each iteration
        self.n_changed, self.moved = rows.n, np.inf

    def step(self) -> None:
        """Assign rows to centers and average them."""
        self.assign()
        self._fill_empty_clusters()
        new = self.centers.copy()
        kmeans_loops.find_means(self.mass, self.sums, new)
        self.rows.add_drift(self.centers, new)
        self.moved = float(((new - self.centers) ** 2).sum())
        self.centers = new
        self.losses.append(self.loss())

    def assign(self) -> None:
        """Assign each row to its nearest center, and update the sums."""
        places = self.rows.assign(self.centers)
        self.n_changed = self.rows.moved(places, self.mass, self.sums)

    def loss(self) -> float:
        """Return the sum of squared distances of rows from their centers, from the sums alone."""
        return float(kmeans_loops.loss_of(self.squares, self.mass, self.sums, self.centers))

    def conclude(self, dtype: Any) -> None:
        """Round centers to the precision of `cluster_centers_`, and assign rows to them."""
        rounded = self.centers.astype(dtype).astype(np.float64)
        if not np.array_equal(rounded, self.centers):
            self.centers = rounded
            self.rows.forget_bounds()
            self.assign()
        elif self.n_changed:
            self.assign()

    def _fill_empty_clusters(self) -> None:
        """Move the row farthest from its center, and equal rows, to each empty cluster."""
        empty = np.flatnonzero(self.mass[0] <= 0)
        if not len(empty):
            return
        rows, weight = self.rows, self.rows.weights
        counts = np.ones(rows.n, bool) if weight is None else weight > 0
        far = np.where(counts, rows.distances(self.centers), 0.0)
        # If far becomes zero, there are fewer different rows than clusters.
        while len(empty) and far[row := int(far.argmax())] > 0:
            members = counts & (rows.labels == rows.labels[row])
            copies = rows.equal_rows(row, np.flatnonzero(members & (far == far[row])))
            far[copies] = 0.0
            if len(copies) < np.count_nonzero(members):  # else the cluster would become empty
                rows.move(copies, int(empty[0]), self.mass, self.sums)
                self.n_changed, empty = self.n_changed + len(copies), empty[1:]


class NearestCenters:
    """Labels, distances and losses of rows by the nearest of some centers."""

    cluster_centers_: NDArray[Any]
    inertia_: float
    n_features_in_: int
    _n_features_out: int

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the index (n,) of the nearest center of each row of X, the first of equals."""
        check_is_fitted(self)
        return nearest_centers(self._checked(X), self.cluster_centers_)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the sum of squared distances of rows from their nearest centers."""
        return -self.objective(X, y, sample_weight)

    def objective(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the sum of squared distances of rows from their nearest centers."""
        check_is_fitted(self)
        X = self._checked(X)
        rows = assignment_of(X, checked_weights(X, sample_weight))
        run = Lloyd(rows, rows.squares(), self.cluster_centers_)
        run.assign()
        return run.loss()

    def measure(self, X: Any, y: Any = None, sample_weight: Any = None) -> Moments:
        """Return the moments of rows by nearest center: weight, mean and scatter, which add up.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : ignored.
        sample_weight : array-like of shape (n,) or None
        """
        return Moments.of(self._checked(X), self.predict(X), sample_weight)

    @classmethod
    def from_statistics(cls, statistics: Moments, **parameters: Any) -> Self:
        """Return the model whose centers are the means of a statistic, as `measure` returns it.

        Parameters
        ----------
        statistics : Moments by cluster.
        **parameters : of the model, without `n_clusters`.
        """
        model = cls(**{"n_clusters": len(statistics.classes), **parameters})
        model.cluster_centers_ = statistics.mean.astype(statistics.dtype)
        model.inertia_ = float(statistics.diagonal().scatter.sum())
        model.n_features_in_ = statistics.n_features
        model._n_features_out = len(statistics.classes)
        return model

    def _transform(self, X: Any) -> NDArray[Any]:
        """Return distances (n, K) from all centers; of dense rows from differences."""
        X = self._checked(X)
        if sp.issparse(X):
            return np.asarray(super()._transform(X))  # type: ignore[misc]
        return np.asarray(cdist(X, self.cluster_centers_), X.dtype)

    def trace_view(self) -> dict[str, Any]:
        """Return the states that traces and plots draw: the centers (K, d)."""
        if not hasattr(self, "cluster_centers_"):
            return {}
        losses = getattr(self, "inertias_", None)
        kept = {} if losses is None else {"kept_start": int(losses.argmin())}
        return {"centres": self.cluster_centers_, **kept}

    def _checked(self, X: Any) -> Any:
        return checks.rows(self, X, order="C")


def checked_weights(X: Any, sample_weight: Any) -> NDArray[np.float64] | None:
    """Return the weights of rows, or None; raise if their sum overflows."""
    weights = checks.weights(sample_weight, X.shape[0])
    if weights is not None:
        with np.errstate(over="ignore"):
            total = weights.max() * len(weights)
        checks.in_range(total, "The sum of sample_weight is", "divide all by the largest")
    return weights  # type: ignore[no-any-return]


class KMeans(NearestCenters, CallbackSupportMixin, sklearn.cluster.KMeans):  # type: ignore[misc]
    """k-means: K centers with a small sum of squared distances of rows from the nearest center.

    Assign each row to its nearest center; move each center to the mean of its rows; repeat. Neither
    step can raise the loss ``sum_i w_i |x_i - c(i)|^2``, and there are finitely many assignments,
    so the iterations end. The result depends on the start.

    The parameters are scikit-learn's. A row that is equally near to several centers stays in its
    cluster if possible, else the first is chosen. A cluster without rows gets the row farthest from
    its center, and equal rows. Assignments are exact in float64; bounds on distances save most of
    the work (`algorithm` does not change the result).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centers, K.
    init : {"k-means++", "random"}, array (K, d) or a function of X, K and random_state
        The start: rows drawn far apart, rows drawn at random, or given centers.
    n_init : "auto" or int
        Number of starts; the result with the lowest loss is kept. "auto" is one for "k-means++" and
        given centers, else ten.
    max_iter : int, default=300
        Most iterations of a start.
    tol : float, default=1e-4
        A start ends when no row changes clusters, or the squares of the centers' moves sum to at
        most `tol` times the mean variance of the columns.
    verbose : accepted as in scikit-learn.
    random_state : int, RandomState instance or None
        Seeds the starts.
    copy_x : accepted as in scikit-learn; X is never changed.
    algorithm : {"lloyd", "elkan"}
        Accepted as in scikit-learn.

    Attributes
    ----------
    cluster_centers_ : array of shape (K, d)
    labels_ : array of shape (n,)
        The cluster of each training row.
    inertia_ : float
        The loss.
    inertias_ : array of shape (n_init,)
        The loss at the end of each start.
    loss_curve_ : array of shape (n_iter,)
        The loss after each iteration of the best start; it never rises.
    n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn.
    stop_reason_ : {"converged", "max_iter", "callback"}

    Examples
    --------
    >>> from rosenblatt import KMeans
    >>> X = [[0.0], [1.0], [10.0], [11.0], [12.0]]
    >>> model = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_.ravel().tolist()), model.inertia_
    ([0.5, 11.0], 2.5)
    >>> model.predict([[2.0], [9.0]]) == model.labels_[[0, 4]]
    array([ True,  True])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **sklearn.cluster.KMeans._parameter_constraints
    }

    @fitting
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Compute the centers of the clusters of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : None
            Ignored.
        sample_weight : array-like of shape (n,) or None
        """
        self._validate_params()
        X = checks.rows(self, X, reset=True, order="C")
        weights = checked_weights(X, sample_weight)
        starts = self._starts(X)
        rows, random_state = assignment_of(X, weights), check_random_state(self.random_state)
        rows.check_small_squares()
        squares = rows.squares()
        if weights is None:
            variance = rows.variance()
        else:  # from the loss of a single center
            run = Lloyd(rows, squares, np.zeros((1, rows.d)))
            run.step()
            variance = run.losses[0] / float(run.mass.sum()) / rows.d
        tol = self.tol * variance
        passes = Passes(self, X, y, sample_weight, max_iter=None)
        ends: list[dict[str, Any]] = []
        for init in passes.each_start(starts):
            run = Lloyd(rows, squares, start(rows, init, self.n_clusters, random_state))
            passes.attributes = partial(state_of, run, X.dtype)
            end = None
            for _ in passes:
                run.step()
                reason: StopReason | None = None
                if run.n_changed == 0 or run.moved <= tol:
                    reason = "converged"
                elif len(run.losses) >= self.max_iter:
                    reason = "max_iter"
                if reason:
                    end = end_of(run, X.dtype, reason, tol)  # before callbacks see the last step
                    passes.stop(reason)
            ends.append(end or end_of(run, X.dtype, "callback", tol))
            passes.attributes = partial(best_of, ends)
        self._set_attributes(ends)
        return self

    def _starts(self, X: Any) -> list[Any]:
        """Return the `init` of each start."""
        n = X.shape[0]
        if n < self.n_clusters:
            raise ValueError(f"n_samples={n} should be >= n_clusters={self.n_clusters}.")
        if self.algorithm == "elkan" and self.n_clusters == 1:
            warn(
                "algorithm='elkan' doesn't make sense for a single cluster. Using 'lloyd' instead.",
                RuntimeWarning,
            )
        if isinstance(self.init, str) or callable(self.init):
            several = 1 if isinstance(self.init, str) and self.init == "k-means++" else 10
            return [self.init] * (several if self.n_init == "auto" else self.n_init)
        if self.n_init not in ("auto", 1):
            warn(
                "Explicit initial center position passed: performing only one init in KMeans "
                f"instead of n_init={self.n_init}.",
                RuntimeWarning,
            )
        return [given_centers(X, self.init, self.n_clusters)]

    def _set_attributes(self, ends: list[dict[str, Any]]) -> None:
        """Set the attributes of the start with the lowest loss."""
        best = best_of(ends)
        moved, tol = best.pop("_moved")
        self.__dict__.update(best)
        self._n_features_out = self.n_clusters
        if best["stop_reason_"] == "max_iter":
            warn_not_converged(
                f"KMeans stopped after max_iter={self.max_iter} iterations: the squares of the "
                f"centers' moves sum to {moved:.3g}, wanted {tol:.3g}. Raise max_iter or tol."
            )
        warn_of_missing_clusters(self)


def warn_of_missing_clusters(model: Any) -> None:
    """Warn if some clusters are empty."""
    n_found = len(np.unique(model.labels_))
    if n_found < model.n_clusters:
        warn_not_converged(
            f"Number of distinct clusters ({n_found}) found smaller than n_clusters "
            f"({model.n_clusters}). Possibly due to duplicate points in X."
        )


def state_of(run: Lloyd, dtype: Any) -> dict[str, Any]:
    """Return the fitted attributes by the current state of a start."""
    return {
        "cluster_centers_": run.centers.astype(dtype),
        "labels_": run.rows.labels.copy(),
        "inertia_": run.losses[-1] if run.losses else np.nan,
        "n_changed_": run.n_changed,
        "n_iter_": len(run.losses),
        "loss_curve_": np.array(run.losses),
    }


def end_of(run: Lloyd, dtype: Any, reason: StopReason, tol: float) -> dict[str, Any]:
    """Return the fitted attributes at the end of a start."""
    run.conclude(dtype)
    attributes = state_of(run, dtype) | {"inertia_": run.loss(), "stop_reason_": reason}
    del attributes["n_changed_"]
    return attributes | {"_moved": (run.moved, tol)}


def best_of(ends: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the attributes of the start with the lowest loss, and all losses."""
    best = min(ends, key=lambda end: end["inertia_"])
    return best | {"inertias_": np.array([end["inertia_"] for end in ends])}


ROW = Row(
    "KMeans",
    page="kmeans.md",
    certificate="kmeans",
    compare=(Candidate("k-means", "round groups of like size", settings={"n_init": 5}, order=1),),
    contract=Contract(
        settings=(
            {"n_clusters": 3, "random_state": 0},
            {"n_clusters": 4, "init": "random", "n_init": 1, "tol": 0.0, "random_state": 1},
        ),
        checked=({"n_clusters": 3, "random_state": 0},),
        expected_failures=unlike_repeated_rows("it draws rows to start from"),
        endless={"tol": 0.0},
    ),
    parts="kmeans",
    slow_peer_tests=("cluster/tests/test_k_means.py",),
)
