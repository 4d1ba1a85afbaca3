"""How sure a score is, and who is not worse than the best.

Scores of folds are not independent: their training sets overlap. Their variance is corrected for
that [1]_, by the ratio of rows scored on to rows fitted to; where folds differ in it, as those by
time do, which are fitted to more and more, by the mean ratio, here and in the interval. Many
contestants are compared with the best of them: p values are corrected by Holm.

References
----------
.. [1] C. Nadeau, Y. Bengio (2003), Inference for the generalization error. *Machine Learning* 52.
"""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from rosenblatt.estimation.hoeffding import hoeffding_interval
from rosenblatt.runtime import deadline

from .findings import Interval, Opening
from .scoring import score_of

Array = NDArray[np.float64]

MOST_TO_DRAW = 5_000  # rows, or groups of them

# Scores between zero and one, by how their names begin; others may be negative, none exceeds one.
SHARES = ("accuracy", "balanced", "f1", "precision", "recall", "roc_auc", "jaccard", "top_k",
          "average_precision")  # fmt: skip
ENDLESS = ("", "positive_likelihood_ratio")


def ends_of(metric: str) -> tuple[float, float]:
    """The least and the greatest that a score can be.

    >>> ends_of("accuracy"), ends_of("r2"), ends_of("neg_mean_squared_error")
    ((0.0, 1.0), (-inf, 1.0), (-inf, 0.0))
    """
    most = 0.0 if metric.startswith("neg_") else np.inf if metric in ENDLESS else 1.0
    return 0.0 if metric.startswith(SHARES) else -np.inf, most


def interval_of_mean(
    scores: Array, metric: str = "", ratio: float | None = None, confidence: float = 0.95
) -> Interval:
    """The range of the mean score of k folds (k,), which ends where a score can be no better.

    `ratio` is that of rows scored on to rows fitted to, on average over the folds; None if a fold
    scores on one row for k - 1 that it fits to.
    """
    k = len(scores)
    if k < 2:
        return Interval(np.nan, np.nan, "corrected t", confidence)
    error = _error(scores, 1 / (k - 1) if ratio is None else ratio)
    reach = stats.t.ppf(0.5 + confidence / 2, k - 1) * error
    least, most = ends_of(metric)
    low, high = max(float(scores.mean() - reach), least), min(float(scores.mean() + reach), most)
    return Interval(low, high, "corrected t", confidence)


def p_values(scores: Array, best: int, ratio: float) -> Array:
    """That each contestant (m, k) is as good as the best one, corrected for their number (m,)."""
    m, k = scores.shape
    p = np.ones(m)
    for i in range(m):
        lead = scores[best] - scores[i]
        if i == best or k < 2 or not lead.any():
            continue
        error = _error(lead, ratio)
        t = lead.mean() / error if error > 0 else np.inf * np.sign(lead.mean())
        p[i] = stats.t.sf(t, k - 1)
    others = [int(i) for i in np.argsort(p, kind="stable") if i != best]
    largest = 0.0
    for place, i in enumerate(others):  # Holm: the smallest is multiplied by most
        largest = max(largest, (len(others) - place) * p[i])
        p[i] = min(1.0, largest)
    return p


