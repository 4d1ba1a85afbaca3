"""k-means: the loss again, what one more step or one move would gain, and how far the best is.

Legend: n rows X (n, d) with weights, K centres. A clustering's loss is the weighted sum of squared
distances from the nearest centre. All but the last claim are local.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .claims import Certificate, Claim, measured, total_weight, within
from .input_checks import check_fitted
from .kmeans_bounds import best_bound

ONLY_RELATIVE_WEIGHTS = True  # a common factor of the weights changes no claim
Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

EPS = float(np.finfo(np.float64).eps)
CELLS_AT_ONCE = 4_000_000
ROUNDING = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-3}  # of losses that were summed


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Measure all rows again and bound the best possible loss."""
    check_fitted(model, "cluster_centers_")
    centres = np.asarray(model.cluster_centers_, np.float64)
    n, d = X.shape
    if centres.shape[1] != d or not np.isfinite(centres).all():
        raise ValueError(f"cluster_centers_ must be finite and have {d} columns.")
    allowed = ROUNDING.get(np.asarray(model.cluster_centers_).dtype, 1e-3)
    mean = np.asarray(weight @ X).ravel() / weight.sum()
    nearest, squares, second = two_nearest(X, centres, mean)
    loss = float(weight @ squares)
    spread = float(weight @ own_squares(X, mean))
    slack = allowed * loss + 1e-12 * spread
    claims = [
        loss_claim(model, loss, slack),
        *label_claims(model, X, centres, squares, allowed, spread / weight.sum()),
        step_claim(model, X, weight, centres, nearest, loss, tol, slack),
        move_claim(weight, nearest, squares, second, len(centres), slack),
        *curve_claims(model, loss, slack),
        optimum_claim(X, weight, len(centres), loss, effort),
    ]
    problem = f"{len(centres)} centres, least sum of squared distances from the nearest"
    data = f"the {n:,} rows and {d:,} columns given, {total_weight(weight)}"
    return Certificate(type(model).__name__, problem, data, tuple(claims))


