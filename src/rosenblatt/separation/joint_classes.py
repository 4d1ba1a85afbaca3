"""One linear score a class: is there one that puts every row in its own class?"""

from fractions import Fraction
from math import hypot

import numpy as np
from numpy.typing import NDArray

from .homogeneous_rows import Kesler, Standard
from .inputs import UNIT, Floats, Table
from .max_margin import widest_direction
from .plane_proofs import exact_scores, integers, score_error, smallest
from .problem import (
    WIDEN_DIRECTLY,
    Hull,
    Question,
    SeparatingPlane,
    average_length,
    dense_table,
    length_of,
    sum_of,
    unit_vector,
    wider,
)


class JointClasses(Question):
    """K classes, one score ``w_k.x + b_k`` each, the own one to be the largest; |(W, b)| = 1."""

    def __init__(self, X: Table, code: NDArray[np.intp], K: int, intercept: bool):
        self.X, self.code, self.K, self.intercept = X, code, K, intercept
        self.table = Standard(X, intercept)
        self.kesler = Kesler(self.table, code, K)
        self.rows = self.kesler
        self.own = self.kesler.own

    def plane(self, v: Floats) -> SeparatingPlane | None:
        W, b = self.table.plane(self.kesler.weights(v))
        return self.prove(np.vstack([W, b]) if self.intercept else W)

    def hull(self) -> Hull:
        x = dense_table(self.X)
        x = np.column_stack([x, np.ones(len(x))]) if self.intercept else x
        own = self.own.astype(int)
        side = own[:, None, :] - np.eye(self.K, dtype=int)  # e_y - e_k: (n, k, K)
        rows = integers(x)[0][:, None, :, None] * side.astype(object)[:, :, None, :]
        return Hull(rows.reshape(len(x) * self.K, -1), np.where(self.own.ravel(), -1, 0))

    def along(self, v: Floats) -> SeparatingPlane | None:
        return self.prove(v.reshape(-1, self.K))

    def prove(self, V: Floats) -> SeparatingPlane | None:
        """Prove weights V, one column a class, the intercepts in the last row."""
        V = V - V.mean(axis=1, keepdims=True)
        V = unit_vector(V)
        d = self.X.shape[1]
        W, b = V[:d], V[d] if self.intercept else np.zeros(self.K)

        def exact(index: NDArray[np.intp]) -> list[Fraction]:
            return [self._exact_margin(W, b, *divmod(int(at), self.K)) for at in index]

        scores, errors = self.X @ W + b, score_error(self.X, W, b)
        margins = np.where(self.own, np.inf, scores[self.own][:, None] - scores)
        errors = 1.01 * (errors + errors[self.own][:, None] + UNIT * abs(scores))
        least = smallest(margins.ravel(), errors.ravel(), exact, 2 * d)
        return (
            None if least is None else SeparatingPlane(W.T, b, float(least) / length_of(V.ravel()))
        )

    def _exact_margin(self, W: Floats, b: Floats, i: int, k: int) -> Fraction:
        y, x = int(self.code[i]), self.X[[i]]
        if y == k:  # no row: larger than any score
            return Fraction(10) ** 400
        own, other = exact_scores(x, W[:, y])[0], exact_scores(x, W[:, k])[0]
        return own - other + Fraction(b[y]) - Fraction(b[k])

    def widen(self, plane: SeparatingPlane) -> tuple[SeparatingPlane, bool]:
        K, m = self.K, self.table.m
        if K * m > WIDEN_DIRECTLY:
            return plane, False
        d, unit, centre = self.table.d, self.table.unit, self.table.centre

        def take(index: NDArray[np.intp]) -> Floats:
            i, k = np.divmod(index, K)
            z = self.table.take(i)
            z[:, :d] = z[:, :d] * unit + centre
            A = np.zeros((len(index), m, K))
            at = np.arange(len(index))
            A[at, :, self.code[i]] = z
            A[at, :, k] -= z
            return A.reshape(len(index), m * K)

        def margins(flat: Floats) -> Floats:
            V = flat.reshape(m, K)
            scores = self.X @ V[:d] + (V[d] if self.intercept else 0.0)
            return np.asarray(scores[self.own][:, None] - scores).ravel()

        start = np.vstack([plane.coef.T, plane.intercept]) if self.intercept else plane.coef.T
        group = np.where(self.own.ravel(), -1, 0)
        flat, bound = widest_direction(take, margins, group, start.ravel())
        return wider(plane, self.prove(flat.reshape(m, K)), bound)

    def gap(self, p: Floats) -> float:
        C = np.where(self.own, 0.0, p.reshape(-1, self.K))
        C = self.own * C.sum(axis=1, keepdims=True) - C
        parts = [average_length(self.X, C[:, k]) for k in range(self.K)]
        return hypot(*parts, *(sum_of(flow) for flow in C.T if self.intercept))
