"""From contestants to an answer: the best one is retrained, and the test set opened once."""

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from rosenblatt.model_selection import SealedTest

from . import significance
from .clock import Clock
from .contestants import learning_curve
from .families import Family, baseline_of
from .findings import Contestant, Dropped, Findings, Hint, Interval, Opening, Protocol
from .importance import NO_TIME_TO_PROVE, Proof, proof_of, what_it_learned
from .model_metadata import versions
from .pipelines import fitted_to
from .problem import Problem
from .scoring import positive_class, score_of
from .search import FoldedProblem
from .splines import bends_of
from .verdicts import unseen_classes, verdicts_of

GRACE = 0.05  # of the budget, that the test score may take beyond it
PREDICTIONS_OF_OPENING = 4  # so many, about, take as long as opening the test set
SOON = 2.0  # seconds that somebody who pressed Ctrl-C may be asked to wait for the last fit
PATIENCE = 2  # times as long as it should take, and it is given up
NOT_RETRAINED = "the training and development part: it has learned from the training part alone."
FITTED_TO_ALL = "In the time that was left the chosen model was fitted again to all {n:,} of them."
UNRECORDED = (
    "The opening of the test set could not be recorded in {ledger} ({why}): count it yourself, for "
    "the next one will not be reported as another look."
)
WHY_NOT_RETRAINED = {
    "interrupt": "After the interrupt the chosen model was not fitted again to ",
    "": "There was no time to fit the chosen model to ",
}


def conclude(
    folded: FoldedProblem,
    found: list[tuple[Family, Contestant]],
    baseline: Contestant,
    clock: Clock,
    *,
    hints: list[Hint],
    dropped: list[Dropped],
    command: str,
    ledger: Path,
    source: str,
) -> tuple[Findings, Pipeline, NDArray[np.int64]]:
    """Return the findings of a comparison, the chosen model, and the rows it learned from.

    What there is no time for is left out, and after an interrupt all that can be.
    """
    problem = folded.problem
    found = sorted(found, key=lambda pair: -pair[1].mean)
    entries = [replace(entry, grid=family.grid) for family, entry in found]
    *contestants, baseline = judged([*entries, baseline], folded)
    family, chosen = found[0][0], contestants[0]
    model, learned_from = chosen_model(folded, family, chosen, clock)
    has_model = family.takes != "rows"  # for the baseline alone the seal is not worth breaking
    opening = curve = None
    if has_model:
        opening = clock.attempt(
            partial(open_test, problem, folded.metric, model, learned_from, ledger), _last(clock)
        )

    def if_time(work: Callable[..., Any], *arguments: Any, seconds: float, otherwise: Any) -> Any:
        if opening is None or clock.stopped == "interrupt":
            return otherwise
        return clock.attempt(partial(work, *arguments), seconds, otherwise)

    # Apart from the opening: a test set that is open must not be lost for want of time.
    repeated = next((hint.rows for hint in hints if hint.rows is not None), None)
    if repeated is not None:
        opening = if_time(
            with_unrepeated, opening, problem, folded.metric, learned_from, repeated,
            seconds=_last(clock), otherwise=opening,
        )  # fmt: skip
    if opening is not None and not opening.intervals:
        drawing = partial(significance.with_intervals, opening, folded.metric)
        opening = if_time(drawing, seconds=_last(clock), otherwise=opening)
    if opening is not None and clock.stopped != "interrupt":
        curve = learning_curve(folded, family, chosen, baseline, clock)
    proof = if_time(
        proof_of, problem, family, model, learned_from,
        seconds=clock.left, otherwise=Proof(None, NO_TIME_TO_PROVE),
    )  # fmt: skip
    retrained = len(learned_from) > len(problem.train)
    why = WHY_NOT_RETRAINED.get(clock.stopped, WHY_NOT_RETRAINED[""])
    said = [why + NOT_RETRAINED] if has_model and not retrained else []
    if opening is not None and opening.unrecorded:
        said.append(opening.unrecorded)
    if len(learned_from) > len(problem.train) + len(problem.dev):
        said.append(FITTED_TO_ALL.format(n=len(learned_from)))
    findings = Findings(
        protocol=_protocol(folded, clock, command),
        source=Path(source).name if Path(source).is_file() else source,
        columns=problem.columns,
        target=_target(problem),
        hints=hints,
        contestants=contestants,
        baseline=baseline,
        dropped=dropped,
        opening=opening,
        learning_curve=curve,
        notes=[*problem.hints, *folded.hints, *said, *unseen_classes(opening, folded.metric)],
        verdicts=verdicts_of(problem, contestants) if has_model else [],
        certificate=proof.certificate,
        why_no_certificate=proof.why_not if has_model else "",
        bends=bends_of(model, problem.some(learned_from)),
        retrained=retrained,
        **what_it_learned(folded, family, model, learned_from, clock),
    )
    return findings, model, learned_from


