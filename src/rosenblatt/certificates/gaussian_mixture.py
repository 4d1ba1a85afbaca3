"""Gaussian mixtures: the likelihood again, what one more step would gain, and the identities of EM.

The likelihood of free covariances has no maximum, so nothing is said of a best one: all is local.

Legend: n rows X (n, d) with weights, K components.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from .claims import Certificate, Claim, measured, total_weight, within
from .input_checks import check_fitted

ONLY_RELATIVE_WEIGHTS = True  # a common factor of the weights changes no claim
Floats = NDArray[np.float64]
LARGEST_STEP = 1e-3  # a `tol` of the model above that excuses nothing
ROWS_AT_ONCE = 4_096  # so that they stay in the cache


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Take one more step of EM by hand, and compare."""
    check_fitted(model, "means_")
    n, d = X.shape
    exact = np.asarray(model.means_).dtype == np.float64
    p, m, S = parameters_of(model)
    if m.shape[1] != d or not all(np.isfinite(table).all() for table in (p, m, S)):
        raise ValueError(f"The parameters must be finite, and means_ must have {d} columns.")
    given, origin = X, common_origin(X, m)
    X, m = X - origin, m - origin  # a step's means are rounded less
    try:
        joint = log_joint(X, p, m, S)
    except np.linalg.LinAlgError as error:
        raise ValueError("covariances_ must be positive definite.") from error
    densities = np.asarray(logsumexp(joint, axis=1))
    shares = np.exp(joint - densities[:, None])
    before = float(np.average(densities, weights=weight))
    blur = rounding_of(S)
    claims = [
        sum_claim(p, exact),
        precision_claim(model, S, exact),
        *answer_claims(model, given, densities, shares, before, blur, exact),
        step_claim(model, X, weight, joint, shares, before, (p, m, S), tol),
        gradient_claim(X, weight, shares, m, S),
        *mean_claims(model, given, weight, p, m + origin, exact),
        *curve_claims(model, S, before - blur * (1 + abs(before)), before),
    ]
    kind = getattr(model, "covariance_type", "full")
    problem = f"{len(p)} Gaussian components with {kind} covariances, greatest likelihood"
    data = f"the {n:,} rows and {d:,} columns given, {total_weight(weight)}"
    return Certificate(type(model).__name__, problem, data, tuple(claims))


def common_origin(X: Floats, m: Floats) -> Floats:
    """The first row (d,) in the columns where taking it off the rows and means rounds nothing."""
    origin, numbers = X[0], np.vstack([X, m])
    away = numbers - origin
    back = away - numbers
    lost = (numbers - (away - back)) - (origin + back)  # Knuth's error of a difference
    return np.where((lost == 0).all(axis=0), origin, 0.0)


def parameters_of(model: Any) -> tuple[Floats, Floats, Floats]:
    """Weights (K,), means (K, d), and covariances as matrices (K, d, d)."""
    p, m = np.asarray(model.weights_, np.float64), np.asarray(model.means_, np.float64)
    S, (K, d) = np.asarray(model.covariances_, np.float64), m.shape
    kind = getattr(model, "covariance_type", "full")
    if kind == "tied":
        S = np.broadcast_to(S, (K, d, d))
    elif kind in ("diag", "spherical"):
        S = np.broadcast_to(S.reshape(K, -1), (K, d))[:, :, None] * np.eye(d)
    return p, m, S


