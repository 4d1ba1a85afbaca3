"""Scores of rows by the supports of a kernel model, a block of kernel values at a time."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from .functions import Against

# How many kernel values a block computes at once: 32 megabytes of them.
BLOCK = 1 << 22
TILE = 64


def scores_by(
    kernel: Against, X: Any, a: NDArray[Any], b: NDArray[Any], support: NDArray[Any]
) -> NDArray[Any]:
    """``a K + b`` (n, c) for rows X, with a (c, s), b (c,) and their kernel (n, s) with supports.

    In 64 bits like the run: a row that was right by little would be wrong by rounding.
    """
    scores = np.tile(b.astype(np.float64), (X.shape[0], 1))
    rows_at_once = max(1, BLOCK // max(len(support), 1) // TILE) * TILE
    for rows in gen_batches(X.shape[0], rows_at_once) if len(support) else ():
        wide = _whole_tiles(X[rows].astype(np.float64, copy=False))
        with np.errstate(over="ignore", invalid="ignore"):  # said below
            K = kernel(wide)[: rows.stop - rows.start]
            # BLAS would split this sum over its threads, and their number would show.
            scores[rows] += np.einsum("ij,kj->ik", K, a)
        if not np.isfinite(scores[rows]).all():
            _refuse_strange_pairs(K, rows.start, support)
    scores = _narrowed(scores, X.dtype)
    _refuse_overflow(scores)
    return scores


def _whole_tiles(X: Any) -> Any:
    """X with its last row repeated until their number is a multiple of TILE.

    BLAS adds up the rows left over from its tiles in another order, and how it shares rows among
    its threads decides which these are. With none left over, the bits are the same on any number.
    """
    missing = -X.shape[0] % TILE
    if sp.issparse(X) or not missing or X.shape[0] < TILE:
        return X
    return np.vstack([X, np.repeat(X[-1:], missing, axis=0)])


def _narrowed(scores: NDArray[np.float64], dtype: Any) -> NDArray[Any]:
    """Scores in the precision of the rows; one that is not zero does not become it."""
    with np.errstate(over="ignore", under="ignore"):  # refused later; said here
        narrow = scores.astype(dtype, copy=False)
    lost = (narrow == 0) & (scores != 0)
    if lost.any():
        narrow[lost] = np.copysign(np.finfo(dtype).smallest_subnormal, scores[lost])
    return narrow


def _refuse_overflow(scores: NDArray[Any]) -> None:
    """Raise if some row has a score that is not a number."""
    finite = np.isfinite(scores).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"The score of row {int(np.argmin(finite))} of X overflowed: its kernel with the "
            "supports is too large. Scale X as the training rows were."
        )


def _refuse_strange_pairs(K: NDArray[Any], first: int, support: NDArray[Any]) -> None:
    """Raise if the kernel (m, s) of rows from `first` on with a support is not a finite number."""
    finite = np.isfinite(K)
    if not finite.all():
        i, j = np.unravel_index(int(np.argmin(finite)), K.shape)
        raise ValueError(
            f"The kernel of row {first + i} of X and training row {support[j]} is {K[i, j]}: it "
            "must be a finite number. Scale X as the training rows were."
        )
