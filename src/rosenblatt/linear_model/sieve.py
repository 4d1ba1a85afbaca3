"""A quick look at many planes: which can be better than the best so far?"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from rosenblatt import loops
from rosenblatt.mistake_driven.examples import Examples

ROWS_AT_A_TIME = 512
MOST_BYTES = 1 << 25

ROUNDING = 1e-12  # of a sum of weights: equal ones may be added in another order


class Sieve:
    """Lets pass the planes that may be wrong on less than a given weight of the rows.

    It looks at the hardest rows first, in 32 bits, and counts a row as wrong when it is so beyond
    rounding: a plane that it holds back is no better for certain. Rows and planes are of length 1
    here, which makes the allowance for rounding one number: the sum of d + 1 products of them is
    off by at most about ``(d + 4) eps``.
    """

    def __init__(self, examples: Examples, hard: NDArray[Any]) -> None:
        X = examples.X
        n_products = int(np.diff(X.indptr).max(initial=0)) if sp.issparse(X) else X.shape[1]
        rows = hard[: MOST_BYTES // (4 * (n_products + 1))]
        X, self.weight = X[rows], examples.step[rows].astype(np.float64)
        sign = np.where(examples.codes[rows] == 1, 1.0, -1.0)
        with np.errstate(all="ignore"):  # rows of zeros or out of range become zero: below nothing
            squares = row_norms(X, squared=True).astype(np.float64)
            # The bias counts as a column as long as a row, so that it does not drown the others.
            self.bias = float(np.sqrt(squares.mean())) if examples.bias else 0.0
            factor = finite(sign / np.sqrt(squares + self.bias**2))
            self.Z = signed_rows(X, factor, self.bias)
        self.scratch = np.empty(0, np.float32)
        self.allowance = np.float32(2 * (n_products + 8) * np.finfo(np.float32).eps)

    def pass_through(
        self, w: NDArray[Any], b: NDArray[Any], limit: float
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Which of the planes w (m, d), b (m, 1) may be wrong on less weight than the limit.

        Also on how much each of these is wrong at least.
        """
        with np.errstate(all="ignore"):  # a plane of zeros stays so, and is below nothing
            biases = b / self.bias if self.bias else 0 * b
            planes = np.hstack([w, biases]).astype(np.float64)
            planes /= np.linalg.norm(planes, axis=1)[:, np.newaxis]
            V, wrong = finite(planes.astype(np.float32)), np.zeros(len(w))
        left = np.arange(len(w))
        for start in range(0, len(self.weight), ROWS_AT_A_TIME):
            weight = self.weight[start : start + ROWS_AT_A_TIME]
            scores = self._scores(V, self.Z[start : start + ROWS_AT_A_TIME])
            loops.pocket.weigh_below(scores, -self.allowance, weight, wrong)
            kept = wrong < limit * (1 + ROUNDING)
            left, V, wrong = left[kept], V[kept], wrong[kept]
            if not len(left):
                break
        return left, wrong * (1 - ROUNDING)

    def _scores(self, V: NDArray[np.float32], Z: Any) -> NDArray[np.float32]:
        """V Z' (m, r), of planes and rows."""
        if sp.issparse(Z):
            return np.ascontiguousarray((Z @ np.ascontiguousarray(V.T)).T)
        m, r = len(V), len(Z)
        if len(self.scratch) < m * r:  # fresh memory would take longer than the product
            self.scratch = np.empty(m * r, np.float32)
        return np.matmul(V, Z.T, out=self.scratch[: m * r].reshape(m, r))


def signed_rows(X: Any, factor: NDArray[np.float64], bias: float) -> Any:
    """Each row (x, bias) of X times its factor, in 32 bits."""
    if sp.issparse(X):
        scaled = sp.diags(factor) @ X
        return sp.hstack([scaled, bias * factor[:, np.newaxis]], format="csr", dtype=np.float32)
    Z = np.empty((len(X), X.shape[1] + 1), np.float32)
    np.multiply(X, factor[:, np.newaxis], out=Z[:, :-1], casting="same_kind")
    Z[:, -1] = bias * factor
    return Z


def finite(numbers: NDArray[Any]) -> NDArray[Any]:
    """Zero in place of what is not a finite number."""
    return np.asarray(np.nan_to_num(numbers, copy=False, nan=0.0, posinf=0.0, neginf=0.0))
