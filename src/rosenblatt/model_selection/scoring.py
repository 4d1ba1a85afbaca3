"""The rows of a split, and how estimators are scored on them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection._validation import _score
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

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
