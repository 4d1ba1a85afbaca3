"""What all beliefs about a parameter share.

A belief is a prior before the data and a posterior after: the same kind of object, for a conjugate
prior keeps its family. ``prior.posterior(data)`` returns a new one; nothing is changed in place.
"""

from typing import Any

from ..information.inputs import unit_share


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
    return float(distribution.ppf(tail)), float(distribution.isf(tail))


def store(belief: Belief, **values: Any) -> None:
    """Set checked fields of a frozen belief while it is being made."""
    for name, value in values.items():
        object.__setattr__(belief, name, value)
