"""The Gaussian in one dimension or several: density, affine maps and sums."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from .inputs import numbers, plain

LOG_2_PI = math.log(2 * math.pi)


@dataclass(frozen=True, eq=False)
class Gaussian:
    """A normal distribution, ``N(mean, variance)``, of a number or of a vector.

    Unpacks into its two parts. A variance of zero, or a covariance of less than full rank, is
    a Gaussian too, but has no density.

    Parameters
    ----------
    mean : a number, or a vector (d,).
    variance : a number >= 0, or a symmetric covariance matrix (d, d) without negative
        eigenvalues.

    Examples
    --------
    >>> from rosenblatt.information import Gaussian
    >>> Gaussian(1, 4).affine(2, 3)
    Gaussian(mean=5.0, variance=16.0)
    >>> mean, variance = Gaussian(1, 4).plus_independent(Gaussian(2, 5))
    >>> mean, variance
    (3.0, 9.0)
    >>> round(Gaussian(0, 1).density(0), 6)
    0.398942
    """

    mean: Any
    variance: Any

    def __post_init__(self) -> None:
        mean, variance = numbers(self.mean, "mean"), numbers(self.variance, "variance")
        if mean.ndim > 1 or variance.shape != mean.shape * 2:
            raise ValueError(
                "mean and variance must be two numbers, or a vector (d,) and a matrix (d, d); "
                f"got shapes {mean.shape} and {variance.shape}."
            )
        if mean.ndim == 0 and variance < 0:
            raise ValueError(f"variance must be a number >= 0; got {self.variance!r}.")
        if mean.ndim:  # up to rounding
            size = np.abs(variance).max()
            if not np.allclose(variance, variance.T, rtol=0, atol=1e-8 * size):
                raise ValueError("variance must be a symmetric matrix; got one that is not.")
            smallest = float(np.linalg.eigvalsh(variance)[0])
            if smallest < -1e-8 * size:
                raise ValueError(
                    f"variance must have no negative eigenvalue; got {smallest:g}: it is not a "
                    "covariance."
                )
        object.__setattr__(self, "mean", plain(mean))
        object.__setattr__(self, "variance", plain(variance))

    def __iter__(self) -> Iterator[Any]:
        return iter((self.mean, self.variance))

    def log_density(self, x: ArrayLike) -> Any:
        """Natural logarithm of the density at x: numbers of any shape, or vectors (..., d).

        It is a float, or an array of the shape of x without the axis of vectors.

        Examples
        --------
        >>> from rosenblatt.information import Gaussian
        >>> round(Gaussian([0, 0], [[1, 0], [0, 1]]).log_density([3, 4]), 6)
        -14.337877
        """
        values = numbers(x, "x")
        if np.ndim(self.mean) == 0:
            if self.variance == 0:
                raise ValueError("variance must be a number > 0 for a density; got 0.")
            # -ln(s sqrt(2 pi)) - (x - mu)^2 / (2 s^2)
            scale = math.sqrt(self.variance)
            with np.errstate(over="ignore"):  # a square past the largest float: density zero
                square = ((values - self.mean) / scale) ** 2
            return plain(-0.5 * LOG_2_PI - math.log(scale) - square / 2)
        d = len(self.mean)
        if values.ndim == 0 or values.shape[-1] != d:
            raise ValueError(f"x must hold vectors of length {d}; got shape {values.shape}.")
        try:
            L = np.linalg.cholesky(self.variance)
        except np.linalg.LinAlgError:
            raise ValueError(
                "variance must be positive definite for a density; got a singular matrix: "
                "add a little to its diagonal, or drop columns that depend on others."
            ) from None
        # -(d/2) ln(2 pi) - ln|S| / 2 - (x - mu)' S^-1 (x - mu) / 2, with S = L L'
        away = solve_triangular(L, (values - self.mean).reshape(-1, d).T, lower=True)
        with np.errstate(over="ignore"):  # too far to square: density zero
            square = np.nan_to_num((away**2).sum(axis=0), nan=np.inf, posinf=np.inf)
        square = square.reshape(values.shape[:-1])
        return plain(-0.5 * d * LOG_2_PI - np.log(np.diag(L)).sum() - square / 2)

    def density(self, x: ArrayLike) -> Any:
        """Density at x; `log_density` where it would vanish.

        Examples
        --------
        >>> from rosenblatt.information import Gaussian
        >>> round(Gaussian(0, 4).density(2), 6)
        0.120985
        """
        return plain(np.exp(self.log_density(x)))

    def affine(self, a: ArrayLike, b: ArrayLike = 0.0) -> "Gaussian":
        """Distribution of ``a X + b``: mean ``a mu + b``, variance ``a^2 s^2``.

        For vectors ``a`` is a matrix (m, d), or a number, and the variance is ``A S A'``.

        Examples
        --------
        >>> from rosenblatt.information import Gaussian
        >>> Gaussian([1, 2], [[1, 0], [0, 4]]).affine([[1, 1]])
        Gaussian(mean=array([3.]), variance=array([[5.]]))
        """
        factor, shift = numbers(a, "a"), numbers(b, "b")
        if np.ndim(self.mean) == 0:
            if factor.ndim or shift.ndim:
                raise ValueError("a and b must be numbers for a Gaussian of one number.")
            return Gaussian(factor * self.mean + shift, factor * self.variance * factor)
        d = len(self.mean)
        A = factor * np.eye(d) if factor.ndim == 0 else factor
        if A.ndim != 2 or A.shape[1] != d or shift.shape not in ((), (len(A),)):
            raise ValueError(
                f"a must be a number or a matrix (m, {d}) and b a number or a vector (m,); "
                f"got shapes {factor.shape} and {shift.shape}."
            )
        S = A @ self.variance @ A.T
        return Gaussian(A @ self.mean + shift, (S + S.T) / 2)

    def plus_independent(self, other: "Gaussian") -> "Gaussian":
        """Distribution of ``X + Y`` for independent X and Y: means add, and so do variances.

        Examples
        --------
        >>> from rosenblatt.information import Gaussian
        >>> Gaussian(1, 4).plus_independent(Gaussian(-1, 5))
        Gaussian(mean=0.0, variance=9.0)
        """
        if np.shape(self.mean) != np.shape(other.mean):
            raise ValueError(
                "both Gaussians must have the same dimension; "
                f"got shapes {np.shape(self.mean)} and {np.shape(other.mean)}."
            )
        return Gaussian(self.mean + other.mean, self.variance + other.variance)
