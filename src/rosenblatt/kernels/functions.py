"""Kernel functions: scalar products in a feature space that is never entered.

Legend: U (n, d) and V (m, d) are rows, dense or sparse. ``kernel(U, V)`` is the matrix K (n, m) of
all products, computed by BLAS; ``kernel.against(V)`` keeps what is known of V for many calls.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import check_array

from rosenblatt import checks
from rosenblatt.base import warn

from .checks import called_kernel
from .gaussian import GaussianRows, products

Against = Callable[[Any], NDArray[Any]]

NAMES = ("linear", "poly", "polynomial", "rbf", "gaussian", "laplacian", "sigmoid", "precomputed")
SAMPLE = 64  # rows whose kernel shows whether its width suits them
FLAT = 1e-6  # a kernel whose values are all within this of 0, or of 1, sees no difference


class Kernel(ABC):
    """What all kernels answer to; derive from it to make one with numbers of its own.

    A plain function of two tables of rows will do wherever a kernel is wanted; one derived from
    this class can keep what it knows of the second table between calls.

    Examples
    --------
    >>> from rosenblatt.kernels import Kernel, Linear
    >>> class Cosine(Kernel):
    ...     def against(self, V):
    ...         lengths = (V**2).sum(axis=1) ** 0.5
    ...         return lambda U: Linear()(U, V) / lengths / (U**2).sum(axis=1)[:, None] ** 0.5
    >>> Cosine()([[1.0, 0.0]], [[3.0, 4.0]])
    array([[0.6]])
    """

    # Whether every matrix of it is positive semidefinite, by a theorem; False: nobody knows.
    positive_semidefinite = False

    def __call__(self, U: Any, V: Any = None) -> NDArray[Any]:
        """The kernel of each row of U with each row of V, or of U if it is None: (n, m)."""
        U = as_rows(U)
        V = U if V is None else as_rows(V)
        if U.shape[1] != V.shape[1]:
            raise ValueError(
                "A kernel is of rows with as many columns; the two tables have shapes "
                f"{U.shape} and {V.shape}."
            )
        return self.against(V)(U)

    @abstractmethod
    def against(self, V: Any) -> Against:
        """A function of U that gives the kernel of its rows with those of V."""


@dataclass(frozen=True)
class Linear(Kernel):
    """The scalar product itself, ``u.v``.

    Examples
    --------
    >>> from rosenblatt.kernels import Linear
    >>> Linear()([[1, 2]], [[3, 4]])
    array([[11.]])
    """

    positive_semidefinite = True

    def against(self, V: Any) -> Against:
        """A function of U that gives the kernel of its rows with those of V."""
        return lambda U: products(U, V)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """``(gamma u.v + coef0)**degree``.

    With ``coef0=0`` the features behind it are all products of exactly `degree` columns, with
    ``coef0=1`` those of up to `degree`; `features` writes them out.

    Parameters
    ----------
    degree : how many factors a feature has.
    gamma : multiplies the scalar product.
    coef0 : 0 for products of exactly `degree` columns, positive for all up to it; with a negative
        one it is no scalar product in any space.

    Examples
    --------
    >>> from rosenblatt.kernels import Polynomial
    >>> u, v = [[1, 2]], [[3, 4]]
    >>> Polynomial(2)(u, v), Polynomial(2, coef0=1)(u, v)
    (array([[121.]]), array([[144.]]))
    >>> phi = Polynomial(2).features
    >>> phi(u).round(3)                       # u1 u1, sqrt(2) u1 u2, u2 u2
    array([[1.   , 2.828, 4.   ]])
    >>> (phi(u) @ phi(v).T).round(9)
    array([[121.]])
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        checks.integer("degree", self.degree, 0)
        checks.finite_number("gamma", self.gamma, 0)
        checks.finite_number("coef0", self.coef0)

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """Whether it is a scalar product in some space: coef0 must not be negative."""
        return self.coef0 >= 0

    def against(self, V: Any) -> Against:
        """A function of U that gives the kernel of its rows with those of V."""
        product = Linear().against(V)
        return lambda U: self._power(product(U))

    def _power(self, products: NDArray[Any]) -> NDArray[Any]:
        """The kernel from scalar products, in place: by multiplication, exact on whole numbers."""
        products *= self.gamma
        products += self.coef0
        result = np.ones_like(products)
        for bit in bin(int(self.degree))[2:]:
            result *= result
            if bit == "1":
                result *= products
        return result

    def n_features(self, d: int) -> int:
        """How many features `features` makes of d columns, known before any is made.

        Parameters
        ----------
        d : number of columns.

        Examples
        --------
        >>> Polynomial(3, coef0=1).n_features(100)
        176851
        """
        n_factors = d + 1 if self.coef0 else d
        return math.comb(n_factors + self.degree - 1, self.degree)

    def features(self, X: Any) -> Any:
        """The space the kernel works in: phi(X) (n, m), with ``phi(u).phi(v) = K(u, v)``.

        A column for each product of columns, by rising degree: ``sqrt(c) x1**p1 x2**p2 ...``,
        where c is its coefficient when the power is multiplied out.

        Parameters
        ----------
        X : rows (n, d), dense or sparse; sparse ones give sparse features.

        Returns
        -------
        phi : array or CSR matrix of `n_features` columns.
        """
        if not self.positive_semidefinite:
            raise ValueError(
                f"coef0 must be >= 0 for a kernel to have features; got {self.coef0!r}."
            )
        X, lowest = as_rows(X), 0 if self.coef0 else self.degree
        products = PolynomialFeatures((lowest, self.degree), include_bias=lowest == 0)
        phi = products.fit_transform(X)
        size = np.sqrt([self._coefficient(powers.tolist()) for powers in products.powers_])
        if sp.issparse(phi):
            return phi.multiply(size.astype(phi.dtype)).tocsr()
        return phi * size.astype(phi.dtype)

    def _coefficient(self, powers: list[int]) -> float:
        """Of x1**p1 x2**p2 ... y1**p1 y2**p2 ... in ``(gamma x.y + coef0)**degree``."""
        left = self.degree - sum(powers)  # factors coef0
        orders = math.factorial(self.degree) // math.prod(map(math.factorial, [*powers, left]))
        return orders * float(self.gamma) ** sum(powers) * float(self.coef0) ** left


