"""Separation as one question about rows: is there a v with ``a.v > 0`` for every row a?

Two classes: ``a_i = y_i (z_i, 1)``. K classes jointly (Kesler): ``a_ik = (e_y - e_k) (x) (z_i, 1)``
for k other than the row's class, the last class's block left out because adding one vector to
every class changes nothing. Here z is x shifted and scaled without any rounding.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .inputs import Floats, Table

CHUNK = 4_000_000  # numbers made dense at a time


class Standard:
    """The table in coordinates of size at most one: ``z = (x - centre) / unit``, `exact` or nearly.

    `unit` holds powers of two. A column is shifted only when its values lie within a factor of
    two of each other, where floating-point subtraction is exact (Sterbenz).
    """

    def __init__(self, X: Table, intercept: bool):
        self.n, self.d = X.shape
        self.intercept = intercept
        self.m = self.d + intercept
        self.centre = np.zeros(self.d)
        if intercept and not sparse.issparse(X):
            low, high = X.min(axis=0), X.max(axis=0)
            far = ((low > 0) & (high <= 2 * low)) | ((high < 0) & (low >= 2 * high))
            self.centre[far] = (low + (high - low) / 2)[far]
            X = X - self.centre
        exponent = _exponents(X)
        self.unit = np.ldexp(1.0, exponent)
        if sparse.issparse(X):
            self.Z = X.copy()
            self.Z.data = np.ldexp(X.data, -exponent[X.indices])
        else:
            self.Z = np.ldexp(X, -exponent)
        self.exact = _kept_all_digits(X, self.Z)
        self.units = np.append(self.unit, 1.0) if intercept else self.unit

    def dot(self, v: Floats) -> Floats:
        """Return ``(z, 1).v`` for every row; v is (m,) or (m, K)."""
        scores: Floats = self.Z @ v[: self.d]
        return scores + v[self.d] if self.intercept else scores

    def tdot(self, p: Floats) -> Floats:
        """Return ``sum p_i (z_i, 1)``; p is (n,) or (n, K)."""
        total: Floats = self.Z.T @ p
        return np.concatenate([total, p.sum(axis=0, keepdims=True)]) if self.intercept else total

    def mass(self, p: Floats) -> Floats:
        """Return ``sum p_i |(z_i, 1)|``."""
        total: Floats = abs(self.Z).T @ p
        return np.concatenate([total, p.sum(axis=0, keepdims=True)]) if self.intercept else total

    def take(self, index: NDArray[np.intp], columns: NDArray[np.intp] | None = None) -> Floats:
        """Return the rows (z, 1) at `index`, dense, or only some columns of them."""
        Z: Any = self.Z[index]
        if columns is None:
            columns = np.arange(self.m)
        else:
            Z = Z[:, columns[columns < self.d]]
        Z = Z.toarray() if sparse.issparse(Z) else Z
        return np.column_stack([Z, np.ones((len(Z), int((columns == self.d).sum())))])

    def gram(self, index: NDArray[np.intp], weight: Floats | None = None) -> Floats:
        """Return the (weighted) sum of ``(z, 1)(z, 1)'`` over the rows at `index`, (m, m)."""
        total = np.zeros((self.m, self.m))
        if sparse.issparse(self.Z):
            weight = np.ones(len(index)) if weight is None else weight
            Z, d = self.Z[index], self.d
            heavy = Z.multiply(weight[:, None]).tocsr()
            total[:d, :d] = (Z.T @ heavy).toarray()
            if self.intercept:
                total[d, :d] = total[:d, d] = heavy.sum(axis=0)
                total[d, d] = weight.sum()
            return total
        for part in _chunks(np.arange(len(index)), self.m):
            A = self.take(index[part])
            # NumPy halves the work of A'A when both are one array
            total += A.T @ A if weight is None else (A.T * weight[part]) @ A
        return total

    def gram_work(self, k: int) -> float:
        """Estimate the multiplications in `gram` of k rows; sparse ones cost ten each."""
        if sparse.issparse(self.Z):
            return float(10.0 * k * (self.Z.nnz / self.n + 1.0) ** 2)
        return float(k * self.m**2)

    def subset(self, index: NDArray[np.intp]) -> "Standard":
        """Return the table of some rows, in the same coordinates."""
        part = object.__new__(Standard)
        part.__dict__.update(self.__dict__)
        part.Z, part.n = self.Z[index], len(index)
        return part

    def plane(self, v: Floats) -> tuple[Floats, Floats]:
        """Translate v, (m,) or (m, K), into coefficients and intercept for x."""
        w = (v[: self.d].T / self.unit).T
        b = v[self.d] if self.intercept else np.zeros(v.shape[1:])
        return w, b - self.centre @ w


