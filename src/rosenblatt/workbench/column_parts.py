"""What is learned of one column of a table, and how its values become columns of numbers."""

from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.feature_extraction import text_loops
from rosenblatt.feature_extraction.counting import with_columns
from rosenblatt.feature_extraction.vocabulary import inverse_document_frequency
from rosenblatt.term_table import TermTable, split

from .row_view import dates_in, numbers_in
from .texts import CountedTexts

Array = NDArray[np.float64]

MOST_CATEGORIES = 200  # of a column that get a column of their own, the most frequent ones
MOST_TERMS = 2**17  # of a column of texts, those that most texts have
MANY_TEXTS = 500
TRUE = ("1", "true", "yes", "y", "t")


class Part:
    """What is learned of one column, and how its values become columns of numbers."""

    def __init__(self, name: str) -> None:
        self.name = name

    def fit(self, values: pl.Series, counts: bool) -> None:
        """Learn from training values."""
        raise NotImplementedError

    def transform(self, values: pl.Series) -> Any:
        """The columns (n, m) of values."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """What the columns are called."""
        return [self.name]

    def width(self) -> int:
        """How many columns there are."""
        return len(self.names())

    def n_used(self) -> int:
        """How many of the columns are not zero in a row, about."""
        return len(self.names())

    def scaled(self) -> list[bool] | None:
        """Which columns are centred and scaled; None if more was learned of them than that."""
        return [False] * len(self.names())


class Numbers(Part):
    """Numbers less their mean, in units of their deviation; and where they are missing."""

    def fit(self, values: pl.Series, counts: bool) -> None:
        x = self.numbers(values)
        missing = np.isnan(x)
        self.marks = bool(missing.any())
        self.mean, self.scale = 0.0, 1.0
        known = x[~missing] if self.marks else x
        if counts or not known.size:
            return
        self.mean = float(known.mean())
        # What does not vary is left as it is, rounding not being magnified.
        deviation = float(known.std())
        self.scale = deviation if deviation > 1e-12 * max(abs(self.mean), 1e-300) else 1.0

    def transform(self, values: pl.Series) -> Any:
        x = self.numbers(values)
        missing = np.isnan(x)
        z = (x - self.mean) / self.scale
        z[missing] = 0.0
        return np.column_stack([z, missing]) if self.marks else z[:, np.newaxis]

    def names(self) -> list[str]:
        return [self.name, f"{self.name} is missing"] if self.marks else [self.name]

    def scaled(self) -> list[bool] | None:
        return None if self.marks else [True]

    def numbers(self, values: pl.Series) -> Array:
        """Values as numbers, NaN where there are none."""
        return numbers_in(values).to_numpy(writable=False).astype(np.float64, copy=False)


class Gaps(Numbers):
    """Numbers as they are, NaN where they are missing: for models that read gaps."""

    def fit(self, values: pl.Series, counts: bool) -> None:
        self.mean, self.scale, self.marks = 0.0, 1.0, False

    def transform(self, values: pl.Series) -> Any:
        return self.numbers(values)[:, np.newaxis]

    def scaled(self) -> list[bool] | None:
        return [False]


class Truth(Numbers):
    """Yes and no as one and zero."""

    def fit(self, values: pl.Series, counts: bool) -> None:
        super().fit(values, True)  # which leaves zeros and ones as they are

    def scaled(self) -> list[bool] | None:
        return None if self.marks else [False]

    def numbers(self, values: pl.Series) -> Array:
        if values.dtype == pl.String:
            values = values.str.to_lowercase().is_in(TRUE)
        return super().numbers(values)


class Dates(Part):
    """A date as days since 1970, and its month and day of the week; with a time, the hour."""

    def fit(self, values: pl.Series, counts: bool) -> None:
        self.parts = [Numbers(f"{self.name} {part}") for part in self._pieces(values)]
        for part, piece in zip(self.parts, self._pieces(values).values(), strict=True):
            part.fit(piece, counts)

    def transform(self, values: pl.Series) -> Any:
        # Days may have got hours since, or lost them.
        kind: Any = {1: pl.Time, 3: pl.Date, 4: pl.Datetime("us")}[len(self.parts)]
        pieces = self._pieces(dates_in(values).cast(kind)).values()
        return np.hstack([p.transform(x) for p, x in zip(self.parts, pieces, strict=True)])

    def names(self) -> list[str]:
        return [name for part in self.parts for name in part.names()]

    def scaled(self) -> list[bool] | None:
        found = [part.scaled() for part in self.parts]
        return None if None in found else [True] * len(found)

    def _pieces(self, values: pl.Series) -> dict[str, pl.Series]:
        values = dates_in(values)
        if values.dtype == pl.Time:
            return {"hour": values.dt.hour()}
        if getattr(values.dtype, "time_zone", None):  # one clock for all tables
            values = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        days = values.cast(pl.Datetime("us")).cast(pl.Int64) / 86_400_000_000
        pieces = {"days": days, "month": values.dt.month(), "weekday": values.dt.weekday()}
        return pieces | ({"hour": values.dt.hour()} if values.dtype != pl.Date else {})


class Categories(Part):
    """A column of zeros and ones for each category; all zero for one never seen."""

    def fit(self, values: pl.Series, counts: bool) -> None:
        words = values.cast(pl.String)
        seen = words.drop_nulls().value_counts(sort=False)
        seen = seen.sort(["count", words.name], descending=[True, False])
        self.categories = sorted(seen[words.name].head(MOST_CATEGORIES).to_list())
        self.marks = bool(words.null_count())

    def transform(self, values: pl.Series) -> Any:
        codes = self.places(values)
        if self.marks:
            codes[values.is_null().to_numpy()] = len(self.categories)
        rows = np.flatnonzero(codes >= 0)
        shape = (len(values), len(self.categories) + self.marks)
        return sp.csr_matrix((np.ones(len(rows)), (rows, codes[rows])), shape)

    def places(self, values: pl.Series) -> NDArray[np.int64]:
        """The place (n,) of each value among the categories, -1 if it is none of them."""
        known = dict(zip(self.categories, range(len(self.categories)), strict=True))
        words = values.cast(pl.String)
        found = words.replace_strict(known, default=-1, return_dtype=pl.Int64)
        return found.fill_null(-1).to_numpy().copy()

    def n_used(self) -> int:
        return 1

    def names(self) -> list[str]:
        names = [f"{self.name} = {category}" for category in self.categories]
        return [*names, f"{self.name} is missing"] if self.marks else names


class Levels(Categories):
    """A category by its place among those known; NaN for one never seen, or none."""

    def transform(self, values: pl.Series) -> Any:
        places = self.places(values).astype(np.float64)
        places[places < 0] = np.nan
        return places[:, np.newaxis]

    def names(self) -> list[str]:
        return [self.name]


class Terms(Part):
    """Counts of the words that training rows have, one column a word; tf-idf unless counts.

    A word that is there often counts for less than as many words: 1 + log of its count; a word that
    many texts have for less than a rare one. Texts are scaled to length one.
    """

    texts: CountedTexts | None = None  # counts that others keep, if any

    def fit(self, values: pl.Series, counts: bool) -> None:
        texts = self.texts or CountedTexts()
        X = texts.of(values)
        documents = np.bincount(X.indices, minlength=X.shape[1])
        kept = _frequent(documents, X.shape[0])
        self.text, self.limits = texts.table(values.name).some(kept)
        self.counts, self.used = counts, max(1, int(X.nnz) // max(int(X.shape[0]), 1))
        double = np.dtype(np.float64)
        self.idf = inverse_document_frequency(documents[kept], X.shape[0], True, double)

    def transform(self, values: pl.Series) -> Any:
        texts = self.texts or CountedTexts()
        X = texts.of(values)
        known = TermTable.of_bytes(self.text, self.limits)
        X = with_columns(X, known.numbers_of(texts.table(values.name)), len(self.idf))
        if not self.counts:
            text_loops.weigh(X.data, X.indices, X.indptr, self.idf, True, 2)
        return X

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "texts"}

    def n_used(self) -> int:
        return int(self.used)

    def width(self) -> int:
        return len(self.idf)

    def names(self) -> list[str]:
        return [f"{self.name}: {term}" for term in split(self.text, self.limits)]


def _frequent(documents: NDArray[np.int64], n_rows: int) -> NDArray[np.int64]:
    """The words that become columns: of many texts those of two or more, the most frequent."""
    # A word of one text says nothing of others, and most are such; of few texts any may return.
    kept = np.flatnonzero(documents >= (2 if n_rows >= MANY_TEXTS else 1))
    if len(kept) > MOST_TERMS:
        order = np.argsort(-documents[kept], kind="stable")[:MOST_TERMS]
        kept = np.sort(kept[order])
    return kept


PARTS: dict[str, type[Part]] = {
    "numeric": Numbers,
    "boolean": Truth,
    "date": Dates,
    "categorical": Categories,
    "text": Terms,
}
# For models that read categories and gaps themselves.
CODED_PARTS = {**PARTS, "numeric": Gaps, "categorical": Levels}
