"""A family at its best setting: fitted to the training part, and seen on the other."""

import pickle
import time
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from rosenblatt.model_selection.search import simplest

from .clock import Clock
from .families import Family
from .findings import Candidate, Contestant, LearningCurve
from .pipelines import (
    CODED,
    fitted_to,
    fitted_with_features,
    pipeline,
    reads_texts,
)
from .problem import Problem
from .scoring import score_of
from .search import FoldedProblem
from .verdicts import NOTHING_TOLD, is_of_use, verdict_of_curve
from .weights import has_no_weight, tree_in_words

MOST_NAMED = 3  # columns that a family does not read


def contestant(folded: FoldedProblem, family: Family, candidates: list[Candidate]) -> Contestant:
    """The family at its best setting, fitted to the training part and seen on the other."""
    problem = folded.problem
    means = np.array([candidate.mean for candidate in candidates])
    if not np.isfinite(means).any():
        why = _why(folded, family, candidates)
        raise ValueError(f"there is no {folded.metric} in every fold at any setting{why}")
    equal = np.flatnonzero(means == np.nanmax(means))
    settings = [family.make().set_params(**candidates[i].parameters) for i in equal]
    best = int(equal[simplest(settings)])
    model = pipeline(problem, family, candidates[best].parameters)
    score = score_of(folded.metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, seconds = folded.fit_whole(family, model)
    front, last = model[:-1], model[-1]
    train_score = float(score(last, X, folded.y))
    del X  # which may be larger than the table
    begun = time.perf_counter()
    dev = front.transform(problem.some(problem.dev))
    last.predict(dev)
    predicted = time.perf_counter()
    count = problem.texts.seconds_for if reads_texts(family) else lambda n_rows: 0.0
    counting = count(len(folded.y)), count(len(problem.dev))
    given_up = _given_up(family, candidates)
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
        note="; ".join(filter(None, [family.note, _unread(problem, family), given_up])),
        partly_searched=bool(given_up),
        counting_seconds=counting,
        tree=tree_in_words(model),
    )
    if family.takes != "rows":
        folded.keep_best(entry, model)
    return entry


def _unread(problem: Problem, family: Family) -> str:
    """Which columns a family does not look at, though they are used."""
    texts = [name for name, kind in problem.used.items() if kind == "text"]
    if family.takes not in ("table", "columns", *CODED) or not texts:
        return ""
    more = f" and {len(texts) - MOST_NAMED} others" if len(texts) > MOST_NAMED else ""
    return f"does not read texts ({', '.join(texts[:MOST_NAMED])}{more})"


def _given_up(family: Family, candidates: list[Candidate]) -> str:
    """What a family went without for want of time."""
    n = len(ParameterGrid(family.grid))
    fewer = candidates[0].parameters
    if family.halve and "n_estimators" in fewer:
        rows = f" of {fewer['max_samples']:.0%} of the rows each" if "max_samples" in fewer else ""
        return f"{fewer['n_estimators']} trees{rows} were grown, for want of time"
    if family.halve or len(candidates) == n:
        return ""
    return f"{n - len(candidates)} of {n} settings were tried on one fold alone, for want of time"


def _why(folded: FoldedProblem, family: Family, candidates: list[Candidate]) -> str:
    """What the first setting says to the first fold that it cannot be fitted to."""
    failed = np.flatnonzero(np.isnan(candidates[0].scores))
    if not failed.size:
        return ""
    rows = folded.problem.train[folded.folds[failed[0]][0]]
    try:
        fitted_to(folded.problem, family, candidates[0].parameters, rows)
    except ValueError as error:
        return f": {error}"
    return ""


# The learning curve of the chosen model, as far as there is time for it.


STEPS_OF_CURVE = 5
FEWEST_ROWS_OF_CURVE = 20


def learning_curve(
    folded: FoldedProblem,
    family: Family,
    chosen: Contestant,
    baseline: Contestant,
    clock: Clock,
) -> LearningCurve | None:
    """The chosen setting fitted to more and more of the training part, seen on the other.

    All of it is what the contestant was fitted to.
    """
    problem, n = folded.problem, len(folded.problem.train)
    order = problem.train
    if problem.split != "by time":
        order = np.random.default_rng(problem.random_state).permutation(order)
    seen: list[tuple[int, float, float]] = []
    sizes = np.unique(np.geomspace(max(FEWEST_ROWS_OF_CURVE, n / 32), n, STEPS_OF_CURVE + 1))

    def go_along() -> None:
        model = None
        for size in sizes[:-1].astype(int):
            model, point = _point_of_curve(folded, family, chosen, order[:size], model)
            seen.extend(point)

    clock.attempt(go_along, clock.left)
    if not seen:
        return None
    seen.append((n, chosen.dev_train_score, chosen.dev_score))
    rows, own, other = map(np.array, zip(*seen, strict=True))
    verdict = verdict_of_curve(
        rows, own, other, folded.metric, baseline.dev_score, is_of_use(chosen, baseline)
    )
    if has_no_weight(folded.fitted(family)):  # what moved is how well the mean is known
        verdict = NOTHING_TOLD
    return LearningCurve(rows, own, other, verdict)


def _point_of_curve(
    folded: FoldedProblem,
    family: Family,
    chosen: Contestant,
    rows: NDArray[np.int64],
    before: Pipeline | None,
) -> tuple[Pipeline | None, list[tuple[int, float, float]]]:
    """A model of some rows, how many they are, its score on them and on the development part.

    Nothing if they are too few. The model before it is that of fewer of these rows.
    """
    problem, score = folded.problem, score_of(folded.metric)
    try:
        model, X = fitted_with_features(problem, family, chosen.parameters, rows, before)
        whole = (model, problem.some(rows)) if X is None else (model[-1], X)
        own = float(score(*whole, problem.y[rows]))
        other = float(score(model, problem.some(problem.dev), problem.y[problem.dev]))
    except Exception:  # such as none of a class
        return before, []
    return model, [(len(rows), own, other)]
