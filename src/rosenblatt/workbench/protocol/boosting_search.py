"""How many rounds of boosting, at which rate: by the rows that the first fold scores."""

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.workbench.families import Family
from rosenblatt.workbench.preparation.pipelines import model_of

Settings = list[dict[str, Any]]
Array = NDArray[np.float64]

FEW_ROUNDS = 40  # that settings are sorted out with,
QUICK_RATE = 0.3  # in long steps, so that they come to where larger trees learn by heart
SHARE_FOR_SETTINGS = 0.2  # of the time: past it, no more are tried
FIRST_RATE = 0.1
LARGEST_RATE = 0.4
STEPS = 8.0  # rounds times rate, about as many as are needed
LEAST_RATE = 0.02
MOST_ROUNDS = 3000
PATIENCE = 20  # rounds without a better loss
STEPS_OF_PATIENCE = 5.0  # rounds times rate without a better accuracy, which goes up and down
FEWEST_ROUNDS = 10
LEAST_FALL = 1e-4  # of the loss in so many, in shares of that of a guess
FITS_MORE = 5  # beside one for each fold: this one, one to all of them, and room
SMOOTHED = 1 / 10  # of the rounds: accuracies go up and down from one to the next
# By this the score must have risen for a smaller rate to be tried next: of accuracies, and of
# losses in shares of them.
WORTH_A_TRY = {"accuracy": 1e-3, "loss": 3e-3}


class Stage(NamedTuple):
    """The best of the rounds at one rate."""

    score: float
    n_rounds: int
    n_tried: int
    seconds: float  # that one round took


def rounds_in_time(arena: Any, family: Family, rows: Any) -> Settings:
    """The best setting with a rate and a number of rounds that there is time for.

    Few rounds on some `rows` sort the settings out. The best is then boosted until the score of the
    rows that the first fold scores rises no more, at half the rate if that was worth it, and so on.
    `arena` is the :class:`~.search.Arena` of the comparison.
    """
    best, a_round = _sorted_out(arena, family, rows)
    of = "accuracy" if arena.metric == "accuracy" else "loss"
    n_fits, found = len(arena.folds) + FITS_MORE, None
    most = _rounds_until(arena.end, n_fits * a_round)
    rate = min(max(FIRST_RATE, STEPS / most), LARGEST_RATE)  # few rounds take longer steps
    chosen = {"max_iter": most, "learning_rate": rate, "early_stopping": False}
    while rate >= LEAST_RATE and most > FEWEST_ROUNDS:
        stage = _boosted(arena, family, {**best, "learning_rate": rate, "max_iter": most}, of)
        if found is not None and stage.score <= found.score:
            break
        chosen = {**chosen, "max_iter": stage.n_rounds, "learning_rate": rate}
        worth = found is None or stage.score > found.score + WORTH_A_TRY[of] * (
            abs(found.score) if of == "loss" else 1.0
        )
        found, rate = stage, rate / 2
        most = _rounds_until(arena.end, n_fits * stage.seconds)
        if not worth or stage.n_rounds == stage.n_tried or most < 2 * stage.n_rounds:
            break
    return [{**best, **chosen}]


def _sorted_out(arena: Any, family: Family, rows: Any) -> tuple[dict[str, Any], float]:
    """The setting that is best after few rounds on some rows, and the seconds of a round of all.

    Parameters are taken in turn, the values of the others being the best so far.
    """
    start, (fitted, scored) = time.perf_counter(), arena._places(0)
    few = {"max_iter": FEW_ROUNDS, "learning_rate": QUICK_RATE, "early_stopping": False}

    def tried(setting: dict[str, Any]) -> tuple[float, float]:
        begun = time.perf_counter()
        [[score]] = arena._search_fold(family, [setting], 0, rows, scored[: len(rows)])
        return float(np.nan_to_num(score, nan=-np.inf)), time.perf_counter() - begun

    best = {name: values[0] for name, values in family.grid.items()}
    tried({**best, "max_iter": 1})  # prepares the columns, and loads the compiler
    score, seconds = tried({**best, **few})
    others = [(name, value) for name, values in family.grid.items() for value in values[1:]]
    for name, value in others:
        if time.perf_counter() - start > SHARE_FOR_SETTINGS * (arena.end - start):
            break
        found = tried({**best, name: value, **few})
        if found[0] > score:
            (score, seconds), best = found, {**best, name: value}
    return best, seconds / FEW_ROUNDS * len(fitted) / len(rows)


def _rounds_until(end: float, seconds: float) -> int:
    """How many rounds of so many seconds there is time for."""
    return int(np.clip((end - time.perf_counter()) / seconds, FEWEST_ROUNDS, MOST_ROUNDS))


def _boosted(arena: Any, family: Family, setting: dict[str, Any], of: str) -> Stage:
    """The best number of rounds at a setting, by the rows that the first fold scores."""
    fitted, scored = arena._places(0)
    X, y = arena._features(family, 0), arena.y[np.concatenate(arena.folds[0])]
    guess = float(np.var(y)) / 2 if arena.problem.task == "regression" else 1.0
    patience = PATIENCE if of == "loss" else int(STEPS_OF_PATIENCE / setting["learning_rate"])
    model = model_of(arena.problem, family).set_params(
        **setting, early_stopping=True, scoring=of, n_iter_no_change=patience,
        tol=LEAST_FALL * guess if of == "loss" else 0.0,
    )  # fmt: skip
    known = scored if arena.problem.task == "regression" else scored[np.isin(y[scored], y[fitted])]
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[fitted], y[fitted], X_val=X[known], y_val=y[known])
    scores = model.validation_score_[1:]
    seconds = (time.perf_counter() - start) / len(scores)
    return Stage(*_best_round(scores, of), len(scores), seconds)


def _best_round(scores: Array, of: str) -> tuple[float, int]:
    """The best score and its round, counted from 1; of accuracies, by means of neighbours.

    >>> _best_round(np.array([-3.0, -1.0, -2.0]), "loss")
    (-1.0, 2)
    """
    width = 1 + 2 * int(SMOOTHED * len(scores) / 2) if of == "accuracy" else 1
    means = np.convolve(scores, np.full(width, 1 / width), mode="valid")
    return float(means.max()), int(means.argmax()) + width // 2 + 1
