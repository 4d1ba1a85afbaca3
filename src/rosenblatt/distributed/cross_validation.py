"""Cross-validation and search over a source.

Rows are dealt into folds at random, the same at each read. Of a model that follows from a statistic
one pass measures all folds, and each training set is the sum of the others; of other models each
training set is a fit of its own. One more pass scores all candidates on all folds.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid

from rosenblatt.data.source import Fold, Source, folds_of

from .passes import PartRows, Passes
from .sums import Sums
from .training import fit, way_of

Array = NDArray[np.float64]
Settings = dict[str, Any]


class SourceSearch(NamedTuple):
    """What a search found: scores of candidates and folds, and the best fitted to all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt.distributed import SourceSearch
    >>> scores = np.array([[0.7, 0.9], [0.8, 1.0]])
    >>> found = SourceSearch("r2", [{"alpha": 1.0}, {"alpha": 0.1}], scores, None, 2)
    >>> found.best_params, found.best_score
    ({'alpha': 0.1}, 0.9)
    """

    metric: str  # "accuracy" or "r2"
    candidates: list[Settings]
    scores: Array  # (candidates, folds)
    best: Any
    n_passes: int  # over the source, the last fit included

    @property
    def best_params(self) -> Settings:
        """The settings with the highest mean score, the first of several."""
        return self.candidates[int(self.scores.mean(axis=1).argmax())]

    @property
    def best_score(self) -> float:
        """Their mean score."""
        return float(self.scores.mean(axis=1).max())


def cross_validate(
    model: Any, source: Source, client: Any = None, *, n_folds: int = 5, random_state: int = 0
) -> Array:
    """Return the scores (n_folds,) of a model on folds of a source: accuracy, or R² of numbers.

    A model on an additive statistic takes two passes: one measures, one scores.

    Examples
    --------
    >>> import tempfile, polars
    >>> from rosenblatt import GaussianNB
    >>> from rosenblatt.data import Source
    >>> from rosenblatt.distributed import cross_validate
    >>> table = polars.DataFrame({"x": [0.0, 1.0, 8.0, 9.0] * 25, "y": ["a", "a", "b", "b"] * 25})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.write_parquet(folder + "/1.parquet")
    ...     cross_validate(GaussianNB(), Source(folder, target="y"), n_folds=3)
    array([1., 1., 1.])
    """
    found = _searched(model, [{}], source, client, n_folds, random_state, refit=False)
    return np.asarray(found.scores[0])


def search(
    model: Any,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    source: Source,
    client: Any = None,
    *,
    n_folds: int = 5,
    random_state: int = 0,
) -> SourceSearch:
    """Try all settings of a grid on folds of a source, and fit the best to all of it.

    Parameters
    ----------
    model : an estimator that has a way by parts.
    grid : values by parameter, or a list of such, as for scikit-learn's `ParameterGrid`.
    source, client : as for `fit`.
    n_folds : int
        How many folds.
    random_state : int
        The seed of the folds.

    Examples
    --------
    >>> import tempfile, numpy, polars
    >>> from rosenblatt import Ridge
    >>> from rosenblatt.data import Source
    >>> from rosenblatt.distributed import search
    >>> x = numpy.linspace(0, 1, 200)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     polars.DataFrame({"x": x, "y": 2 * x}).write_parquet(folder + "/1.parquet")
    ...     found = search(Ridge(), {"alpha": [0.1, 100.0]}, Source(folder, target="y"))
    >>> found.best_params, found.n_passes
    ({'alpha': 0.1}, 2)
    """
    candidates = list(ParameterGrid(grid))
    return _searched(model, candidates, source, client, n_folds, random_state, refit=True)


def _searched(
    model: Any,
    candidates: list[Settings],
    source: Source,
    client: Any,
    n_folds: int,
    seed: int,
    refit: bool,
) -> SourceSearch:
    if n_folds < 2:
        raise ValueError(f"n_folds must be an integer >= 2; got {n_folds}.")
    if source.target is None:
        raise ValueError("A source without a target has nothing to score predictions by.")
    source.check_repeats("Cross-validation")
    passes = Passes(model, source, client, None, None)
    models = [clone(model).set_params(**settings) for settings in candidates]
    folds = [Fold(k, n_folds, seed) for k in range(n_folds)]
    additive = way_of(model) == "sums"
    totals: dict[str, Any] = {}
    if additive:
        fitted = _by_statistics(models, passes, folds, totals)
    else:
        fitted = [[fit(one, source.without(f), client) for f in folds] for one in models]
        passes.n_passes += sum(_n_passes(one) for row in fitted for one in row)
    kind = "accuracy" if is_classifier(model) else "r2"
    total = passes.total(score_folds, fitted, folds[0], kind)
    names = [[f"{i} {k}" for k in range(n_folds)] for i in range(len(models))]
    scores = np.array([[_score(total[name], kind) for name in row] for row in names])
    best = None
    if refit:
        chosen = models[int(scores.mean(axis=1).argmax())]
        if additive:
            best = clone(chosen).fit_statistics(totals[_measured_by(chosen)])
            best.report_warnings()
        else:
            best = fit(chosen, source, client)
            passes.n_passes += _n_passes(best)
    return SourceSearch(kind, candidates, scores, best, passes.n_passes)


def _n_passes(model: Any) -> int:
    """About how many passes a fit took: its iterations, and the census."""
    return 1 + int(np.max(getattr(model, "n_iter_", 0)))


def _measured_by(model: Any) -> str:
    """The settings that a model's statistic depends on."""
    params = model.get_params()
    names = params if model.measured_by is None else model.measured_by
    return repr([(name, params[name]) for name in names])


