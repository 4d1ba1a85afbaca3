"""What the chosen model learned: its weights; without any, what each column is worth to it."""

import time
from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .clock import Clock
from .families import Family
from .problem import Problem
from .scoring import score_of
from .search import Arena
from .weights import note_on_weights, weights_of

MOST_ROWS = 2_000  # of the development part
SHUFFLES = 5  # of each column, whose falls are averaged
MOST_SECONDS = 5.0


def what_it_learned(
    arena: Arena, family: Family, model: Pipeline, clock: Clock, seconds: float
) -> dict[str, Any]:
    """The fields of `Findings` that say so."""
    if family.takes == "rows":
        return {}
    weights, n_weights = weights_of(model)
    said = {"learned": weights, "n_weights": n_weights, "learned_note": note_on_weights(model)}
    of_training_part = arena.fitted(family)
    if weights or of_training_part is None or clock.stopped == "interrupt":
        return said
    worth = clock.attempt(
        partial(worth_of_columns, arena.problem, arena.metric, of_training_part), seconds, []
    )
    if not worth:
        return said
    note = (
        f"{said['learned_note']} Shown is how far the score on rows of the development part falls, "
        "on average, when a column is shuffled among them; near zero, the model does without it, "
        "or finds the same in another column."
    )
    return {
        "learned": worth, "n_weights": len(worth), "learned_note": note, "learned_as": "worth",
    }  # fmt: skip


def worth_of_columns(problem: Problem, metric: str, model: Any) -> list[tuple[str, float]]:
    """The columns of a table with the fall of the score when they are shuffled, greatest first.

    The model must not have learned from the development part, whose rows are scored: a column that
    was learned by heart is worth nothing then. Nothing is said of a matrix without named columns,
    or where it would take too long.
    """
    if not problem.is_table:
        return []
    rng = np.random.default_rng(problem.random_state)
    rows = problem.dev
    if len(rows) > MOST_ROWS:
        rows = np.sort(rng.choice(rows, MOST_ROWS, replace=False))
    frame, y, score = problem.X[rows], problem.y[rows], score_of(metric)
    start = time.perf_counter()
    whole = score(model, frame, y)
    seconds = time.perf_counter() - start
    shuffles = min(SHUFFLES, int(MOST_SECONDS / (seconds * len(problem.used))))
    if shuffles == 0:
        return []

    def fall(name: str) -> float:
        column = frame[name]
        shuffled = (column[rng.permutation(len(y))] for _ in range(shuffles))
        return float(whole - np.mean([score(model, frame.with_columns(c), y) for c in shuffled]))

    falls = [(name, fall(name)) for name in problem.used]
    return sorted(falls, key=lambda pair: -pair[1])
