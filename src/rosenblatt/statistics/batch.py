"""Batches of rows for a statistic: checked, labeled, grouped, and cut into chunks.

Sums are arrays with one row a class or bucket, (K, ...): integers of 64 bits if all that was added
is whole, else doubles.
"""

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from rosenblatt.loops.rows import read_only, some_rows, summed_duplicates
from rosenblatt.runtime import threads

Result = TypeVar("Result")
Sums = NDArray[Any]

# A chunk is this many numbers, and this many times as large as what is made of it: then the parts
# of all chunks together are small beside the data.
CELLS_PER_CHUNK = 1_000_000
CHUNK_OVER_TABLE = 8

LARGEST_WHOLE_WEIGHT = 2**31


@dataclass(frozen=True, eq=False)
class Labels:
    """The sorted classes of some rows, and the number of each row's class.

    Statistics encode labels themselves; pass ``Labels(classes, codes)`` if they are encoded.

    Parameters
    ----------
    classes : the classes, sorted, shape (K,); some may be without rows.
    codes : the place of each row's class in `classes`, shape (n,).

    Examples
    --------
    >>> from rosenblatt.statistics import Labels
    >>> Labels.of(["spam", "ham", "spam"])
    Labels(classes=array(['ham', 'spam'], dtype='<U4'), codes=array([1, 0, 1]))
    """

    classes: NDArray[Any]
    codes: NDArray[np.int64]

    def __post_init__(self) -> None:
        codes = self.codes
        if len(codes) and not (codes.min() >= 0 and codes.max() < len(self.classes)):
            raise ValueError(
                f"codes must be from 0 to {len(self.classes) - 1}, one less than the number of "
                f"classes; got {codes.min()} to {codes.max()}."
            )

    def __getitem__(self, rows: Any) -> "Labels":
        """Return the labels of some rows."""
        return Labels(self.classes, self.codes[rows])

    @staticmethod
    def of(y: Any, n_rows: int | None = None) -> "Labels":
        """Encode labels; None puts all of `n_rows` rows into one class, 0."""
        if isinstance(y, Labels):
            return y
        if y is None:
            return Labels(np.zeros(1, np.int64), np.zeros(n_rows or 0, np.int64))
        y = np.asarray(y)
        if y.ndim != 1:
            raise ValueError(f"y must have one label a row; got shape {y.shape}.")
        if len(y) == 1:
            return Labels(y.copy(), np.zeros(1, np.int64))
        classes, codes = np.unique(y, return_inverse=True)
        return Labels(classes, codes.astype(np.int64, copy=False))


@dataclass(frozen=True, eq=False)
class AugmentedRows:
    """Dense rows (n, d) and their targets (n, t), read as one table (n, d + t)."""

    X: NDArray[Any]
    targets: NDArray[Any]

    def joined(self) -> NDArray[Any]:
        """Return the table as a copy."""
        return read_only(np.hstack([self.X, self.targets]))


Change = Callable[[NDArray[Any]], NDArray[Any]]


