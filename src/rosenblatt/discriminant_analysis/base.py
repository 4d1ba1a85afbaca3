"""What all discriminants share: class moments, and what to do when these are not enough."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from rosenblatt.additive import rows_needed
from rosenblatt.additive_classifier import AdditiveClassifier
from rosenblatt.runtime.interrupts import MANY_UNKNOWNS, interruptible
from rosenblatt.statistics import Labels, Moments, Statistic
from rosenblatt.statistics.sums import relative_noise


class Undetermined(np.linalg.LinAlgError):
    """The rows do not determine the model; a stream may bring more."""


class Discriminant(AdditiveClassifier):
    """A classifier that follows from the weight, mean and scatter of each class."""

    statistics_: Moments

    statistic_type = (Moments, {"missing": "refuse"})

    _reread: Any = None  # what a second look at the rows gave, between `_measure` and `_conclude`
    _lacking: str | None = None  # what a stream has not told yet

    @abstractmethod
    def _draw(self) -> None:
        """Set the fitted attributes that `statistics_` implies, or raise `Undetermined`."""

    def _row_reader(self) -> str | None:
        """The setting that asks for the rows themselves, which no statistic keeps; None if none."""
        return None

    def _read_again(self, X: Any, y: Labels, sample_weight: NDArray[Any] | None) -> Any:
        """What that setting wants from the checked rows."""

    def _diagonal(self) -> bool:
        """Whether products of different features are left out."""
        return False

    def _counted_with(self) -> dict[str, Any]:
        return {"full": not self._diagonal()}

    def _stores_single_rows(self) -> bool:
        return self._row_reader() is None

    def _measure(
        self, X: Any, y: Labels, sample_weight: NDArray[Any] | None, careful: bool = False
    ) -> Statistic:
        if self._during == "fit" and self._row_reader():
            self._reread = self._read_again(X, y, sample_weight)
        return super()._measure(X, y, sample_weight, careful)

    def _conclude(self) -> None:
        reader = self._row_reader()
        if reader and self._during != "fit":
            raise rows_needed(reader)
        if not (self.statistics_.full or self._diagonal()):
            raise ValueError(
                "These statistics have no products of different features; make them with "
                "Moments.of(X, y, full=True)."
            )
        if self._diagonal():
            self.statistics_ = self.statistics_.diagonal()
        self._lacking = None
        try:
            self._draw()
        except Undetermined as lack:
            if self._during != "partial_fit":
                raise
            self._lacking = str(lack)
        self._reread = None

    def _forget_bound(self, before: Any, left: Any) -> float:
        return relative_noise(before, left, pooled=True)  # the covariance is one for all classes

    def _check_known(self) -> None:
        """Raise if there is no model to predict with."""
        check_is_fitted(self)
        if self._lacking:
            raise NotFittedError(f"The rows so far do not make a model. {self._lacking}")


# Covariances: shrunk, turned, scaled, and what planes follow from them.
#
# Legend: K classes, d features, priors (K,), means (K, d), covariances (d, d).


# A direction is no direction when its variance, the features scaled to one, is below this times d.
ROUNDING = 1e-14

ALIKE = 1e3  # scales that are no farther apart take three digits from the smallest

Array = NDArray[np.float64]


def shrunk(covariance: Array, shrinkage: Any) -> Array:
    """(1 - s) covariance + s mean(variances) I; s = None means none."""
    if not shrinkage:
        return covariance
    mean = np.trace(covariance) / len(covariance)
    return np.asarray((1.0 - shrinkage) * covariance + shrinkage * mean * np.eye(len(covariance)))


def directions(covariance: Array, least: float = 0.0) -> tuple[Array, Array]:
    """Columns W (d, r) with ``W.T @ covariance @ W = I``, and their deviations (r,) before."""
    # The features are scaled to deviation one first. Directions with a deviation of at most `least`
    # after it, or below rounding, are dropped: nothing is known of them.
    deviation = np.sqrt(np.diag(covariance))
    scale = np.where(deviation > 0, deviation, 1.0)
    scaled = covariance / np.outer(scale, scale)
    variances, axes = interruptible(lambda: np.linalg.eigh(scaled), len(scaled) >= MANY_UNKNOWNS)
    variances, axes = variances[::-1], upright(axes[:, ::-1])
    floor = max(least**2, ROUNDING * len(covariance))
    kept = variances > floor
    deviations = np.sqrt(variances[kept])
    return axes[:, kept] / scale[:, None] / deviations, deviations


def principal_axes(covariance: Array) -> tuple[Array, Array]:
    """The variances (d,) along the principal axes (d, d) of a covariance, largest first."""
    # Where the features' scales are far apart, by way of a square root of it, after scaling them to
    # deviation one: rounding is then relative to a direction's own features, and one measured in
    # other units drowns none.
    deviation = np.sqrt(np.diag(covariance))
    scale = np.where(deviation > 0, deviation, deviation.max() or 1.0)
    if scale.max() <= ALIKE * scale.min():
        variances, axes = np.linalg.eigh(covariance)
        return variances[::-1], upright(axes[:, ::-1])
    variances, axes = np.linalg.eigh(covariance / np.outer(scale, scale))
    root = scale[:, None] * axes * np.sqrt(variances.clip(0))
    axes, deviations, _ = np.linalg.svd(root)
    return deviations**2, upright(axes)


def upright(columns: Array) -> Array:
    """The columns (d, r), each with the sign that makes its largest entry positive."""
    largest = np.abs(columns).argmax(axis=0)
    signs = np.where(np.take_along_axis(columns, largest[None], 0)[0] < 0, -1.0, 1.0)
    return np.asarray(columns * signs)


def with_log(shares: Array) -> Array:
    """log of shares, minus infinity for none."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))


def planes_about(origin: Array, priors: Array, means: Array, axes: Array) -> tuple[Array, Array]:
    """Planes (K, d) and intercepts (K,) of densities whose S^-1 is axes axes', up to one."""
    # With z = axes'(x - origin): log P(y) - |z - z_y|^2 / 2 is log P(y) + z.z_y - |z_y|^2 / 2, less
    # |z|^2 / 2, which is the same for all.
    away = (means - origin) @ axes
    coef = away @ axes.T
    return coef, with_log(priors) - 0.5 * (away**2).sum(axis=1) - coef @ origin
