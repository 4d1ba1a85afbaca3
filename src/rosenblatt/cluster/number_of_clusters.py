"""Choice of the number of clusters by a score of the clustering for each number."""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from rosenblatt import checks

from .quality import cluster_quality

Table = NDArray[np.float64]

CRITERIA = {
    "silhouette": "the mean silhouette is largest",
    "gap": "the gap over rows without clusters is within one error of the gap at the next number",
    "bic": "the Bayesian information criterion is smallest",
    "likelihood": "the log-likelihood of held-out rows is within one error of the largest",
}
FOLDS = 5


@dataclass(frozen=True)
class ClusterNumber:
    """The number of clusters that a criterion chose, and its scores.

    Examples
    --------
    >>> from rosenblatt import KMeans, choose_k
    >>> X = [[0.0], [0.5], [1.0], [5.0], [5.5], [6.0], [10.0], [10.5], [11.0]]
    >>> choose_k(KMeans(random_state=0, n_init=5), X, range(2, 6)).why
    '3 clusters: the mean silhouette is largest'
    """

    k: int
    criterion: str
    numbers: NDArray[np.intp]  # tried, (m,)
    scores: Table  # of each number, (m,)
    errors: Table  # standard errors (m,), or zeros
    models: tuple[Any, ...]  # fitted for each number

    @property
    def why(self) -> str:
        """The reason for the choice."""
        return f"{self.k} clusters: {CRITERIA[self.criterion]}"

    @property
    def model(self) -> Any:
        """The model with the chosen number."""
        return self.models[int(np.flatnonzero(self.numbers == self.k)[0])]


def choose_k(
    estimator: Any,
    X: Any,
    k: Iterable[int] = range(2, 11),
    *,
    criterion: str = "auto",
    n_references: int = 10,
    random_state: Any = 0,
) -> ClusterNumber:
    """Choose the number of clusters.

    Parameters
    ----------
    estimator : clusterer or mixture
        With a parameter `n_clusters` or `n_components`. A tree of clusters is built once.
    X : array-like of shape (n, d)
    k : numbers to try.
    criterion : {"auto", "silhouette", "gap", "bic", "likelihood"}
        The largest mean silhouette [1]_; the gap statistic [2]_, which compares the spread within
        clusters with clusters of uniform random rows, and can choose one cluster; the smallest
        `bic`; or the largest log-likelihood of held-out rows. "auto" is "bic" if the model has the
        method, else "silhouette".
    n_references : number of random tables for "gap".
    random_state : seed of random rows and folds.

    Returns
    -------
    choice : ClusterNumber

    Examples
    --------
    >>> from rosenblatt import AgglomerativeClustering, choose_k
    >>> X = [[0.0], [0.5], [1.0], [5.0], [5.5], [6.0], [10.0], [10.5], [11.0]]
    >>> choose_k(AgglomerativeClustering(), X, range(2, 6)).k
    3

    References
    ----------
    .. [1] P. J. Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation and
       validation of cluster analysis.
    .. [2] R. Tibshirani, G. Walther, T. Hastie (2001), Estimating the number of clusters in a data
       set via the gap statistic.
    """
    with checks.naming_columns(X):
        X = check_array(X, dtype=np.float64, order="C", ensure_min_samples=3, input_name="X")
    criterion = _checked(estimator, criterion)
    numbers = _numbers(k, len(X), least=1 if criterion != "silhouette" else 2)
    rng = check_random_state(random_state)
    if criterion == "likelihood":
        folds = list(KFold(min(FOLDS, len(X)), shuffle=True, random_state=rng).split(X))
        found = np.array(
            [[fitted_at(estimator, X[a], int(k)).score(X[b]) for a, b in folds] for k in numbers]
        )
        scores = found.mean(axis=1)
        errors = found.std(axis=1, ddof=1) / np.sqrt(len(folds))
        models = _fitted(estimator, X, numbers)
        good = scores >= scores.max() - errors[int(scores.argmax())]
        chosen = int(numbers[good][0])
    else:
        models = _fitted(estimator, X, numbers)
        errors = np.zeros(len(numbers))
        if criterion == "silhouette":
            scores = np.array([_silhouette(X, labels_of(m, X)) for m in models])
            chosen = int(numbers[scores.argmax()])
        elif criterion == "bic":
            scores = np.array([float(model.bic(X)) for model in models])
            chosen = int(numbers[scores.argmin()])
        else:
            scores, errors = _gaps(estimator, X, models, numbers, n_references, rng)
            enough = scores[:-1] >= scores[1:] - errors[1:]
            chosen = int(numbers[enough.argmax()] if enough.any() else numbers[scores.argmax()])
    return ClusterNumber(chosen, criterion, numbers, scores, errors, tuple(models))


