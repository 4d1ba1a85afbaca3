"""Two-class machines for more classes: which rows each sees, and what their answers make.

With K classes and one against one, machine (i, j), i < j, sees the rows of both, those of class i
on the positive side; a support of class i has a coefficient in K - 1 machines, in row j - 1 of
`dual_coef_` if j > i, else in row j. One against the rest has a machine, and a row, for each class.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Machine(NamedTuple):
    """Rows that a two-class machine sees, their sides, and where its coefficients stand."""

    rows: NDArray[np.intp]
    side: Floats  # 1 or -1, by row
    places: NDArray[np.intp]  # the row of `dual_coef_`, by row


def machines(codes: NDArray[np.intp], n_classes: int, scheme: str) -> Iterator[Machine]:
    """The two-class problems of K classes."""
    everything = np.arange(len(codes))
    if n_classes == 2:
        # Positive scores are for the second class.
        yield Machine(everything, np.where(codes == 1, 1.0, -1.0), np.zeros(len(codes), np.intp))
    elif scheme == "ovr":
        for k in range(n_classes):
            yield Machine(everything, np.where(codes == k, 1.0, -1.0), np.full(len(codes), k))
    else:
        for i, j in combinations(range(n_classes), 2):
            rows = np.flatnonzero((codes == i) | (codes == j))
            first = codes[rows] == i
            yield Machine(rows, np.where(first, 1.0, -1.0), np.where(first, j - 1, i))


def n_coefficients(n_classes: int, scheme: str) -> int:
    """How many rows `dual_coef_` has."""
    if n_classes == 2:
        return 1
    return n_classes if scheme != "ovo" else n_classes - 1


def pair_scores(
    sums: Callable[[slice], Floats], n_support: NDArray[Any], intercept: Floats
) -> Floats:
    """Scores (n, P) of all pairs; `sums` gives (n, K - 1), what supports of a class add up to."""
    ends = np.concatenate([[0], np.cumsum(n_support)])
    parts = [sums(slice(ends[k], ends[k + 1])) for k in range(len(n_support))]
    pairs = list(combinations(range(len(n_support)), 2))
    scores = [parts[i][:, j - 1] + parts[j][:, i] for i, j in pairs]
    return np.stack(scores, axis=1) + intercept


def most_votes(scores: Floats, n_classes: int) -> NDArray[np.intp]:
    """The class (n,) that wins most pairs, by scores (n, P); of equals the first."""
    votes = np.zeros((len(scores), n_classes), np.intp)
    rows = np.arange(len(scores))
    for p, (i, j) in enumerate(combinations(range(n_classes), 2)):
        votes[rows, np.where(scores[:, p] > 0, i, j)] += 1
    return np.asarray(votes.argmax(axis=1))
