"""Kernel functions: scalar products in a feature space, computed without the features.

Legend: U (n, d) and V (m, d) are rows, dense or sparse. ``kernel(U, V)`` is the matrix K (n, m) of
all products, computed by BLAS; ``kernel.against(V)`` prepares V for many calls.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import check_array
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from rosenblatt import checks

from . import gaussian_loops
from .checks import called_kernel

Against = Callable[[Any], NDArray[Any]]
Floats = NDArray[np.float64]

ACCURATE = 1e-10  # accepted error of a Gaussian kernel's exponent
ROUNDING = 8 * float(np.finfo(np.float64).eps)
FAR = 750.0  # exponents from which exp(-distance) is zero
PAIRS_PER_BLOCK = 1 << 14  # of sparse rows


class Kernel(ABC):
    """Base class of kernels, for kernels with parameters.

    Every `kernel` parameter also accepts a plain function of two tables of rows. A kernel derived
    from this class can prepare the second table once for many calls.

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

    # True if every matrix of the kernel is known to be positive semidefinite.
    positive_semidefinite = False

    def __call__(self, U: Any, V: Any = None) -> NDArray[Any]:
        """Return the kernel (n, m) of each row of U with each row of V; V is U by default."""
        U = as_rows(U)
        V = U if V is None else as_rows(V)
        if U.shape[1] != V.shape[1]:
            raise ValueError(
                "Both tables must have the same number of columns; they have shapes "
                f"{U.shape} and {V.shape}."
            )
        return self.against(V)(U)

    @abstractmethod
    def against(self, V: Any) -> Against:
        """Return the function of U with values kernel(U, V)."""


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
        return lambda U: products(U, V)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """``(gamma u.v + coef0)**degree``.

    With ``coef0=0`` the features are all products of exactly `degree` columns, with ``coef0=1`` all
    products of up to `degree`; `features` computes them.

    Parameters
    ----------
    degree : number of factors of a feature.
    gamma : factor of the scalar product.
    coef0 : 0 for products of exactly `degree` columns, positive for all up to `degree`. With a
        negative value the kernel is not a scalar product in any space.

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
        """True if the kernel is a scalar product in some space: coef0 is not negative."""
        return self.coef0 >= 0

    def against(self, V: Any) -> Against:
        product = Linear().against(V)
        return lambda U: self._power(product(U))

    def _power(self, products: NDArray[Any]) -> NDArray[Any]:
        """Return the kernel from scalar products, by multiplication: exact for integers."""
        products *= self.gamma
        products += self.coef0
        result = np.ones_like(products)
        for bit in bin(int(self.degree))[2:]:
            result *= result
            if bit == "1":
                result *= products
        return result

    def n_features(self, d: int) -> int:
        """Return the number of columns that `features` makes of d columns.

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
        """Return the features phi(X) (n, m) of the kernel, ``phi(u).phi(v) = K(u, v)``.

        There is a column for each product of columns, by rising degree: ``sqrt(c) x1**p1 x2**p2
        ...``, where c is its coefficient in the expanded power.

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
        """Return the coefficient of x1**p1 y1**p1 x2**p2 ... in ``(gamma x.y + coef0)**degree``."""
        left = self.degree - sum(powers)  # factors coef0
        orders = math.factorial(self.degree) // math.prod(map(math.factorial, [*powers, left]))
        return orders * float(self.gamma) ** sum(powers) * float(self.coef0) ** left


@dataclass(frozen=True)
class Gaussian(Kernel):
    """``exp(-gamma |u - v|^2)``; a width sigma is ``gamma = 1 / (2 sigma^2)``.

    Any labels of different rows can be separated in its feature space.

    Parameters
    ----------
    gamma : rate at which the kernel falls with distance.

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
        rows = GaussianRows(V, self.gamma)
        return lambda U: rows.kernel(U).astype(V.dtype, copy=False)