def log_joint(X: Floats, p: Floats, m: Floats, S: Floats) -> Floats:
    """log p_k + log N(x; m_k, S_k): (n, K)."""
    n, d = X.shape
    joint = np.empty((n, len(p)))
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    for k in range(len(p)):
        factor = np.linalg.cholesky(S[k])
        constant = log_p[k] - np.log(np.diag(factor)).sum() - 0.5 * d * np.log(2 * np.pi)
        for first in range(0, n, ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            away = (X[some] - m[k]).T
            away = solve_triangular(factor, away, lower=True, overwrite_b=True, check_finite=False)
            joint[some, k] = constant - 0.5 * np.einsum("ij,ij->j", away, away)
    return joint


def sum_claim(p: Floats, exact: bool) -> Claim:
    """That weights are shares."""
    off = max(abs(float(p.sum()) - 1), float(max(-p.min(), 0.0)))
    return within("weights", f"the weights sum to one to {off:.1e}", off, 1e-9 if exact else 1e-5)


def precision_claim(model: Any, S: Floats, exact: bool) -> Claim:
    """That the published precisions are those of the covariances."""
    d, K = S.shape[1], len(S)
    P = np.asarray(model.precisions_, np.float64)
    U = np.asarray(model.precisions_cholesky_, np.float64)
    kind, worst = getattr(model, "covariance_type", "full"), 0.0
    for k in range(K):
        if kind in ("diag", "spherical"):
            both = [np.broadcast_to(a.reshape(K, -1)[k], d) * np.eye(d) for a in (P, U)]
        else:
            both = [P, U] if kind == "tied" else [P[k], U[k]]
        size = np.abs(both[0]).max() * np.abs(S[k]).max() * d
        off = np.abs(both[0] @ S[k] - np.eye(d)).max()
        worst = max(worst, off / size, np.abs(both[1].T @ S[k] @ both[1] - np.eye(d)).max() / size)
        scales = np.sqrt(np.diag(S[k]))
        worst = max(worst, np.abs((S[k] - S[k].T) / np.outer(scales, scales)).max())
    statement = f"precisions times symmetric covariances are one to {worst:.1e} of their size"
    return within("precisions", statement, float(worst), 1e-9 if exact else 1e-4)


def rounding_of(S: Floats) -> float:
    """What rounding may do to a log-density, as a share of it, for covariances (K, d, d)."""
    scales = np.sqrt(np.einsum("kii->ki", S))
    condition = np.linalg.cond(S / (scales[:, :, None] * scales[:, None, :])).max()
    return float(4 * (S.shape[1] + 8) * np.finfo(np.float64).eps * condition)


def answer_claims(
    model: Any, X: Floats, densities: Floats, shares: Floats, mean: float, blur: float,
    exact: bool,
) -> list[Claim]:  # fmt: skip
    """That the model's own densities, of that weighted mean, and shares are of its parameters.

    `blur` is what rounding may do to log-densities here, as a share of them.
    """
    rows = X.astype(np.asarray(model.means_).dtype)
    allowed = 1e-6 if exact else 1e-2
    off = np.abs(np.asarray(model.score_samples(rows), np.float64) - densities)
    worst = float((off / (1 + np.abs(densities))).max(initial=0.0)) + blur
    own = np.asarray(model.predict_proba(rows), np.float64)
    total = float(np.abs(own.sum(axis=1) - 1).max(initial=0.0))
    apart = float(np.abs(own - shares).max(initial=0.0))
    if shares.shape[1] > 1:
        apart += blur * float(np.abs(densities).max(initial=0.0))
    statement = f"the mean log-density of a row is {mean:.6g}, each right to {worst:.1e}"
    return [
        within("likelihood", statement, worst, allowed),
        within("sums", f"shares sum to one to {total:.1e}", total, 1e-9 if exact else 1e-5),
        within("shares", f"shares follow from the parameters to {apart:.1e}", apart, allowed),
    ]


def step_claim(
    model: Any, X: Floats, weight: Floats, joint: Floats, shares: Floats, before: float,
    parameters: tuple[Floats, Floats, Floats], tol: float,
) -> Claim:  # fmt: skip
    """What one more step of EM, taken here, adds to the mean log-likelihood."""
    hard = getattr(model, "assignment", "soft") == "hard"
    if hard:
        shares = np.eye(joint.shape[1])[joint.argmax(axis=1)]
        before = float(np.average(joint.max(axis=1), weights=weight))
    p, m, S = maximised(model, X, weight, shares, parameters)
    try:
        after = log_joint(X, p, m, S)
        values = after.max(axis=1) if hard else np.asarray(logsumexp(after, axis=1))
        gain = float(np.average(values, weights=weight)) - before
    except np.linalg.LinAlgError:  # a component would collapse
        gain = np.inf
    wanted = max(min(float(getattr(model, "tol", tol)), LARGEST_STEP), tol)
    statement = f"one more step would add {gain:.2g} to the mean log-likelihood (local)"
    return within("next step", statement, gain, wanted)


def maximised(
    model: Any, X: Floats, weight: Floats, shares: Floats, parameters: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """The M step of the model's kind, its floor included."""
    p, m, S = (table.copy() for table in parameters)
    d, known = X.shape[1], getattr(model, "known_variance", None)
    kind, floor = getattr(model, "covariance_type", "full"), float(getattr(model, "reg_covar", 0.0))
    r = shares * weight[:, None]
    totals = r.sum(axis=0)
    for k in np.flatnonzero(totals > 0):
        m[k] = r[:, k] @ X / totals[k]
        if known is None:
            scatter = scatter_about(X, r[:, k], m[k]) / totals[k]
            if kind in ("diag", "spherical"):
                scatter = np.diag(np.diag(scatter))
            if kind == "spherical":
                scatter = np.eye(d) * np.trace(scatter) / d
            S[k] = scatter + (0 if kind == "tied" else floor) * np.eye(d)
    if known is None:
        p = totals / totals.sum()
        if kind == "tied":
            S = np.broadcast_to(np.einsum("k,kij->ij", p, S) + floor * np.eye(d), S.shape)
    return p, m, S


def scatter_about(X: Floats, weight: Floats, centre: Floats) -> Floats:
    """The weighted products (d, d) of the rows' distances from a centre."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for first in range(0, len(X), ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        away = X[some] - centre
        total += (weight[some, None] * away).T @ away
    return total


def gradient_claim(X: Floats, weight: Floats, shares: Floats, m: Floats, S: Floats) -> Claim:
    """The gradient of the mean log-likelihood in the means, each in its component's own units."""
    r = shares * weight[:, None]
    pulls = (r.T @ X - r.sum(axis=0)[:, None] * m) / weight.sum()
    sizes = [
        float(np.linalg.norm(solve_triangular(np.linalg.cholesky(s), pull, lower=True)))
        for s, pull in zip(S, pulls, strict=True)
    ]
    worst = max(sizes)
    statement = f"the gradient in the means is {worst:.2g}, in standard deviations (local)"
    return measured("gradient", statement, worst)


def mean_claims(
    model: Any, X: Floats, weight: Floats, p: Floats, m: Floats, exact: bool
) -> list[Claim]:
    """That the weighted mean of the means is the mean of the rows, as after every M step."""
    if getattr(model, "known_variance", None) is not None or not getattr(model, "n_iter_", 1):
        return []
    mean = np.average(X, axis=0, weights=weight)
    scale = float(np.abs(X).max(initial=0.0)) + np.finfo(float).tiny
    off = float(np.abs(p @ m - mean).max()) / scale
    statement = f"the weighted mean of the means is the mean of the rows to {off:.1e}"
    return [within("mean of means", statement, off, 1e-9 if exact else 1e-4)]


def curve_claims(model: Any, S: Floats, least: float, likelihood: float) -> list[Claim]:
    """That the likelihood, which is at least so much, never fell, beyond what the floor may cost.

    The published bound was worked out before the last M step, so that it is no larger either.
    """
    bounds = np.asarray(getattr(model, "lower_bounds_", ()), np.float64)
    if len(bounds) < 1:
        return []
    if np.array_equal(bounds[-1:], [model.lower_bound_]):
        hard = getattr(model, "assignment", "soft") == "hard"  # counts the likeliest alone
        bounds = bounds if hard else np.append(bounds, least)
    else:
        bounds = np.append(bounds, -np.inf)  # lower_bound_ is none of them
    fall = max(float(np.nan_to_num(-np.diff(bounds), nan=np.inf).max(initial=0.0)), 0.0)
    floor = float(getattr(model, "reg_covar", 0.0))
    halves = [solve_triangular(np.linalg.cholesky(s), np.eye(len(s)), lower=True) for s in S]
    traces = [float((half**2).sum()) for half in halves]  # of the inverses
    bound = 1e-9 * (1 + abs(likelihood)) + 0.5 * floor * max(traces)
    n = len(model.lower_bounds_)
    statement = f"in {n} recorded iterations the likelihood fell by at most {fall:.1e}"
    return [Claim("never fell", statement, fall, bound, bool(fall <= bound), "observed")]
