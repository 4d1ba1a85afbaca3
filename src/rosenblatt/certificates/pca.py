"""Principal components: axes, variances and what was left out, from the rows again.

Legend: rows X (n, d) of weights w, less their mean: Z; S = Z^T W Z / (sum w - 1) their covariance;
axes V (k, d), variances l (k,). Of a symmetric S, a residual |S v - l v| bounds the distance of l
from the nearest eigenvalue, for v of length one. The first k eigenvalues sum up to the most that k
orthogonal axes can have of the variance (Ky Fan); what V has of it is the trace of V S V^T.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Certificate, Claim, total_weight, within
from .closed_form import EPS, Floats, agrees, dense, unit
from .input_checks import check_columns, check_fitted

ONLY_RELATIVE_WEIGHTS = True  # a common factor of the weights changes no claim
ROWS_AT_ONCE = 4_096


@dataclass(frozen=True)
class Variation:
    """How rows vary."""

    mean: Floats  # (d,)
    weight: float
    n_rows: int
    covariance: Floats  # (d, d), or (n, n) of the products of rows if these are fewer
    scaled: Floats | None  # the rows less their mean over sqrt(sum w - 1), (n, d), if fewer
    blur: float  # how far off rounding may leave an eigenvalue

    @property
    def total(self) -> float:
        """The variance of all columns together."""
        return float(np.trace(self.covariance))

    def times(self, axes: Floats) -> Floats:
        """The covariance times each axis (k, d)."""
        if self.scaled is None:
            return np.asarray(axes @ self.covariance)
        return np.asarray((axes @ self.scaled.T) @ self.scaled)

    def matrix(self) -> Floats:
        """The covariance (d, d) itself."""
        return self.covariance if self.scaled is None else np.asarray(self.scaled.T @ self.scaled)

    def eigenvalues(self) -> Floats:
        """All that are not zero for want of rows, the largest first."""
        return np.asarray(np.linalg.eigvalsh(self.covariance)[::-1].clip(0))


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Compute mean and covariance again, and compare what was published."""
    check_fitted(model, "components_")
    X, weight = dense(X)[weight > 0], weight[weight > 0]
    check_columns(model, X)
    if weight.sum() <= 1:
        raise ValueError("Rows that weigh one in all have no variance to certify.")
    found = variation(X, weight)
    axes, variances = (
        np.asarray(a, np.float64) for a in (model.components_, model.explained_variance_)
    )
    if axes.shape != (len(variances), X.shape[1]):
        raise ValueError(
            f"components_ of shape {axes.shape} do not fit {len(variances)} variances of "
            f"{X.shape[1]} columns."
        )
    claims = [
        orthonormal_claim(model, axes),
        *eigenpair_claims(found, axes, variances, tol),
        captured_claim(found, axes, tol),
        *derived_claims(model, found, variances, tol),
        mean_claim(model, found, X),
        *statistics_claims(model, found),
        projection_claim(model, X, axes, variances),
    ]
    n, d = X.shape
    problem = f"{len(axes)} orthogonal axes that keep the most of the variance of {d:,} columns"
    data = f"the {n:,} rows and {d:,} columns given, {total_weight(weight)}"
    return Certificate(type(model).__name__, problem, data, tuple(claims))


def variation(X: Floats, weight: Floats) -> Variation:
    """Mean and covariance of rows, by two readings of them."""
    total = float(weight.sum())
    mean = weight @ X / total
    mean = mean + weight @ (X - mean) / total  # what rounding did to it
    rest = weight @ (X - mean) / total  # and what no mean can hold
    n, d = X.shape
    if n < d:
        scaled = (X - mean - rest) * np.sqrt(weight / (total - 1))[:, np.newaxis]
        covariance, rows = scaled @ scaled.T, scaled
    else:
        covariance, rows = np.zeros((d, d)), None
        for start in range(0, n, ROWS_AT_ONCE):
            block = X[start : start + ROWS_AT_ONCE] - mean - rest
            covariance += block.T @ (block * weight[start : start + ROWS_AT_ONCE, np.newaxis])
        covariance /= total - 1
    blur = 8 * EPS * max(min(n, ROWS_AT_ONCE), d) * float(np.trace(covariance))
    return Variation(mean, total, n, covariance, rows, blur)


def orthonormal_claim(model: Any, axes: Floats) -> Claim:
    """That the axes have length one and are at right angles to each other."""
    off = float(np.abs(axes @ axes.T - np.eye(len(axes))).max(initial=0.0))
    allowed = max(1e-9, 64 * unit(model.components_) * np.sqrt(axes.shape[1]))
    statement = f"the axes have length one and right angles between them, up to {off:.1e}"
    return within("orthonormal", statement, off, allowed)


