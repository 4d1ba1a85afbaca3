"""Logistic regression with more classes than two, as a problem for the solvers."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import entr

from rosenblatt.runtime import threads
from rosenblatt.runtime.blas import one_blas_thread
from rosenblatt.runtime.storage import arrays, read_only

from . import softmax_loops
from .logistic_problem import Array, LogisticProblem, Place, added, squared_columns

CELLS_PER_BLOCK = 131_072  # read and made at a time; with fewer, threads wait for each other
MOST_COPIED_BYTES = 2**26  # to single precision at once; of more, a block at a time


class SoftmaxProblem(LogisticProblem):
    """K classes: ``loss = log sum_k exp(z_k) - z_true`` of the scores ``z_k = w_k.x + b_k``.

    In the symmetric form every class has weights; in the form with a reference the last has none
    and scores 0. P (n, K) are the probabilities of the classes that have weights. In the rough form
    of a problem scores, exponentials and gradients of blocks of rows are in single precision, and
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
        rough: bool = False,
        keep: bool = True,  # the probabilities of the last point
    ) -> None:
        super().__init__(X, read_only(c), l1, l2, fit_intercept)
        self.code, self.n_classes, self.reference = read_only(code), n_classes, reference
        self.K = n_classes - reference
        self.shape = (self.d + 1, self.K)
        self.is_rough, self.real = rough, np.float32 if rough else np.float64
        self.P = np.empty((self.n if keep else 0, self.K), self.real)
        self._twin: SoftmaxProblem | None = None  # in single precision

    def zero(self) -> float:
        total = float(self.c.sum())
        if not self.fit_intercept:
            return total * float(np.log(self.n_classes))
        shares = np.bincount(self.code, self.c, self.n_classes) / total
        return total * float(entr(shares).sum())

    def _loss(self, point: Array) -> tuple[float, Array]:
        if sp.issparse(self.X):
            return self._sparse_loss(point)
        # Rows of zeros up to a multiple of four: BLAS is slower with an odd number of them.
        padded = -(-self.K // 4) * 4
        W, b = np.zeros((padded, self.d), self.real), point[-1].astype(self.real)
        W[: self.K] = point[:-1].T
        with np.errstate(over="ignore"):
            c = self.c.astype(self.real, copy=False)

        @np.errstate(over="ignore", invalid="ignore")
        def work(start: int, stop: int) -> tuple[float, Array]:
            gradient, loss = np.zeros((padded, self.d + 1)), 0.0
            for first, last in self._blocks_within(start, stop):
                rows = self._some_rows(first, last)
                Z = W @ rows.T
                scratch = np.empty((2, last - first), self.real)
                loss += softmax_loops.loss_block(
                    Z[: self.K], b, self.code[first:last], c[first:last], self.reference, scratch,
                    self.P[first:last],
                )  # fmt: skip
                gradient[:, :-1] += Z @ rows
                gradient[:, -1] += Z @ np.ones(last - first, self.real)  # sooner than Z.sum
            return loss, gradient[: self.K].T

        with one_blas_thread():
            parts = self.over_rows(work)
        return self._total(parts)

    def _sparse_loss(self, point: Array) -> tuple[float, Array]:
        rows = arrays(self.X)
        W = np.ascontiguousarray(point)

        def work(start: int, stop: int) -> tuple[float, Array]:
            gradient = np.zeros(self.shape)
            loss = softmax_loops.loss_pass(
                rows, self.code, self.c, start, stop, W, self.reference, self.P, gradient
            )
            return loss, gradient

        return self._total(self.over_rows(work))

    def _total(self, parts: list[tuple[float, Array]]) -> tuple[float, Array]:
        """Loss and gradient of all rows; what is left of the sum over classes is rounding."""
        return sum(loss for loss, _ in parts), self.centred(added([g for _, g in parts]))

    def _curvature(self, P: Array, v: Array) -> Array:
        v = np.ascontiguousarray(v)

        def sparse_work(start: int, stop: int) -> Array:
            product = np.zeros(self.shape)
            softmax_loops.curvature_pass(
                arrays(self.X), self.c, P, start, stop, v, np.empty(self.K), product
            )
            return product

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
            return added(self.over_rows(sparse_work if sp.issparse(self.X) else work))

    def hessian(self, place: Place, chosen: NDArray[np.intp] | None = None) -> Array:
        # H = D - M'M with D block diagonal by class, D_k = sum c p_k z z', and M with a column
        # sqrt(c) p_k z_j for each weight j of class k; z = (x, 1).
        P = self.probabilities(place)
        chosen = np.arange((self.d + 1) * self.K) if chosen is None else chosen
        feature, kind = np.divmod(chosen, self.K)
        if np.all(feature == self.d):
            p = P if len(kind) == self.K else P[:, kind]
            H = np.diag(self.c @ p) - (p * self.c[:, None]).T @ p
            return self._penalised_hessian(H, feature == self.d)
        H = np.zeros((len(chosen), len(chosen)))
        with one_blas_thread():
            for start, stop in self.blocks(len(chosen)):
                self._add_hessian(H, P, start, stop, feature, kind)
        return self._penalised_hessian(H, feature == self.d)

    def _add_hessian(
        self, H: Array, P: Array, start: int, stop: int, feature: Any, kind: Any
    ) -> None:
        """Add the curvature of some rows."""
        p, root = P[start:stop], np.sqrt(self.c[start:stop, None])
        # Only the columns asked for: text has a hundred thousand, and a gap asks for the biases.
        columns, feature = np.unique(feature, return_inverse=True)
        Z = self._with_constant(start, stop, columns) * root
        M = Z[:, feature] * p[:, kind]
        H -= M.T @ M
        for k in range(self.K):
            own = np.flatnonzero(kind == k)
            part = Z[:, feature[own]] * np.sqrt(p[:, k : k + 1])
            H[np.ix_(own, own)] += part.T @ part

    def class_hessians(self, place: Place) -> Array:
        # D_k - M_k'M_k, of one class: the sum of c p_k (1 - p_k) z z'.
        P = self.probabilities(place)
        columns, bias = np.arange(self.d + 1), np.arange(self.d + 1) == self.d
        blocks = np.zeros((self.K, self.d + 1, self.d + 1))
        with one_blas_thread():
            for start, stop in self._blocks_within(0, self.n):
                Z, p = self._with_constant(start, stop, columns), P[start:stop]
                roots: Any = np.sqrt(self.c[start:stop, None] * p * (1 - p)).astype(self.real)

                def work(first: int, last: int, Z: Array = Z, roots: Array = roots) -> None:
                    for k in range(first, last):
                        part = Z * roots[:, k : k + 1]
                        blocks[k] += part.T @ part

                threads.over_chunks(work, self.K, self.K * Z.size)
        for block in blocks:
            self._penalised_hessian(block, bias)
        return blocks

    def _with_constant(self, start: int, stop: int, columns: NDArray[np.intp]) -> Array:
        """Some columns of some rows as a dense table; column d is a constant one."""
        weights = columns[columns < self.d]
        rows: Any = self.X[start:stop] if sp.issparse(self.X) else self._some_rows(start, stop)
        if len(weights) < self.d:
            rows = rows[:, weights]
        rows = rows.toarray() if sp.issparse(rows) else rows
        if len(weights) == len(columns):
            return np.asarray(rows)
        return np.hstack([rows, np.ones((stop - start, 1), self.real)])

    def _some_rows(self, start: int, stop: int) -> Array:
        """Dense rows, in single precision if that will do."""
        rows = self.X[start:stop]
        return _single(rows) if self.is_rough else np.asarray(rows)

    def diagonal(self, place: Place) -> Array:
        P = self.probabilities(place)
        h = self.c[:, None] * P * (1 - P)
        diagonal = np.empty(self.shape)
        diagonal[:-1] = squared_columns(self, h) + self.l2
        diagonal[-1] = h.sum(axis=0) if self.fit_intercept else 1.0
        return diagonal

    def sample(self, n_rows: int) -> "SoftmaxProblem":
        rows = np.flatnonzero(self.c)
        rows = rows[:: max(1, len(rows) // n_rows)]
        c = self.c[rows]
        c = c * (self.c.sum() / c.sum())
        X = _single(self.X[rows]) if self.is_rough else self.X[rows]
        return self._like(X, self.code[rows], c, rough=self.is_rough)

    def rough(self) -> "SoftmaxProblem":
        if sp.issparse(self.X) or self.is_rough:
            return self
        if self._twin is None:
            X = _single(self.X) if self.X.nbytes <= MOST_COPIED_BYTES else self.X
            self._twin = self._like(X, self.code, self.c, rough=True, keep=False)
        return self._twin

    def on(self, X: Array) -> "SoftmaxProblem":
        return self._like(X, self.code, self.c)

    def _like(self, X: Any, code: Any, c: Array, **how: bool) -> "SoftmaxProblem":
        """The same problem of other rows."""
        about = (self.l1, self.l2, self.fit_intercept, self.reference)
        return SoftmaxProblem(X, code, self.n_classes, c, *about, **how)

    def centred(self, v: Array) -> Array:
        return v if self.reference else v - v.mean(axis=1, keepdims=True)

    def by_class(self, table: Array) -> Array:
        if self.reference:
            return np.hstack([table, np.zeros((len(table), 1))])
        # A number added to all classes changes no probability; the sum of biases is kept at 0.
        free = slice(-1, None) if self.penalised else slice(None)
        table[free] -= table[free].mean(axis=1, keepdims=True)
        return table

    def _blocks_within(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Ranges of some rows whose numbers and probabilities stay in cache."""
        size = max(64, CELLS_PER_BLOCK // (self.d + self.K))
        return [(first, min(first + size, stop)) for first in range(start, stop, size)]

    def _residual(self, P: Array, code: NDArray[Any], c: Array) -> Array:
        """c (P - Y), Y the indicators of the classes."""
        R = P * c[:, None]
        own = np.flatnonzero(code < self.K) if self.reference else slice(None)
        R[np.arange(len(P))[own], code[own]] -= c[own]
        return R

    def _probabilities(self) -> Array:
        return self.P

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite is no probability
    def moved_probabilities(self, P: Array, move: Array, start: int, stop: int) -> Array:
        scores = np.broadcast_to(move[-1], P.shape)
        if np.any(move[:-1]):
            scores = scores + self.X[start:stop] @ move[:-1]
        mean = np.einsum("ik,ik->i", P, scores)[:, None]
        moved: Array = P * (1 - (scores - mean))
        if self.reference and np.any(moved.sum(axis=1) > 1 + softmax_loops.ROUNDING):
            moved[0, 0] = np.nan  # the last class would have less than nothing
        return moved

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite is no probability
    def dual_of_rows(
        self, P: Array, move: Array, start: int, stop: int
    ) -> tuple[Array, float] | None:
        pull, entropy = np.zeros(self.shape), 0.0
        with one_blas_thread():
            for first, last in self._blocks_within(start, stop):
                rows, scores = self.X[first:last], np.tile(move[-1], (last - first, 1))
                if np.any(move[:-1]):
                    scores += rows @ move[:-1]
                R = np.empty_like(scores)
                more, negative = softmax_loops.move_block(
                    P[first - start : last - start], scores, self.code[first:last],
                    self.c[first:last], self.reference, R,
                )  # fmt: skip
                if negative or not np.isfinite(more):
                    return None
                entropy += more
                pull[:-1] += rows.T @ R
                pull[-1] += R.sum(axis=0)
        return pull, entropy

    def pull(self, P: Array, start: int, stop: int) -> Array:
        R = -self._residual(P, self.code[start:stop], self.c[start:stop])
        with one_blas_thread():
            return np.vstack([self.X[start:stop].T @ R, R.sum(axis=0)])

    def entropy(self, P: Array, kept: float, start: int, stop: int) -> float:
        if self.reference:
            P = np.hstack([P, np.maximum(1 - P.sum(axis=1, keepdims=True), 0.0)])
        if kept != 1.0:
            P = P * kept
            P[np.arange(len(P)), self.code[start:stop]] += 1 - kept
        return float(self.c[start:stop] @ entr(P).sum(axis=1))


def _single(rows: Array) -> Array:
    """Rows in single precision; what is too large for it becomes infinite."""
    with np.errstate(over="ignore"):
        return rows.astype(np.float32, copy=False)
