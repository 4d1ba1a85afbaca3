"""Tables and models that several tests here share."""

import numpy as np
import polars as pl

from rosenblatt.data import Table
from rosenblatt.workbench.fitting import fit_table
from rosenblatt.workbench.model_catalogue import family_named


def mixed_frame(n=120, seed=0):
    """Columns of every kind, with gaps."""
    rng = np.random.default_rng(seed)
    days = np.datetime64("2020-01-01") + rng.integers(0, 999, n)
    frame = pl.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "visits": rng.poisson(3, n),
            "town": rng.choice(["Rome", "Oslo", "Lima"], n),
            "member": rng.choice(["yes", "no"], n),
            "since": pl.Series(days).cast(pl.Date),
        }
    )
    gaps = pl.Series(rng.random(n) < 0.1)
    holes = {"age": None, "town": None}
    return frame.with_columns(
        pl.when(gaps).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in holes.items()
    )


def table_for(family, seed=0):
    """A table that a family can learn from, with a column `target`."""
    frame = mixed_frame(seed=seed)
    if family.takes == "counts":
        frame = frame.select("visits", "town")
    rng = np.random.default_rng(seed + 1)
    signal = frame["visits"].to_numpy() + rng.normal(size=frame.height)
    y = np.where(signal > 3, "high", "low") if family.task == "classification" else signal
    return Table(frame.with_columns(pl.Series("target", y)), "the table")


def fitted(name, settings=(), **options):
    """A model of a name on its table."""
    return fit_table(table_for(family_named(name)), "target", name, list(settings), **options)
