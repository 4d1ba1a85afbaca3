"""All families on one problem, within the time there is: cheap ones first, each with a share."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.model_selection.additive_pipelines import is_additive
from rosenblatt.workbench.families import Family
from rosenblatt.workbench.preparation.problem import Problem

from .clock import Clock, give_back
from .contestants import contestant
from .results import Contestant, Dropped
from .search import Arena
from .splits import Rows

RESERVE = 0.1  # of the budget, for what follows the search
FITS_AFTER = 3  # the search: about so many fits and predictions go into the answer itself
NAME_OF_ERROR = re.compile(r"^[\w.]*[A-Z]\w*: ")  # before what it says
LEAST_SHARE = 1.0  # seconds; less is none
MUCH_LEFT = 1 / 5  # of the budget, at the end of the queue: enough for one more try
LARGEST_SHARE = 1 / 2  # of the time that is left, for a family that is not the last
# As long as there is no answer, which is worth more than a turn for each; if it must, the rest will
# do for fewer rows.
SHARE_OF_FIRST = 2 / 3
SHARE_OF_FEWEST = 3 / 4  # there are no fewer rows: it is now or hardly at all

Progress = Callable[[list[Contestant], str, Clock], None]
Found = list[tuple[Family, Contestant]]


def race(
    arena: Arena, families: list[Family], clock: Clock, progress: Progress | None
) -> tuple[Found, list[Dropped]]:
    """The contestants in the order of the families, and those that were given up.

    If there is no time for the first of them, all learn from fewer rows of the arena.
    """
    found: Found = []
    dropped: list[Dropped] = []
    cut_off: list[tuple[float, Family]] = []  # after so many seconds
    before = clock.stopped

    def tell(trying: str) -> None:
        if progress is not None:
            progress([entry for _, entry in found], trying, clock)

    def give_up(family: Family, why: str) -> None:
        dropped.append(Dropped(family.name, why))

    def turn(family: Family, n_left: int) -> None:
        if clock.stopped == "interrupt":
            give_up(family, "interrupted")
            return
        give_back()  # what the family before has freed
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
            give_up(family, f"failed: {last}")
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
    give_back()
    tell("the chosen model on the test set")
    found.sort(key=lambda pair: families.index(pair[0]))
    return found, dropped


def _in_turn(arena: Arena, families: list[Family]) -> list[Family]:
    """The families in the order of their turns.

    What learns by sums takes one pass: an answer is there before anything takes long. Of texts it
    is models of counts that have one. With more columns than rows least squares fit anything, and
    few columns that matter are found by those that choose among them.
    """
    text = "text" in arena.problem.used.values()
    wide = arena.problem.task == "regression" and len(arena.problem.used) > len(arena.y)
    return sorted(
        families,
        key=lambda f: (
            wide and f.name != "lasso",
            not is_additive(f.make()),
            text and f.takes != "counts",
        ),
    )


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


# A part of the training rows, for when there is no time to learn from all of them.

SHARE = 1 / 8  # of the rows, and of these, if they are too many still
LEAST_ROWS = 100  # to train on that are worth learning from instead of all


def can_be_smaller(problem: Problem) -> bool:
    """Whether a share of the training rows is enough to learn from."""
    return SHARE * len(problem.train) >= LEAST_ROWS


def smaller(problem: Problem) -> Iterator[Problem]:
    """The same with fewer and fewer rows to learn from, as a hint says; the seed chooses them.

    The kinds of columns stay those that all training rows show, by which families were chosen.
    """
    part, share = problem, SHARE
    while can_be_smaller(part):
        train, dev = (_drawn(problem, rows, share) for rows in (problem.train, problem.dev))
        if problem.groups is not None and len(np.unique(problem.groups[train])) < 2:
            return
        hint = (
            f"There was no time for all {len(problem.train):,} training and {len(problem.dev):,} "
            f"development rows: {len(train):,} and {len(dev):,} of them were searched. With more "
            "time there may be a better answer."
        )
        part = replace(problem, train=train, dev=dev, hints=(*problem.hints, hint))
        if "columns" in vars(problem):
            vars(part)["columns"] = problem.columns
        yield part
        share *= SHARE


def _drawn(problem: Problem, rows: Rows, share: float) -> Rows:
    classes = problem.y[rows] if problem.task == "classification" else None
    return part_of(rows, share, classes, problem.random_state)


def part_of(rows: Rows, share: float, y: NDArray[Any] | None, seed: int) -> Rows:
    """A share of rows: of each class in y, or, if there are none, spread evenly over all of them.

    >>> part_of(np.arange(100, 112), 0.25, None, 0).tolist()
    [100, 105, 111]
    >>> part_of(np.arange(5), 0.2, np.array([7, 7, 7, 7, 8]), 0)[-1]  # no class is lost
    np.int64(4)
    """
    if y is None:
        return rows[np.linspace(0, len(rows) - 1, ceil(share * len(rows))).astype(np.int64)]
    order = np.random.default_rng(seed).permutation(len(rows))
    _, classes, counts = np.unique(y[order], return_inverse=True, return_counts=True)
    together = np.argsort(classes, kind="stable")
    place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)  # in its class
    kept = together[place < np.repeat(np.ceil(share * counts), counts)]
    return rows[np.sort(order[kept])]
