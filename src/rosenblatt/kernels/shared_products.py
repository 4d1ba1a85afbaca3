"""Scalar products of the rows of a table, computed once for all fits to parts of these rows.

A search fits the rows of many folds with many kernels, widths and costs. All kernels but the
Laplacian follow from scalar products, so within ``sharing_products(X, megabytes)`` the products of
all pairs of rows are computed when a kernel first needs them, and each fit picks its rows and
columns. Rows are recognised by their values: models need not know of the search.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

from rosenblatt.runtime.blas import one_blas_thread

Floats = NDArray[np.float64]

MEGABYTES = 200  # of a model without a parameter `cache_size`
WIDE = 64  # columns from which on it is quicker to pick single products than to multiply again
CELLS = 1 << 20  # sparse tables of up to so many are made dense

_shared: list["ProductTable"] = []  # innermost last


class SharesProducts:
    """A model of kernels: its fits to parts of a table share the scalar products of the rows."""

    def sharing(self, X: Any) -> AbstractContextManager[None]:
        """Return a context in which fits to rows of X share the scalar products of these rows."""
        return sharing_products(X, getattr(self, "cache_size", MEGABYTES))


@contextmanager
def sharing_products(X: Any, megabytes: float) -> Iterator[None]:
    """Share the scalar products of rows X (n, d), if a matrix (n, n) fits into the megabytes."""
    n = int(np.shape(X)[0])
    if n * n * 8 > megabytes * 2**20 or any(table.given is X for table in _shared):
        yield
        return
    table = ProductTable(X, megabytes)
    _shared.append(table)
    try:
        yield
    finally:
        _shared.remove(table)


class ProductTable:
    """A table of rows and the scalar products of each with each, as given or about their mean."""

    def __init__(self, given: Any, megabytes: float) -> None:
        self.given, self.room = given, megabytes * 2**20
        self.lock = threading.RLock()
        self.computed: dict[bool, Floats] = {}  # by whether rows are moved to their mean
        self.columns: dict[tuple[bool, bytes], Floats] = {}  # (n, m) of rows that were asked for

    @cached_property
    def rows(self) -> Any:
        """The rows in float64, as kernels read them; None if they are no numbers."""
        try:
            if not sp.issparse(self.given):
                return np.asarray(self.given, np.float64)
            rows = sp.csr_matrix(self.given, dtype=np.float64)
            return rows.toarray() if rows.shape[0] * rows.shape[1] <= CELLS else rows
        except (TypeError, ValueError):
            return None

    @cached_property
    def _sorted_hashes(self) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        hashes = row_hashes(self.rows)
        order = np.argsort(hashes)
        return hashes[order], order

    def places(self, X: Any) -> NDArray[np.intp] | None:
        """The place (m,) of each row of X; None if one of them is not in the table."""
        with self.lock:
            if self.rows is None or X.shape[1] != self.rows.shape[1] or not X.shape[0]:
                return None
            hashes, order = self._sorted_hashes
        found = order[np.searchsorted(hashes, row_hashes(X)).clip(max=len(order) - 1)]
        return found if same_rows(self.rows[found], X) else None

    def products(self, about_mean: bool) -> Floats | None:
        """The products (n, n) of all rows; None if there is no room for them."""
        with self.lock:
            if about_mean not in self.computed:
                n = self.rows.shape[0]
                if (len(self.computed) + 1) * n * n * 8 > self.room:
                    return None
                rows = self.rows - self.rows.mean(axis=0) if about_mean else self.rows
                with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
                    P = safe_sparse_dot(rows, rows.T, dense_output=True)
                self.computed[about_mean] = np.asarray(P)
            return self.computed[about_mean]

    def columns_of(self, about_mean: bool, places: NDArray[np.intp], new: bool) -> Floats | None:
        """The products (n, m) of all rows with some; None if they are new and shall not be kept."""
        key, P = (about_mean, places.tobytes()), self.computed[about_mean]
        with self.lock:
            left = self.room - sum(known.nbytes for known in self.computed.values())
            left -= P.shape[0] * len(places) * P.itemsize
            if key not in self.columns and new and left >= 0:
                while sum(known.nbytes for known in self.columns.values()) > left:
                    del self.columns[next(iter(self.columns))]
                self.columns[key] = P.take(places, axis=1, mode="clip")
            return self.columns.get(key)


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Some rows of a table whose products are shared; it is indexed as the rows would be."""

    table: ProductTable
    P: Floats  # (n, n), of the whole table
    places: NDArray[np.intp]
    columns: Floats | None  # P[:, places], if they were picked before
    dtype: Any = np.float64

    @property
    def shape(self) -> tuple[int, int]:
        """Of the rows."""
        return len(self.places), self.table.rows.shape[1]

    @property
    def squares(self) -> Floats:
        """The squared length (m,) of each row."""
        return np.asarray(self.P[self.places, self.places].astype(self.dtype, copy=False))

    def __getitem__(self, some: Any) -> "SharedRows":
        whole = self.columns is not None and isinstance(some, slice)
        columns = self.columns[:, some] if whole else None  # type: ignore[index]
        return replace(self, places=self.places[some], columns=columns)

    def of(self, X: Any) -> "SharedRows | None":
        """Rows X as rows of the same table; None if they are not."""
        places = self.table.places(X)
        return None if places is None else replace(self, places=places, columns=None)

    def products(self, others: "SharedRows") -> NDArray[Any]:
        """The products (m, l) with other rows of the table."""
        if others.columns is not None:
            picked = others.columns[self.places]
        else:
            picked = self.P.take(self.places, axis=0).take(others.places, axis=1, mode="clip")
        return np.asarray(picked.astype(self.dtype, copy=False))