@dataclass(frozen=True)
class Gaussian(Kernel):
    """``exp(-gamma |u - v|^2)``; a width sigma is ``gamma = 1 / (2 sigma^2)``.

    Every finite set of different rows can be separated in its feature space.

    Parameters
    ----------
    gamma : how fast similarity falls with distance.

    Examples
    --------
    >>> from rosenblatt.kernels import Gaussian
    >>> Gaussian(gamma=0.5)([[1, 2]], [[3, 4]]).round(6)
    array([[0.018316]])
    """

    gamma: float = 1.0

    positive_semidefinite = True

    def __post_init__(self) -> None:
        checks.finite_number("gamma", self.gamma, 0)

    def against(self, V: Any) -> Against:
        """A function of U that gives the kernel of its rows with those of V."""
        rows = GaussianRows(V, self.gamma)
        return lambda U: rows.kernel(U).astype(V.dtype, copy=False)


@dataclass(frozen=True)
class Laplacian(Kernel):
    """``exp(-gamma |u - v|_1)``, by the sum of the differences' sizes.

    Parameters
    ----------
    gamma : how fast similarity falls with distance.

    Examples
    --------
    >>> from rosenblatt.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[1, 2]], [[3, 4]]).round(6)
    array([[0.135335]])
    """

    gamma: float = 1.0

    positive_semidefinite = True

    def __post_init__(self) -> None:
        checks.finite_number("gamma", self.gamma, 0)

    def against(self, V: Any) -> Against:
        """A function of U that gives the kernel of its rows with those of V."""

        def kernel(U: Any) -> NDArray[Any]:
            if sp.issparse(U) or sp.issparse(V):
                distances = manhattan_distances(*(sp.csr_matrix(rows) for rows in (U, V)))
            else:
                distances = cdist(U, V, "cityblock")
            distances *= -self.gamma
            np.exp(distances, out=distances)
            return np.asarray(distances.astype(U.dtype, copy=False))

        return kernel


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """``tanh(gamma u.v + coef0)``: in general no scalar product in any space.

    Parameters
    ----------
    gamma : multiplies the scalar product.
    coef0 : is added to it.

    Examples
    --------
    >>> from rosenblatt.kernels import Sigmoid
    >>> Sigmoid(gamma=0.1, coef0=0.5)([[1, 2]], [[3, 4]]).round(6)
    array([[0.921669]])
    """

    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        checks.finite_number("gamma", self.gamma, 0)
        checks.finite_number("coef0", self.coef0)

    def against(self, V: Any) -> Against:
        """A function of U that gives the kernel of its rows with those of V."""
        product = Linear().against(V)
        return lambda U: self._tanh(product(U))

    def _tanh(self, products: NDArray[Any]) -> NDArray[Any]:
        products *= self.gamma
        products += self.coef0
        np.tanh(products, out=products)
        return products


