"""All families on one problem, within the time there is: cheap ones first, each with a share."""

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
from rosenblatt.workbench.families import Family
from rosenblatt.workbench.preparation.pipelines import CODED
from rosenblatt.workbench.preparation.problem import can_be_smaller
from rosenblatt.workbench.preparation.splines import width_of

from .clock import Clock
from .contestants import contestant
from .results import Contestant, Dropped
from .search import Arena

RESERVE = 0.1  # of the budget, for what follows the search
FITS_AFTER = 3  # the search: about so many fits and predictions go into the answer itself
NAME_OF_ERROR = re.compile(r"^[\w.]*[A-Z]\w*: ")  # before what it says
MOST_VOTERS = 3
MANY_CELLS = 10_000_000
MANY_TEXTS = 100_000  # times their classes
LEAST_SHARE = 1.0  # seconds; less is none
MUCH_LEFT = 1 / 5  # of the budget, at the end of the queue: enough for one more try
LARGEST_SHARE = 1 / 2  # of the time that is left, for a family that is not the last
# As long as there is no answer, which is worth more than a turn for each; if it must, the rest
# will do for fewer rows.
SHARE_OF_FIRST = 2 / 3
SHARE_OF_FEWEST = 3 / 4  # there are no fewer rows: it is now or hardly at all

Progress = Callable[[list[Contestant], str, Clock], None]
Found = list[tuple[Family, Contestant]]


def race(
    arena: Arena,
    families: list[Family],
    clock: Clock,
    progress: Progress | None,
    vote: bool = False,
) -> tuple[Found, list[Dropped]]:
    """The contestants in the order of the families, and those that were given up.

    If there is no time for the first of them, all learn from fewer rows of the arena. With `vote`
    the last contestant is a soft vote of the best ones.
    """
    found: Found = []
    dropped: list[Dropped] = []
    cut_off: list[tuple[float, Family]] = []  # after so many seconds
    before = clock.stopped
    families = [_with_few_rows_first(arena, family) for family in families]

    def tell(trying: str) -> None:
        if progress is not None:
            progress([entry for _, entry in found], trying, clock)

    def give_up(family: Family, why: str, late: bool = True) -> None:
        dropped.append(Dropped(family.name, why, late))

    def turn(family: Family, n_left: int) -> None:
        if clock.stopped == "interrupt":
            give_up(family, "interrupted")
            return
        tell(family.name)
        try:
            while True:
                seconds = _share(arena, found, n_left, clock)
                entry = clock.attempt(lambda: _tried(arena, family, seconds), seconds)  # noqa: B023
                too_slow = entry is None and seconds > 0 and clock.stopped != "interrupt"
                if found or not too_slow or not arena.take_fewer_rows():
                    break
        except Exception as error:  # one that fails must not take the others with it
            said = str(error).strip().splitlines()  # a search says at the end what each fit said
            last = NAME_OF_ERROR.sub("", (said or [type(error).__name__])[-1])
            give_up(family, f"failed: {last}", late=False)
            return
        if entry is not None:
            found.append((family, entry))
        elif clock.stopped == "interrupt":
            give_up(family, "interrupted")
        else:
            cut_off.append((seconds, family))
            shared = seconds >= LEAST_SHARE and n_left > 1
            more = f"took more than its share of the time, {seconds:.1f} s"
            give_up(family, more if shared else "no time was left")

    import_module("rosenblatt.loops.rows")  # the compiler: to load it is no family's own time
    queue = _in_turn(arena, families)
    for place, family in enumerate(queue):
        turn(family, len(queue) - place)
    again = _worth_another_try(found, cut_off, clock)
    if again is not None:
        cut_off = [late for late in cut_off if late[1] is not again]
        dropped = [drop for drop in dropped if drop.family != again.name]
        turn(again, 1)
        if not cut_off and arena.problem is arena.whole and clock.stopped == "budget":
            clock.stopped = before  # all is done in time after all
    voting = vote_of(arena, found, clock) if vote else None
    if voting is not None:
        families = [*families, voting]
        turn(voting, 1)
        found = [(f, _named(e, f) if f is voting else e) for f, e in found]
    tell("the chosen model on the test set")
    found.sort(key=lambda pair: families.index(pair[0]))
    return found, dropped


