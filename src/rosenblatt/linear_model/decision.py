"""From scores to classes: who wins, and by how much."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# To whom a score of zero, or a tie, goes: nobody, the second (higher) class, or the first.
TIES = {"mistake": 0, "positive": 1, "negative": -1}


def decide(scores: NDArray[Any], boundary: str) -> NDArray[np.intp]:
    """The winning class (n,) by scores (n,), (n, 1) or (n, K); nobody's ties go to the lower."""
    if scores.ndim == 1 or scores.shape[1] == 1:
        scores = scores.reshape(-1)
        return (scores >= 0 if boundary == "positive" else scores > 0).astype(np.intp)
    return best(scores, TIES[boundary])


def best(scores: NDArray[Any], ties: int) -> NDArray[np.intp]:
    """The column of the highest score in each row (n, K): among equals the last if ties > 0."""
    if ties > 0:
        return np.asarray(scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1))
    return np.asarray(scores.argmax(axis=1))


def margins_of(scores: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """By how much the true class wins in each row (n,): y f(x), or the lead over the best rival."""
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores)
    everyone = np.arange(len(scores))
    margins: NDArray[Any] = scores[everyone, codes] - _rivals(scores, codes).max(axis=1)
    return margins


def wins_ties(scores: NDArray[Any], codes: NDArray[Any], ties: int) -> NDArray[np.bool_]:
    """Whether the true class would win a tie against its best rival, each row (n,)."""
    if scores.ndim == 1:
        return (2 * codes - 1) * ties > 0
    return (codes - best(_rivals(scores, codes), ties)) * ties > 0


def _rivals(scores: NDArray[Any], codes: NDArray[Any]) -> NDArray[Any]:
    """The scores (n, K) with the true class out of the contest."""
    rivals = scores.copy()
    rivals[np.arange(len(scores)), codes] = -np.inf
    return rivals
