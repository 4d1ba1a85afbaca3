"""The rules of probability: product, sum, total probability, Bayes; and the expected value.

Each holds under one more condition C as well: give ``P(.|C)`` in place of ``P(.)``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .inputs import (
    Floats,
    distribution,
    each_probability,
    nonnegative,
    number,
    numbers,
    plain,
    refuse,
)


def joint(prior: ArrayLike, conditional: ArrayLike) -> Floats:
    """Product rule: the table (A, B) of ``P(a, b) = P(a) P(b|a)``.

    Parameters
    ----------
    prior : P(a), shape (A,).
    conditional : P(b|a), shape (A, B), each row summing to one.

    Examples
    --------
    >>> from rosenblatt.information import joint
    >>> joint([0.5, 0.5], [[0.5, 0.5], [0, 1]])
    array([[0.25, 0.25],
           [0.  , 0.5 ]])
    """
    a = _vector(prior, "prior")
    b = distribution(conditional, "conditional", axis=-1)
    if b.ndim != 2 or len(b) != len(a):
        raise ValueError(
            f"conditional must have one row for each of {len(a)} entries of prior; "
            f"got shape {b.shape}."
        )
    return a[:, None] * b


def marginal(p: ArrayLike, keep: int | Sequence[int] = 0) -> Floats:
    """Sum rule: ``P(a) = sum_b P(a, b)``, a table with the kept axes of p in their order.

    Parameters
    ----------
    p : a table of joint probabilities.
    keep : the axis or axes of the variables that stay; the others are summed out.

    Examples
    --------
    >>> from rosenblatt.information import marginal
    >>> marginal([[0.25, 0.25], [0, 0.5]], keep=1)
    array([0.25, 0.75])
    """
    table = distribution(p, "p")
    kept = _axes(keep, table.ndim, "keep")
    return np.asarray(table.sum(axis=tuple(set(range(table.ndim)) - kept)))


def conditional(p: ArrayLike, given: int | Sequence[int] = 0) -> Floats:
    """Conditional probability: ``P(b|a) = P(a, b) / P(a)``, a table of the shape of p.

    Parameters
    ----------
    p : a table of joint probabilities.
    given : the axis or axes of the variables that are known.

    Examples
    --------
    >>> from rosenblatt.information import conditional
    >>> conditional([[0.25, 0.25], [0, 0.5]], given=0)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    table = distribution(p, "p")
    known = _axes(given, table.ndim, "given")
    total = table.sum(axis=tuple(set(range(table.ndim)) - known), keepdims=True)
    if not total.all():
        place = np.argwhere(total == 0)[0].tolist()
        at = [place[axis] for axis in sorted(known)]
        raise ValueError(
            f"p must give every condition a probability above zero; got 0 at {at} of the given "
            "axes, where a conditional probability means nothing: leave that row out."
        )
    return np.asarray(table / total)


def total_probability(prior: ArrayLike, likelihoods: ArrayLike) -> Any:
    """Total probability over a partition: ``P(e) = sum_a P(a) P(e|a)``, a float or array (...).

    Parameters
    ----------
    prior : P(a), shape (A,).
    likelihoods : P(e|a), shape (..., A): one event, or one in each row.

    Examples
    --------
    >>> from rosenblatt.information import total_probability
    >>> round(total_probability([0.01, 0.99], [0.99, 0.01]), 6)
    0.0198
    """
    a = _vector(prior, "prior")
    e = _for_each(a, each_probability(likelihoods, "likelihoods"), "likelihoods")
    return plain(e @ a)


