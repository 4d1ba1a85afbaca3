"""Where k-means starts: rows far from each other, rows at random, or given centres."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.cluster
from numpy.typing import NDArray
from sklearn.utils import check_array

from .assignment import Rows


def given_centres(X: Any, init: Any, n_clusters: int) -> NDArray[Any]:
    """The centres (K, d) that a user gave, checked."""
    centres: NDArray[Any] = check_array(init, dtype=X.dtype, order="C")
    if len(centres) != n_clusters:
        raise ValueError(
            f"The shape of the initial centers {centres.shape} does not match the number of "
            f"clusters {n_clusters}."
        )
    if centres.shape[1] != X.shape[1]:
        raise ValueError(
            f"The shape of the initial centers {centres.shape} does not match the number of "
            f"features of the data {X.shape[1]}."
        )
    return centres


def start(rows: Rows, init: Any, n_clusters: int, random_state: Any) -> NDArray[Any]:
    """The centres (K, d) of one start."""
    if isinstance(init, np.ndarray):
        return init
    if callable(init):
        return given_centres(
            rows.X, init(rows.X, n_clusters, random_state=random_state), n_clusters
        )
    if init == "random":
        chosen = random_rows(rows, n_clusters, random_state)
    else:
        chosen = distant_rows(rows, n_clusters, random_state)
    centres = rows.X[chosen]
    return np.asarray(centres.toarray() if sp.issparse(centres) else centres)


def random_rows(rows: Rows, n_clusters: int, random_state: Any) -> NDArray[np.intp]:
    """Different rows, drawn in proportion to their weights."""
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    if np.count_nonzero(weights) < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} should be <= {np.count_nonzero(weights)}, the number of rows "
            "with a positive weight."
        )
    chosen = random_state.choice(rows.n, n_clusters, replace=False, p=weights / weights.sum())
    return np.asarray(chosen)


def distant_rows(rows: Rows, n_clusters: int, random_state: Any) -> NDArray[np.intp]:
    """k-means++: each next row drawn in proportion to its squared distance from those before."""
    _, chosen = sklearn.cluster.kmeans_plusplus(
        rows.X, n_clusters, sample_weight=rows.weights, random_state=random_state
    )
    return np.asarray(chosen)
