"""Scalar products of the rows of a table, computed once for all fits to parts of these rows.

A search fits the rows of many folds with many kernels, widths and costs. All kernels but the
Laplacian follow from scalar products, so within ``sharing_products(X, megabytes)`` the products of
all pairs of rows are computed when a kernel first needs them, and each fit picks its rows and
columns. Rows are recognised by their values: models need not know of the search. Narrow tables
share nothing: it is quicker to multiply their rows again than to pick products from a large matrix.
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
WIDE = 64  # columns from which on it is quicker to pick products than to multiply again
CELLS = 1 << 20  # sparse tables of up to so many are made dense

_shared: list["ProductTable"] = []  # innermost last


class SharesProducts:
    """A model of kernels: its fits to parts of a table share the scalar products of the rows."""

    def sharing(self, X: Any) -> AbstractContextManager[None]:
        """Return a context in which fits to rows of X share the scalar products of these rows."""
        return sharing_products(X, getattr(self, "cache_size", MEGABYTES))


@contextmanager
def sharing_products(X: Any, megabytes: float) -> Iterator[None]:
    """Share the products of wide rows X (n, d), if a matrix (n, n) fits into the megabytes."""
    n, d = (*np.shape(X), 0, 0)[:2]  # a list of texts has no columns
    known = any(table.given is X for table in _shared)
    if d < WIDE or n * n * 8 > megabytes * 2**20 or known:
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


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Some rows of a table whose products are shared; it is indexed as the rows would be."""

    table: ProductTable
    P: Floats  # (n, n), of the whole table
    places: NDArray[np.intp]
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
        return replace(self, places=self.places[some])

    def of(self, X: Any) -> "SharedRows | None":
        """Rows X as rows of the same table; None if they are not."""
        places = self.table.places(X)
        return None if places is None else replace(self, places=places)

    def products(self, others: "SharedRows") -> NDArray[Any]:
        """The products (m, l) with other rows of the table."""
        picked = self.P.take(self.places, axis=0).take(others.places, axis=1, mode="clip")
        return np.asarray(picked.astype(self.dtype, copy=False))


def shared_rows(X: Any, about_mean: bool) -> SharedRows | None:
    """Rows X as rows of a table whose products are shared; None if there is none."""
    for table in reversed(_shared):
        places = table.places(X)
        P = None
        if places is not None:
            P = table.products(about_mean and not sp.issparse(table.rows))
        if places is not None and P is not None:
            return SharedRows(table, P, places)
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