def chosen_model(
    folded: FoldedProblem, family: Family, chosen: Contestant, clock: Clock
) -> tuple[Pipeline, NDArray[np.int64]]:
    """The chosen model, and the rows that it is fitted to.

    These are the training and development part; without the time for that, the training part,
    which it was fitted to in the search. If fewer rows were searched, they are all there are if
    that will be done in the time that is left.
    """
    problem = folded.problem
    both = np.concatenate([problem.train, problem.dev])
    before = folded.fitted(family)
    if before is None:  # nothing to fall back on: the baseline, which takes no time
        return fitted_to(problem, family, chosen.parameters, both), both
    seconds = clock.left - _opening_seconds(chosen, clock)
    interrupted = clock.stopped == "interrupt"
    fit_seconds = chosen.fit_seconds - chosen.counting_seconds[0]
    if not interrupted or fit_seconds * len(both) / len(problem.train) < SOON:
        again = clock.attempt(
            lambda: fitted_to(problem, family, chosen.parameters, both, before),
            min(seconds, PATIENCE * SOON) if interrupted else seconds,
        )
        if again is not None:
            return _of_all_rows(folded, family, chosen, clock, again) or (again, both)
    return before, problem.train


def _of_all_rows(
    folded: FoldedProblem, family: Family, chosen: Contestant, clock: Clock, before: Pipeline
) -> tuple[Pipeline, NDArray[np.int64]] | None:
    """The same for all rows, if fewer were searched for want of time; None if it takes too long."""
    whole = folded.whole
    rows = np.concatenate([whole.train, whole.dev])
    expected = chosen.fit_seconds * len(rows) / len(folded.problem.train)
    seconds = clock.left - _opening_seconds(chosen, clock)
    if folded.problem is whole or clock.stopped == "interrupt" or PATIENCE * expected > seconds:
        return None
    model = clock.attempt(
        lambda: fitted_to(whole, family, chosen.parameters, rows, before), seconds
    )
    return None if model is None else (model, rows)


def _opening_seconds(chosen: Contestant, clock: Clock) -> float:
    """What opening the test set takes, about; none if there is time for everything."""
    if clock.budget is None:
        return 0.0
    words = chosen.counting_seconds[1]  # of the test rows, counted once
    again = PREDICTIONS_OF_OPENING * (chosen.predict_seconds - words)
    return max(GRACE * clock.budget, words + again)


def _last(clock: Clock) -> float:
    """Seconds left for what is wanted most; it may go over the time a little."""
    return clock.left + (0.0 if clock.budget is None else GRACE * clock.budget)


def judged(contestants: list[Contestant], folded: FoldedProblem) -> list[Contestant]:
    """The contestants, best first, each with its p value beside the best."""
    p = significance.p_values(np.array([entry.scores for entry in contestants]), 0, folded.ratio)
    return [replace(entry, p_value=float(p[i])) for i, entry in enumerate(contestants)]


