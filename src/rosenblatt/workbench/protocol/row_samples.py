"""A part of the training rows, for when there is no time to learn from all of them."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.workbench.preparation.problem import Problem

from .splits import Rows

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
