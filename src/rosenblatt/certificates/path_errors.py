"""Errors of lasso and elastic net on held-out rows, for every penalty of a path, derived again.

A fit whose objective is within g of its least has fitted values within ``sqrt(2 g)`` (root mean
square) of the best ones on the rows it was fitted to. On other rows they are within c times that,
``c^2`` the largest eigenvalue of ``G^-1 T`` with G the scatter of the rows fitted to and T that of
the others. So a published error can be held against that of the best coefficients, of which all
penalties of a fold are looked for at once by coordinate descent.

Legend: G (d, d), c (d,), m the scatter of the rows, their products with the target, and its square;
W (A, d) coefficients, one row a penalty, Q their products with G.
"""

from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .claims import Claim, within
from .rounded_matrix import Floats

WORK = (2e8, 2e9)  # multiplications, by effort
MOST_SWEEPS = 300
ENOUGH = 1e-3  # of the gap that a fit may have


class Moments(NamedTuple):
    """Centred rows of a fold and their target, multiplied out."""

    G: Floats
    c: Floats
    m: float


def path_errors_claim(model: Any, X: Any, t: Floats, weight: Floats, effort: int) -> list[Claim]:
    """That `mse_path_` is what fits of the folds give; nothing where that cannot be known."""
    tables, folds = _tables(model), _folds(model, X, t)
    if not tables or not folds or float(np.ptp(weight)) > 0:
        return []
    if any(errors.shape[1] != len(folds) for _, _, errors in tables):
        said = f"mse_path_ has not a column for each of the {len(folds)} folds"
        return [Claim("path errors", said, np.inf, 0.0, False, "checked")]
    n, d = X.shape
    price = n * d * d + sum(len(alphas) for _, alphas, _ in tables) * 100.0 * d * d
    most = WORK[effort > 0]
    n_checked = min(len(folds), max(int(most // price), int(price < 10 * most)))
    worst, n_known = 0.0, 0
    for f in _drawn(tables, len(folds))[:n_checked]:
        for ratio, alphas, errors in tables:
            off = _off(model, X, t, folds[f], ratio, alphas, errors[:, f])
            known = off < np.inf
            n_known += int(np.count_nonzero(known))
            worst = max(worst, float(off[known].max(initial=0.0)))
            if not (errors[:, f] >= 0).all():
                worst = np.inf
    if not n_known:
        return []
    whole = sum(errors.size for _, _, errors in tables)
    statement = f"{n_known:,} of {whole:,} numbers of mse_path_ are those of fits within tol"
    if not worst <= 1.0:
        statement += f", but one is off by {worst:.3g} times what tol allows"
    return [within("path errors", statement, worst, 1.0)]


def _tables(model: Any) -> list[tuple[float, Floats, Floats]]:
    """The share of l1, the penalties (A,) and the errors (A, F) of each path; none if they differ
    in number, which another claim finds out.
    """
    paths, tried = getattr(model, "mse_path_", None), getattr(model, "alphas_", None)
    if paths is None or tried is None:
        return []
    ratios = np.ravel(np.asarray(getattr(model, "l1_ratio", 1.0), np.float64))
    tables = [paths] if len(ratios) == 1 else list(paths)
    alphas = list(tried) if np.ndim(tried[0]) else [tried] * len(ratios)
    if not len(ratios) == len(tables) == len(alphas):
        return []
    sizes = [np.size(alpha) for alpha in alphas]
    if any(np.size(table) % max(n, 1) for table, n in zip(tables, sizes, strict=True)):
        return []
    return [
        (float(ratio), np.ravel(np.asarray(alpha, np.float64)),
         np.asarray(table, np.float64).reshape(np.size(alpha), -1))
        for ratio, alpha, table in zip(ratios, alphas, tables, strict=True)
    ]  # fmt: skip


def _folds(model: Any, X: Any, t: Floats) -> list[tuple[Any, Any]]:
    """Rows to fit and to test; none if they cannot be drawn again."""
    cv, n = getattr(model, "cv", None), X.shape[0]
    if cv is None or isinstance(cv, int | np.integer):
        parts = np.array_split(np.arange(n), 5 if cv is None else int(cv))
        return [(np.setdiff1d(np.arange(n), part), part) for part in parts]
    if isinstance(cv, list | tuple):
        return [(np.arange(n)[train], np.arange(n)[test]) for train, test in cv]
    by_chance = getattr(cv, "shuffle", hasattr(cv, "random_state"))
    if by_chance and not isinstance(getattr(cv, "random_state", None), int | np.integer):
        return []
    try:
        return list(cv.split(X, t))
    except Exception:  # whatever it is: a splitter that wants groups, or is none
        return []


def _drawn(tables: list[tuple[float, Floats, Floats]], n_folds: int) -> list[int]:
    """The folds in an order that follows from the published numbers, as by chance."""
    digest = blake2b(digest_size=8)
    for _, alphas, errors in tables:
        digest.update(alphas.tobytes() + errors.tobytes())
    order = np.random.default_rng(int.from_bytes(digest.digest())).permutation(n_folds)
    return [int(f) for f in order]


def _off(
    model: Any, X: Any, t: Floats, fold: tuple[Any, Any], ratio: float, alphas: Floats,
    errors: Floats,
) -> Floats:  # fmt: skip
    """How far errors (A,) are off, in what they may be; infinite where nothing is known."""
    train, test = (_dense(X, rows) for rows in fold)
    target, held = t[fold[0]], t[fold[1]]
    if getattr(model, "fit_intercept", True):
        mean, level = train.mean(axis=0), float(target.mean())
        train, test, target, held = train - mean, test - mean, target - level, held - level
    n = len(train)
    fitted = Moments(train.T @ train / n, train.T @ target / n, float(target @ target) / n)
    l1, l2 = ratio * alphas, (1 - ratio) * alphas
    W, gap = best_coefficients(fitted, l1, l2, bool(getattr(model, "positive", False)),
                               ENOUGH * float(model.tol) * fitted.m)  # fmt: skip
    single = 2.0**-24 if np.asarray(model.coef_).dtype == np.float32 else 2.0**-53
    allowed = (float(model.tol) + 64 * single) * fitted.m
    reach = _reach(fitted.G, test.T @ test / len(test), n, l2)
    away = reach * (np.sqrt(2 * allowed) + np.sqrt(2 * gap))
    best = ((held[:, np.newaxis] - test @ W.T) ** 2).mean(axis=0)
    room = 2 * np.sqrt(best) * away + away**2 + 1e-9 * best
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.where(errors == best, 0.0, np.abs(errors - best) / room)
    return np.where(np.isfinite(room), np.nan_to_num(off, nan=1e300, posinf=1e300), np.inf)


def _dense(X: Any, rows: Any) -> Floats:
    part = X[rows]
    return np.asarray(part.toarray() if sp.issparse(part) else part, np.float64)


def _reach(G: Floats, T: Floats, n: int, l2: Floats) -> Floats:
    """c (A,) for each share of the squared length; infinite where rows to fit are too few."""
    most = float(np.linalg.eigvalsh(T)[-1])
    with np.errstate(divide="ignore"):
        by_penalty = np.sqrt(np.where(l2 > 0, most / np.where(l2 > 0, l2, 1.0), np.inf))
    scale = np.sqrt(np.maximum(np.diag(G), 1e-300))
    scaled = G / np.outer(scale, scale)
    if n <= len(G) or np.linalg.eigvalsh(scaled)[0] < 1e-10:
        return np.asarray(by_penalty)
    largest = scipy.linalg.eigh(T / np.outer(scale, scale), scaled, eigvals_only=True)[-1]
    return np.minimum(by_penalty, np.sqrt(max(float(largest), 0.0)))


def best_coefficients(
    of: Moments, l1: Floats, l2: Floats, positive: bool, enough: float
) -> tuple[Floats, Floats]:
    """Coefficients W (A, d) for each penalty, and the most that their objectives lack (A,)."""
    W, d = np.zeros((len(l1), len(of.c))), np.diag(of.G)
    Q, gap = np.zeros_like(W), np.full(len(l1), np.inf)
    for _ in range(MOST_SWEEPS):
        for j in np.flatnonzero(d > 0):
            slope = of.c[j] - Q[:, j] + d[j] * W[:, j]
            size = np.maximum((slope if positive else np.abs(slope)) - l1, 0.0) / (d[j] + l2)
            new = size if positive else np.sign(slope) * size
            Q += (new - W[:, j])[:, np.newaxis] * of.G[j]
            W[:, j] = new
        gap = _gaps(of, W, l1, l2, positive)
        if (gap <= enough).all():
            break
    return W, gap


def _gaps(of: Moments, W: Floats, l1: Floats, l2: Floats, positive: bool) -> Floats:
    """Duality gaps (A,), by the residuals of each, scaled until they keep the condition."""
    Q = W @ of.G
    fit, square = W @ of.c, (W * Q).sum(axis=1)
    rest = np.maximum(of.m - 2 * fit + square, 0.0)  # mean square of residuals
    slopes = of.c - Q if positive else np.abs(of.c - Q)
    lengths = np.abs(W).sum(axis=1), (W**2).sum(axis=1)
    primal = rest / 2 + l1 * lengths[0] + l2 / 2 * lengths[1]
    steepest = np.maximum(slopes.max(axis=1, initial=0.0), 1e-300)
    share = np.minimum(1.0, l1 / steepest)
    dual = share * (of.m - fit) - share**2 * rest / 2
    over = np.maximum(slopes - l1[:, np.newaxis], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = of.m - fit - rest / 2 - (over**2).sum(axis=1) / (2 * l2)
    dual = np.maximum(dual, np.nan_to_num(squared, nan=-np.inf, neginf=-np.inf))
    return np.asarray(np.maximum(primal - dual, 0.0) + 1e-13 * of.m)