class Batch:
    """Some rows with their buckets: group times number of classes plus class; -1 for weight zero.

    `targets` (n, t) are read as further columns of X: dense rows come as `AugmentedRows`.
    """

    change: Change | None = None

    def __init__(
        self,
        X: Any,
        y: Any,
        weights: Any = None,
        groups: Any = None,
        n_groups: int | None = None,
        targets: NDArray[Any] | None = None,
    ) -> None:
        self.feature_names = feature_names_of(X)
        self.X: Any = _numeric(X)
        self.n_rows, self.n_features = self.X.shape
        self.targets = targets
        if targets is not None:
            _check_length("y", targets[:, 0], self.n_rows)
            self.n_features += targets.shape[1]
        labels = Labels.of(y, self.n_rows)
        self.classes, buckets = labels.classes.copy(), labels.codes
        _check_length("y", buckets, self.n_rows)
        self.n_groups = 1
        if groups is not None:
            groups = _checked_groups(groups, self.n_rows, n_groups)
            self.n_groups = n_groups or (int(groups.max()) + 1 if len(groups) else 0)
            buckets = groups * len(self.classes) + buckets
        self.weights, self.whole = _checked_weights(weights, self.n_rows)
        if self.weights is not None and not self.weights.all():
            buckets = np.where(self.weights > 0, buckets, -1)
        self.buckets = read_only(buckets.astype(np.int64, copy=False))
        self.dtype = np.dtype(np.float32 if self.X.dtype == np.float32 else np.float64)

    @property
    def n_buckets(self) -> int:
        """Number of groups times number of classes."""
        return self.n_groups * len(self.classes)

    def sum_duplicates(self) -> None:
        """Add up the duplicate entries of CSR rows."""
        self.X = summed_duplicates(self.X)

    def changed(self, change: Change) -> "Batch":
        """Return the batch with values that are changed chunk by chunk before loops read them."""
        other = copy(self)
        other.change = change
        return other

    @cached_property
    def counted(self) -> tuple[NDArray[np.int64], Sums]:
        """Number of rows (B,) of each bucket, and their weight as sums."""
        if self.weights is None:
            rows = np.bincount(self.buckets, minlength=self.n_buckets)
            return rows, rows
        # Rows of weight zero, in bucket -1, are counted at 0.
        n, size = self.buckets + 1, self.n_buckets + 1
        rows, totals = np.bincount(n, minlength=size)[1:], np.bincount(n, self.weights, size)[1:]
        exact = self.whole and totals.sum() < 2**53
        return rows, totals.astype(np.int64) if exact else totals

    def over_chunks(
        self,
        work: Callable[[Any, NDArray[np.int64], Any], Result],
        table_cells: int,
        dtypes: tuple[DTypeLike, ...] = (np.float64, np.float32),
        buckets: NDArray[np.int64] | None = None,
    ) -> list[Result]:
        """Call ``work(X, buckets, weights)`` on chunks of rows; return the results in order."""
        # A result holds `table_cells` values; `buckets` replace those of the batch.
        of_rows = self.buckets if buckets is None else read_only(buckets)

        def work_on(start: int, stop: int) -> Result:
            weights = None if self.weights is None else self.weights[start:stop]
            X = self._rows(start, stop, dtypes)
            X = X if self.change is None else _changed(X, self.change)
            return work(X, of_rows[start:stop], weights)

        # Tables of sparse data are wide, and are made and added up for every chunk.
        least = 4 * CELLS_PER_CHUNK if sp.issparse(self.X) else CELLS_PER_CHUNK
        wanted = max(least, CHUNK_OVER_TABLE * table_cells)
        stored = self.X.nnz if sp.issparse(self.X) else self.X.size
        stored += 0 if self.targets is None else self.targets.size
        # The pool computes the size of chunks from the number of cells.
        cells = max(1, int(stored) * threads.CELLS_PER_CHUNK // wanted)
        return threads.over_chunks(work_on, self.n_rows, cells)

    def _rows(self, start: int, stop: int, dtypes: tuple[DTypeLike, ...]) -> Any:
        """Return some rows as loops read them, with their targets."""
        if self.targets is None:
            return some_rows(self.X, start, stop, dtypes)
        if sp.issparse(self.X):
            targets = sp.csr_matrix(self.targets[start:stop])
            X = sp.hstack([self.X[start:stop], targets], format="csr")
            return some_rows(X, 0, stop - start, dtypes)
        targets = some_rows(self.targets, start, stop, (np.float64,))
        return AugmentedRows(some_rows(self.X, start, stop, dtypes), targets)

    def doubles(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some rows with their targets, as a dense table."""
        X = self.X[rows]
        X = X.toarray() if sp.issparse(X) else X
        targets = () if self.targets is None else (self.targets[rows],)
        return np.hstack([X.astype(np.float64, copy=False), *targets])

    def group(self, table: NDArray[Any], g: int, kept: NDArray[np.int64]) -> NDArray[Any]:
        """Return the `kept` classes of group g, from a table (B, ...)."""
        if self.n_groups == 1 and len(kept) == len(self.classes):
            return table
        return np.asarray(table[g * len(self.classes) + kept])

    def finite(self, *tables: NDArray[np.float64]) -> None:
        """Raise if a sum (B, d) is not finite, and name the feature."""
        # The sum of a table is cheap, and not finite if a value in it is not.
        with np.errstate(over="ignore", invalid="ignore"):
            suspects = [table for table in tables if not math.isfinite(table.sum())]
        for table in suspects:
            if not np.isfinite(table).all():
                j = int(np.flatnonzero(~np.isfinite(table).all(axis=0))[0])
                d, advice = self.X.shape[1], "leave NaN out with missing='ignore', or rescale."
                raise ValueError(
                    f"{f'Feature {self.name(j)}' if j < d else f'Target {j - d}'} holds NaN, "
                    "infinity, or numbers whose squares are too large for 64 bits; "
                    + (advice if self.targets is None else "rescale it.")
                )

    def name(self, j: int) -> str:
        """Return the name of feature j in error messages."""
        if self.feature_names is None or j >= len(self.feature_names):
            return str(j)
        return repr(self.feature_names[j])


def total_of(parts: list[Sums], shape: tuple[int, ...]) -> Sums:
    """Return the sum of the chunks' sums, first chunks first."""
    if not parts:
        return np.zeros(shape, np.int64)
    whole = all(part.dtype.kind != "f" for part in parts)
    total = parts[0].astype(np.int64 if whole else np.float64, copy=False)
    for part in parts[1:]:
        with np.errstate(over="ignore"):
            total += part
    return total


def freeze(statistic: Any) -> None:
    """Make the arrays of a statistic read-only."""
    for value in vars(statistic).values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)


def _numeric(X: Any) -> Any:
    """Return X as a numeric table, without a copy if it is one."""
    if sp.issparse(X):
        return X.tocsr()
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns; got shape {X.shape}.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must hold numbers; got dtype {X.dtype}.")
    return X


def feature_names_of(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame, if they are all strings."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return tuple(columns)


def _check_length(what: str, values: NDArray[Any], n_rows: int) -> None:
    if values.shape != (n_rows,):
        raise ValueError(f"{what} must have shape ({n_rows},), as X has rows; got {values.shape}.")


def _checked_groups(given: Any, n_rows: int, n_groups: int | None) -> NDArray[np.int64]:
    numbers = np.asarray(given)
    _check_length("groups", numbers, n_rows)
    kind = numbers.dtype.kind
    if kind not in "fiub" or (kind == "f" and (numbers != np.floor(numbers)).any()):
        raise ValueError(
            f"groups must be whole numbers from 0 on; got {numbers.dtype}. Encode others with "
            "np.unique(groups, return_inverse=True)[1]."
        )
    groups: NDArray[np.int64] = numbers.astype(np.int64, copy=False)
    if n_rows and (groups.min() < 0 or (n_groups is not None and groups.max() >= n_groups)):
        raise ValueError(
            f"groups must be from 0 to n_groups - 1; got {groups.min()} to {groups.max()}."
        )
    return groups


def _checked_weights(weights: Any, n_rows: int) -> tuple[NDArray[np.float64] | None, bool]:
    """Return weights as doubles, and True if they are whole numbers; None for weights of 1."""
    if weights is None:
        return None, True
    weights = np.asarray(weights, np.float64)
    _check_length("weights", weights, n_rows)
    if n_rows and not (weights.min() >= 0 and weights.max() < np.inf):
        bad = int(np.flatnonzero(~((weights >= 0) & (weights < np.inf)))[0])
        raise ValueError(f"weights must be finite and >= 0; got {weights[bad]} in row {bad}.")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise ValueError(
                f"weights must add up to less than 1.8e308; they go up to {weights.max():.3g}."
            )
    whole = not n_rows or bool(
        weights.max() < LARGEST_WHOLE_WEIGHT and (weights == np.floor(weights)).all()
    )
    return read_only(weights), whole


def _changed(X: Any, change: Change) -> Any:
    """Return the rows of a chunk with changed values."""
    if not isinstance(X, tuple):
        return read_only(change(X))
    data, indices, indptr = X
    stored = slice(int(indptr[0]), int(indptr[-1]))  # the data may be of more rows than these
    return (
        read_only(change(data[stored])),
        read_only(indices[stored]),
        read_only(indptr - indptr[0]),
    )


# Missing values are replaced or counted before loops read the rows.


def check_missing(missing: str) -> None:
    """Raise unless `missing` is a valid option."""
    if missing not in ("refuse", "ignore"):
        raise ValueError(f"missing must be 'refuse' or 'ignore'; got {missing!r}.")


def filled(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers with zeros in place of NaN."""
    return np.where(np.isnan(numbers), numbers.dtype.type(0), numbers)


def gaps(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return ones where numbers are NaN, zeros elsewhere."""
    return np.asarray(np.isnan(numbers), np.float32)
