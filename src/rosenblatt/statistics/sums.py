"""Sums by class that are exact when they can be.

Sums of whole numbers are 64-bit integers in an array (1, K, ...). Others are pairs of doubles (see
`loops.pairs`) in an array (2, K, ...), high numbers first. In either form the value is ``sums[0]``.
Plain doubles (1, K, ...) are for sums in passing, which nothing is taken out of.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import checks

from . import moments_loops

# The class of each row, as a number.


@dataclass(frozen=True, eq=False)
class Labels:
    """The sorted classes of some rows, and the number of each row's class.

    Statistics take labels as they are and encode them so themselves; who has them encoded already
    says ``Labels(classes, codes)``.

    Parameters
    ----------
    classes : the classes, sorted, shape (K,); some may have no row.
    codes : the place of each row's class in `classes`, shape (n,).

    Examples
    --------
    >>> from rosenblatt.statistics import Labels
    >>> Labels.of(["spam", "ham", "spam"])
    Labels(classes=array(['ham', 'spam'], dtype='<U4'), codes=array([1, 0, 1]))
    """

    classes: NDArray[Any]
    codes: NDArray[np.int64]

    def __post_init__(self) -> None:
        codes = self.codes
        if len(codes) and not (codes.min() >= 0 and codes.max() < len(self.classes)):
            raise ValueError(
                f"codes must be from 0 to {len(self.classes) - 1}, one less than the number of "
                f"classes; got {codes.min()} to {codes.max()}."
            )

    @staticmethod
    def of(y: Any, n_rows: int | None = None) -> "Labels":
        """Encode labels; None puts all of `n_rows` rows into one class, 0."""
        if isinstance(y, Labels):
            return y
        if y is None:
            return Labels(np.zeros(1, np.int64), np.zeros(n_rows or 0, np.int64))
        y = np.asarray(y)
        if y.ndim != 1:
            raise ValueError(f"y must have one label a row; got shape {y.shape}.")
        if len(y) == 1:
            return Labels(y.copy(), np.zeros(1, np.int64))
        classes, codes = np.unique(y, return_inverse=True)
        return Labels(classes, codes.astype(np.int64, copy=False))


Places = NDArray[np.int64] | None  # None: each class stays where it is


def unite(
    a: NDArray[Any], b: NDArray[Any], what: str = "Classes"
) -> tuple[NDArray[Any], Places, NDArray[np.int64]]:
    """The classes in a or b, a's own array if it can be, and the places of a's and b's in it."""
    if a is b or len(b) == 0:
        return a, None, np.arange(len(b))
    if len(a) == 0:
        return b, np.arange(0), np.arange(len(b))
    kinds = a.dtype.kind, b.dtype.kind
    if kinds[0] != kinds[1] and "O" not in kinds and ("U" in kinds or "S" in kinds):
        both = " and ".join(repr(values[:1].tolist()[0]) for values in (a, b))
        raise TypeError(f"{what} must be of one type; got both {both}.")
    places = a.searchsorted(b)
    if places[-1] < len(a) and (a[places[0]] == b[0] if len(b) == 1 else (a[places] == b).all()):
        return a, None, places
    classes = np.union1d(a, b)
    return classes, classes.searchsorted(a), classes.searchsorted(b)


Sums = NDArray[Any]

# A difference of sums is zero when it is below the rounding of what it came from.
ROUNDING = 2.0**-80


def value(sums: Sums) -> NDArray[Any]:
    """What the sums come to, (K, ...), in integers or doubles."""
    high: NDArray[Any] = sums[0]
    return high


def as_pairs(sums: Sums) -> NDArray[np.float64]:
    """Sums as pairs of doubles, without loss; plain doubles (1, K, ...) get a low zero."""
    if sums.dtype == np.float64 and len(sums) == 2:
        return sums
    if sums.dtype == np.float64 or (np.abs(sums) <= 2**53).all():
        return np.concatenate([sums, np.zeros_like(sums)], dtype=np.float64)
    low_bits = sums[0] & 0xFFFFFFFF
    high = (sums[0] - low_bits).astype(np.float64)  # 32 bits and zeros: exact
    value = high + low_bits
    return np.stack([value, (high - value) + low_bits])


def spread(table: NDArray[Any], places: Places, n_classes: int) -> NDArray[Any]:
    """A copy of table (p, K, ...) for more classes, with zeros for the new ones."""
    if places is None:
        return table.copy()
    wide = np.zeros((table.shape[0], n_classes, *table.shape[2:]), table.dtype)
    wide[:, places] = table
    return wide


