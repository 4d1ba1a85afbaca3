"""Fisher's discriminant: the direction, and where its line is cut.

With n the weight of all rows, n w and n t are the plane of two Gaussians of the covariance
``S = S_W / n``, so that what is off can be said in units of log-odds.
"""

from typing import Any

import numpy as np

from .claims import Claim
from .comparing import EPS, ClassData, Floats, agrees, size_claim, unit
from .decisions import Scores, decision_claims
from .moments import moments, rounding_of_means, shrunk, statistics_claims
from .planes import Spread, plane_claims, rank_claims
from .quadratic import means_claim


def fisher(model: Any, data: ClassData, tol: float) -> list[Claim]:
    """The direction with the largest ratio of distance between means to spread within."""
    found = moments(data, data.X, full=True)
    n, d = float(data.weight.sum()), data.X.shape[1]
    S = found.scatter.sum(axis=0) / n
    spread = Spread.of(shrunk(S, getattr(model, "shrinkage", None)))
    off = rounding_of_means(model, model.means_, data.X)
    gap = found.mean[1] - found.mean[0]
    right = spread.solved(gap[np.newaxis])[0]  # n w
    w, t = np.asarray(model.direction_, np.float64), float(model.threshold_)
    coef, b = np.asarray(model.coef_, np.float64), np.asarray(model.intercept_, np.float64)
    fitted = data.X @ coef[0] + b[0]
    sizes = np.abs(data.X) @ np.abs(coef[0]) + abs(b[0])
    scores = np.column_stack([np.zeros_like(fitted), fitted])
    both = np.column_stack([np.zeros_like(sizes), sizes])
    lean = _lean(model, data.counts, float(right @ S @ right), float(right @ gap))
    planes = plane_claims(
        model, n * np.array([0 * w, w]), n * np.array([0.0, -t]), np.array([0 * right, right]),
        found.mean, np.array([0.0, lean]), spread, off,
    )  # fmt: skip
    if model.threshold == "scan" and right @ gap > 0:
        planes = [claim for claim in planes if claim.name != "biases"] + [
            scan_claim(data, w, t, unit(model.direction_))
        ]
    apart = float(np.sqrt(max(right @ gap, 0.0)))  # of the means, in deviations
    blur = 4 * float(np.linalg.norm(off / spread.scale)) / np.sqrt(spread.weakest)
    blur = 256 * EPS * d / spread.weakest + (blur / apart if apart > 0 else 1.0)
    return [
        *decision_claims(model, data, Scores.of(model, scores, both, d, model.coef_)),
        means_claim(model, found, off),
        *planes,
        *criterion_claims(model, w, gap, n * spread.S, n * S, right / n, blur),
        agrees("plane", "the weights of the plane", coef, w[np.newaxis]),
        agrees("cut", "its intercept", model.intercept_, [-t]),
        *rank_claims(model, spread),
        *size_claim(model, d + 1, shares=False),
        *statistics_claims(model, data, found, off),
    ]  # fmt: skip


def _lean(model: Any, counts: Floats, spread: float, between: float) -> float:
    """The log-odds halfway between the means: none, or those of the shares."""
    if model.threshold != "prior" or between <= 0:
        return 0.0
    return float(np.log(counts[1] / counts[0]) * spread / between)


def scan_claim(data: ClassData, w: Floats, t: float, precision: float) -> Claim:
    """That no other cut of the line leaves less weight on the wrong side."""
    line = data.X @ w
    order = np.argsort(line, kind="stable")
    second, each = data.codes[order] == 1, data.weight[order]
    below = np.concatenate([[0.0], np.cumsum(np.where(second, each, 0.0))])
    above = np.concatenate([np.cumsum(np.where(second, 0.0, each)[::-1])[::-1], [0.0]])
    at = np.concatenate([[True], np.diff(line[order]) > 0, [True]])  # not between equals
    least = float((below + above)[at].min())
    doubtful = np.abs(line - t) <= 8 * precision * (np.abs(data.X) @ np.abs(w) + abs(t))
    wrong = (line >= t) != (data.codes == 1)
    reached = float(data.weight[wrong & ~doubtful].sum())
    statement = (
        f"weight {reached:g} is on the wrong side of the cut; the least possible is {least:g}"
    )
    allowed = least + 1e-9 * float(data.weight.sum())
    return Claim("cut of the line", statement, reached, allowed, reached <= allowed, "checked")


def criterion_claims(
    model: Any, w: Floats, gap: Floats, within: Floats, S_W: Floats, best_w: Floats, blur: float
) -> list[Claim]:
    """That no direction reaches a larger J, and that the J published is that of the direction."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reached = float((w @ gap) ** 2 / (w @ within @ w))
        best = float((best_w @ gap) ** 2 / (best_w @ within @ best_w))
        J = float((best_w @ gap) ** 2 / (best_w @ S_W @ best_w))
    reached, best, J = (float(np.nan_to_num(number)) for number in (reached, best, J))
    allowed = max(1e-8, 64 * unit(model.direction_)) + blur
    short = 1 - reached / best if best > 0 else 0.0
    statement = f"the direction reaches J = {reached:.6g}; the largest possible is {best:.6g}"
    return [
        Claim("criterion", statement, reached, best, bool(short <= allowed), "checked"),
        agrees("J", "the criterion published", model.criterion_, J, slack=allowed * J),
    ]
