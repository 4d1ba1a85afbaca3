"""Separation as one question about rows: is there a v with ``a.v > 0`` for every row a?

Two classes have the rows ``sign (x, c)``. K classes with one score each have
``(e_y - e_k) (x) (x, c)`` for every class k other than the row's own (Kesler).
"""

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .exact import TINY, exact_scores
from .inputs import UNIT, Floats, Table


class HomogeneousRows:
    """Rows ``sign (x, c)``, or ``(e_y - e_k) (x) (x, c)`` for k = 0..K-1, numbered ``i K + k``.

    Without a constant c = 0 there is no last coordinate. The row of a class against itself is not
    one: its margin is infinite and its group -1.
    """

    def __init__(self, X: Table, code: NDArray[Any], constant: float, n_classes: int = 0):
        self.X, self.code, self.constant, self.n_classes = X, code, constant, n_classes
        self.n, self.d = X.shape
        self.m = self.d + bool(constant)  # numbers per class
        self.n_scores = n_classes or 1
        self.shape = (self.n * self.n_scores, self.m * self.n_scores)
        self.sign = 2.0 * code - 1.0
        self.own = np.arange(n_classes) == code[:, None]

    @property
    def n_needed(self) -> int:
        """Return how many coordinates imply all others: those of the last class follow."""
        return int(self.shape[1] - (self.m if self.n_classes else 0))

    @property
    def group(self) -> NDArray[np.intp]:
        """Return 0 for each row and -1 for a class against itself."""
        return np.where(self.own.ravel(), -1, 0) if self.n_classes else np.zeros(self.n, np.intp)

    def split(self, v: Floats) -> tuple[Floats, Floats]:
        """Return v as coefficients (d, K) and biases (K,)."""
        V = v.reshape(self.n_scores, self.m)
        return V[:, : self.d].T, V[:, self.d :].sum(axis=1) * self.constant

    def margins(self, v: Floats) -> Floats:
        """Return ``a.v`` of every row."""
        W, b = self.split(v)
        scores = np.asarray(self.X @ W) + b
        if not self.n_classes:
            return np.asarray(self.sign * scores[:, 0])
        return np.where(self.own, np.inf, scores[self.own][:, None] - scores).ravel()

    def rounding(self, v: Floats) -> Floats:
        """Bound the rounding error of `margins`."""
        W, b = self.split(np.abs(v))
        sizes = np.asarray(abs(self.X) @ W) + abs(b)
        sizes = sizes + sizes[self.own][:, None] if self.n_classes else sizes
        return np.asarray(1.01 * (self.d + 4) * UNIT * sizes + TINY).ravel()

    def exact_margins(self, index: NDArray[np.intp], u: Floats, b: Fraction) -> list[Fraction]:
        """Return ``a.u`` of some rows without rounding; b is the bias if u has none."""
        if self.n_classes:
            return exact_scores(self.take(index), u)
        if len(u) > self.d:
            b = Fraction(u[-1]) * Fraction(self.constant)
        scores = exact_scores(self.X[index], u[: self.d])
        return [int(self.sign[i]) * (score + b) for i, score in zip(index, scores, strict=True)]

    def combine(self, p: Floats, sizes: bool = False) -> Floats:
        """Return ``sum p_i a_i``, or ``sum p_i |a_i|``."""
        X = self.X
        if self.n_classes:
            C = np.where(self.own, 0.0, p.reshape(self.n, self.n_classes))
            flow = self.own * C.sum(axis=1, keepdims=True) - C
        else:
            flow = (self.sign * p)[:, None]
        if sizes:
            flow, X = np.abs(flow), abs(X)
        total = np.asarray(X.T @ flow).T
        if self.constant:
            last = abs(self.constant) if sizes else self.constant
            total = np.column_stack([total, last * flow.sum(axis=0)])
        return np.asarray(total).ravel()

    def take(self, index: NDArray[np.intp]) -> Floats:
        """Return rows by number, dense."""
        i, k = np.divmod(index, self.n_scores)
        x = self.X[i].toarray() if sp.issparse(self.X) else self.X[i]
        if self.constant:
            x = np.column_stack([x, np.full(len(i), self.constant)])
        if not self.n_classes:
            return np.asarray(self.sign[i, None] * x)
        A, at = np.zeros((len(i), self.n_classes, self.m)), np.arange(len(i))
        A[at, self.code[i]] = x
        A[at, k] -= x
        return A.reshape(len(i), self.shape[1])


def standardize(X: Table, shift: bool) -> tuple[Table, Floats, Floats]:
    """Return Z, centre (d,) and unit (d,) with ``x = centre + unit z``; no z is much above one."""
    # Units are powers of two. A column is shifted only when its values lie within a factor of two
    # of each other, where floating-point subtraction is exact (Sterbenz). X is left as it is if a
    # column spans so many decimal places that scaling would lose its smallest values.
    centre, Z = np.zeros(X.shape[1]), X
    if shift and not sp.issparse(X):
        low, high = X.min(axis=0), X.max(axis=0)
        far = ((low > 0) & (high <= 2 * low)) | ((high < 0) & (low >= 2 * high))
        centre[far] = (low + (high - low) / 2)[far]
        Z = X - centre
    largest = abs(Z).max(axis=0)
    exponent = np.frexp(largest.toarray().ravel() if sp.issparse(X) else largest)[1]
    if sp.issparse(X):
        Z = Z.copy()
        before, Z.data = Z.data, np.ldexp(Z.data, -exponent[Z.indices])
        after = Z.data
    else:
        before, Z = Z, np.ldexp(Z, -exponent)
        after = Z
    if np.all((before == 0.0) | (abs(after) > 1e-290)):
        return Z, centre, np.ldexp(1.0, exponent)
    return X, np.zeros(X.shape[1]), np.ones(X.shape[1])
