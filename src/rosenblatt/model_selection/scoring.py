"""The rows of a split, and how estimators are scored on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.model_selection._split import check_cv
from sklearn.model_selection._validation import _score
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params, _num_samples

from rosenblatt.base import encode_labels
from rosenblatt.statistics.folds import Split

from .plain_scores import PlainScore, plain_score

MOST_OF_A_STRETCH = 1.25  # a stretch of rows may be longer than those wanted of it by this factor


@dataclass(frozen=True, eq=False)
class Scoring:
    """The data, and how estimators are scored on it."""

    X: Any
    y: Any
    scorer: Any
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]
    error_score: Any
    return_train_score: bool
    return_estimator: bool
    verbose: int


class Rows:
    """The rows of a split, cut out of the data when first needed."""

    def __init__(self, split: Split, scoring: Scoring) -> None:
        self.split, self.scoring = split, scoring
        # The steps before a model that were fitted last, and the training rows behind them.
        self.front: tuple[bytes, list[Any], Any] | None = None

    @property
    def n_test(self) -> int:
        """How many rows to test on are listed, or marked by a mask."""
        test = self.split.test
        return int(np.count_nonzero(test)) if test.dtype == bool else len(test)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The numbers of the rows to test on."""
        test = self.split.test
        if test.dtype == np.intp and test.min(initial=0) >= 0:
            return test  # all rows need not be numbered to leave one out
        order: NDArray[np.intp] = np.arange(self.split.n_rows)[test]
        return order

    @cached_property
    def test_labels(self) -> Any:
        """Their labels."""
        return some(self.scoring.y, self.split.test)

    @cached_property
    def test(self) -> tuple[Any, Any, Any]:
        """X, y and the scorer's parameters of the rows to test on."""
        return self._cut(self.split.test)

    @cached_property
    def train(self) -> tuple[Any, Any, Any]:
        """The same of the rows to train on."""
        return self._cut(self.split.train)

    def score(self, plain: PlainScore, estimator: Any, part: str) -> float | None:
        """A score on the rows of a part; without a copy of them if they fill a stretch."""
        X, rows = self.scoring.X, getattr(self.split, part)
        if type(X) is np.ndarray and rows.dtype.kind in "iu" and len(rows):
            first, last = int(rows.min()), int(rows.max())
            if last - first < MOST_OF_A_STRETCH * len(rows):
                y = some(self.scoring.y, rows)
                score = plain(estimator, X[first : last + 1], y, rows - first)
                if score is not None:
                    return score
        return plain(estimator, *getattr(self, part)[:2])

    def _cut(self, rows: Any) -> tuple[Any, Any, Any]:
        X, params = self.scoring.X, self.scoring.score_params
        params = _check_method_params(X, params=params, indices=rows) if params else {}
        return some(X, rows), some(self.scoring.y, rows), params


def some(table: Any, rows: NDArray[Any]) -> Any:
    """Some rows of a table or of targets, which may be None."""
    if type(table) is np.ndarray and rows.dtype.kind in "iu":
        return table.take(rows, axis=0)  # in half the time of table[rows]
    return None if table is None else _safe_indexing(table, rows)


def scores_of(estimator: Any, rows: Rows, part: str) -> Any:
    """The scores of a fitted estimator on the rows to test on, or to train on."""
    scoring = rows.scoring
    plain = None if scoring.score_params else plain_score(scoring.scorer, estimator)
    if plain is not None:
        score = rows.score(plain, estimator, part)
        if score is not None:
            return score
    X, y, params = getattr(rows, part)
    return _score(estimator, X, y, scoring.scorer, params, scoring.error_score)


# The splits that a splitter makes, in less time where they are the usual ones.


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