def bayes(
    prior: ArrayLike,
    likelihoods: ArrayLike | None = None,
    *,
    log_likelihoods: ArrayLike | None = None,
) -> Floats:
    """Bayes' rule: the posterior ``P(a|e) = P(e|a) P(a) / sum_b P(e|b) P(b)``, shape (..., A).

    Parameters
    ----------
    prior : P(a), shape (A,).
    likelihoods : P(e|a) or densities, shape (..., A): one piece of evidence, or one in each row.
    log_likelihoods : instead of likelihoods, their natural logarithms, for products of many
        factors that would vanish; minus infinity stands for zero.

    Examples
    --------
    >>> from rosenblatt.information import bayes
    >>> bayes([0.01, 0.99], [0.99, 0.01])
    array([0.5, 0.5])
    >>> bayes([0.5, 0.5], log_likelihoods=[-5000, -5001]).round(6)
    array([0.731059, 0.268941])
    """
    a = _vector(prior, "prior")
    name, logs = _log_likelihoods(likelihoods, log_likelihoods)
    with np.errstate(divide="ignore"):  # the logarithm of a zero is minus infinity
        score = _for_each(a, logs, name) + np.log(a)
    best = score.max(axis=-1, keepdims=True)
    if np.isneginf(best).any():
        raise ValueError(
            f"{name} must leave some entry of prior possible; got evidence of probability zero "
            "under all of them: check it, or smooth the probabilities."
        )
    weight = np.exp(score - best)  # the largest is one: nothing overflows, not all vanish
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def posterior_odds(prior_odds: float, likelihood_ratio: float) -> float:
    """Bayes' rule for two hypotheses: posterior odds = likelihood ratio x prior odds.

    The probability that belongs to odds is ``odds / (1 + odds)``.

    Parameters
    ----------
    prior_odds : ``P(a) / P(not a)``.
    likelihood_ratio : ``P(e|a) / P(e|not a)``.

    Examples
    --------
    >>> from rosenblatt.information import posterior_odds
    >>> round(posterior_odds(1 / 99, 99), 12)
    1.0
    """
    odds, ratio = number(prior_odds, "prior_odds"), number(likelihood_ratio, "likelihood_ratio")
    for name, value in (("prior_odds", odds), ("likelihood_ratio", ratio)):
        if value < 0:
            raise ValueError(f"{name} must be a number >= 0; got {value!r}.")
    return odds * ratio


def expectation(p: ArrayLike, values: ArrayLike) -> Any:
    """Expected value ``E[f] = sum_x p(x) f(x)``, a float or an array (m,).

    Parameters
    ----------
    p : probabilities that sum to one, shape (K,).
    values : f(x) for each x, shape (K,), or (K, m) for m functions at once. A value of
        probability zero adds nothing, even if it is infinite.

    Examples
    --------
    >>> from rosenblatt.information import expectation
    >>> round(expectation([1 / 6] * 6, [1, 2, 3, 4, 5, 6]), 12)
    3.5
    """
    probability = _vector(p, "p")
    f = numbers(values, "values", finite=False)
    if f.ndim == 0 or len(f) != len(probability):
        raise ValueError(
            f"values must have one entry for each of {len(probability)} probabilities; "
            f"got shape {f.shape}."
        )
    possible = probability > 0
    f = f[possible]
    if ((f == np.inf).any(axis=0) & (f == -np.inf).any(axis=0)).any():
        raise ValueError("values must not be both inf and -inf: their mean means nothing.")
    return plain(probability[possible] @ f)


def _log_likelihoods(plain: ArrayLike | None, logs: ArrayLike | None) -> tuple[str, Floats]:
    """Return the argument that was given, by name, in logarithms."""
    if (plain is None) == (logs is None):
        raise ValueError("give exactly one of likelihoods, log_likelihoods.")
    if plain is not None:
        with np.errstate(divide="ignore"):
            return "likelihoods", np.log(nonnegative(plain, "likelihoods"))
    given = numbers(logs, "log_likelihoods", finite=False)
    refuse(given, given == np.inf, "log_likelihoods", "be below infinity")
    return "log_likelihoods", given


