"""The two steps of EM for Gaussian components, on additive sums.

Expectation gives each row's shares in the components, and sums rows by them (`expected`); the
parameters that maximise the expected log-likelihood follow from the sums (`maximised`).

Legend: n rows X (n, d), K components.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from rosenblatt import loops
from rosenblatt.runtime import threads
from rosenblatt.runtime.storage import arrays
from rosenblatt.statistics import ClassCounts, Moments

Table = NDArray[np.float64]
LOG_TWO_PI = float(np.log(2 * np.pi))


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
        """The sums as the library's additive statistic; class k is component k."""
        K, full = len(self.weight), self.scatter.ndim == 3
        counts = ClassCounts(np.arange(K), np.full(K, n, np.int64), self.weight[None].copy())
        noise = 2.0**-44 * (np.einsum("kii->ki", self.scatter) if full else self.scatter)
        mean, scatter = (np.stack([a, np.zeros_like(a)]) for a in (self.mean, self.scatter))
        weight = np.stack([self.weight, np.zeros(K)])[:, :, None]
        return Moments(counts, None, np.dtype(dtype), mean, scatter, noise, weight, "refuse")

    @staticmethod
    def of(moments: Moments) -> "Sums":
        """The sums that a statistic holds."""
        return Sums(np.asarray(moments.weight, np.float64), moments.mean, moments.scatter)


class Rows:
    """Checked dense rows, and their weights (n,) or None."""

    def __init__(self, X: NDArray[Any], weights: Any) -> None:
        self.X, self.n, self.d = X, len(X), X.shape[1]
        self.stored, self.weights = arrays(X), None if weights is None else arrays(weights)
        self.total = float(self.n if weights is None else weights.sum())

    def expected(self, parameters: Components, hard: bool, full: bool) -> tuple[float, Sums]:
        """The mean log-likelihood, and the sums of rows by their shares."""
        means = np.ascontiguousarray(parameters.means, np.float64)
        factors, constants = factors_of(parameters, self.d)
        likelihood = 0.0
        scratch = Scratch(len(means), self.d, full)

        def work(start: int, stop: int) -> tuple[float, Table]:
            columns, scores, rest, block, sums = scratch.fresh()
            found = loops.mixture.expect_and_sum(
                self.stored, self.weights, start, stop, means, factors, constants, hard, sums,
                columns, scores, rest, block,
            )  # fmt: skip
            return found, sums

        total = scratch.sums()
        for found, sums in threads.over_chunks(work, self.n, self.n * self.d):
            likelihood += found
            total += sums
        return likelihood / self.total, scratch.concluded(total, means)

    def shared(self, shares: Table, full: bool) -> Sums:
        """The sums of rows by given shares (n, K)."""
        if self.weights is not None:
            shares = shares * self.weights[:, None]
        scratch = Scratch(shares.shape[1], self.d, full)
        weight = np.maximum(shares.sum(axis=0), np.finfo(float).tiny)
        means = np.ascontiguousarray((shares.T @ self.X) / weight[:, None], np.float64)
        by_component = np.ascontiguousarray(shares.T, np.float64)

        def work(start: int, stop: int) -> Any:
            columns, _, _, block, sums = scratch.fresh()
            loops.mixture.sum_given(
                self.stored, by_component, start, stop, means, sums, columns, block
            )
            return sums

        total = scratch.sums()
        for sums in threads.over_chunks(work, self.n, self.n * self.d):
            total += sums
        return scratch.concluded(total, means)

    def log_densities(self, parameters: Components) -> Table:
        """log weight + log density of each row and component: (K, n)."""
        means = np.ascontiguousarray(parameters.means, np.float64)
        factors, constants = factors_of(parameters, self.d)
        found = np.empty((len(means), self.n))
        scratch = Scratch(len(means), self.d, full=False)

        def work(start: int, stop: int) -> None:
            columns, scores, *_ = scratch.fresh()
            loops.mixture.log_densities(
                self.stored, start, stop, means, factors, constants, found, columns, scores
            )

        threads.over_chunks(work, self.n, self.n * self.d)
        return found


class Scratch:
    """Scratch space of the loops, and what their sums mean."""

    def __init__(self, n_components: int, d: int, full: bool) -> None:
        self.K, self.d, self.full = n_components, d, full
        tile, four = loops.simd.tiles.TILE, loops.simd.lanes.WIDTH
        self.height, self.width = (d + 1 + -(d + 1) % multiple for multiple in (four, tile))

    def sums(self) -> Table:
        """Zeros for the sums."""
        shape = (self.height, self.width) if self.full else (3, self.d)
        return np.zeros((self.K, *shape))

    def fresh(self) -> tuple[Any, ...]:
        """Columns, scores, rest, block and sums of one chunk."""
        rows = loops.mixture.ROWS
        block = np.zeros((self.width // 4, rows + 8, 4)) if self.full else None
        columns, scores = np.zeros((2, self.d, rows)), np.zeros((self.K, rows))
        return columns, scores, np.zeros((2, rows)), block, self.sums()

    def concluded(self, total: Table, origins: Table) -> Sums:
        """Weights, means and scatters from sums about some origins (K, d)."""
        d = self.d
        if self.full:
            weight, first = total[:, d, d].copy(), total[:, d, :d]
            lower = np.tril(total[:, :d, :d])
            products = lower + np.tril(lower, -1).transpose(0, 2, 1)
        else:
            weight, first, products = total[:, 0, 0].copy(), total[:, 1], total[:, 2]
        shift = first / np.where(weight > 0, weight, 1.0)[:, None]
        if self.full:
            return Sums(weight, origins + shift, products - first[:, :, None] * shift[:, None])
        return Sums(weight, origins + shift, np.maximum(products - first * shift, 0.0))


# Maximisation.


def raw_covariances(sums: Sums, kind: str) -> Table:
    """The maximum-likelihood covariances of the type, without a floor."""
    weight = np.where(sums.weight > 0, sums.weight, 1.0)
    if kind == "full":
        return sums.scatter / weight[:, None, None]
    if kind == "tied":
        return np.asarray(sums.scatter.sum(axis=0) / weight.sum())
    variances = sums.scatter / weight[:, None]
    return np.asarray(variances if kind == "diag" else variances.mean(axis=1))


def floored(covariances: Table, kind: str, floor: float) -> Table:
    """Covariances with the floor added to their variances."""
    if kind in ("diag", "spherical"):
        return covariances + floor
    return covariances + floor * np.eye(covariances.shape[-1])


def roots_of(covariances: Table, kind: str) -> Table:
    """U of each covariance: the upper triangular inverse of its Cholesky factor's transpose."""
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
    """Raise because a covariance has no inverse."""
    which = "" if component is None else f" It is component {component}."
    raise ValueError(
        "Fitting the mixture model failed because some components have ill-defined empirical "
        "covariance (for instance caused by singleton or collapsed samples). Try to "
        "decrease the number of components, increase reg_covar, or scale the input data." + which
    ) from None


def factors_of(parameters: Components, d: int) -> tuple[Table, Table]:
    """Factors and constants as the loops read them."""
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
