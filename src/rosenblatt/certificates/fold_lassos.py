"""Lassos and elastic nets of one fold, all penalties at once, and what is known of their errors.

Let w be any coefficients whose objective is within a of the least, and v others with a dual point
within g of it. With G the scatter of the rows fitted to, they are ``r = sqrt(2 a) + sqrt(2 g)``
apart at most, in the norm of ``H = G + l2 I``. With T the scatter of the rows held out, and u the
products of their columns with what v leaves of the target, the error of w is within
``2 |H^-1/2 u| r + c^2 r^2`` of that of v, ``c^2`` the largest eigenvalue of ``H^-1 T``.

With fewer rows than columns a lasso has no such H. But the dual point leaves column j a slack
``l1 - |s_j|``, and ``sum_j slack_j |w_j| <= a + g``: columns with a slack hardly count, and the
others, where they are independent, take the place of all.

Legend: A penalties, n rows fitted to, k held out, d columns; W (A, d) coefficients.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from .lasso import Penalty
from .rounded_matrix import Floats, shares_of

MOST_SWEEPS, MOST_STEPS = 300, 1000
LEAST_EIGENVALUE = 1e-10  # of columns scaled to length one, from which on they are independent
SLACKS = (0.1, 0.01)  # shares of the largest, from which on a column hardly counts
MOST_WITHOUT_SLACK = 300


class Fold:
    """Rows to fit and rows held out, about the means of the first, times the roots of shares."""

    def __init__(self, X: Any, t: Floats, weight: Floats, fold: tuple[Any, Any], centred: bool):
        train, test = (rows[weight[rows] > 0] for rows in fold)
        rows, held = _dense(X, train), _dense(X, test)
        share, held_share = shares_of(weight[train]), shares_of(weight[test])
        self.mean, self.level = np.zeros(X.shape[1]), 0.0
        target, held_target = t[train], t[test]
        if centred:
            for _ in range(2):  # the second takes off what rounding left of the first
                mean, level = share @ rows, float(share @ target)
                rows, held = rows - mean, held - mean
                target, held_target = target - level, held_target - level
                self.mean, self.level = self.mean + mean, self.level + level
        root, held_root = np.sqrt(share), np.sqrt(held_share)
        self.Z, self.t = rows * root[:, np.newaxis], target * root
        self.held, self.held_t = held * held_root[:, np.newaxis], held_target * held_root
        self.c, self.size = self.Z.T @ self.t, float(self.t @ self.t)
        self.tall = len(self.Z) > len(self.c)
        self.G = self.Z.T @ self.Z if self.tall else None
        self.squares = np.einsum("ij,ij->j", self.Z, self.Z)

    def gram(self, columns: NDArray[np.intp]) -> Floats:
        """The scatter of some columns."""
        if self.G is not None:
            return np.asarray(self.G[np.ix_(columns, columns)])
        return np.asarray(self.Z[:, columns].T @ self.Z[:, columns])

    def slopes(self, W: Floats) -> Floats:
        """Products (A, d) of the columns with what each w leaves of the target."""
        if self.G is not None:
            return np.asarray(self.c - W @ self.G)
        return np.asarray((self.t - W @ self.Z.T) @ self.Z)


class Solutions(NamedTuple):
    """Coefficients (A, d), what their objectives lack at most (A,), slacks of columns (A, d)."""

    W: Floats
    gap: Floats
    slack: Floats


def _dense(X: Any, rows: Any) -> Floats:
    part = X[rows]
    return np.asarray(part.toarray() if sp.issparse(part) else part, np.float64)


def best_coefficients(
    fold: Fold, l1: Floats, l2: Floats, positive: bool, enough: float
) -> Solutions:
    """Coefficients for falling penalties, whose objectives lack no more than enough if it goes."""
    W = np.zeros((len(l1), len(fold.c)))
    if fold.G is not None:
        Q = np.zeros_like(W)
        for _ in range(MOST_SWEEPS):
            _sweep(fold.G, fold.c, W, Q, l1, l2, positive)
            if (_duals(fold, W, l1, l2, positive).gap <= enough).all():
                break
    for a in np.flatnonzero(_duals(fold, W, l1, l2, positive).gap > enough):
        near = W[a] if fold.tall else W[max(int(a) - 1, 0)]
        W[a] = _active_set(fold, near, Penalty(float(l1[a]), float(l2[a]), positive))
    return _duals(fold, W, l1, l2, positive)


def _sweep(
    G: Floats, c: Floats, W: Floats, Q: Floats, l1: Floats, l2: Floats, positive: bool
) -> None:
    """Coordinate descent for all penalties at once: changes W (A, d) and Q, its products with G."""
    for j in np.flatnonzero(np.diag(G) > 0):
        slope = c[j] - Q[:, j] + G[j, j] * W[:, j]
        size = np.maximum((slope if positive else np.abs(slope)) - l1, 0.0)
        new = (size if positive else np.sign(slope) * size) / (G[j, j] + l2)
        Q += (new - W[:, j])[:, np.newaxis] * G[j]
        W[:, j] = new


def _active_set(fold: Fold, start: Floats, penalty: Penalty) -> Floats:
    """Take in one column at a time, drop those that reach zero, until none is left to gain."""
    w, signs, last = start.copy(), np.sign(start), -1
    for _ in range(MOST_STEPS):
        used = np.flatnonzero(signs)
        if len(used) > MOST_WITHOUT_SLACK or (penalty.l2 == 0 and len(used) >= len(fold.Z)):
            break
        H = fold.gram(used) + penalty.l2 * np.eye(len(used))
        try:
            new = np.linalg.solve(H, fold.c[used] - penalty.l1 * signs[used])
        except np.linalg.LinAlgError:
            break
        crossing = np.flatnonzero(new * signs[used] <= 0)
        if len(crossing):  # as far as the first that reaches zero
            far = w[used][crossing]
            steps = far / np.where(far == new[crossing], 1.0, far - new[crossing])
            first = int(used[crossing[steps.argmin()]])
            w[used] += float(steps.min()) * (new - w[used])
            w[first] = signs[first] = 0.0
            if first == last:
                break  # rounding decides
            continue
        w[used] = new
        slopes = fold.slopes(w[np.newaxis])[0]
        excess = np.where(signs == 0, penalty.excess(slopes), 0.0)
        last = int(excess.argmax())
        if excess[last] <= 1e-12 * penalty.l1:
            break
        signs[last] = np.sign(slopes[last])
    return w


def _duals(fold: Fold, W: Floats, l1: Floats, l2: Floats, positive: bool) -> Solutions:
    """The gap to the better of two dual points: residuals, or those scaled until they are one."""
    slopes = fold.slopes(W)
    fit, square = W @ fold.c, (W * (fold.c - slopes)).sum(axis=1)
    rest = np.maximum(fold.size - 2 * fit + square, 0.0)  # mean square of residuals
    primal = rest / 2 + l1 * np.abs(W).sum(axis=1) + l2 / 2 * (W**2).sum(axis=1)
    outermost = slopes if positive else np.abs(slopes)
    steepest = np.maximum(outermost.max(axis=1, initial=0.0), 1e-300)
    scale = np.minimum(1.0, l1 / steepest)
    dual = scale * (fold.size - fit) - scale**2 * rest / 2
    over = np.maximum(outermost - l1[:, np.newaxis], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = fold.size - fit - rest / 2 - (over**2).sum(axis=1) / (2 * l2)
    squared = np.nan_to_num(squared, nan=-np.inf, neginf=-np.inf)
    scale = np.where(squared > dual, 1.0, scale)
    gap = np.maximum(primal - np.maximum(dual, squared), 0.0) + 1e-13 * fold.size
    slack = np.maximum(l1[:, np.newaxis] - scale[:, np.newaxis] * outermost, 0.0)
    return Solutions(W, np.asarray(gap), slack)


# What is known of errors on the rows held out.


class Errors(NamedTuple):
    """Errors (A,) of the best coefficients, and how far those of fits may be from them (A,)."""

    best: Floats
    blur: Floats  # of the best ones themselves
    room: Floats


def held_out_errors(
    fold: Fold, found: Solutions, l2: Floats, allowed: float, unit: float
) -> Errors:
    """Errors of the best, and room for fits whose objectives lack what is allowed."""
    rest = fold.held_t[:, np.newaxis] - fold.held @ found.W.T
    best, u = (rest**2).sum(axis=0), rest.T @ fold.held
    # Predictions far from the origin are sums of large numbers that cancel.
    far = np.abs(fold.mean) @ np.abs(found.W.T) + abs(fold.level)
    rounding = unit * (len(fold.mean) + 8) * far
    rounding = 2 * np.sqrt(best) * rounding + rounding**2 + 1e-9 * best
    here = far + np.abs(fold.held_t).max(initial=0.0)  # and what is rounded here, of all terms
    here = (
        2.0**-52
        * (len(fold.mean) + 8)
        * (here + (np.abs(fold.held) @ np.abs(found.W.T)).sum(axis=0))
    )
    here = 2 * np.sqrt(best) * here + here**2 + 1e-9 * best
    # In two columns: what the best ones found may lack, and what fits may lack beside.
    lacked = 2 * found.gap[:, np.newaxis] + [0.0, allowed]
    r = np.sqrt(2 * found.gap)[:, np.newaxis] + [0.0, np.sqrt(2 * allowed)]
    blur, room = _rooms(fold, found, u, l2, r, lacked).T
    return Errors(best, blur + here, room + rounding)


def _rooms(
    fold: Fold, found: Solutions, u: Floats, l2: Floats, r: Floats, lacked: Floats
) -> Floats:
    """The least of the bounds (A, 2); infinite where there is none."""
    room = np.full(r.shape, np.inf)
    for a in range(len(l2)):  # by the penalty on squares alone
        if l2[a] == 0:
            continue
        length = float(np.linalg.norm(u[a]) / np.sqrt(l2[a]))
        room[a] = 2 * length * r[a] + _largest(fold.held) / l2[a] * r[a] ** 2
    if fold.G is not None:
        inner, c = _reach(fold.G, fold.held, u)
        room = np.minimum(room, 2 * inner[:, np.newaxis] * r + (c * r) ** 2)
        if np.isfinite(c):
            return np.asarray(room)
    for share in SLACKS:
        for a in range(len(room)):
            bound = _without_slack(fold, found.slack[a], share, u[a], l2[a], r[a], lacked[a])
            room[a] = np.minimum(room[a], bound)
    return np.asarray(room)


def _without_slack(
    fold: Fold, slack: Floats, share: float, u: Floats, l2: float, r: Floats, lacked: Floats
) -> Any:
    """The bounds (2,) by the columns whose slack is below a share of the largest."""
    few = slack <= share * float(slack.max(initial=0.0))
    columns, others = np.flatnonzero(few), np.flatnonzero(~few)
    if len(columns) > MOST_WITHOUT_SLACK:
        return np.inf
    held = fold.held[:, others]
    lengths = (np.sqrt(fold.squares[others] + l2), np.sqrt(np.einsum("ij,ij->j", held, held)),
               np.abs(u[others]))  # fmt: skip
    # What the columns with a slack may add: to fitted values, to held-out ones, and to u.w.
    most = [float((length / slack[others]).max(initial=0.0)) for length in lengths]
    fitted, predicted, along = (lacked * each for each in most)
    inner, c = 0.0, 0.0
    if len(columns):
        H = fold.gram(columns) + l2 * np.eye(len(columns))
        inner, c = _reach(H, fold.held[:, columns], u[columns])
    return 2 * (inner * (r + fitted) + along) + (c * (r + fitted) + predicted) ** 2


def _reach(H: Floats, held: Floats, u: Floats) -> tuple[Any, float]:
    """``|H^-1/2 u|`` for each row of u, and c; infinite where columns depend on each other."""
    scale = np.sqrt(np.maximum(np.diag(H), 1e-300))
    scaled = H / np.outer(scale, scale)
    if np.linalg.eigvalsh(scaled)[0] < LEAST_EIGENVALUE:
        return np.full(u.shape[:-1], np.inf), np.inf
    lower = np.linalg.cholesky(scaled)
    inner = scipy.linalg.solve_triangular(lower, (u / scale).T, lower=True)
    outer = scipy.linalg.solve_triangular(lower, (held / scale).T, lower=True)
    return np.sqrt((inner**2).sum(axis=0)), float(np.sqrt(_largest(outer)))


def _largest(rows: Floats) -> float:
    """The largest eigenvalue of the scatter of rows (n, d)."""
    small = rows @ rows.T if len(rows) <= rows.shape[1] else rows.T @ rows
    return float(np.linalg.eigvalsh(small)[-1]) if small.size else 0.0
