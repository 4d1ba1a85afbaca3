"""The contestants: every family of models, when it does not suit, and which settings are tried.

The registry lists them; this module resolves the names of limits and expansions in its rows.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem

from rosenblatt.preprocessing import BasisExpansion
from rosenblatt.registry import ROWS
from rosenblatt.registry.row import Candidate, Row

from .features import MOST_BYTES
from .problem import Problem
from .scoring import lacking
from .splines import (
    Bends,
    why_no_products,
    why_no_splines,
    width_of,
)

CLASSIFICATION, REGRESSION = "classification", "regression"
MOST_ROWS_OF_KERNELS = 5_000
MOST_ROWS_OF_KERNEL_LOGISTIC = 1_500
LANDMARKS = 300  # rows that all others are compared with, where pairs are too many
MOST_COLUMNS_OF_COVARIANCES = 1_000  # of a matrix that is sparse
MOST_CELLS_MADE_DENSE = 2**24
MOST_SPARSE_ROWS = 20_000  # whose pairs are compared
MOST_COLUMNS_OF_A_TABLE = 2_000  # above this width one LAPACK call blocks Ctrl-C for too long


@dataclass(frozen=True)
class Family:
    """A kind of models."""

    name: str
    make: Callable[[], Any]  # the estimator that the grid is tried on
    grid: dict[str, list[Any]]
    task: str
    # "numbers" (centred and scaled), "counts" (as they are), "columns" (the same without texts),
    # "codes" (the same with a category as one number, and gaps), "levels" (the same, and the model
    # is given which columns those are), or the "table" itself
    takes: str
    when: str  # it is the right choice
    why_not: Callable[[Problem], str] = lambda problem: ""  # it does not suit; "" if it does
    before: Callable[[], Any] | None = None  # a step between the table's numbers and the model
    halve: str = ""  # how settings are sorted out cheaply: as in the registry's rows
    package: str = "rosenblatt"
    note: str = ""  # for the leaderboard
    short_names: tuple[str, ...] = ()  # that people type
    rank: int = 3  # these four as in the registry's rows
    text_rank: int = 2
    slow_on_text: bool = False
    first_if_wide: bool = False


def _rows(most: int, does: str) -> Callable[[Problem], str]:
    """Return the limit of a model that does too much on more than so many rows."""

    def limit(problem: Problem) -> str:
        n = len(problem.train)
        return f"{does}; {n:,} rows are more than {most:,}" if n > most else ""

    return limit


def _landmarks(problem: Problem) -> str:
    n = len(problem.train)
    if n <= MOST_ROWS_OF_KERNELS:
        return f"stands in for kernels above {MOST_ROWS_OF_KERNELS:,} rows; there are {n:,}"
    if not problem.is_table or problem.has_text:
        return "compares rows by their distance, which says little of sparse rows and of texts"
    return ""


def _few_columns(problem: Problem) -> str:
    if problem.has_text:
        return "needs the covariances of all columns; each word of a text is one"
    if problem.is_table:
        many = width_of(problem) > MOST_COLUMNS_OF_A_TABLE
    else:
        many = problem.X.shape[1] > MOST_COLUMNS_OF_COVARIANCES
    return "needs the covariances of all columns; there are too many" if many else ""


def _counts(problem: Problem) -> str:
    if not problem.is_table:
        return "" if problem.X.data.min(initial=0) >= 0 else "needs counts; some are negative"
    return f"needs counts; {problem.no_counts}" if problem.no_counts else ""


def _named_columns(problem: Problem) -> str:
    if not problem.is_table:
        return "reads columns by their kinds; these have neither kinds nor names"
    return _columns_beside_texts(problem)


def _columns_beside_texts(problem: Problem) -> str:
    only_texts = problem.is_table and not problem.used_by_mixed
    return "reads no texts; there are no other columns" if only_texts else ""


def _some_categories(problem: Problem) -> str:
    kinds = set(problem.used_by_mixed.values())
    return "" if kinds & {"categorical", "boolean"} else "is for categories; there are none"


def _few_cells(problem: Problem) -> str:
    if problem.is_table or np.prod(problem.X.shape, dtype=float) <= MOST_CELLS_MADE_DENSE:
        return ""
    return "reads no sparse rows, and this matrix is too large to be made dense"


def _few_sparse_pairs(problem: Problem) -> str:
    """scikit-learn compares pairs of sparse rows, in calls that no time limit stops."""
    sparse = not problem.is_table or 8 * len(problem.train) * width_of(problem) > MOST_BYTES
    return _rows(MOST_SPARSE_ROWS, "compares all pairs of sparse rows")(problem) if sparse else ""


# The limits that the registry names: why a model does not suit a problem; empty if it does.
LIMITS: dict[str, Callable[[Problem], str]] = {
    "a table or few cells": _few_cells,
    "columns beside texts": _columns_beside_texts,
    "counts": _counts,
    "few columns": _few_columns,
    "few pairs of sparse rows": _few_sparse_pairs,
    "few rows for each mistake": _rows(MOST_ROWS_OF_KERNELS, "reads all rows after each mistake"),
    "few rows for pairs": _rows(MOST_ROWS_OF_KERNELS, "compares all pairs of rows"),
    "few rows for solving pairs": _rows(
        MOST_ROWS_OF_KERNEL_LOGISTIC, "solves for all pairs of rows"
    ),
    "many rows for pairs": _landmarks,
    "named columns": _named_columns,
    "products": why_no_products,
    "some categories": _some_categories,
    "splines": why_no_splines,
    "two classes": lambda problem: (
        "" if problem.n_classes == 2 else "takes two classes; there are more"
    ),
}
# The steps that may stand between a table's numbers and the model.
EXPANSIONS: dict[str, Callable[[], Any]] = {
    # The Gaussian kernel of each row with some of them, 1 / d for gamma.
    "landmarks": partial(Nystroem, n_components=LANDMARKS, random_state=0),
    "products": partial(BasisExpansion, "polynomial"),
    "splines": Bends,
}


def _family(row: Row, candidate: Candidate) -> Family:
    """A candidate of the registry with its names resolved."""
    return Family(
        candidate.name,
        lambda: row.estimator(**candidate.settings),
        {parameter: list(values) for parameter, values in candidate.grid.items()},
        row.task,
        candidate.reads,
        candidate.when,
        partial(_first_reason, candidate.limits),
        EXPANSIONS[candidate.expansion] if candidate.expansion else None,
        candidate.halve,
        short_names=candidate.short_names,
        rank=candidate.rank,
        text_rank=candidate.text_rank,
        slow_on_text=candidate.slow_on_text,
        first_if_wide=candidate.first_if_wide,
    )


def _first_reason(limits: tuple[str, ...], problem: Problem) -> str:
    """Why the first of some limits is exceeded; nothing if none is."""
    return next(filter(None, (LIMITS[limit](problem) for limit in limits)), "")


def candidates(*tasks: str) -> list[tuple[Row, Candidate]]:
    """The candidates for some tasks, in order; those on expanded columns, which are slow, last."""
    found = [(row, one) for row in ROWS for one in row.compare if row.task in tasks]
    return sorted(found, key=lambda pair: (bool(pair[1].expansion), pair[1].order))


FAMILIES = [_family(row, one) for row, one in candidates(CLASSIFICATION, REGRESSION)]


def families_for(
    problem: Problem, peers: bool = False, metric: str = "accuracy", named: bool = False
) -> tuple[list[Family], list[tuple[str, str]]]:
    """The families that suit a problem and a score, and those that do not, with the reason.

    With `named`, those that are asked for by name are to be among them.
    """
    suiting, others = [], []
    for family in FAMILIES + (peers_of() if peers else []):
        if family.task != problem.task:
            continue
        why = family.why_not(problem) or lacking(family.make(), metric)
        why = why or ("" if named else unless_named(problem, family))
        if why:
            others.append((family.name, why))
        else:
            suiting.append(family)
    return suiting, others


def unless_named(problem: Problem, family: Family) -> str:
    """Why a family that suits is not tried unless it is asked for; nothing if it is.

    On rows of words, which all have length one, distances add little to linear scores.
    """
    if not problem.is_table or problem.used_by_mixed or not family.slow_on_text:
        return ""
    return "takes long on texts alone, where planes do as well: it is tried if it is named"


def baseline_of(problem: Problem) -> Family:
    """What any model should beat: the largest class, or the mean."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    regression = problem.task == REGRESSION
    always = "the mean" if regression else "the largest class"
    return Family(
        f"always {always}", DummyRegressor if regression else DummyClassifier, {},
        problem.task, "rows", "what any model should beat", package="scikit-learn",
    )  # fmt: skip


def peers_of() -> list[Family]:
    """Models of other libraries, for reference; LightGBM's if it is there."""
    from sklearn import ensemble as trees

    boosted = partial(_peer, "histogram boosting", "a peer's boosted trees", "scikit-learn")
    found = boosted(trees.HistGradientBoostingClassifier, trees.HistGradientBoostingRegressor)
    with suppress(ImportError):
        import lightgbm

        # On one thread: several wait for each other on a busy machine, for so long within one
        # call that no end of time is heard.
        boosted = partial(_peer, "LightGBM", "a peer's boosted trees", "lightgbm")
        found += boosted(lightgbm.LGBMClassifier, lightgbm.LGBMRegressor, verbose=-1, n_jobs=1)
    return found


def _peer(
    name: str, when: str, package: str, classifier: Any, regressor: Any, **settings: Any
) -> list[Family]:
    return [
        Family(name, partial(make, random_state=0, **settings), {}, task, "numbers", when,
               package=package)
        for task, make in ((CLASSIFICATION, classifier), (REGRESSION, regressor))
    ]  # fmt: skip
