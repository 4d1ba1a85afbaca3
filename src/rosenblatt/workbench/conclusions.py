"""From contestants to an answer: the best one is retrained, and the test set opened once."""

import platform
import warnings
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from ..certificates import certify
from ..model_selection import SealedTest
from .clock import Clock, OutOfTime
from .families import Family, baseline_of
from .problem import Problem
from .results import (
    Contestant,
    Dropped,
    Findings,
    Interval,
    LearningCurve,
    Opening,
    Protocol,
)
from .scoring import score_of
from .search import Arena, pipeline
from .significance import bootstrap, hoeffding, p_values, wilson
from .verdicts import unseen_classes, verdict_of_curve, verdicts_of
from .view import some
from .weights import note_on_weights, weights_of

PACKAGES = ("rosenblatt", "numpy", "scipy", "scikit-learn", "numba", "polars")
STEPS_OF_CURVE = 5
FEWEST_ROWS_OF_CURVE = 20
MOST_BYTES_TO_CERTIFY = 2**27


def conclude(
    arena: Arena,
    found: list[tuple[Family, Contestant]],
    baseline: Contestant,
    clock: Clock,
    *,
    hints: list[str],
    dropped: list[Dropped],
    stopped: str,
    command: str,
    ledger: Any,
    source: str,
) -> tuple[Findings, Pipeline]:
    """All that is to be said of a comparison, and the chosen model."""
    problem = arena.problem
    found = sorted(found, key=lambda pair: -pair[1].mean)
    *contestants, baseline = judged([*(entry for _, entry in found), baseline], arena)
    family, chosen = found[0][0], contestants[0]
    learned_from = np.concatenate([problem.train, problem.dev])
    model = _fitted(problem, family, chosen.parameters, learned_from)
    opening = curve = certificate = None
    if family.takes != "rows":  # for the baseline alone the seal is not worth breaking
        plain = _fitted(problem, baseline_of(problem), {}, learned_from)
        opening = open_test(problem, arena.metric, model, plain, ledger, source)
        curve = _within(clock, lambda: learning_curve(arena, family, chosen, baseline))
        certificate = _within(clock, lambda: certificate_of(problem, model, learned_from))
    weights, n_weights = weights_of(model)
    findings = Findings(
        protocol=_protocol(arena, clock, stopped, command),
        source=Path(source).name if Path(source).is_file() else source,
        columns=problem.columns,
        target=_target(problem),
        hints=hints,
        contestants=contestants,
        baseline=baseline,
        dropped=dropped,
        opening=opening,
        learning_curve=curve,
        learned=weights,
        n_weights=n_weights,
        learned_note=note_on_weights(model) if weights else "",
        verdicts=[
            *problem.hints,
            *verdicts_of(problem, contestants),
            *unseen_classes(opening, arena.metric),
        ],
        certificate=certificate,
    )
    return findings, model


def _within(clock: Clock, work: Any) -> Any:
    """What some work gives; None if there is no time for it."""
    try:
        with clock.limit(clock.left):
            return work()
    except (OutOfTime, KeyboardInterrupt):
        return None


def judged(contestants: list[Contestant], arena: Arena) -> list[Contestant]:
    """The contestants, best first, each with its p value beside the best."""
    p = p_values(np.array([entry.scores for entry in contestants]), 0, arena.ratio)
    return [replace(entry, p_value=float(p[i])) for i, entry in enumerate(contestants)]


