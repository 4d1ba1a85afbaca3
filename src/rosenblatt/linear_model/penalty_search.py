"""The search for a penalty: decades first, then closer and closer around the best."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST_DECADES = 12  # that a grid may grow by at either end
BETWEEN = 9  # penalties in each closer look
ROUNDS = 2  # of looking closer, after the decades
WORTH_A_DECADE = 1e-3  # share by which a score must rise for costly searches to go on


@dataclass(frozen=True, eq=False)
class Search:
    """Penalties tried (A,), sorted, with their scores; `edge` if the best is at an end."""

    penalties: Array
    scores: Array  # (A,) or (A, t)
    edge: str | None  # "smallest" or "largest"


def decades(smallest: float, largest: float) -> Array:
    """Powers of ten from below the smallest penalty of use to above the largest.

    >>> decades(3.0, 200.0)
    array([   1.,   10.,  100., 1000.])
    """
    bottom, top = np.floor(np.log10(smallest)), np.ceil(np.log10(largest))
    return np.asarray(10.0 ** np.arange(bottom, top + 1))


def around(penalties: Array, best: int, n: int = BETWEEN) -> Array:
    """Penalties between the neighbours of the best of a sorted grid, either side of it.

    >>> around(np.array([1.0, 10.0, 100.0, 1000.0]), best=2, n=3).round(1)
    array([ 31.6, 100. , 316.2])
    """
    low, high = penalties[max(best - 1, 0)], penalties[min(best + 1, len(penalties) - 1)]
    return np.geomspace(low, high, n + 2)[1:-1]


def search(
    score: Callable[[Array], Array], penalties: Array, closer: int, grow: bool, worth: float = 0.0
) -> Search:
    """Score a grid, longer while its end is best (`grow`), then look closer so many times."""
    # `score` gives (A,) for penalties (A,), or (A, t) for targets that are to have one each. A
    # decade more must better the best score by the share `worth` of it, or is left out again.
    penalties = np.unique(penalties)
    scores = score(penalties)
    if np.isnan(scores).all(axis=0).any():  # nothing to compare
        return Search(penalties, scores, None)
    for _ in range(MOST_DECADES if grow else 0):
        ends = _best(scores)
        more = []
        if 0 in ends:
            more.append(penalties[0] / 10)
        if len(penalties) - 1 in ends:
            more.append(penalties[-1] * 10)
        if not more or _flat(scores, ends):
            break
        longer, more_scores = _joined(score, penalties, scores, np.array(more))
        before, now = np.nanmax(scores, axis=0), np.nanmax(more_scores, axis=0)
        if worth and not np.any(now > before + worth * np.abs(before)):
            break
        penalties, scores = longer, more_scores
    edge = _edge(penalties, scores)
    for _ in range(closer):
        new = np.unique(np.concatenate([around(penalties, int(b)) for b in _best(scores)]))
        penalties, scores = _joined(score, penalties, scores, new)
    return Search(penalties, scores, edge)


def _joined(
    score: Callable[[Array], Array], penalties: Array, scores: Array, new: Array
) -> tuple[Array, Array]:
    """The grid with new penalties in their places."""
    new = new[~np.isclose(new[:, None], penalties, rtol=1e-9, atol=0.0).any(axis=1)]
    if not len(new):
        return penalties, scores
    order = np.argsort(np.concatenate([penalties, new]), kind="stable")
    together = np.concatenate([scores, score(new)])
    return np.concatenate([penalties, new])[order], together[order]


def _best(scores: Array) -> NDArray[np.intp]:
    """The places of the best scores, one for each target."""
    return np.unique(best_places(scores))


def best_places(scores: Array) -> Any:
    """Where scores (A,) or (A, t) are best, () or (t,); NaN is worse than any number."""
    return np.argmax(np.where(np.isnan(scores), -np.inf, scores), axis=0)


def _flat(scores: Array, ends: NDArray[np.intp]) -> bool:
    """Whether each end is no better than what is beside it: further out is no use."""
    if len(scores) < 2:
        return False
    outer = [end for end in ends if end in (0, len(scores) - 1)]
    inner = [1 if end == 0 else len(scores) - 2 for end in outer]
    return bool(np.allclose(scores[outer], scores[inner], rtol=1e-6, atol=0.0))


def _edge(penalties: Array, scores: Array) -> str | None:
    """Which end of the grid is best, if one is."""
    if len(penalties) < 2:
        return None
    best = _best(scores)
    if np.allclose(scores, scores[0], rtol=1e-12, atol=1e-300):  # the penalty makes no difference
        return None
    if 0 in best:
        return "smallest"
    return "largest" if len(penalties) - 1 in best else None