def open_test(
    problem: Problem, metric: str, model: Any, learned_from: NDArray[np.int64], ledger: Path
) -> Opening:
    """Open the test set, once: for the chosen model, and the baseline beside it."""
    baseline = fitted_to(problem, baseline_of(problem), {}, learned_from)
    sealed = SealedTest(problem.X[problem.test], problem.y[problem.test], ledger=ledger)
    seen: dict[str, Any] = {}

    def scores(chosen: Any, X: Any, y: Any) -> dict[str, float]:
        score = score_of(metric)
        seen["y"], seen["predicted"] = y, chosen.predict(X)
        seen["probabilities"] = _maybe(chosen, "predict_proba", X)
        if seen["probabilities"] is None:
            seen["decisions"] = _maybe(chosen, "decision_function", X)
        seen["baseline"], seen["score"] = float(score(baseline, X, y)), float(score(chosen, X, y))
        return {"chosen": seen["score"], "baseline": seen["baseline"]}

    looks, unrecorded = different_looks(sealed.openings) + 1, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says how often it was opened
        try:
            sealed.open(model, scores, reason="compare: the chosen model and the baseline")
            looks = different_looks(sealed.openings)
        except OSError as error:  # as of a full disk: what was seen must not be lost
            if "score" not in seen:
                raise
            unrecorded = UNRECORDED.format(ledger=ledger, why=error.strerror or error)
    score = seen["score"]
    return Opening(
        score,
        seen["baseline"],
        _intervals(problem.task, metric, score, seen["y"], seen["predicted"]),
        seen["y"],
        seen["predicted"],
        seen["probabilities"],
        seen.get("decisions"),
        getattr(model, "classes_", None),
        looks,
        ledger="" if unrecorded else str(ledger),
        unrecorded=unrecorded,
    )


def different_looks(openings: list[Any]) -> int:
    """How many openings of a test set there were, those of one model with one score being one.

    Whoever runs the same again sees nothing new; a record that was not written whole is one.
    """
    return len(
        {
            opening.id
            if opening.score is None
            else json.dumps([opening.model, opening.parameters, opening.score], sort_keys=True)
            for opening in openings
        }
    )


def with_unrepeated(
    opening: Opening,
    problem: Problem,
    metric: str,
    learned_from: NDArray[np.int64],
    repeated: NDArray[np.bool_],
) -> Opening:
    """The same with the score of the rows that are not also among those learned from.

    They are not looked at again: what was said of them is known, and the baseline reads no row.
    """
    rows = np.flatnonzero(~repeated)
    score = significance.score_of_rows(opening, metric, rows) if rows.size else np.nan
    if not np.isfinite(score):
        return opening
    apart = significance.part_of(opening, rows)
    baseline = fitted_to(problem, baseline_of(problem), {}, learned_from)
    simple = float(score_of(metric)(baseline, np.zeros((len(rows), 0)), apart.y))
    intervals = _intervals(problem.task, metric, score, apart.y, apart.predicted)
    apart = replace(apart, score=score, baseline_score=simple, intervals=intervals)
    return replace(opening, unrepeated=apart)


def _intervals(task: str, metric: str, score: float, y: Any, predicted: Any) -> list[Interval]:
    """How sure a test score is."""
    if metric == "accuracy":
        n_right = int(np.count_nonzero(y == predicted))
        return [significance.wilson(n_right, len(y)), significance.hoeffding(score, len(y))]
    if task == "regression" and metric == "r2" and np.ptp(y) > 0:
        return [significance.bootstrap((y - predicted) ** 2, (y - y.mean()) ** 2)]
    return []


def _maybe(model: Any, method: str, X: Any) -> Any:
    return getattr(model, method)(X) if hasattr(model, method) else None


def _target(problem: Problem) -> dict[str, Any]:
    y = problem.y[problem.train]
    if problem.task == "regression":
        return {"values": y}
    labels, counts = np.unique(y, return_counts=True)
    return {"counts": dict(zip(map(str, labels), counts.tolist(), strict=True))}


def _protocol(folded: FoldedProblem, clock: Clock, command: str) -> Protocol:
    """Return how it was done, so that it can be done again."""
    problem = folded.problem
    return Protocol(
        problem.task,
        problem.target,
        folded.metric,
        len(problem.train),
        len(problem.dev),
        len(problem.test),
        len(folded.folds),
        problem.split,
        problem.random_state,
        clock.budget,
        clock.seconds,
        clock.stopped,
        command,
        versions(),
        problem.split_words,
        folded.ratio,
        positive_class(problem.y, folded.metric),
        folded.why_folds,
        n_train_there=len(folded.whole.train),
    )
