"""A quick look at many planes: which can be better than the best so far?"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import loops
from rosenblatt.mistake_driven.examples import Examples

ROWS_AT_A_TIME = 512
MOST_BYTES = 1 << 25

ROUNDING = 1e-9  # of a sum of weights, added in another order elsewhere


class Sieve:
    """Lets pass the planes that may be wrong on less than a given weight of the rows.

    It looks at the hardest rows first, in 32 bits, and counts a row as wrong when it is so beyond
    rounding: a plane that it holds back is no better for certain. Rows and planes are of length 1
    here, which makes the allowance for rounding one number: the sum of d + 1 products of them is
    off by at most about ``(d + 4) eps``.
    """

    def __init__(self, examples: Examples, hard: NDArray[Any]) -> None:
        d = examples.X.shape[1]
        rows = hard[: MOST_BYTES // (4 * (d + 1))]
        X, self.weight = examples.X[rows], examples.step[rows].astype(np.float64)
        length = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64) + 1)
        factor = np.where(examples.codes[rows] == 1, 1.0, -1.0) / length
        self.Z = np.empty((len(rows), d + 1), np.float32)
        np.multiply(X, factor[:, np.newaxis], out=self.Z[:, :d], casting="same_kind")
        self.Z[:, d] = factor
        self.scratch = np.empty(0, np.float32)
        self.allowance = np.float32(2 * (d + 8) * np.finfo(np.float32).eps)

    def pass_through(
        self, w: NDArray[Any], b: NDArray[Any], limit: float
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Which of the planes w (m, d), b (m, 1) may be wrong on less weight than the limit.

        Also on how much each of these is wrong at least.
        """
        planes = np.hstack([w, b]).astype(np.float64)
        with np.errstate(invalid="ignore"):  # a plane of zeros becomes NaN, which is below nothing
            planes /= np.linalg.norm(planes, axis=1)[:, np.newaxis]
        V, wrong = planes.astype(np.float32), np.zeros(len(w))
        left = np.arange(len(w))
        if len(self.scratch) < len(w) * ROWS_AT_A_TIME:
            self.scratch = np.empty(len(w) * ROWS_AT_A_TIME, np.float32)
        for start in range(0, len(self.Z), ROWS_AT_A_TIME):
            Z, weight = self.Z[start : start + ROWS_AT_A_TIME], self.weight[start:]
            # Fresh memory would take longer than the product.
            scores = self.scratch[: len(V) * len(Z)].reshape(len(V), len(Z))
            np.matmul(V, Z.T, out=scores)
            loops.pocket.weigh_below(scores, -self.allowance, weight, wrong)
            kept = wrong < limit * (1 + ROUNDING)
            left, V, wrong = left[kept], V[kept], wrong[kept]
            if not len(left):
                break
        return left, wrong * (1 - ROUNDING)