def _by_statistics(
    models: list[Any], passes: Passes, folds: list[Fold], totals: dict[str, Any]
) -> list[list[Any]]:
    """Each model fitted to all folds but one; one pass for all that share a statistic."""
    by_fold: dict[str, Sums] = {}
    for model in models:
        key = _measured_by(model)
        if key not in by_fold:
            found = by_fold[key] = passes.total(measure_folds, model, folds[0])
            totals[key] = _added(list(found.values()))
    return [
        [
            clone(model).fit_statistics(
                _added(
                    [one for k, one in by_fold[_measured_by(model)].items() if k != str(f.number)]
                )
            )
            for f in folds
        ]
        for model in models
    ]


def _added(statistics: list[Any]) -> Any:
    total = statistics[0]
    for statistic in statistics[1:]:
        total = total + statistic
    return total


def measure_folds(rows: PartRows, model: Any, fold: Fold) -> Any:
    """The statistic of each fold of a part."""
    draws, total = folds_of(rows.part, fold), Sums()
    for X, y in rows:
        drawn = draws(X.shape[0])
        seen, groups = np.unique(drawn, return_inverse=True)
        found = model.measure_groups(X, y, None, groups.astype(np.int64), len(seen))
        total = total + Sums({str(k): one for k, one in zip(seen, found, strict=True)})
    return total or None


def score_folds(rows: PartRows, fitted: list[list[Any]], fold: Fold, kind: str) -> Any:
    """What the scores of all candidates on their own folds are made of."""
    draws, total = folds_of(rows.part, fold), Sums()
    for X, y in rows:
        drawn = draws(X.shape[0])
        for k in np.unique(drawn):
            own = drawn == k
            some = X[own] if not hasattr(X, "filter") else X.filter(own)
            for i, row in enumerate(fitted):
                total = total + Sums({f"{i} {k}": _tally(row[k].predict(some), y[own], kind)})
    return total or None


def _tally(predicted: Any, y: Any, kind: str) -> Array:
    """Sums that a score follows from: rows, right ones; or rows, errors, targets, squares."""
    if kind == "accuracy":
        return np.array([len(y), np.count_nonzero(predicted == y)], np.float64)
    y = np.asarray(y, np.float64)
    return np.array([len(y), ((y - predicted) ** 2).sum(), y.sum(), (y**2).sum()])


def _score(tally: Array, kind: str) -> float:
    if kind == "accuracy":
        return float(tally[1] / tally[0])
    n, errors, level, squares = tally
    spread = squares - level**2 / n
    return float(1 - errors / spread) if spread > 0 else float("nan")