def _exponents(X: Table) -> NDArray[np.intp]:
    """Return the power of two just above each column's largest magnitude; 0 for zeros."""
    largest = abs(X).max(axis=0)
    largest = largest.toarray().ravel() if sparse.issparse(X) else largest
    return np.asarray(np.frexp(largest)[1], dtype=np.intp)


def _kept_all_digits(X: Table, Z: Table) -> bool:
    """Say whether scaling X to Z lost nothing: not so in columns that span 290 decimal places."""
    before, after = (X.data, Z.data) if sparse.issparse(X) else (X, Z)
    return bool(np.all((before == 0.0) | (abs(after) > 1e-290)))


class HomogeneousRows(ABC):
    """The rows a of a question, as the products a search needs; `n` of them, `m` long."""

    def __init__(self, table: Standard, n: int, m: int):
        self.table, self.n, self.m = table, n, m

    @property
    def units(self) -> Floats:
        """The unit (m,) of each coordinate, so that ratios can be read in the units of x."""
        return self.table.units

    @property
    def bias(self) -> NDArray[np.bool_]:
        """Which coordinates (m,) are intercepts."""
        marks = np.arange(self.table.m) >= self.table.d
        return np.tile(marks, self.m // self.table.m)

    @abstractmethod
    def dot(self, v: Floats) -> Floats:
        """Return ``a.v`` of every row, (n,)."""

    def margins(self, v: Floats) -> Floats:
        """Return ``a.v`` of every row, infinity where a number stands for no row."""
        return self.dot(v)

    @abstractmethod
    def tdot(self, p: Floats) -> Floats:
        """Return ``sum p_i a_i``, (m,)."""

    @abstractmethod
    def mass(self, p: Floats) -> Floats:
        """Return ``sum p_i |a_i|``, (m,)."""

    @abstractmethod
    def take(self, index: NDArray[np.intp], columns: NDArray[np.intp] | None = None) -> Floats:
        """Return the rows at `index`, dense, or only some columns (ascending) of them."""

    @abstractmethod
    def gram(self, index: NDArray[np.intp]) -> Floats:
        """Return ``sum a a'`` over the rows at `index`, (m, m)."""

    def gram_work(self, k: int) -> float:
        """Estimate the multiplications in `gram` of k rows."""
        return self.table.gram_work(k)

    @abstractmethod
    def hessian_product(self, index: NDArray[np.intp]) -> Callable[[Floats], Floats]:
        """Return the function ``v -> sum (a.v) a`` over the rows at `index`."""


class TwoClasses(HomogeneousRows):
    """Rows ``sign_i (z_i, 1)``."""

    def __init__(self, table: Standard, sign: Floats):
        super().__init__(table, table.n, table.m)
        self.sign = sign

    def dot(self, v: Floats) -> Floats:
        return self.sign * self.table.dot(v)

    def tdot(self, p: Floats) -> Floats:
        return self.table.tdot(self.sign * p)

    def mass(self, p: Floats) -> Floats:
        return self.table.mass(p)

    def take(self, index: NDArray[np.intp], columns: NDArray[np.intp] | None = None) -> Floats:
        return self.sign[index, None] * self.table.take(index, columns)

    def gram(self, index: NDArray[np.intp]) -> Floats:
        return self.table.gram(index)  # signs cancel

    def hessian_product(self, index: NDArray[np.intp]) -> Callable[[Floats], Floats]:
        part = self.table.subset(index)
        return lambda v: part.tdot(part.dot(v))


class Kesler(HomogeneousRows):
    """Rows ``(e_y - e_k) (x) (z_i, 1)``, numbered ``i K + k``; a row's own class is no row.

    An own class has margin infinity, so that no search ever touches it.
    """

    def __init__(self, table: Standard, code: NDArray[np.intp], K: int):
        super().__init__(table, table.n * K, table.m * (K - 1))
        self.code, self.K = code, K
        self.own = np.arange(K) == code[:, None]  # (n, K)

    @property
    def units(self) -> Floats:
        return np.tile(self.table.units, self.K - 1)

    def weights(self, v: Floats) -> Floats:
        """Return v as one column a class, (table.m, K), the last one zero."""
        blocks = v.reshape(self.K - 1, self.table.m).T
        return np.column_stack([blocks, np.zeros(self.table.m)])

    def dot(self, v: Floats) -> Floats:
        scores = self.table.dot(self.weights(v))
        return np.asarray(scores[self.own][:, None] - scores).ravel()

    def margins(self, v: Floats) -> Floats:
        return np.where(self.own.ravel(), np.inf, self.dot(v))

    def tdot(self, p: Floats) -> Floats:
        C = np.where(self.own, 0.0, p.reshape(-1, self.K))
        return self._blocks(self.table.tdot(self.own * C.sum(axis=1, keepdims=True) - C))

    def mass(self, p: Floats) -> Floats:
        C = np.where(self.own, 0.0, p.reshape(-1, self.K))
        return self._blocks(self.table.mass(self.own * C.sum(axis=1, keepdims=True) + C))

    def _blocks(self, total: Floats) -> Floats:
        return np.ascontiguousarray(total[:, :-1].T).ravel()

    def take(self, index: NDArray[np.intp], columns: NDArray[np.intp] | None = None) -> Floats:
        i, k = np.divmod(index, self.K)
        columns = np.arange(self.m) if columns is None else columns
        block, feature = np.divmod(columns, self.table.m)
        A = np.zeros((len(index), len(columns)))
        for c in np.unique(block):
            side = (self.code[i] == c) * 1.0 - (k == c)
            A[:, block == c] = side[:, None] * self.table.take(i, feature[block == c])
        return A

    def gram(self, index: NDArray[np.intp]) -> Floats:
        active = np.zeros((self.table.n, self.K))
        active.ravel()[index] = 1.0
        count = active.sum(axis=1)
        some = np.flatnonzero(count)
        s, own = active[some], self.own[some].astype(float)
        m = self.table.m
        total = np.zeros((self.K - 1, m, self.K - 1, m))
        # sum_k (e_y - e_k)(e_y - e_k)' = count e_y e_y' - e_y s' - s e_y' + diag(s)
        for k in range(self.K - 1):
            for j in range(k + 1):
                weight = -own[:, k] * s[:, j] - own[:, j] * s[:, k]
                if j == k:
                    weight = s[:, k] + count[some] * own[:, k]
                used = np.flatnonzero(weight)
                block = self.table.gram(some[used], weight[used])
                total[k, :, j] = total[j, :, k] = block
        return total.reshape(self.m, self.m)

    def gram_work(self, k: int) -> float:
        return self.table.gram_work(min(k, self.table.n)) * self.K**2 / 2

    def hessian_product(self, index: NDArray[np.intp]) -> Callable[[Floats], Floats]:
        active = np.zeros(self.n)
        active[index] = 1.0
        return lambda v: self.tdot(active * self.dot(v))


def _chunks(index: NDArray[np.intp], m: int) -> Iterator[NDArray[np.intp]]:
    """Cut `index` into pieces whose rows fit in CHUNK numbers."""
    size = max(1, CHUNK // m)
    for start in range(0, len(index), size):
        yield index[start : start + size]
