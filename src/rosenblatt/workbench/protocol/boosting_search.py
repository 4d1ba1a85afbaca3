"""How many rounds of boosting, at which rate: by the rows that the first fold scores."""

import time
import warnings
from typing import Any

import numpy as np

from rosenblatt.workbench.families import Family

Settings = list[dict[str, Any]]

FEW_ROUNDS = 40  # that settings are sorted out with
SHARE_FOR_SETTINGS = 0.2  # of the time: past it, no more are tried
FIRST_RATE = 0.1
LARGEST_RATE = 0.4
STEPS = 8.0  # rounds times rate, about as many as are needed
LEAST_RATE = 0.02
MOST_ROUNDS = 3000
PATIENCE = 20  # rounds without a better loss
FEWEST_ROUNDS = 20
LEAST_FALL = 1e-4  # of the loss in so many, in shares of that of a guess
WORTH_A_TRY = 3e-3  # by this share the loss must have fallen for a smaller rate to be tried next


def rounds_in_time(arena: Any, family: Family, settings: Settings, rows: Any) -> Settings:
    """The best setting with a rate and a number of rounds that there is time for.

    Few rounds on some `rows` sort the settings out. The best is then boosted until the loss on the
    rows that the first fold scores falls no more, at half the rate if that was worth it, and so on.
    `arena` is the :class:`~.search.Arena` of the comparison.
    """
    start, (fitted, scored) = time.perf_counter(), arena._places(0)
    scores: list[float] = []
    for one in settings:
        few = {**one, "max_iter": FEW_ROUNDS, "early_stopping": False}
        scores.append(float(arena._search_fold(family, [few], 0, rows, scored[: len(rows)])[0][0]))
        if time.perf_counter() - start > SHARE_FOR_SETTINGS * (arena.end - start):
            break
    best = settings[int(np.argmax(np.nan_to_num(scores, nan=-np.inf)))]
    a_round = (time.perf_counter() - start) / (len(scores) * FEW_ROUNDS) * len(fitted) / len(rows)
    X, y = arena._features(family, 0), arena.y[np.concatenate(arena.folds[0])]
    guess = float(np.var(y)) / 2 if arena.problem.task == "regression" else 1.0
    rate, loss, found = FIRST_RATE, np.inf, {"max_iter": FEWEST_ROUNDS}
    while rate >= LEAST_RATE:
        # Beside this fit there is one for each fold, and one to all of them.
        left = arena.end - time.perf_counter()
        most = int(min(left / (a_round * (len(arena.folds) + 3)), MOST_ROUNDS))
        if most < FEWEST_ROUNDS or (loss < np.inf and most < 2 * found["max_iter"]):
            break
        if loss == np.inf:  # the fewer rounds there is time for, the longer each step
            rate = min(max(rate, STEPS / most), LARGEST_RATE)
        model = family.make().set_params(
            **best, learning_rate=rate, max_iter=most, early_stopping=True,
            n_iter_no_change=PATIENCE, tol=LEAST_FALL * guess,
        )  # fmt: skip
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[fitted], y[fitted], X_val=X[scored], y_val=y[scored])
        losses = -model.validation_score_
        a_round = (time.perf_counter() - begun) / max(len(losses) - 1, 1)
        if losses.min() >= loss:
            break
        worth = losses.min() < loss * (1 - WORTH_A_TRY)
        loss, found = float(losses.min()), {"max_iter": max(int(losses.argmin()), 1)}
        found["learning_rate"] = rate  # type: ignore[assignment]
        rate /= 2
        if not worth or len(losses) == most + 1:
            break
    return [{**best, **found, "early_stopping": False}]
