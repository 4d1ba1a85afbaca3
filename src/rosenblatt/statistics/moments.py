"""Moments: weight, mean and scatter of each class."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import checks
from rosenblatt.loops.rows import some_rows
from rosenblatt.loops.simd import float64x4
from rosenblatt.loops.tiles import TILE
from rosenblatt.runtime.threads import interruptible, one_blas_thread

from . import moments_loops
from .batch import CHUNK_OVER_TABLE, AugmentedRows, Batch, Labels, check_missing, total_of
from .counts import ROUNDING, ByClass, ClassCounts, of_class
from .statistic import DOUBLES, ArrayForm

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
ONE_ROW = np.ones(1, np.int64)

Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Moments(ByClass):
    """Weight, mean and scatter of each class.

    The scatter is the weighted sum of squared distances from the class's own mean, or with `full`
    of the products of all pairs of features; divided by the weight it is the variance. Means are
    pairs of doubles, ``mean + mean_low``, so that rows may lie anywhere.

    Attributes
    ----------
    classes, rows, weight : as in `ClassCounts`.
    mean : shape (K, d).
    scatter : shape (K, d), or (K, d, d) when full.
    feature_weight : the weight of the values that are not missing, shape (K, d), or (K, 1) when
        none can be.
    noise : a bound on the rounding error of the (diagonal of the) scatter, shape (K, d).
    missing : "refuse" or "ignore": whether NaN is an error or left out.
    feature_names, dtype : of the data, names as far as known.

    Examples
    --------
    >>> from rosenblatt.statistics import Moments
    >>> a = Moments.of([[1.0], [3.0], [7.0]], ["ham", "ham", "spam"])
    >>> a.mean.ravel(), a.scatter.ravel()
    (array([2., 7.]), array([2., 0.]))
    >>> b = Moments.of([[5.0]], ["ham"])
    >>> (a + b).mean.ravel(), (a + b).scatter.ravel()
    (array([3., 7.]), array([8., 0.]))
    """

    mean: Table  # (K, d)
    mean_low: Table  # (K, d): the rounding error of the mean
    scatter: Table  # (K, d) or (K, d, d)
    noise: Table  # (K, d)
    known: Table | None = None  # (K, d): weight of the values that are not missing, if any can be

    forms: ClassVar[dict[str, ArrayForm]] = {
        "mean": ArrayForm("K d", DOUBLES, -np.inf),
        "mean_low": ArrayForm("K d", DOUBLES, -np.inf),
        "scatter": ArrayForm("K d", DOUBLES, 0),
        "noise": ArrayForm("K d", DOUBLES, 0),
        "known": ArrayForm("K d", DOUBLES, 0, if_missing=True),
    }
    options: ClassVar[tuple[str, ...]] = ("n_features", "full", "missing")

    @classmethod
    def of(cls, X: Any, y: Any = None, weights: Any = None, **options: Any) -> Self:
        """Return the moments of rows X (n, d) with labels y (n,) and weights (n,).

        Without labels all rows are of one class, 0. The options are `full` and `missing`; with
        ``missing="ignore"``, which is not possible for `full`, each feature has its own weight.
        """
        row = None if weights is not None else cls._of_row(X, y, **options)
        return super().of(X, y, weights, **options) if row is None else row

    @classmethod
    def _of_row(cls, X: Any, y: Any, full: bool = False, missing: str = "refuse") -> Self | None:
        """Return the moments of a single row, for streams; None if X is another table."""
        if not isinstance(X, np.ndarray) or X.ndim != 2 or len(X) != 1 or missing != "refuse":
            return None
        if X.dtype.kind not in "fiub":
            return None
        labels, mean = Labels.of(y, 1), X.astype(np.float64)
        if len(labels.codes) != 1 or not math.isfinite(np.vdot(mean, mean)):
            return None  # the check of rows raises an error
        d = X.shape[1]
        counts = ClassCounts(labels.classes[labels.codes], ONE_ROW, ONE_ROW)
        scatter = np.zeros((1, d, d) if full else (1, d))
        dtype = SINGLE if X.dtype == SINGLE else DOUBLE
        return cls(counts, None, dtype, mean, np.zeros((1, d)), scatter, np.zeros((1, d)))

    @classmethod
    def _of_batch(cls, batch: Batch, *, full: bool = False, missing: str = "refuse") -> list[Self]:
        _check_missing(missing, full)
        batch.sum_duplicates()  # the square of a number is not that of its parts
        names = ("mean", "mean_low", "scatter", "noise", "known")
        tables = zip(names, moments_by_bucket(batch, full, missing), strict=True)
        return cls._of_tables(batch, dict(tables))

    @property
    def missing(self) -> str:
        """``"refuse"`` if NaN is an error, ``"ignore"`` if it is left out."""
        return "refuse" if self.known is None else "ignore"

    @property
    def feature_weight(self) -> Table:
        """Weight of the values that are not missing, (K, d); (K, 1) if none can be."""
        return self.weight[:, None] if self.known is None else self.known

    @property
    def full(self) -> bool:
        """True if the scatter has the products of all pairs of features."""
        return self.scatter.ndim == 3

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.mean.shape[1])

    def total(self) -> Self:
        """Return the moments of all classes together, as one class, 0.

        >>> Moments.of([[1.0], [3.0], [8.0]], ["ham", "ham", "spam"]).total().mean
        array([[4.]])
        """
        if not len(self.classes):
            return self
        w = np.broadcast_to(self.feature_weight, self.mean.shape)
        all_w = w.sum(axis=0)
        first = w.argmax(axis=0), np.arange(self.n_features)  # distances are from this mean
        center, center_low = self.mean[first], self.mean_low[first]
        away = np.where(w > 0, (self.mean - center) + (self.mean_low - center_low), 0.0)
        shift = np.divide((w * away).sum(axis=0), all_w, out=np.zeros_like(all_w), where=all_w > 0)
        mean, mean_low = _two_sum(center, shift, center_low)
        away = np.sqrt(w) * np.where(w > 0, away - shift, 0.0)
        squares = (away * away).sum(axis=0)
        with one_blas_thread():
            between = away.T @ away if self.full else squares
        scatter = self.scatter.sum(axis=0) + between
        noise = self.noise.sum(axis=0) + MERGE_ROUNDING * (_diagonal(self.scatter).sum(0) + squares)
        if not np.isfinite(scatter).all():
            raise _too_large()
        tables = (mean, mean_low, scatter, noise, None if self.known is None else all_w)
        wide: Any = (None if table is None else table[None] for table in tables)
        return type(self)(self.counts.total(), self.feature_names, self.dtype, *wide)

    def diagonal(self) -> Self:
        """Return the moments without the products of different features.

        >>> Moments.of([[1.0, 2.0], [3.0, 6.0]], full=True).diagonal().scatter
        array([[2., 8.]])
        """
        return replace(self, scatter=_diagonal(self.scatter).copy()) if self.full else self

    def rescaled(self, shift: Any, scale: Any) -> Self:
        """Return the moments of ``(X - shift) / scale``, without reading X again.

        Parameters
        ----------
        shift, scale : numbers, or arrays (d,); no scale may be zero.

        >>> moments = Moments.of([[1.0], [3.0]]).rescaled(shift=2.0, scale=0.5)
        >>> moments.mean, moments.scatter
        (array([[0.]]), array([[8.]]))
        """
        shift, scale = (np.broadcast_to(v, self.n_features).astype(float) for v in (shift, scale))
        if not (np.isfinite(shift).all() and np.isfinite(scale).all() and scale.all()):
            raise ValueError("shift and scale must be finite, and scale not zero.")
        mean = ((self.mean - shift) + self.mean_low) / scale
        scatter = self.scatter / (np.outer(scale, scale) if self.full else scale**2)
        noise = self.noise / scale**2 + MERGE_ROUNDING * _diagonal(scatter)
        return replace(self, mean=mean, mean_low=np.zeros_like(mean), scatter=scatter, noise=noise)

    def subtraction_bound(self, other: Self) -> float:
        """Return a bound on the relative error of the scatter of ``self - other``.

        This is the largest ratio, over classes and features, of the rounding error to the scatter
        that is left; infinite where only rounding is left. A single row has no scatter; the error
        of its values counts instead.

        >>> a = Moments.of([[0.0], [1.0], [10.0]])
        >>> 0 < a.subtraction_bound(Moments.of([[10.0]])) < 1e-12
        True
        """
        left = self - other
        single = (left.rows == 1)[:, None]
        error = np.where(
            single,
            _mean_error(left.noise, np.broadcast_to(left.feature_weight, left.mean.shape)),
            0.0,
        )
        size = np.abs(left.mean)
        share = np.divide(error, size, out=np.full(error.shape, np.inf), where=size > 0)
        return max(left.relative_noise(), float(share[error > 0].max(initial=0.0)))

    def relative_noise(self, floor: Any = 0.0, pooled: bool = False) -> float:
        """Return a bound on the relative error of the scatters, at its largest.

        Parameters
        ----------
        floor : a term that the model adds to the scatters (K, d).
        pooled : True if the model uses only the sum over classes.
        """
        noise = np.where(self.rows[:, None] > 1, self.noise, 0.0)  # one row has no scatter
        used = _diagonal(self.scatter) + floor
        if pooled:
            noise, used = noise.sum(axis=0), used.sum(axis=0)
        share = np.divide(noise, used, out=np.full(noise.shape, np.inf), where=used > 0)
        return float(share[noise > 0].max(initial=0.0))

    def _combined(
        self, other: Self, sign: int, name_of: Callable[[int], str] | None = None
    ) -> Self:
        # With distance D of the means (Chan, Golub and LeVeque 1979):
        # scatter = scatter + other scatter + D D w v / (w + v); v < 0 takes rows out.
        joint = self.counts.join(other.counts, sign)
        mean, low, S, noise = (
            joint.spread(*pair)
            for pair in (
                (self.mean, other.mean),
                (self.mean_low, other.mean_low),
                (self.scatter, other.scatter),
                (self.noise, other.noise),
            )
        )
        w, v = joint.spread(self.feature_weight, other.feature_weight)
        with np.errstate(over="ignore", invalid="ignore"):
            D = (mean[1] - mean[0]) + (low[1] - low[0])
            D[np.broadcast_to((w == 0) | (v == 0), D.shape)] = 0.0
            all_w = w + sign * v
            all_w[np.abs(all_w) <= ROUNDING * w] = 0.0
            share = np.divide(sign * v, all_w, out=np.zeros_like(v), where=all_w != 0)
            back = np.divide(w, all_w, out=np.zeros_like(w), where=all_w != 0)
            # w v / (w + v), with the same bits in either order
            f = np.where(v > w, v * back, w * share) if sign > 0 else w * share
            # From the mean of more weight, so that the order does not matter to the last bit.
            swap = (v > w) | ((v == w) & (mean[1] < mean[0])) if sign > 0 else np.bool_(False)
            start, start_low = np.where(swap, (mean[1], low[1]), (mean[0], low[0]))
            new_mean, new_low = _two_sum(start, np.where(swap, -back, share) * D, start_low)
            squares, between = _diagonal(S[0]) + _diagonal(S[1]), np.abs(f) * D * D
            scatter = S[0]
            scatter += S[1] if sign > 0 else -S[1]
            if self.full:
                products = D[:, :, None] * D[:, None, :]
                products *= f[:, :, None]
                scatter += products
            else:
                scatter += f * D * D
            error = _mean_error(noise[0], w) + _mean_error(noise[1], v)  # of D
            error += TINY_ROUNDING * (np.abs(mean[0]) + np.abs(mean[1])) * (D != 0)
            new_noise = noise[0] + noise[1] + MERGE_ROUNDING * (v > 0) * (squares + between)
            new_noise += 2 * np.abs(f * D) * error
        if not (np.isfinite(new_noise).all() and np.isfinite(scatter).all()):
            raise _too_large()
        if sign < 0:
            self._refuse_negative(scatter, new_noise, name_of or self._name_of)
            if self.full:
                root = np.sqrt(new_noise)
                scatter[np.abs(scatter) <= root[:, :, None] * root[:, None, :]] = 0.0
            else:
                scatter[scatter <= new_noise] = 0.0
        tables = {"mean": new_mean, "mean_low": new_low, "scatter": scatter, "noise": new_noise}
        if self.known is not None:
            tables["known"] = all_w
        if sign < 0:
            tables = {name: joint.keep(table) for name, table in tables.items()}
        return self._joined(other, joint.counts, **tables)

    def _refuse_negative(self, left: Table, noise: Table, name_of: Callable[[int], str]) -> None:
        """Raise if a scatter would be negative by more than rounding."""
        bad = np.argwhere(_diagonal(left) < -noise)
        if len(bad):
            k, j = map(int, bad[0])
            name = of_class(self.classes, k)
            raise ValueError(
                f"Cannot remove these rows: {name and f'in {name} '}{name_of(j)} has a scatter of "
                f"{_diagonal(self.scatter)[k, j]:.6g}, less than they account for; they were "
                "never added."
            )

    @classmethod
    def _forms(cls, about: Mapping[str, Any]) -> dict[str, ArrayForm]:
        _check_missing(about["missing"], about["full"])
        forms = super()._forms(about)
        if about["full"]:
            forms["scatter"] = ArrayForm("K d d", DOUBLES, -np.inf)
        return forms

    def _check_values(self) -> None:
        if (_diagonal(self.scatter) < 0).any():
            raise ValueError("scatter has a negative diagonal")
        if self.full and not np.allclose(self.scatter, self.scatter.swapaxes(1, 2)):
            raise ValueError("scatter is not symmetric")


def _check_missing(missing: str, full: bool) -> None:
    check_missing(missing)
    if full and missing == "ignore":
        raise ValueError("missing must be 'refuse' for a full scatter; got 'ignore'.")


def _diagonal(scatter: Table) -> Table:
    """Return the scatter (K, d) of each feature by itself."""
    return np.diagonal(scatter, axis1=1, axis2=2) if scatter.ndim == 3 else scatter


# Rounding.

MERGE_ROUNDING = 2.0**-50  # of what is added in a merge
TINY_ROUNDING = 2.0**-100  # of a mean, kept as a pair


def _rounding(n_rows: int) -> float:
    """Return a bound on the rounding of a sum of squares of rows, as a share of it."""
    return 2.0**-53 * (4 + min(n_rows, 60))


def _mean_error(noise: Table, weight: Table) -> Table:
    """Return a bound on the error of means (K, d) whose scatters are off by `noise`."""
    # A mean is off by 2**-53 of the deviation, the scatter by more than that of itself.
    share = np.divide(noise, weight, out=np.zeros_like(noise), where=weight != 0)
    return np.asarray(np.sqrt(2.0**-50 * share))


def _two_sum(a: Table, b: Table, low: Table) -> tuple[Table, Table]:
    """Return ``a + b + low`` as a pair; low is tiny beside a."""
    total = a + b
    part = total - a
    low = low + ((a - (total - part)) + (b - part))
    high = total + low
    return high, low - (high - total)


def _too_large() -> Exception:
    return checks.too_large("The weighted squares are", "rescale the features, or the weights")


# From rows to moments by bucket, in one read.

# Centers are chosen from so many rows, if not more for the sake of each bucket.
LOOKED_AT = 4096
LOOKED_AT_PER_BUCKET = 64

# A sum of squares may be so many times the scatter about the mean; else the center was far off.
COARSE = 1024.0

# Few dense rows are multiplied by a simple loop, many in tiles; BLOCK_ROWS at a time in cache, plus
# 8, or the panels of a tile would all meet in one set of it.
FEW_PRODUCTS = 200_000
BLOCK_ROWS = 256
BLOCK_ROWS_PER_BUCKET = 16
MANY_PRODUCTS = 10**9  # take some tenths of a second, during which Ctrl-C would wait
LONG_CHUNK = 4_000_000  # numbers of a chunk that is read where it lies
FLOATS = (np.float64, np.float32)


def moments_by_bucket(batch: Batch, full: bool, missing: str) -> tuple[Any, ...]:
    """Return mean, mean_low, scatter, noise and known of each bucket of a batch."""
    centers = typical_values(batch)
    found = _about_centers(batch, batch.buckets, centers, full, missing)
    mean, scatter, squares = found[0], found[2], found[5]
    coarse = squares > COARSE * _diagonal(scatter)
    if coarse.any():  # read these buckets once more, now that their means are known
        again = coarse.any(axis=1)
        centers = np.where(coarse, mean, centers)
        buckets = np.where(again[batch.buckets] & (batch.buckets >= 0), batch.buckets, -1)
        closer = _about_centers(batch, buckets, centers, full, missing)
        for table, other in zip(found, closer, strict=True):
            if table is not None:
                table[again] = other[again]
    return found[:5]


def typical_values(batch: Batch) -> Table:
    """Return the median of three rows of each bucket, feature by feature (B, d).

    Of sparse rows it is zero unless the three are alike, and centers do not fill up columns.
    """
    n, B = batch.n_rows, batch.n_buckets
    if not n:
        return np.zeros((B, batch.n_features))
    seen = np.arange(0, n, max(1, n // (LOOKED_AT + LOOKED_AT_PER_BUCKET * B)))
    order = np.argsort(batch.buckets[seen], kind="stable")
    ends = np.searchsorted(batch.buckets[seen[order]], np.arange(B + 1))
    first, last = ends[:-1], ends[1:] - 1
    places = np.stack([first, (first + last) // 2, last]).clip(0, len(seen) - 1)
    a, b, c = batch.doubles(seen[order[places.ravel()]]).reshape(3, B, -1)
    with np.errstate(over="ignore", invalid="ignore"):
        middle = np.fmax(np.fmin(a, b), np.fmin(np.fmax(a, b), c))  # NaN is left out
        if sp.issparse(batch.X):
            away = np.fmax(np.fmax(a, b), c) - np.fmin(np.fmin(a, b), c)
            middle[~(away < np.abs(middle))] = 0.0
    middle[~np.isfinite(middle)] = 0.0
    return middle


def _about_centers(
    batch: Batch, buckets: NDArray[np.int64], centers: Table, full: bool, missing: str
) -> tuple[Any, ...]:
    """As `moments_by_bucket`, and the sum of squares (B, d) about the centers."""
    with np.errstate(over="ignore", invalid="ignore"):  # the sums show it
        if full:
            many = batch.n_rows * batch.n_features**2 >= MANY_PRODUCTS
            sums, products = interruptible(lambda: _sum_products(batch, buckets, centers), many)
            squares, gaps = _diagonal(products).copy(), None
        else:
            sums, squares, gaps = _sum_squares(batch, buckets, centers, missing)
    weight = np.broadcast_to(batch.counted[1].astype(np.float64)[:, None], centers.shape)
    if gaps is not None:
        weight = weight - gaps
    with np.errstate(over="ignore", invalid="ignore"):
        shift = np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0)
        # Digits of the quotient beyond doubles: sums of integers then have the same mean and
        # scatter about any center.
        product, error = _two_product(shift, weight)
        rest = np.divide(
            (sums - product) - error, weight, out=np.zeros_like(sums), where=weight > 0
        )
        rest[~np.isfinite(rest)] = 0.0
        mean, low = _two_sum(np.where(weight > 0, centers, 0.0), shift, rest)
        batch.finite(sums, squares + weight * mean * mean)
    noise = _rounding(batch.n_rows) * squares
    if full:
        scatter = np.tril(
            _less_product(products, sums[:, :, None], shift[:, None, :], rest[:, None, :])
        )
        scatter += np.tril(scatter, -1).swapaxes(1, 2)
        # Where squares underflow, products with other columns may still be in range.
        constant = (_diagonal(scatter) <= noise) & (squares > 0.0)
        scatter[constant, :] = 0.0
        scatter.swapaxes(1, 2)[constant, :] = 0.0
    else:
        scatter = _less_product(squares, sums, shift, rest)
        scatter[scatter <= noise] = 0.0  # the numbers are all the same
    return mean, low, scatter, noise, None if gaps is None else weight, squares


def _less_product(a: Table, b: Table, c: Table, c_low: Table) -> Table:
    """Return a - b (c + c_low), rounded once."""
    with np.errstate(over="ignore", invalid="ignore"):
        product, error = _two_product(b, c)
        difference, low = _two_sum(a, -product, -(error + b * c_low))
        return np.asarray(np.where(np.isfinite(low), difference, a - b * c))


def _two_product(a: Table, b: Table) -> tuple[Table, Table]:
    """Return the rounded product and its error (Dekker 1971), zero where that is out of range."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = a * b
        a_high, b_high = (134217729.0 * v - (134217729.0 * v - v) for v in (a, b))
        a_low, b_low = a - a_high, b - b_high
        error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, np.where(np.isfinite(error), error, 0.0)


