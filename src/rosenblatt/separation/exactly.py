"""Directions that lower no row, without rounding.

What floating point cannot tell from a tie may be a contradiction. Here a direction's scores are
summed in integers and its biases are looked for among the fractions, so that nothing is left open.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .inputs import Floats
from .planes import exact_scores

MOST_EXACT = 200_000  # products in integers
MOST_EXACT_CELLS = 20_000_000  # in which equal rows are looked for


def ahead_exactly(
    X: Any, codes: NDArray[Any], W: Floats, fit_intercept: bool
) -> NDArray[np.bool_] | None:
    """Who gets ahead of whom (n, K) along weights W (K, d), with biases that suit them best.

    None unless no row's own class falls behind another and some get ahead; or if a class has no
    row, or it would take too long.
    """
    used, K = np.flatnonzero(W.any(axis=0)), len(W)
    if not len(used) or X.shape[0] * len(used) > MOST_EXACT_CELLS or len(np.unique(codes)) < K:
        return None
    part = X[:, used]
    part = np.asarray(part.toarray() if sp.issparse(part) else part, np.float64) + 0.0  # no -0
    rows, of_row = np.unique(part, axis=0, return_inverse=True)  # equal rows have equal scores
    if rows.size * K > MOST_EXACT:
        return None
    scores = np.array([exact_scores(rows, w) for w in W[:, used]], dtype=object).T
    kinds, of_row = np.unique(of_row.ravel() * K + codes, return_inverse=True)
    at, own = np.divmod(kinds, K)
    leads = scores[at, own][:, None] - scores[at]  # of each distinct row and class (m, K)
    b = np.array([Fraction(0)] * K, dtype=object)
    if fit_intercept:
        b = np.array(_biases([leads[own == y].min(axis=0).tolist() for y in range(K)]), object)
    leads = leads + b[own][:, None] - b
    ahead = np.asarray(leads > 0, np.bool_)
    return ahead[of_row.ravel()] if (leads >= 0).all() and ahead.any() else None


def _biases(least: list[list[Fraction]]) -> list[Fraction]:
    """Biases b with ``b_k - b_y <= least[y][k]``, in the middle of all there are, if there are any.

    The lengths of the shortest paths from any class are such biases, and so is their mean.
    """
    K = len(least)
    lengths = [list(row) for row in least]  # from class y to class k
    for middle in range(K):
        for y in range(K):
            for k in range(K):
                lengths[y][k] = min(lengths[y][k], lengths[y][middle] + lengths[middle][k])
    return [sum((lengths[y][k] for y in range(K)), Fraction(0)) / K for k in range(K)]