def _fitted(
    problem: Problem, family: Family, parameters: dict[str, Any], rows: NDArray[np.int64]
) -> Pipeline:
    model = pipeline(problem, family, parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(some(problem.X, rows), problem.y[rows])
    return model


def open_test(
    problem: Problem, metric: str, model: Any, baseline: Any, ledger: Any, source: str
) -> Opening:
    """Open the test set, once: for the chosen model, and the baseline beside it."""
    sealed = _sealed(problem, ledger, source)
    seen: dict[str, Any] = {}

    def scores(chosen: Any, X: Any, y: Any) -> dict[str, float]:
        score = score_of(metric)
        seen["y"], seen["predicted"] = y, chosen.predict(X)
        seen["probabilities"] = _maybe(chosen, "predict_proba", X)
        if seen["probabilities"] is None:
            seen["decisions"] = _maybe(chosen, "decision_function", X)
        seen["baseline"] = float(score(baseline, X, y))
        return {"chosen": float(score(chosen, X, y)), "baseline": seen["baseline"]}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says how often it was opened
        found = sealed.open(model, scores, reason="compare: the chosen model and the baseline")
    score = found["chosen"]
    return Opening(
        score,
        found["baseline"],
        _intervals(problem.task, metric, score, seen["y"], seen["predicted"]),
        seen["y"],
        seen["predicted"],
        seen["probabilities"],
        seen.get("decisions"),
        getattr(model, "classes_", None),
        sealed.n_openings,
    )


def _sealed(problem: Problem, ledger: Any, source: str) -> SealedTest:
    """The test rows under seal; the ledger beside the table, or where we are if that is closed."""
    X, y = problem.X[problem.test], problem.y[problem.test]
    if ledger is not None:
        return SealedTest(X, y, ledger=ledger)
    if Path(source).is_file():
        try:
            beside = Path(f"{source}.openings.jsonl")
            beside.open("a").close()
            return SealedTest(X, y, data=source)
        except OSError:
            pass
    return SealedTest(X, y)


def _intervals(task: str, metric: str, score: float, y: Any, predicted: Any) -> list[Interval]:
    """How sure a test score is."""
    if metric == "accuracy":
        n_right = int(np.count_nonzero(y == predicted))
        return [wilson(n_right, len(y)), hoeffding(score, len(y))]
    if task == "regression" and metric == "r2" and np.ptp(y) > 0:
        return [bootstrap((y - predicted) ** 2, (y - y.mean()) ** 2)]
    return []


def _maybe(model: Any, method: str, X: Any) -> Any:
    return getattr(model, method)(X) if hasattr(model, method) else None


def learning_curve(
    arena: Arena, family: Family, chosen: Contestant, baseline: Contestant
) -> LearningCurve | None:
    """The chosen setting fitted to more and more of the training part, seen on the other."""
    problem, n = arena.problem, len(arena.problem.train)
    order = problem.train
    if problem.split != "by time":
        order = np.random.default_rng(problem.random_state).permutation(order)
    score = score_of(arena.metric)
    dev, y_dev = some(problem.X, problem.dev), problem.y[problem.dev]
    sizes, train_scores, dev_scores = [], [], []
    for size in np.unique(np.geomspace(max(FEWEST_ROWS_OF_CURVE, n / 32), n, STEPS_OF_CURVE + 1)):
        rows = order[: int(size)]
        try:
            model = _fitted(problem, family, chosen.parameters, rows)
            pair = (
                float(score(model, some(problem.X, rows), problem.y[rows])),
                float(score(model, dev, y_dev)),
            )
        except Exception:  # too few rows for it, such as none of a class
            continue
        sizes.append(int(size))
        train_scores.append(pair[0])
        dev_scores.append(pair[1])
    if len(sizes) < 2:
        return None
    seen = (np.array(sizes), np.array(train_scores), np.array(dev_scores))
    return LearningCurve(*seen, verdict_of_curve(*seen, arena.metric, baseline.dev_score))


def certificate_of(problem: Problem, model: Pipeline, rows: NDArray[np.int64]) -> Any:
    """What can be proved of the chosen model on the rows it was fitted to; None if nothing.

    Proofs take several times the memory of what they are about: of large tables there are none.
    """
    if 8 * len(rows) * problem.X.shape[1] > MOST_BYTES_TO_CERTIFY:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return certify(model, some(problem.X, rows), problem.y[rows], effort=0)
    except (TypeError, ValueError):
        return None


def _target(problem: Problem) -> dict[str, Any]:
    y = problem.y[problem.train]
    if problem.task == "regression":
        return {"values": y}
    labels, counts = np.unique(y, return_counts=True)
    return {"counts": dict(zip(map(str, labels), counts.tolist(), strict=True))}


def _protocol(arena: Arena, clock: Clock, stopped: str, command: str) -> Protocol:
    problem = arena.problem
    return Protocol(
        problem.task,
        problem.target,
        arena.metric,
        len(problem.train),
        len(problem.dev),
        len(problem.test),
        len(arena.folds),
        problem.split,
        problem.random_state,
        clock.budget,
        clock.seconds,
        stopped,
        command,
        versions(),
        problem.split_words,
        arena.ratio,
    )


def versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
