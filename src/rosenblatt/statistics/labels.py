"""The class of each row, as a number."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
