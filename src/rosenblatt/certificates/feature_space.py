"""The feature space of a kernel, as far as kernel values tell of it.

Legend as in `kernel_perceptron`: v the learned element, u one of length 1, R^2 the largest K(x, x).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.separation import widest

from . import perceptron
from .claims import Claim
from .kernel_values import Floats, KernelOf
from .margins import UNIT

MOST_ROWS = 2000  # of which a whole kernel matrix is made


@dataclass(frozen=True)
class Books:
    """What the model published, and the kernel of the rows given with its supports."""

    fit: (
        perceptron.PerceptronFit
    )  # its X is the data given, its W the coefficients a (1, s) or (K, s)
    kernel: KernelOf
    supports: Any  # (s, d); None if the kernel was precomputed
    places: NDArray[np.intp]  # (s,) of the supports among the training rows
    precomputed: bool
    off: float  # by how much a kernel value may be off

    def values(self, rows: Any) -> Floats:
        """K (m, s), of rows with the supports."""
        if self.precomputed:
            return np.asarray(rows[:, self.places])
        return self.kernel(rows, self.supports)

    @property
    def square(self) -> bool:
        """Whether the kernel of rows with themselves is known."""
        X = self.fit.X
        return not self.precomputed or (X.shape[0] == X.shape[1] and np.allclose(X, X.T))

    def diagonal(self) -> Floats:
        """K(x, x) of the rows given and of the supports."""
        if self.precomputed:
            return np.asarray(self.fit.X).diagonal()
        parts = [self.fit.X, self.supports]
        return np.concatenate([self.kernel.diagonal(part) for part in parts])


def squared_radius(books: Books) -> float:
    """R^2, what one correction of unit step can add to |v|^2."""
    longest = float(books.diagonal().max(initial=0.0)) + (1.0 if books.fit.fit_intercept else 0.0)
    return longest * (1 if books.fit.two else 2)


def feature_space(books: Books, effort: int) -> tuple[bool, Claim]:
    """Whether there is a feature space at all: tested on the rows given and the supports."""
    name, n = "feature space", books.fit.X.shape[0] + len(books.places)
    if effort == 0 or n > MOST_ROWS:
        statement = f"not known, with {n:,} rows and supports to test: mistakes have no bound"
        return False, Claim(name, statement, math.nan, None, True, "observed")
    K = gram(books, with_supports=True)
    if not np.allclose(K, K.T, rtol=1e-9, atol=1e-9 * float(np.abs(K).max())):
        statement = "there is none: the kernel is not symmetric, and mistakes have no bound"
        return False, Claim(name, statement, math.nan, None, True, "checked")
    allowance = n * 2 * UNIT * float(np.abs(K).sum(axis=1).max()) + n * books.off
    least = float(scipy.linalg.eigvalsh((K + K.T) / 2, subset_by_index=[0, 0])[0])
    exists = least >= -allowance
    words = "there may be one" if exists else "there is none, and mistakes have no bound"
    statement = f"{words}: the least eigenvalue of the kernel matrix is {least:.3g}"
    return exists, Claim(name, statement, least, -allowance if exists else None, True, "checked")


def gram(books: Books, with_supports: bool = False) -> Floats:
    """The kernel matrix of the rows given, and of the supports if asked for."""
    X = books.fit.X
    if books.precomputed:
        return np.asarray(X)
    if with_supports:
        both = [X, books.supports]
        X = sp.vstack(both, format="csr") if sp.issparse(X) else np.vstack(both)
    return books.kernel(X, X)


def length_of(books: Books) -> tuple[float, float]:
    """|v|, from below and from above: large coefficients may cancel."""
    fit = books.fit
    supports = fit.X[books.places] if books.precomputed else books.supports
    K = books.values(supports)
    square = sum(float(a @ (K @ a)) for a in fit.W) + float(fit.b @ fit.b) * fit.fit_intercept
    off = sum(
        float(np.abs(a) @ (np.abs(K) @ np.abs(a))) * (2 * len(a) + 4) * UNIT
        + books.off * float(np.abs(a).sum()) ** 2
        for a in fit.W
    )
    return math.sqrt(max(0.0, square - off)), math.sqrt(max(0.0, square + off))


def widest_element(books: Books, R2: float) -> tuple[float, float]:
    """The margin g of an element u of length 1, nearly the widest, and v.u; 0 if none was found.

    The rows get coordinates from the eigenvectors of their kernel matrix; what is found there is
    written as a sum over rows, ``u = (sum_i c_i phi(x_i), b)``, and judged by kernel values alone.
    """
    fit, K = books.fit, gram(books)
    K = (K + K.T) / 2
    sign = np.where(fit.codes == 1, 1.0, -1.0)
    values, vectors = scipy.linalg.eigh(K)
    large = values > 1e-10 * max(values[-1], 0.0)
    if not large.any():  # every row is at the origin
        return 0.0, 0.0
    coordinates = vectors[:, large] * np.sqrt(values[large])
    found = widest(coordinates, sign, bias=1.0 if fit.fit_intercept else None)
    if not found.separable or found.direction is None:
        return 0.0, 0.0
    w = found.direction[: coordinates.shape[1]]
    bias = float(found.direction[-1]) if fit.fit_intercept else 0.0
    c = vectors[:, large] @ (w / np.sqrt(values[large]))
    off = (len(K) * 4 * UNIT * R2 + books.off) * float(np.abs(c).sum())
    length = math.sqrt(float(c @ (K @ c)) + bias * bias + off * float(np.abs(c).sum()))
    margins = sign * (K @ c + bias) - off
    g = float(margins.min()) / length * (1 - perceptron.SLACK)
    across = books.values(fit.X)  # (n, s)
    along = float(c @ (across @ fit.W[0])) + bias * float(fit.b[0]) * fit.fit_intercept
    return max(g, 0.0), along / length
