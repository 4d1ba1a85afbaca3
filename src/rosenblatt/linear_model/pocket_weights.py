"""The weights of a pocket perceptron, with the best they ever were.

A run does not depend on its pocket. So the weights after some corrections are stored and then
tried together: one matrix product by BLAS instead of a matrix-vector product after every
correction. A filter in float32 rejects most of them (`PlaneFilter`). The others are tried one by
one, on the hardest rows first, until their errors reach those of the pocket.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from rosenblatt import checks
from rosenblatt.base import Attributes
from rosenblatt.mistake_driven.classifier import margins_of
from rosenblatt.mistake_driven.examples import Examples

from . import pocket_loops
from .perceptron_base import Columns, LinearWeights, Plane, as_columns

# Weights tried at once, and the most numbers in them.
MOST_TRIED = 256
NUMBERS_TRIED = 1 << 20

# Corrections before the rows are sorted by hardness: 32, 128, 512, ...
FIRST_SORTED = 32

# Rows of the filter: in one product, and the most bytes of all.
ROWS_PER_PRODUCT = 512
MOST_BYTES = 1 << 25

ROUNDING = 1e-12  # of a sum of weights: equal sums may be added in another order


class Pocket(LinearWeights):
    """Weights w (d,) or (d, K), biases b (K,), and the best of them so far."""

    def __init__(self, examples: Examples, coef: NDArray[Any], intercept: NDArray[Any]) -> None:
        super().__init__(examples, coef, intercept)
        self.hard = self.examples.rows
        # Summed in the order of the loops: if all rows are wrong, the error is exactly 1.
        steps = self.examples.step[self.hard].astype(np.float64)
        with np.errstate(over="ignore"):  # refused below
            self.weight = float(np.add.accumulate(steps)[-1]) if len(steps) else 0.0
        total = self.weight + self.examples.unlearnable_weight
        checks.in_range(total, "The sum of the weights is", "divide eta0 or the weights")
        self.history: list[tuple[int, float]] = []
        self.keep(self.w, self.b, self.wrong(self.w, self.b), self.n_updates)
        most = np.clip(NUMBERS_TRIED // self.w.size, 1, MOST_TRIED)
        self.past_w = np.empty((most, *self.w.shape), self.w.dtype)
        self.past_b = np.empty((most, len(self.b)), self.b.dtype)
        self.tried, self.next_sorting = 0, FIRST_SORTED
        self.sum_w, self.sum_b = np.zeros(self.w.shape), np.zeros(self.b.shape)

    def keep(self, w: NDArray[Any], b: NDArray[Any], wrong: float, n_updates: int) -> None:
        """Put weights into the pocket; `wrong` is the weight of the rows they get wrong."""
        self.best_w, self.best_b, self.best_wrong = w.copy(), b.copy(), wrong
        always = self.examples.unlearnable_weight  # wrong whatever the weights
        self.history.append((n_updates, (wrong + always) / (self.weight + always)))

    def resume(self, n_updates: int, n_visits: int, coef: NDArray[Any], b: NDArray[Any]) -> None:
        """Also put the pocket of an earlier batch into this one if it is as good on this batch."""
        super().resume(n_updates, n_visits, coef, b)
        w = as_columns(coef)
        wrong = self.wrong(w, b)
        self.history = []
        if wrong > self.best_wrong:
            w, b, wrong = self.best_w, self.best_b, self.best_wrong
        self.keep(w, b, wrong, self.n_updates)

    def visit(self, order: NDArray[np.int32], most: int) -> tuple[int, float, int]:
        mistakes, loss, visits = 0, 0.0, 0
        while visits < len(order):
            # The first corrections improve much, so that few of them are tried at once.
            room = min(most - mistakes, len(self.past_w), 1 + self.tried)
            if room == 0:  # stop at the next mistake
                made, lost, seen = super().visit(order[visits:], 0)  # type: ignore[misc]
                return mistakes, loss, visits + seen
            made, lost, seen = self.record(order[visits:], room)
            self.try_on(made, self.n_updates + mistakes)
            mistakes, loss, visits = mistakes + made, loss + lost, visits + seen
            if made < room:
                break  # all rows are visited, or one is not finite
        return mistakes, loss, visits

    def record(self, order: NDArray[np.int32], room: int) -> tuple[int, float, int]:
        """Visit rows in order, and store the weights after each of `room` corrections."""
        raise NotImplementedError

    def correct(self, row: int, scores: NDArray[Any]) -> None:
        super().correct(row, scores)  # type: ignore[misc]
        self.past_w[0], self.past_b[0] = self.w, self.b
        self.try_on(1, self.n_updates)

    def try_on(self, made: int, n_updates: int) -> None:
        """Try the weights after the latest corrections; keep the first of the best."""
        if self.tried >= self.next_sorting:
            self.sort_rows()
            self.next_sorting *= 4
        for t, at_least in zip(*self.likely(made), strict=True):
            w, b = self.past_w[t], self.past_b[t]
            if at_least < self.best_wrong and self.may_be_better(w, b):
                wrong = self.wrong(w, b)
                if wrong < self.best_wrong * (1 - ROUNDING):
                    self.keep(w, b, wrong, n_updates + int(t) + 1)
        self.tried += made
        self.sum_w += self.past_w[:made].sum(axis=0, dtype=np.float64)
        self.sum_b += self.past_b[:made].sum(axis=0, dtype=np.float64)

    def sort_rows(self) -> None:
        """Sort the rows by their margin under the mean of the weights tried so far."""
        # Most weights get the first of them wrong; this order beats that by the pocket's margins.
        mean_w, mean_b = (self.sum_w / self.tried, self.sum_b / self.tried)
        scores = self.examples.X @ mean_w + mean_b
        margins = margins_of(scores, self.examples.codes)[self.examples.rows]
        self.hard = self.examples.rows[np.argsort(margins)]

    def likely(self, made: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Which of the latest weights may beat the pocket, and lower bounds of their errors."""
        return np.arange(made), np.zeros(made)

    def may_be_better(self, w: NDArray[Any], b: NDArray[Any]) -> bool:
        """Whether weights beat the pocket, up to rounding; reads the hardest rows first."""
        limit = self.best_wrong * (1 + ROUNDING)
        return self.wrong(w, b, limit, self.hard) < limit

    def wrong(
        self, w: NDArray[Any], b: NDArray[Any], limit: float = np.inf, rows: Any = None
    ) -> float:
        """The weight of the rows that weights w, b get wrong, or a part of it that is >= limit.

        Without a limit it is summed in the order of the data, so that equal sets sum alike.
        """
        raise NotImplementedError

    def attributes(self, copy: bool = True) -> Attributes:
        last, last_b = self.running()
        return {
            "coef_": np.array(np.atleast_2d(self.best_w.T), order="C"),
            "intercept_": self.best_b.copy(),
            "last_coef_": last.copy() if copy else last,
            "last_intercept_": last_b.copy() if copy else last_b,
            "n_updates_": self.n_updates,
            "pocket_error_": self.history[-1][1],
            "pocket_history_": list(self.history),
        }