class GaussianRows:
    """Rows V (m, d), dense or sparse, prepared for ``exp(-gamma |u - v|^2)`` with other rows u.

    ``|u|^2 + |v|^2 - 2 u.v`` takes one matrix product, but its error is a few roundings of |u|^2,
    which can exceed the distance of neighbors far from the origin. Dense rows are then centered; if
    that does not help, because several groups are far apart, distances are computed from
    differences. Sparse rows are not centered: distances with too few correct digits that are small
    enough to matter are computed again from differences.

    With float32 as `dtype`, `among` computes in single precision.
    """

    def __init__(self, V: Any, gamma: float, dtype: Any = np.float64) -> None:
        self.rate, self.center = np.asarray(gamma, dtype)[()], None
        self.rows = V.astype(np.float64, copy=False)
        self.squares = squared_lengths(self.rows)
        if not sp.issparse(V) and (dtype == np.float32 or not self.accurate):
            self.center = self.rows.mean(axis=0)
            self.rows = self.rows - self.center
            self.squares = squared_lengths(self.rows)
        self.rows = self.rows.astype(dtype, copy=False)
        self.squares = self.squares.astype(dtype, copy=False)

    @property
    def largest(self) -> float:
        """The largest part of an exponent."""
        return float(self.rate) * float(self.squares.max(initial=0.0))

    @property
    def accurate(self) -> bool:
        """True if the squares leave enough digits of the distances, in float64."""
        return ROUNDING * self.largest <= ACCURATE

    def prepared(self, U: Any) -> tuple[Any, Floats]:
        """Return rows about the center, in float64, and their squares."""
        U = U.astype(np.float64, copy=False)
        if self.center is not None:
            U = (U.toarray() if sp.issparse(U) else U) - self.center
        return U, squared_lengths(U)

    def kernel(self, U: Any) -> Floats:
        """Return the kernel (n, m) of rows U (n, d) with all rows."""
        U, squares = self.prepared(U)
        if self.accurate:
            return self.with_columns(U, squares, slice(None))
        if not sp.issparse(self.rows):
            return np.asarray(np.exp(-self.rate * cdist(U, self.rows, "sqeuclidean")))
        distances = -2 * products(U, self.rows) + self.squares + squares[:, np.newaxis]
        distances, U = np.maximum(distances, 0), sp.csr_matrix(U)
        # Recompute inaccurate distances of pairs that are not far apart.
        off = ROUNDING * (squares[:, np.newaxis] + self.squares)
        i, j = np.nonzero((self.rate * off > ACCURATE) & (self.rate * (distances - off) < FAR))
        for start in range(0, len(i), PAIRS_PER_BLOCK):
            pairs = slice(start, start + PAIRS_PER_BLOCK)
            distances[i[pairs], j[pairs]] = squared_lengths(U[i[pairs]] - self.rows[j[pairs]])
        return np.asarray(np.exp(-self.rate * distances))

    def with_columns(self, U: Any, squares: NDArray[Any], columns: Any) -> NDArray[Any]:
        """Return the kernel of prepared rows with some rows, if `accurate` or in float32."""
        K = products(U, self.rows[columns])
        gaussian_loops.to_gaussian(K, squares, self.squares[columns], self.rate)
        return K

    def among(self, some: NDArray[np.intp], columns: Any) -> NDArray[Any]:
        """Return the kernel of some rows with others, in the precision of the rows."""
        return self.with_columns(self.rows[some], self.squares[some], columns)


def squared_lengths(V: Any) -> NDArray[Any]:
    """Return the squared length (m,) of each row, dense or sparse."""
    if sp.issparse(V):
        return np.asarray(row_norms(V, squared=True))
    return np.asarray(np.einsum("ij,ij->i", V, V))  # without the checks of row_norms


def products(U: Any, V: Any) -> NDArray[Any]:
    """Return all scalar products (n, m) of rows, dense or sparse."""
    if not sp.issparse(U) and not sp.issparse(V):
        return np.asarray(U @ V.T)
    if sp.issparse(U) and sp.issparse(V) and U.shape[0] == 1:  # many times faster than both sparse
        return np.asarray(V @ U.toarray()[0])[np.newaxis]
    return np.asarray(safe_sparse_dot(U, V.T, dense_output=True))


@dataclass(frozen=True)
class Laplacian(Kernel):
    """``exp(-gamma |u - v|_1)``, by the sum of absolute differences.

    Parameters
    ----------
    gamma : rate at which the kernel falls with distance.

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
    """``tanh(gamma u.v + coef0)``, in general not a scalar product in any space.

    Parameters
    ----------
    gamma : factor of the scalar product.
    coef0 : added constant.

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
        product = Linear().against(V)

        def kernel(U: Any) -> NDArray[Any]:
            K = product(U)
            K *= self.gamma
            K += self.coef0
            return np.tanh(K, out=K)

        return kernel


def as_rows(U: Any) -> Any:
    """Return rows as floating-point numbers, dense or CSR without repeated entries."""
    return canonical(check_array(U, accept_sparse="csr", dtype=checks.FLOATS, ensure_min_samples=0))


def canonical(X: Any) -> Any:
    """Return X with repeated sparse entries summed."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def row_keys(X: Any) -> list[bytes]:
    """Return a key for each row: equal for equal rows only."""
    if not sp.issparse(X):
        return [row.tobytes() for row in X + 0.0]  # -0.0 is 0.0
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    bounds = list(zip(X.indptr[:-1], X.indptr[1:], strict=True))
    return [X.indices[i:j].tobytes() + b"|" + X.data[i:j].tobytes() for i, j in bounds]


def against(kernel: Kernel | Callable[..., Any], V: Any) -> Against:
    """Return the function of U with values kernel(U, V), (n, m)."""
    if isinstance(kernel, Kernel):
        return kernel.against(V)
    return lambda U: called_kernel(kernel, U, V, U.dtype)