def add(a: Sums, places: Places, b: Sums, others: NDArray[np.int64], n_classes: int) -> Sums:
    """The sum of a and b, their classes put into their places among `n_classes`."""
    if a.dtype.kind == b.dtype.kind and len(a) == len(b) == 1:
        total = spread(a, places, n_classes)
        with np.errstate(over="ignore"):
            if len(others) == n_classes:
                total += b
            else:
                total[0][others] += b[0]
        if total.dtype.kind == "f":
            return checked(total)
        if not total.size or total.min() >= 0:  # else it left the range of 64 bits
            return total
    total, part = spread(as_pairs(a), places, n_classes), as_pairs(b)
    if len(others) < n_classes:
        part = spread(part, others, n_classes)
    moments_loops.add_pairs(total.reshape(2, -1), part.reshape(2, -1), 1.0)
    return checked(total)


def over_classes(sums: Sums) -> Sums:
    """The sum of all classes, one at least, as that of one class."""
    total, only = sums[:, :1].copy(), np.zeros(1, np.int64)
    for k in range(1, sums.shape[1]):
        total = add(total, None, sums[:, k : k + 1], only, 1)
    return total


def checked(sums: Sums) -> Sums:
    """The sums, if they are all in the range of doubles."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(sums[0].sum())
    return checks.in_range(sums, "The sums are", "rescale the weights") if suspect else sums


def subtract(a: Sums, b: Sums, others: NDArray[np.int64]) -> Sums:
    """What is left of a without b, whose classes are in places `others` of a's; may be negative."""
    if a.dtype.kind == b.dtype.kind == "i":
        left = a.copy()
        left[0][others] -= b[0]
        return left
    left, part = as_pairs(a).copy(), spread(as_pairs(b), others, a.shape[1])
    before = np.abs(left[0])
    moments_loops.add_pairs(left.reshape(2, -1), part.reshape(2, -1), -1.0)
    left[:, np.abs(left[0]) <= ROUNDING * before] = 0
    return left


def total_of(parts: list[Sums], shape: tuple[int, ...]) -> Sums:
    """The sum of the chunks' sums, first chunks first."""
    if not parts:
        return np.zeros((1, *shape), np.int64)
    if any(part.dtype.kind == "f" for part in parts) and not all(map(_plain, parts)):
        parts = [settled(as_pairs(part)) if len(part) == 2 else as_pairs(part) for part in parts]
    total = parts[0] if parts[0].dtype.kind == "f" else parts[0].astype(np.int64, copy=False)
    for part in parts[1:]:
        if len(total) == 1:
            with np.errstate(over="ignore"):  # of doubles; integers stay below 2**62 in all
                total += part
        else:
            moments_loops.add_pairs(total.reshape(2, -1), part.reshape(2, -1), 1.0)
    return total


def _plain(sums: Sums) -> bool:
    """Whether sums are doubles without a low part."""
    return sums.dtype.kind == "f" and len(sums) == 1


def settled(sums: Sums) -> Sums:
    """Make the high number of each pair the rounded sum of both, after many additions; in place."""
    if sums.dtype == np.float64:
        with np.errstate(invalid="ignore"):  # of sums too large, which `checked` refuses
            high = sums[0] + sums[1]
            sums[1] -= high - sums[0]
            sums[0] = high
    return sums


# How much is known of what a subtraction leaves.


# Sums to 32 digits are right to this share of the squares that went into them. What is less than
# that cannot be told from numbers that are all the same.
SAME = 2.0**-84


def relative_noise(before: Any, left: Any, floor: Any = 0.0, pooled: bool = False) -> float:
    """How far the scatters of the moments `left` may be off, relative to themselves, at most.

    `left` are the moments that a subtraction has left of those `before`. Where nothing is left but
    rounding, the answer is infinite: there may be any scatter up to that, or none. The exception is
    a feature that is as good as constant; nothing can be off by a share of zero.

    Parameters
    ----------
    before, left : moments.
    floor : what a model adds to the scatters (k, d) anyway.
    pooled : whether only sums over classes count.
    """
    places = np.searchsorted(before.classes, left.classes)
    was, is_now = before.diagonal(), left.diagonal()
    squares = (was.scatter + was.feature_weight * was.mean**2)[places]
    noise = np.where(left.rows[:, None] > 1, is_now.noise, 0.0)  # a single row has no scatter
    tables = (noise, is_now.scatter, is_now.scatter + floor, squares)
    if pooled:
        tables = tuple(table.sum(axis=0) for table in tables)
    noise, scatter, used, squares = tables
    matters = noise > np.where(scatter > 0, 0.0, SAME * squares)
    return float(_shares(noise[matters], used[matters]).max(initial=0.0))


def _shares(parts: NDArray[np.float64], wholes: NDArray[np.float64]) -> NDArray[np.float64]:
    """parts / wholes; infinite where there is no whole."""
    return np.divide(parts, wholes, out=np.full_like(parts, np.inf), where=wholes > 0)
