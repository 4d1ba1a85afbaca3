"""Base of nearest neighbors models: stored rows, metric, search, adding and removing rows."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import zip_longest
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import sklearn.neighbors
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from rosenblatt import checks
from rosenblatt.additive import refuse_unlike
from rosenblatt.base import Estimator, all_or_nothing
from rosenblatt.capabilities import ModelPath, rows_of
from rosenblatt.missing_values import which_missing
from rosenblatt.mixed_tables import checked_table
from rosenblatt.registry.row import Candidate, Contract, Warm

from .gower import MixedColumns, objects
from .search import Found, Points, check_no_zero_rows

OURS = {
    "euclidean": "euclidean", "l2": "euclidean", "manhattan": "manhattan", "l1": "manhattan",
    "cityblock": "manhattan", "chebyshev": "chebyshev", "infinity": "chebyshev",
    "minkowski": "minkowski", "p": "minkowski", "cosine": "cosine", "hamming": "hamming",
    "sqeuclidean": "euclidean",
}  # fmt: skip
ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree")
WEIGHTS = [StrOptions({"uniform", "distance", "kernel"}), callable, None]
METRICS = [StrOptions({"gower"}.union(*sklearn.neighbors.VALID_METRICS.values())), callable]
FEW_ROWS = 50  # for which a metric function is checked
SMALLEST_DISTANCE = 1e-290  # whose inverse does not overflow
NORMS = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}

CONTRACT = Contract(
    settings=({}, {"p": 1, "weights": "distance"}, {"metric": "gower"}), most_rows=2000
)
WARM = Warm(({}, {"metric": "gower"}), sparse=False, large="neighbors.search.run_all_loops")


def candidates(task: str, order: int) -> tuple[Candidate, Candidate]:
    """Return the candidates of `compare`, for rows of numbers and for mixed columns."""
    grid = {"n_neighbors": (1, 3, 5, 9, 15, 25, 45), "weights": ("uniform", "distance")}
    return (
        Candidate(
            f"nearest neighbors{task}",
            "similar rows have similar labels; few columns, all relevant",
            grid,
            limits=("columns beside texts", "few pairs of sparse rows"),
            short_names=("knn", "k-nn", "neighbours", "nearest neighbors", "k nearest neighbors"),
            order=order,
        ),
        Candidate(
            f"nearest neighbors{task} of mixed columns",
            "similar rows have similar labels; numbers, categories and missing values (Gower "
            "distance)",
            grid,
            reads="table",
            settings={"metric": "gower"},
            limits=("named columns", "some categories", "few rows for pairs"),
            short_names=("gower",),
            order=order + 1,
        ),
    )


class ExactSearch(Estimator):
    """Exact search: by compiled loops for dense rows, else by scikit-learn."""

    algorithm: str
    metric: Any
    metric_params: Any
    _fit_X: Any
    _columns: MixedColumns | None = None  # of Gower's distance
    _points: Points | None = None
    _shared: "SharedSearch | None" = None  # of models along a path

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the rows X (n, d) and their labels or targets y (n,) or (n, t); return self."""
        algorithm = self.algorithm
        if isinstance(self.metric, str) and self.metric == "gower":
            self._validate_params()
            self._store_mixed(X, y)
        else:
            self._columns = None
            if self._uses_loops(X):
                self.algorithm = "brute"  # during scikit-learn's fit, which then builds no tree
            if callable(self.metric):
                _check_metric(self.metric, X, self.metric_params or {})
            quiet = np.errstate(over="ignore", invalid="ignore")  # as in `checks.validate_data`
            with _clearer_errors(X), quiet:
                super().fit(X, y)
                if isinstance(self._fit_X, np.ndarray) and self._fit_X.dtype.kind == "O":
                    self._fit_X = self._fit_X.astype(np.float64)
                elif isinstance(X, np.ndarray) and np.may_share_memory(X, self._fit_X):
                    self._fit_X = self._fit_X.copy()  # changes of X must not change the model
            if self.metric == "precomputed" and not sp.issparse(self._fit_X):
                largest = self._fit_X.max(initial=0.0)
                checks.symmetric(self._fit_X, "Precomputed distances", 1e-6 * largest)
            elif self.metric == "cosine":
                check_no_zero_rows(self._fit_X)
        self.algorithm = algorithm
        self._points = self._shared = None
        self._search_points()
        return self

    def _store_mixed(self, X: Any, y: Any) -> None:
        """Store rows of numbers and categories; a category by its code."""
        given, settings = self.metric_params, dict(self.metric_params or {})
        X = checked_table(self, X, reset=True)
        names = vars(self).get("feature_names_in_")
        columns, rows = MixedColumns.learn(X, settings)
        # scikit-learn's fit checks y; it needs rows of numbers and a metric that it knows.
        self.algorithm, self.metric, self.metric_params = "brute", "manhattan", None
        super().fit(np.nan_to_num(rows), y)
        self.metric, self.metric_params = "gower", given
        self.effective_metric_, self.effective_metric_params_ = "gower", settings
        self._fit_X, self._columns = rows, columns
        self.categories_, self.ranges_ = columns.categories, columns.ranges
        if names is not None:
            self.feature_names_in_ = names

    def _uses_loops(self, X: Any) -> bool:
        """Return True if compiled loops search rows like these."""
        if sp.issparse(X) or not isinstance(self.metric, str) or self.metric not in OURS:
            return False
        if not isinstance(self.algorithm, str) or self.algorithm not in ALGORITHMS:
            return False  # scikit-learn's fit raises
        if self.metric not in sklearn.neighbors.VALID_METRICS.get(self.algorithm, OURS):
            return False
        norm: Any = 2 if self.p is None else self.p
        if not isinstance(norm, int | float | np.number):
            return False
        return not self.metric_params and bool(norm >= 1)

    def _search_points(self) -> Points | None:
        """Return the stored rows for the search; None if scikit-learn searches."""
        if self._points is not None:
            return self._points
        X, columns = self._fit_X, self._columns
        if columns is not None:
            self._points = Points(
                X, "gower", categorical=columns.categorical, ranges=columns.ranges
            )
        elif self._fit_method == "brute" and self._uses_loops(X):
            metric, p = OURS[self.metric], 2.0 if self.p is None else float(self.p)
            self._points = Points(X, NORMS.get(p, metric) if metric == "minkowski" else metric, p)
        return self._points

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return distances and numbers (m, k) of the nearest stored rows, nearest first.

        Rows at equal distances are in the order in which they were stored, except where
        scikit-learn searches: for sparse rows, precomputed distances and metric functions. Without
        X, return the neighbors of each stored row among the others.
        """
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if k is None:
            raise ValueError("n_neighbors of the model is None: pass the number of neighbors.")
        points = self._search_points()
        if points is None or not isinstance(k, int | np.integer) or k < 1 or sp.issparse(X):
            if self.metric == "cosine" and sp.issparse(X):
                check_no_zero_rows(X)
            return super().kneighbors(X, n_neighbors, return_distance)
        own = X is None
        Q = self._fit_X if own else self._checked(X)
        n = len(self._fit_X)
        if k + own > n:
            raise ValueError(
                f"Expected n_neighbors {'<' if own else '<='} n_samples_fit, but "
                f"n_neighbors = {k}, n_samples_fit = {n}, n_samples = {len(Q)}"
            )
        if self._shared is None:
            distances, found = points.nearest(Q, int(k) + own)
        else:
            distances, found = self._shared.nearest(Q, int(k) + own, self._fit_X if own else X)
        if own:  # remove each row from its own neighbors; the last if equal rows came before it
            others = found != np.arange(len(found))[:, np.newaxis]
            others[others.all(axis=1), -1] = False
            shape = len(found), found.shape[1] - 1
            distances, found = distances[others].reshape(shape), found[others].reshape(shape)
        if self.metric == "sqeuclidean":
            distances = distances**2
        return (distances, found) if return_distance else found

    def _checked(self, X: Any) -> NDArray[Any]:
        if self._columns is not None:
            return self._columns.encode(checked_table(self, X, reset=False))
        return np.asarray(checks.rows(self, X, order="C", accept_sparse=False))

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: state[name] for name in state if name not in ("_points", "_shared")}

    def path_parameters(self) -> tuple[str, ...]:
        """Return ``("n_neighbors",)``: one search for the largest serves all values."""
        return ("n_neighbors",)

    def fit_path(self, data: Any, parameter: str, values: Sequence[Any]) -> ModelPath:
        """Fit with each number of neighbors; see :class:`rosenblatt.capabilities.PathModel`."""
        X, y, _ = rows_of(data)
        if parameter != "n_neighbors":
            raise ValueError(f"parameter must be 'n_neighbors'; got {parameter!r}.")
        largest = clone(self)
        for k in values:
            largest.set_params(n_neighbors=k)._validate_params()
        largest.set_params(n_neighbors=max(values)).fit(X, y)
        shared = None if largest._search_points() is None else SharedSearch(largest)
        models = [copy(largest) for _ in values]
        for model, k in zip(models, values, strict=True):
            vars(model).update(_points=largest._points, _shared=shared, n_neighbors=k)
        return ModelPath(models)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Store more rows; return self. `classes` is ignored: rows may have new classes."""
        if not hasattr(self, "_fit_X"):
            return self.fit(X, y)  # type: ignore[no-any-return]
        stored, labels = self._stored()
        if labels is not None and y is None:
            raise ValueError("Rows are stored with y: pass the y of these rows.")
        return self._refit(_stack(stored, self._checked_any(X)), _stack(labels, y))

    def merge(self, other: Self) -> Self:
        """Store the rows of another fitted model after the rows of this one; return self."""
        refuse_unlike(self, other)
        _check_same_columns(self, other)
        (rows, y), (others, more) = self._stored(), other._stored()
        return self._refit(_stack(rows, others), _stack(y, more))

    def forget(self, X: Any, y: Any = None) -> Self:
        """Remove rows, each once; return self. Raise if a row is not stored."""
        check_is_fitted(self)
        stored, labels = self._stored()
        kept = _places_without(stored, labels, self._checked_any(X), y)
        return self._refit(stored[kept], None if labels is None else np.asarray(labels)[kept])

    def _refit(self, rows: Any, y: Any) -> Self:
        """Fit to rows without column names, and keep the names."""
        names = vars(self).get("feature_names_in_")
        self.fit(rows, y)
        if names is not None:
            self.feature_names_in_ = names
        return self

    def _checked_any(self, X: Any) -> Any:
        if self._columns is not None:
            return objects(checked_table(self, X, reset=False))
        return checks.rows(self, X)

    def _stored(self) -> tuple[Any, Any]:
        """Return the rows and their labels or targets."""
        y = getattr(self, "_y", None)
        classes = getattr(self, "classes_", None)
        rows = self._fit_X if self._columns is None else self._columns.decode(self._fit_X)
        if y is None or classes is None:
            return rows, y
        if isinstance(classes, list):
            return rows, np.transpose([c[k] for c, k in zip(classes, y.T, strict=True)])
        return rows, classes[y]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.metric == "gower":
            tags.input_tags.categorical = tags.input_tags.allow_nan = True
            tags.input_tags.sparse = False
        return tags


