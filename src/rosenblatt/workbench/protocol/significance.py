"""How sure a score is, and who is not worse than the best.

Scores of folds are not independent: their training sets overlap. Their variance is corrected for
that [1]_, by the ratio of rows scored on to rows fitted to; where folds differ in it, as those by
time do, which are fitted to more and more, by the mean ratio, here and in the interval. Many
contestants are compared with the best of them: p values are corrected by Holm.

References
----------
.. [1] C. Nadeau, Y. Bengio (2003), Inference for the generalization error. *Machine Learning* 52.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .results import Interval

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

    >>> found = interval_of_mean(np.array([0.8, 0.9, 0.85, 0.85, 0.85]))
    >>> round(found.low, 3), round(found.high, 3)
    (0.784, 0.916)
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
    """That each contestant (m, k) is as good as the best one, corrected for their number (m,).

    >>> scores = np.array([[0.9, 0.92, 0.91], [0.5, 0.52, 0.5], [0.89, 0.93, 0.9]])
    >>> (p_values(scores, 0, 0.5) < 0.05).tolist()
    [False, True, False]
    """
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
    """Wilson's interval of a share.

    >>> found = wilson(90, 100)
    >>> round(found.low, 4), round(found.high, 4)
    (0.8256, 0.9448)
    """
    z = float(stats.norm.ppf(0.5 + confidence / 2))
    share, shrink = n_right / n, 1 + z * z / n
    centre = (share + z * z / (2 * n)) / shrink
    reach = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / shrink
    low, high = max(0.0, float(centre - reach)), min(1.0, float(centre + reach))  # but for rounding
    return Interval(low, high, "Wilson", confidence)


def hoeffding(share: float, n: int, confidence: float = 0.95) -> Interval:
    """Hoeffding's interval of a mean of numbers in [0, 1]: it holds whatever their distribution.

    >>> found = hoeffding(0.9, 100)
    >>> round(found.low, 4), round(found.high, 4)
    (0.7642, 1.0)
    """
    reach = float(np.sqrt(np.log(2 / (1 - confidence)) / (2 * n)))
    return Interval(max(0.0, share - reach), min(1.0, share + reach), "Hoeffding", confidence)


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
