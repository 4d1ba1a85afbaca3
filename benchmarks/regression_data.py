"""Tables with a number to predict for each row."""

import numpy as np

from benchmarks.data import dense


def noisy_plane(n, d):
    """Correlated features, and a plane through them with as much noise as plane."""
    X, _ = dense(n, d, 2)
    rng = np.random.default_rng([n, d])
    y = X @ rng.standard_normal(d)
    return X, y + y.std() * rng.standard_normal(n)
