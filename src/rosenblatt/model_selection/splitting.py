"""The splits that a splitter makes, in less time where they are the usual ones."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.model_selection._split import check_cv
from sklearn.utils.validation import _num_samples

from rosenblatt.base import encode_labels
from rosenblatt.statistics.folds import Split


def splitter_of(cv: Any, y: Any, classifier: bool) -> Any:
    """The splitter that `cv` means: for classes, a number means stratified folds."""
    number = cv is None or (isinstance(cv, Integral) and int(cv) > 1)
    if classifier and number and _are_plain_labels(y):
        return StratifiedKFold(5 if cv is None else cv)  # as `check_cv` finds after a sort of y
    return check_cv(cv, y, classifier=classifier)


def splits_of(cv: Any, X: Any, y: Any, params: Mapping[str, Any]) -> list[Split]:
    """All splits of the rows of X."""
    n_rows = _num_samples(X)
    plain = type(cv) is StratifiedKFold and not cv.shuffle and params.get("groups") is None
    folds = _stratified_folds(y, cv.n_splits) if plain and _are_plain_labels(y) else None
    if folds is None:
        return [Split.of(train, test, n_rows) for train, test in cv.split(X, y, **params)]
    parts = (np.flatnonzero(folds == s) for s in range(cv.n_splits))
    return [Split(test, test, n_rows, None) for test in parts]


def _are_plain_labels(y: Any) -> bool:
    """Whether y is an array of whole numbers or words, so that any of its values is a class."""
    return type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iuU" and len(y) > 0


def _stratified_folds(y: NDArray[Any], n_splits: int) -> NDArray[Any] | None:
    """The fold (n,) of each row as `StratifiedKFold` assigns them; None if it would complain.

    With the classes in the order in which they appear, and the rows sorted by class, fold s is to
    have as many rows of a class as rows s, s + n_splits, .. are of it. In each class the first
    rows go to the first fold, and so on.
    """
    classes, codes = encode_labels(y)
    counts = np.bincount(codes, minlength=len(classes))
    if counts.min() < n_splits:
        return None
    folds = np.empty(len(y), np.min_scalar_type(n_splits))
    rows = sorted((np.flatnonzero(codes == k) for k in range(len(classes))), key=lambda r: r[0])
    begin = 0
    for of_class in rows:
        end = begin + len(of_class)
        # how many of begin, .., end - 1 leave the remainder s when divided by n_splits
        sizes = [len(range(begin + (s - begin) % n_splits, end, n_splits)) for s in range(n_splits)]
        folds[of_class] = np.repeat(np.arange(n_splits, dtype=folds.dtype), sizes)
        begin = end
    return folds
