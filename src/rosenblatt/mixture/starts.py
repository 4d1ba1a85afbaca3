"""Where EM starts: the share of each component in each row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cluster import KMeans
from rosenblatt.cluster.assignment import rows_of
from rosenblatt.cluster.seeding import distant_rows

from .components import Rows


def start_shares(rows: Rows, how: str, n_components: int, random_state: Any) -> NDArray[np.float64]:
    """Shares (n, K) by the parameter `init_params`."""
    if how == "random":
        shares = random_state.uniform(size=(rows.n, n_components))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))
    shares = np.zeros((rows.n, n_components))
    if how == "kmeans":
        model = KMeans(n_components, n_init=1, random_state=random_state)
        shares[np.arange(rows.n), model.fit(rows.X, sample_weight=rows.weights).labels_] = 1.0
        return shares
    if how == "random_from_data":
        order = random_state.permutation(rows.n)
        if rows.weights is not None:  # rows that count, first
            order = order[np.argsort(rows.weights[order] == 0, kind="stable")]
        chosen = order[:n_components]
    else:
        chosen = distant_rows(rows_of(rows.X, rows.weights), n_components, random_state)
    shares[chosen, np.arange(n_components)] = 1.0
    return shares
