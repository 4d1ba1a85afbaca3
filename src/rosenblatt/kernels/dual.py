"""What a kernel perceptron learns: how much each example counts, and who is a support."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from rosenblatt.base import Attributes, read_only
from rosenblatt.mistake_driven.examples import CELLS_PER_CALL, Examples

from . import perceptron_loops
from .functions import Against
from .gram import KernelRows, Precomputed, check_finite_kernel
from .shared_products import row_keys


class Dual:
    """What two classes and more share: coefficients a (c, n), scores f (c, n), biases b (c,)."""

    drifts = False

    def __init__(self, examples: Examples, rows: KernelRows | Precomputed) -> None:
        self.examples, self.rows = examples, rows
        shape = (examples.n_outputs, len(examples.codes))
        self.a, self.f, self.b = np.zeros(shape), np.zeros(shape), np.zeros(shape[0])
        self.n_updates = self.n_visits = 0
        self.bias = float(examples.bias)
        self.corrections_per_call = max(1, CELLS_PER_CALL // shape[1])

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        mistakes, loss, visits = 0, 0.0, 0
        while visits < len(order):
            limit = min(most - mistakes, self.corrections_per_call)
            made, lost, seen = self._pass(order[visits:], limit)
            mistakes, loss, visits = mistakes + made, loss + lost, visits + seen
            if visits == len(order) or mistakes == most:
                break
            if self.rows.slot[order[visits]] < 0 and np.isfinite(self.score(order[visits])).all():
                self.rows.fetch(int(order[visits]))
            elif made < limit:
                break  # not finite
        return mistakes, loss, visits

    def look(self) -> NDArray[Any]:
        scores = self.f + self.b[:, np.newaxis]
        return scores[0] if len(scores) == 1 else scores.T

    def correct(self, row: int, scores: NDArray[Any]) -> None:
        if self.rows.slot[row] < 0:
            self.rows.fetch(row)
        self._pass(read_only(np.array([row], np.int32)), 1)

    def score(self, row: int) -> Any:
        scores = self.f[:, row] + self.b
        return scores[0] if len(scores) == 1 else scores

    def state(self) -> tuple[NDArray[Any], ...]:
        return self.f, self.b  # other coefficients may give the same scores

    def published_scores(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        return self.f[:, rows].T + self.b

    def attributes(self, copy: bool = True) -> Attributes:
        X, dtype = self.examples.X, self.examples.X.dtype
        support, a = np.flatnonzero(self.a.any(axis=0)), self.a
        if isinstance(self.rows, Precomputed):
            vectors, a = np.empty((0, 0), dtype), a[:, support]
        else:
            support, a = merge_identical(X[support], support, a[:, support])
            vectors = X[support]
        return {
            "dual_coef_": a.astype(dtype),
            "support_": support.astype(np.int32),
            "support_vectors_": vectors,
            "intercept_": self.b.astype(dtype),
            "n_updates_": self.n_updates,
        }

    def _pass(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        """Visit rows in order until a row of the kernel matrix is missing."""
        raise NotImplementedError


class DualPlane(Dual):
    """Two classes: a mistake on x adds y to its coefficient."""

    def __init__(self, examples: Examples, rows: KernelRows | Precomputed) -> None:
        super().__init__(examples, rows)
        step = examples.step.astype(np.float64)
        self.push = read_only(np.where(examples.codes == 1, step, -step))

    def _pass(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        return perceptron_loops.dual_pass(  # type: ignore[no-any-return]
            self.push, order, self.examples.ties, most, self.bias, read_only(self.rows.kept),
            self.rows.slot, self.a[0], self.f[0], self.b,
        )  # fmt: skip


class DualColumns(Dual):
    """K classes: a mistake on x adds 1 to its coefficient for the true class, -1 for a rival."""

    def __init__(self, examples: Examples, rows: KernelRows | Precomputed) -> None:
        super().__init__(examples, rows)
        self.codes = read_only(examples.codes)
        self.step = read_only(examples.step.astype(np.float64))
        self.scores = np.empty(len(self.b))

    def _pass(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        return perceptron_loops.dual_multiclass_pass(  # type: ignore[no-any-return]
            self.codes, self.step, order, self.examples.ties, most, self.bias,
            read_only(self.rows.kept), self.rows.slot, self.a, self.f, self.b, self.scores,
        )  # fmt: skip


def merge_identical(
    X: Any, support: NDArray[np.intp], a: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Let the first of identical rows X (s, d) speak for all: fewer supports, the same scores."""
    # Returns the supports that are left, and their coefficients; those that cancel are gone.
    first: dict[bytes, int] = {}
    place = np.array([first.setdefault(key, len(first)) for key in row_keys(X)], np.intp)
    if len(first) == len(support):
        return support, a
    merged = np.zeros((len(a), len(first)))
    for k in range(len(a)):
        np.add.at(merged[k], place, a[k])
    left = merged.any(axis=0)
    speakers = np.unique(place, return_index=True)[1]
    return support[speakers[left]], merged[:, left]


# Scores of rows by the supports of a kernel model, a block of kernel values at a time.


# How many kernel values a block computes at once: 32 megabytes of them.
BLOCK = 1 << 22
TILE = 64


def scores_by(
    kernel: Against, X: Any, a: NDArray[Any], b: NDArray[Any], support: NDArray[Any]
) -> NDArray[Any]:
    """``a K + b`` (n, c) for rows X, with a (c, s), b (c,), and their kernel with supports."""
    # In 64 bits like the run: a row that was right by little would be wrong by rounding.
    scores = np.tile(b.astype(np.float64), (X.shape[0], 1))
    rows_at_once = max(1, BLOCK // max(len(support), 1) // TILE) * TILE
    for rows in gen_batches(X.shape[0], rows_at_once) if len(support) else ():
        wide = _whole_tiles(X[rows].astype(np.float64, copy=False))
        with np.errstate(over="ignore", invalid="ignore"):  # said below
            K = kernel(wide)[: rows.stop - rows.start]
            # BLAS would split this sum over its threads, and their number would show.
            scores[rows] += np.einsum("ij,kj->ik", K, a)
        if not np.isfinite(scores[rows]).all():
            check_finite_kernel(K, range(rows.start, rows.stop), support)
    scores = _narrowed(scores, X.dtype)
    refuse_overflow(scores)
    return scores


def _whole_tiles(X: Any) -> Any:
    """X with its last row repeated until their number is a multiple of TILE."""
    # BLAS adds up the rows left over from its tiles in another order, and how it shares rows among
    # its threads decides which these are. With none left over, the bits are the same on any number.
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


def refuse_overflow(scores: NDArray[Any]) -> None:
    """Raise if some row has a score that is not a number."""
    finite = np.isfinite(scores).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(f"The score of row {row} of X overflowed; scale X as the training rows.")
