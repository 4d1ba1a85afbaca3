"""The rows of a whole table that a model was fitted to, found again from what its file says."""

import hashlib
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rosenblatt.data import Table, TableError

from .fewer_rows import smaller
from .model_file import SavedModel
from .problem import problem_of

ROWS_AT_A_TIME = 2**16


def digest_of(y: NDArray[Any]) -> str:
    """What tells targets (n,) in their order from any others."""
    found = hashlib.sha256()
    for start in range(0, len(y), ROWS_AT_A_TIME):
        some = y[start : start + ROWS_AT_A_TIME]
        if y.dtype.kind == "f":
            found.update(np.ascontiguousarray(some, np.float64).tobytes())
        else:
            found.update(("\n" * (start > 0) + "\n".join(map(str, some.tolist()))).encode())
    return found.hexdigest()


def learned_rows(saved: SavedModel, table: Table) -> tuple[Table, NDArray[Any]] | None:
    """The rows that a comparison fitted its model to, and their targets.

    The table is split again from the same seed. None if the model was fitted to all rows, or if
    what comes out is not as many rows with the same targets: then the table is another one.
    """
    if saved.split == "all rows" or saved.seed is None:
        return None
    by: dict[str, Any] = {
        "by time": {"time": saved.split_by},
        "by group": {"groups": saved.split_by},
    }
    try:
        problem = problem_of(
            table, saved.target, task=saved.task, random_state=saved.seed, **by.get(saved.split, {})
        )
    except TableError:
        return None
    parts = [problem, *smaller(problem)]  # it may have had no time for all rows
    for rows in [r for p in parts for r in (np.concatenate([p.train, p.dev]), p.train)]:
        y = problem.y[rows]
        if len(y) == saved.n_rows and saved.digest in (None, digest_of(y)):
            X = problem.X[rows]
            if problem.is_table:
                return Table(X, table.name), y
            return Table(pl.DataFrame({saved.target: y}), table.name, X), y
    return None
