"""What all beliefs about a parameter share.

A belief is a prior before the data and a posterior after: the same kind of object, for a conjugate
prior keeps its family. ``prior.posterior(data)`` returns a new one; nothing is changed in place.
"""

import math
from typing import Any

import numpy as np

from rosenblatt.information.inputs import unit_share


class Belief:
    """A distribution over a parameter; its families say which."""

    @property
    def distribution(self) -> Any:
        """The belief as a frozen distribution of `scipy.stats`: pdf, cdf, rvs and so on."""
        raise NotImplementedError

    def credible_interval(self, mass: float = 0.95) -> Any:
        """Equal-tailed interval that holds the parameter with probability `mass`.

        Parameters
        ----------
        mass : strictly between 0 and 1; half of the rest lies on either side.

        Returns
        -------
        low, high : floats.
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


def store(belief: Belief, **values: Any) -> None:
    """Set checked fields of a frozen belief while it is being made."""
    for name, value in values.items():
        object.__setattr__(belief, name, value)