class SharedSearch:
    """The neighbors of the last queries, shared by models along a path."""

    def __init__(self, largest: ExactSearch) -> None:
        points = largest._search_points()
        assert points is not None
        self.points, self.k = points, min(largest.n_neighbors + 1, len(points.X))
        self.last: tuple[Any, Any, Any] = None, None, None  # rows, a copy, neighbors

    def nearest(self, Q: Any, k: int, given: Any) -> Found:
        """Return distances and numbers of the k nearest points; search once for the largest k.

        `given` are the original rows of Q, which identify them.
        """
        last, before, found = self.last
        if last is not given or not (before is given or np.array_equal(before, given)):
            found = self.points.nearest(Q, max(k, self.k))
            self.last = given, given.copy() if isinstance(given, np.ndarray) else given, found
        distances, numbers = found
        if k > numbers.shape[1]:
            return self.points.nearest(Q, k)
        return distances[:, :k], numbers[:, :k]


def vote_weights(distances: NDArray[Any], weights: Any) -> NDArray[Any] | None:
    """Return the weights (m, k) of the neighbors' votes; None if all are equal."""
    if weights in (None, "uniform"):
        return None
    if weights == "kernel":
        widths = np.maximum(distances[:, -1:], np.finfo(np.float64).tiny)
        return np.asarray(np.exp(-0.5 * (distances / widths) ** 2))
    if weights == "distance":
        equal = distances == 0
        tiny = distances.min(axis=1, keepdims=True) < SMALLEST_DISTANCE
        with np.errstate(divide="ignore"):  # only ratios matter
            inverse = 1.0 / np.where(tiny, np.ldexp(distances, 600), distances)
        return np.where(equal.any(axis=1, keepdims=True), equal, inverse)
    given = np.asarray(weights(distances))
    if not (given > 0).any(axis=1).all():
        raise ValueError(
            "All neighbors of some sample is getting zero weights. Please modify 'weights' to "
            "avoid this case if you are using a user-defined function."
        )
    return given


