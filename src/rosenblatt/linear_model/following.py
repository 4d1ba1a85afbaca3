"""Fits of one target at many penalties, each begun where the last ended."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .squares import Descent, Squares, penalty_of

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Path:
    """One target's fits at penalties (A,): weights (A, d), and how well they were found."""

    alphas: Array
    coefs: Array
    gaps: Array
    objectives: Array
    gradient_norms: Array
    n_iters: list[int]
    wanted: float  # the gap that will do

    @property
    def short(self) -> int:
        """How many fits did not reach the gap wanted."""
        return int(np.count_nonzero(self.gaps > self.wanted))

    def shortfall(self) -> str:
        """A sentence on the fits that stopped short, if some did."""
        if not self.short:
            return ""
        worst = int(self.gaps.argmax())
        return (
            f"{self.short} of {len(self.alphas)} fits stopped short of a duality gap of "
            f"{self.wanted:.3g}; the worst, alpha={self.alphas[worst]:.3g}, at "
            f"{self.gaps[worst]:.3g} after {self.n_iters[worst]} iterations. Raise max_iter or "
            "tol, or leave out the smallest alphas."
        )


def follow(
    descent: Descent,
    alphas: Array,
    l1_ratio: float,
    *,
    positive: bool = False,
    tol: float = 1e-4,
    max_iter: int | None = 1000,
    rng: Any = None,
    start: Array | None = None,
    finish: bool = False,
) -> Path:
    """Solve at each of alphas (A,) in turn, largest first for speed; all the way if `finish`."""
    w = np.zeros(descent.n_weights) if start is None else start
    coefs, found, n_iters = np.empty((len(alphas), len(w))), [], []
    wanted = tol * descent.yy
    for k, alpha in enumerate(alphas):
        n_iter = 0
        penalty = penalty_of(alpha, l1_ratio, positive)
        for step in descent.steps(penalty, w, wanted, rng):
            n_iter += 1
            if step.gap <= wanted or n_iter == max_iter:
                break
        if finish:
            step = descent.finish(penalty, w, step)
        coefs[k] = w
        found.append((step.gap, step.objective, step.gradient_norm))
        n_iters.append(n_iter)
    gaps, objectives, norms = np.array(found).reshape(len(alphas), 3).T
    return Path(np.asarray(alphas), coefs, gaps, objectives, norms, n_iters, wanted)


def alpha_grid(squares: Squares, l1_ratio: float, positive: bool, eps: float, count: int) -> Array:
    """`count` penalties from the least at which all weights are zero down to `eps` times it."""
    if l1_ratio == 0:
        raise ValueError(
            "With l1_ratio=0 no penalty makes all weights zero, so that a grid has no beginning; "
            "give alphas as a list."
        )
    # A largest penalty of zero, which is that of constant targets, has no logarithm.
    largest = max(squares.largest_alpha(l1_ratio, positive), float(np.finfo(np.float64).resolution))
    return np.geomspace(largest, largest * eps, count)


def given_alphas(alphas: Any) -> Array:
    """The penalties of a user, falling; refuses what is none."""
    for k, alpha in enumerate(alphas):
        if not isinstance(alpha, Real):
            raise TypeError(f"alphas[{k}] must be a number; got {type(alpha).__name__}.")
        if not 0 <= float(alpha) < np.inf:
            raise ValueError(f"alphas[{k}] must be finite and >= 0; got {alpha}.")
    if not len(alphas):
        raise ValueError("alphas must be at least one penalty; got an empty list.")
    return np.sort(np.asarray(alphas, np.float64))[::-1]