def as_rows(U: Any) -> Any:
    """Rows as floating-point numbers, dense or CSR without repeated entries."""
    return canonical(check_array(U, accept_sparse="csr", dtype=checks.FLOATS, ensure_min_samples=0))


def canonical(X: Any) -> Any:
    """X, in which no entry is stored in several parts: their squares would not add up."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def row_keys(X: Any) -> list[bytes]:
    """A key for each row, the same for equal rows and for no others."""
    if not sp.issparse(X):
        return [row.tobytes() for row in X + 0.0]  # -0.0 is 0.0
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    bounds = list(zip(X.indptr[:-1], X.indptr[1:], strict=True))
    return [X.indices[i:j].tobytes() + b"|" + X.data[i:j].tobytes() for i, j in bounds]


def against(kernel: Kernel | Callable[..., Any], V: Any) -> Against:
    """A function of U that gives the kernel (n, m) of its rows with those of V."""
    if isinstance(kernel, Kernel):
        return kernel.against(V)
    return lambda U: called_kernel(kernel, U, V, U.dtype)


def kernel_of(
    kernel: str | Callable[..., Any], X: Any, *, gamma: float | str, degree: int, coef0: float
) -> Kernel | Callable[..., Any]:
    """The kernel of that name, with scikit-learn's parameters; functions are taken as they are."""
    if callable(kernel):
        return kernel
    rate = gamma_of(gamma, X)
    if kernel in ("poly", "polynomial"):
        return Polynomial(degree, rate, coef0)
    if kernel in ("rbf", "gaussian"):
        return Gaussian(rate)
    if kernel == "laplacian":
        return Laplacian(rate)
    if kernel == "sigmoid":
        return Sigmoid(rate, coef0)
    return Linear()


def gamma_of(gamma: float | str, X: Any, weight: NDArray[Any] | None = None) -> float:
    """The number behind "scale", 1 / (d var(X)), and "auto", 1 / d, as scikit-learn has them."""
    if not isinstance(gamma, str):
        return float(gamma)
    d = int(X.shape[1])
    if gamma == "auto":
        return 1.0 / d
    variance: float
    with np.errstate(over="ignore", invalid="ignore"):  # said below
        variance = variance_of(X) if weight is None else weighted_variance(X, weight)
    if not np.isfinite(variance):
        raise ValueError(
            'gamma="scale" is 1 / (d X.var()), and the variance of X overflowed. Standardise X, '
            "for example with StandardScaler."
        )
    return 1.0 / (d * variance) if variance > 0 else 1.0


def variance_of(X: Any) -> float:
    """The variance of all cells of X."""
    if not sp.issparse(X):
        return float(X.var(dtype=np.float64))
    cells, values = X.shape[0] * X.shape[1], X.data.astype(np.float64)
    mean, zeros = values.sum() / cells, cells - len(values)
    return float((((values - mean) ** 2).sum() + zeros * mean**2) / cells)


def weighted_variance(X: Any, weight: NDArray[Any]) -> float:
    """The variance of all cells of X, those of a row counted by its weight."""
    total, d = float(weight.sum()), int(X.shape[1])
    mean = float((weight @ X).sum()) / (total * d)
    if not sp.issparse(X):
        return float((weight @ (X - mean) ** 2).sum()) / (total * d)
    counts = np.repeat(weight, np.diff(X.indptr))
    stored = float(counts @ (X.data - mean) ** 2)
    return (stored + (total * d - float(counts.sum())) * mean**2) / (total * d)


def warn_if_flat(kernel: Any, X: Any) -> None:
    """Warn if a Gaussian or Laplacian kernel is all ones or all zeros on rows X (n, d)."""
    n = int(X.shape[0])
    if not isinstance(kernel, Gaussian | Laplacian) or n < 3:
        return
    some = X[:: max(1, n // SAMPLE)][:SAMPLE]
    squared = isinstance(kernel, Gaussian)
    apart = pdist(
        some.toarray() if sp.issparse(some) else some, "sqeuclidean" if squared else "cityblock"
    )
    apart = apart[apart > 0]
    K = np.exp(-kernel.gamma * apart)
    if not len(K) or (K.max() > FLAT and K.min() < 1 - FLAT):
        return
    values = "0: each row is like no other" if K.max() <= FLAT else "1: all rows look alike"
    warn(
        f"The kernel of different rows is about {values} with gamma={kernel.gamma:.3g}. "
        f"Standardise X, or try gamma={1 / float(np.median(apart)):.3g}, which suits the "
        "distances between these rows."
    )
