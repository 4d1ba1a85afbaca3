"""Hamming distance, and the concentration of distances in many dimensions."""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

AT_ONCE = 256  # rows whose distances from all others are computed together


def hamming(a: Any, b: Any) -> int:
    """Return the number of positions in which two rows differ.

    The `metric` ``"hamming"`` is the share of the positions, as in scikit-learn.

    Examples
    --------
    >>> from rosenblatt.neighbors import hamming
    >>> hamming("1011", "1101")
    2
    """
    if len(a) != len(b):
        raise ValueError(f"Both rows must have one length; got {len(a)} and {len(b)}.")
    return sum(x != y for x, y in zip(a, b, strict=True))


def shell_fraction(eps: float, d: int) -> float:
    """Return the share of a ball's volume within `eps` of its surface: ``1 - (1 - eps)^d``.

    The radius is one.

    Examples
    --------
    >>> from rosenblatt.neighbors import shell_fraction
    >>> round(shell_fraction(0.1, 3), 3)
    0.271
    """
    if not 0 <= eps <= 1:
        raise ValueError(f"eps must be between 0 and 1, a share of the radius; got {eps!r}.")
    if d < 1:
        raise ValueError(f"d must be an integer >= 1; got {d!r}.")
    return float(-np.expm1(d * np.log1p(-eps))) if eps < 1 else 1.0


def distance_concentration(X: Any) -> float:
    """Return the mean ratio of the distances of the nearest and the farthest row.

    Neighbors are informative if it is close to 0; close to 1, all rows are equally far away.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows; at least three.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt.neighbors import distance_concentration
    >>> line = np.arange(10.0)[:, None]
    >>> round(distance_concentration(line), 2)
    0.15
    """
    rows = check_array(X, dtype=np.float64, ensure_min_samples=3)
    ratios = []
    for start in range(0, len(rows), AT_ONCE):
        distances = cdist(rows[start : start + AT_ONCE], rows)
        farthest = distances.max(axis=1)
        itself = np.arange(len(distances))
        distances[itself, start + itself] = np.inf
        ratios.append(distances.min(axis=1) / np.where(farthest > 0, farthest, 1.0))
    return float(np.mean(np.concatenate(ratios)))
