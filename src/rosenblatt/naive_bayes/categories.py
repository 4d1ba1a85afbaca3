"""Tables of categories: columns of words, or of whole numbers from 0 on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.missing_values import which_missing

MOST_CATEGORIES = 2**24  # of whole numbers; larger ones are hardly codes


class UnknownValue(IndexError, ValueError):
    """A value that no row had in training: scikit-learn's kind of error, and the usual one."""


def refuse_unknown(value: Any, name: Any) -> None:
    """Raise because a feature has a value that no row had in training."""
    raise UnknownValue(
        f"Feature {name} has a value that no row had in training: {value!r}. With "
        "unknown='smooth' it is scored as a value never seen."
    )


def checked_values(X: NDArray[Any], missing: str) -> NDArray[Any]:
    """X (n, d) as integers, or with words or values missing as objects or doubles."""
    if X.dtype.kind in "fiub":
        return _checked_numbers(X, missing)
    table = np.empty(X.shape, object)
    for j in range(X.shape[1]):
        table[:, j] = _checked_column(X[:, j].astype(object), j, missing)
    return table


def places_of(values: NDArray[Any], categories: NDArray[Any], width: int) -> NDArray[np.int64]:
    """The place (n,) of each value in a table: `width` if unknown, one more if missing."""
    if values.dtype.kind == "i" and not are_words(categories):
        return np.where(values < width, values, width)
    absent = which_missing(values)
    places = np.full(len(values), width, np.int64)
    places[absent] = width + 1
    known = np.array(values[~absent].tolist())
    if len(known) and len(categories) and (known.dtype.kind in "US") == are_words(categories):
        found = np.minimum(np.searchsorted(categories, known), len(categories) - 1)
        places[~absent] = np.where(categories[found] == known, found, width)
    return places


def refuse_other_categories(numbers: NDArray[Any], j: int) -> None:
    """Raise if the categories of feature j of a statistic are not 0, 1, ..."""
    good = (numbers >= 0) & (numbers < MOST_CATEGORIES) & (numbers == np.floor(numbers))
    if not good.all():
        raise ValueError(
            f"CategoricalNB stands on words and on whole numbers from 0 on; feature {j} has the "
            f"category {numbers[~good][0]}. MixedNB takes any."
        )


def are_words(categories: NDArray[Any]) -> bool:
    return categories.dtype.kind in "USO"


def _checked_numbers(numbers: NDArray[Any], missing: str) -> NDArray[Any]:
    """Numbers as integers, fractions cut off as scikit-learn does; as doubles if some are NaN."""
    known = numbers
    if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
        if np.isinf(numbers).any():
            raise ValueError("Input X contains infinity, which is no category.")
        if missing == "refuse":
            raise ValueError("Input X contains NaN; missing='ignore' leaves such values out.")
        numbers = np.trunc(numbers)
        known = numbers[~np.isnan(numbers)]
    if not known.size:
        return numbers
    if known.min() <= -1 or known.max() >= MOST_CATEGORIES:
        sign = "Negative values" if known.min() <= -1 else "Numbers too large for categories"
        raise ValueError(
            f"{sign} in data passed to CategoricalNB (input X); got {known.min()} to "
            f"{known.max()}. Categories are 0, 1, ... or words: X.astype(str) makes words of any "
            "numbers."
        )
    return numbers.astype(np.int64, copy=False) if known is numbers else numbers


def _checked_column(values: NDArray[Any], j: int, missing: str) -> NDArray[Any]:
    """One column of objects (n,): all words, or all numbers; None where one is missing."""
    absent = which_missing(values)
    if absent.any() and missing == "refuse":
        raise ValueError(
            f"Input X contains NaN or None, in feature {j}; missing='ignore' leaves such values "
            "out."
        )
    known = values[~absent]
    words = {issubclass(kind, str | bytes) for kind in set(map(type, known))}
    if len(words) > 1:
        raise ValueError(f"Feature {j} holds words and numbers: make it all words with str.")
    column = np.full(len(values), None, object)
    column[~absent] = known if True in words else _checked_numbers(_as_numbers(known, j), missing)
    return column


def _as_numbers(values: NDArray[Any], j: int) -> NDArray[np.float64]:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"Feature {j} must hold words or numbers: {error}.") from error
