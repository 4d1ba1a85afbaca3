"""Categories that a model never saw, counted over the batches of a table that it predicts for."""

from typing import Any

import polars as pl
from sklearn.pipeline import Pipeline

from .column_parts import MOST_CATEGORIES, Categories
from .features import TableColumns, TableFeatures

MANY = 20  # rows, at least: of fewer new values nothing is said
MOST = 0.5  # of the values of a column


def known_categories(model: Pipeline) -> dict[str, list[str]]:
    """The categories that a model learned of each column that has any."""
    first, last = model.steps[0][1], model.steps[-1][1]
    if isinstance(first, TableFeatures):
        parts = [part for part in first.parts_ if isinstance(part, Categories)]
        return {part.name: part.categories for part in parts}
    if isinstance(first, TableColumns) and hasattr(last, "categories_"):
        names = [name for name, kind in first.mixed_kinds().items() if kind == "categorical"]
        pairs = zip(names, last.categories_, strict=True)
        return {name: [str(value) for value in values] for name, values in pairs}
    return {}


class NewCategories:
    """Counts, for each column, the values that a model knows nothing of.

    >>> new = NewCategories({"town": ["Bonn", "Rome"]})
    >>> new.add(pl.DataFrame({"town": ["Oslo"] * 30 + ["Rome", None]}))
    >>> new.notes()
    ['note: town: 30 of 31 values were never seen when the model was learned']
    """

    def __init__(self, known: dict[str, list[str]]) -> None:
        self._known = {name: pl.Series(values, dtype=pl.String) for name, values in known.items()}
        self._counts = dict.fromkeys(known, (0, 0))  # new ones, and all that are not missing

    def add(self, rows: Any) -> None:
        """Count the rows of a batch, as the model takes them."""
        for name, (n_new, n) in self._counts.items():
            words = rows[name].cast(pl.String).drop_nulls()
            n_known = int(words.is_in(self._known[name].implode()).sum())
            self._counts[name] = n_new + len(words) - n_known, n + len(words)

    def notes(self) -> list[str]:
        """A sentence for each column most of whose values are new."""
        return [
            f"note: {name}: {n_new:,} of {n:,} values {self._what(name)}"
            for name, (n_new, n) in self._counts.items()
            if n_new >= MANY and n_new > MOST * n
        ]

    def _what(self, name: str) -> str:
        if len(self._known[name]) == MOST_CATEGORIES:  # of more, the rarest are not told apart
            return f"are none of the {MOST_CATEGORIES} categories that the model tells apart"
        return "were never seen when the model was learned"