def eigenpair_claims(found: Variation, axes: Floats, variances: Floats, tol: float) -> list[Claim]:
    """That the variances are those along the axes, and each close to an eigenvalue."""
    images = found.times(axes)
    along = (images * axes).sum(axis=1)
    off = float(np.abs(along - variances).max(initial=0.0))
    size = max(float(np.abs(images).max(initial=0.0)), np.finfo(float).tiny)  # squares may overflow
    residual = size * np.linalg.norm((images - variances[:, np.newaxis] * axes) / size, axis=1)
    worst = float(residual.max(initial=0.0)) + found.blur
    largest = float(max(along.max(initial=0.0), found.total / len(found.covariance)))
    allowed = tol * largest + found.blur
    misordered = float(np.maximum(np.diff(variances), 0.0).max(initial=0.0))
    return [
        within("variances", f"the variances along the axes differ by {off:.1e}", off, allowed),
        within(
            "eigenpairs",
            f"each variance is within {worst:.1e} of an eigenvalue of the covariance (residual)",
            worst,
            allowed + found.blur,
        ),
        within("order", f"variances fall from axis to axis, up to {misordered:.1e}", misordered,
               allowed),
    ]  # fmt: skip


def captured_claim(found: Variation, axes: Floats, tol: float) -> Claim:
    """By how much the axes fall short of the most that so many can have of the variance."""
    # Axes that are not quite of length one and at right angles span what others do that are.
    nearly = bool(np.abs(axes @ axes.T - np.eye(len(axes))).max(initial=0.0) < 0.1)
    spanned = np.linalg.qr(axes.T)[0].T if nearly else 0 * axes
    captured = float((found.times(spanned) * spanned).sum())
    best = float(found.eigenvalues()[: len(axes)].sum())
    gap = max(0.0, best - captured) + found.blur
    share = captured / found.total if found.total > 0 else 1.0
    statement = (
        f"the axes have {share:.2%} of the variance, within {gap:.1e} of the most that "
        f"{len(axes)} can have"
    )
    return within("captured", statement, gap, tol * found.total + 2 * found.blur)


def derived_claims(model: Any, found: Variation, variances: Floats, tol: float) -> list[Claim]:
    """What follows from the variances: ratios, singular values, noise and numbers."""
    n = found.weight if found.weight >= found.n_rows else found.n_rows
    most = min(int(n), model.n_features_in_)
    k, total = len(variances), max(found.total, np.finfo(float).tiny)
    noise = max(0.0, found.total - float(variances.sum())) / (most - k) if k < most else 0.0
    off = abs(float(model.noise_variance_) - noise)
    roots = np.sqrt(variances.clip(0) * (found.weight - 1))
    size = float(roots.max(initial=0.0))
    return [
        agrees("ratios", "the shares of the variance", model.explained_variance_ratio_,
               variances / total, scale=1.0, slack=tol),
        agrees("singular values", "the singular values", model.singular_values_, roots,
               scale=max(size, np.finfo(float).tiny), slack=tol * size),
        within("noise", f"the variance left out differs by {off:.1e}", off, tol * total),
        agrees("numbers", "the numbers of axes and of rows",
               [model.n_components_, model.n_samples_], [k, int(n)]),
    ]  # fmt: skip


def mean_claim(model: Any, found: Variation, X: Floats) -> Claim:
    """That the mean is that of the rows."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    slack = len(X) * EPS * largest + 64 * unit(model.mean_) * largest
    scale = np.sqrt(found.total) + largest + np.finfo(float).tiny
    return agrees("mean", "the means", model.mean_, found.mean, scale=scale, slack=slack)


def statistics_claims(model: Any, found: Variation) -> list[Claim]:
    """That what streams and merges is what the rows imply."""
    if not hasattr(model, "statistics_"):
        return []
    known, divisor = model.statistics_.total(), found.weight - 1
    size = found.total + np.abs(found.mean) + np.finfo(float).tiny
    return [
        agrees("statistic, weight", "the weight of the statistic", known.weight, [found.weight]),
        agrees("statistic, mean", "the means of the statistic", known.mean[0], found.mean,
               scale=size, slack=found.blur),
        agrees("statistic, scatter", "the scatter of the statistic", known.scatter[0] / divisor,
               found.matrix(), scale=found.total + np.finfo(float).tiny, slack=10 * found.blur),
    ]  # fmt: skip


def projection_claim(model: Any, X: Floats, axes: Floats, variances: Floats) -> Claim:
    """That `transform` projects the rows on the axes."""
    some = X[:: max(1, len(X) // 100)]
    derived = (some - np.asarray(model.mean_, np.float64)) @ axes.T
    own = np.asarray(model.transform(some), np.float64)
    if model.whiten:
        own = own * np.maximum(np.sqrt(variances), np.finfo(model.explained_variance_.dtype).eps)
    off = float(np.abs(own - derived).max(initial=0.0))
    size = float(np.abs(some).max(initial=0.0)) * X.shape[1]
    allowed = max(1e-9, 64 * unit(model.components_)) * size
    return within("projections", f"projections of rows differ by {off:.1e}", off, allowed)
