"""Beliefs about a Gaussian's mean, its variance, or both."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from numpy.typing import ArrayLike
from scipy import stats

from rosenblatt.information.inputs import number

from .belief import Belief, Checks, interval, observations


@dataclass(frozen=True)
class NormalNormal(Belief):
    """Gaussian belief about the mean of a Gaussian whose variance is known.

    ``mu ~ N(mean, variance)``: after x_1 .. x_n, precisions (one over variances) add, and the
    mean is their average ``(mean/variance + sum x/known) / (1/variance + n/known)``.

    Parameters
    ----------
    mean, variance : of the belief; variance > 0.
    known_variance : of the observations, > 0.

    Examples
    --------
    >>> from rosenblatt.estimation import NormalNormal
    >>> belief = NormalNormal(0, 1, known_variance=4).posterior([3, 5, 4, 4])
    >>> belief
    NormalNormal(mean=2.0, variance=0.5, known_variance=4.0)
    >>> belief.mode
    2.0
    >>> round(float(belief.predictive().var()), 6)  # of the next observation
    4.5
    """

    mean: float = 0.0
    variance: float = 1.0
    known_variance: float = field(kw_only=True)
    checks: ClassVar[Checks] = {"mean": number}

    def posterior(self, x: ArrayLike) -> "NormalNormal":
        """Belief after observations."""
        values = observations(x)
        precision = 1 / self.variance + len(values) / self.known_variance
        # The mean moves towards the data by their share of the precision.
        share = len(values) / self.known_variance / precision
        mean = self.mean + share * (float(values.mean()) - self.mean)
        return NormalNormal(mean, 1 / precision, known_variance=self.known_variance)

    @property
    def distribution(self) -> Any:
        """`scipy.stats.norm`."""
        return stats.norm(self.mean, math.sqrt(self.variance))

    @property
    def mode(self) -> float:
        """Most probable mean, the MAP estimate: the mean of the belief itself."""
        return self.mean

    def predictive(self) -> Any:
        """The next observation: `scipy.stats.norm`, both variances added."""
        return stats.norm(self.mean, math.sqrt(self.variance + self.known_variance))


@dataclass(frozen=True)
class InverseGammaNormal(Belief):
    """Inverse gamma belief about the variance of a Gaussian whose mean is known.

    ``s^2 ~ InverseGamma(shape, scale)``, density ``v^(-shape-1) exp(-scale/v)``: after
    x_1 .. x_n it is ``InverseGamma(shape + n/2, scale + sum (x - mu)^2 / 2)``.

    Parameters
    ----------
    shape, scale : numbers > 0.
    known_mean : of the observations.

    Examples
    --------
    >>> from rosenblatt.estimation import InverseGammaNormal
    >>> belief = InverseGammaNormal(2, 3, known_mean=1).posterior([3, -1])
    >>> belief
    InverseGammaNormal(shape=3.0, scale=7.0, known_mean=1.0)
    >>> belief.mode, belief.mean
    (1.75, 3.5)
    >>> round(float(belief.predictive().var()), 6)  # of the next observation: Student's t
    3.5
    """

    shape: float = 1.0
    scale: float = 1.0
    known_mean: float = field(kw_only=True)
    checks: ClassVar[Checks] = {"known_mean": number}

    def posterior(self, x: ArrayLike) -> "InverseGammaNormal":
        """Belief after observations."""
        values = observations(x)
        scale = self.scale + float(((values - self.known_mean) ** 2).sum()) / 2
        return InverseGammaNormal(self.shape + len(values) / 2, scale, known_mean=self.known_mean)

    @property
    def distribution(self) -> Any:
        """`scipy.stats.invgamma`."""
        return stats.invgamma(self.shape, scale=self.scale)

    @property
    def mean(self) -> float:
        """Expected variance, ``scale / (shape - 1)``; infinite if the shape is 1 or less."""
        return self.scale / (self.shape - 1) if self.shape > 1 else math.inf

    @property
    def mode(self) -> float:
        """Most probable variance, the MAP estimate: ``scale / (shape + 1)``."""
        return self.scale / (self.shape + 1)

    @property
    def variance(self) -> float:
        """Variance of the belief; infinite if the shape is 2 or less."""
        return self.mean * self.mean / (self.shape - 2) if self.shape > 2 else math.inf

    def predictive(self) -> Any:
        """The next observation: `scipy.stats.t`."""
        return stats.t(2 * self.shape, self.known_mean, math.sqrt(self.scale / self.shape))


class MeanAndPrecision(NamedTuple):
    """A pair of answers: of a Gaussian's mean, and of its precision, one over the variance.

    Examples
    --------
    >>> from rosenblatt.estimation import NormalGammaNormal
    >>> NormalGammaNormal(0, 1, 2, 4).mode
    MeanAndPrecision(mean=0.0, precision=0.375)
    """

    mean: Any
    precision: Any


@dataclass(frozen=True)
class NormalGammaNormal(Belief):
    """Normal-gamma belief about both the mean and the precision of a Gaussian.

    The precision (one over the variance) is ``Gamma(shape, rate)``; given it, the mean is Gaussian
    around `location` with `strength` times that precision, as if `strength` observations had been
    seen before. After x_1 .. x_n with average m and scatter ``S = sum (x - m)^2``:

    - location: ``(strength location + n m) / (strength + n)``; strength: ``strength + n``;
    - shape: ``shape + n/2``;
    - rate: ``rate + S/2 + strength n (m - location)^2 / (2 (strength + n))``.

    Parameters
    ----------
    location : a number.
    strength, shape, rate : numbers > 0.

    Examples
    --------
    >>> from rosenblatt.estimation import NormalGammaNormal
    >>> belief = NormalGammaNormal(0, 1, 1, 1).posterior([1, 2, 3])
    >>> belief
    NormalGammaNormal(location=1.5, strength=4.0, shape=2.5, rate=3.5)
    >>> round(belief.mean.precision, 6), round(belief.mode.precision, 6)
    (0.714286, 0.571429)
    >>> low, high = belief.credible_interval(0.95).mean
    >>> round(low, 6), round(high, 6)
    (-0.020777, 3.020777)
    >>> float(belief.predictive().mean())
    1.5
    """

    location: float = 0.0
    strength: float = 1.0
    shape: float = 1.0
    rate: float = 1.0
    checks: ClassVar[Checks] = {"location": number}

    def posterior(self, x: ArrayLike) -> "NormalGammaNormal":
        """Belief after observations."""
        values = observations(x)
        n, m = len(values), float(values.mean())
        share = n / (self.strength + n)
        scatter = float(((values - m) ** 2).sum())
        shift = (m - self.location) ** 2
        return NormalGammaNormal(
            self.location + share * (m - self.location),
            self.strength + n,
            self.shape + n / 2,
            self.rate + scatter / 2 + self.strength * share * shift / 2,
        )

    @property
    def distribution(self) -> Any:
        """The same belief about mean and *variance*: `scipy.stats.normal_inverse_gamma`."""
        return stats.normal_inverse_gamma(
            mu=self.location, lmbda=self.strength, a=self.shape, b=self.rate
        )

    @property
    def marginals(self) -> MeanAndPrecision:
        """Each parameter on its own: `scipy.stats.t` and `scipy.stats.gamma`."""
        width = math.sqrt(self.rate / self.shape / self.strength)
        return MeanAndPrecision(
            stats.t(2 * self.shape, self.location, width),
            stats.gamma(self.shape, scale=1 / self.rate),
        )

    @property
    def mean(self) -> MeanAndPrecision:
        """Expected mean and precision; of the mean it is the middle if the shape is 1/2 or less."""
        return MeanAndPrecision(self.location, self.shape / self.rate)

    @property
    def mode(self) -> MeanAndPrecision:
        """Most probable pair, the MAP estimate: location and ``(shape - 1/2) / rate``.

        It is the mode in mean and precision; in mean and variance another pair is most probable.
        """
        if self.shape <= 0.5:
            raise ValueError(
                f"shape must be a number > 0.5 for a most probable pair; got {self.shape!r}: "
                "take the mean, or add data."
            )
        return MeanAndPrecision(self.location, (self.shape - 0.5) / self.rate)

    @property
    def variance(self) -> MeanAndPrecision:
        """Variance of the belief about each; infinite of the mean if the shape is 1 or less."""
        of_mean = self.rate / (self.shape - 1) / self.strength if self.shape > 1 else math.inf
        return MeanAndPrecision(of_mean, self.shape / self.rate / self.rate)

    def credible_interval(self, mass: float = 0.95) -> MeanAndPrecision:
        """Equal-tailed intervals (low, high) of each parameter on its own.

        One over the ends of the precision's, exchanged, is an interval of the variance.

        Examples
        --------
        >>> from rosenblatt.estimation import NormalGammaNormal
        >>> low, high = NormalGammaNormal(0, 1, 1, 1).credible_interval(0.5).precision
        >>> round(low, 6), round(high, 6)
        (0.287682, 1.386294)
        """
        of_mean, of_precision = self.marginals
        return MeanAndPrecision(interval(of_mean, mass), interval(of_precision, mass))

    def predictive(self) -> Any:
        """The next observation: `scipy.stats.t`."""
        width = math.sqrt(self.rate / self.shape * (1 + 1 / self.strength))
        return stats.t(2 * self.shape, self.location, width)
