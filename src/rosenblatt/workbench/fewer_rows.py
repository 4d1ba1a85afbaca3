"""A part of the training rows, for when there is no time to learn from all of them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .parts import Rows
from .problem import Problem

SHARE = 1 / 8  # of the rows, and of these, if they are too many still
LEAST_ROWS = 200  # that are worth learning from instead of all


def smaller(problem: Problem) -> Iterator[Problem]:
    """The same with fewer and fewer training rows, as a hint says; they depend on the seed alone.

    The kinds of columns stay those that all training rows show, by which families were chosen.
    """
    n, share = len(problem.train), SHARE
    classes = problem.y[problem.train] if problem.task == "classification" else None
    while share * n >= LEAST_ROWS:
        rows = part_of(problem.train, share, classes, problem.random_state)
        if problem.groups is not None and len(np.unique(problem.groups[rows])) < 2:
            return
        hint = (
            f"There was no time to learn from all {n:,} training rows: {len(rows):,} of them were "
            "used. With more time there may be a better answer."
        )
        part = replace(problem, train=rows, hints=(*problem.hints, hint))
        if "columns" in vars(problem):
            vars(part)["columns"] = problem.columns
        yield part
        share *= SHARE


def part_of(rows: Rows, share: float, y: NDArray[Any] | None, seed: int) -> Rows:
    """A share of rows: of each class in y, or, if there are none, spread evenly over all of them.

    >>> part_of(np.arange(100, 112), 0.25, None, 0).tolist()
    [100, 105, 111]
    >>> part_of(np.arange(5), 0.2, np.array([7, 7, 7, 7, 8]), 0)[-1]  # no class is lost
    np.int64(4)
    """
    if y is None:
        return rows[np.linspace(0, len(rows) - 1, round(share * len(rows))).astype(np.int64)]
    order = np.random.default_rng(seed).permutation(len(rows))
    _, classes, counts = np.unique(y[order], return_inverse=True, return_counts=True)
    together = np.argsort(classes, kind="stable")
    place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)  # in its class
    kept = together[place < np.repeat(np.ceil(share * counts), counts)]
    return rows[np.sort(order[kept])]