def _checked(estimator: Any, criterion: str) -> str:
    if criterion == "auto":
        return "bic" if hasattr(estimator, "bic") else "silhouette"
    if criterion not in CRITERIA:
        raise ValueError(f"criterion must be 'auto' or one of {list(CRITERIA)}; got {criterion!r}.")
    needed = {"bic": "bic", "likelihood": "score_samples"}.get(criterion)
    if needed is not None and not hasattr(estimator, needed):
        raise ValueError(
            f"criterion={criterion!r} needs a model with `{needed}`, such as GaussianMixture; "
            f"{type(estimator).__name__} does not have it."
        )
    return criterion


def _numbers(k: Iterable[int], n: int, least: int) -> NDArray[np.intp]:
    """Return the sorted numbers to try that are smaller than the number of rows."""
    given = np.unique(np.array(list(k), np.intp))
    numbers = given[(given >= least) & (given < n)]
    if not len(numbers):
        raise ValueError(
            f"k must hold numbers from {least} to {n - 1}, fewer than the {n} rows; got "
            f"{given.tolist()}."
        )
    return numbers


def _fitted(estimator: Any, X: Table, numbers: NDArray[np.intp]) -> list[Any]:
    """Return a model for each number, from one tree if the model is a tree."""
    delegated = (getattr(estimator, name, None) for name in ("connectivity", "memory"))
    if not hasattr(estimator, "cut") or any(part is not None for part in delegated):
        return [fitted_at(estimator, X, int(k)) for k in numbers]
    tree = fitted_at(estimator, X, int(numbers[0]))
    models = [copy(tree).set_params(n_clusters=int(k)) for k in numbers]
    for model in models:
        model.n_clusters_, model.labels_ = model.n_clusters, tree.cut(model.n_clusters)
    return models


def fitted_at(estimator: Any, X: Table, k: int) -> Any:
    """Return a fitted copy with k clusters."""
    name = "n_components" if "n_components" in estimator.get_params() else "n_clusters"
    return clone(estimator).set_params(**{name: k}).fit(X)


def labels_of(model: Any, X: Table) -> NDArray[Any]:
    """Return the labels of the rows that a model was fitted to."""
    return np.asarray(model.labels_ if hasattr(model, "labels_") else model.predict(X))


def _silhouette(X: Table, labels: NDArray[Any]) -> float:
    return cluster_quality(X, labels).silhouette if len(np.unique(labels)) > 1 else -1.0


def _gaps(
    estimator: Any, X: Table, models: list[Any], numbers: NDArray[np.intp], n_references: int,
    rng: Any,
) -> tuple[Table, Table]:  # fmt: skip
    """Return the gap statistic for each number, and its standard error."""
    # Reference rows are uniform in a box along the principal axes of the data.
    center = X.mean(axis=0)
    axes = np.linalg.svd(X - center, full_matrices=False)[2]
    turned = (X - center) @ axes.T
    low, high = turned.min(axis=0), turned.max(axis=0)
    own = np.array([_log_within(X, labels_of(model, X)) for model in models])
    others = np.empty((n_references, len(numbers)))
    for b in range(n_references):
        box = rng.uniform(low, high, turned.shape) @ axes + center
        boxed = _fitted(estimator, box, numbers)
        others[b] = [_log_within(box, labels_of(model, box)) for model in boxed]
    errors = others.std(axis=0) * np.sqrt(1 + 1 / n_references)
    return others.mean(axis=0) - own, errors


def _log_within(X: Table, labels: NDArray[Any]) -> float:
    """Return the logarithm of the sum of squares about centroids."""
    clusters = (X[labels == label] for label in np.unique(labels))
    within = sum(float(((some - some.mean(axis=0)) ** 2).sum()) for some in clusters)
    return float(np.log(max(within, np.finfo(float).tiny)))
