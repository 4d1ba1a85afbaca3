"""Point estimates: the parameter that makes the data most likely, or is itself most probable."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.information import Gaussian
from rosenblatt.information.inputs import Floats, nonnegative, number, numbers

from .belief import flips, successes_and_trials
from .beta import BetaBinomial
from .dirichlet import DirichletMultinomial, check_alpha
from .gaussian import InverseGammaNormal, NormalGammaNormal, NormalNormal


def bernoulli_mle(x: ArrayLike) -> float:
    """Most likely probability of a one: the share of ones.

    Parameters
    ----------
    x : zeros and ones.

    Examples
    --------
    >>> from rosenblatt.estimation import bernoulli_mle
    >>> bernoulli_mle([1, 1, 0, 1])
    0.75
    """
    return float(flips(x).mean())


def binomial_mle(successes: ArrayLike, trials: ArrayLike) -> float:
    """Most likely probability of success, ``k / n``: where ``k/theta = (n - k)/(1 - theta)``.

    Parameters
    ----------
    successes, trials : k and n, or lists of them, which are summed.

    Examples
    --------
    >>> from rosenblatt.estimation import binomial_mle
    >>> binomial_mle(7, 10)
    0.7
    """
    worked, tried = successes_and_trials(successes, trials)
    if not tried.any():
        raise ValueError("trials must hold a number > 0; got none: without data use binomial_map.")
    return float(worked.sum() / tried.sum())


def multinomial_mle(counts: ArrayLike) -> Floats:
    """Most likely probabilities of K outcomes, ``n_k / N``.

    Parameters
    ----------
    counts : (K,), or (..., K) for several estimates at once.

    Returns
    -------
    p : of the shape of counts, each row summing to one.

    Examples
    --------
    >>> from rosenblatt.estimation import multinomial_mle
    >>> multinomial_mle([2, 1, 1])
    array([0.5 , 0.25, 0.25])
    """
    return laplace_smoothing(counts, k=0)


def laplace_smoothing(counts: ArrayLike, k: float = 1.0) -> Floats:
    """Probabilities ``(n_j + k) / (N + k K)``: k more of each outcome than were seen.

    The MAP estimate under a Dirichlet prior with all parameters ``k + 1``, and the posterior mean
    under one with all parameters k. Each row is smoothed on its own.

    Parameters
    ----------
    counts : (K,) or (..., K), with a column for every possible outcome, seen or not.
    k : from 0 (maximum likelihood) to infinity (all alike).

    Returns
    -------
    p : of the shape of counts, each row summing to one, none zero if k > 0.

    Examples
    --------
    >>> import math
    >>> from rosenblatt.estimation import laplace_smoothing
    >>> laplace_smoothing([2, 1])
    array([0.6, 0.4])
    >>> laplace_smoothing([2, 1], k=math.inf)
    array([0.5, 0.5])
    """
    seen = nonnegative(counts, "counts")
    if seen.ndim == 0:
        raise ValueError(f"counts must be an array; got the number {seen:g}.")
    strength = nonnegative(k, "k", finite=False)
    if strength.ndim:
        raise ValueError(f"k must be one number >= 0; got {k!r}.")
    if np.isinf(strength):
        return np.full(seen.shape, 1 / seen.shape[-1])
    raised = seen + strength
    total = raised.sum(axis=-1, keepdims=True)
    if not total.all():
        raise ValueError(
            "counts must hold a number > 0 in each row; got only zeros, of which all shares would "
            "be as likely. laplace_smoothing with k > 0 makes them equal."
        )
    return np.asarray(raised / total)


def gaussian_mle(x: ArrayLike, *, ddof: float = 0) -> Gaussian:
    """Mean, and variance over ``n - ddof``, of observations.

    The most likely Gaussian has ddof 0. On average over samples its variance is too small by the
    factor ``(n - 1) / n``; ddof 1 is unbiased.

    Parameters
    ----------
    x : numbers (n,), or vectors (n, d).
    ddof : what is taken off the divisor n, at least 0 and below n.

    Returns
    -------
    Gaussian
        `mean` and `variance`; for vectors (d,) and the covariance (d, d). It unpacks.

    Examples
    --------
    >>> from rosenblatt.estimation import gaussian_mle
    >>> gaussian_mle([1, 2, 3])
    Gaussian(mean=2.0, variance=0.6666666666666666)
    >>> mean, variance = gaussian_mle([1, 2, 3], ddof=1)
    >>> variance
    1.0
    """
    values = np.atleast_1d(numbers(x, "x"))
    if values.ndim > 2:
        raise ValueError(f"x must be numbers (n,) or vectors (n, d); got shape {values.shape}.")
    n = len(values)
    if not 0 <= number(ddof, "ddof") < n:
        raise ValueError(
            f"ddof must be at least 0 and below the number of observations, {n}; got {ddof!r}."
        )
    middle = values.mean(axis=0)
    mean = middle + (values - middle).mean(axis=0)  # once more, for what rounding left
    away = values - mean
    return Gaussian(mean, away.T @ away / (n - ddof))


def bernoulli_map(x: ArrayLike, a: float = 1.0, b: float = 1.0) -> float:
    """Most probable probability of a one under a ``Beta(a, b)`` prior.

    Parameters
    ----------
    x : zeros and ones.
    a, b : of the prior, > 0; (1, 1) is flat and gives `bernoulli_mle`.

    Examples
    --------
    >>> from rosenblatt.estimation import bernoulli_map
    >>> round(bernoulli_map([1, 1, 1, 0, 0], 2, 2), 6)
    0.571429
    """
    return BetaBinomial(a, b).posterior(flips(x)).mode


def binomial_map(successes: ArrayLike, trials: ArrayLike, a: float = 1.0, b: float = 1.0) -> float:
    """Most probable probability of success, ``(k + a - 1) / (n + a + b - 2)``.

    At an end point if a parameter of the posterior is 1 or less.

    Parameters
    ----------
    successes, trials : k and n, or lists of them, which are summed.
    a, b : of the Beta prior, > 0; (1, 1) is flat and gives `binomial_mle`.

    Examples
    --------
    >>> from rosenblatt.estimation import binomial_map
    >>> round(binomial_map(3, 5, a=5, b=1), 6)
    0.777778
    """
    return BetaBinomial(a, b).posterior(successes, trials).mode


def multinomial_map(counts: ArrayLike, alpha: ArrayLike = 1.0) -> Floats:
    """Most probable probabilities, ``(n_k + alpha_k - 1) / (N + sum alpha - K)``.

    Parameters
    ----------
    counts : n_1 .. n_K.
    alpha : of the Dirichlet prior, > 0, one number or K; 1 is flat and gives `multinomial_mle`.

    Returns
    -------
    p : (K,), summing to one.

    Examples
    --------
    >>> from rosenblatt.estimation import multinomial_map
    >>> multinomial_map([2, 1, 0], alpha=2).round(6)
    array([0.5     , 0.333333, 0.166667])
    """
    seen, strength = nonnegative(counts, "counts"), check_alpha(alpha)
    if seen.ndim != 1 or strength.shape not in ((), seen.shape):
        raise ValueError(
            "counts must be a list, and alpha one number or one for each count; "
            f"got shapes {seen.shape} and {strength.shape}."
        )
    return DirichletMultinomial(np.broadcast_to(strength, seen.shape)).posterior(seen).mode


def gaussian_map(x: ArrayLike, prior: NormalNormal | InverseGammaNormal | NormalGammaNormal) -> Any:
    """Most probable parameters of a Gaussian under a prior.

    Parameters
    ----------
    x : numbers (n,).
    prior : `NormalNormal` for the mean (variance known), `InverseGammaNormal` for the variance
        (mean known), `NormalGammaNormal` for mean and precision.

    Returns
    -------
    mode : the mean, the variance, or a `MeanAndPrecision`.

    Examples
    --------
    >>> from rosenblatt.estimation import NormalNormal, gaussian_map
    >>> gaussian_map([3, 5, 4, 4], NormalNormal(0, 1, known_variance=4))
    2.0
    """
    if not isinstance(prior, NormalNormal | InverseGammaNormal | NormalGammaNormal):
        raise ValueError(
            f"prior must be a NormalNormal, InverseGammaNormal or NormalGammaNormal; got {prior!r}."
        )
    return prior.posterior(x).mode