def shared_rows(X: Any, about_mean: bool, often: bool = False) -> SharedRows | None:
    """Rows X as rows of a table whose products are shared; None if there is none.

    Columns of rows that are asked for often, by many fits, are kept together if there is room. Of
    others a narrow table shares nothing.
    """
    wide = X.shape[1] >= WIDE
    for table in reversed(_shared):
        places = table.places(X) if wide or often or table.columns else None
        about_mean = about_mean and not sp.issparse(table.rows)
        P = None if places is None else table.products(about_mean)
        if places is None or P is None:
            continue
        columns = table.columns_of(about_mean, places, often)
        if wide or columns is not None:
            return SharedRows(table, P, places, columns)
    return None


def row_hashes(X: Any) -> NDArray[np.uint64]:
    """A number for each row (n,), the same for equal rows and hardly for others, in any storage."""
    odd = 2 * np.random.default_rng(0).integers(2**62, size=X.shape[1], dtype=np.uint64) + 1
    X = X.astype(np.float64, copy=False)
    if sp.issparse(X):
        bits = (X.data + 0.0).view(np.uint64)  # in which -0 is 0
        return np.asarray(sp.csr_matrix((bits, X.indices, X.indptr), X.shape) @ odd)
    return np.asarray((X + 0.0).view(np.uint64) @ odd)


def same_rows(U: Any, V: Any) -> bool:
    """Whether two tables are equal, in any storage."""
    if sp.issparse(U) and sp.issparse(V):
        return bool((U != V).nnz == 0)
    U, V = ((rows.toarray() if sp.issparse(rows) else rows) for rows in (U, V))
    return bool(np.array_equal(U, V))


def row_keys(X: Any) -> list[bytes]:
    """A key for each row, the same for equal rows and for no others."""
    if not sp.issparse(X):
        return [row.tobytes() for row in X + 0.0]  # -0.0 is 0.0
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    bounds = list(zip(X.indptr[:-1], X.indptr[1:], strict=True))
    return [X.indices[i:j].tobytes() + b"|" + X.data[i:j].tobytes() for i, j in bounds]