class PocketPlane(Pocket, Plane):
    """Two classes."""

    filter: "PlaneFilter | None" = None

    def record(self, order: NDArray[np.int32], room: int) -> tuple[int, float, int]:
        return pocket_loops.recorded_pass(  # type: ignore[no-any-return]
            self.X, self.push, order, self.examples.ties, self.bias, self.w, self.b,
            self.past_w[:room], self.past_b[:room],
        )  # fmt: skip

    def may_be_better(self, w: NDArray[Any], b: NDArray[Any]) -> bool:
        # Planes that pass the filter are likely to be better: no need to check twice.
        return self.filter is not None or super().may_be_better(w, b)

    def wrong(
        self, w: NDArray[Any], b: NDArray[Any], limit: float = np.inf, rows: Any = None
    ) -> float:
        rows = self.examples.rows if rows is None else rows
        count = pocket_loops.wrong_weight
        return float(count(self.X, self.push, self.examples.ties, w, b, limit, rows))

    def sort_rows(self) -> None:
        super().sort_rows()
        self.filter = PlaneFilter(self.examples, self.hard)

    def likely(self, made: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        if self.filter is None:
            return super().likely(made)
        return self.filter.passing(self.past_w[:made], self.past_b[:made], self.best_wrong)


class PocketColumns(Pocket, Columns):
    """K classes."""

    def record(self, order: NDArray[np.int32], room: int) -> tuple[int, float, int]:
        return pocket_loops.recorded_multiclass_pass(  # type: ignore[no-any-return]
            self.X, self.codes, self.step, order, self.examples.ties, self.bias, self.w, self.b,
            self.scores, self.past_w[:room], self.past_b[:room],
        )  # fmt: skip

    def wrong(
        self, w: NDArray[Any], b: NDArray[Any], limit: float = np.inf, rows: Any = None
    ) -> float:
        rows = self.examples.rows if rows is None else rows
        count = pocket_loops.wrong_multiclass_weight
        return float(
            count(self.X, self.codes, self.step, self.examples.ties, w, b, self.scores, limit,
                  rows)
        )  # fmt: skip


class PlaneFilter:
    """Finds the planes that may be wrong on less than a given weight of the rows.

    It reads the hardest rows first, in float32, and counts a row as wrong only if rounding cannot
    explain it: a plane that it rejects is certainly no better. Rows and planes are scaled to
    length 1, so that one number allows for rounding: the sum of d + 1 products is off by at most
    about ``(d + 4) eps``.
    """

    def __init__(self, examples: Examples, hard: NDArray[Any]) -> None:
        X = examples.X
        n_products = int(np.diff(X.indptr).max(initial=0)) if sp.issparse(X) else X.shape[1]
        rows = hard[: MOST_BYTES // (4 * (n_products + 1))]
        X, self.weight = X[rows], examples.step[rows].astype(np.float64)
        sign = np.where(examples.codes[rows] == 1, 1.0, -1.0)
        with np.errstate(all="ignore"):  # rows of zeros or out of range become zero
            squares = row_norms(X, squared=True).astype(np.float64)
            # The bias is a column of the rows' size, so that it does not hide the others.
            self.bias = float(np.sqrt(squares.mean())) if examples.bias else 0.0
            factor = finite(sign / np.sqrt(squares + self.bias**2))
            self.Z = signed_rows(X, factor, self.bias)
        self.scratch = np.empty(0, np.float32)
        self.allowance = np.float32(2 * (n_products + 8) * np.finfo(np.float32).eps)

    def passing(
        self, w: NDArray[Any], b: NDArray[Any], limit: float
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Which planes w (m, d), b (m, 1) may be wrong on less than the limit, and on at least."""
        with np.errstate(all="ignore"):  # a plane of zeros stays zero
            biases = b / self.bias if self.bias else 0 * b
            planes = np.hstack([w, biases]).astype(np.float64)
            planes /= np.linalg.norm(planes, axis=1)[:, np.newaxis]
            V, wrong = finite(planes.astype(np.float32)), np.zeros(len(w))
        left = np.arange(len(w))
        for start in range(0, len(self.weight), ROWS_PER_PRODUCT):
            weight = self.weight[start : start + ROWS_PER_PRODUCT]
            scores = self._scores(V, self.Z[start : start + ROWS_PER_PRODUCT])
            pocket_loops.weigh_below(scores, -self.allowance, weight, wrong)
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
        if len(self.scratch) < m * r:  # new memory takes longer than the product
            self.scratch = np.empty(m * r, np.float32)
        return np.matmul(V, Z.T, out=self.scratch[: m * r].reshape(m, r))


def signed_rows(X: Any, factor: NDArray[np.float64], bias: float) -> Any:
    """Each row (x, bias) of X times its factor, in float32."""
    if sp.issparse(X):
        scaled = sp.diags(factor) @ X
        return sp.hstack([scaled, bias * factor[:, np.newaxis]], format="csr", dtype=np.float32)
    Z = np.empty((len(X), X.shape[1] + 1), np.float32)
    np.multiply(X, factor[:, np.newaxis], out=Z[:, :-1], casting="same_kind")
    Z[:, -1] = bias * factor
    return Z


def finite(numbers: NDArray[Any]) -> NDArray[Any]:
    """The numbers, with 0 in place of NaN and infinity."""
    return np.asarray(np.nan_to_num(numbers, copy=False, nan=0.0, posinf=0.0, neginf=0.0))
