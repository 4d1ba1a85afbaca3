"""From the columns of a table to the numbers that most models take, learned on training rows alone.

Numbers are centred and scaled, what is missing is put at the mean and marked by a column of its
own; categories become columns of zeros and ones; dates become numbers; texts become counts of
words, found by hashing.
"""

from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.utils.validation import check_is_fitted

from .view import dates_in, frame_for, numbers_in

Array = NDArray[np.float64]

MOST_CATEGORIES = 200  # of a column that get a column of their own, the most frequent ones
TEXT_WIDTH = 2**14
WORDS_OF_A_TEXT = 100  # different ones, about
# A table of numbers may take this much as it is; a larger one is kept sparse.
MOST_BYTES = 2**28
LEAST_WIDTH = 2  # columns for each one that is not zero in a row: fewer take less room as they are
ROWS_AT_A_TIME = 2**16
TRUE = ("1", "true", "yes", "y", "t")


class Part:
    """What is learned of one column, and how its values become columns of numbers."""

    def __init__(self, name: str) -> None:
        self.name = name

    def fit(self, values: pl.Series, counts: bool) -> None:
        """Learn from training values; `counts` if no number may be negative."""

    def transform(self, values: pl.Series) -> Any:
        """The columns (n, m): an array, or a CSR matrix."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """What the columns are called."""
        return [self.name]

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
        known = ~np.isnan(x)
        self.marks = not known.all()
        self.mean, self.scale = 0.0, 1.0
        if counts or not known.any():
            return
        self.mean = float(x[known].mean())
        # What does not vary is left as it is, rounding not being magnified.
        deviation = float(x[known].std())
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
        m = len(self.categories)
        places = dict(zip(self.categories, range(m), strict=True))
        words = values.cast(pl.String)
        codes = words.replace_strict(places, default=-1, return_dtype=pl.Int64).to_numpy().copy()
        if self.marks:
            codes[words.is_null().to_numpy()] = m
        rows = np.flatnonzero(codes >= 0)
        shape = (len(values), m + self.marks)
        return sp.csr_matrix((np.ones(len(rows)), (rows, codes[rows])), shape)

    def n_used(self) -> int:
        return 1

    def names(self) -> list[str]:
        names = [f"{self.name} = {category}" for category in self.categories]
        return [*names, f"{self.name} is missing"] if self.marks else names


class Words(Part):
    """Counts of words, each at a place that follows from the word itself; damped unless counts."""

    def fit(self, values: pl.Series, counts: bool) -> None:
        self.counts = counts

    def transform(self, values: pl.Series) -> Any:
        norm = None if self.counts else "l2"
        hasher = HashingVectorizer(n_features=TEXT_WIDTH, alternate_sign=False, norm=norm)
        return hasher.transform(values.cast(pl.String).fill_null("").to_list()).tocsr()

    def n_used(self) -> int:
        return WORDS_OF_A_TEXT

    def names(self) -> list[str]:
        return [f"{self.name} word {j}" for j in range(TEXT_WIDTH)]


PARTS: dict[str, type[Part]] = {
    "numeric": Numbers,
    "boolean": Truth,
    "date": Dates,
    "categorical": Categories,
    "text": Words,
}


class TableFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns a polars data frame into numbers.

    Parameters
    ----------
    kinds : dict
        The kind of each column to be used, by name: "numeric", "boolean", "date", "categorical" or
        "text".
    counts : bool
        Whether numbers stay as they are, for models of counts.

    Attributes
    ----------
    parts_ : what was learned of each column.
    n_features_out_ : how many columns come out.

    Examples
    --------
    >>> import polars as pl
    >>> from rosenblatt.workbench.features import TableFeatures
    >>> frame = pl.DataFrame({"age": [20.0, None, 40.0], "town": ["Rome", "Oslo", "Rome"]})
    >>> features = TableFeatures({"age": "numeric", "town": "categorical"}).fit(frame)
    >>> features.transform(frame)
    array([[-1.,  0.,  0.,  1.],
           [ 0.,  1.,  1.,  0.],
           [ 1.,  0.,  0.,  1.]])
    >>> list(features.get_feature_names_out())
    ['age', 'age is missing', 'town = Oslo', 'town = Rome']
    """

    _sklearn_auto_wrap_output_keys: ClassVar[set[str]] = set()

    def __init__(self, kinds: dict[str, str], counts: bool = False) -> None:
        self.kinds = kinds
        self.counts = counts

    def fit(self, frame: Any, y: Any = None) -> Self:
        """Learn categories, means and deviations from training rows; return self.

        Parameters
        ----------
        frame : polars or pandas DataFrame, or array-like of shape (n, d)
            The rows.
        y : ignored
        """
        frame = frame_for(frame, self.kinds)
        parts = [PARTS[kind](name) for name, kind in self.kinds.items()]
        for part in parts:
            part.fit(frame[part.name], self.counts)
        self.parts_ = parts
        self.n_features_out_ = sum(len(part.names()) for part in parts)
        return self

    def transform(self, frame: Any) -> Any:
        """Return the numbers (n, m) of rows, as an array or, where that is large, a CSR matrix.

        Parameters
        ----------
        frame : polars or pandas DataFrame, or array-like of shape (n, d)
            Rows with the columns that were fitted, in any order. Those of an array are x0, x1, ...,
            or, if the model knows them by other names and there are as many, in the order of
            `kinds`.

        Returns
        -------
        X : ndarray or CSR matrix of shape (n, m)
            Columns in the order of `get_feature_names_out`.
        """
        check_is_fitted(self)
        frame, width = frame_for(frame, self.kinds), self.n_features_out_
        used = sum(part.n_used() for part in self.parts_)
        if 8 * frame.height * width > MOST_BYTES and LEAST_WIDTH * used < width:
            return self._sparse(frame)
        blocks = (part.transform(frame[part.name]) for part in self.parts_)  # one at a time
        dense = np.empty((frame.height, width))
        start = 0
        for block in blocks:
            stop = start + block.shape[1]
            dense[:, start:stop] = block.toarray() if sp.issparse(block) else block
            start = stop
        return dense

    def _sparse(self, frame: Any) -> Any:
        """The numbers as a CSR matrix, made of some rows at a time: on the way it is larger."""
        stretches = []
        for start in range(0, frame.height, ROWS_AT_A_TIME):
            rows = np.arange(start, min(start + ROWS_AT_A_TIME, frame.height))
            columns = [part.transform(frame[rows][part.name]) for part in self.parts_]
            stretches.append(sp.hstack(columns, format="csr"))
        return _stacked(stretches)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return what the columns are called."""
        check_is_fitted(self)
        return np.array([name for part in self.parts_ for name in part.names()], object)


def _stacked(stretches: list[Any]) -> Any:
    """CSR matrices below each other; they are taken apart, so that not all is there twice."""
    shape = sum(X.shape[0] for X in stretches), stretches[0].shape[1]
    n_used = np.concatenate([np.diff(X.indptr) for X in stretches])
    indptr = np.concatenate([[0], np.cumsum(n_used, dtype=np.int64)])
    parts = [[X.indices, X.data] for X in stretches]
    stretches.clear()
    indices = np.concatenate([part.pop(0) for part in parts])
    data = np.concatenate([part.pop() for part in parts])
    return sp.csr_matrix((data, indices, indptr.astype(indices.dtype)), shape)


class TableColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns of a table that a model of mixed columns reads, as they are; dates as days.

    Parameters
    ----------
    kinds : dict
        The kind of each column to be used, by name.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"id": [7, 8], "town": ["Rome", None]})
    >>> TableColumns({"town": "categorical"}).fit(frame).transform(frame).columns
    ['town']
    """

    _sklearn_auto_wrap_output_keys: ClassVar[set[str]] = set()

    def __init__(self, kinds: dict[str, str]) -> None:
        self.kinds = kinds

    def fit(self, frame: pl.DataFrame, y: Any = None) -> Self:
        """Nothing is to be learned; return self."""
        self.n_features_out_ = len(self.kinds)
        return self

    def transform(self, frame: Any) -> pl.DataFrame:
        """Return the columns, in the order of `kinds`."""
        frame = frame_for(frame, self.kinds)
        return pl.DataFrame([self._column(frame[name], kind) for name, kind in self.kinds.items()])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return what the columns are called."""
        return np.array(list(self.kinds), object)

    def mixed_kinds(self) -> dict[str, str]:
        """What `MixedNB` is to take each column for."""
        other = {"date": "numeric", "boolean": "categorical"}
        return {name: other.get(kind, kind) for name, kind in self.kinds.items()}

    def _column(self, values: pl.Series, kind: str) -> pl.Series:
        if kind == "date":
            return dates_in(values).cast(pl.Datetime("us")).cast(pl.Int64) / 86_400_000_000
        if kind == "numeric":
            return numbers_in(values)
        return values.cast(pl.String).cast(pl.Categorical)  # a number a row, each word once