@contextmanager
def _clearer_errors(X: Any) -> Iterator[None]:
    """Name the column in errors about dates, and suggest a metric in errors about strings."""
    try:
        yield
    except TypeError:
        checks.no_times(X)
        raise
    except ValueError as error:
        if "could not convert string to float" not in str(error):
            raise
        raise ValueError(f"{error}; metric='gower' reads categories as they are.") from None


def _check_metric(metric: Any, X: Any, settings: dict[str, Any]) -> None:
    """Raise if a metric function returns a negative distance or NaN for some of the first rows."""
    try:
        rows = np.asarray(X, np.float64)[:FEW_ROWS]
    except (TypeError, ValueError):  # the fit raises
        return
    if rows.ndim != 2:
        return
    for i, row in enumerate(rows):
        value = metric(rows[0], row, **settings)
        if not np.ndim(value) and not value >= 0:
            raise ValueError(
                f"metric must return distances >= 0; of rows 0 and {i} it returns {value!r}."
            )


def _check_same_columns(model: Any, other: Any) -> None:
    """Raise unless two models have the same number and names of columns."""
    columns = [vars(one).get("feature_names_in_") for one in (model, other)]
    if columns[0] is None or columns[1] is None:
        columns = [range(one.n_features_in_) for one in (model, other)]
    mine, theirs = map(list, columns)
    if mine != theirs:
        pair = next(pair for pair in zip_longest(mine, theirs) if pair[0] != pair[1])
        raise ValueError(
            f"Models must have the same columns to be merged; got {len(mine)} and {len(theirs)}, "
            f"the first that differ are {pair[0]!r} and {pair[1]!r}."
        )