def wilson(n_right: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson's interval of a share."""
    found = stats.binomtest(int(n_right), int(n)).proportion_ci(confidence, "wilson")
    return Interval(float(found.low), float(found.high), "Wilson", confidence)


def hoeffding(share: float, n: int, confidence: float = 0.95) -> Interval:
    """Hoeffding's interval of a mean of numbers in [0, 1]: it holds whatever their distribution."""
    return Interval(*hoeffding_interval(share, n, 1 - confidence), "Hoeffding", confidence)


def bootstrap(
    errors: Array, spread: Array, confidence: float = 0.95, draws: int = 2000
) -> Interval:
    """The interval of R², 1 - sum(errors) / sum(spread), over rows drawn again and again.

    Many rows are drawn in groups made at random, whose sums vary as those of as many rows do.
    """
    rng = np.random.default_rng(0)
    n = min(len(errors), MOST_TO_DRAW)
    if n < len(errors):
        group = rng.permutation(len(errors)) % n
        errors = np.bincount(group, errors, n).astype(np.float64)
        spread = np.bincount(group, spread, n).astype(np.float64)
    found = np.empty(draws)
    for i in range(draws):
        rows = rng.integers(0, n, n)
        total = spread[rows].sum()
        found[i] = 1 - errors[rows].sum() / total if total > 0 else np.nan
    low, high = np.nanquantile(found, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return Interval(float(low), float(high), "bootstrap", confidence)


def _error(scores: Array, ratio: float) -> float:
    """The corrected standard error of a mean over folds."""
    return float(np.sqrt((1 / len(scores) + ratio) * scores.var(ddof=1)))


# How sure any test score is: what was said of the test rows, scored on rows drawn again.


DRAWS, FEWER_DRAWS = 500, 200  # fewer where a score is taken for each of many classes
MANY_CLASSES = 5
MOST_CELLS = 2**21  # rows times draws that are counted at a time
LEAST_KNOWN = 0.5  # of the draws: of fewer that have a score there is no interval


class _Remembered(BaseEstimator):  # type: ignore[misc]
    """A model whose answers are known: asked for row numbers, it says what it said of them."""

    def __init__(self, opening: Any) -> None:
        self.opening = opening
        if opening.classes is not None:
            self.classes_ = opening.classes

    def predict(self, rows: NDArray[np.int64]) -> Any:
        return self.opening.predicted[rows]

    # A scorer asks for what there is.
    @available_if(lambda self: self.opening.probabilities is not None)  # type: ignore[untyped-decorator]
    def predict_proba(self, rows: NDArray[np.int64]) -> Any:
        return self.opening.probabilities[rows]

    @available_if(lambda self: self.opening.decisions is not None)  # type: ignore[untyped-decorator]
    def decision_function(self, rows: NDArray[np.int64]) -> Any:
        return self.opening.decisions[rows]

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _Classifier(ClassifierMixin, _Remembered):  # type: ignore[misc]
    pass


class _Regressor(RegressorMixin, _Remembered):  # type: ignore[misc]
    pass


def redrawn(opening: Opening, metric: str, confidence: float = 0.95) -> list[Interval]:
    """The bootstrap's interval of a test score; none if too few draws have a score.

    Of many rows fewer are drawn, and what scores vary by is shrunk as more rows would shrink it.
    """
    model = _remembered(opening)
    score, rng, n = score_of(metric), np.random.default_rng(0), len(opening.y)
    m = min(n, MOST_TO_DRAW)
    many = opening.classes is not None and len(opening.classes) > MANY_CLASSES
    draws = FEWER_DRAWS if many else DRAWS
    found = np.empty(draws)

    def score_of_draw(rows: NDArray[np.int64]) -> float:
        deadline.check()
        return score(model, rows, opening.y[rows])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of draws that a class is not among
        for some in np.array_split(np.arange(draws), -(-draws * n // MOST_CELLS)):
            drawn, known = [rng.integers(0, n, m) for _ in some], None
            if metric in METRICS:
                counts = np.array([np.bincount(rows, minlength=n) for rows in drawn], np.float64)
                known = areas(opening, metric, counts)
            if known is None:
                known = np.array([score_of_draw(rows) for rows in drawn])
            found[some] = known
    found = found[np.isfinite(found)]
    if len(found) < LEAST_KNOWN * draws or not np.isfinite(opening.score):
        return []
    if m < n:
        found = opening.score + (found - found.mean()) * np.sqrt(m / n)
    low, high = np.quantile(found, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return [Interval(float(low), float(high), "bootstrap", confidence)]


def with_intervals(opening: Opening, metric: str) -> Opening:
    """The same with the bootstrap's intervals of its scores."""
    some = opening.unrepeated
    return replace(
        opening,
        intervals=redrawn(opening, metric),
        unrepeated=None if some is None else replace(some, intervals=redrawn(some, metric)),
    )


def score_of_rows(opening: Opening, metric: str, rows: NDArray[np.int64]) -> float:
    """The score of what was said of some of the test rows; NaN if these do not suffice for one."""
    try:
        return score_of(metric)(_remembered(opening), rows, opening.y[rows])
    except ValueError:  # none of a class
        return np.nan


def _remembered(opening: Opening) -> Any:
    return (_Regressor if opening.classes is None else _Classifier)(opening)


def part_of(opening: Opening, rows: NDArray[np.int64]) -> Opening:
    """What was seen of some of the test rows."""
    P, decisions = opening.probabilities, opening.decisions
    return replace(
        opening,
        y=opening.y[rows],
        predicted=opening.predicted[rows],
        probabilities=None if P is None else P[rows],
        decisions=None if decisions is None else decisions[rows],
    )


# Areas under ROC curves of many draws of the same rows at once.
#
# Rows are sorted by their scores once. A draw then is how often each row was drawn, and its area a
# sum: of each positive row the negative ones below it, and half of those beside it, over all pairs.


WEIGHTED = ("roc_auc_ovr_weighted", "roc_auc_ovo_weighted")
METRICS = ("roc_auc", "roc_auc_ovr", "roc_auc_ovo", *WEIGHTED)


def areas(opening: Opening, metric: str, counts: Array) -> Array | None:
    """The score (draws,) of each draw of test rows, from how often (draws, n) it has each row.

    It is what scikit-learn's scorer of that name gives for the rows drawn, NaN where a class is not
    among them; None if the metric is no such area, or the test rows have other classes than the
    model.
    """
    classes = opening.classes
    if metric not in METRICS or classes is None:
        return None
    if not np.array_equal(np.unique(opening.y), np.sort(classes)):
        return None
    y = np.searchsorted(np.sort(classes), opening.y)
    scores = opening.probabilities
    if metric == "roc_auc":
        scores = opening.decisions if scores is None else scores[:, 1]
        if len(classes) != 2 or scores is None or np.ndim(scores) != 1:
            return None
        return area(y == 1, scores, counts)
    if scores is None or len(classes) < 3 or not np.array_equal(np.sort(classes), classes):
        return None
    parts = _pairs(y, scores, counts) if "ovo" in metric else _each(y, scores, counts)
    found, shares = map(np.array, zip(*parts, strict=True))
    if metric not in WEIGHTED:
        shares = np.ones_like(shares)
    with np.errstate(invalid="ignore"):
        return np.asarray((found * shares).sum(axis=0) / shares.sum(axis=0))


def area(positive: NDArray[np.bool_], scores: Array, counts: Array) -> Array:
    """The area (draws,) under the curve of rows (n,) by their scores; NaN if one side is empty.

    >>> area(np.array([False, True, True]), np.array([0.1, 0.1, 0.9]), np.array([[1.0, 1.0, 1.0]]))
    array([0.75])
    """
    order = np.argsort(scores, kind="stable")
    steps = np.flatnonzero(np.diff(scores[order], prepend=-np.inf))  # where a new score begins
    drawn = counts[:, order]
    # How many there are at each score: (draws, scores).
    right = np.add.reduceat(drawn * positive[order], steps, axis=1)
    wrong = np.add.reduceat(drawn * ~positive[order], steps, axis=1)
    below = np.cumsum(wrong, axis=1) - wrong / 2
    with np.errstate(invalid="ignore"):
        return np.asarray((right * below).sum(axis=1) / (right.sum(axis=1) * wrong.sum(axis=1)))


def _each(y: Any, scores: Array, counts: Array) -> Iterator[tuple[Array, Array]]:
    """Each class beside all others: the area, and the rows (draws,) of the class."""
    for k in range(scores.shape[1]):
        yield area(y == k, scores[:, k], counts), counts[:, y == k].sum(axis=1)


def _pairs(y: Any, scores: Array, counts: Array) -> Iterator[tuple[Array, Array]]:
    """Each pair of classes among its rows: the mean of its two areas, and the rows (draws,)."""
    for a, b in combinations(range(scores.shape[1]), 2):
        rows = np.flatnonzero((y == a) | (y == b))
        some = counts[:, rows]
        two = [area(y[rows] == k, scores[rows, k], some) for k in (a, b)]
        yield (two[0] + two[1]) / 2, some.sum(axis=1)
