"""What a penalised fit is made of: checked rows, the way down of each target, what is published."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.solvers import Iterate
from rosenblatt.solvers.gram_descent import Penalty
from rosenblatt.statistics import Gram

from .gram_problem import Descent, Squares, penalty_of

Array = NDArray[np.float64]

# Warnings of a gap begin with scikit-learn's words, by which users filter them.
NOT_CONVERGED = "Objective did not converge."


@dataclass(frozen=True, eq=False)
class Rows:
    """Checked input."""

    X: Any  # (n, d)
    targets: NDArray[Any]  # (n, t)
    weights: Array | None  # (n,)
    flat: bool  # whether the target was a vector


@dataclass(eq=False)
class Descending:
    """One target's way down, from w (d,)."""

    descent: Descent
    penalty: Penalty
    w: Array
    wanted: float  # the gap that will do
    steps: Iterator[Iterate]
    last: Iterate = field(default_factory=lambda: Iterate(np.zeros(0), np.inf))
    n_iter: int = 0
    idle: int = 0  # iterations since the objective or the gap fell
    start: Iterate | None = None  # known if there are callbacks

    @property
    def now(self) -> Iterate:
        """Where it is: at the start, or after the last iteration."""
        return self.last if self.n_iter or self.start is None else self.start

    def advance(self) -> None:
        """Make one iteration; and if that will do, go the last of the way at once."""
        step = next(self.steps)
        if step.gap <= self.wanted:
            step = self.descent.finish(self.penalty, self.w, step)
        progress = step.objective < self.last.objective or step.gap < self.last.gap
        self.last, self.n_iter = step, self.n_iter + 1
        self.idle = 0 if progress else self.idle + 1

    @property
    def done(self) -> bool:
        """Whether the gap is what was wanted."""
        return self.last.gap <= self.wanted


def check_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Rows:
    """Rows, targets and weights, checked; a weight that is one number says nothing."""
    checks.numbers(y)
    X, y = checks.validate_data(
        estimator, X, y, accept_sparse=("csr", "csc"), dtype=checks.FLOATS, multi_output=True,
        y_numeric=True,
    )  # fmt: skip
    y = y.toarray() if sp.issparse(y) else y
    weights = None  # one number for all rows changes nothing
    if not isinstance(sample_weight, Number):
        weights = checks.weights(sample_weight, X.shape[0])
    return Rows(X, y.reshape(len(y), -1), weights, y.ndim == 1)


def check_gram_given(given: Any, squares: Squares, rows: Rows, fit_intercept: bool) -> None:
    """Warn of a Gram matrix about the origin where means are taken off; refuse other rows'."""
    # It is computed anew in any case; the sums of squares on its diagonal tell whose it is.
    if sp.issparse(rows.X):
        return
    if fit_intercept and not np.allclose(squares.mean_x, 0.0):
        warn(
            "Gram matrix was provided but X was centered to fit intercept: recomputing Gram matrix."
        )
        return
    matrix, d = np.asarray(given), squares.n_features
    if matrix.shape != (d, d):
        raise ValueError(
            f"precompute must be the Gram matrix of X, ({d}, {d}); got {matrix.shape}."
        )
    own = rows.X.shape[0] * squares.variances()
    rtol = 1e-4 if np.float32 in (matrix.dtype, rows.X.dtype) else 1e-7
    wrong = np.flatnonzero(~np.isclose(np.diag(matrix), own, rtol=rtol, atol=1e-5))
    if len(wrong):
        j = int(wrong[0])
        raise ValueError(
            "Gram matrix passed in via 'precompute' parameter did not pass validation: element "
            f"({j}, {j}) is {matrix[j, j]:.6g}, and the sum of squares of column {j} of X is "
            f"{own[j]:.6g}. Give X.T @ X of these rows, or precompute=True."
        )


def rows_of_gram(estimator: Any, gram: Gram) -> Rows:
    """What a fit publishes of the rows of a statistic: their columns, precision and targets."""
    estimator.n_features_in_ = gram.n_features
    if gram.feature_names is not None:
        estimator.feature_names_in_ = np.array(gram.feature_names, dtype=object)
    no_rows = np.empty((0, gram.n_features), gram.dtype)
    return Rows(no_rows, np.empty((0, gram.n_targets)), None, gram.flat_y)


def published(
    squares: Squares,
    coefs: Array,
    runs: list[Descending],
    alpha: float,
    rows: Rows,
) -> dict[str, Any]:
    """The fitted attributes as they are now: numbers for one target, lists of them for several."""
    found: dict[str, Any] = {
        "n_iter_": [run.n_iter for run in runs],
        "objective_": np.array([run.now.objective for run in runs]),
        "dual_gap_": np.array([run.now.gap for run in runs]),
        "gradient_norm_": np.array([run.now.gradient_norm for run in runs]),
    }
    coef = checks.in_precision(coefs, rows.X.dtype)
    intercept = checks.in_precision(squares.intercepts(coefs), rows.X.dtype)
    if len(runs) == 1:
        coef = coef[0]
        found = {name: values[0] for name, values in found.items()}
        found |= {name: float(found[name]) for name in found if name != "n_iter_"}
    # scikit-learn keeps the intercept of a single column of targets in an array.
    return {
        "coef_": coef,
        "intercept_": intercept[0] if rows.flat else intercept,
        **found,
        "alpha_": alpha,
    }


# Fits of one target at many penalties, each begun where the last ended.


@dataclass(frozen=True, eq=False)
class Path:
    """One target's fits at penalties (A,): weights (A, d), and how well they were found."""

    alphas: Array
    coefs: Array
    gaps: Array
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
            f"{NOT_CONVERGED} {self.short} of {len(self.alphas)} fits stopped short of a duality "
            f"gap of {self.wanted:.3g}; the worst, alpha={self.alphas[worst]:.3g}, at "
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
    coefs, gaps, n_iters = np.empty((len(alphas), len(w))), [], []
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
        gaps.append(step.gap)
        n_iters.append(n_iter)
    return Path(np.asarray(alphas), coefs, np.array(gaps), n_iters, wanted)


def alpha_grid(squares: Squares, l1_ratio: float, positive: bool, eps: float, count: int) -> Array:
    """`count` penalties from the least at which all weights are zero down to `eps` times it."""
    if l1_ratio == 0:
        raise ValueError(
            "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a grid "
            "by providing your estimator with the appropriate `alphas=` argument."
        )
    largest = squares.largest_alpha(l1_ratio, positive)
    least = float(np.finfo(np.float64).resolution)
    if largest <= least:  # as of constant targets, for which any penalty will do
        return np.full(count, least)
    return np.geomspace(largest, largest * eps, count)


def given_alphas(alphas: Any) -> Array:
    """The penalties of a user, falling; refuses what is none."""
    return np.sort(checks.penalties(alphas, zero=True))[::-1]
