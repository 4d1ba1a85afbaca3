"""How many rounds of boosting, at which rate: by the rows that the first fold scores."""

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .families import Family
from .pipelines import model_of

Settings = list[dict[str, Any]]
Array = NDArray[np.float64]

FEW_ROUNDS = 40  # that settings are sorted out with,
QUICK_RATE = 0.3  # in long steps, so that they come to where larger trees learn by heart
SHORT = 10  # rounds, to see what one takes
OF_ROUNDS = 0.5  # of a short fit, at least: measured times go up and down
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
STILL_RISING = 0.9  # of the rounds tried, if the best comes later: more are taken, as time allows,
MORE_ROUNDS = 4.0  # times those tried at most,
ROOM_FOR_MORE = 1.4  # times the seconds of those tried: a family that is late is lost
FITS_MORE = 4  # beside one for each fold: this one, one to all of them, and room
WITH_SCORES = 1.5  # times what a fit takes, for its predictions
SMOOTHED = 1 / 10  # of the rounds: accuracies go up and down from one to the next
# By this the score must have risen for a smaller rate to be tried next: of accuracies, and of
# losses in shares of them.
WORTH_A_TRY = {"accuracy": 1e-3, "loss": 3e-3}


class Stage(NamedTuple):
    """The best of the rounds at one rate."""

    score: float
    n_rounds: int
    n_tried: int
    seconds: float = 0.0  # that the rounds tried took, with their scores


class Cost(NamedTuple):
    """Seconds that a fit to the rows of the first fold takes."""

    of_columns: float  # whatever the rounds
    of_a_round: float

    def rounds_until(self, end: float, n_fits: float) -> int:
        """How many rounds there is time for in each of some fits."""
        seconds = (end - time.perf_counter()) / n_fits - self.of_columns
        return int(np.clip(seconds / self.of_a_round, FEWEST_ROUNDS, MOST_ROUNDS))


def rounds_in_time(folded: Any, family: Family, rows: Any) -> Settings:
    """The best setting with a rate and a number of rounds that there is time for.

    Few rounds on some `rows` sort the settings out. The best is then boosted until the score of the
    rows that the first fold scores rises no more, at half the rate if that was worth it, and so on.
    If it still rises when the rounds end, the models get more of them in the time that is left.
    `folded` is the :class:`~.search.FoldedProblem` of the comparison.
    """
    best = _sorted_out(folded, family, rows)
    cost = _cost_of(folded, family, best)
    of = "accuracy" if folded.metric == "accuracy" else "loss"
    n_fits, found = WITH_SCORES * (len(folded.folds) + FITS_MORE), None
    most = cost.rounds_until(folded.end, n_fits)
    rate = min(max(FIRST_RATE, STEPS / most), LARGEST_RATE)  # few rounds take longer steps
    chosen = {"max_iter": most, "learning_rate": rate, "early_stopping": False}
    while rate >= LEAST_RATE and most > FEWEST_ROUNDS:
        stage = _boosted(folded, family, {**best, "learning_rate": rate, "max_iter": most}, of)
        if found is not None and stage.score <= found.score:
            break
        chosen = {**chosen, "max_iter": stage.n_rounds, "learning_rate": rate}
        worth = found is None or stage.score > found.score + WORTH_A_TRY[of] * (
            abs(found.score) if of == "loss" else 1.0
        )
        found, rate = stage, rate / 2
        most = cost.rounds_until(folded.end, n_fits)
        if not worth or stage.n_rounds == stage.n_tried or most < 2 * stage.n_rounds:
            break
    if found is not None and found.n_rounds > STILL_RISING * found.n_tried:
        fits = ROOM_FOR_MORE * (len(folded.folds) + 1) * found.seconds
        share = (folded.end - time.perf_counter()) / fits
        chosen["max_iter"] = int(max(found.n_rounds, min(share, MORE_ROUNDS) * found.n_tried))
    return [{**best, **chosen}]


def _sorted_out(folded: Any, family: Family, rows: Any) -> dict[str, Any]:
    """The setting that is best after few rounds on some rows.

    Parameters are taken in turn, the values of the others being the best so far.
    """
    start, (_, scored) = time.perf_counter(), folded._places(0)
    few = {"max_iter": FEW_ROUNDS, "learning_rate": QUICK_RATE, "early_stopping": False}

    def score_of(setting: dict[str, Any]) -> float:
        found = folded._search_fold(family, [{**setting, **few}], 0, rows, scored[: len(rows)])
        return float(np.nan_to_num(found[0][0], nan=-np.inf))

    best = {name: values[0] for name, values in family.grid.items()}
    score = score_of(best)
    for name, value in ((name, v) for name, values in family.grid.items() for v in values[1:]):
        if time.perf_counter() - start > SHARE_FOR_SETTINGS * (folded.end - start):
            break
        other = {**best, name: value}
        reached = score_of(other)
        if reached > score:
            score, best = reached, other
    return best


def _cost_of(folded: Any, family: Family, setting: dict[str, Any]) -> Cost:
    """What a fit at a setting takes, by two short ones."""
    fitted, scored = folded._places(0)
    prepared = folded._made(family, 0, folded.folds[0][0], np.concatenate(folded.folds[0])).seconds

    def seconds(n_rounds: int) -> float:
        start, of = time.perf_counter(), {"max_iter": n_rounds, "early_stopping": False}
        folded._search_fold(family, [{**setting, **of}], 0, fitted, scored[:1])
        return time.perf_counter() - start

    once = seconds(1)
    more = seconds(1 + SHORT)
    return Cost(prepared + once, max(more - once, OF_ROUNDS * more) / SHORT)


def _boosted(folded: Any, family: Family, setting: dict[str, Any], of: str) -> Stage:
    """The best number of rounds at a setting, by the rows that the first fold scores."""
    fitted, scored = folded._places(0)
    X, y = folded._features(family, 0), folded.y[np.concatenate(folded.folds[0])]
    guess = float(np.var(y)) / 2 if folded.problem.task == "regression" else 1.0
    patience = PATIENCE if of == "loss" else int(STEPS_OF_PATIENCE / setting["learning_rate"])
    model = model_of(folded.problem, family).set_params(
        **setting, early_stopping=True, scoring=of, n_iter_no_change=patience,
        tol=LEAST_FALL * guess if of == "loss" else 0.0,
    )  # fmt: skip
    known = scored if folded.problem.task == "regression" else scored[np.isin(y[scored], y[fitted])]
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[fitted], y[fitted], X_val=X[known], y_val=y[known])
    scores = model.validation_score_[1:]
    return Stage(*_best_round(scores, of), len(scores), time.perf_counter() - start)


def _best_round(scores: Array, of: str) -> tuple[float, int]:
    """The best score and its round, counted from 1; of accuracies, by means of neighbours.

    >>> _best_round(np.array([-3.0, -1.0, -2.0]), "loss")
    (-1.0, 2)
    """
    width = 1 + 2 * int(SMOOTHED * len(scores) / 2) if of == "accuracy" else 1
    means = np.convolve(scores, np.full(width, 1 / width), mode="valid")
    return float(means.max()), int(means.argmax()) + width // 2 + 1
