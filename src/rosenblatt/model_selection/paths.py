"""Candidates along a path: all scores of a split from one decomposition, and no fit."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone
from sklearn.utils import _safe_indexing

from rosenblatt.linear_model.ridge import Ridge

from .scoring import scores_of


def weighs_alike(weights: Any, score_params: Mapping[str, Any]) -> bool:
    """Whether scores weigh the rows as the measurement did, and ask for nothing else."""
    if weights is None:
        return not score_params
    return list(score_params) == ["sample_weight"] and score_params["sample_weight"] is weights


def follow(
    path: Sequence[int], jobs: Sequence[Any], n_test: int, scorer: Any
) -> dict[int, dict[str, Any]]:
    """The results of the candidates along a path, by number; none if statistics do not say."""
    start, first = time.perf_counter(), jobs[path[0]]
    values = [jobs[c].recipe.path_value for c in path]
    scores = first.recipe.scores_along(values, first.statistics, first.test, scorer)
    if scores is None:
        return {}
    seconds = first.seconds + (time.perf_counter() - start) / len(path)
    rest = {"fit_error": None, "n_test_samples": n_test, "fit_time": seconds, "score_time": 0.0}
    return {
        c: {**rest, "test_scores": score} for c, score in zip(path, scores.tolist(), strict=True)
    }


def follow_rows(
    estimator: Any, path: Sequence[int], jobs: Sequence[Any], rows: Any
) -> dict[int, dict[str, Any]]:
    """The same for rows too wide for statistics: all fits of a split from one decomposition.

    None of them if the estimator is no `Ridge` by itself, or one of its fits is not of that kind.
    """
    fit_params = rows.scoring.fit_params
    if type(estimator) is not Ridge or not set(fit_params) <= {"sample_weight"}:
        return {}
    start = time.perf_counter()
    X, y, _ = rows.train
    weights = fit_params.get("sample_weight")
    weights = None if weights is None else _safe_indexing(weights, rows.split.train)
    values = [jobs[c].recipe.path_value for c in path]
    try:
        model = clone(estimator).set_params(**clone(dict(jobs[path[0]].parameters), safe=False))
        models = model._fitted_along(values, X, y, weights)
    except ValueError:  # the same is said when each is fitted
        return {}
    seconds = (time.perf_counter() - start) / len(path)
    found = {}
    for c, fitted in zip(path, models or (), strict=False):
        start = time.perf_counter()
        scores = scores_of(fitted, rows, "test")
        found[c] = {
            "fit_error": None, "n_test_samples": rows.n_test, "fit_time": seconds,
            "score_time": time.perf_counter() - start, "test_scores": scores,
        }  # fmt: skip
    return found