def two_nearest(X: Any, centres: Floats, mean: Floats) -> tuple[Codes, Floats, Floats]:
    """The nearest centre of each row, its squared distance, and the second with its own (n, 2)."""
    n = X.shape[0]
    nearest, squares, second = np.empty(n, np.intp), np.empty(n), np.full((n, 2), np.inf)
    step = max(1, CELLS_AT_ONCE // max(len(centres), X.shape[1]))
    for start in range(0, n, step):
        some = slice(start, start + step)
        distances = distances_of(X[some], centres, mean)
        nearest[some] = distances.argmin(axis=1)
        rows = np.arange(len(distances))
        squares[some] = distances[rows, nearest[some]]
        distances[rows, nearest[some]] = np.inf
        other = distances.argmin(axis=1)
        second[some] = np.column_stack([other, distances[rows, other]])
    if sp.issparse(X):  # products tell which centre is nearest, and differences how near it is
        squares = own_squares(X, centres[nearest])
        if len(centres) > 1:
            second[:, 1] = own_squares(X, centres[second[:, 0].astype(np.intp)])
    return nearest, squares, second


def distances_of(rows: Any, centres: Floats, mean: Floats) -> Floats:
    """Squared distances (m, K) from the differences; of sparse rows less their |x - mean|^2."""
    if not sp.issparse(rows):
        return np.asarray(cdist(rows, centres, "sqeuclidean"))
    away = centres - mean
    products = np.asarray(rows @ away.T) - away @ mean
    return np.asarray((away**2).sum(axis=1) - 2 * products)


def own_squares(X: Any, centres: Floats) -> Floats:
    """The squared distance (n,) of each row from its own centre (n, d), or from one (d,)."""
    squares = np.empty(X.shape[0])
    step = max(1, CELLS_AT_ONCE // X.shape[1])
    for start in range(0, len(squares), step):
        some = slice(start, start + step)
        away = X[some].toarray() if sp.issparse(X) else X[some]
        away = away - (centres if centres.ndim == 1 else centres[some])
        squares[some] = np.einsum("ij,ij->i", away, away)
    return squares


def grown_by_batches(model: Any) -> bool:
    """Whether `partial_fit` moved the centres last: a `fit` publishes the passes it made."""
    return getattr(model, "n_steps_", 0) > 0 and not hasattr(model, "n_iter_")


def loss_claim(model: Any, loss: float, slack: float) -> Claim:
    """That the published loss is the loss."""
    if not hasattr(model, "inertia_"):
        return measured("loss", f"the loss is {loss:.6g}", loss)
    if grown_by_batches(model):
        statement = (
            f"the loss of these rows is {loss:.6g}; inertia_ is that of the last batch alone"
        )
        return measured("loss", statement, loss)
    off = abs(float(model.inertia_) - loss)
    statement = f"the loss is {loss:.6g}; inertia_ is off by {off:.1e}"
    return within("loss", statement, off, slack)


def label_claims(
    model: Any, X: Any, centres: Floats, squares: Floats, allowed: float, scale: float
) -> list[Claim]:
    """That each row is labelled by a nearest centre."""
    labels = getattr(model, "labels_", None)
    if labels is None:
        return []
    if grown_by_batches(model):
        statement = f"labels_ are those of the last batch, {len(labels):,} rows; not checked"
        return [measured("labels", statement, len(labels))]
    if len(labels) != X.shape[0]:
        return [within("labels", f"there are {len(labels):,} labels", 1.0, 0.0)]
    labels = np.asarray(labels)
    if labels.min() < 0 or labels.max() >= len(centres):
        return [within("labels", "some labels name no centre", 1.0, 0.0)]
    own = own_squares(X, centres[labels])
    wrong = int(np.count_nonzero(own - squares > allowed * (squares + scale)))
    statement = f"{wrong:,} of {len(labels):,} rows have a nearer centre than their own"
    return [within("labels", statement, wrong, 0)]


def step_claim(
    model: Any, X: Any, weight: Floats, centres: Floats, nearest: Codes, loss: float, tol: float,
    slack: float,
) -> Claim:  # fmt: skip
    """What it would gain to move every centre to the mean of its rows."""
    gain = 0.0
    for k in range(len(centres)):
        mine = np.flatnonzero((nearest == k) & (weight > 0))
        if len(mine):
            pull = pull_of(X, weight, mine, centres[k])
            gain += float(pull @ pull) / float(weight[mine].sum())
    statement = f"one more step would lower the loss by {gain:.2g} (local)"
    if not hasattr(model, "algorithm"):  # batches do not aim at it
        return measured("next step", statement, gain)
    return within("next step", statement, gain, tol * loss + slack)


def pull_of(X: Any, weight: Floats, mine: Codes, centre: Floats) -> Floats:
    """The weighted sum (d,) of some rows' differences: a mean far from zero would be rounded."""
    pull = np.zeros(len(centre))
    step = max(1, CELLS_AT_ONCE // len(centre))
    for start in range(0, len(mine), step):
        some = mine[start : start + step]
        rows = X[some].toarray() if sp.issparse(X) else X[some]
        pull += weight[some] @ (rows - centre)
    return pull


def move_claim(
    weight: Floats, nearest: Codes, squares: Floats, second: Floats, K: int, slack: float
) -> Claim:
    """What it would gain to move one row to the cluster of its second nearest centre.

    Moving x of weight w from A to B gains ``W_A w d_A^2 / (W_A - w) - W_B w d_B^2 / (W_B + w)``;
    no other cluster than the second nearest is tried.
    """
    if K < 2:
        return measured("single moves", "with one cluster no row can move", 0.0)
    mass = np.bincount(nearest, weights=weight, minlength=K)
    other, far = second[:, 0].astype(np.intp), second[:, 1]
    left = mass[nearest] - weight
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = weight * np.where(left > 0, mass[nearest] * squares / left, 0.0)
        gain -= weight * mass[other] * far / (mass[other] + weight)
    gain[(left <= 0) | (weight <= 0)] = 0.0
    count = int(np.count_nonzero(gain > slack))
    best = max(float(gain.max(initial=0.0)), 0.0)
    if not count:
        statement = "no row can lower the loss by moving to its second nearest centre (local)"
        return measured("single moves", statement, 0.0)
    statement = f"{count:,} rows could lower the loss by moving alone, by up to {best:.3g} (local)"
    return measured("single moves", statement, best)


def curve_claims(model: Any, loss: float, slack: float) -> list[Claim]:
    """That the loss never rose, as far as the fit recorded it, and is the least of all starts."""
    curve = getattr(model, "loss_curve_", None)
    if curve is None or len(curve) < 1:
        return []
    curve = np.append(np.asarray(curve, np.float64), max(loss - slack, 0.0))
    rise = max(float(np.nan_to_num(np.diff(curve), nan=np.inf).max(initial=0.0)), 0.0)
    statement = f"in {len(curve) - 1} recorded iterations the loss rose by at most {rise:.1e}"
    bound = 1e-12 * float(abs(curve[0]))
    claims = [Claim("never rose", statement, rise, bound, bool(rise <= bound), "observed")]
    if hasattr(model, "inertias_"):
        off = abs(float(np.min(model.inertias_)) - loss)
        claims.append(within("starts", f"the best start ended {off:.1e} from the loss", off, slack))
    return claims


def optimum_claim(X: Any, weight: Floats, K: int, loss: float, effort: int) -> Claim:
    """How far the loss is from the best possible one."""
    bound, how = best_bound(X, weight, K, loss, effort)
    loss *= 1 + 4 * (sum(X.shape) + 8) * EPS  # rounded up: sums over columns, then over rows
    if not bound > 0:
        reason = "the loss is 0, the best possible" if loss <= 0 else (
            "no informative lower bound of the best possible loss is known here"
        )  # fmt: skip
        return measured("optimum", reason, 0.0 if loss <= 0 else np.inf)
    excess = max(loss / bound - 1, 0.0)
    statement = (
        f"the loss is within {100 * excess:.2g}% of the best possible: no {K} centres have a "
        f"loss below {bound:.6g} ({how})"
    )
    return measured("optimum", statement, excess)
