"""Search for a penalty by cross-validation: powers of ten first, then closer around the best."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

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
    """Return powers of ten from below the smallest useful penalty to above the largest.

    >>> decades(3.0, 200.0)
    array([   1.,   10.,  100., 1000.])
    """
    bottom, top = np.floor(np.log10(smallest)), np.ceil(np.log10(largest))
    return np.asarray(10.0 ** np.arange(bottom, top + 1))


def around(penalties: Array, best: int, n: int = BETWEEN) -> Array:
    """Return penalties between the neighbors of the best of a sorted grid.

    >>> around(np.array([1.0, 10.0, 100.0, 1000.0]), best=2, n=3).round(1)
    array([ 31.6, 100. , 316.2])
    """
    low, high = penalties[max(best - 1, 0)], penalties[min(best + 1, len(penalties) - 1)]
    return np.geomspace(low, high, n + 2)[1:-1]


def search(
    score: Callable[[Array], Array], penalties: Array, closer: int, grow: bool, worth: float = 0.0
) -> Search:
    """Score a grid, extend it while its end is best (`grow`), then look closer so many times.

    `score` gives (A,) for penalties (A,), or (A, t) if each of t targets has its own. One more
    decade must raise the best score by the share `worth`, or it is left out again.
    """
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
    """Return the grid and its scores with new penalties added."""
    new = new[~np.isclose(new[:, None], penalties, rtol=1e-9, atol=0.0).any(axis=1)]
    if not len(new):
        return penalties, scores
    order = np.argsort(np.concatenate([penalties, new]), kind="stable")
    together = np.concatenate([scores, score(new)])
    return np.concatenate([penalties, new])[order], together[order]


def _best(scores: Array) -> NDArray[np.intp]:
    """Return the places of the best scores, one for each target."""
    return np.unique(best_places(scores))


def best_places(scores: Array) -> Any:
    """Return the place of the best of scores (A,) or (A, t); NaN is worse than any number."""
    return np.argmax(np.where(np.isnan(scores), -np.inf, scores), axis=0)


def _flat(scores: Array, ends: NDArray[np.intp]) -> bool:
    """Return whether no end is better than the penalty beside it: going further is useless."""
    if len(scores) < 2:
        return False
    outer = [end for end in ends if end in (0, len(scores) - 1)]
    inner = [1 if end == 0 else len(scores) - 2 for end in outer]
    return bool(np.allclose(scores[outer], scores[inner], rtol=1e-6, atol=0.0))


def _edge(penalties: Array, scores: Array) -> str | None:
    """Return which end of the grid is best, if one is."""
    if len(penalties) < 2:
        return None
    best = _best(scores)
    if np.allclose(scores, scores[0], rtol=1e-12, atol=1e-300):  # the penalty makes no difference
        return None
    if 0 in best:
        return "smallest"
    return "largest" if len(penalties) - 1 in best else None


# Metadata routing of models that choose a penalty by cross-validation.


def router(
    model: Any, splitter: Any, scorer: Any = None, scored_by: tuple[str, ...] = ("fit",)
) -> MetadataRouter:
    """Return the routing of a model whose `fit` splits rows and, given a scorer, scores fits."""
    found = MetadataRouter(owner=model).add_self_request(model)
    splits = MethodMapping().add(caller="fit", callee="split")
    if scorer is not None:
        scores = MethodMapping()
        for caller in scored_by:
            scores.add(caller=caller, callee="score")
        found.add(scorer=scorer, method_mapping=scores)
    return found.add(splitter=splitter, method_mapping=splits)


def routed(
    model: Any, sample_weight: Any, params: dict[str, Any], caller: str = "fit"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the metadata of the splitter and of the scorer.

    Without metadata routing the scorer takes the weights, and other parameters are refused.
    """
    _raise_for_params(params, model, caller)
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    if not _routing_enabled():
        return {}, given
    found = process_routing(model, caller, **given, **params)
    splitter, scorer = found.get("splitter"), found.get("scorer")
    return (
        dict(splitter.split) if splitter and caller == "fit" else {},
        dict(scorer.score) if scorer else {},
    )
