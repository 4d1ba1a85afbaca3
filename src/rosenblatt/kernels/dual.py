"""What a kernel perceptron learns: how much each example counts, and who is a support."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import loops
from rosenblatt.base import Attributes, read_only
from rosenblatt.mistake_driven.examples import CELLS_PER_CALL, Examples

from .rows import KernelRows, Precomputed


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
        return loops.dual.dual_pass(  # type: ignore[no-any-return]
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
        return loops.dual.dual_multiclass_pass(  # type: ignore[no-any-return]
            self.codes, self.step, order, self.examples.ties, most, self.bias,
            read_only(self.rows.kept), self.rows.slot, self.a, self.f, self.b, self.scores,
        )  # fmt: skip


def merge_identical(
    X: Any, support: NDArray[np.intp], a: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Let the first of identical rows X (s, d) speak for all: fewer supports, the same scores.

    Returns the supports that are left, and their coefficients; those that cancel are gone.
    """
    first: dict[bytes, int] = {}
    place = np.array([first.setdefault(key, len(first)) for key in _keys(X)], np.intp)
    if len(first) == len(support):
        return support, a
    merged = np.zeros((len(a), len(first)))
    for k in range(len(a)):
        np.add.at(merged[k], place, a[k])
    left = merged.any(axis=0)
    speakers = np.unique(place, return_index=True)[1]
    return support[speakers[left]], merged[:, left]


def _keys(X: Any) -> list[bytes]:
    """A key for each row, the same for equal rows and for no others."""
    if not sp.issparse(X):
        return [row.tobytes() for row in X + 0.0]  # -0.0 is 0.0
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    bounds = list(zip(X.indptr[:-1], X.indptr[1:], strict=True))
    return [X.indices[i:j].tobytes() + b"|" + X.data[i:j].tobytes() for i, j in bounds]
