"""The schedule of a comparison: which family is searched next, and how long it may take.

`search_families` is the whole policy. The order comes from the ranks in the registry; the time of a
family is a part of what is left after a reserve for retraining, the test set and the report.
"""

import math
import re
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

import numpy as np
from sklearn.base import clone

from rosenblatt.ensemble import VotingClassifier
from rosenblatt.model_selection.additive_pipelines import is_additive

from .boosting_search import FITS_MORE, WITH_SCORES
from .clock import Clock
from .contestants import contestant
from .families import Family
from .findings import Contestant, Dropped
from .pipelines import CODED
from .problem import Problem
from .search import FoldedProblem
from .splines import width_of
from .splits import MOST_FOLDS

# The policy. Shares are of the time that is left, unless they are of the budget.
RESERVE = 0.1  # of the budget, at least, for retraining, the test set and the report,
FITS_AFTER = 3  # or the time of so many more fits and predictions of the slowest model found
FIRST_SHARE = 2 / 3  # for the first result; if it takes longer, fewer rows are searched in the rest
LARGEST_SHARE = 1 / 2  # for a later family; the last one may use all
FEWEST_SECONDS = 1.0  # a family that was given less had no time
MUCH_LEFT = 1 / 5  # of the budget, at the end: a family that was cut off is searched again
BOOSTING_SHARE = 1 / 3  # of the budget, by which the number of folds is chosen
SECONDS_A_CELL = 8e-7  # that 100 rounds of boosting and their predictions take
MANY_CELLS = 10_000_000  # where boosting comes first: it reads categories without expanding them
MANY_TEXTS = 100_000  # rows times classes, from which penalties are first compared on few rows

MOST_VOTERS = 3
FEWEST_FOLDS = 2
NAME_OF_ERROR = re.compile(r"^[\w.]*[A-Z]\w*: ")  # before its message

Progress = Callable[[list[Contestant], str, Clock], None]
Found = list[tuple[Family, Contestant]]


def search_families(
    folded: FoldedProblem,
    families: list[Family],
    clock: Clock,
    progress: Progress | None = None,
    vote: bool = False,
) -> tuple[Found, list[Dropped]]:
    """Search the families within the time; return contestants in their order, and the rest.

    Models that learn by sums come first, so that there is soon an answer, then the others by rank.
    Without an answer in the time of the first family, all families learn from fewer rows. If time
    is left at the end, the first family that was cut off and has time now is searched again. With
    `vote` a soft vote of the best is the last contestant.
    """
    found: Found = []
    dropped: list[Dropped] = []
    stopped_before = clock.stopped

    def report(trying: str) -> None:
        if progress is not None:
            progress([entry for _, entry in found], trying, clock)

    def search(family: Family, n_left: int) -> None:
        report(family.name)
        outcome = _outcome(folded, family, found, n_left, clock)
        if isinstance(outcome, Contestant):
            found.append((family, outcome))
        else:
            dropped.append(outcome)

    import_module("rosenblatt.loops.rows")  # loading the compiler counts for no family
    queue = in_turn(folded, [with_few_rows_first(folded, family) for family in families])
    for place, family in enumerate(queue):
        search(family, len(queue) - place)
    again = _cut_off_with_time_now(found, dropped, clock)
    if again is not None:
        dropped.remove(again)
        search(next(family for family in queue if family.name == again.family), 1)
        if not any(drop.late for drop in dropped) and folded.problem is folded.whole:
            clock.stopped = stopped_before if clock.stopped == "budget" else clock.stopped
    voting = vote_of(folded, found, clock) if vote else None
    if voting is not None:
        queue.append(voting)
        families = [*families, voting]
        search(voting, 1)
    report("the chosen model on the test set")
    order = [family.name for family in families]
    found.sort(key=lambda pair: order.index(pair[0].name))
    return found, dropped


def in_turn(folded: FoldedProblem, families: list[Family]) -> list[Family]:
    """Return the families in the order of their turns.

    First comes a model that learns by sums, of texts one that reads counts. If there are more
    columns than rows, least squares fits anything, and models that choose columns come first. In a
    large table boosting comes first. All others are ordered by the ranks in the registry: models
    that most often win first, those that seldom do last; for texts the cheapest first.
    """
    problem = folded.problem
    text = problem.has_text
    wide = problem.task == "regression" and len(problem.used) > len(folded.y)
    large = problem.is_table and len(folded.y) * width_of(problem) > MANY_CELLS

    def for_first(family: Family) -> tuple[bool | int, ...]:
        return (
            large and family.halve != "boosting rounds",
            wide and not family.first_if_wide,
            not is_additive(family.make()),
            text and family.takes != "counts",
            family.text_rank if text else 0,
        )

    queue = sorted(families, key=for_first)
    return queue if text else [*queue[:1], *sorted(queue[1:], key=lambda family: family.rank)]


