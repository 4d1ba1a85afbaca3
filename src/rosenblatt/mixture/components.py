"""The two steps of EM for Gaussian components, on additive sums.

Expectation gives each row's shares in the components, and sums rows by them; the parameters that
maximize the expected log-likelihood follow from the sums.

Legend: n rows X (n, d), K components.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from rosenblatt.loops import tiles
from rosenblatt.loops.rows import arrays
from rosenblatt.loops.simd import float64x4
from rosenblatt.runtime import threads
from rosenblatt.statistics import ClassCounts, Moments

from . import mixture_loops

Table = NDArray[np.float64]
LOG_TWO_PI = float(np.log(2 * np.pi))
MOST_COLUMNS = 24  # whose table of products fits into the cache
MOST_LOST = 2.0**-30  # rounding error of a log-density by products about a common center


class Components(NamedTuple):
    """The parameters: shares (K,), means (K, d), covariances in scikit-learn's form of the type."""

    weights: Table
    means: Table
    covariances: Table
    roots: Table  # U with U U' the precision, in the form of the type
    kind: str  # the type


class Sums(NamedTuple):
    """Weighted sums of rows by component: weight (K,), mean (K, d), scatter about the mean.

    The scatter is (K, d, d), or (K, d) where products of columns are not needed.
    """

    weight: Table
    mean: Table
    scatter: Table

    def moments(self, n: int, dtype: Any) -> Moments:
        """Return the sums as an additive statistic; class k is component k."""
        K, full = len(self.weight), self.scatter.ndim == 3
        counts = ClassCounts(np.arange(K), np.full(K, n, np.int64), self.weight.copy())
        squares = np.einsum("kii->ki", self.scatter) if full else self.scatter
        noise = 2.0**-44 * np.abs(squares)  # rounding can leave tiny squares negative
        mean, scatter, exact = self.mean.copy(), self.scatter.copy(), np.zeros_like(self.mean)
        return Moments(counts, None, np.dtype(dtype), mean, exact, scatter, noise)

    @staticmethod
    def of(moments: Moments) -> "Sums":
        """Return the sums of a statistic."""
        return Sums(np.asarray(moments.weight, np.float64), moments.mean, moments.scatter)


class MixtureRows:
    """Checked dense rows, and their weights (n,) or None."""

    def __init__(self, X: NDArray[Any], weights: Any) -> None:
        self.X, self.n, self.d = X, len(X), X.shape[1]
        self.stored, self.weights = arrays(X), None if weights is None else arrays(weights)
        self.total = float(self.n if weights is None else weights.sum())

    @cached_property
    def center_and_reach(self) -> tuple[Table, Table]:
        """The middle of each column (d,), and the largest distance of the rows from it (d,)."""
        low, high = self.X.min(axis=0).astype(np.float64), self.X.max(axis=0).astype(np.float64)
        center = low + (high - low) / 2
        return center, high - center

    def expected(self, parameters: Components, hard: bool, full: bool) -> tuple[float, Sums]:
        """Return the mean log-likelihood, and the sums of rows by their shares."""
        factors, constants = factors_of(parameters, self.d)
        by_products = full and self.d <= MOST_COLUMNS
        if by_products:
            center, reach = self.center_and_reach
            products = Products(parameters, center, constants)
            by_products = products.lost(reach) < MOST_LOST
        if by_products:
            terms = products.terms()
            likelihood, sums = self._sum_chunks(
                products, mixture_loops.expect_and_sum_products, center, products.K, terms, hard
            )
        else:
            means = np.ascontiguousarray(parameters.means, np.float64)
            likelihood, sums = self._sum_chunks(
                Scratch(means, full), mixture_loops.expect_and_sum, means, factors, constants, hard
            )
        return likelihood / self.total, sums

    def shared(self, shares: Table, full: bool) -> Sums:
        """Return the sums of rows by given shares (n, K)."""
        if self.weights is not None:
            shares = shares * self.weights[:, None]
        weight = np.maximum(shares.sum(axis=0), np.finfo(float).tiny)
        means = np.ascontiguousarray((shares.T @ self.X) / weight[:, None], np.float64)
        shares = np.ascontiguousarray(shares.T, np.float64)
        return self._sum_chunks(Scratch(means, full), mixture_loops.sum_given, shares, means)[1]

    def _sum_chunks(self, space: Any, loop: Any, *arguments: Any) -> tuple[Any, Sums]:
        """Call a loop on chunks of rows; return the log-likelihood and the sums."""

        def work(start: int, stop: int) -> tuple[float, Table]:
            sums = space.sums()
            found = loop(self.stored, self.weights, start, stop, *arguments, sums, *space.fresh())
            return found, sums

        likelihood, total = 0.0, space.sums()
        for found, sums in threads.over_chunks(work, self.n, self.n * self.d):
            likelihood += found
            total += sums
        return likelihood, space.to_sums(total)

    def log_densities(self, parameters: Components) -> Table:
        """Return log weight + log density of each row and component: (K, n)."""
        means = np.ascontiguousarray(parameters.means, np.float64)
        factors, constants = factors_of(parameters, self.d)
        found = np.empty((len(means), self.n))
        scratch = Scratch(means, full=False)

        def work(start: int, stop: int) -> None:
            columns, scores, *_ = scratch.fresh()
            mixture_loops.log_densities(
                self.stored, start, stop, means, factors, constants, found, columns, scores
            )

        threads.over_chunks(work, self.n, self.n * self.d)
        return found


