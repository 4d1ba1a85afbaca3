"""Paths of the lasso and elastic net: fits at many penalties, each started from the last one."""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.validation import check_X_y

from rosenblatt import checks
from rosenblatt.base import warn
from rosenblatt.runtime.threads import one_blas_thread

from .coordinate_descent import penalty_of
from .gram_problem import Descent, Squares

Array = NDArray[np.float64]

# Warnings of a gap begin with scikit-learn's words, by which users filter them.
NOT_CONVERGED = "Objective did not converge."

CONSTRAINTS: dict[str, list[Any]] = {
    "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    "eps": [Interval(Real, 0, None, closed="neither")],
    "n_alphas": [Interval(Integral, 1, None, closed="left"), None],
    "alphas": [Interval(Integral, 1, None, closed="left"), "array-like", None],
    "precompute": [StrOptions({"auto"}), "boolean", "array-like"],
    "return_n_iter": ["boolean"],
    "positive": ["boolean"],
    "tol": [Interval(Real, 0, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    "random_state": ["random_state"],
    "selection": [StrOptions({"cyclic", "random"})],
}


def _checked_start(coef_init: Any, d: int) -> Array:
    """Return the initial weights (d,), as compiled loops do not check their length."""
    start = np.array(coef_init, np.float64)
    if start.shape != (d,) or not np.isfinite(start).all():
        raise ValueError(
            f"coef_init must be {d} finite numbers, as X has columns; got shape {start.shape}"
            f"{'' if np.isfinite(start).all() else ' with NaN or infinity'}."
        )
    return start


def _alphas_asked(n_alphas: int | None, alphas: Any) -> Any:
    """Return the number of penalties, or the penalties; warn of deprecated arguments."""
    if n_alphas is None and alphas is not None:
        return alphas
    old = "'alphas=None' is deprecated" if n_alphas is None else "'n_alphas' was deprecated in 1.9"
    warn(
        f"{old} and will be removed in 1.11 of scikit-learn; give alphas, a number or a list.",
        FutureWarning,
    )
    counted = alphas is None or isinstance(alphas, Integral)
    return (n_alphas or 100) if counted else alphas


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: int | None = None,
    alphas: Any = 100,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    tol: float = 1e-4,
    max_iter: int | None = 1000,
    random_state: Any = None,
    selection: str = "cyclic",
    sample_weight: Any = None,
    **params: Any,
) -> tuple[Any, ...]:
    """Return the weights of elastic nets without intercept, at many penalties in one call.

    Minimizes ``1/(2n) |y - X w|^2 + alpha l1_ratio |w|_1 + alpha (1 - l1_ratio)/2 |w|^2`` for each
    alpha, starting from the last weights. Center X and y first for fits with an intercept.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Rows.
    y : array-like of shape (n,)
        Targets.
    l1_ratio : float
        Share of the L1 penalty, from 0 to 1.
    eps : float
        Smallest alpha as a share of the largest.
    n_alphas : int or None
        Deprecated: number of penalties.
    alphas : int or array-like of shape (A,)
        Number of penalties, or their values.
    precompute : "auto", bool or array-like of shape (d, d)
        Whether to use the Gram matrix. By default it is used where it is faster; a matrix is
        computed again.
    Xy, copy_X, verbose, check_input : object
        Accepted for compatibility.
    coef_init : array-like of shape (d,) or None
        Initial weights.
    return_n_iter : bool
        Whether to return the number of iterations.
    positive : bool
        Whether to forbid weights below zero.
    tol : float
        Largest duality gap, as a share of the mean square of y.
    max_iter : int or None
        Maximum number of iterations at each alpha.
    random_state : int, RandomState instance or None
        Seed of the order of the weights with ``selection="random"``.
    selection : {"cyclic", "random"}
        Order in which a sweep visits the weights.
    sample_weight : array-like of shape (n,) or None
        Weights of the rows.
    params : dict
        scikit-learn's `do_screening`, without effect; other names raise an error.

    Returns
    -------
    alphas : ndarray of shape (A,)
        Penalties, falling.
    coefs : ndarray of shape (d, A)
        Weights at each penalty.
    dual_gaps : ndarray of shape (A,)
        Upper bound on the distance of each objective to its minimum.
    n_iters : list of int
        Iterations, if `return_n_iter`.

    Examples
    --------
    >>> from rosenblatt.linear_model import enet_path
    >>> X, y = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0]], [1.0, 2.0, 3.0]
    >>> alphas, coefs, gaps = enet_path(X, y, alphas=[2.0, 0.5], tol=1e-9)
    >>> coefs.round(3)
    array([[0.368, 0.682],
           [0.296, 0.2  ]])
    """
    if unknown := sorted(params.keys() - {"do_screening"}):
        raise ValueError(f"Unexpected parameters in params: {', '.join(map(repr, unknown))}.")
    given = locals()
    validate_parameter_constraints(
        CONSTRAINTS, {name: given[name] for name in CONSTRAINTS}, caller_name="enet_path"
    )
    alphas = _alphas_asked(n_alphas, alphas)
    checks.numbers(y)
    X, y = check_X_y(X, y, accept_sparse=("csr", "csc"), dtype=checks.FLOATS, multi_output=True,
                     y_numeric=True)  # fmt: skip
    if y.ndim == 2 and y.shape[1] > 1:
        raise ValueError(
            f"y must be one target; got {y.shape[1]}. Call once for each: a path that ties targets "
            "together, as scikit-learn's does, is not offered."
        )
    weights = checks.weights(sample_weight, X.shape[0])
    rng = check_random_state(random_state) if selection == "random" else None
    with one_blas_thread():
        squares = Squares.of(X, y, weights, fit_intercept=False, path=True, precompute=precompute)
        if isinstance(alphas, Integral):
            grid = alpha_grid(squares, l1_ratio, positive, eps, int(alphas))
        else:
            grid = given_alphas(alphas)
        start = None if coef_init is None else _checked_start(coef_init, X.shape[1])
        path = follow(
            squares.descents[0], grid, l1_ratio, positive=positive, tol=tol, max_iter=max_iter,
            rng=rng, start=start,
        )  # fmt: skip
    if shortfall := path.shortfall():
        warn(shortfall, ConvergenceWarning)
    found = (grid, np.ascontiguousarray(path.coefs.T.astype(X.dtype)), path.gaps)
    return (*found, path.n_iters) if return_n_iter else found


def lasso_path(
    X: Any,
    y: Any,
    *,
    eps: float = 1e-3,
    n_alphas: int | None = None,
    alphas: Any = 100,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    tol: float = 1e-4,
    max_iter: int | None = 1000,
    random_state: Any = None,
    selection: str = "cyclic",
    sample_weight: Any = None,
    **params: Any,
) -> tuple[Any, ...]:
    """Return the weights of lassos without intercept, at many penalties in one call.

    Minimizes ``1/(2n) |y - X w|^2 + alpha |w|_1`` for each alpha: `enet_path` with ``l1_ratio=1``.

    Parameters
    ----------
    X, y, eps, n_alphas, alphas, precompute, Xy, copy_X, coef_init, verbose, return_n_iter, \
    positive, check_input, tol, max_iter, random_state, selection, sample_weight, params
        As for `enet_path`.

    Returns
    -------
    alphas, coefs, dual_gaps, n_iters
        As from `enet_path`.

    Examples
    --------
    The columns enter one after the other:

    >>> from rosenblatt.linear_model import lasso_path
    >>> X, y = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0]], [1.0, 2.0, 3.0]
    >>> alphas, coefs, gaps = lasso_path(X, y, alphas=[6.0, 4.0, 0.1], tol=1e-9)
    >>> coefs.round(3)
    array([[0.   , 0.   , 0.961],
           [0.   , 0.19 , 0.016]])
    """
    return enet_path(
        X, y, l1_ratio=1.0, eps=eps, n_alphas=n_alphas, alphas=alphas, precompute=precompute,
        Xy=Xy, copy_X=copy_X, coef_init=coef_init, verbose=verbose, return_n_iter=return_n_iter,
        positive=positive, check_input=check_input, tol=tol, max_iter=max_iter,
        random_state=random_state, selection=selection, sample_weight=sample_weight, **params,
    )  # fmt: skip


# Fits of one target at many penalties, each started from the last one.


@dataclass(frozen=True, eq=False)
class Path:
    """Fits of one target at penalties (A,): weights (A, d), duality gaps and iterations."""

    alphas: Array
    coefs: Array
    gaps: Array
    n_iters: list[int]
    wanted: float  # the gap at which fits stop

    def shortfall(self) -> str:
        """Return a message about fits that stopped early, if some did."""
        n_short = int(np.count_nonzero(self.gaps > self.wanted))
        if not n_short:
            return ""
        worst = int(self.gaps.argmax())
        return (
            f"{NOT_CONVERGED} {n_short} of {len(self.alphas)} fits stopped short of a duality "
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
    """Solve at each of alphas (A,) in turn, largest first for speed.

    Changes `start`, the initial weights (d,). With `finish` each fit goes to the last digits.
    """
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
    """Return penalties from the least at which all weights are zero down to `eps` times it."""
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
    """Return the penalties of a user, falling."""
    return np.sort(checks.penalties(alphas, zero=True))[::-1]


# Search for the penalty that keeps a number of features: down the path, then between two penalties.
STEP = 0.8  # from one penalty to the next, on the way down
LONGEST_STEP = 0.1  # where no column enters
SMALLEST = 1e-6  # of the penalty that keeps out a column: below it there is as good as none
MOST_HALVINGS = 40


def penalty_tries(
    n_features: int, descent: Descent, positive: bool, tol: float | None
) -> Iterator[tuple[float, Array]]:
    """Yield penalties and their weights until the number of features is met or cannot be.

    Along the path columns mostly enter: the penalty falls until there are enough of them, then the
    interval between the last two penalties is halved on a logarithmic scale. Columns in small units
    enter at small penalties.
    """
    accuracy = 1e-4 if tol is None else tol

    def solve(alpha: float, start: Array) -> tuple[float, Array]:
        w, alphas = start.copy(), np.array([alpha])
        follow(descent, alphas, 1.0, positive=positive, tol=accuracy, start=w, finish=True)
        return alpha, w

    largest = max(float((descent.xy if positive else np.abs(descent.xy)).max()), 1e-300)
    varying = descent.variances[descent.variances > 0]
    smallest = SMALLEST * np.sqrt(varying.min() * descent.yy) if len(varying) else largest
    high = solve(largest, np.zeros(descent.n_weights))
    yield high
    step = STEP
    low = solve(largest * step, high[1])
    yield low
    while np.count_nonzero(low[1]) < n_features and low[0] > min(smallest, largest):
        entered = np.count_nonzero(low[1]) > np.count_nonzero(high[1])
        step = STEP if entered else max(step**2, LONGEST_STEP)
        high, low = low, solve(low[0] * step, low[1])
        yield low
    for _ in range(MOST_HALVINGS):
        if np.count_nonzero(low[1]) <= n_features or high[0] / low[0] < 1 + 1e-9:
            break
        middle = solve(float(np.sqrt(high[0] * low[0])), high[1])
        yield middle
        if np.count_nonzero(middle[1]) >= n_features:
            low = middle
        else:
            high = middle