def _sum_squares(
    batch: Batch, buckets: NDArray[np.int64], centers: Table, missing: str
) -> tuple[Table, Table, Table | None]:
    """Return sums and squares (B, d) about the centers, and the weight of what is missing."""
    plain = missing == "refuse" and not sp.issparse(batch.X)

    def work(X: Any, buckets: Any, weights: Any) -> Table:
        table, part = np.zeros((3, *centers.shape)), np.empty((2, *centers.shape))
        if plain:
            moments_loops.sum_dense(X, buckets, weights, centers, table[0], table[1], part)
        else:
            X, gaps = _shifted(X, buckets, centers), table[2] if missing == "ignore" else None
            moments_loops.sum_known(X, buckets, weights, centers, table[0], table[1], gaps, part)
        return table

    parts = batch.over_chunks(work, max(3 * centers.size, _long_chunk(batch)), FLOATS, buckets)
    sums, squares, gaps = total_of(parts, (3, *centers.shape)).astype(np.float64, copy=False)
    return sums, squares, gaps if missing == "ignore" else None


def _sum_products(batch: Batch, buckets: NDArray[np.int64], centers: Table) -> tuple[Table, Table]:
    """Return sums (B, d) about the centers, and the lower half of products (B, d, d)."""
    B, d = centers.shape
    few = sp.issparse(batch.X) or batch.n_rows * d**2 <= FEW_PRODUCTS

    def work(X: Any, buckets: Any, weights: Any) -> Table:
        if not few:
            return _tiled_products(X, buckets, weights, centers)
        X = _shifted(X.joined() if isinstance(X, AugmentedRows) else X, buckets, centers)
        table, sums, products = np.empty((B, d + 1, d)), np.zeros((B, d)), np.zeros((B, d, d))
        moments_loops.sum_products(X, buckets, weights, centers, sums, products)
        table[:, :d], table[:, d] = products, sums
        return table

    parts = batch.over_chunks(work, max(4 * B * d * d, _long_chunk(batch)), FLOATS, buckets)
    total = total_of(parts, (B, d + 1, d)).astype(np.float64, copy=False)
    return total[:, d].copy(), total[:, :d].copy()


