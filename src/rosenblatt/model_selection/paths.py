"""Candidates along a path: all scores of a split from one decomposition, and no fit."""

import time
from collections.abc import Mapping, Sequence
from typing import Any


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