def with_few_rows_first(folded: FoldedProblem, family: Family) -> Family:
    """Return the family; if texts of many classes make fits long, penalties start on few rows."""
    problem = folded.problem
    if problem.task != "classification" or not problem.has_text:
        return family
    long = len(folded.y) * len(np.unique(folded.y)) > MANY_TEXTS
    return replace(family, halve="rows") if long and "C" in family.grid else family


def folds_in(problem: Problem, seconds: float) -> int:
    """Return how many folds leave boosting the time for about 100 rounds in each."""
    width = len(problem.used) if problem.is_table else problem.X.shape[1]
    n_outputs = problem.n_classes if problem.n_classes > 2 else 1
    cells = len(problem.train) * width * n_outputs
    n_fits = BOOSTING_SHARE * seconds / (cells * SECONDS_A_CELL)
    return int(np.clip(n_fits / WITH_SCORES - FITS_MORE, FEWEST_FOLDS, MOST_FOLDS))


def share(found: Found, n_left: int, clock: Clock) -> float:
    """Return the seconds that the next family may take."""
    if clock.budget is None:
        return math.inf
    largest = max(1 / n_left, LARGEST_SHARE) if found else FIRST_SHARE
    return largest * (clock.left - reserve(found, clock.budget))


def reserve(found: Found, budget: float) -> float:
    """Return the seconds to keep for what follows: any model found may be fitted again."""
    slowest = max((entry.seconds_again for _, entry in found), default=0.0)
    # The words of test rows, as many as there are development rows, are still to be counted.
    words = max((entry.counting_seconds[1] for _, entry in found), default=0.0)
    return min(max(RESERVE * budget, FITS_AFTER * slowest + words), budget / 2)


def _outcome(
    folded: FoldedProblem, family: Family, found: Found, n_left: int, clock: Clock
) -> Contestant | Dropped:
    """Search one family in its share of the time; on fewer rows if there is no result yet."""
    if clock.stopped == "interrupt":
        return Dropped(family.name, "interrupted", late=True)

    def work() -> Contestant:
        folded.end = time.perf_counter() + seconds
        return contestant(folded, family, folded.candidates(family))

    try:
        while True:
            seconds = share(found, n_left, clock)
            entry: Contestant | None = clock.attempt(work, seconds)
            if entry is not None:
                return entry
            if clock.stopped == "interrupt":
                return Dropped(family.name, "interrupted", late=True)
            if found or seconds <= 0 or not folded.take_fewer_rows():
                break
    except Exception as error:  # one that fails must not take the others with it
        message = str(error).strip().splitlines()  # a search ends with the messages of its fits
        last = NAME_OF_ERROR.sub("", (message or [type(error).__name__])[-1])
        return Dropped(family.name, f"failed: {last}")
    why = "no time was left"
    if seconds >= FEWEST_SECONDS and n_left > 1:
        why = f"took more than its share of the time, {seconds:.1f} s"
    return Dropped(family.name, why, late=True, seconds=seconds)


def _cut_off_with_time_now(found: Found, dropped: list[Dropped], clock: Clock) -> Dropped | None:
    """Return the first family that was cut off and may have more time now, if much is left."""
    if clock.budget is None or clock.stopped == "interrupt" or not found:
        return None
    left = clock.left - reserve(found, clock.budget)
    late = (drop for drop in dropped if drop.late and drop.seconds < left)
    return next(late, None) if left >= MUCH_LEFT * clock.budget else None


def vote_of(folded: FoldedProblem, found: Found, clock: Clock) -> Family | None:
    """Return a soft vote of the best families at their best settings; None of fewer than two.

    All members read the same columns, scaled: trees take no notice of a scale. So texts, which
    some do not read, leave no vote, and neither do expanded columns. It needs time for a fit of
    each member to each fold and to all of them.
    """
    problem = folded.problem
    if problem.task != "classification" or problem.has_text:
        return None
    fit = [
        (family, entry)
        for family, entry in found
        if family.takes in ("numbers", "columns", *CODED)
        and family.before is None
        and family.package == "rosenblatt"
        and hasattr(family.make(), "predict_proba")
        and not math.isnan(entry.mean)
    ]
    best = sorted(fit, key=lambda pair: -pair[1].mean)[:MOST_VOTERS]
    seconds = (len(folded.folds) + 1) * sum(entry.seconds_again for _, entry in best)
    if len(best) < 2 or (clock.budget is not None and seconds > clock.left):
        return None
    members = [
        (family.name, family.make().set_params(**entry.parameters)) for family, entry in best
    ]

    def make() -> VotingClassifier:
        return VotingClassifier([(name, clone(model)) for name, model in members], voting="soft")

    when = "the answer of several families together"
    *names, last = (name for name, _ in members)
    note = f"soft vote of {', '.join(names)} and {last}"
    return Family("vote of the best", make, {}, problem.task, "numbers", when, note=note)
