"""Beliefs about the probabilities of several outcomes."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from rosenblatt.information.inputs import (
    BEYOND,
    Floats,
    nonnegative,
    numbers,
    refuse,
    unit_share,
    whole,
)

from .belief import Belief, Checks


def check_alpha(alpha: Any) -> Floats:
    """Return numbers above zero."""
    array = numbers(alpha, "alpha")
    refuse(array, array <= 0, "alpha", "hold numbers > 0")
    refuse(array, array < 1 / BEYOND, "alpha", f"hold numbers not below {1 / BEYOND:g}")
    return array


def _several(alpha: Any, name: str) -> tuple[float, ...]:
    array = check_alpha(alpha)
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(f"{name} must be a list of two numbers or more; got shape {array.shape}.")
    return tuple(array.tolist())


@dataclass(frozen=True)
class DirichletMultinomial(Belief):
    """Dirichlet belief about the probabilities of K outcomes that are counted.

    ``p ~ Dirichlet(alpha)``, counts n multinomial: the posterior is ``Dirichlet(alpha + n)``.
    With two outcomes it is `BetaBinomial`.

    Parameters
    ----------
    alpha : K >= 2 numbers > 0; ``alpha - 1`` acts as counts seen before. All ones is flat.

    Examples
    --------
    >>> from rosenblatt.estimation import DirichletMultinomial
    >>> belief = DirichletMultinomial([1, 1, 1]).posterior([2, 1, 0])
    >>> belief
    DirichletMultinomial(alpha=(3.0, 2.0, 1.0))
    >>> belief.mode.round(6), belief.mean.round(6)
    (array([0.666667, 0.333333, 0.      ]), array([0.5     , 0.333333, 0.166667]))
    >>> round(float(belief.predictive(trials=2).pmf([1, 1, 0])), 6)
    0.285714
    """

    alpha: Any
    checks: ClassVar[Checks] = {"alpha": _several}

    def posterior(self, counts: ArrayLike) -> "DirichletMultinomial":
        """Belief after counts (K,), or several rows of them (m, K), whole or weighted.

        Examples
        --------
        >>> from rosenblatt.estimation import DirichletMultinomial
        >>> DirichletMultinomial([1, 1]).posterior([[2, 0], [1, 1]])
        DirichletMultinomial(alpha=(4.0, 2.0))
        """
        seen = nonnegative(counts, "counts")
        if seen.ndim not in (1, 2) or seen.shape[-1] != len(self.alpha):
            raise ValueError(
                f"counts must have {len(self.alpha)} columns, one for each entry of alpha; "
                f"got shape {seen.shape}."
            )
        return DirichletMultinomial(np.add(self.alpha, seen.reshape(-1, len(self.alpha)).sum(0)))

    @property
    def distribution(self) -> Any:
        """`scipy.stats.dirichlet`, of all probabilities together."""
        return stats.dirichlet(self.alpha)

    @property
    def mean(self) -> Floats:
        """Expected probabilities (K,): those of the next outcome."""
        return np.asarray(np.divide(self.alpha, sum(self.alpha)))

    @property
    def mode(self) -> Floats:
        """Most probable probabilities (K,): the MAP estimate."""
        return dirichlet_mode(self.alpha)

    @property
    def variance(self) -> Floats:
        """Variance of each probability, (K,)."""
        p = self.mean
        return np.asarray(p * (1 - p) / (sum(self.alpha) + 1))

    def credible_interval(self, mass: float = 0.95) -> Floats:
        """Equal-tailed interval of each probability on its own, shape (K, 2).

        Examples
        --------
        >>> from rosenblatt.estimation import DirichletMultinomial
        >>> DirichletMultinomial([1, 1]).credible_interval(0.5)
        array([[0.25, 0.75],
               [0.25, 0.75]])
        """
        tail = (1 - unit_share(mass, "mass")) / 2
        alpha = np.asarray(self.alpha)
        rest = np.array([np.delete(alpha, k).sum() for k in range(len(alpha))])
        each = stats.beta(alpha, rest)  # what a Dirichlet is to one of its parts
        return np.column_stack([each.ppf(tail), each.isf(tail)])

    def predictive(self, trials: int = 1) -> Any:
        """Counts of the next trials: `scipy.stats.dirichlet_multinomial`."""
        n = whole(trials, "trials", least=1)
        return stats.dirichlet_multinomial(np.asarray(self.alpha), int(n))


def dirichlet_mode(alpha: Any) -> Floats:
    """Return where the density ``prod p_k^(alpha_k - 1)`` is largest.

    An outcome whose alpha is below 1 has an infinite density at probability zero, so the mode is
    there, at an end point, and the others share what is left.
    """
    excess = np.asarray(alpha) - 1
    stay = excess >= 0
    if stay.sum() == 1:
        return stay.astype(np.float64)
    total = excess[stay].sum()
    if total == 0:  # nothing stays, or the density is flat among those that do
        raise ValueError(
            f"a belief with parameters {tuple(float(a) for a in alpha)} has no single most "
            "probable value; take the mean, or a prior with a parameter above 1."
        )
    return np.where(stay, excess / total, 0.0)