def _vector(values: ArrayLike, name: str) -> Floats:
    """Return a distribution of one dimension."""
    array = distribution(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension; got {array.ndim}.")
    return array


def _for_each(a: Floats, e: Floats, name: str) -> Floats:
    """Return e, whose last axis must run over the entries of a."""
    if e.ndim == 0 or e.shape[-1] != len(a):
        raise ValueError(
            f"{name} must have {len(a)} columns, one for each entry of prior; got shape {e.shape}."
        )
    return e


def _axes(axes: int | Sequence[int], ndim: int, name: str) -> set[int]:
    """Return a set of axes, counted from zero."""
    listed = [axes] if isinstance(axes, int) else list(axes)
    if not listed or any(not -ndim <= axis < ndim for axis in listed):
        raise ValueError(f"{name} must name some of the {ndim} axes of p; got {axes!r}.")
    return {axis % ndim for axis in listed}


# The best possible classifier of a known distribution, and the least possible error.


@dataclass(frozen=True, eq=False)
class BayesClassifier:
    """The most probable class of each row, ``argmax_y P(y) p(x|y)``, of a known distribution.

    No classifier has a smaller error on rows of that distribution: at every x it takes the class
    whose probability of being wrong, ``1 - P(y|x)``, is the smallest [1]_. From data alone it
    cannot be had, as the true densities are not known; for simulated data it is the floor that
    learners are compared with.

    Parameters
    ----------
    densities : a mapping from each class to the distribution of its rows: a `Gaussian`, a frozen
        distribution of `scipy.stats`, or a function that returns log densities, shape (n,).
    prior : the probabilities of the classes, shape (K,), in the order of `densities`; if None all
        are equal.

    References
    ----------
    .. [1] L. Devroye, L. Györfi, G. Lugosi (1996), A Probabilistic Theory of Pattern Recognition,
       theorem 2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt.information import BayesClassifier, Gaussian
    >>> best = BayesClassifier({"low": Gaussian(-1, 1), "high": Gaussian(1, 1)})
    >>> best.predict([-0.5, 2.0])
    array(['low', 'high'], dtype='<U4')
    >>> best.predict_proba([0.0, 2.0]).round(3)
    array([[0.5  , 0.5  ],
           [0.018, 0.982]])
    >>> x = np.random.default_rng(0).normal(size=100_000) + np.tile([-1, 1], 50_000)
    >>> round(best.error(x), 2)     # P(N(1, 1) < 0) = 0.1587
    0.16
    """

    densities: Mapping[Any, Any]
    prior: ArrayLike | None = None

    def __post_init__(self) -> None:
        if not self.densities:
            raise ValueError("densities must name at least one class; got none.")
        if self.prior is not None:
            shares = distribution(self.prior, "prior")
            if shares.shape != (len(self.densities),):
                raise ValueError(
                    f"prior must hold a probability for each of {len(self.densities)} classes; "
                    f"got shape {shares.shape}."
                )

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes (K,), in the order of `densities`."""
        return np.array(list(self.densities))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the posterior probabilities (n, K) of the rows of X, by Bayes' rule.

        X has the shape (n, d), or (n,) where densities are of a number.
        """
        X = np.asarray(X)
        K = len(self.densities)
        prior = np.full(K, 1 / K) if self.prior is None else np.asarray(self.prior)
        logs = np.array([_log_density(density, X) for density in self.densities.values()])
        return bayes(prior, log_likelihoods=logs.T)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class (n,) of each row; of equals the first."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def error(self, X: ArrayLike) -> float:
        """Return Bayes' error, ``E[1 - max_y P(y|x)]``, as the mean over rows of the distribution.

        X holds rows drawn from it; their classes are not needed. With n of them the standard error
        is at most ``0.5 / sqrt(n)``.
        """
        return float(1 - self.predict_proba(X).max(axis=1).mean())


def _log_density(density: Any, X: NDArray[Any]) -> Any:
    """Return the log densities of rows."""
    for name in ("log_density", "logpdf", "logpmf", "__call__"):
        if hasattr(density, name):
            return getattr(density, name)(X)
    raise TypeError(
        "densities must be Gaussians, frozen distributions of scipy.stats or functions that "
        f"return log densities; got {density!r}."
    )
