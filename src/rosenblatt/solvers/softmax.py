"""Logistic regression with three or more classes, as a problem for the solvers."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import entr

from rosenblatt.loops.rows import read_only
from rosenblatt.runtime import threads
from rosenblatt.runtime.threads import one_blas_thread

from . import softmax_loops
from .logistic_problem import ROUNDING, Array, Iterate, LogisticProblem, total, total_dual

CELLS_PER_BLOCK = 131_072  # read and written at a time; with fewer, threads wait for each other
MAX_COPIED_BYTES = 2**26  # of X, to convert to float32 at once; of more, a block at a time
ROUNDING_OF_FLOAT32 = 1e-7


class SoftmaxProblem(LogisticProblem):
    """K classes: ``loss = log sum_k exp(z_k) - z_true`` of the scores ``z_k = w_k.x + b_k``.

    In the symmetric form every class has weights; in the form with a reference the last has none
    and scores 0. P (n, K) holds the probabilities of the classes that have weights. The float32
    form computes scores, exponentials and gradients of blocks of rows in single precision, and
    their sums in double.
    """

    def __init__(
        self,
        X: Any,
        code: NDArray[Any],
        n_classes: int,
        c: Array,
        l1: float,
        l2: float,
        fit_intercept: bool,
        reference: bool,
        is_float32: bool = False,
    ) -> None:
        super().__init__(X, read_only(c), l1, l2, fit_intercept)
        self.code = self.labels = read_only(code)
        self.n_classes, self.reference = n_classes, reference
        self.K = n_classes - reference
        self.shape = (self.d + 1, self.K)
        self.is_float32, self.real = is_float32, np.float32 if is_float32 else np.float64
        self.rounding = ROUNDING_OF_FLOAT32 if is_float32 else ROUNDING
        self.P = np.empty((self.n, self.K), self.real)
        self._float32: SoftmaxProblem | None = None

    def of_rows(self, X: Any, code: NDArray[Any], c: Array) -> "SoftmaxProblem":
        X = to_float32(X) if self.is_float32 else X
        about = (self.l1, self.l2, self.fit_intercept, self.reference, self.is_float32)
        return SoftmaxProblem(X, code, self.n_classes, c, *about)

    def as_float32(self) -> "SoftmaxProblem":
        if sp.issparse(self.X) or self.is_float32:
            return self
        if self._float32 is None:
            X = to_float32(self.X) if self.X.nbytes <= MAX_COPIED_BYTES else self.X
            about = (self.l1, self.l2, self.fit_intercept, self.reference, True)
            self._float32 = SoftmaxProblem(X, self.code, self.n_classes, self.c, *about)
            # Only samples of it need their curvature, and keep probabilities.
            self._float32.P = np.empty((0, self.K), np.float32)
        return self._float32

    def zero(self) -> float:
        weight = float(self.c.sum())
        if not self.fit_intercept:
            return weight * float(np.log(self.n_classes))
        shares = np.bincount(self.code, self.c, self.n_classes) / weight
        return weight * float(entr(shares).sum())

    def _loss(self, point: Array) -> tuple[float, Array]:
        is_sparse = sp.issparse(self.X)
        # Columns of zeros up to a multiple of four: BLAS is slower with an odd number of them.
        padded = self.K if is_sparse else -(-self.K // 4) * 4
        W, b = np.zeros((self.d, padded), self.real), point[-1].astype(self.real)
        W[:, : self.K] = point[:-1]
        with np.errstate(over="ignore"):
            c = self.c.astype(self.real, copy=False)

        @np.errstate(over="ignore", invalid="ignore")
        def work(start: int, stop: int) -> tuple[float, Array]:
            gradient, loss = np.zeros((self.d + 1, padded)), 0.0
            for first, last in self._blocks_within(start, stop):
                rows = self._rows(first, last)
                Z = np.ascontiguousarray((rows @ W).T) if is_sparse else W.T @ rows.T
                scratch = np.empty((2, last - first), self.real)
                loss += softmax_loops.loss_block(
                    Z[: self.K], b, self.code[first:last], c[first:last], self.reference, scratch,
                    self.P[first:last],
                )  # fmt: skip
                gradient[:-1] += rows.T @ Z.T
                gradient[-1] += Z @ np.ones(last - first, self.real)  # faster than Z.sum
            return loss, gradient[:, : self.K]

        with one_blas_thread():
            parts = self.over_rows(work)
        # The sum of the gradient over classes is rounding.
        gradient = self.centered(total([gradient for _, gradient in parts]))
        return sum(loss for loss, _ in parts), gradient

    def _curvature(self, P: Array, v: Array) -> Array:
        def work(start: int, stop: int) -> Array:
            product = np.zeros(self.shape)
            for first, last in self._blocks_within(start, stop):
                rows, p = self.X[first:last], P[first:last]
                scores = rows @ v[:-1] + v[-1]
                scores -= np.einsum("ik,ik->i", p, scores)[:, None]
                scores *= p
                scores *= self.c[first:last, None]
                product[:-1] += rows.T @ scores
                product[-1] += scores.sum(axis=0)
            return product

        with one_blas_thread():
            return total(self.over_rows(work))

    def hessian(self, iterate: Iterate, chosen: NDArray[np.intp] | None = None) -> Array:
        # H = D - M'M with D block diagonal by class, D_k = sum c p_k z z', and M with a column
        # sqrt(c) p_k z_j for each weight j of class k; z = (x, 1).
        P = self.probabilities(iterate)
        chosen = np.arange((self.d + 1) * self.K) if chosen is None else chosen
        feature, kind = np.divmod(chosen, self.K)
        if np.all(feature == self.d):
            p = P if len(kind) == self.K else P[:, kind]
            H = np.diag(self.c @ p) - (p * self.c[:, None]).T @ p
            return self._penalized(H, feature == self.d)
        H = np.zeros((len(chosen), len(chosen)))
        with one_blas_thread():
            for start, stop in self.blocks(len(chosen)):
                self._add_hessian(H, P, start, stop, feature, kind)
        return self._penalized(H, feature == self.d)

    def _add_hessian(
        self, H: Array, P: Array, start: int, stop: int, feature: Any, kind: Any
    ) -> None:
        """Add the Hessian of some rows."""
        p, root = P[start:stop], np.sqrt(self.c[start:stop, None])
        # Only the chosen columns: text has many, and a gap needs the intercepts alone.
        columns, feature = np.unique(feature, return_inverse=True)
        Z = self._with_constant(start, stop, columns) * root
        M = Z[:, feature] * p[:, kind]
        H -= M.T @ M
        for k in range(self.K):
            own = np.flatnonzero(kind == k)
            part = Z[:, feature[own]] * np.sqrt(p[:, k : k + 1])
            H[np.ix_(own, own)] += part.T @ part

    def class_hessians(self, iterate: Iterate) -> Array:
        """Return the Hessians (K, d + 1, d + 1) by the weights of each class alone."""
        # D_k - M_k'M_k: the sum of c p_k (1 - p_k) z z'.
        P = self.probabilities(iterate)
        columns = np.arange(self.d + 1)
        blocks = np.zeros((self.K, self.d + 1, self.d + 1))
        with one_blas_thread():
            for start, stop in self.blocks(self.d + self.K):
                Z, p = self._with_constant(start, stop, columns), P[start:stop]
                roots: Any = np.sqrt(self.c[start:stop, None] * p * (1 - p)).astype(self.real)

                def work(first: int, last: int, Z: Array = Z, roots: Array = roots) -> None:
                    for k in range(first, last):
                        part = Z * roots[:, k : k + 1]
                        blocks[k] += part.T @ part

                threads.over_chunks(work, self.K, self.K * Z.size)
        for block in blocks:
            self._penalized(block, columns == self.d)
        return blocks

    def _with_constant(self, start: int, stop: int, columns: NDArray[np.intp]) -> Array:
        """Return some columns of some rows as a dense table; column d is 1."""
        weights = columns[columns < self.d]
        rows = self._rows(start, stop)
        if len(weights) < self.d:
            rows = rows[:, weights]
        rows = rows.toarray() if sp.issparse(rows) else rows
        if len(weights) == len(columns):
            return np.asarray(rows)
        return np.hstack([rows, np.ones((stop - start, 1), self.real)])

    def _rows(self, start: int, stop: int) -> Any:
        """Return rows in the precision of the problem."""
        rows = self.X[start:stop]
        return to_float32(rows) if self.is_float32 else rows

    def diagonal(self, iterate: Iterate) -> Array:
        P = self.probabilities(iterate)
        return self._diagonal_of(self.c[:, None] * P * (1 - P))

    def centered(self, v: Array) -> Array:
        return v if self.reference else v - v.mean(axis=1, keepdims=True)

    def by_class(self, table: Array) -> Array:
        if self.reference:
            return np.hstack([table, np.zeros((len(table), 1))])
        # A number added to all classes changes no probability; the sum of intercepts is kept at 0.
        free = slice(-1, None) if self.is_penalized else slice(None)
        table[free] -= table[free].mean(axis=1, keepdims=True)
        return table

    def dual_at(
        self, iterate: Iterate, move: Array, kept: float = 1.0
    ) -> tuple[Array, float] | None:
        """Return a dual point, as `BinaryProblem.dual_at`."""
        # A block of rows at a time: all moved probabilities may take more memory than the rows.
        P = self.probabilities(iterate)

        @np.errstate(over="ignore", invalid="ignore")
        def work(start: int, stop: int) -> tuple[Array, float] | None:
            pull, entropy = np.zeros(self.shape), 0.0
            for first, last in self._blocks_within(start, stop):
                rows, scores = self.X[first:last], np.tile(move[-1], (last - first, 1))
                if np.any(move[:-1]):
                    scores += rows @ move[:-1]
                R = np.empty_like(scores)
                more, negative = softmax_loops.move_block(
                    P[first:last], scores, self.code[first:last], self.c[first:last],
                    self.reference, kept, R,
                )  # fmt: skip
                if negative or not np.isfinite(more):
                    return None
                entropy += more
                pull[:-1] += rows.T @ R
                pull[-1] += R.sum(axis=0)
            return pull, entropy

        with one_blas_thread():
            return total_dual(self.over_rows(work))

    def _blocks_within(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return ranges of some rows whose numbers and probabilities stay in cache."""
        if sp.issparse(self.X):  # each range takes time for all columns
            return [(start, stop)]
        size = max(64, CELLS_PER_BLOCK // (self.d + self.K))
        return [(first, min(first + size, stop)) for first in range(start, stop, size)]


def to_float32(rows: Array) -> Array:
    """Return rows in single precision; numbers too large for it become infinite."""
    with np.errstate(over="ignore"):
        return rows.astype(np.float32, copy=False)
