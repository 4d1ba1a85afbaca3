"""Candidates behind the same steps of a pipeline: on each split these are fitted once.

The rows behind them, to train on and to test on, are then searched as if they were the data.
"""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics._scorer import _MultimetricScorer, _PassthroughScorer, _Scorer

from rosenblatt.capabilities import is_additive_model, path_parameters
from rosenblatt.folds import Split

from .additive_pipelines import plain_steps
from .paths import last_step, prefix_of
from .scoring import Rows, Scoring, some

Parameters = Mapping[str, Any] | None


@dataclass(eq=False)
class FrontGroup:
    """Pipelines, by their number, that differ in the parameters of their models alone."""

    trials: dict[int, Any] = field(default_factory=dict)  # not fitted
    candidates: list[dict[str, Any]] = field(default_factory=list)  # parameters of the model


@dataclass(frozen=True, eq=False)
class SplitBehindFront:
    """A split behind the steps before a model, which are fitted."""

    steps: list[Any]
    split: Split
    scoring: Scoring


def front_groups(
    trials: Mapping[int, Any], candidates: Sequence[Parameters], scoring: Scoring
) -> list[FrontGroup]:
    """The pipelines, by number, of several candidates behind one front whose models share work."""
    groups: dict[bytes, FrontGroup] = {}
    for c, trial in trials.items():
        if not _can_be_cut(trial, scoring):
            continue
        prefix, given = prefix_of(trial), dict(candidates[c] or {})
        own = {name: given.pop(name) for name in list(given) if name.startswith(prefix)}
        try:
            key = pickle.dumps(sorted(given.items()))
        except Exception:  # a parameter without bytes
            continue
        group = groups.setdefault(key, FrontGroup())
        group.trials[c] = trial
        group.candidates.append({name.removeprefix(prefix): own[name] for name in own})
    return [group for group in groups.values() if len(group.trials) > 1]


def behind_front(group: FrontGroup, rows: Rows) -> SplitBehindFront | None:
    """The rows of a split behind the steps of a group; None if they cannot be laid together."""
    first, scoring = next(iter(group.trials.values())), rows.scoring
    steps = clone(first[:-1])
    (X, y, _), (X_test, _, _) = rows.train, rows.test
    X = steps.fit_transform(X, y)
    for _, step in steps.steps:  # one by one: a pipeline asks whether the last one is fitted
        X_test = step.transform(X_test)
    parts = [X, X_test]
    if all(map(sp.issparse, parts)):
        table = sp.vstack(parts, format="csr")
    elif all(type(part) is np.ndarray for part in parts):
        table = np.vstack(parts)
    else:
        return None
    n_train, n = parts[0].shape[0], table.shape[0]
    order = np.concatenate([_numbers(rows.split.train), rows.order])
    weights = {name.rpartition("__")[2]: some(np.asarray(w), order)
               for name, w in scoring.fit_params.items()}  # fmt: skip
    split = Split.of(np.arange(n_train), np.arange(n_train, n), n)
    inner = replace(scoring, X=table, y=some(scoring.y, order), fit_params=weights)
    return SplitBehindFront(steps.steps, split, inner)


def _numbers(rows: Any) -> Any:
    """The numbers of rows that a mask may mark."""
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def _can_be_cut(trial: Any, scoring: Scoring) -> bool:
    """Whether a pipeline's model can be searched and scored without the steps before it."""
    steps = plain_steps(trial)
    if len(steps) < 2 or len(steps) != len(trial.steps) or scoring.verbose > 1:
        return False
    if not (is_additive_model(steps[-1]) or path_parameters(last_step(trial))):
        return False
    weights = {prefix_of(trial) + "sample_weight"}
    return (
        set(scoring.fit_params) <= weights
        and not scoring.score_params
        and _asks_the_model_alone(scoring.scorer)
    )


def _asks_the_model_alone(scorer: Any) -> bool:
    """Whether a scorer reads nothing but what the estimator predicts; one of a user may."""
    if type(scorer) is _MultimetricScorer:
        return all(map(_asks_the_model_alone, scorer._scorers.values()))
    return type(scorer) in (_Scorer, _PassthroughScorer)
