"""Lasso and elastic net by parts: their Gram matrix is a sum, and all that they need."""

from typing import Any

from rosenblatt.statistics import Gram

from .passes import PartRows, Passes

ONE_PASS = True
WIDEST = 10_000  # columns: the products of all pairs then take 1.6 GB


def fit_parts(model: Any, passes: Passes) -> Any:
    """One pass for the products of all pairs of columns, then coordinate descent on these."""
    if not model.path_parameters():
        raise ValueError(
            f"{type(model).__name__} is fitted by parts with selection='cyclic', warm_start=False "
            "and a given alpha: anything else needs the rows."
        )
    if len(passes.source.columns) > WIDEST:
        raise ValueError(
            f"{type(model).__name__} by parts forms the products of all pairs of columns, at most "
            f"{WIDEST:,}; got {len(passes.source.columns):,}."
        )
    gram = passes.total(measure_gram)
    fitted = model.fit_path(gram, "alpha", [model.alpha])[0]
    passes.publish_columns(fitted)
    return fitted


def measure_gram(rows: PartRows) -> Any:
    """The products of columns and target of one part."""
    return rows.summed(Gram.of)
