"""Logistic regression without a penalty: how far the objective is from the best possible.

Any masses ``a_ik >= 0`` of the wrong classes k of row i, no more than c_i together, give
``P >= sum c_i H(a_i / c_i) - sum a_ik m_ik``, H the entropy of a row's probabilities and m_ik by
how much its own class leads class k. If masses cancel in every column the last sum is zero, and the
first is a bound for all coefficients. They cancel to rounding only: up to a small vector e. But
where masses may be shifted by ``t mu_ik``, either way, against the sign of each lead, the last sum
gains ``t sum mu |m|``, and that outweighs ``e.v`` for coefficients v of any length once

    t >= |e| max |l_ik|,   lengths by the inverse of  N = sum mu_ik l_ik l_ik',   m_ik = l_ik.v

The bound is then the least that the entropies come to within such shifts. Without that N, or with
columns of which rounding hides whether they depend on others, there is no bound but 0.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import entr

from .binary_logistic import BinaryLogistic, Bracket
from .closed_form import row_blocks
from .orthogonal_factors import can_be_factored, factors
from .rounded_matrix import UNIT, Floats, RoundedMatrix, total
from .softmax import MOST_UNKNOWNS, SoftmaxLogistic, log_sums, probabilities

MOST_STEPS = 25
HALVINGS = 10
WELL_CONDITIONED = 1e11


class Basis(NamedTuple):
    """Rows (n, k) whose columns span those of a table, and what rounding may have done to each."""

    rows: Floats
    off: Floats

    @classmethod
    def of(cls, table: RoundedMatrix) -> "Basis | None":
        """Nearly orthogonal columns, and one of ones; None if it is not known what they span."""
        if not can_be_factored(table) or table.n < table.d:
            return None
        parts = factors(table, np.zeros(table.n), 0.0, np.zeros(table.d))
        if parts.unresolved(table):
            return None
        kept = parts.kept
        T = parts.axes[:, kept] / parts.sizes[kept] / parts.scale[:, np.newaxis]
        level = 2 * np.abs(table.level) if sp.issparse(table.X) else 0.0
        k = T.shape[1]
        rows = np.ones((table.n, k + table.centred))
        off = np.zeros_like(rows)
        for some, part in table.blocks():
            block = table.dense(part)
            np.matmul(block, T, out=rows[some, :k])
            np.matmul(np.abs(block) + level, np.abs(T), out=off[some, :k])
        off *= UNIT * (table.d + 6)
        return cls(rows, off)


class Losses(NamedTuple):
    """Classes (n,) of K, the weight c of each row's loss, and what scores are made of."""

    codes: NDArray[np.intp]
    c: Floats
    K: int
    basis: Basis

    def value(self, z: Floats) -> float:
        """``sum c (logsumexp(z) - z_y)`` at scores z (n, K)."""
        return float(np.sum(self.c * (log_sums(z) - z[np.arange(len(z)), self.codes])))

    def force(self, q: Floats) -> Floats:
        """``c (q - e_y)`` (n, K - 1) for probabilities q; the last class follows."""
        force = q * self.c[:, np.newaxis]
        force[np.arange(len(q)), self.codes] -= self.c
        return force[:, :-1]

    def inverse_curvature(self, p: Floats) -> Floats:
        """Of the losses in coefficients of the basis, at probabilities p."""
        p = p[:, :-1]
        weight = -p[:, :, np.newaxis] * p[:, np.newaxis]
        weight += p[:, :, np.newaxis] * np.eye(self.K - 1)
        H = self.products(weight * self.c[:, np.newaxis, np.newaxis])
        scale = np.sqrt(np.maximum(np.diag(H), 1e-300))
        inverse = np.linalg.pinv(H / np.outer(scale, scale), rcond=1e-14, hermitian=True)
        return np.asarray(inverse / np.outer(scale, scale))

    def products(self, weight: Floats) -> Floats:
        """``sum_i weight_i (x) b_i b_i'`` for weights (n, K - 1, K - 1)."""
        B, m = self.basis.rows, self.K - 1
        H = np.zeros((m, B.shape[1], m, B.shape[1]))
        for k in range(m):
            for j in range(k, m):
                for some in row_blocks(*B.shape):
                    H[k, :, j] += B[some].T @ (B[some] * weight[some, k, j, np.newaxis])
                H[j, :, k] = H[k, :, j].T
        return H.reshape(m * B.shape[1], -1)

    def moved(self, force: Floats, inverse: Floats) -> tuple[Floats, Floats]:
        """The change of scores (n, K) of the Newton step against a force; its coefficients."""
        V = -(inverse @ (force.T @ self.basis.rows).ravel()).reshape(self.K - 1, -1)
        along = np.zeros((len(force), self.K))
        along[:, :-1] = self.basis.rows @ V.T
        return along, V

    def bound(self, p: Floats, inverse: Floats) -> float:
        """What no coefficients go below, by masses near probabilities p; -inf if they give none."""
        q = np.array(p)
        for _ in range(3):  # again, for the rounding of the first
            along, _ = self.moved(self.force(q), inverse)
            q += p * (along - (p * along).sum(axis=1, keepdims=True))
        if not (q >= 0).all():
            return -np.inf
        own = np.arange(len(q)), self.codes
        masses = q / q.sum(axis=1, keepdims=True) * self.c[:, np.newaxis]
        masses[own] = 0.0
        left = np.maximum(self.c - masses.sum(axis=1), 0.0)
        mu = np.minimum(masses, left[:, np.newaxis] / (self.K - 1))
        t = self._shift(masses, mu)
        if not t < 0.5:
            return -np.inf
        each = self._least_entropies(masses, t * mu, self.c[:, np.newaxis])
        rest = self._least_entropies(left, t * mu.sum(axis=1), self.c)
        value, more = total(np.append(each.ravel(), rest))
        return value - 4 * more - 64 * UNIT * self.K * float(np.sum(self.c))

    @staticmethod
    def _least_entropies(a: Floats, shift: Floats, c: Floats) -> Floats:
        """The least of ``-a log(a / c)`` within shifts of a: at an end, as it is concave."""
        ends = (np.clip((a + sign * shift) / c, 0.0, 1.0) for sign in (-1, 1))
        return np.asarray(c * np.minimum(*map(entr, ends)))

    def _shift(self, masses: Floats, mu: Floats) -> float:
        """t, at least, for masses and the room mu around them (n, K), zero at the own class."""
        B, off = self.basis
        n, k = B.shape
        lengths, wide = np.linalg.norm(B, axis=1), np.linalg.norm(off, axis=1)
        room = mu.sum(axis=1)
        N = self.products(self._between(mu))
        blur = 4 * float(room @ (2 * lengths * wide + wide**2))
        blur += 8 * UNIT * (n + len(N)) * float(room @ lengths**2)
        values = scipy.linalg.eigvalsh(N) - blur
        if not values[0] > 0 or values[-1] > WELL_CONDITIONED * values[0]:
            return np.inf
        inverse = np.linalg.inv(N - blur * np.eye(len(N)))
        force = masses.copy()
        force[np.arange(n), self.codes] = -masses.sum(axis=1)
        force = force[:, :-1]
        e, size = force.T @ B, np.abs(force).T
        rounding = UNIT * (n + self.K + 8) * (size @ np.abs(B)) + size @ off
        shortest = np.sqrt(values[0])
        rest = np.sqrt(max(float(e.ravel() @ inverse @ e.ravel()), 0.0))
        rest += float(np.linalg.norm(rounding)) / shortest
        longest = 0.0
        for j in range(self.K - 1):
            block = inverse[j * k : (j + 1) * k, j * k : (j + 1) * k]
            square = np.maximum(np.einsum("ik,ik->i", B @ block, B), 0.0)
            longest = max(longest, float((np.sqrt(square) + wide / shortest).max()))
        return float(1.01 * rest * longest * (1 if self.K == 2 else 2))

    def _between(self, mu: Floats) -> Floats:
        """``sum_k mu_ik (e_y - e_k)(e_y - e_k)'`` of each row (n, K - 1, K - 1)."""
        n, everyone = len(mu), np.arange(len(mu))
        weight = np.zeros((n, self.K, self.K))
        weight[:, np.arange(self.K), np.arange(self.K)] = mu
        weight[everyone, self.codes] = -mu
        weight[everyone, :, self.codes] = -mu
        weight[everyone, self.codes, self.codes] = mu.sum(axis=1)
        return weight[:, :-1, :-1]


