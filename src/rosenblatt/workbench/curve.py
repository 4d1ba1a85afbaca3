"""The learning curve of the chosen model, as far as there is time for it."""

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from .clock import Clock
from .families import Family
from .pipelines import fitted_to
from .results import Contestant, LearningCurve
from .scoring import score_of
from .search import Arena
from .verdicts import verdict_of_curve

STEPS_OF_CURVE = 5
FEWEST_ROWS_OF_CURVE = 20


def learning_curve(
    arena: Arena,
    family: Family,
    chosen: Contestant,
    baseline: Contestant,
    clock: Clock,
    seconds: float,
) -> LearningCurve | None:
    """The chosen setting fitted to more and more of the training part, seen on the other.

    All of it is what the contestant was fitted to.
    """
    problem, n = arena.problem, len(arena.problem.train)
    order = problem.train
    if problem.split != "by time":
        order = np.random.default_rng(problem.random_state).permutation(order)
    seen: list[tuple[int, float, float]] = []
    sizes = np.unique(np.geomspace(max(FEWEST_ROWS_OF_CURVE, n / 32), n, STEPS_OF_CURVE + 1))

    def go_along() -> None:
        model = None
        for size in sizes[:-1].astype(int):
            model, point = _point_of_curve(arena, family, chosen, order[:size], model)
            seen.extend(point)

    clock.attempt(go_along, seconds)
    if not seen:
        return None
    seen.append((n, chosen.dev_train_score, chosen.dev_score))
    rows, own, other = map(np.array, zip(*seen, strict=True))
    verdict = verdict_of_curve(rows, own, other, arena.metric, baseline.dev_score)
    return LearningCurve(rows, own, other, verdict)


def _point_of_curve(
    arena: Arena,
    family: Family,
    chosen: Contestant,
    rows: NDArray[np.int64],
    before: Pipeline | None,
) -> tuple[Pipeline | None, list[tuple[int, float, float]]]:
    """A model of some rows, how many they are, its score on them and on the development part.

    Nothing if they are too few. The model before it is that of fewer of these rows.
    """
    problem, score = arena.problem, score_of(arena.metric)
    try:
        model = fitted_to(problem, family, chosen.parameters, rows, before)
        own = float(score(model, problem.some(rows), problem.y[rows]))
        other = float(score(model, problem.some(problem.dev), problem.y[problem.dev]))
    except Exception:  # such as none of a class
        return before, []
    return model, [(len(rows), own, other)]