def vote_of(arena: Arena, found: Found, clock: Clock) -> Family | None:
    """A soft vote of the best families at their best settings; None of fewer than two.

    All members read the same columns, scaled: trees take no notice of a scale. So texts, which
    some do not read, leave no vote, and neither do expanded columns. It needs time for a fit of
    each member to each fold and to all of them.
    """
    problem = arena.problem
    if problem.task != "classification" or "text" in problem.used.values():
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
    seconds = (len(arena.folds) + 1) * sum(entry.seconds_again for _, entry in best)
    if len(best) < 2 or (clock.budget is not None and seconds > clock.left):
        return None
    members = [
        (family.name, family.make().set_params(**entry.parameters)) for family, entry in best
    ]

    def make() -> VotingClassifier:
        return VotingClassifier([(name, clone(model)) for name, model in members], voting="soft")

    when = "the answer of several families together"
    return Family("vote of the best", make, {}, problem.task, "numbers", when)


def _named(entry: Contestant, family: Family) -> Contestant:
    """A vote with the names of its members."""
    names = [name for name, _ in family.make().estimators]
    return replace(entry, note=f"soft vote of {', '.join(names[:-1])} and {names[-1]}")


def _with_few_rows_first(arena: Arena, family: Family) -> Family:
    """The family; penalties of planes, if texts of many classes make fits long, are sorted out on
    few rows first. Passes of a perceptron are not: few rows want fewer of them.
    """
    problem = arena.problem
    if problem.task != "classification" or "text" not in problem.used.values():
        return family
    long = len(arena.y) * len(np.unique(arena.y)) > MANY_TEXTS
    return replace(family, halve="rows") if long and "C" in family.grid else family


def _in_turn(arena: Arena, families: list[Family]) -> list[Family]:
    """The families in the order of their turns.

    What learns by sums takes one pass: an answer is there before anything takes long. Of texts it
    is models of counts that have one. With more columns than rows least squares fit anything, and
    few columns that matter are found by those that choose among them. After the first answer come
    trees, boosted ones before others: they adapt to the time there is, and most often win; of texts
    these are planes, the cheapest first. What is seldom the best comes last. In a large table with
    categories trees come first of all, for they read these as they are.
    """
    text = "text" in arena.problem.used.values()
    wide = arena.problem.task == "regression" and len(arena.problem.used) > len(arena.y)
    large = arena.problem.is_table and len(arena.y) * width_of(arena.problem) > MANY_CELLS
    if not families:
        return []
    first, *others = sorted(
        families,
        key=lambda f: (
            large and f.halve != "boosting rounds",
            wide and not f.first_if_wide,
            not is_additive(f.make()),
            text and f.takes != "counts",
            f.text_rank if text else 0,
        ),
    )
    return [first, *(others if text else sorted(others, key=lambda f: f.rank))]


def _worth_another_try(
    found: Found, cut_off: list[tuple[float, Family]], clock: Clock
) -> Family | None:
    """The first family that was cut off and may have more time now; None if little is left."""
    if clock.budget is None or clock.stopped == "interrupt" or not found:
        return None
    left = clock.left - reserve(found, clock.budget)
    if left < MUCH_LEFT * clock.budget:
        return None
    return next((family for seconds, family in cut_off if seconds < left), None)


def _tried(arena: Arena, family: Family, seconds: float) -> Contestant:
    arena.end = time.perf_counter() + seconds
    return contestant(arena, family, arena.candidates(family))


def _share(arena: Arena, found: Found, n_left: int, clock: Clock) -> float:
    """Seconds that the next family may take."""
    if clock.budget is None:
        return float("inf")
    left = clock.left - reserve(found, clock.budget)
    if found:
        return left * max(1 / n_left, LARGEST_SHARE)
    return left * (SHARE_OF_FIRST if can_be_smaller(arena.problem) else SHARE_OF_FEWEST)


def reserve(found: Found, budget: float) -> float:
    """Seconds to keep for what follows the search: any may be the one to be fitted again."""
    slowest = max((entry.seconds_again for _, entry in found), default=0.0)
    # The words of test rows, as many as there are development rows, are still to be counted.
    words = max((entry.counting_seconds[1] for _, entry in found), default=0.0)
    return min(max(RESERVE * budget, FITS_AFTER * slowest + words), budget / 2)
