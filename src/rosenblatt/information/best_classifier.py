"""The best possible classifier of a known distribution, and the error that nothing goes below."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .inputs import Floats, distribution
from .rules import bayes


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
        """The posterior probabilities (n, K) of the rows of X, by Bayes' rule.

        Parameters
        ----------
        X : rows of shape (n, d), or (n,) where densities are of a number.
        """
        X = np.asarray(X)
        K = len(self.densities)
        prior = np.full(K, 1 / K) if self.prior is None else np.asarray(self.prior)
        logs = np.array([_log_density(density)(X) for density in self.densities.values()])
        return bayes(prior, log_likelihoods=logs.T)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class (n,) of each row; of equals the first."""
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    def error(self, X: ArrayLike) -> float:
        """Bayes' error, ``E[1 - max_y P(y|x)]``, as the mean over rows of the distribution.

        Parameters
        ----------
        X : rows drawn from the distribution; their classes are not needed. With n of them the
            standard error is at most ``0.5 / sqrt(n)``.
        """
        return float(1 - self.predict_proba(X).max(axis=1).mean())


def _log_density(density: Any) -> Any:
    """The function of rows that returns their log densities."""
    for name in ("log_density", "logpdf", "logpmf"):
        if hasattr(density, name):
            return getattr(density, name)
    if callable(density):
        return density
    raise TypeError(
        "densities must be Gaussians, frozen distributions of scipy.stats or functions that "
        f"return log densities; got {density!r}."
    )