def _tiled_products(X: Any, buckets: Any, weights: Any, centers: Table) -> Table:
    """Return the products of rows (B, d + 1, d) about the centers; the last row are sums."""
    (B, d), four, tile = centers.shape, float64x4.WIDTH, TILE
    X, targets = (X.X, X.targets) if isinstance(X, AugmentedRows) else (X, None)
    size = max(BLOCK_ROWS, BLOCK_ROWS_PER_BUCKET * B) + 8
    height, width = (d + 1 + -(d + 1) % multiple for multiple in (four, tile))
    block = np.zeros((width // four, min(size, len(buckets)), four))
    products, places = np.zeros((B, height, width)), np.empty((2, B + 1), np.int64)
    moments_loops.sum_products_by_tile(
        X, targets, buckets, weights, centers, products, block, places
    )
    return products[:, : d + 1, :d].copy()


def _shifted(X: Any, buckets: NDArray[np.int64], centers: Table) -> Any:
    """Return CSR rows less their centers, as loops read them; dense rows as they are."""
    if not isinstance(X, tuple) or not centers.any():
        return X
    data, indices, indptr = X
    stored = slice(int(indptr[0]), int(indptr[-1]))  # the data may be of more rows than these
    n, d = len(buckets), centers.shape[1]
    rows = sp.csr_matrix((data[stored], indices[stored], indptr - indptr[0]), (n, d))
    here = np.flatnonzero(buckets >= 0)
    of_row = sp.csr_matrix((np.ones(len(here)), (here, buckets[here])), (n, len(centers)))
    # Entries that are missing stay NaN; those that become zero need not be stored.
    return some_rows((rows - of_row @ sp.csr_matrix(centers)).tocsr(), 0, n, FLOATS)


def _long_chunk(batch: Batch) -> int:
    """Return the size of table for which chunks are long, if rows are read where they lie."""
    X = batch.X
    in_place = isinstance(X, np.ndarray) and X.flags.c_contiguous and X.dtype in FLOATS
    return LONG_CHUNK // CHUNK_OVER_TABLE if in_place else 0
