"""What was asked for: the table with its target, the families, the time; each checked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from ..data import Table, TableError, read_table
from ..data.errors import did_you_mean
from .families import FAMILIES, Family

LEAST_BUDGET = 1.0  # seconds


def checked_budget(budget: float | None) -> float | None:
    if budget is not None and not budget >= LEAST_BUDGET:
        raise ValueError(f"budget must be at least {LEAST_BUDGET:g} second; got {budget!r}.")
    return budget


def chosen_families(names: Sequence[str], suiting: list[Family], others: Any) -> list[Family]:
    """The families of these names, in their order."""
    known = {family.name: family for family in suiting}
    unsuited = dict(others)
    for name in names:
        if name not in known and name not in unsuited:
            every = [family.name for family in FAMILIES]
            raise TableError(f"There is no family {name!r}.{did_you_mean(name, every)}")
    return [known[name] for name in names if name in known]


def table_of(X: Any, y: Any, target: str | None) -> tuple[Table, str]:
    """The table with its target as a column."""
    if y is None:
        if target is None:
            raise TableError("Say which column is the target.")
        return (X if isinstance(X, Table) else read_table(X)), target
    name = target or str(getattr(y, "name", None) or "target")
    values = pl.Series(name, np.asarray(y))
    if sp.issparse(X):
        if X.shape[0] != len(values):
            raise TableError(f"X has {X.shape[0]} rows and y has {len(values)}.")
        return Table(pl.DataFrame([values]), "the table", X.tocsr()), name
    if not hasattr(X, "columns"):
        X = np.asarray(X)
        X = pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])
    frame = read_table(X).frame
    if name in frame.columns:
        raise TableError(f"The table has a column {name!r} already; give y another name as target.")
    if frame.height != len(values):
        raise TableError(f"X has {frame.height} rows and y has {len(values)}.")
    return Table(frame.with_columns(values), "the table"), name
