"""The rows of a split, and how estimators are scored on them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.metrics._scorer import _PassthroughScorer, _Scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.model_selection._split import check_cv
from sklearn.model_selection._validation import _score
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params, _num_samples

from rosenblatt import checks
from rosenblatt.folds import Split

# The scores that most models go by, without the look at labels and targets that takes longest.


# Of a model, rows and their labels or targets, these perhaps at some places alone; None if they
# need a closer look.
PlainScore = Callable[..., float | None]


def plain_score(scorer: Any, estimator: Any) -> PlainScore | None:
    """What a scorer gives if that is a classifier's accuracy or a regressor's R²; else None."""
    if is_accuracy(scorer, estimator):
        return accuracy
    return r2 if is_plain(scorer, estimator, r2_score, RegressorMixin) else None


def r2(estimator: Any, X: Any, y: Any, places: Any = None) -> float | None:
    """1 - |y - prediction|² / |y - mean|², to the bits of scikit-learn; None if it is undefined."""
    # The targets are of all rows of X, or of those at some places.
    if not (isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype == np.float64 and len(y) > 1):
        return None
    try:
        answers = estimator.predict(X)
    except Exception:  # the scorer will meet it again, and knows what to do
        return None
    answers = answers if places is None else answers.take(places)
    if answers.shape != y.shape or answers.dtype != np.float64:
        return None
    # A column: sums of one are not taken in the order of those of a row.
    y, answers = y[:, np.newaxis], answers[:, np.newaxis]
    with np.errstate(over="ignore", invalid="ignore"):
        left = float(((y - answers) ** 2).sum(axis=0)[0])
        spread = float(((y - np.average(y, axis=0)) ** 2).sum(axis=0)[0])
    if not (np.isfinite(left) and 0 < spread < np.inf):
        return None
    return 1 - left / spread


# The share of right answers, which is what most models are scored by.
#
# scikit-learn's own takes most of a millisecond to look at the labels: as long as all the rest,
# when rows are left out one by one.


def is_accuracy(scorer: Any, estimator: Any) -> bool:
    """Whether a scorer gives a classifier's plain accuracy."""
    return is_plain(scorer, estimator, accuracy_score, ClassifierMixin)


def is_plain(scorer: Any, estimator: Any, metric: Any, kind: Any) -> bool:
    """Whether a scorer gives a metric of predictions as it is, asked for or as a kind's `score`."""
    if type(scorer) is _PassthroughScorer:
        model = estimator.steps[-1][1] if type(estimator) is Pipeline else estimator
        return getattr(type(model), "score", None) is kind.score
    return (
        type(scorer) is _Scorer
        and scorer._score_func is metric
        and scorer._response_method == "predict"
        and scorer._sign == 1
        and not scorer._kwargs
    )


def accuracy(estimator: Any, X: Any, y: Any, places: Any = None) -> float | None:
    """The share of rows whose label is the predicted one; None if labels need a closer look."""
    # The labels are of all rows of X, or of those at some places.
    if not _are_plain(y):
        return None
    try:
        answers = estimator.predict(X)
    except Exception:  # the scorer will meet it again, and knows what to do
        return None
    return _share(answers if places is None else answers.take(places), y)


def accuracies(models: list[Any], X: Any, order: NDArray[np.intp], y: Any) -> list[float | None]:
    """The accuracy of each of some models on rows `order` of X with labels y, read in place."""
    # None where that cannot be: for models that do not predict together, or do not know the rows.
    nothing: list[float | None] = [None] * len(models)
    kind = type(models[0])
    if not _are_plain(y) or not _can_be_read(X) or not hasattr(kind, "predict_together"):
        return nothing
    if any(type(model) is not kind or model.n_features_in_ != X.shape[1] for model in models):
        return nothing
    try:
        answers = kind.predict_together(models, X, order)
    except Exception:  # the ordinary way will meet it again, and knows what to do
        return nothing
    return nothing if answers is None else [_share(labels, y) for labels in answers]


def _can_be_read(X: Any) -> bool:
    """Whether rows of X are as models read them."""
    return sp.issparse(X) and X.format == "csr" and X.dtype.kind in "fiu" and X.has_canonical_format


def _are_plain(y: Any) -> bool:
    return isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuU" and len(y) > 0


def _share(answers: NDArray[Any], y: NDArray[Any]) -> float | None:
    """The share of answers that are right; None if they are of another kind."""
    if answers.shape != y.shape or answers.dtype.kind != y.dtype.kind:
        return None
    return float(np.mean(answers == y))


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
        self._stretches: dict[str, Any] = {}

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
        if part not in self._stretches:
            self._stretches[part] = self._stretch(getattr(self.split, part))
        stretch = self._stretches[part]
        score = None if stretch is None else plain(estimator, *stretch)
        return plain(estimator, *getattr(self, part)[:2]) if score is None else score

    def _stretch(self, rows: NDArray[Any]) -> tuple[Any, Any, NDArray[Any]] | None:
        """The part of X that holds some rows and few others, their y, their places; None if none.

        It is the same array at each call: models along a path share what they find in it.
        """
        X = self.scoring.X
        if type(X) is not np.ndarray or rows.dtype.kind not in "iu" or not len(rows):
            return None
        first, last = int(rows.min()), int(rows.max())
        if last - first >= MOST_OF_A_STRETCH * len(rows):
            return None
        return X[first : last + 1], some(self.scoring.y, rows), rows - first

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
    """The fold (n,) of each row as `StratifiedKFold` assigns them; None if it would complain."""
    # With the classes in the order in which they appear, and the rows sorted by class, fold s is to
    # have as many rows of a class as rows s, s + n_splits, .. are of it. In each class the first
    # rows go to the first fold, and so on.
    classes, codes = checks.labels(y)
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
