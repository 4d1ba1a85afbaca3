"""Mahalanobis' distances of many rows from several classes, in two forms.

Factors: S^-1 = F F', and |F'(x - m)|^2 by BLAS on blocks in cache. Forms: the same multiplied out
to c + b.x + x.U.x with U upper triangular, half the work, and for two classes a quarter, since only
the difference of the forms is wanted; for covariances that are not near singular.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from rosenblatt import loops
from rosenblatt.prediction import InLoop, Score

Array = NDArray[np.float64]

BLOCK_CELLS = 32_768  # what BLAS is given at a time; stays in the second-level cache
ROWS_AT_A_TIME = 32  # of a quadratic form; they stay in the first-level cache
LEAST_VARIANCE = 1e-6  # multiplying out loses this share of the digits, features scaled to one
MOST_APART = 1e6  # and so does a squared distance of a class from the middle


class Factors(NamedTuple):
    """Factors of the inverse covariances, and constants."""

    centre: NDArray[Any]  # (d,)
    places: Array  # (K, d): means less the centre
    tables: Array  # (K, d, d): F
    constants: Array  # (K,): the score at the mean
    regular: bool  # whether it may be multiplied out

    @staticmethod
    def of(
        centre: NDArray[Any], means: Array, variances: Array, axes: Array, log_priors: Array
    ) -> "Factors":
        """From means (K, d), variances (K, d) along axes (K, d, d), and log shares (K,)."""
        tables = axes / np.sqrt(variances)[:, None, :]
        places = means - centre
        # The condition that counts is that with all features scaled to one.
        covariances = (axes * variances[:, None, :]) @ axes.transpose(0, 2, 1)
        deviations = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
        scaled = covariances / deviations[:, :, None] / deviations[:, None, :]
        apart = (np.einsum("kd,kde->ke", places, tables) ** 2).sum(axis=1)
        regular = np.linalg.eigvalsh(scaled).min() > LEAST_VARIANCE and apart.max() < MOST_APART
        constants = log_priors - 0.5 * np.log(variances).sum(axis=1)
        return Factors(centre, places, tables, constants, bool(regular))

    def score(self, dtype: DTypeLike) -> Score:
        """The function of rows (b, d) that gives constant - |F'(x - m)|^2 / 2, (K, b)."""
        d = len(self.centre)
        # A row less the centre with a one behind it: then each class is one product.
        products = [
            np.vstack([F, -place @ F]).astype(dtype)
            for F, place in zip(self.tables, self.places, strict=True)
        ]
        constants, ones = self.constants.astype(dtype)[:, None], np.ones(d, dtype)

        def score(rows: Any) -> NDArray[Any]:
            n = rows.shape[0]
            size = min(n, max(64, BLOCK_CELLS // d))
            scores = np.empty((len(products), n), dtype)
            block, product = np.ones((size, d + 1), dtype), np.empty((size, d), dtype)
            for start in range(0, n, size):
                some = rows[start : start + size]
                some = some.toarray() if sp.issparse(some) else some  # a block, not the table
                stop = start + len(some)
                near, z = block[: len(some)], product[: len(some)]
                np.subtract(some, self.centre, out=near[:, :d])
                for k, table in enumerate(products):
                    np.matmul(near, table, out=z)
                    np.multiply(z, z, out=z)
                    np.matmul(z, ones, out=scores[k, start:stop])
            scores *= -0.5
            scores += constants
            return scores

        return score

    def forms(self) -> "Forms | None":
        """The same multiplied out; None if that would cost digits."""
        if not self.regular or np.isinf(self.constants).any():
            return None
        d, K = len(self.centre), len(self.tables)
        pad = -d % loops.tiles.TILE
        linear, upper = np.zeros((K, pad + d)), np.zeros((K, pad + d, pad + d))
        constants = self.constants.copy()
        for k, (F, place) in enumerate(zip(self.tables, self.places, strict=True)):
            inverse = F @ F.T
            # -(x - m).P.(x - m) / 2 = -x.P.x / 2 + (P m).x - m.P.m / 2
            upper[k, pad:, pad:] = -np.triu(inverse, 1) - 0.5 * np.diag(np.diag(inverse))
            linear[k, pad:] = inverse @ place
            constants[k] -= 0.5 * place @ inverse @ place
        return Forms(self.centre.astype(np.float64), linear, upper, constants)


class Forms(NamedTuple):
    """Quadratic functions of x less a centre; see `loops.quadratic`."""

    centre: Array  # (d,)
    linear: Array  # (K, q)
    upper: Array  # (K, q, q)
    constants: Array  # (K,)

    def difference(self) -> "Forms":
        """The second class's function less the first's."""
        parts = (np.diff(table, axis=0) for table in self[1:])
        return Forms(self.centre, *parts)

    def score(self, dtype: DTypeLike) -> Score:
        """The function of rows (b, d) that gives their values, (K, b)."""
        n_forms, q = self.linear.shape
        tile = loops.tiles.TILE
        by_tile = self.upper.reshape(n_forms, q, q // tile, tile).transpose(0, 2, 1, 3)
        upper = np.ascontiguousarray(by_tile)

        def score(rows: NDArray[Any]) -> NDArray[Any]:
            scores = np.empty((n_forms, len(rows)), dtype)
            z, sums = np.zeros((ROWS_AT_A_TIME, q)), np.empty((ROWS_AT_A_TIME, 4))
            form = (self.centre, self.linear, upper, self.constants)
            loops.quadratic.quadratic_scores(rows, *form, scores, z, sums)
            return scores

        return InLoop(score)
