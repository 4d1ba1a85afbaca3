"""Weighted rows less their mean, and residuals of a fit, with what rounding may do to each.

Products are taken with centred columns: ``X'r`` of columns far from the origin would lose every
digit. Dense rows of large tables are centred a block at a time, with no second table. Sparse ones
stay so: columns without an empty place are centred, and the level of others is taken off products.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.runtime import deadline

from .claims import Claim

Floats = NDArray[np.float64]

UNIT = 2.0**-53
CELLS_PER_BLOCK = 1 << 20
MOST_CELLS_KEPT = 8_000_000  # of centred rows beside those given
TINY = 1e-140  # a target whose square, and that times a share and a tolerance, is still a number
# NumPy adds in pairs of runs of 128; this many roundings are on the way of any term.
ROUNDINGS_OF_A_SUM = 64


class RoundedMatrix:
    """Rows X (n, d) with shares p (n,) that sum to one, centred if there is an intercept."""

    def __init__(self, X: Any, share: Floats, centred: bool) -> None:
        self.X, self.share, self.centred = X, share, centred
        self.given = X
        self.away: Floats | None = None  # the centred rows, if they are few enough to be kept
        self.n, self.d = X.shape
        self.mean = self.level = np.zeros(self.d)  # level: what sparse rows still have of the mean
        self.rest = np.zeros(self.d)  # what the mean has beyond its 53 bits
        if centred:
            self.mean = self.level = np.asarray(share @ X, np.float64).ravel()
            # The rounding of a mean far from the origin, taken off; and then what no mean can hold.
            self.mean = self.level = self.mean + self._moment(1)
            self.rest = self._moment(1)
            if sp.issparse(X):
                self._centre_full_columns()
        self.target_unit = UNIT * (self.d + 4)
        if centred and not sp.issparse(X) and X.size <= MOST_CELLS_KEPT:
            self.away = X - self.mean
            self.away -= self.rest
        elif not centred and not sp.issparse(X):
            self.away = X

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Runs of rows; dense ones centred."""
        size = max(1, CELLS_PER_BLOCK // max(self.d, 1))
        for start in range(0, self.n, size):
            deadline.check()
            rows = slice(start, min(start + size, self.n))
            if self.away is not None:
                yield rows, self.away[rows]
                continue
            part = self.X[rows]
            yield rows, part if sp.issparse(part) else part - self.mean - self.rest

    def dense(self, part: Any) -> Floats:
        """A run of rows as an array, centred."""
        return np.asarray(part.toarray() - self.level if sp.issparse(part) else part)

    def centre(self, w: Floats, b: Any) -> tuple[Any, Any]:
        """Intercepts b of weights (d,) or (k, d), of columns less their mean; their rounding."""
        # Far from the origin b and mean.w are large and cancel: in longer doubles, if there are.
        terms = (np.asarray(self.mean, np.longdouble) + self._level_rest) * w
        level = np.abs(terms).sum(axis=-1) + np.abs(b)
        rounding = float(np.finfo(np.longdouble).eps) * (self.d + 4) * level
        centre = np.asarray(terms.sum(axis=-1) + b, np.float64)
        return centre, np.asarray(rounding, np.float64) + UNIT * np.abs(centre)

    @property
    def _level_rest(self) -> Floats:
        """Of the rest what was taken off the rows (d,): not that of unfilled sparse columns."""
        return np.where(self.level == 0, self.rest, 0.0) if sp.issparse(self.X) else self.rest

    def times(self, w: Floats) -> tuple[Floats, Floats]:
        """``X~ w`` (n,) or (n, k), and what rounding may have done to each, at most."""
        product, size = np.empty((self.n, *w.shape[1:])), np.empty((self.n, *w.shape[1:]))
        level = np.abs(self.level) @ np.abs(w) if sp.issparse(self.X) else 0.0
        for rows, part in self.blocks():
            product[rows] = self._product(part, w)
            size[rows] = abs(part) @ np.abs(w) + level
        return product, self.target_unit * size

    def roughly_times(self, w: Floats) -> Floats:
        """``X~ w`` without a word on rounding, in half the time."""
        return np.concatenate([self._product(part, w) for _, part in self.blocks()])

    def _product(self, part: Any, w: Floats) -> Floats:
        level = self.level @ w if sp.issparse(part) else 0.0
        return np.asarray(part @ w - level)

    def transposed(self, v: Floats) -> tuple[Floats, Floats]:
        """``X~' v`` (d,) or (d, k), and what rounding may have done to each, at most."""
        size = np.zeros((self.d, *v.shape[1:]))
        for rows, part in self.blocks():
            size += abs(part).T @ np.abs(v[rows])
        if sp.issparse(self.X):
            size += 2 * np.multiply.outer(np.abs(self.level), np.sum(np.abs(v), axis=0))
        return self.roughly_transposed(v), UNIT * (self.n + 4) * size

    def roughly_transposed(self, v: Floats) -> Floats:
        """``X~' v`` without a word on rounding, in half the time."""
        product = np.zeros((self.d, *v.shape[1:]))
        for rows, part in self.blocks():
            product += part.T @ v[rows]
        if sp.issparse(self.X):
            product -= np.multiply.outer(self.level, np.sum(v, axis=0))
        return product

    def scatter(self, columns: NDArray[np.intp], weight: Floats | None = None) -> Floats:
        """``X~_C' diag(weight) X~_C`` for some columns C; weights are the shares if not given."""
        weight = self.share if weight is None else weight
        gram = np.zeros((len(columns), len(columns)))
        for rows, part in self.blocks():
            some = part[:, columns]
            some = (some.toarray() - self.level[columns]) if sp.issparse(some) else some
            gram += some.T @ (some * weight[rows][:, np.newaxis])
        return gram

    def norms(self) -> Floats:
        """``sqrt(sum p x~^2)`` of each column (d,), never too small."""
        squares = self._moment(2)
        rounding = squares
        if sp.issparse(self.X):  # of the share of empty places, where there are any
            rounding = squares + self.level**2
        return np.asarray(np.sqrt(squares + UNIT * (self.n + 4) * rounding))

    def _centre_full_columns(self) -> None:
        """Of sparse columns those that have no empty place: they are as sparse as they were."""
        full = self._stored()[1]
        if full.any():
            self.X, self.level = self.X.copy(), np.where(full, 0.0, self.mean)
            self.X.data -= (self.mean - self.level)[self.X.indices]
            self.X.data -= np.where(full, self.rest, 0.0)[self.X.indices]

    def _moment(self, power: int) -> Floats:
        """``sum p x~^power`` of each column (d,), empty places of sparse rows included."""
        sums = np.zeros(self.d)
        for rows, part in self.blocks():
            if sp.issparse(part):
                away = part.data - self.level[part.indices]
                away = away**power * np.repeat(self.share[rows], np.diff(part.indptr))
                sums += np.bincount(part.indices, away, self.d)
            else:
                sums += self.share[rows] @ part**power
        if sp.issparse(self.X):
            shares, full = self._stored()
            sums += np.where(full, 0.0, np.maximum(1 - shares, 0.0)) * (-self.level) ** power
        return sums

    def _stored(self) -> tuple[Floats, NDArray[np.bool_]]:
        """The share of rows with a number in each sparse column, and whether all have one (d,)."""
        shares, counts = np.zeros(self.d), np.zeros(self.d, np.intp)
        for rows, part in self.blocks():
            repeated = np.repeat(self.share[rows], np.diff(part.indptr))
            shares += np.bincount(part.indices, repeated, self.d)
            counts += np.bincount(part.indices, minlength=self.d)
        return shares, counts == self.n


def total(terms: Floats) -> tuple[float, float]:
    """The sum of terms, and what rounding may have done to it, the terms' own included."""
    return float(np.sum(terms)), float(ROUNDINGS_OF_A_SUM * UNIT * np.sum(np.abs(terms)))


def shares_of(weight: Floats) -> Floats:
    """Each weight's share of all, however large or small their sum (n,)."""
    scaled = weight / weight.max()
    return np.asarray(scaled / scaled.sum())


@dataclass(frozen=True, eq=False)
class RegressionFit:
    """One target and the numbers published for it."""

    table: RoundedMatrix
    t: Floats
    w: Floats
    b: float
    unit: float = UNIT  # of rounding, in the numbers published

    def residuals(self, w: Floats | None = None, b: float | None = None) -> tuple[Floats, Floats]:
        """r (n,) at the published numbers or others, and what rounding may have done to each."""
        w, b = (self.w, self.b) if w is None or b is None else (w, b)
        product, allowance = self.table.times(w)
        centre, rounding = self.table.centre(w, b)
        r = self.t - centre - product
        return r, allowance + rounding + self.table.target_unit * (np.abs(centre) + np.abs(self.t))

    def best_bias(self, w: Floats) -> float:
        """The intercept that serves w best; zero where there is none."""
        if not self.table.centred:
            return 0.0
        r, _ = self.residuals(w, 0.0)
        return float(self.table.share @ r)

    @property
    def centred_target(self) -> Floats:
        """t less its mean, if there is an intercept (n,)."""
        if not self.table.centred:
            return self.t
        rough = self.t - float(self.table.share @ self.t)
        return np.asarray(rough - float(self.table.share @ rough))

    @property
    def size(self) -> float:
        """``sum p t~^2``: what is lost without any coefficients; never below its own rounding."""
        spread = float(np.sum(self.table.share * self.centred_target**2))
        return max(spread, UNIT * float(np.sum(self.table.share * self.t**2)))

    @property
    def can_be_squared(self) -> bool:
        """Whether squares of the targets are in the range of floating point, unless all are 0."""
        largest = float(np.abs(self.t).max(initial=0.0))
        return largest == 0 or TINY < largest < 1 / TINY

    @property
    def blur(self) -> float:
        """What rounding the published numbers may cost at most, in ``sum p r^2``."""
        # Each is off by a share of itself, so that predictions are off by no more than that share
        # of their terms; around the best numbers the cost is the square of that.
        lengths = np.hypot(self.table.norms(), self.table.mean)
        off = float(self.unit * (abs(self.b) + float(lengths @ np.abs(self.w))))
        return off * off


def mean_square(table: RoundedMatrix, r: Floats, allowance: Floats) -> tuple[float, float]:
    """``sum p r^2`` at most, and what of it is an allowance for rounding."""
    value, rounding = total(table.share * r**2)
    rounding += total(table.share * (2 * np.abs(r) * allowance + allowance**2))[0]
    return value + rounding, rounding


def no_gap(fit: RegressionFit) -> Claim:
    """That nothing is known of a gap, since floating point does not hold the squares."""
    largest = float(np.abs(fit.t).max(initial=0.0))
    why = f"the targets are up to {largest:.3g}" if not fit.can_be_squared else "predictions are"
    why += " out of the range in which numbers can be squared"
    return Claim("gap", f"nothing is known of the gap: {why}", np.inf, 0.0, False, "checked")
