"""Checks of numbers, counts, probabilities and labels; errors name the argument."""

from reprlib import repr as short
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats.contingency import crosstab

from rosenblatt.missing_values import is_missing

Floats: TypeAlias = NDArray[np.float64]

SUM_TOLERANCE = 1e-6  # how far from one a sum of probabilities may be, float32 included
ROUNDING = 1e-12  # how far above one a probability may be that was added up
BEYOND = 1e150  # squares of larger numbers would overflow


def numbers(values: Any, name: str, *, finite: bool = True) -> Floats:
    """Return values as a non-empty float64 array without NaN, finite unless told otherwise."""
    try:
        given = np.asarray(values)
        known = given.dtype.kind in "buifO"
        array = given.astype(np.float64) if known else np.empty(0)
    except (TypeError, ValueError, OverflowError):
        known = False
    if not known:
        raise ValueError(f"{name} must hold real numbers; got {short(values)}.")
    if array.size == 0:
        raise ValueError(f"{name} must hold at least one number; got none.")
    refuse(array, np.isnan(array), name, "hold no NaN", "drop or fill it")
    if finite:
        wild = np.abs(array) > BEYOND
        refuse(array, wild, name, f"hold finite numbers up to {BEYOND:g}", "drop or rescale it")
    return array


def plain(values: Any) -> Any:
    """Return an array of no dimension as a float."""
    return float(values) if np.ndim(values) == 0 else values


def refuse(array: Floats, bad: NDArray[np.bool_], name: str, allowed: str, cure: str = "") -> None:
    """Raise an error that names the first value marked bad, and its place."""
    if not bad.any():
        return
    place = tuple(int(i) for i in np.argwhere(bad)[0]) if array.ndim else ()
    where = f" at index {place[0] if len(place) == 1 else place}" if place else ""
    hint = f": {cure}" if cure else ""
    raise ValueError(f"{name} must {allowed}; got {array[place]:g}{where}{hint}.")


def nonnegative(values: Any, name: str, *, finite: bool = True) -> Floats:
    """Return values as numbers of which none is negative."""
    array = numbers(values, name, finite=finite)
    refuse(array, array < 0, name, "hold no negative number")
    return array


def whole(values: Any, name: str, *, least: int = 0) -> Floats:
    """Return values as whole numbers, none below `least`."""
    array = numbers(values, name)
    bad = (array < least) | (array != np.floor(array))
    refuse(array, bad, name, f"hold whole numbers >= {least}")
    return array


def number(value: Any, name: str) -> float:
    """Return one finite number."""
    array = numbers(value, name)
    if array.ndim:
        raise ValueError(f"{name} must be one number; got {value!r}.")
    return array.item()


def positive(value: Any, name: str) -> float:
    """Return one finite number above zero, by more than would overflow as a divisor."""
    answer = number(value, name)
    if answer < 1 / BEYOND:
        few = "" if answer <= 0 else f", not below {1 / BEYOND:g}"
        raise ValueError(f"{name} must be a number > 0{few}; got {value!r}.")
    return answer


def unit_share(value: Any, name: str) -> float:
    """Return one number strictly between zero and one."""
    answer = number(value, name)
    if not 0 < answer < 1:
        raise ValueError(f"{name} must be a number strictly between 0 and 1; got {value!r}.")
    return answer


def each_probability(values: Any, name: str) -> Floats:
    """Return values as numbers from zero to one that need not sum to anything."""
    array = numbers(values, name)
    bad = (array < 0) | (array > 1 + ROUNDING)
    refuse(array, bad, name, "lie between 0 and 1, being a probability")
    return np.minimum(array, 1.0)


def distribution(values: Any, name: str, *, axis: int | None = None, cure: str = "") -> Floats:
    """Return values as probabilities that sum to one, over all entries or along an axis."""
    array = nonnegative(values, name)
    if array.ndim == 0:
        raise ValueError(f"{name} must be an array of probabilities; got the number {array:g}.")
    if axis is not None and not -array.ndim <= axis < array.ndim:
        raise ValueError(f"axis must be one of the {array.ndim} axes of {name}; got {axis}.")
    total = np.asarray(array.sum(axis=axis, keepdims=axis is not None))
    along = "" if axis is None else f" along axis {axis}"
    hint = cure or "divide by the sum"
    refuse(total, np.abs(total - 1) > SUM_TOLERANCE, name, f"sum to one{along}", hint)
    return np.asarray(array / total)


def frequencies(counts: Any) -> Floats:
    """Return counts, whole or weighted, as shares of their sum."""
    array = nonnegative(counts, "counts")
    if array.ndim == 0 or not array.any():
        raise ValueError(f"counts must be an array with a count above zero; got {short(counts)}.")
    return np.asarray(array / array.sum())


def tabulate(*labels: ArrayLike) -> NDArray[np.intp]:
    """Count how often each combination of values occurs.

    The counts have one axis for each list, with the values that occur, sorted, along it.

    Parameters
    ----------
    labels : one or more lists of labels of the same length, numbers or strings.

    Examples
    --------
    >>> from rosenblatt.information import tabulate
    >>> tabulate(["sun", "rain", "sun"])
    array([1, 2])
    >>> tabulate(["sun", "rain", "sun"], ["dry", "wet", "wet"])
    array([[0, 1],
           [1, 1]])
    """
    if not labels:
        raise ValueError("tabulate needs at least one list of labels; got none.")
    columns = [check_labels(column, f"labels[{i}]") for i, column in enumerate(labels)]
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        raise ValueError(f"lists of labels must have the same length; got lengths {lengths}.")
    counts: NDArray[np.intp] = crosstab(*columns).count
    return counts


def check_labels(labels: ArrayLike, name: str) -> NDArray[Any]:
    """Return labels as a non-empty array of one dimension whose values can be sorted."""
    array = np.asarray(labels)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must be a list of at least one label; got an array of shape {array.shape}."
        )
    given = labels if isinstance(labels, list | tuple) else ()
    if array.dtype.kind in "US" and len({isinstance(label, str) for label in given}) > 1:
        raise ValueError(f"{name} must be all strings or all numbers; got both: convert one kind.")
    if array.dtype.kind in "fO" and any(map(is_missing, array)):
        raise ValueError(
            f"{name} must hold no NaN or None: drop them, or give missing values a label."
        )
    try:
        np.sort(array)
    except TypeError:
        raise ValueError(
            f"{name} must hold labels of one kind, which can be sorted; got {short(labels)}."
        ) from None
    return array