def _stack(stored: Any, more: Any) -> Any:
    if stored is None:
        return None
    if sp.issparse(stored) or sp.issparse(more):
        return sp.vstack([stored, more], format="csr")
    return np.concatenate([np.asarray(stored), np.asarray(more)])


def _places_without(X: Any, y: Any, gone: Any, gone_y: Any) -> NDArray[np.intp]:
    """Return the places of the rows of X that remain without the rows `gone`."""
    places: dict[Any, list[int]] = {}
    for i, key in enumerate(_keys(X, y)):
        places.setdefault(key, []).append(i)
    kept = np.ones(X.shape[0], bool)
    for i, key in enumerate(_keys(gone, gone_y)):
        if not places.get(key):
            raise ValueError(
                f"Row {i} is not stored, so it cannot be forgotten. Pass rows as they were fitted, "
                "with their labels."
            )
        kept[places[key].pop()] = False
    return np.flatnonzero(kept)


def _keys(X: Any, y: Any) -> list[Any]:
    rows = np.asarray(X.toarray() if sp.issparse(X) else X)
    labels: Any = [()] * len(rows) if y is None else np.asarray(y).tolist()
    if rows.dtype != object:
        keys: list[Any] = [row.tobytes() for row in rows.astype(np.float64) + 0.0]
    else:
        keys = [
            tuple(
                None if missing else value if isinstance(value, str) else float(value)
                for value, missing in zip(row, which_missing(row), strict=True)
            )
            for row in rows
        ]
    return [(key, repr(label)) for key, label in zip(keys, labels, strict=True)]
