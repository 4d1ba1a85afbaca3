"""Beliefs about a rate, from counts or from waiting times."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from rosenblatt.information.inputs import nonnegative, numbers, positive, refuse, whole

from .belief import Belief, observations


@dataclass(frozen=True)
class Gamma(Belief):
    """A belief about a rate: density ``r^(shape-1) exp(-rate r)``, up to a constant."""

    shape: float = 1.0
    rate: float = 1.0

    @property
    def distribution(self) -> Any:
        """`scipy.stats.gamma`, whose scale is one over the rate."""
        return stats.gamma(self.shape, scale=1 / self.rate)

    @property
    def mean(self) -> float:
        """Expected rate, ``shape / rate``."""
        return self.shape / self.rate

    @property
    def mode(self) -> float:
        """Most probable rate, the MAP estimate: ``(shape - 1) / rate``, or zero."""
        return max(self.shape - 1, 0.0) / self.rate

    @property
    def variance(self) -> float:
        """Variance of the belief, ``shape / rate^2``."""
        return self.shape / self.rate / self.rate


class GammaPoisson(Gamma):
    """Gamma belief about the rate of events, from how many occurred.

    ``lambda ~ Gamma(shape, rate)``: after counts x_1 .. x_n, each of a unit of time, it is
    ``Gamma(shape + sum x, rate + n)``, as if `shape` events had been seen in `rate` units before.

    Parameters
    ----------
    shape, rate : numbers > 0.

    Examples
    --------
    >>> from rosenblatt.estimation import GammaPoisson
    >>> belief = GammaPoisson(2, 1).posterior([3, 5, 4])
    >>> belief
    GammaPoisson(shape=14.0, rate=4.0)
    >>> belief.mode, belief.mean
    (3.25, 3.5)
    >>> round(float(belief.predictive().pmf(0)), 6)  # no event in the next unit
    0.04398
    """

    def posterior(self, counts: ArrayLike, exposure: ArrayLike = 1.0) -> Self:
        """Belief after counts of events, each during its exposure (time, area, ...), one unit
        unless told.

        Examples
        --------
        >>> from rosenblatt.estimation import GammaPoisson
        >>> GammaPoisson(1, 1).posterior([6, 1], exposure=[3, 0.5])
        GammaPoisson(shape=8.0, rate=4.5)
        """
        x = whole(observations(counts, "counts"), "counts")
        time = numbers(exposure, "exposure")
        refuse(time, time <= 0, "exposure", "hold numbers > 0")
        if time.shape not in ((), x.shape):
            raise ValueError(
                "exposure must be one number, or one for each count; "
                f"got shape {time.shape} for {len(x)} counts."
            )
        total = np.broadcast_to(time, x.shape).sum()
        return type(self)(self.shape + x.sum(), self.rate + total)

    def predictive(self, exposure: float = 1.0) -> Any:
        """Events in the next exposure: `scipy.stats.nbinom`."""
        time = positive(exposure, "exposure")
        return stats.nbinom(self.shape, self.rate / (self.rate + time))


class GammaExponential(Gamma):
    """Gamma belief about the rate of events, from the times waited for them.

    ``lambda ~ Gamma(shape, rate)``: after exponential waiting times x_1 .. x_n it is
    ``Gamma(shape + n, rate + sum x)``.

    Parameters
    ----------
    shape, rate : numbers > 0.

    Examples
    --------
    >>> from rosenblatt.estimation import GammaExponential
    >>> belief = GammaExponential(1, 1).posterior([0.5, 2.5])
    >>> belief
    GammaExponential(shape=3.0, rate=4.0)
    >>> belief.mode
    0.5
    >>> round(float(belief.predictive().sf(4)), 6)  # the next wait is longer than 4
    0.125
    """

    def posterior(self, x: ArrayLike) -> Self:
        """Belief after waiting times, none negative."""
        times = nonnegative(observations(x), "x")
        return type(self)(self.shape + len(times), self.rate + times.sum())

    def predictive(self) -> Any:
        """The next waiting time: `scipy.stats.lomax`."""
        return stats.lomax(self.shape, scale=self.rate)