def bracket(problem: BinaryLogistic, w: Floats, b: float, tol: float) -> Bracket:
    """How far coefficients w and intercept b, of columns as centred, are from the best."""
    z, rounding = problem.scores(w)
    primal = problem.value(w, z + b, rounding + 4 * UNIT * abs(b))
    z = z + problem.best_bias(z)
    codes = (problem.y > 0).astype(np.intp)
    return _bracket(problem.table, codes, problem.c, np.column_stack([0 * z, z]), primal, tol)


def softmax_bracket(problem: SoftmaxLogistic, W: Floats, b: Floats, tol: float) -> Bracket:
    """How far coefficients W and intercepts b, of columns as centred, are from the best."""
    z, rounding = problem.scores(W)
    z = z + b
    primal = problem.value(W, z, rounding + 4 * UNIT * np.abs(b))
    return _bracket(problem.table, problem.codes, problem.c, z, primal, tol)


def _bracket(
    table: RoundedMatrix, codes: NDArray[np.intp], c: Floats, z: Floats, primal: float, tol: float
) -> Bracket:
    """Newton steps from scores z (n, K): the lowest value and the highest bound on the way."""
    K = z.shape[1]
    basis = Basis.of(table) if (table.d + 1) * (K - 1) <= MOST_UNKNOWNS else None
    if basis is None or not np.isfinite(z).all():
        return Bracket(0.0, primal)  # losses are not negative
    losses = Losses(codes, c, K, basis)
    lowest, highest, value = primal, 0.0, losses.value(z)
    scale, way = float(np.sum(c)) * np.log(K), np.zeros((K - 1, basis.rows.shape[1]))
    for _ in range(MOST_STEPS):
        p = probabilities(z)
        inverse = losses.inverse_curvature(p)
        highest = max(highest, losses.bound(p, inverse))
        if primal - highest <= max(2 * (primal - lowest), 0.1 * tol * scale):
            break
        along, V = losses.moved(losses.force(p), inverse)
        for halving in range(HALVINGS):
            t = 0.5**halving
            reached = losses.value(z + t * along)
            if reached < value:
                break
        else:
            break
        z, value, way = z + t * along, reached, way + t * np.abs(V)
        off = (basis.off + UNIT * (table.d + 8) * np.abs(basis.rows)) @ way.sum(axis=0)
        off += 64 * UNIT * (1 + np.abs(z).max(axis=1))
        lowest = min(lowest, value + float(c @ off))
    return Bracket(max(primal - lowest, 0.0), max(primal - highest, 0.0))


def least_value(problem: BinaryLogistic, w: Floats, b: float, tol: float) -> float:
    """What the objective of no coefficients is below."""
    # Any intercept will do: it is where the bracket is looked for, and what it is taken from.
    centre = float(problem.table.centre(w, b)[0])
    z, rounding = problem.scores(w)
    # The bracket's upper end is a distance from a value that is not below the true one.
    value = problem.value(w, z + centre, rounding + 4 * UNIT * abs(centre))
    return max(0.0, value - bracket(problem, w, centre, tol).most)