class Scratch:
    """Arrays of the loops, and conversion of their sums about some origins (K, d)."""

    def __init__(self, origins: Table, full: bool) -> None:
        self.origins, self.full = origins, full
        self.K, self.d = origins.shape
        tile, four = tiles.TILE, float64x4.WIDTH
        self.height, self.width = (
            self.d + 1 + -(self.d + 1) % multiple for multiple in (four, tile)
        )

    def sums(self) -> Table:
        """Return zeros for the sums."""
        shape = (self.height, self.width) if self.full else (3, self.d)
        return aligned_zeros(self.K, *shape)

    def fresh(self) -> tuple[Any, ...]:
        """Return columns, scores, rest and block of one chunk."""
        rows = mixture_loops.ROWS
        block = aligned_zeros(self.width // 4, rows + 8, 4) if self.full else None
        columns, scores = aligned_zeros(2, self.d, rows), aligned_zeros(self.K, rows)
        return columns, scores, aligned_zeros(2, rows), block

    def to_sums(self, total: Table) -> Sums:
        """Return weights, means and scatters."""
        d = self.d
        if self.full:
            weight, first = total[:, d, d].copy(), total[:, d, :d]
            lower = np.tril(total[:, :d, :d])
            products = lower + np.tril(lower, -1).transpose(0, 2, 1)
            return about_means(weight, first, products, self.origins)
        weight, first, products = total[:, 0, 0].copy(), total[:, 1], total[:, 2]
        shift = first / np.where(weight > 0, weight, 1.0)[:, None]
        return Sums(weight, self.origins + shift, np.maximum(products - first * shift, 0.0))


class Products:
    """Components as coefficients of the products of columns about a center, and their sums.

    The terms of a row are as in `mixture_loops`: products, columns, a one.
    """

    def __init__(self, parameters: Components, center: Table, constants: Table) -> None:
        self.K, self.d = parameters.means.shape
        self.center, self.means = center, np.asarray(parameters.means, np.float64) - center
        roots = np.broadcast_to(np.asarray(parameters.roots, np.float64), (self.K, self.d, self.d))
        self.precisions, self.constants = roots @ roots.transpose(0, 2, 1), constants
        self.lower = np.tril_indices(self.d)
        n_terms = len(self.lower[0]) + self.d + 1
        self.width = n_terms + -n_terms % mixture_loops.TERMS
        self.height = self.K + self.K % 2

    def lost(self, reach: Table) -> float:
        """Return a bound on the rounding error of a log-density of rows within reach (d,)."""
        reach = np.maximum(reach, np.abs(self.means).max(axis=0))
        with np.errstate(over="ignore", invalid="ignore"):
            return float((np.abs(self.precisions) @ reach @ reach).max() * self.d * 2.0**-52)

    def terms(self) -> Table:
        """Return the coefficients of the terms in pairs of components: (K / 2, F, 2)."""
        pairs = aligned_zeros(self.height // 2, self.width, 2)
        i, j = self.lower
        linear = np.einsum("kij,kj->ki", self.precisions, self.means)
        found = np.zeros((self.height, self.width))
        found[: self.K, : len(i)] = np.where(i == j, -0.5, -1.0) * self.precisions[:, i, j]
        found[: self.K, len(i) : len(i) + self.d] = linear
        found[: self.K, len(i) + self.d] = self.constants - 0.5 * (linear * self.means).sum(axis=1)
        pairs[:] = found.reshape(-1, 2, self.width).transpose(0, 2, 1)
        return pairs

    def sums(self) -> Table:
        """Return zeros for the sums."""
        return aligned_zeros(self.height, self.width, 4)

    def fresh(self) -> tuple[Table, ...]:
        """Return table, scores and rest of one chunk."""
        rows, group = mixture_loops.ROWS, mixture_loops.GROUP
        table = aligned_zeros(rows // group, self.width, group)
        return table, aligned_zeros(self.height, rows), aligned_zeros(2, rows)

    def to_sums(self, total: Table) -> Sums:
        """Return weights, means and scatters."""
        sums, (i, j) = total[: self.K].sum(axis=2), self.lower
        first, weight = sums[:, len(i) : len(i) + self.d], sums[:, len(i) + self.d].copy()
        products = np.empty((self.K, self.d, self.d))
        products[:, i, j] = products[:, j, i] = sums[:, : len(i)]
        return about_means(weight, first, products, self.center)


def about_means(weight: Table, first: Table, products: Table, origins: Table) -> Sums:
    """Return means and scatters from sums of columns and products about some origins."""
    shift = first / np.where(weight > 0, weight, 1.0)[:, None]
    return Sums(weight, origins + shift, products - first[:, :, None] * shift[:, None])


def raw_covariances(sums: Sums, kind: str) -> Table:
    """Return the maximum-likelihood covariances of the type, without a floor."""
    weight = np.where(sums.weight > 0, sums.weight, 1.0)
    if kind == "full":
        return sums.scatter / weight[:, None, None]
    if kind == "tied":
        return np.asarray(sums.scatter.sum(axis=0) / weight.sum())
    variances = sums.scatter / weight[:, None]
    return np.asarray(variances if kind == "diag" else variances.mean(axis=1))


def roots_of(covariances: Table, kind: str) -> Table:
    """Return U of each covariance: the inverse of its Cholesky factor's transpose."""
    if kind in ("diag", "spherical"):
        if not (covariances > 0).all():
            refuse(int(np.argwhere(~(covariances > 0))[0, 0]))
        return np.asarray(1.0 / np.sqrt(covariances))
    matrices = covariances if kind == "full" else covariances[None]
    roots = np.empty(matrices.shape)
    for k, matrix in enumerate(matrices):
        try:
            factor = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            refuse(k if kind == "full" else None)
        roots[k] = solve_triangular(factor, np.eye(len(matrix)), lower=True).T
    return roots if kind == "full" else roots[0]


def refuse(component: int | None) -> None:
    """Raise because a covariance is singular."""
    which = "" if component is None else f" It is component {component}."
    raise ValueError(
        "Fitting the mixture model failed because some components have ill-defined empirical "
        "covariance (for instance caused by singleton or collapsed samples). Try to "
        "decrease the number of components, increase reg_covar, or scale the input data." + which
    ) from None


def factors_of(parameters: Components, d: int) -> tuple[Table, Table]:
    """Return the factors and constants that the loops read."""
    roots, K = np.asarray(parameters.roots, np.float64), len(parameters.weights)
    with np.errstate(divide="ignore"):
        log_weights = np.log(np.asarray(parameters.weights, np.float64))
    if parameters.kind in ("diag", "spherical"):
        roots = np.ascontiguousarray(np.broadcast_to(roots.reshape(K, -1), (K, d)))
        logs = np.log(roots).sum(axis=1)
        return roots, log_weights + logs - 0.5 * d * LOG_TWO_PI
    roots = np.broadcast_to(roots, (K, d, d))
    logs = np.log(np.einsum("kii->ki", roots)).sum(axis=1)
    quads = np.zeros((K, -(-d // 4) * 4, d))
    quads[:, :d] = roots.transpose(0, 2, 1)
    factors = np.ascontiguousarray(quads.reshape(K, -1, 4, d).transpose(0, 1, 3, 2))
    return factors, log_weights + logs - 0.5 * d * LOG_TWO_PI


def directions_of_spread(X: NDArray[Any], floor: float) -> Table:
    """Return orthonormal directions (d, r) in which the variance of rows is at least `floor`."""
    some = X[:: max(1, len(X) // 10_000)].astype(np.float64)
    variances, directions = np.linalg.eigh(np.atleast_2d(np.cov(some.T)))
    return np.asarray(directions[:, variances >= floor])


def least_variances(covariances: NDArray[Any], directions: Table | None = None) -> Table:
    """Return the least variance (K,) of each component, among some directions (d, r)."""
    d = covariances.shape[1] if covariances.ndim > 1 else 1
    V = np.eye(d) if directions is None or covariances.ndim == 1 else directions
    if directions is not None and not directions.size:
        return np.full(len(covariances), np.inf)
    if covariances.ndim == 3:
        return np.asarray(np.linalg.eigvalsh(V.T @ covariances @ V)[:, 0])
    variances = covariances.reshape(len(covariances), -1) @ (V * V)  # of diagonal matrices
    return np.asarray(variances.min(axis=1))


def aligned_zeros(*shape: int) -> Table:
    """Return zeros aligned to 64 bytes, because vectors across cache lines take longer."""
    size = int(np.prod(shape))
    space = np.zeros(size + 8)
    first = -(space.ctypes.data // 8) % 8
    return space[first : first + size].reshape(shape)
