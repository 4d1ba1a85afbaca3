"""A family at its best setting: fitted to the training part, and seen on the other."""

import pickle
import time
import warnings

import numpy as np
from sklearn.model_selection import ParameterGrid

from rosenblatt.model_selection.search import simplest

from .families import Family
from .pipelines import fitted_to, pipeline, reads_texts
from .problem import Problem
from .results import Candidate, Contestant
from .scoring import score_of
from .search import Arena

MOST_NAMED = 3  # columns that a family does not read


def contestant(arena: Arena, family: Family, candidates: list[Candidate]) -> Contestant:
    """The family at its best setting, fitted to the training part and seen on the other."""
    problem = arena.problem
    means = np.array([candidate.mean for candidate in candidates])
    if not np.isfinite(means).any():
        why = _why(arena, family, candidates)
        raise ValueError(f"there is no {arena.metric} in every fold at any setting{why}")
    equal = np.flatnonzero(means == np.nanmax(means))
    settings = [family.make().set_params(**candidates[i].parameters) for i in equal]
    best = int(equal[simplest(settings)])
    model = pipeline(problem, family, candidates[best].parameters)
    score = score_of(arena.metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, seconds = arena.fit_whole(family, model)
    front, last = model[:-1], model[-1]
    train_score = float(score(last, X, arena.y))
    del X  # which may be larger than the table
    begun = time.perf_counter()
    dev = front.transform(problem.some(problem.dev))
    last.predict(dev)
    predicted = time.perf_counter()
    count = problem.texts.seconds_for if reads_texts(family) else lambda n_rows: 0.0
    counting = count(len(arena.y)), count(len(problem.dev))
    entry = Contestant(
        family.name,
        type(last).__name__,
        family.package,
        candidates,
        best,
        seconds + counting[0],  # words were counted before, for all families
        predicted - begun + counting[1],
        len(pickle.dumps(model)),
        float(score(last, dev, problem.y[problem.dev])),
        train_score,
        note="; ".join(filter(None, [_unread(problem, family), _given_up(family, candidates)])),
        counting_seconds=counting,
    )
    if family.takes != "rows":
        arena.keep_best(entry, model)
    return entry


def _unread(problem: Problem, family: Family) -> str:
    """Which columns a family does not look at, though they are used."""
    texts = [name for name, kind in problem.used.items() if kind == "text"]
    if family.takes != "table" or not texts:
        return ""
    more = f" and {len(texts) - MOST_NAMED} others" if len(texts) > MOST_NAMED else ""
    return f"does not read texts ({', '.join(texts[:MOST_NAMED])}{more})"


def _given_up(family: Family, candidates: list[Candidate]) -> str:
    """What a family went without for want of time."""
    n = len(ParameterGrid(family.grid))
    if family.halve or len(candidates) == n:
        return ""
    return f"{n - len(candidates)} of {n} settings were tried on one fold alone, for want of time"


def _why(arena: Arena, family: Family, candidates: list[Candidate]) -> str:
    """What the first setting says to the first fold that it cannot be fitted to."""
    failed = np.flatnonzero(np.isnan(candidates[0].scores))
    if not failed.size:
        return ""
    rows = arena.problem.train[arena.folds[failed[0]][0]]
    try:
        fitted_to(arena.problem, family, candidates[0].parameters, rows)
    except ValueError as error:
        return f": {error}"
    return ""
