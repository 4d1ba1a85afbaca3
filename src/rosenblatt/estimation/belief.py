"""What all beliefs about a parameter share.

A belief is a prior before the data and a posterior after: the same kind of object, for a conjugate
prior keeps its family. ``prior.posterior(data)`` returns a new one; nothing is changed in place.
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from rosenblatt.information.inputs import (
    Floats,
    nonnegative,
    numbers,
    positive,
    refuse,
    unit_share,
)

Check = Callable[[Any, str], Any]
Checks = dict[str, Check]


class Belief:
    """A distribution over a parameter; its families say which.

    Fields are checked when a belief is made: they are numbers > 0 unless `checks` has another rule.
    """

    checks: ClassVar[Checks] = {}

    def __post_init__(self) -> None:
        for name, value in vars(self).copy().items():
            check: Check = self.checks.get(name, positive)
            object.__setattr__(self, name, check(value, name))

    @property
    def distribution(self) -> Any:
        """The belief as a frozen distribution of `scipy.stats`: pdf, cdf, rvs and so on."""
        raise NotImplementedError

    def credible_interval(self, mass: float = 0.95) -> Any:
        """Equal-tailed interval (low, high) that holds the parameter with probability `mass`.

        The mass is strictly between 0 and 1; half of the rest lies on either side.
        """
        return interval(self.distribution, mass)


def interval(distribution: Any, mass: float) -> tuple[float, float]:
    """Return the two ends that leave half of what is not in `mass` outside each."""
    tail = (1 - unit_share(mass, "mass")) / 2
    with np.errstate(all="ignore"):  # a quantile past the largest float is infinite, rightly
        ends = float(distribution.ppf(tail)), float(distribution.isf(tail))
    if any(math.isnan(end) for end in ends):
        raise ValueError(
            f"the parameters {distribution.args} {distribution.kwds} are too extreme "
            "for an interval in float64: rescale the data."
        )
    return ends


# What the estimators accept as observations.


def observations(x: Any, name: str = "x") -> Floats:
    """Return one number or a list of them as a vector."""
    array = np.atleast_1d(numbers(x, name))
    if array.ndim != 1:
        raise ValueError(f"{name} must be a list of numbers; got an array of shape {array.shape}.")
    return array


def flips(x: Any) -> Floats:
    """Return observations that are all 0 or 1."""
    array = observations(x)
    refuse(array, (array != 0) & (array != 1), "x", "hold 0 and 1 only")
    return array


def successes_and_trials(successes: Any, trials: Any) -> tuple[Floats, Floats]:
    """Return how often it worked and how often it was tried, as vectors of one length."""
    worked, tried = nonnegative(successes, "successes"), nonnegative(trials, "trials")
    try:
        worked, tried = np.broadcast_arrays(worked, tried)
    except ValueError:
        raise ValueError(
            f"successes and trials must have the same shape; got {worked.shape} and {tried.shape}."
        ) from None
    worked, tried = worked.ravel(), tried.ravel()
    if (worked > tried).any():
        i = int(np.argmax(worked > tried))
        raise ValueError(
            f"successes must not exceed trials; got {worked[i]:g} successes in {tried[i]:g} trials."
        )
    return worked, tried
