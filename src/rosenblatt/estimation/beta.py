"""Beliefs about a probability, from three ways of counting successes."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from scipy import stats

from rosenblatt.information.inputs import whole

from .belief import Belief, Checks, observations, successes_and_trials
from .dirichlet import dirichlet_mode


@dataclass(frozen=True)
class Beta(Belief):
    """A belief about a probability: density ``p^(a-1) (1-p)^(b-1)``, up to a constant."""

    a: float = 1.0
    b: float = 1.0

    def _after(self, successes: float, failures: float) -> Self:
        """The posterior, which adds what was counted; other fields stay."""
        return replace(self, a=self.a + successes, b=self.b + failures)

    @property
    def distribution(self) -> Any:
        """`scipy.stats.beta`."""
        return stats.beta(self.a, self.b)

    @property
    def mean(self) -> float:
        """Expected probability: that of the next success."""
        return self.a / (self.a + self.b)

    @property
    def mode(self) -> float:
        """Most probable value, the MAP estimate: ``(a - 1) / (a + b - 2)``, or an end point."""
        return float(dirichlet_mode([self.a, self.b])[0])

    @property
    def variance(self) -> float:
        """Variance of the belief."""
        return self.mean * (1 - self.mean) / (self.a + self.b + 1)


class BetaBinomial(Beta):
    """Beta belief about the probability of success, from successes among trials.

    ``theta ~ Beta(a, b)``: after k successes in n trials it is ``Beta(a + k, b + n - k)``, as
    if ``a - 1`` successes and ``b - 1`` failures had been seen before. A single flip is a trial of
    its own, so this is the Bernoulli case too.

    Parameters
    ----------
    a, b : numbers > 0; (1, 1) is flat, larger numbers are firmer beliefs.

    Examples
    --------
    >>> from rosenblatt.estimation import BetaBinomial
    >>> belief = BetaBinomial(2, 2).posterior(3, 5)
    >>> belief
    BetaBinomial(a=5.0, b=4.0)
    >>> round(belief.mode, 6), round(belief.mean, 6)
    (0.571429, 0.555556)
    >>> low, high = belief.credible_interval(0.9)
    >>> round(low, 6), round(high, 6)
    (0.289241, 0.807097)
    >>> round(float(belief.predictive(trials=2).pmf(2)), 6)
    0.333333
    """

    def posterior(self, successes: ArrayLike, trials: ArrayLike = 1) -> Self:
        """Belief after successes in trials: numbers, or lists of them, whole or weighted.

        Examples
        --------
        >>> from rosenblatt.estimation import BetaBinomial
        >>> BetaBinomial().posterior([1, 0, 1, 1])           # four flips
        BetaBinomial(a=4.0, b=2.0)
        """
        worked, tried = successes_and_trials(successes, trials)
        return self._after(worked.sum(), (tried - worked).sum())

    def predictive(self, trials: int = 1) -> Any:
        """Successes in the next trials: `scipy.stats.betabinom`."""
        return stats.betabinom(int(whole(trials, "trials", least=1)), self.a, self.b)


@dataclass(frozen=True)
class BetaNegativeBinomial(Beta):
    """Beta belief about the probability of success, from failures before the r-th success.

    ``theta ~ Beta(a, b)``: after n runs with x_1 .. x_n failures, each ended by its r-th
    success, it is ``Beta(a + r n, b + sum x)``.

    Parameters
    ----------
    a, b : numbers > 0.
    successes : r, a whole number >= 1, known.

    Examples
    --------
    >>> from rosenblatt.estimation import BetaNegativeBinomial
    >>> belief = BetaNegativeBinomial(1, 1, successes=3).posterior([2, 4])
    >>> belief
    BetaNegativeBinomial(a=7.0, b=7.0, successes=3)
    >>> belief.mode
    0.5
    >>> round(float(belief.predictive().mean()), 6)  # failures before the next 3 successes
    3.5
    """

    successes: int = field(kw_only=True)
    checks: ClassVar[Checks] = {"successes": lambda r, name: int(whole(r, name, least=1))}

    def posterior(self, failures: ArrayLike) -> Self:
        """Belief after one more run for each number of failures."""
        x = whole(observations(failures, "failures"), "failures")
        return self._after(self.successes * len(x), x.sum())

    def predictive(self) -> Any:
        """Failures in the next run: `scipy.stats.betanbinom`."""
        return stats.betanbinom(self.successes, self.a, self.b)


class BetaGeometric(Beta):
    """Beta belief about the probability of success, from trials up to the first success.

    ``theta ~ Beta(a, b)``: after n runs of x_1 .. x_n trials, the successful last one counted,
    it is ``Beta(a + n, b + sum x - n)``. (`BetaNegativeBinomial` counts failures only.)

    Parameters
    ----------
    a, b : numbers > 0.

    Examples
    --------
    >>> from rosenblatt.estimation import BetaGeometric
    >>> belief = BetaGeometric(1, 1).posterior([1, 4, 2])
    >>> belief
    BetaGeometric(a=4.0, b=5.0)
    >>> round(float(belief.predictive().pmf(1)), 6) == round(belief.mean, 6)
    True
    """

    def posterior(self, trials: ArrayLike) -> Self:
        """Belief after one more run for each number of trials, 1 or more."""
        x = whole(observations(trials, "trials"), "trials", least=1)
        return self._after(len(x), (x - 1).sum())

    def predictive(self) -> Any:
        """Trials in the next run: `scipy.stats.betanbinom` of one success, shifted by one."""
        return stats.betanbinom(1, self.a, self.b, loc=1)
