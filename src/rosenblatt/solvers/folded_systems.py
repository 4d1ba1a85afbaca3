"""``(K + s I) c = t`` for many shifts s, without each of some groups of rows in turn, all at once.

Lanczos's process starts from t and gives an orthonormal basis V with ``V'KV = T`` tridiagonal. The
same basis serves every shift: ``c = V (T + s I)^-1 V't``, and the residual is known from T alone. A
step is one product of K with a vector. Vectors of all systems, each without its group, share the
reading of K, which is what a step takes; the lower half of K is enough.
"""

from contextlib import suppress
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from rosenblatt.runtime.threads import over_chunks

from . import folded_systems_loops
from .shifted_systems import is_solved, solve_shifted

Floats = NDArray[np.float64]

NEAR = 5e-12  # the residual at which to stop, as a share of t
MOST_STEPS = 1000
STEPS_BETWEEN = 20  # looks at the residual
CHUNKS = 4  # of rows of K, with equally many values in their lower half


class FoldedSystems:
    """Solutions for all shifts: of the rows without group g for each g, and last of all rows.

    Rows of K (n, n) and t (n, k) are in groups from bounds[g] to bounds[g + 1].
    """

    def __init__(self, K: Floats, t: Floats, bounds: NDArray[np.intp]) -> None:
        self.K, self.t, self.bounds = K, t, bounds
        n_groups, n_targets = len(bounds) - 1, t.shape[1]
        # One vector for each system and target; no group is left out of the last system.
        self.left_out = np.repeat([*range(n_groups), n_groups], n_targets)
        self.targets = np.tile(np.ascontiguousarray(t.T), (n_groups + 1, 1))
        for k, g in enumerate(self.left_out[: n_groups * n_targets]):
            self.targets[k, bounds[g] : bounds[g + 1]] = 0.0

    def rows(self, g: int) -> NDArray[np.intp]:
        """The rows of a system: all but those of group g, or all if there is no such group."""
        n = len(self.K)
        if g == len(self.bounds) - 1:
            return np.arange(n)
        return np.delete(np.arange(n), slice(self.bounds[g], self.bounds[g + 1]))

    def solve(self, shifts: list[float]) -> list[list[Floats]]:
        """c (m, k) for each system and shift; raises LinAlgError for a system without solution."""
        c = self._by_lanczos(shifts)  # (vectors, shifts, n)
        size = float(np.abs(self.t).max(initial=0.0))
        found = []
        products = (self.K @ c.reshape(-1, len(self.K)).T).T.reshape(c.shape)
        for g in range(len(self.bounds)):
            own, rows = self.left_out == g, self.rows(g)
            solutions: list[Any] = []
            for s, shift in enumerate(shifts):
                mine = c[own, s][:, rows].T
                left = self.t[rows] - products[own, s][:, rows].T - shift * mine
                solutions.append(mine if is_solved(left, size) else None)
            short = [s for s, mine in enumerate(solutions) if mine is None]
            if short:
                K = self.K[np.ix_(rows, rows)]
                again = solve_shifted(K, self.t[rows], [shifts[s] for s in short])
                for s, mine in zip(short, again, strict=True):
                    solutions[s] = mine
            found.append(solutions)
        return found

    def _by_lanczos(self, shifts: list[float]) -> Floats:
        """All solutions, padded by zeros; some may be far off."""
        n, length = len(self.K), np.linalg.norm(self.targets, axis=1)
        n_vectors, most = len(length), min(MOST_STEPS, len(self.K))
        basis = np.empty((most, n_vectors, n))
        diagonal, beside = np.zeros((most, n_vectors)), np.zeros((most, n_vectors))
        v, last = _scaled(self.targets, length), np.zeros((n_vectors, n))
        step, norm = 0, np.zeros(n_vectors)
        while step < most:
            basis[step] = v
            w = self._products(v)
            w -= norm[:, np.newaxis] * last
            diagonal[step] = np.einsum("kn,kn->k", w, v)
            w -= diagonal[step][:, np.newaxis] * v
            norm = np.linalg.norm(w, axis=1)
            beside[step] = norm
            last, v = v, _scaled(w, norm)
            step += 1
            if step % STEPS_BETWEEN == 0 and self._is_near(min(shifts), diagonal, beside, step):
                break
        return np.stack(
            [
                length[k] * _coordinates(diagonal[:step, k], beside[:step, k], shifts)
                @ basis[:step, k]
                for k in range(n_vectors)
            ]
        )  # fmt: skip

    def _is_near(self, shift: float, diagonal: Floats, beside: Floats, step: int) -> bool:
        """Whether the residuals at the smallest shift, which are the largest, are small."""
        return all(
            beside[step - 1, k] * abs(z[0, -1]) <= NEAR
            for k in range(diagonal.shape[1])
            for z in [_coordinates(diagonal[:step, k], beside[:step, k], [shift])]
        )

    def _products(self, V: Floats) -> Floats:
        """``V K`` (c, n), each vector without its group."""
        n = len(self.K)
        stops = (n * np.sqrt(np.arange(CHUNKS + 1) / CHUNKS)).astype(np.intp) // 4 * 4
        stops[-1] = n

        def work(start: int, stop: int) -> Floats:
            sums = np.zeros(V.shape)
            for i in range(start, stop):
                folded_systems_loops.add_symmetric(
                    self.K, self.bounds, self.left_out, V, stops[i], stops[i + 1], sums
                )
            return sums

        first, *others = over_chunks(work, CHUNKS, n * n)
        for part in others:
            first += part
        return first


def _scaled(vectors: Floats, lengths: Floats) -> Floats:
    """Vectors of length one; zero where there is no more than rounding."""
    whole = lengths > np.finfo(np.float64).tiny
    return np.where(whole, 1 / np.where(whole, lengths, 1.0), 0.0)[:, np.newaxis] * vectors


def _coordinates(diagonal: Floats, beside: Floats, shifts: list[float]) -> Floats:
    """``(T + s I)^-1 e_1`` (shifts, m); zero, no solution, where T + s I is not positive."""
    first = np.zeros(len(diagonal))
    first[0] = 1.0
    found = np.zeros((len(shifts), len(first)))
    for s, shift in enumerate(shifts):
        band = np.vstack([diagonal + shift, beside])
        with suppress(scipy.linalg.LinAlgError):
            found[s] = scipy.linalg.solveh_banded(band, first, lower=True, check_finite=False)
    return found
