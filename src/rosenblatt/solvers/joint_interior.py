"""An interior point method for all classes in one problem, if there are few columns and classes.

As `interior_point`, with a multiplier for each row and other class and one slack a row. A step
costs a weighted Gram matrix for each two classes, and some twenty steps are enough.
"""

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from .interior_point import CELLS_PER_BLOCK, FALLING, FINE, reach
from .joint_margin import JointProblem
from .margin_problem import ROUNDING, Array

TO_THE_EDGE = 0.995  # of the longest step that stays inside
MOST_STEPS_IN_VAIN = 50  # since the gap was least


class JointInterior:
    """Planes; a multiplier a and a lead u for each row and other class; a slack xi for each row.

    ``u = f_y - f_k + xi - 1 >= 0``, ``a >= 0``, and ``g = c - sum_k a >= 0``; the products a u and
    g xi are brought to zero.
    """

    start = None  # a fit with another penalty begins anew
    violation = np.inf

    def __init__(self, problem: JointProblem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        # Rows that cost nothing would have multipliers without room to move.
        self.kept = np.flatnonzero(problem.c > 0)
        self.X, self.codes = problem.X[self.kept], problem.codes[self.kept]
        self.c, K = problem.c[self.kept], problem.n_classes
        self.own = np.arange(len(self.c)), self.codes
        self.others = np.ones((len(self.c), K), np.bool_)
        self.others[self.own] = False
        self.W, self.b = np.zeros((K, problem.X.shape[1])), np.zeros(K)
        self.a = np.where(self.others, self.c[:, np.newaxis] / K, 0.0)
        self.u, self.xi = np.ones(self.a.shape), np.full(len(self.c), 2.0)
        self.small_gap = self.wanted = tol * problem.zero
        self.last = np.inf
        self.best, self.in_vain = self._point, 0

    @property
    def _point(self) -> tuple[Array, Array, Array, Array, Array]:
        return self.a, self.u, self.xi, self.W, self.b

    @property
    def planes(self) -> tuple[Array, Array]:
        """Weights (K, d) and intercepts (K,)."""
        return self.W, self.b

    @property
    def alpha(self) -> Array:
        """The multipliers of all rows (n, K), as `JointProblem` has them."""
        alpha = np.zeros((len(self.problem.c), self.problem.n_classes))
        alpha[self.kept] = self._signed(self.a)
        return alpha

    @property
    def support(self) -> NDArray[np.intp]:
        """The rows that the planes are made of: a multiplier is more than its lead."""
        positive = self.others & (self.a > self.u * self.c[:, np.newaxis])
        return self.kept[positive.any(axis=1)]

    def advance(self) -> bool:
        """Make a step; return whether the gap is small, or rounding keeps it, and falls no more."""
        try:
            with np.errstate(all="ignore"):
                self._step()
        except scipy.linalg.LinAlgError:
            return self._return_to_best()
        gap = self.gap()
        if gap < self.last:
            self.best, self.in_vain = self._point, 0
        elif self.in_vain == MOST_STEPS_IN_VAIN:
            return self._return_to_best()
        self.in_vain += 1
        done = gap <= min(FINE, self.tol / 100) * self.problem.zero or (
            gap >= FALLING * self.last <= self.small_gap
        )
        self.last = min(gap, self.last)
        return bool(done)

    def _return_to_best(self) -> bool:
        self.a, self.u, self.xi, self.W, self.b = self.best
        return True

    def _step(self) -> None:
        a, u, xi, g, o = self.a, self.u, self.xi, self.c - self.a.sum(axis=1), self.others
        q = np.where(o, a / u, 0.0)
        h = xi / (g + xi * q.sum(axis=1))
        factor = scipy.linalg.cho_factor(self._system(q, h), lower=True, check_finite=False)
        mean = (float(a[o] @ u[o]) + float(g @ xi)) / a.size
        da, du, dxi, *_ = self._direction(factor, q, h, 0 * a, 0 * xi)
        length = self._reach(da, du, dxi, g)
        left = float((a + length * da)[o] @ (u + length * du)[o])
        left += float((g - length * da.sum(axis=1)) @ (xi + length * dxi))
        centred = mean * (left / (a.size * mean)) ** 3
        first, second = centred - da * du, centred + da.sum(axis=1) * dxi
        da, du, dxi, dW, db = self._direction(factor, q, h, first, second)
        length = min(1.0, TO_THE_EDGE * self._reach(da, du, dxi, g))
        if np.isfinite(length) and np.isfinite(dW).all():
            self.a, self.u, self.xi = a + length * da, u + length * du, xi + length * dxi
            self.W, self.b = self.W + length * dW, self.b + length * db

    def _reach(self, da: Array, du: Array, dxi: Array, g: Array) -> float:
        """The longest step up to 1 that keeps everything positive."""
        o = self.others
        return min(
            reach(self.a[o], da[o]), reach(self.u[o], du[o]),
            reach(g, -da.sum(axis=1)), reach(self.xi, dxi),
        )  # fmt: skip

    def _direction(
        self, factor: Any, q: Array, h: Array, first: Array, second: Array
    ) -> tuple[Array, Array, Array, Array, Array]:
        """The changes of a, u, xi, W and b that bring a u to `first` and g xi to `second`."""
        a, u, xi, g, o = self.a, self.u, self.xi, self.c - self.a.sum(axis=1), self.others
        K, d = self.W.shape
        short = np.where(o, first / u - a, 0.0)
        rest = (second - g * xi + xi * short.sum(axis=1)) / (g + xi * q.sum(axis=1))
        fixed = short - q * rest[:, np.newaxis]  # what a changes by while the planes stay
        push = self._signed(a + fixed)
        right = np.zeros((K, d + 1))
        right[:, :d] = np.asarray(self.X.T @ push).T - self.W
        if self.problem.bias:
            right[:, d] = push.sum(axis=0) - self.b / self.problem.bias**2
        move = scipy.linalg.cho_solve(factor, right.ravel(), check_finite=False).reshape(K, d + 1)
        dW, db = move[:, :d], move[:, d]
        df = np.asarray(self.X @ dW.T) + db
        lead = df[self.own][:, np.newaxis] - df
        weighted = h * (q * lead).sum(axis=1)
        da = fixed - q * lead + q * weighted[:, np.newaxis]
        dxi = rest - weighted
        return da, np.where(o, lead + dxi[:, np.newaxis], 0.0), dxi, dW, db

    def _signed(self, masses: Array) -> Array:
        """What multipliers of other classes add to each class (n, K)."""
        signed = -masses
        signed[self.own] = masses.sum(axis=1)
        return signed

    def _system(self, q: Array, h: Array) -> Array:
        """The identity and the sum of (x, 1)(x, 1)' (x) M, M (K, K) the curvature of a row."""
        # M = E'(diag q - h q q')E, E the map from scores to leads of the own class.
        K, d = self.W.shape
        v, whole = self._signed(q), q.sum(axis=1)
        H = np.zeros((K, d + 1, K, d + 1))
        size = max(16, CELLS_PER_BLOCK // (d + 1))
        for begin in range(0, len(h), size):
            part = slice(begin, begin + size)
            rows = self.X[part]
            rows = rows.toarray() if sp.issparse(rows) else rows
            rows = np.column_stack([rows, np.ones(len(rows))]).astype(np.float64, copy=False)
            code = self.codes[part]
            for k in range(K):
                for j in range(k, K):
                    M = -h[part] * v[part, k] * v[part, j]
                    if j == k:
                        M += np.where(code == k, whole[part], q[part, k])
                    else:
                        M -= np.where(code == k, q[part, j], 0) + np.where(code == j, q[part, k], 0)
                    H[k, :, j] += rows.T @ (rows * M[:, np.newaxis])
        for k in range(K):
            for j in range(k):
                H[k, :, j] = H[j, :, k].T
        return self._penalised(H.reshape(K * (d + 1), -1), d)

    def _penalised(self, H: Array, d: int) -> Array:
        """With the curvature of the penalty."""
        bias, level = np.arange(len(H)) % (d + 1) == d, self.problem.bias
        if not level:
            H[bias] = H[:, bias] = 0.0
        # Free intercepts may all move alike: a little weight keeps the system regular.
        ridge = 1e-10 * float(H.diagonal()[bias].max()) + 1e-300
        own = 1.0 if not level else ridge if self.problem.free else 1 / level**2
        H[np.diag_indices(len(H))] += np.where(bias, own, 1.0)
        return H

    def objective(self) -> float:
        """The objective of the planes."""
        return self.problem.objective(self.W, self.b)

    def gap(self) -> float:
        """How far that is from the best possible, at most."""
        objective = self.objective()
        allowance = ROUNDING * (abs(objective) + 2 * float(self.a.sum()))
        return max(objective - max(self.problem.dual(self.alpha), 0.0), 0.0) + allowance
